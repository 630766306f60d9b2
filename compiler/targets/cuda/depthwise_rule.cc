// Depthwise convolutions: contractions whose operands share the channel, summed over a small window
// only.
#include <optional>
#include <utility>

#include "compiler/ir/access.h"
#include "compiler/lower/lower_loops.h"
#include "compiler/lower/nest_stages.h"
#include "compiler/schedule/anchor.h"
#include "compiler/schedule/schedule.h"
#include "compiler/schedule/stage_kinds.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cuda/cuda_schedules.h"

namespace aotc {
namespace {

constexpr int64_t kThreads = 128;
constexpr int64_t kLargestWindow = 7;

absl::Status Refuse(std::string_view reason) { return absl::FailedPreconditionError(View(reason)); }

// How the input is read along the last axis: w * stride + tap * dilation - padding.
struct Slide {
  int64_t stride = 0, dilation = 0, padding = 0;
};

// The stage with its axes named as those of `last`, which name the axes of the nest.
Stage WithAxesOf(Stage stage, const Stage& last) {
  if (stage.axes.size() != last.axes.size()) return stage;
  Substitution names;
  for (size_t i = 0; i < stage.axes.size(); ++i) {
    names[stage.axes[i].name] = Var(last.axes[i].name);
    stage.axes[i].name = last.axes[i].name;
  }
  for (Expr& body : stage.body) body = Substitute(body, names);
  return stage;
}

class DepthwiseRule {
 public:
  explicit DepthwiseRule(const Kernel& kernel)
      : kernel_(kernel), stage_(WithAxesOf(kernel.stages.front(), kernel.stages.back())) {}

  absl::Status Read() {
    AOTC_RETURN_IF_ERROR(Match());
    AOTC_ASSIGN_OR_RETURN(nest_, BuildNest(kernel_));
    if (!nest_.is_point || nest_.HasStatistics()) return Refuse("the epilogue has other axes");
    return Loops().status();
  }

  Schedule ScheduleOf() const {
    return WholeKernel(kernel_, {{WalksOf(nest_.outer), kThreads * outputs_}},
                       StageMemory::kFragment, "depthwise_tile", Params());
  }

  std::vector<std::vector<int64_t>> Variations() const {
    std::vector<std::vector<int64_t>> variations(3, Params());
    variations[0].back() = 8;
    variations[1].back() = 2;
    variations[2].back() = 1;
    return variations;
  }

  absl::Status Set(const std::vector<int64_t>& params) {
    outputs_ = params.back();
    return absl::OkStatus();
  }

  absl::StatusOr<LoopFunction> Loops() const {
    LoopFunction function = StartFunction(kernel_, nest_);
    std::vector<NestAxis> points = nest_.outer;
    const NestAxis w = points.back();
    points.back() = {.name = "run", .extent = Simplify(CeilDiv(w.extent, outputs_), nest_.bounds)};
    const Expr count = CountOf(points);
    function.tasks = Simplify(CeilDiv(count, kThreads), nest_.bounds);
    function.threads = kThreads;
    std::vector<Stmt> body = DecodeAxes(points, Var("point"));
    TileCall call{
        .tile = "depthwise_tile", .params = Params(), .extents = {Var("run") * outputs_, w.extent}};
    AOTC_ASSIGN_OR_RETURN(TileObject input, Input(w));
    call.operands = {std::move(input), Filter(), Epilogue(w)};
    body.push_back(Tile(std::move(call)));
    function.body = Block({Let("point", Var("task") * kThreads + Var("thread")),
                           If(Lt(Var("point"), count), std::move(body))});
    return function;
  }

 private:
  absl::Status Match() {
    const Stage& stage = stage_;
    if (!IsContraction(stage) || stage.body[0].dtype() != DType::kF32)
      return Refuse("no f32 contraction");
    for (const Axis& axis : stage.reduce_axes) {
      if (!axis.extent.IsInt(1)) window_.push_back(axis);
    }
    if (stage.axes.size() < 3 || window_.size() > 2 || window_.empty())
      return Refuse("not a window of one or two axes");
    columns_ = window_.back();
    rows_ = window_.size() == 2 ? window_.front() : Axis{"tap_row", 1};
    for (const Axis& axis : window_) {
      if (axis.extent.AsInt().value_or(kLargestWindow + 1) > kLargestWindow)
        return Refuse("the window is large");
    }
    const Expr load = OperandLoad(stage.body[0].arg(0));
    if (load.args().empty()) return Refuse("the operand that slides is one number");
    for (size_t i = 0; i + 1 < stage.axes.size(); ++i) {
      if (UsesVar(load.args().back(), stage.axes[i].name))
        return Refuse("the columns are not separable");
    }
    const Expr filter = OperandLoad(stage.body[0].arg(1));
    if (!UsesVar(filter, stage.axes[1].name) || !UsesVar(load, stage.axes[1].name)) {
      return Refuse("operands do not share the channel");
    }
    return MatchSlide(stage, load.args().back());
  }

  absl::Status MatchSlide(const Stage& stage, const Expr& index) {
    const std::string& w = stage.axes.back().name;
    const auto affine = AsAffine(index, {w, columns_.name}, StageBounds(kernel_, stage));
    if (!affine) return Refuse("the window does not slide evenly");
    auto number = [&](const std::string& name) {
      auto found = affine->coefficients.find(name);
      return found == affine->coefficients.end() ? 0 : found->second.AsInt().value_or(-1);
    };
    const std::optional<int64_t> rest = affine->rest.AsInt();
    slide_ = {number(w), number(columns_.name), -rest.value_or(0)};
    if (!rest || slide_.stride < 1 || slide_.dilation < 1)
      return Refuse("the window does not slide evenly");
    return absl::OkStatus();
  }

  std::vector<int64_t> Params() const {
    return {rows_.extent.AsInt().value_or(1), columns_.extent.AsInt().value_or(1), slide_.stride,
            slide_.dilation, outputs_};
  }

  // input(row, x): x = w * stride + tap * dilation says all that the element depends on.
  absl::StatusOr<TileObject> Input(const NestAxis& w) const {
    const Stage& stage = stage_;
    Bounds bounds = StageBounds(kernel_, stage);
    const Expr reach = (w.extent - 1) * slide_.stride + (columns_.extent - 1) * slide_.dilation;
    bounds.Add("x", 0, RangeOf(reach, bounds).max);
    const Expr counted = reach + (outputs_ - 1) * slide_.stride;  // and compared with the end
    const Expr walked = WalkByX(Substitute(stage.body[0].arg(0), OneTaps()), w.name, bounds);
    if (UsesVar(walked, w.name) || UsesVar(walked, columns_.name))
      return Refuse("the window does not slide evenly");
    TileFunctor method{
        .params = {{.name = "row", .most = rows_.extent - 1}, {.name = "x", .most = counted}}};
    method.result = Substitute(Access(kernel_).Flatten(walked, bounds), {{rows_.name, Var("row")}});
    return TileObject{.name = "input", .methods = {std::move(method)}};
  }

  // Index expressions that are c * (w * stride + tap * dilation) + rest, written as c * x + rest.
  Expr WalkByX(const Expr& e, const std::string& w, const Bounds& bounds) const {
    if (e.dtype() == DType::kI64 && e.op() != ExprOp::kLoad) {
      const auto affine = AsAffine(e, {w, columns_.name}, bounds);
      if (affine && affine->coefficients.contains(w) &&
          affine->coefficients.contains(columns_.name)) {
        const int64_t outer = affine->coefficients.at(w).AsInt().value_or(0);
        const int64_t tap = affine->coefficients.at(columns_.name).AsInt().value_or(0);
        const int64_t factor = outer / slide_.stride;
        if (factor != 0 && factor * slide_.stride == outer && factor * slide_.dilation == tap) {
          return Var("x") * factor + affine->rest;
        }
      }
    }
    std::vector<Expr> args;
    for (const Expr& arg : e.args()) args.push_back(WalkByX(arg, w, bounds));
    return args.empty() ? e : WithArgs(e, std::move(args));
  }

  Substitution OneTaps() const {
    Substitution at;
    for (const Axis& axis : stage_.reduce_axes) {
      if (axis.extent.IsInt(1)) at[axis.name] = 0;
    }
    return at;
  }

  TileObject Filter() const {
    TileFunctor method{.params = {{.name = "row", .most = rows_.extent - 1},
                                  {.name = "column", .most = columns_.extent - 1}}};
    Substitution at = OneTaps();
    at[rows_.name] = Var("row");
    at[columns_.name] = Var("column");
    method.result = Substitute(nest_.stages[0].bodies[0].arg(1), at);
    return {.name = "filter", .methods = {std::move(method)}};
  }

  TileObject Epilogue(const NestAxis& w) const {
    TileFunctor method{.params = {{.name = w.name, .most = w.extent - 1}, {"acc", DType::kF32}}};
    Nest nest = nest_;
    nest.stages[0].bodies = {Var("acc", DType::kF32)};
    nest.stages[0].reduce.clear();
    method.body = *PointStatements(nest, nullptr);
    return {.name = "epilogue", .methods = {std::move(method)}};
  }

  const Kernel& kernel_;
  const Stage stage_;  // the contraction
  Nest nest_;
  std::vector<Axis> window_;
  Axis rows_, columns_;
  Slide slide_;
  int64_t outputs_ = 4;  // neighbouring results of a thread
};

}  // namespace

absl::StatusOr<CudaWay> DepthwiseTileOnCuda(const Kernel& kernel, const CudaOptions& /*options*/) {
  DepthwiseRule rule(kernel);
  AOTC_RETURN_IF_ERROR(rule.Read());
  return WayOf("depthwise_tile", "operands share the channel", rule);
}

}  // namespace aotc
