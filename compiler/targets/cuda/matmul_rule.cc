// Contractions on CUDA cores: every contraction is C[m, n] = sum over k of A(m, k) * B(n, k) per
// batch, with m, n and k counting the axes that only A, only B, and both reduce over. Convolutions
// differ in A's accessor alone (implicit GEMM).
#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/fuse/merge_kernels.h"
#include "compiler/lower/lower_loops.h"
#include "compiler/lower/nest_stages.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cuda/cuda_target.h"

namespace aotc {
namespace {

absl::Status Refuse(std::string_view reason) { return absl::FailedPreconditionError(View(reason)); }

// Typed parameters of the realisation: results of a block and of a thread, steps of k per stage.
struct MatmulSchedule {
  int64_t block_m = 64, block_n = 64, block_k = 16, thread_m = 4, thread_n = 4;
  int64_t threads() const { return block_m / thread_m * (block_n / thread_n); }
};

std::string PrintSchedule(const MatmulSchedule& s) {
  return StrCat("matmul_tile{block=", s.block_m, "x", s.block_n, "x", s.block_k,
                ", thread=", s.thread_m, "x", s.thread_n, "}");
}

class MatmulRule {
 public:
  explicit MatmulRule(const Kernel& kernel) : kernel_(kernel) {}

  absl::StatusOr<KernelVariant> Run() {
    AOTC_RETURN_IF_ERROR(CheckForm());
    AOTC_ASSIGN_OR_RETURN(nest_, BuildNest(kernel_));
    if (!nest_.is_point) return Refuse("the epilogue has other axes");
    MergeAxes(nest_);
    Classify();
    Choose();
    KernelVariant variant{.realisation = "matmul_tile",
                          .schedule = PrintSchedule(schedule_),
                          .reason = "a contraction, tiled in shared memory"};
    variant.loops = Loops();
    return variant;
  }

 private:
  absl::Status CheckForm() const {
    if (kernel_.stages.empty() || !IsContraction(kernel_.stages.front()))
      return Refuse("no contraction");
    if (kernel_.stages.front().body[0].dtype() != DType::kF32)
      return Refuse("the accumulator is not f32");
    for (size_t s = 1; s < kernel_.stages.size(); ++s) {
      if (kernel_.stages[s].IsReduction()) return Refuse("the epilogue is not pointwise");
    }
    return absl::OkStatus();
  }

  void Classify() {
    a_ = nest_.stages[0].bodies[0].arg(0);
    b_ = nest_.stages[0].bodies[0].arg(1);
    for (const NestAxis& axis : nest_.outer) {
      const bool in_a = UsesVar(a_, axis.name), in_b = UsesVar(b_, axis.name);
      (in_a == in_b ? batch_ : in_a ? m_ : n_).push_back(axis);
    }
    for (const Axis& axis : nest_.stages[0].reduce)
      k_.push_back({.name = axis.name, .extent = axis.extent});
  }

  void Choose() {
    const int64_t m = CountOf(m_).AsInt().value_or(64), n = CountOf(n_).AsInt().value_or(64);
    if (n <= 16)
      schedule_ = {.block_m = 128, .block_n = 16, .block_k = 16, .thread_m = 4, .thread_n = 2};
    if (m <= 16)
      schedule_ = {.block_m = 16, .block_n = 64, .block_k = 32, .thread_m = 2, .thread_n = 4};
    if (m <= 16 && n <= 16)
      schedule_ = {.block_m = 16, .block_n = 16, .block_k = 16, .thread_m = 2, .thread_n = 2};
  }

  LoopFunction Loops() {
    LoopFunction function = StartFunction(kernel_, nest_);
    const Expr tiles_m = Simplify(CeilDiv(CountOf(m_), schedule_.block_m), nest_.bounds);
    const Expr tiles_n = Simplify(CeilDiv(CountOf(n_), schedule_.block_n), nest_.bounds);
    std::vector<NestAxis> tasks = batch_;
    tasks.push_back({.name = "tile_m", .extent = tiles_m});
    tasks.push_back({.name = "tile_n", .extent = tiles_n});
    function.tasks = CountOf(tasks);
    function.threads = schedule_.threads();
    std::vector<Stmt> body = DecodeAxes(tasks, Var("task"));
    TileCall call{.function = "aotc_matmul_tile", .header = "cuda/matmul_tile.cuh"};
    call.template_args = {schedule_.block_m, schedule_.block_n, schedule_.block_k,
                          schedule_.thread_m, schedule_.thread_n};
    call.args.push_back(Accessor("a", a_, m_, "m"));
    call.args.push_back(Accessor("b", b_, n_, "n"));
    call.args.push_back(Epilogue());
    call.args.push_back(
        TileRecord{"aotc_tile_range",
                   {{Var("tile_m") * schedule_.block_m, Var("tile_n") * schedule_.block_n,
                     CountOf(m_), CountOf(n_), Expr(0), CountOf(k_)}}});
    body.push_back(Tile(std::move(call)));
    function.body = Block(std::move(body));
    return function;
  }

  // a(m, k) and b(k, n): 0 beyond the extents.
  TileObject Accessor(const std::string& name, const Expr& operand,
                      const std::vector<NestAxis>& axes, const std::string& outer) const {
    TileFunctor method{.params = {{outer, DType::kI64}, {"k", DType::kI64}}};
    if (name == "b") std::swap(method.params[0], method.params[1]);
    method.body = DecodeAxes(axes, Var(outer));
    for (Stmt& let : DecodeAxes(k_, Var("k"))) method.body.push_back(std::move(let));
    const Expr inside = And(Lt(Var(outer), CountOf(axes)), Lt(Var("k"), CountOf(k_)));
    method.result = Select(inside, operand, NumberConst(0, operand.dtype()));
    return {.name = name, .methods = {std::move(method)}};
  }

  TileObject Epilogue() const {
    TileFunctor method{.params = {{"m", DType::kI64}, {"n", DType::kI64}, {"acc", DType::kF32}}};
    method.body = DecodeAxes(m_, Var("m"));
    for (Stmt& let : DecodeAxes(n_, Var("n"))) method.body.push_back(std::move(let));
    Nest nest = nest_;
    nest.stages[0].bodies = {Var("acc", DType::kF32)};
    nest.stages[0].reduce.clear();
    std::optional<std::vector<Stmt>> stages = PointStatements(nest, nullptr);
    for (Stmt& stmt : *stages) method.body.push_back(std::move(stmt));
    return {.name = "epilogue", .methods = {std::move(method)}};
  }

  const Kernel& kernel_;
  Nest nest_;
  MatmulSchedule schedule_;
  Expr a_, b_;  // operands as flat loads, perhaps guarded
  std::vector<NestAxis> batch_, m_, n_, k_;
};

}  // namespace

absl::StatusOr<KernelVariant> MatmulTileOnCuda(const Kernel& kernel) {
  return MatmulRule(kernel).Run();
}

}  // namespace aotc
