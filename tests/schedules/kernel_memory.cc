#include "tests/schedules/kernel_memory.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "compiler/lower/build_program.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr uint8_t kPoison = 0xFF;

// Small numbers of either sign; of floats such that long sums neither overflow nor cancel to noise.
Constant Numbers(DType dtype, std::vector<int64_t> dims, uint64_t seed) {
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  std::vector<uint8_t> bytes(static_cast<size_t>(StorageBytes(dtype, count)));
  uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const auto number = static_cast<double>(state >> 56);  // 0 .. 255
    double value = (number - 127.5) / 128;
    if (!IsFloat(dtype)) value = dtype == DType::kI8 ? number - 128 : number;
    if (dtype == DType::kBool || IsSubByte(dtype)) value = std::fmod(number, 2);
    StoreElement(dtype, bytes.data(), i, value);
  }
  return Constant::Dense(dtype, std::move(dims), std::move(bytes));
}

absl::StatusOr<std::vector<int64_t>> Values(const std::vector<Expr>& exprs,
                                            const SymbolValues& symbols) {
  std::vector<int64_t> values;
  for (const Expr& e : exprs) {
    const auto value = EvaluateInt(e, symbols);
    if (!value) return absl::InternalError("an extent is not known");
    values.push_back(*value);
  }
  return values;
}

// Calls `visit(place)` with the place of each element of a box of these extents and strides.
template <typename Visit>
void ForEachPlace(const std::vector<int64_t>& extents, const std::vector<int64_t>& strides,
                  const Visit& visit, size_t axis = 0, int64_t place = 0) {
  if (axis == extents.size()) return visit(place);
  for (int64_t i = 0; i < extents[axis]; ++i) {
    ForEachPlace(extents, strides, visit, axis + 1, place + i * strides[axis]);
  }
}

}  // namespace

void KernelMemory::Free::operator()(uint8_t* memory) const { std::free(memory); }

absl::StatusOr<KernelMemory> KernelMemory::Fill(const ProgramKernel& kernel, uint64_t seed) {
  KernelMemory memory;
  memory.order_ = kernel.kernel.symbols;
  const Bounds bounds = BoundsOf(kernel.kernel.symbols);
  for (const Symbol& symbol : kernel.kernel.symbols) {
    constexpr int64_t kUnknown = 64;
    const int64_t most = RangeOf(Var(symbol.var), bounds).max;
    memory.symbols_[symbol.var] = most == INT64_MAX ? kUnknown : most;
  }
  for (TensorId id : kernel.kernel.params) AOTC_RETURN_IF_ERROR(memory.Add(kernel, id, ++seed));
  return memory;
}

absl::Status KernelMemory::Add(const ProgramKernel& kernel, TensorId id, uint64_t seed) {
  const KernelTensor& logical = kernel.kernel.tensors[id];
  const KernelTensor stored = StoredTensor(kernel.kernel, kernel.packing, id);
  AOTC_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, Values(logical.shape, symbols_));
  AOTC_ASSIGN_OR_RETURN(const std::vector<int64_t> extents,
                        Values(StorageShape(stored.layout, stored.shape), symbols_));
  std::vector<Expr> dense = RowMajorStrides(MakeShape(extents));
  AOTC_ASSIGN_OR_RETURN(const std::vector<int64_t> strides,
                        Values(stored.strides.empty() ? dense : stored.strides, symbols_));
  int64_t room = 1;
  for (size_t i = 0; i < extents.size(); ++i) room += (extents[i] - 1) * strides[i];
  constexpr int64_t kMostBytes = int64_t{1} << 28, kBehind = 256;
  const int64_t bytes = StorageBytes(stored.dtype, std::max<int64_t>(room, 1));
  if (bytes > kMostBytes) return absl::UnimplementedError(StrCat(logical.name, " is too large"));
  Argument argument{.bytes = static_cast<size_t>(bytes),
                    .dtype = stored.dtype,
                    .is_output = logical.role == TensorRole::kOutput,
                    .name = logical.name};
  const size_t all = (argument.bytes + kBehind) / 64 * 64 + 64;
  argument.memory.reset(static_cast<uint8_t*>(std::aligned_alloc(64, all)));
  std::memset(argument.memory.get(), argument.is_output ? kPoison : 0, all);
  if (!argument.is_output) {
    std::vector<uint8_t> blob;
    AppendPacked(Numbers(logical.dtype, dims, seed), stored.layout, stored.dtype, blob);
    if (stored.strides.empty()) {
      std::memcpy(argument.memory.get(), blob.data(), blob.size());
    } else {
      const auto width = static_cast<size_t>(ByteWidth(stored.dtype));
      const uint8_t* from = blob.data();
      ForEachPlace(extents, strides, [&](int64_t place) {
        std::memcpy(argument.memory.get() + static_cast<size_t>(place) * width, from, width);
        from += width;
      });
    }
  }
  pointers_.push_back(argument.memory.get());
  arguments_.push_back(std::move(argument));
  return absl::OkStatus();
}

std::vector<int64_t> KernelMemory::SymbolArguments() const {
  std::vector<int64_t> values;
  for (const Symbol& symbol : order_) values.push_back(symbols_.at(symbol.var));
  return values;
}

void KernelMemory::Clear() {
  for (Argument& argument : arguments_) {
    if (argument.is_output) std::memset(argument.memory.get(), kPoison, argument.bytes);
  }
}

std::vector<std::vector<uint8_t>> KernelMemory::Outputs() const {
  std::vector<std::vector<uint8_t>> outputs;
  for (const Argument& argument : arguments_) {
    if (!argument.is_output) continue;
    outputs.emplace_back(argument.memory.get(), argument.memory.get() + argument.bytes);
  }
  return outputs;
}

std::string KernelMemory::Compare(const std::vector<std::vector<uint8_t>>& is,
                                  const std::vector<std::vector<uint8_t>>& due) const {
  size_t output = 0;
  for (const Argument& argument : arguments_) {
    if (!argument.is_output) continue;
    const std::vector<uint8_t>&a = is[output], &b = due[output++];
    if (a == b) continue;
    if (!IsFloat(argument.dtype)) return StrCat(argument.name, " has other integers");
    constexpr double kOfF32 = 2e-5, kOfF16 = 4e-3, kOfBf16 = 3e-2;
    const double tolerance = argument.dtype == DType::kF16    ? kOfF16
                             : argument.dtype == DType::kBF16 ? kOfBf16
                                                              : kOfF32;
    const auto count = static_cast<int64_t>(a.size()) / ByteWidth(argument.dtype);
    double largest = 1e-6;
    for (int64_t i = 0; i < count; ++i) {
      const double value = std::abs(LoadElement(argument.dtype, b.data(), i));
      if (std::isfinite(value)) largest = std::max(largest, value);
    }
    for (int64_t i = 0; i < count; ++i) {
      const double x = LoadElement(argument.dtype, a.data(), i),
                   y = LoadElement(argument.dtype, b.data(), i);
      const bool same = std::isnan(x) && std::isnan(y);
      if (same || std::abs(x - y) <= tolerance * largest) continue;
      return StrCat(argument.name, "[", i, "] of ", count, " is ", x, " for ", y);
    }
  }
  return "";
}

}  // namespace aotc
