// Joins neighbouring axes of a nest that every access walks as one.
#include <algorithm>
#include <optional>
#include <string>

#include "compiler/lower/nest.h"

namespace aotc {
namespace {

// The flat indices of a nest, and whether the outer variables are used anywhere else.
class Accesses {
 public:
  explicit Accesses(const Nest& nest) {
    for (const FlatStage& stage : nest.stages) {
      for (const Expr& body : stage.bodies) Collect(body);
      for (const FlatResult& result : stage.results) {
        if (result.index.valid()) indices.push_back(result.index);
      }
    }
    if (nest.valid.valid()) Collect(nest.valid);
  }

  std::vector<Expr> indices;
  std::set<std::string> other_uses;

 private:
  void Collect(const Expr& e) {
    if (e.op() == ExprOp::kLoad) {
      indices.push_back(e.arg(0));
      for (const Expr& load : LoadsOf(e.arg(0))) other_uses.merge(FreeVars(load));
      return;
    }
    if (e.IsVar()) other_uses.insert(e->name);
    for (const Expr& arg : e.args()) Collect(arg);
  }
};

Expr Coefficient(const Affine& affine, const std::string& name) {
  auto found = affine.coefficients.find(name);
  return found == affine.coefficients.end() ? Expr(0) : found->second;
}

bool WalksAsOne(const Expr& index, const NestAxis& outer, const NestAxis& inner,
                const Bounds& bounds) {
  const std::optional<Affine> affine = AsAffine(index, {outer.name, inner.name}, bounds);
  if (!affine) return false;
  return ProveEqual(Coefficient(*affine, outer.name),
                    Coefficient(*affine, inner.name) * inner.extent, bounds);
}

bool CanMerge(const Nest& nest, const Accesses& accesses, size_t i) {
  const NestAxis& outer = nest.outer[i];
  const NestAxis& inner = nest.outer[i + 1];
  if (outer.halo != Halo{} || inner.halo != Halo{}) return false;
  if (accesses.other_uses.contains(outer.name) || accesses.other_uses.contains(inner.name))
    return false;
  for (const Expr& index : accesses.indices) {
    if (!WalksAsOne(index, outer, inner, nest.bounds)) return false;
  }
  return true;
}

void SubstituteAll(Nest& nest, const Substitution& substitution) {
  const Bounds stored = WithHalos(nest, nest.bounds);
  for (FlatStage& stage : nest.stages) {
    for (Expr& body : stage.bodies) body = Simplify(Substitute(body, substitution), nest.bounds);
    for (FlatResult& result : stage.results) {
      if (result.index.valid())
        result.index = Simplify(Substitute(result.index, substitution), stored);
    }
  }
}

// outer -> 0 and inner -> the joint counter: coefficients agree, so every index keeps its value.
void Merge(Nest& nest, size_t i) {
  const Substitution merge = {{nest.outer[i].name, Expr(0)}};
  const Expr extent = Simplify(nest.outer[i].extent * nest.outer[i + 1].extent, nest.bounds);
  nest.outer[i + 1].extent = extent;
  std::vector<std::string>& walks = nest.outer[i + 1].walks;
  walks.insert(walks.begin(), nest.outer[i].walks.begin(), nest.outer[i].walks.end());
  nest.bounds.Add(nest.outer[i + 1].name, 0, extent - 1);
  SubstituteAll(nest, merge);
  nest.outer.erase(nest.outer.begin() + static_cast<long>(i));
}

// Removes an axis of one iteration.
void Drop(Nest& nest, size_t i) {
  nest.bounds.Add(nest.outer[i].name, 0, 0);
  const Substitution zero = {{nest.outer[i].name, Expr(0)}};
  SubstituteAll(nest, zero);
  if (nest.valid.valid()) nest.valid = Substitute(nest.valid, zero);
  if (nest.padded.valid()) nest.padded = Substitute(nest.padded, zero);
  nest.outer.erase(nest.outer.begin() + static_cast<long>(i));
}

}  // namespace

void MergeAxes(Nest& nest) {
  for (size_t i = nest.outer.size(); i-- > 0;) {
    const NestAxis& axis = nest.outer[i];
    const bool innermost = i + 1 == nest.outer.size();
    if (nest.outer.size() == 1 || (innermost && nest.HasStatistics())) continue;
    if (axis.extent.IsInt(1) && axis.halo == Halo{}) Drop(nest, i);
  }
  for (size_t i = nest.outer.size(); i-- > 1;) {
    if (CanMerge(nest, Accesses(nest), i - 1)) Merge(nest, i - 1);
  }
  for (FlatStage& stage : nest.stages) {
    std::erase_if(stage.over, [&](const std::string& name) {
      return std::none_of(nest.outer.begin(), nest.outer.end(),
                          [&](const NestAxis& axis) { return axis.name == name; });
    });
  }
}

}  // namespace aotc
