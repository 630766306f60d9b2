#include "tests/golden_runner/seeded_inputs.h"

#include <algorithm>

#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr int64_t kUsualSymbol = 3;

absl::StatusOr<Constant> Draw(std::string_view name, DType dtype, const Shape& shape,
                              const SymbolValues& symbols, uint64_t seed) {
  std::vector<int64_t> dims;
  for (const Expr& dim : shape) {
    const std::optional<int64_t> value = EvaluateInt(dim, symbols);
    if (!value) return absl::InvalidArgumentError(StrCat("no size for input ", name));
    dims.push_back(*value);
  }
  return Constant::Random(dtype, dims, seed);
}

}  // namespace

SymbolValues DrawSymbols(const std::vector<Symbol>& symbols, const SubtestLine& line) {
  SymbolValues values;
  for (const Symbol& symbol : symbols) {
    const int64_t usual = std::clamp(kUsualSymbol, symbol.min, symbol.max);
    values[symbol.var] = line.Number(symbol.var, usual);
  }
  return values;
}

absl::StatusOr<std::vector<Constant>> DrawInputs(const Graph& graph, const SymbolValues& symbols,
                                                 uint64_t seed) {
  std::vector<Constant> inputs;
  for (ValueId id : graph.main_region().inputs) {
    const Value& value = graph.values[id];
    if (value.type.kind != ValueKind::kTensor || !value.type.ranked)
      return absl::InvalidArgumentError(StrCat("input ", value.name, " is no ranked tensor"));
    AOTC_ASSIGN_OR_RETURN(Constant input, Draw(value.name, value.type.dtype, value.type.dims,
                                               symbols, seed + inputs.size()));
    inputs.push_back(std::move(input));
  }
  return inputs;
}

absl::StatusOr<std::vector<Constant>> DrawInputs(const Kernel& kernel, const SymbolValues& symbols,
                                                 uint64_t seed) {
  std::vector<Constant> inputs;
  for (TensorId id : kernel.params) {
    const KernelTensor& tensor = kernel.tensors[id];
    if (tensor.role == TensorRole::kOutput) continue;
    AOTC_ASSIGN_OR_RETURN(Constant input, Draw(tensor.name, tensor.dtype, tensor.shape, symbols,
                                               seed + inputs.size()));
    inputs.push_back(std::move(input));
  }
  return inputs;
}

}  // namespace aotc
