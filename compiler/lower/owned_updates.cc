#include "compiler/lower/owned_updates.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/lower/lower_loops.h"
#include "compiler/lower/nest_stages.h"
#include "compiler/lower/updates.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr std::string_view kPart = "part";
constexpr int64_t kWorthwhile = 2;  // as many elements as owners

absl::Status Refuse(std::string_view reason) { return absl::FailedPreconditionError(View(reason)); }

// Elements of the result along the axes that are found, in order; and the number of one.
struct Found {
  std::vector<NestAxis> axes = {};
  Expr number = 0;

  explicit Found(const Updates& updates, const FlatStage& stage) {
    for (const Axis& axis : stage.inner) {
      if (!updates.HasPlaceOf(axis.name)) continue;
      axes.push_back({.name = axis.name, .extent = axis.extent});
      number = number * axis.extent + Var(axis.name);
    }
  }
};

// Each element that a thread owns begins with what none has changed.
Stmt FirstElements(const FlatStage& stage, const Updates& updates, const Found& found,
                   const Expr& parts) {
  const FlatResult& result = stage.results[0];
  const Expr own = Var(kPart), step = Var("step");
  std::vector<Stmt> body = DecodeAxes(found.axes, own + step * parts);
  body.push_back(Store(result.tensor, result.index, Cast(result.dtype, updates.first)));
  const Expr count = FloorDiv(CountOf(found.axes) - own + parts - 1, parts);
  return For("step", 0, count, std::move(body));
}

}  // namespace

absl::StatusOr<LoopFunction> LowerToOwners(const Kernel& kernel, const Owners& owners) {
  if (kernel.stages.size() != 1) return Refuse("more than updates");
  const std::optional<Nest> nest = UpdateNest(kernel);
  if (!nest) return Refuse("no updates");
  FlatStage stage = nest->stages[0];
  const std::optional<Updates> updates = ReadUpdates(*nest, stage);
  if (!updates) return Refuse("no updates");
  const Found found(*updates, stage);
  std::vector<NestAxis> points = nest->outer;
  for (const Axis& axis : stage.inner) {
    if (!updates->HasPlaceOf(axis.name))
      points.push_back({.name = axis.name, .extent = axis.extent});
  }
  const auto most = [&](const std::vector<NestAxis>& axes) {
    return std::max<int64_t>(RangeOf(CountOf(axes), nest->bounds).max, 1);
  };
  const int64_t all = owners.blocks * owners.threads;
  const int64_t parts = (all + most(points) - 1) / most(points);
  if (most(found.axes) / kWorthwhile < parts) return Refuse("not many more elements than threads");
  std::erase_if(stage.inner, [&](const Axis& axis) { return !updates->HasPlaceOf(axis.name); });
  points.push_back({.name = std::string(kPart), .extent = parts});
  LoopFunction function = StartFunction(kernel, *nest);
  const Expr count = CountOf(points);
  function.threads = owners.threads;
  function.tasks = Simplify(CeilDiv(count, owners.threads), nest->bounds);
  std::vector<Stmt> body = DecodeAxes(points, Var("point"));
  body.push_back(FirstElements(stage, *updates, found, parts));
  const Expr owned = Eq(Mod(found.number, parts), Var(kPart));
  for (Stmt& stmt : UpdateLoops(stage, *updates, owned)) body.push_back(std::move(stmt));
  function.body = Block({Let("point", Var("task") * owners.threads + Var("thread")),
                         If(Lt(Var("point"), count), std::move(body))});
  return function;
}

}  // namespace aotc
