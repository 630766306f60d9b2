#include "compiler/canonicalize/impossible_branch.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "compiler/canonicalize/size_sources.h"
#include "compiler/ir/control_flow.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

class BranchReplacer {
 public:
  BranchReplacer(Graph& graph, RegionId branch, const Node& node)
      : graph_(graph), branch_(branch), locations_(node.locations) {}

  void Run(RegionId other, const std::string& sentence) {
    const std::vector<ValueId> given = graph_.regions[branch_].outputs;
    graph_.regions[branch_].nodes.clear();
    AddCheck(graph_.values[given[0]].name, sentence);
    const std::set<std::string> others = SizesOfRegion(graph_, other);
    for (size_t i = 0; i < given.size(); ++i) {
      ValueType type = graph_.values[graph_.regions[other].outputs[i]].type;
      for (Expr& dim : type.dims) {
        if (NamesAny(dim, others)) dim = Expr(0);
      }
      graph_.regions[branch_].outputs[i] = AddResult(graph_.values[given[i]].name, type);
    }
  }

 private:
  ValueId Add(std::string_view op, std::vector<ValueId> inputs, const std::string& name,
              ValueType type, Attributes attributes = {}) {
    const ValueId result = graph_.AddValue(name, std::move(type));
    graph_.AddNode(branch_, {.op = std::string(op),
                             .inputs = std::move(inputs),
                             .outputs = {result},
                             .attributes = std::move(attributes),
                             .locations = locations_});
    return result;
  }

  void AddCheck(const std::string& name, const std::string& sentence) {
    const std::string taken = StrCat(name, "_taken");
    const Expr never =
        AddSymbol(graph_, {.name = taken, .min = 0, .max = 1, .computed = true, .value = Expr(0)});
    graph_.symbols.back().checks.push_back({Eq(never, 1), sentence});
    const ValueType one = TensorType(DType::kI64, {Expr(1)});
    graph_.values[Add(kDefineSizes, {}, taken, one)].elements = {never};
  }

  // Zeros, which nobody sees.
  ValueId AddResult(const std::string& name, const ValueType& type) {
    if (const std::optional<std::vector<int64_t>> dims = StaticDims(type.dims)) {
      const ValueId zeros =
          graph_.AddConstant(StrCat(name, "_none"), Constant::SplatInt(type.dtype, *dims, 0));
      return Add("Identity", {zeros}, name, type);
    }
    const Shape rank = {Expr(static_cast<int64_t>(type.dims.size()))};
    const ValueId shape =
        Add("Elements", {}, StrCat(name, "_shape"), TensorType(DType::kI64, rank));
    graph_.values[shape].elements = type.dims;
    Attributes zero;
    zero.Set("value", Constant::SplatInt(type.dtype, {1}, 0));
    return Add("ConstantOfShape", {shape}, name, type, std::move(zero));
  }

  Graph& graph_;
  const RegionId branch_;
  const std::vector<Location> locations_;
};

}  // namespace

void ReplaceBranch(Graph& graph, RegionId branch, RegionId other, const Node& node,
                   const std::string& sentence) {
  BranchReplacer(graph, branch, node).Run(other, sentence);
}

}  // namespace aotc
