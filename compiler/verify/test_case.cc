#include "compiler/verify/test_case.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <utility>

#include "absl/functional/function_ref.h"
#include "compiler/eval/evaluate.h"
#include "compiler/fuse/index_checks.h"
#include "compiler/import/npy.h"
#include "compiler/import/tensor_file.h"
#include "compiler/support/files.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

namespace fs = std::filesystem;

// A number that looks drawn, the same for the same arguments.
uint64_t Scramble(uint64_t seed, uint64_t salt) {
  uint64_t bits = seed * 0x9e3779b97f4a7c15 + salt + 1;
  bits = (bits ^ (bits >> 31)) * 0xbf58476d1ce4e5b9;
  return bits ^ (bits >> 29);
}

// The values that are drawn of: of an element that may be almost any, small ones, which are
// likely to fit.
Interval DrawnRange(const Graph& graph, const Symbol& symbol) {
  constexpr int64_t kLeast = -2, kMost = 12;
  if (!DependsOnRun(graph, Var(symbol.var))) return {symbol.min, symbol.max};
  return {std::clamp(kLeast, symbol.min, symbol.max), std::clamp(kMost, symbol.min, symbol.max)};
}

SymbolValues DrawStated(const Graph& graph, DrawnSizes wanted, uint64_t seed) {
  SymbolValues sizes;
  for (const Symbol& symbol : graph.symbols) {
    if (symbol.value.valid() || symbol.computed) continue;  // the run will say
    const Interval values = DrawnRange(graph, symbol);
    // Of the upper half: the least sizes are a case of their own.
    const int64_t half = (values.max - values.min) / 2;
    const auto range = static_cast<uint64_t>(values.max - values.min - half + 1);
    const uint64_t drawn = Scramble(seed, sizes.size()) % range;
    switch (wanted) {
      case DrawnSizes::kLeast: sizes[symbol.var] = values.min; break;
      case DrawnSizes::kMost: sizes[symbol.var] = values.max; break;
      case DrawnSizes::kAny:
        sizes[symbol.var] = values.min + half + static_cast<int64_t>(drawn);
        break;
    }
  }
  return sizes;
}

// Sizes that no check refuses, where a few draws find any.
SymbolValues DrawSizes(const Graph& graph, const DrawOptions& options) {
  constexpr uint64_t kMostDraws = 2000;
  SymbolValues first = DrawStated(graph, options.sizes, options.seed);
  SymbolValues sizes = first;
  for (uint64_t draw = 1; draw < kMostDraws; ++draw) {
    if (WorkOutSizes(graph.symbols, sizes).ok()) return sizes;
    sizes = DrawStated(graph, DrawnSizes::kAny, Scramble(options.seed, draw));
  }
  return first;
}

// An integer tensor of the type and dims of another.
Constant WithElements(const Constant& like, absl::FunctionRef<int64_t(int64_t index)> element) {
  std::vector<uint8_t> bytes(like.bytes().begin(), like.bytes().end());
  for (int64_t i = 0; i < like.element_count(); ++i) {
    StoreIntElement(like.dtype(), bytes.data(), i, element(i));
  }
  return Constant::Dense(like.dtype(), like.dims(), std::move(bytes));
}

// The elements that sizes depend on are what these are.
Constant WithSizes(const Constant& like, const std::vector<Expr>& elements,
                   const SymbolValues& sizes) {
  return WithElements(like, [&](int64_t i) {
    return EvaluateInt(elements[static_cast<size_t>(i)], sizes).value_or(0);
  });
}

// The values of an integer tensor brought into 0 .. range - 1.
Constant Confine(const Constant& tensor, int64_t range) {
  return WithElements(tensor, [&](int64_t i) { return std::abs(tensor.IntAt(i) % range); });
}

absl::StatusOr<std::vector<Constant>> InputsOfSizes(const Graph& graph, const SymbolValues& sizes,
                                                    uint64_t seed, int64_t range) {
  std::vector<Constant> inputs;
  for (ValueId id : graph.main_region().inputs) {
    const Value& value = graph.values[id];
    std::vector<int64_t> dims;
    for (const Expr& dim : value.type.dims) dims.push_back(EvaluateInt(dim, sizes).value_or(1));
    if (value.type.kind != ValueKind::kTensor || value.type.dtype == DType::kString) {
      return absl::InternalError(StrCat("input '", value.name, "' is no tensor of numbers"));
    }
    Constant drawn =
        Constant::Random(value.type.dtype, std::move(dims), Scramble(seed, inputs.size()));
    if (value.elements) {
      inputs.push_back(WithSizes(drawn, *value.elements, sizes));
      continue;
    }
    const bool confined = IsInteger(value.type.dtype) && range > 0;
    inputs.push_back(confined ? Confine(drawn, range) : drawn);
  }
  return inputs;
}

// The outputs of the evaluator; an error where an index of the data is out of range.
absl::StatusOr<std::vector<Constant>> EvaluateValid(const Graph& graph,
                                                    const std::vector<Constant>& inputs) {
  Graph checked = graph;
  AOTC_RETURN_IF_ERROR(AddIndexCheckNodes(checked).status());
  return EvaluateGraph(checked, inputs);
}

std::string NameOf(const Graph& graph, const DrawOptions& options, const SymbolValues& sizes) {
  std::string name = StrCat("seed ", options.seed);
  for (const Symbol& symbol : graph.symbols) {
    StrAppend(&name, ", ", symbol.name, " = ", sizes.at(symbol.var) * symbol.step);
  }
  return name;
}

// FOLDER/<kind>_<index>.pb or .npy; nothing where neither exists.
absl::StatusOr<std::optional<Constant>> ReadOne(const fs::path& folder, const std::string& stem,
                                                const Value& value) {
  const fs::path proto = folder / (stem + ".pb"), npy = folder / (stem + ".npy");
  if (fs::exists(proto)) return ReadTensorFile(proto.string());
  if (!fs::exists(npy)) return std::nullopt;
  AOTC_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(npy.string()));
  absl::StatusOr<Constant> tensor = ParseNpy(bytes, value.type.dtype, {});
  if (tensor.ok()) return *std::move(tensor);
  return AOTC_REFUSAL(InvalidArgument, StrCat(npy.string(), " ", tensor.status().message()));
}

// One tensor per value of `ids`; none at all where the first is missing.
absl::StatusOr<std::vector<Constant>> ReadAll(const fs::path& folder, const std::string& kind,
                                              const Graph& graph, const std::vector<ValueId>& ids) {
  std::vector<Constant> tensors;
  for (size_t i = 0; i < ids.size(); ++i) {
    const std::string stem = StrCat(kind, "_", i);
    AOTC_ASSIGN_OR_RETURN(std::optional<Constant> tensor,
                          ReadOne(folder, stem, graph.values[ids[i]]));
    if (!tensor && i == 0) return tensors;
    if (!tensor)
      return AOTC_REFUSAL(NotFound,
                          StrCat(folder.string(), " has no ", stem, ".pb or ", stem, ".npy"));
    tensors.push_back(*std::move(tensor));
  }
  return tensors;
}

// The compiled model has no room for more; whether the inputs go together, the evaluator says.
absl::Status CheckDims(const std::string& folder, const Graph& graph,
                       const std::vector<Constant>& inputs) {
  const Bounds bounds = BoundsOf(graph.symbols);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value& value = graph.values[graph.main_region().inputs[i]];
    const Shape& dims = value.type.dims;
    for (size_t axis = 0; axis < std::min(dims.size(), inputs[i].dims().size()); ++axis) {
      const Interval range = RangeOf(dims[axis], bounds);
      const int64_t dim = inputs[i].dims()[axis];
      if (range.min <= dim && dim <= range.max) continue;
      return AOTC_REFUSAL(InvalidArgument,
                          StrCat(folder, ": axis ", axis, " of input '", value.name, "' has ", dim,
                                 " elements, not ", range.min, " .. ", range.max));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<DrawnInputs> DrawInputs(const Graph& graph, const DrawOptions& options,
                                       int64_t range) {
  DrawnInputs drawn{.sizes = DrawSizes(graph, options)};
  drawn.name = NameOf(graph, options, drawn.sizes);
  AOTC_ASSIGN_OR_RETURN(drawn.inputs, InputsOfSizes(graph, drawn.sizes, options.seed, range));
  return drawn;
}

bool HasIntegers(const std::vector<Constant>& inputs) {
  return std::ranges::any_of(inputs,
                             [](const Constant& input) { return IsInteger(input.dtype()); });
}

absl::StatusOr<TestCase> DrawCase(const Graph& graph, const DrawOptions& options) {
  absl::Status status;
  for (int64_t range : kDrawnRanges) {
    AOTC_ASSIGN_OR_RETURN(DrawnInputs drawn, DrawInputs(graph, options, range));
    TestCase result{.name = std::move(drawn.name), .inputs = std::move(drawn.inputs)};
    absl::StatusOr<std::vector<Constant>> outputs = EvaluateValid(graph, result.inputs);
    if (outputs.ok()) {
      result.reference = *std::move(outputs);
      return result;
    }
    status = outputs.status();
    if (!HasIntegers(result.inputs)) break;
  }
  return status;
}

absl::StatusOr<std::vector<TestCase>> StoredCases(const std::string& model, const Graph& graph) {
  std::vector<TestCase> cases;
  for (int k = 0;; ++k) {
    const fs::path folder = fs::path(model).parent_path() / StrCat("test_data_set_", k);
    if (!fs::is_directory(folder)) return cases;
    AOTC_ASSIGN_OR_RETURN(TestCase found, ReadCase(folder.string(), graph));
    cases.push_back(std::move(found));
  }
}

absl::StatusOr<std::vector<Constant>> ReadInputs(const std::string& folder, const Graph& graph) {
  const Region& main = graph.main_region();
  AOTC_ASSIGN_OR_RETURN(std::vector<Constant> inputs, ReadAll(folder, "input", graph, main.inputs));
  if (inputs.size() != main.inputs.size()) {
    return AOTC_REFUSAL(NotFound,
                        StrCat(folder,
                               " has no input_0.pb or input_0.npy; hint: a file for each input, "
                               "in their order"));
  }
  AOTC_RETURN_IF_ERROR(CheckDims(folder, graph, inputs));
  return inputs;
}

absl::StatusOr<TestCase> ReadCase(const std::string& folder, const Graph& graph) {
  const Region& main = graph.main_region();
  TestCase result{.name = fs::path(folder).filename().string()};
  AOTC_ASSIGN_OR_RETURN(result.inputs, ReadInputs(folder, graph));
  AOTC_ASSIGN_OR_RETURN(result.expected, ReadAll(folder, "output", graph, main.outputs));
  absl::StatusOr<std::vector<Constant>> outputs = EvaluateGraph(graph, result.inputs);
  if (!outputs.ok()) {
    return absl::Status(outputs.status().code(), StrCat(folder, ": ", outputs.status().message()));
  }
  result.reference = *std::move(outputs);
  return result;
}

}  // namespace aotc
