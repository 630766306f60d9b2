// Contractions of f16 or of bytes on tensor cores, dense or convolutions by implicit GEMM.
#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/lower/lower_loops.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cuda/contraction_operands.h"
#include "compiler/targets/cuda/cuda_schedules.h"

namespace aotc {
namespace {

// What the operands are, and the tile that multiplies them.
struct MmaKind {
  std::string_view tile;
  std::string_view reason;
  int64_t depth;     // of k: elements that one instruction multiplies
  int64_t most_run;  // elements that a copy of 16 bytes moves
  // Rows or columns, whichever are more, the others, and steps of k, below which other ways are
  // better than tiles of 16 x 8 results that are mostly padding.
  int64_t least_outer, least_inner, least_depth;
};
constexpr MmaKind kHalf = {"mma_tile", "a contraction of f16, on tensor cores", 16, 8, 12, 8, 16};
// The other way is plain loops.
constexpr MmaKind kBytes = {
    "mma_tile_int8", "a contraction of bytes, on tensor cores", 32, 16, 8, 1, 8};

absl::Status Refuse(std::string_view reason) { return absl::FailedPreconditionError(View(reason)); }

// Typed parameters of the realisation: results of a block and of a warp, steps of k per stage,
// elements that one copy of A and of B moves, and whether those of B lie along n.
struct MmaSchedule {
  int64_t block_m = 64, block_n = 64, warp_m = 32, warp_n = 32, block_k = 32;
  int64_t a_run = 1, b_run = 1;
  bool b_along_n = true;
  int64_t threads() const { return block_m / warp_m * (block_n / warp_n) * 32; }
};

// Axes as one position, the variable "position".
Substitution OnePosition(const std::vector<NestAxis>& axes) {
  Substitution position;
  Expr extent = 1;
  for (size_t i = axes.size(); i-- > 0;) {
    const Expr number = FloorDiv(Var("position"), extent);
    position[axes[i].name] = i == 0 ? number : Mod(number, axes[i].extent);
    extent = extent * axes[i].extent;
  }
  return position;
}

bool IsRun(const Expr& index, const std::string& axis, int64_t run, const Bounds& bounds) {
  const auto affine = AsAffine(index, {axis}, bounds);
  if (!affine || affine->coefficients.count(axis) == 0) return false;
  return affine->coefficients.at(axis).IsInt(1) && ProveDivisible(affine->rest, run, bounds);
}

bool IsByte(DType dtype) { return dtype == DType::kU8 || dtype == DType::kI8; }

// What an operand has where its guards do not hold, 0 without any. Nothing where they differ, or
// memory could not hold it.
std::optional<int64_t> FillOf(const Expr& operand) {
  const AnchorOperand read = *ReadOperand(operand);
  if (!read.fill.valid()) return 0;
  bool alike = true;
  Visit(operand, [&](const Expr& e) {
    if (e.op() == ExprOp::kSelect) alike = alike && Same(e.arg(2), read.fill);
  });
  if (!alike) return std::nullopt;
  if (IsFloat(read.fill.dtype()))
    return read.fill->float_value == 0 ? std::optional<int64_t>(0) : std::nullopt;
  const int64_t fill = read.fill.AsInt().value_or(INT64_MAX);
  const int64_t least = read.load.dtype() == DType::kI8 ? -128 : 0;
  if (fill < least || fill > least + 255) return std::nullopt;
  return fill;
}

class MmaRule {
 public:
  MmaRule(const Kernel& kernel, int64_t sms, CudaContraction c)
      : kernel_(kernel),
        sms_(sms),
        c_(std::move(c)),
        kind_(c_.accumulator == DType::kI32 ? &kBytes : &kHalf) {}

  const MmaKind& kind() const { return *kind_; }

  absl::Status Read() {
    AOTC_RETURN_IF_ERROR(CheckOperands());
    Orient();
    AOTC_RETURN_IF_ERROR(CheckShape());
    ChooseTile();
    return absl::OkStatus();
  }

  Schedule ScheduleOf() const {
    return WholeKernel(kernel_, ContractionCuts(c_, Tiling()), StageMemory::kFragment, kind_->tile,
                       Params());
  }

  std::vector<std::vector<int64_t>> Variations() const {
    return BlockVariations({{64, 32}, {32, 64}, {32, 32}, {32, 16}, {16, 32}, {16, 16}, {16, 8}},
                           {kind_->depth, 2 * kind_->depth}, Params());
  }

  // Statistics are of rows that lie in one warp.
  absl::Status Set(const std::vector<int64_t>& p) {
    MmaSchedule& s = schedule_;
    s.block_m = p[0], s.block_n = p[1], s.block_k = p[2], s.warp_m = p[3], s.warp_n = p[4];
    if (s.block_m % s.warp_m != 0 || s.block_n % s.warp_n != 0) return Refuse("no whole warps");
    if (c_.nest.HasStatistics() && s.warp_n != s.block_n)
      return Refuse("rows lie in several warps");
    return FitsBlock(kind_->tile, Params());
  }

  LoopFunction Loops() {
    LoopFunction function = StartFunction(kernel_, c_.nest);
    AddStates(c_, function);
    const MmaSchedule& s = schedule_;
    const BlockTile tile = Tiling();
    function.tasks = ContractionTasks(c_, tile);
    function.threads = tile.threads;
    TileCall call{
        .tile = std::string(kind_->tile), .params = Params(), .extents = RangeOfTile(c_, tile)};
    const Position at_m{c_.m, kAtM, s.block_m}, at_n{c_.n, kAtN, s.block_n},
        at_k{c_.k, kAtK, s.block_k};
    call.operands = {Operand("a", c_.a, at_m, at_k),
                     s.b_along_n ? Operand("b", c_.b, at_k, at_n) : Operand("b", c_.b, at_n, at_k),
                     ContractionEpilogue(c_)};
    function.body = Block(ContractionBody(c_, tile, Tile(std::move(call))));
    return function;
  }

 private:
  absl::Status CheckOperands() const {
    int64_t filled = 0;  // operands whose padding is not zero
    for (const Expr& operand : {c_.a, c_.b}) {
      const Expr load = OperandLoad(operand);
      const bool fits =
          load.valid() && (kind_ == &kBytes ? IsByte(load.dtype()) : load.dtype() == DType::kF16);
      if (!fits) return Refuse(StrCat("an operand is not ", kind_ == &kBytes ? "bytes" : "f16"));
      if (ReadOperand(operand)->zero_point.valid()) return Refuse("a zero point is subtracted");
      const std::optional<int64_t> fill = FillOf(operand);
      if (!fill || (*fill != 0 && kind_ == &kHalf)) return Refuse("padding is not zero");
      filled += int64_t{*fill != 0};
    }
    return filled < 2 ? absl::OkStatus() : Refuse("padding of both operands is not zero");
  }

  // A is the operand that is copied in runs along k; B may lie either way. Where both orders copy
  // alike, results are written along n. Statistics are of the rows that the kernel has.
  void Orient() {
    schedule_ = Copies();
    if (c_.nest.HasStatistics()) return;
    const MmaSchedule given = schedule_;
    const bool along_m = std::any_of(c_.m.begin(), c_.m.end(), [&](const NestAxis& axis) {
      return axis.name == c_.nest.outer.back().name;
    });
    ExchangeOperands(c_);
    schedule_ = Copies();
    const int64_t gain = schedule_.a_run * schedule_.b_run - given.a_run * given.b_run;
    if (gain > 0 || (gain == 0 && along_m)) return;
    ExchangeOperands(c_);
    schedule_ = given;
  }

  MmaSchedule Copies() const {
    MmaSchedule copies;
    copies.a_run = RunAlong(c_.a, c_.k);
    const int64_t along_n = RunAlong(c_.b, c_.n), along_k = RunAlong(c_.b, c_.k);
    copies.b_along_n = along_n >= along_k;
    copies.b_run = std::max(along_n, along_k);
    return copies;
  }

  // Copies move 4 bytes at least, or one element.
  int64_t LeastRun() const { return kind_->most_run / 8; }

  // The longest run of elements that a copy moves along the axes: they lie together, begin at a
  // multiple of the run, and exist together.
  int64_t RunAlong(const Expr& operand, const std::vector<NestAxis>& axes) const {
    if (axes.empty() || FillOf(operand) != 0) return 1;
    const AnchorOperand read = *ReadOperand(operand);
    const Expr &load = read.load, &guard = read.guard;
    Bounds bounds = StageBounds(c_.nest, c_.nest.stages[0]);
    bounds.Add("position", 0, CountOf(axes) - 1);
    const Expr whole = Simplify(Substitute(load.arg(0), OnePosition(axes)), bounds);
    const NestAxis& last = axes.back();
    for (int64_t run = kind_->most_run; run > LeastRun(); run /= 2) {
      if (UsesAny(c_.nest.valid, axes) && !PaddingIsWholeRuns(run)) continue;
      if (!UsesAny(guard, axes) && IsRun(whole, "position", run, bounds)) return run;
      if (UsesAny(guard, {last}) || !ProveDivisible(last.extent, run, bounds)) continue;
      if (IsRun(load.arg(0), last.name, run, bounds)) return run;
    }
    return 1;
  }

  bool PaddingIsWholeRuns(int64_t run) const {
    return c_.nest.logical.valid() && ProveDivisible(c_.nest.logical, run, c_.nest.bounds);
  }

  int64_t Most(const std::vector<NestAxis>& axes) const {
    return RangeOf(CountOf(axes), c_.nest.bounds).max;
  }

  absl::Status CheckShape() const {
    const int64_t m = Most(c_.m), n = Most(c_.n);
    const bool pays = std::max(m, n) >= kind_->least_outer &&
                      std::min(m, n) >= kind_->least_inner && Most(c_.k) >= kind_->least_depth;
    return pays ? absl::OkStatus() : Refuse("too small for tensor cores");
  }

  // The largest tile that keeps the GPU busy, narrow where the matrix is. For statistics a row of
  // the tile lies in one warp.
  void ChooseTile() {
    const int64_t m = Most(c_.m), n = Most(c_.n);
    const int64_t tiles = (m + 127) / 128 * ((n + 127) / 128);
    const bool statistics = c_.nest.HasStatistics();
    MmaSchedule& s = schedule_;
    if (m > 64 && n > 64 && tiles >= sms_ && !statistics) {
      s.block_m = 128, s.block_n = 128, s.warp_m = 64, s.warp_n = 32;
    }
    if (m <= 32) s.block_m = 32, s.warp_m = 16;
    if (m <= 16) s.block_m = 16, s.warp_n = 16;
    if (m > 16 && n <= 32) s.block_n = 32, s.warp_n = 16;
    if (m > 16 && n <= 16) s.block_n = 16, s.warp_n = 8;
    if (statistics) s.warp_m = 16, s.warp_n = s.block_n;
    s.block_k = Most(c_.k) <= kind_->depth ? kind_->depth : 2 * kind_->depth;
  }

  BlockTile Tiling() const { return {schedule_.block_m, schedule_.block_n, schedule_.threads()}; }

  std::vector<int64_t> Params() const {
    const MmaSchedule& s = schedule_;
    return {s.block_m, s.block_n, s.block_k, s.warp_m, s.warp_n, s.a_run, s.b_run, s.b_along_n};
  }

  struct Position {
    const std::vector<NestAxis>& axes;
    std::string_view name;
    int64_t block;

    FunctorParam param() const { return CounterOf(name, axes, block); }
  };

  // at(row, column) is the address of a run along the columns, count(row, column) how many of its
  // elements exist.
  TileObject Operand(const std::string& name, const Expr& operand, const Position& row,
                     const Position& column) const {
    const AnchorOperand read = *ReadOperand(operand);
    const Expr &load = read.load, &guard = read.guard;
    const std::vector<FunctorParam> place = {row.param(), column.param()};
    TileFunctor at{.method = "at", .params = place};
    at.body = Decode(row, column, load);
    at.result_pointer = load->tensor;
    at.result_offset = load.arg(0);
    Expr exists = Lt(Var(row.name), CountOf(row.axes));
    const Expr& valid = c_.nest.valid;
    if (UsesAny(valid, row.axes) || UsesAny(valid, column.axes)) exists = And(exists, valid);
    if (guard.valid()) exists = And(exists, guard);
    TileFunctor count{.method = "count", .params = place};
    count.body = Decode(row, column, exists);
    count.result = Select(exists, CountOf(column.axes) - Var(column.name), Expr(0));
    TileObject object{.name = name, .methods = {std::move(at), std::move(count)}};
    if (const int64_t fill = *FillOf(operand); fill != 0) object.constants = {{"fill", fill}};
    return object;
  }

  static std::vector<Stmt> Decode(const Position& row, const Position& column, const Expr& used) {
    std::vector<Stmt> lets = DecodeUsed(row.axes, Var(row.name), {used});
    for (Stmt& let : DecodeUsed(column.axes, Var(column.name), {used})) {
      lets.push_back(std::move(let));
    }
    return lets;
  }

  const Kernel& kernel_;
  const int64_t sms_;  // multiprocessors
  CudaContraction c_;
  const MmaKind* kind_;
  MmaSchedule schedule_;
};

}  // namespace

absl::StatusOr<CudaWay> MmaTileOnCuda(const Kernel& kernel, const CudaOptions& options) {
  AOTC_ASSIGN_OR_RETURN(CudaContraction c, ReadCudaContraction(kernel));
  MmaRule rule(kernel, options.limits.sms, std::move(c));
  AOTC_RETURN_IF_ERROR(rule.Read());
  const MmaKind& kind = rule.kind();
  return WayOf(kind.tile, kind.reason, rule);
}

}  // namespace aotc
