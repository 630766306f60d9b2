#include "tests/tiles/row_memory.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "compiler/eval/evaluate.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr int64_t kGuard = 128;  // elements behind what an operand has
constexpr uint8_t kUntouched = 0xA5;

double ValueAt(DType dtype, const std::vector<uint8_t>& bytes, int64_t place) {
  return IsFloat(dtype) ? LoadElement(dtype, bytes.data(), place)
                        : static_cast<double>(LoadIntElement(dtype, bytes.data(), place));
}

// Where each element lies, the last axis fastest.
std::vector<int64_t> Places(int64_t first, const std::vector<int64_t>& dims,
                            const std::vector<int64_t>& strides) {
  std::vector<int64_t> places = {first};
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    std::vector<int64_t> next;
    for (const int64_t place : places) {
      for (int64_t i = 0; i < dims[axis]; ++i) next.push_back(place + i * strides[axis]);
    }
    places = std::move(next);
  }
  return places;
}

// Calls `visit` with the values of all of the stage's axes, over what `values` has of symbols.
void VisitPoints(const std::vector<Axis>& axes, size_t next, SymbolValues& values,
                 const std::function<void()>& visit) {
  if (next == axes.size()) return visit();
  const int64_t extent = EvaluateInt(axes[next].extent, values).value_or(0);
  for (int64_t i = 0; i < extent; ++i) {
    values[axes[next].name] = i;
    VisitPoints(axes, next + 1, values, visit);
  }
}

// The number, in row-major order, of the element that is loaded.
int64_t NumberOf(const Expr& load, const std::vector<int64_t>& dims, const SymbolValues& values) {
  int64_t number = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    number = number * dims[i] + EvaluateInt(load.arg(i), values).value_or(0);
  }
  return number;
}

// Numbers, in row-major order, of the elements of `tensor` that the text reads.
std::set<int64_t> ElementsRead(const Kernel& text, TensorId tensor,
                               const std::vector<int64_t>& dims, SymbolValues values) {
  std::set<int64_t> read;
  for (const Stage& stage : text.stages) {
    std::vector<Axis> axes = stage.axes;
    axes.insert(axes.end(), stage.reduce_axes.begin(), stage.reduce_axes.end());
    for (const Expr& load : LoadsOf(stage.body[0])) {
      if (load->tensor != tensor) continue;
      VisitPoints(axes, 0, values, [&] { read.insert(NumberOf(load, dims, values)); });
    }
  }
  return read;
}

}  // namespace

RowMemory::RowMemory(const RowCase& of, const RowSizes& sizes, Random& random)
    : of_(of), sizes_(sizes) {
  for (size_t i = 0; i <= of.result(); ++i) {
    tensors_.push_back(Lay(i));
    if (i == of.result()) {
      std::ranges::fill(tensors_.back().bytes, kUntouched);
    } else {
      Poison(tensors_.back());
      Fill(tensors_.back(), of.operand(i).dtype, random);
      if (of.operand(i).name == of.row->zero_where_unread) ClearUnread(i);
      if (of.operand(i).name == of.row->through) Hide(tensors_.back(), random);
    }
  }
  if (!of.has_initial) return;
  tensors_.push_back(Lay(of.result()));
  Poison(tensors_.back());
  Fill(tensors_.back(), of.operand(of.result()).dtype, random);
}

RowMemory::Tensor RowMemory::Lay(size_t operand) const {
  Tensor tensor{.dtype = of_.types[operand], .dims = of_.Dims(operand, sizes_)};
  const int64_t first = sizes_.at(of_.operand(operand).name + "_at");
  tensor.places = Places(first, tensor.dims, of_.Strides(operand, sizes_));
  int64_t end = first;
  for (const int64_t place : tensor.places) end = std::max(end, place + 1);
  tensor.bytes.resize(static_cast<size_t>(StorageBytes(tensor.dtype, end + kGuard)));
  return tensor;
}

// NaNs, and integers of which none is an element by chance alone.
void RowMemory::Poison(Tensor& tensor) {
  const auto elements = static_cast<int64_t>(tensor.bytes.size()) * 8 / BitWidth(tensor.dtype);
  for (int64_t i = 0; i < elements; ++i) {
    if (IsFloat(tensor.dtype)) {
      StoreElement(tensor.dtype, tensor.bytes.data(), i, NAN);
    } else {
      StoreIntElement(tensor.dtype, tensor.bytes.data(), i, 0x5B);
    }
  }
}

// Floats whose products and sums f32 holds exactly; integers up to the ends of their types, where
// the text has floats seldom.
void RowMemory::Fill(Tensor& tensor, DType text, Random& random) {
  const auto [least, most] = IntegerRange(tensor.dtype);
  for (const int64_t place : tensor.places) {
    const auto number = static_cast<int64_t>(random() >> 8);
    if (IsFloat(tensor.dtype)) {
      const double value = static_cast<double>(number % 33 - 16) / 8;
      StoreElement(tensor.dtype, tensor.bytes.data(), place, value);
    } else if (IsFloat(text)) {
      const int64_t extreme = number % 2 == 0 ? least : most, middle = std::max<int64_t>(least, -8);
      const int64_t value = number / 2 % 64 == 0 ? extreme : middle + number / 128 % 16;
      StoreIntElement(tensor.dtype, tensor.bytes.data(), place, value);
    } else {
      const int64_t extreme = number % 2 == 0 ? 0x7F : 0x80;
      const int64_t value = number / 2 % 4 == 0 ? extreme : number / 8;
      StoreIntElement(tensor.dtype, tensor.bytes.data(), place, value);
    }
  }
}

// -inf in some runs of columns, as a mask that is added has it: from row to row or in all alike.
void RowMemory::Hide(Tensor& tensor, Random& random) {
  constexpr int64_t kRun = 16;
  const int64_t columns = tensor.dims.back();
  const bool all_alike = random() % 2 == 0;
  std::map<std::pair<int64_t, int64_t>, bool> hidden;  // by row and run
  for (size_t e = 0; e < tensor.places.size(); ++e) {
    const int64_t row = all_alike ? 0 : static_cast<int64_t>(e) / columns;
    const int64_t run = static_cast<int64_t>(e) % columns / kRun;
    const auto [found, is_new] = hidden.try_emplace({row, run}, false);
    if (is_new) found->second = random() % 3 == 0;
    if (found->second) {
      StoreElement(tensor.dtype, tensor.bytes.data(), tensor.places[e], -INFINITY);
    }
  }
}

void RowMemory::ClearUnread(size_t operand) {
  Tensor& tensor = tensors_[operand];
  const RowSizes symbols = of_.TextSymbols(sizes_);
  const std::set<int64_t> read = ElementsRead(of_.text, of_.text.params[operand], tensor.dims,
                                              {symbols.begin(), symbols.end()});
  for (size_t e = 0; e < tensor.places.size(); ++e) {
    if (read.contains(static_cast<int64_t>(e))) continue;
    StoreIntElement(tensor.dtype, tensor.bytes.data(), tensor.places[e], 0);
  }
}

std::vector<void*> RowMemory::pointers() {
  std::vector<void*> pointers;
  for (Tensor& tensor : tensors_) pointers.push_back(tensor.bytes.data());
  return pointers;
}

absl::StatusOr<std::vector<double>> RowMemory::Expected() const {
  std::vector<Constant> inputs;
  for (size_t i = 0; i < of_.result(); ++i) {
    const Tensor& tensor = tensors_[i];
    const DType dtype = of_.operand(i).dtype;
    std::vector<uint8_t> bytes(tensor.places.size() * static_cast<size_t>(ByteWidth(dtype)));
    for (size_t e = 0; e < tensor.places.size(); ++e) {
      StoreElement(dtype, bytes.data(), static_cast<int64_t>(e),
                   ValueAt(tensor.dtype, tensor.bytes, tensor.places[e]));
    }
    inputs.push_back(Constant::Dense(dtype, tensor.dims, std::move(bytes)));
  }
  AOTC_ASSIGN_OR_RETURN(const std::vector<Constant> results,
                        EvaluateKernel(of_.text, inputs, of_.TextSymbols(sizes_)));
  std::vector<double> expected;
  for (int64_t e = 0; e < results[0].element_count(); ++e) {
    double value = IsFloat(results[0].dtype()) ? results[0].FloatAt(e)
                                               : static_cast<double>(results[0].IntAt(e));
    if (of_.has_initial) {
      const Tensor& start = tensors_.back();
      value += ValueAt(start.dtype, start.bytes, start.places[static_cast<size_t>(e)]);
    }
    expected.push_back(value);
  }
  return expected;
}

std::string RowMemory::Compare() const {
  const absl::StatusOr<std::vector<double>> expected = Expected();
  if (!expected.ok()) return std::string(expected.status().message());
  const Tensor& result = tensors_[of_.result()];
  const int64_t width = ByteWidth(result.dtype);
  double largest = 1;
  std::map<int64_t, double> due;
  for (size_t e = 0; e < expected->size(); ++e) {
    due[result.places[e]] = (*expected)[e];
    largest = std::max(largest, std::abs((*expected)[e]));
  }
  const double tolerance = IsFloat(result.dtype) ? 1e-6 * largest : 0;
  for (int64_t place = 0; place < static_cast<int64_t>(result.bytes.size()) / width; ++place) {
    const auto found = due.find(place);
    const uint8_t* bytes = result.bytes.data() + place * width;
    if (found == due.end()) {
      if (std::all_of(bytes, bytes + width, [](uint8_t b) { return b == kUntouched; })) continue;
      return StrCat("element ", place, " was written, which is not of the result");
    }
    const double is = ValueAt(result.dtype, result.bytes, place);
    double difference = is - found->second;
    // Sums of integers wrap as their type does.
    if (!IsFloat(result.dtype))
      difference = std::remainder(difference, std::ldexp(1.0, static_cast<int>(8 * width)));
    if (std::abs(difference) <= tolerance || (std::isnan(is) && std::isnan(found->second)))
      continue;
    return StrCat("element ", place, " is ", is, " for ", found->second);
  }
  return "";
}

}  // namespace aotc
