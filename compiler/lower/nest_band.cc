#include "compiler/lower/nest_band.h"

#include <algorithm>

#include "compiler/support/strings.h"

namespace aotc {
namespace {

// The rows of the local tensor while those of all others move to where the band begins.
constexpr const char* kOwnRow = "#own_row";

class Mover {
 public:
  explicit Mover(const NestBand& band) : band_(band), all_(band.at), own_(band.at) {
    all_[band.axis] = band.first + Var(band.axis);
    own_[band.axis] = Var(kOwnRow);
  }

  void Index(FlatResult& result, const Bounds& bounds) const {
    if (!result.index.valid()) return;
    result.index = result.tensor == band_.local ? Substitute(result.index, band_.at)
                                                : Substitute(result.index, all_);
    result.index = Simplify(result.index, bounds);
  }

  Expr Body(const Expr& body, const Bounds& bounds) const {
    const Expr kept = Transform(body, [&](const Expr& node) {
      const bool is_local = node.op() == ExprOp::kLoad && node->tensor == band_.local;
      return is_local ? Substitute(node, own_) : node;
    });
    const Expr moved = Substitute(kept, all_);
    return Simplify(Substitute(moved, {{kOwnRow, Var(band_.axis)}}), bounds);
  }

 private:
  const NestBand& band_;
  Substitution all_, own_;
};

}  // namespace

absl::Status TakeBand(Nest& nest, const NestBand& band) {
  const auto axis = std::ranges::find(nest.outer, band.axis, &NestAxis::name);
  if (axis == nest.outer.end()) {
    return absl::FailedPreconditionError(StrCat(band.axis, " is not walked as one axis"));
  }
  for (const NestAxis& outer : nest.outer) {
    if (!band.at.contains(outer.name) || outer.halo == Halo{}) continue;
    return absl::FailedPreconditionError(StrCat(outer.name, " has a halo"));
  }
  axis->extent = band.count;
  for (const NestAxis& task : band.tasks) nest.bounds.Add(task.name, 0, task.extent - 1);
  if (band.count.IsVar()) nest.bounds.Add(band.count->name, 1, band.most);
  nest.bounds.Add(band.axis, 0, band.most - 1);
  std::erase_if(nest.outer, [&](const NestAxis& outer) { return band.at.contains(outer.name); });
  const Mover mover(band);
  for (FlatStage& stage : nest.stages) {
    const Bounds bounds = StageBounds(nest, stage);
    for (Expr& body : stage.bodies) body = mover.Body(body, bounds);
    for (FlatResult& result : stage.results) mover.Index(result, WithHalos(nest, bounds));
  }
  return absl::OkStatus();
}

}  // namespace aotc
