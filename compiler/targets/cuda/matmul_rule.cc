// Contractions on CUDA cores, in tiles of shared memory.
#include <algorithm>
#include <utility>

#include "compiler/lower/lower_loops.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cuda/contraction_operands.h"
#include "compiler/targets/cuda/cuda_schedules.h"

namespace aotc {
namespace {

constexpr int64_t kWarp = 32;

absl::Status Refuse(std::string_view reason) { return absl::FailedPreconditionError(View(reason)); }

// Typed parameters of the realisation: results of a block and of a thread, steps of k per stage;
// whether the elements of A and B that neighbouring threads fetch are neighbours along k.
struct MatmulSchedule {
  int64_t block_m = 64, block_n = 64, block_k = 16, thread_m = 4, thread_n = 4;
  bool a_by_k = true, b_by_k = false;
  int64_t threads() const { return block_m / thread_m * (block_n / thread_n); }
};

class MatmulRule {
 public:
  explicit MatmulRule(const Kernel& kernel) : kernel_(kernel) {}

  absl::Status Read() {
    AOTC_ASSIGN_OR_RETURN(c_, ReadCudaContraction(kernel_));
    if (c_.accumulator != DType::kF32) return Refuse("the accumulator is not f32");
    Choose();
    return absl::OkStatus();
  }

  Schedule ScheduleOf() const {
    return WholeKernel(kernel_, ContractionCuts(c_, Tiling()), StageMemory::kFragment,
                       "matmul_tile", Params());
  }

  std::vector<std::vector<int64_t>> Variations() const {
    return BlockVariations({{8, 8}, {8, 4}, {4, 4}, {4, 2}, {2, 4}, {2, 2}}, {16, 32}, Params());
  }

  absl::Status Set(const std::vector<int64_t>& p) {
    if (c_.nest.HasStatistics() && p != Params()) return Refuse("rows have statistics");
    schedule_ = {p[0], p[1], p[2], p[3], p[4], p[5] != 0, p[6] != 0};
    if (schedule_.threads() % kWarp != 0) return Refuse("no whole warps");
    return FitsBlock("matmul_tile", p);
  }

  LoopFunction Loops() {
    LoopFunction function = StartFunction(kernel_, c_.nest);
    AddStates(c_, function);
    const BlockTile tile = Tiling();
    function.tasks = ContractionTasks(c_, tile);
    function.threads = tile.threads;
    const int64_t k = schedule_.block_k;
    TileCall call{.tile = "matmul_tile", .params = Params(), .extents = RangeOfTile(c_, tile)};
    call.operands = {
        Accessor("a", c_.a, c_.m, {CounterOf(kAtM, c_.m, tile.m), CounterOf(kAtK, c_.k, k)}),
        Accessor("b", c_.b, c_.n, {CounterOf(kAtK, c_.k, k), CounterOf(kAtN, c_.n, tile.n)}),
        ContractionEpilogue(c_)};
    function.body = Block(ContractionBody(c_, tile, Tile(std::move(call))));
    return function;
  }

 private:
  void Choose() {
    const int64_t m = CountOf(c_.m).AsInt().value_or(64), n = CountOf(c_.n).AsInt().value_or(64);
    if (n <= 16)
      schedule_ = {.block_m = 128, .block_n = 16, .block_k = 16, .thread_m = 4, .thread_n = 2};
    if (m <= 16)
      schedule_ = {.block_m = 16, .block_n = 64, .block_k = 32, .thread_m = 2, .thread_n = 4};
    if (m <= 16 && n <= 16)
      schedule_ = {.block_m = 16, .block_n = 16, .block_k = 16, .thread_m = 2, .thread_n = 2};
    schedule_.a_by_k = LiesByK(c_.a, c_.m);
    schedule_.b_by_k = LiesByK(c_.b, c_.n);
  }

  // Whether neighbours along k lie together in the operand, and those along its other axes do not,
  // or are fewer.
  bool LiesByK(const Expr& operand, const std::vector<NestAxis>& axes) const {
    if (InnermostStep(c_, operand, c_.k) != 1) return false;
    if (InnermostStep(c_, operand, axes) != 1) return true;
    const Bounds& bounds = c_.nest.bounds;
    return RangeOf(c_.k.back().extent, bounds).max > RangeOf(axes.back().extent, bounds).max;
  }

  BlockTile Tiling() const { return {schedule_.block_m, schedule_.block_n, schedule_.threads()}; }

  std::vector<int64_t> Params() const {
    const MatmulSchedule& s = schedule_;
    return {s.block_m, s.block_n, s.block_k, s.thread_m, s.thread_n, s.a_by_k, s.b_by_k};
  }

  // a(m, k) and b(k, n): 0 beyond the extents.
  TileObject Accessor(const std::string& name, const Expr& operand,
                      const std::vector<NestAxis>& axes, std::vector<FunctorParam> place) const {
    const std::string outer = place[name == "b" ? 1 : 0].name;
    TileFunctor method{.params = std::move(place)};
    Expr inside = And(Lt(Var(outer), CountOf(axes)), Lt(Var(kAtK), CountOf(c_.k)));
    if (UsesAny(c_.nest.valid, axes)) inside = And(inside, c_.nest.valid);
    method.body = DecodeUsed(axes, Var(outer), {operand, inside});
    for (Stmt& let : DecodeUsed(c_.k, Var(kAtK), {operand})) method.body.push_back(std::move(let));
    method.result = Select(inside, operand, NumberConst(0, operand.dtype()));
    return {.name = name, .methods = {std::move(method)}};
  }

  const Kernel& kernel_;
  CudaContraction c_;
  MatmulSchedule schedule_;
};

}  // namespace

absl::StatusOr<CudaWay> MatmulTileOnCuda(const Kernel& kernel, const CudaOptions& /*options*/) {
  MatmulRule rule(kernel);
  AOTC_RETURN_IF_ERROR(rule.Read());
  return WayOf("matmul_tile", "a contraction, tiled in shared memory", rule);
}

}  // namespace aotc
