#include "tests/slice/slice_data.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_replace.h"
#include "compiler/eval/evaluate.h"
#include "compiler/ir/kernel_text.h"
#include "compiler/support/files.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// The tensor around %y has a block of 16 columns before those of %y, and one behind them.
constexpr int64_t kBlock = 16, kFirstBlock = 1;

int64_t OwnBlocks(int64_t columns) { return (columns + kBlock - 1) / kBlock; }
int64_t AllBlocks(int64_t columns) { return OwnBlocks(columns) + 2 * kFirstBlock; }

using Replacements = std::vector<std::pair<std::string, std::string>>;

Replacements ReplacementsFor(SliceTypes types) {
  if (types == SliceTypes::kFloat) return {};
  if (types == SliceTypes::kHalf) {
    return {{"%a: f32", "%a: f16"},
            {"%b: f32", "%b: f16"},
            {"%residual: f32", "%residual: f16"},
            {"%y: f32", "%y: f16"},
            {"f32(max(%sum[i, j], 0.0))", "f16(max(%sum[i, j], 0.0))"}};
  }
  return {{"%a: f32", "%a: u8"},
          {"%b: f32", "%b: i8"},
          {"%residual: f32", "%residual: u8"},
          {"%y: f32", "%y: u8"},
          {"%acc: f32", "%acc: i32"},
          {"f32(%a[i, k]) * f32(%b[k, j])", "i32(%a[i, k]) * i32(%b[k, j])"},
          {"* 0.5", "* 0.0009765625"},
          {"f32(max(%sum[i, j], 0.0))", "u8(min(max(round(%sum[i, j]), 0.0), 255.0))"}};
}

double Tolerance(DType dtype) {
  if (IsInteger(dtype)) return 0;
  return dtype == DType::kF16 ? 1e-3 : 1e-5;
}

// Looks at the larger tensor around %y, element by element.
class Surroundings {
 public:
  Surroundings(const Bytes& bytes, const Constant& expected, uint8_t fill)
      : bytes_(bytes),
        expected_(expected),
        fill_(fill),
        rows_(expected.dims()[0]),
        blocks_(AllBlocks(expected.dims()[1])) {
    for (int64_t i = 0; i < expected.element_count(); ++i) {
      largest_ = std::max(largest_, std::abs(expected.FloatAt(i)));
    }
  }

  std::string Check() const {
    const int64_t elements = (rows_ + 2) * blocks_ * kBlock;
    const int64_t room = static_cast<int64_t>(bytes_.size()) / ByteWidth(expected_.dtype());
    for (int64_t at = 0; at < room; ++at) {
      if (std::string wrong = CheckElement(at, at < elements); !wrong.empty()) return wrong;
    }
    return "";
  }

 private:
  std::string CheckElement(int64_t at, bool inside) const {
    const int64_t block = at / kBlock % blocks_ - kFirstBlock, row = at / (kBlock * blocks_) - 1;
    const std::string place = StrCat("row ", row, ", block ", block, ", lane ", at % kBlock);
    if (!inside || block < 0 || block >= OwnBlocks(expected_.dims()[1])) {
      return IsFill(at) ? "" : StrCat("written outside of y, at ", place);
    }
    const int64_t column = block * kBlock + at % kBlock, columns = expected_.dims()[1];
    const bool exists = row >= 0 && row < rows_ && column < columns;
    const double is = LoadElement(expected_.dtype(), bytes_.data(), at);
    const double due = exists ? expected_.FloatAt(row * columns + column) : 0;
    if (exists && std::abs(is - due) <= Tolerance(expected_.dtype()) * largest_) return "";
    if (!exists && is == 0) return "";
    return StrCat(is, " for ", due, " at ", place);
  }

  // The caller's bytes, or those that emulated device memory begins with.
  bool IsFill(int64_t at) const {
    const int64_t width = ByteWidth(expected_.dtype());
    bool caller = true, device = true;
    for (int64_t i = at * width; i < (at + 1) * width; ++i) {
      const uint8_t byte = bytes_[static_cast<size_t>(i)];
      caller &= byte == fill_;
      device &= byte == (i % 2 == 0 ? 0xb6 : 0x7f);
    }
    return caller || device;
  }

  const Bytes& bytes_;
  const Constant& expected_;
  const uint8_t fill_;
  const int64_t rows_, blocks_;
  double largest_ = 1e-6;
};

// A name for a kernel's inputs, so that each gets numbers of its own.
uint64_t SeedOf(const std::string& name) {
  uint64_t seed = 1;
  for (const char letter : name) seed = seed * 31 + static_cast<uint64_t>(letter);
  return seed;
}

}  // namespace

absl::StatusOr<Kernel> DenseKernel(SliceTypes types, const DenseSizes& sizes) {
  AOTC_ASSIGN_OR_RETURN(std::string text, ReadFile("tests/slice/dense.air"));
  for (const auto& [from, to] : ReplacementsFor(types)) {
    if (absl::StrReplaceAll({{from, to}}, &text) == 0) {
      return absl::InternalError(StrCat("dense.air has no '", from, "'"));
    }
  }
  absl::StrReplaceAll({{"[80,", StrCat("[", AllBlocks(sizes.columns) * kBlock, ",")},
                       {"40", StrCat(sizes.columns)},
                       {"64", StrCat(sizes.depth)}},
                      &text);
  AOTC_ASSIGN_OR_RETURN(Kernel kernel, ParseKernel(text));
  AOTC_RETURN_IF_ERROR(VerifyKernel(kernel));
  return kernel;
}

Constant SliceTensor(DType dtype, std::vector<int64_t> dims, uint64_t seed) {
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  std::vector<uint8_t> bytes(static_cast<size_t>(count * ByteWidth(dtype)));
  uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const auto number = static_cast<double>(state >> 56);  // 0 .. 255
    const double value = IsFloat(dtype) ? (number - 127.5) / 128 : number;
    StoreElement(dtype, bytes.data(), i, dtype == DType::kI8 ? number - 128 : value);
  }
  return Constant::Dense(dtype, std::move(dims), std::move(bytes));
}

SliceOptions DenseOptions(const Kernel& kernel) {
  SliceOptions options{.kernel = kernel};
  for (TensorId id : kernel.params) {
    const KernelTensor& tensor = kernel.tensors[id];
    if (tensor.role == TensorRole::kConstant) {
      options.constants.push_back(
          SliceTensor(tensor.dtype, *StaticDims(tensor.shape), SeedOf(tensor.name)));
    }
  }
  const int64_t columns = *kernel.tensors[kernel.params.back()].shape[1].AsInt();
  options.destinations["y"] = {.shape = {Var("m") + 2, AllBlocks(columns), kBlock},
                               .start = {0, kFirstBlock, 0}};
  return options;
}

std::vector<Constant> DenseInputs(const Kernel& kernel, int64_t rows) {
  std::vector<Constant> inputs;
  for (TensorId id : kernel.params) {
    const KernelTensor& tensor = kernel.tensors[id];
    if (tensor.role != TensorRole::kInput) continue;
    std::vector<int64_t> dims;
    for (const Expr& dim : tensor.shape) dims.push_back(dim.AsInt().value_or(rows));
    inputs.push_back(SliceTensor(tensor.dtype, dims, SeedOf(tensor.name) + 7));
  }
  return inputs;
}

std::string CompareDense(const Kernel& kernel, const SliceOptions& options, const SliceRun& run,
                         const std::vector<Bytes>& outputs) {
  const int64_t rows = run.inputs[0].dims()[0];
  const absl::StatusOr<std::vector<Constant>> expected = EvaluateKernel(
      kernel, {run.inputs[0], options.constants[0], options.constants[1], run.inputs[1]},
      {{"m", rows}});
  if (!expected.ok()) return std::string(expected.status().message());
  const Constant &top = (*expected)[0], &y = (*expected)[1];
  for (int64_t i = 0; i < rows; ++i) {
    const double is = LoadElement(top.dtype(), outputs[0].data(), i), due = top.FloatAt(i);
    if (!(std::abs(is - due) <= Tolerance(y.dtype()) * std::max(1.0, std::abs(due)))) {
      return StrCat("rowmax ", is, " for ", due, " in row ", i);
    }
  }
  return Surroundings(outputs[1], y, run.fill).Check();
}

std::string CheckDense(const SliceModel& model, const SliceOptions& options, int64_t rows,
                       int workers) {
  const SliceRun run{.inputs = DenseInputs(options.kernel, rows), .workers = workers};
  const absl::StatusOr<std::vector<Bytes>> outputs = model.Run(run);
  if (!outputs.ok()) return std::string(outputs.status().message());
  const std::string wrong = CompareDense(options.kernel, options, run, *outputs);
  return wrong.empty() ? "" : StrCat("m = ", rows, ": ", wrong);
}

}  // namespace aotc
