// Attention in one pass: a block of rows walks blocks of keys, and no score leaves the block.
#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/lower/lower_loops.h"
#include "compiler/lower/nest_stages.h"
#include "compiler/schedule/tile.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/targets/attention_parts.h"
#include "compiler/targets/attention_reach.h"
#include "compiler/targets/cuda/cuda_schedules.h"
#include "compiler/targets/cuda/tiles.h"

namespace aotc {
namespace {

constexpr int64_t kEnoughRows = 8;  // of fewer, most of a block's threads have nothing to do
constexpr int64_t kThreads = 128, kThreadsOfRow = 8;

// Counters in accessors and epilogues: none of a kernel's own names.
constexpr const char *kAtRow = "row_at", *kAtKey = "key_at", *kAtDepth = "depth_at",
                     *kAtColumn = "column_at";

absl::Status Refuse(std::string_view reason) { return absl::FailedPreconditionError(View(reason)); }

// Typed parameters of the realisation: rows of a block, keys at a time, elements of a query and of
// a value with padding, rows of a thread; whether neighbouring threads fetch from key to key.
struct AttentionSchedule {
  int64_t rows = 64, keys = 32, depth = 64, columns = 64;
  bool keys_by_key = false, values_by_key = false;
  std::vector<int64_t> params() const {
    return {rows,        keys,         depth, columns, rows * kThreadsOfRow / kThreads,
            keys_by_key, values_by_key};
  }
};

// The least legal value of a parameter of the tile that is `least` or more.
std::optional<int64_t> LegalFrom(std::string_view param, int64_t least) {
  const TileRow& row = *FindTile(CudaTiles(), "attention_tile");
  for (const int64_t value : std::ranges::find(row.params, param, &TileParam::name)->legal) {
    if (value >= least) return value;
  }
  return std::nullopt;
}

class AttentionRule {
 public:
  AttentionRule(Attention a, int64_t sms) : a_(std::move(a)), sms_(sms) {}

  int64_t MostRows() const { return Most(a_.rows().extent); }

  // Blocks of as many rows as leave a block to each multiprocessor, and as many keys at a time as
  // shared memory holds. Error: there are none.
  absl::Status Choose() {
    const std::optional<int64_t> depth = LegalFrom("most_depth", a_.depth),
                                 columns = LegalFrom("most_columns", a_.columns);
    if (!depth || !columns) return Refuse("rows of queries or values are long");
    const Expr& key_step = a_.key.step;
    const Expr& value_step = a_.value.step;
    schedule_ = {.depth = *depth,
                 .columns = *columns,
                 .keys_by_key = a_.key.row_step.IsInt(1) && !key_step.IsInt(1),
                 .values_by_key = a_.value.row_step.IsInt(1) && !value_step.IsInt(1)};
    std::optional<AttentionSchedule> best;
    for (const int64_t rows : {64, 32, 16}) {
      const bool is_busy = best && Blocks(best->rows) >= sms_;
      if (is_busy) break;
      if (std::optional<AttentionSchedule> fits = WithRows(rows)) best = fits;
    }
    if (!best) return Refuse("blocks of rows and keys need more shared memory than there is");
    schedule_ = *best;
    return absl::OkStatus();
  }

  Schedule ScheduleOf() const {
    const std::string loop = a_.kernel.stages[a_.anchor.values].reduce_axes[0].name;
    std::vector<Cut> tasks;
    for (size_t i = 0; i + 1 < a_.result.outer.size(); ++i) {
      tasks.push_back({a_.result.outer[i].walks, i == a_.row ? schedule_.rows : 1});
    }
    Schedule schedule = WholeKernel(a_.kernel, std::move(tasks), StageMemory::kFragment,
                                    "attention_tile", schedule_.params());
    schedule.loops = {{{loop}, schedule_.keys}};
    schedule.parts[0].at = {loop};
    schedule.parts[0].is_partial = true;
    return schedule;
  }

  std::vector<std::vector<int64_t>> Variations() const {
    std::vector<std::vector<int64_t>> variations;
    for (const int64_t rows : {64, 32, 16}) {
      for (const int64_t keys : {64, 32, 16}) {
        AttentionSchedule schedule = schedule_;
        schedule.rows = rows;
        schedule.keys = keys;
        variations.push_back(schedule.params());
      }
    }
    return variations;
  }

  absl::Status Set(const std::vector<int64_t>& params) {
    schedule_.rows = params[0];
    schedule_.keys = params[1];
    return FitsBlock("attention_tile", schedule_.params());
  }

  LoopFunction Loops() const {
    LoopFunction function = StartFunction(a_.kernel, a_.result);
    for (size_t i = 0; i < function.buffers.size(); ++i) {  // what lies between stages is nowhere
      LoopBuffer& buffer = function.buffers[TensorId(static_cast<uint32_t>(i))];
      if (!std::ranges::count(a_.kernel.params, TensorId(static_cast<uint32_t>(i))))
        buffer = {.name = buffer.name, .place = BufferPlace::kLocal, .written = true};
    }
    function.scratch_bytes = 0;
    function.threads = kThreads;
    std::vector<NestAxis> tasks(a_.scores.outer.begin(), a_.scores.outer.end() - 1);
    const Expr& rows = a_.rows().extent;
    tasks[a_.row] = {.name = "row_block",
                     .extent = Simplify(CeilDiv(rows, schedule_.rows), a_.scores.bounds)};
    function.tasks = CountOf(tasks);
    TileCall call{.tile = "attention_tile", .params = schedule_.params()};
    const Expr first_row = Var("row_block") * schedule_.rows;
    call.extents = {first_row, rows, 0, a_.keys, a_.depth, a_.columns};
    call.operands = {Queries(), Rows("k", a_.key, Depth()), Score(), Rows("v", a_.value, Column()),
                     Epilogue()};
    std::vector<Stmt> body = DecodeAxes(tasks, Var("task"));
    if (const KeyRange keys = ReachedBy(first_row);
        !keys.begin.IsInt(0) || !Same(keys.end, a_.keys)) {
      body.push_back(Let("key_begin", keys.begin));
      body.push_back(Let("key_end", keys.end));
      call.extents[2] = Var("key_begin");
      call.extents[3] = Var("key_end") - Var("key_begin");
    }
    body.push_back(Tile(std::move(call)));
    function.body = Block(std::move(body));
    return function;
  }

 private:
  int64_t Most(const Expr& extent) const { return RangeOf(extent, a_.scores.bounds).max; }

  int64_t Blocks(int64_t rows) const {
    int64_t blocks = 1;
    for (size_t i = 0; i + 1 < a_.scores.outer.size(); ++i) {
      const int64_t extent = Most(a_.scores.outer[i].extent);
      blocks *= i == a_.row ? (extent + rows - 1) / rows : extent;
    }
    return blocks;
  }

  std::optional<AttentionSchedule> WithRows(int64_t rows) const {
    for (const int64_t keys : {64, 32, 16}) {
      AttentionSchedule schedule = schedule_;
      schedule.rows = rows;
      schedule.keys = keys;
      const bool is_padding = keys > 16 && keys / 2 >= Most(a_.keys);
      if (!is_padding && FitsBlock("attention_tile", schedule.params()).ok()) return schedule;
    }
    return std::nullopt;
  }

  // The keys that a mask leaves to the rows of a block, from the beginning of a step; one at least,
  // which tells rows that have none.
  KeyRange ReachedBy(const Expr& first_row) const {
    KeyRange range = ReachedKeys(a_, first_row, schedule_.rows);
    if (!range.begin.IsInt(0)) {
      const Expr last = Max(a_.keys - 1, 0);
      range.begin = FloorDiv(Min(range.begin, last), schedule_.keys) * schedule_.keys;
    }
    if (Same(range.end, a_.keys) && range.begin.IsInt(0)) return range;
    range.end = Min(Max(range.end, range.begin + 1), a_.keys);
    Bounds bounds = a_.scores.bounds;
    bounds.Add("row_block", 0, CeilDiv(a_.rows().extent, schedule_.rows) - 1);
    return {Simplify(range.begin, bounds), Simplify(range.end, bounds)};
  }

  // --- Loops ------------------------------------------------------------------------------------

  // Counters that may pass the last row, key or element by less than a block.
  FunctorParam Row() const { return {.name = kAtRow, .most = a_.rows().extent + schedule_.rows}; }
  FunctorParam Key() const { return {.name = kAtKey, .most = a_.keys + schedule_.keys}; }
  FunctorParam Depth() const { return {.name = kAtDepth, .most = schedule_.depth - 1}; }
  FunctorParam Column() const { return {.name = kAtColumn, .most = schedule_.columns - 1}; }

  // Bounds of what exists.
  Bounds Inside() const {
    Bounds bounds = a_.scores.bounds;
    bounds.Add(kAtRow, 0, a_.rows().extent - 1);
    bounds.Add(kAtKey, 0, a_.keys - 1);
    bounds.Add(kAtDepth, 0, a_.depth - 1);
    bounds.Add(kAtColumn, 0, a_.columns - 1);
    return bounds;
  }

  // Axes of the scores -> what accessors count with.
  Substitution CountersOfScores() const {
    return {
        {a_.rows().name, Var(kAtRow)}, {a_.key_axis, Var(kAtKey)}, {a_.depth_axis, Var(kAtDepth)}};
  }

  Substitution CountersOfResult() const {
    Substitution names = NamesOfScores(a_);
    names[a_.result.outer[a_.row].name] = Var(kAtRow);
    names[a_.column_axis] = Var(kAtColumn);
    return names;
  }

  // q(i, d): 0 beyond the extents, as k(j, d) and v(j, e) are.
  TileObject Queries() const {
    const Expr query = Simplify(Substitute(a_.query, CountersOfScores()), Inside());
    const Expr exists = And(Lt(Var(kAtRow), a_.rows().extent), Lt(Var(kAtDepth), a_.depth));
    return Accessor("q", {Row(), Depth()}, query, exists);
  }

  TileObject Rows(const char* name, const AttentionRows& rows, const FunctorParam& column) const {
    const Expr index = rows.offset + Var(kAtKey) * rows.row_step + Var(column.name) * rows.step;
    const Expr element = Load(rows.tensor, {Simplify(index, Inside())}, DType::kF32);
    const int64_t count = column.name == kAtDepth ? a_.depth : a_.columns;
    const Expr exists = And(Lt(Var(kAtKey), a_.keys), Lt(Var(column.name), count));
    return Accessor(name, {Key(), column}, element, exists);
  }

  static TileObject Accessor(const char* name, std::vector<FunctorParam> place, const Expr& element,
                             const Expr& exists) {
    TileFunctor method{.params = std::move(place)};
    method.result = Select(exists, element, NumberConst(0, element.dtype()));
    return {.name = name, .methods = {std::move(method)}};
  }

  // score(i, j, acc): the stages between the product and the softmax.
  TileObject Score() const {
    Nest nest = PointsOf(a_.scores, CountersOfScores());
    for (FlatStage& stage : nest.stages) {
      for (FlatResult& result : stage.results) result.index = {};
    }
    TileFunctor method{.params = {Row(), Key(), {"acc", DType::kF32}},
                       .body = *PointStatements(nest, nullptr)};
    method.result = Var(nest.stages.back().results[0].variable, DType::kF32);
    TileObject score{.name = "score", .methods = {std::move(method)}};
    const std::optional<MaskOfElements> mask = ReadMaskOfElements(a_);
    if (mask) score.methods.push_back(Counts(*mask));
    score.constants = {{"hides", mask ? 1 : 0}};
    return score;
  }

  // counts(i, j, top): the score is seen, or what hides it is not far below the largest so far.
  TileFunctor Counts(const MaskOfElements& mask) const {
    TileFunctor method{.method = "counts", .params = {Row(), Key(), {"top", DType::kF32}}};
    const Expr seen = Simplify(Substitute(mask.seen, CountersOfScores()), Inside());
    method.result = Or(seen, Not(IsFarBelow(mask.hidden, Var("top", DType::kF32))));
    return method;
  }

  // epilogue(i, e, acc): the stages behind the weighted values.
  TileObject Epilogue() const {
    const Nest nest = PointsOf(a_.result, CountersOfResult());
    TileFunctor method{.params = {Row(), Column(), {"acc", DType::kF32}},
                       .body = *PointStatements(nest, nullptr)};
    return {.name = "epilogue", .methods = {std::move(method)}};
  }

  // The nest's stages at the counters, the first of them given as "acc".
  Nest PointsOf(Nest nest, const Substitution& counters) const {
    nest.stages[0].bodies = {Var("acc", DType::kF32)};
    nest.stages[0].reduce.clear();
    nest.bounds = Inside();
    for (FlatStage& stage : nest.stages) {
      for (Expr& body : stage.bodies) body = Simplify(Substitute(body, counters), nest.bounds);
      for (FlatResult& result : stage.results) {
        if (!result.index.valid()) continue;
        result.index = Simplify(Substitute(result.index, counters), nest.bounds);
      }
    }
    return nest;
  }

  Attention a_;
  const int64_t sms_;  // multiprocessors
  AttentionSchedule schedule_;
};

absl::StatusOr<CudaWay> WayWithRows(const Kernel& kernel, const CudaOptions& options, int64_t least,
                                    int64_t most) {
  AOTC_ASSIGN_OR_RETURN(Attention a, AnalyzeAttention(kernel));
  AttentionRule rule(std::move(a), options.limits.sms);
  const int64_t rows = rule.MostRows();
  if (rows == 1) return Refuse("there is one row for each of the keys' matrices");
  if (rows < least || rows > most) return Refuse(StrCat("attention of ", rows, " rows"));
  AOTC_RETURN_IF_ERROR(rule.Choose());
  return WayOf("attention", "rows that attend to keys, in blocks of both", rule);
}

}  // namespace

absl::StatusOr<CudaWay> AttentionOnCuda(const Kernel& kernel, const CudaOptions& options) {
  return WayWithRows(kernel, options, kEnoughRows, INT64_MAX);
}

absl::StatusOr<CudaWay> AttentionOfFewRowsOnCuda(const Kernel& kernel, const CudaOptions& options) {
  return WayWithRows(kernel, options, 2, kEnoughRows - 1);
}

}  // namespace aotc
