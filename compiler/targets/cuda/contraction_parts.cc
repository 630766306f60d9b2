#include "compiler/targets/cuda/contraction_parts.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "compiler/lower/lower_loops.h"
#include "compiler/lower/nest_stages.h"
#include "compiler/schedule/anchor.h"
#include "compiler/schedule/stage_kinds.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

absl::Status Refuse(std::string_view reason) { return absl::FailedPreconditionError(View(reason)); }

absl::Status CheckForm(const Kernel& kernel, const Nest& nest) {
  if (!IsContraction(kernel.stages.front())) return Refuse("no contraction");
  const DType accumulator = kernel.stages.front().body[0].dtype();
  if (accumulator != DType::kF32 && accumulator != DType::kI32)
    return Refuse("the accumulator is neither f32 nor i32");
  if (!nest.is_point) return Refuse("the epilogue has other axes");
  for (size_t s = 1; s < nest.stages.size(); ++s) {
    if (!nest.stages[s].reduce.empty()) return Refuse("the epilogue is not pointwise");
    for (const Expr& identity : nest.stages[s].combiner.identity) {
      if (nest.stages[s].over.empty()) continue;
      if (identity.dtype() != DType::kF32) return Refuse("a statistic is not in f32");
    }
  }
  return absl::OkStatus();
}

// The divisor of floor_div(axis, divisor) in an operand: the channels of a group.
std::optional<int64_t> GroupOf(const Expr& operand, const NestAxis& axis) {
  std::optional<int64_t> divisor;
  Visit(operand, [&](const Expr& e) {
    const bool divides = e.op() == ExprOp::kFloorDiv && e.arg(0).IsVar() &&
                         e.arg(0)->name == axis.name && e.arg(1).AsInt().value_or(1) > 1;
    if (divides) divisor = e.arg(1).AsInt();
  });
  return divisor;
}

void SubstituteAll(Nest& nest, const Substitution& substitution) {
  for (FlatStage& stage : nest.stages) {
    const Bounds bounds = StageBounds(nest, stage);
    for (Expr& body : stage.bodies) body = Simplify(Substitute(body, substitution), bounds);
    for (FlatResult& result : stage.results) {
      if (result.index.valid())
        result.index = Simplify(Substitute(result.index, substitution), WithHalos(nest, bounds));
    }
  }
}

// axis -> (axis_g, axis) where an operand only knows the group of the axis.
void SplitGroups(Nest& nest) {
  for (size_t i = 0; i < nest.outer.size(); ++i) {
    const NestAxis axis = nest.outer[i];
    const Expr& product = nest.stages[0].bodies[0];
    std::optional<int64_t> size = GroupOf(product.arg(0), axis);
    if (!size) size = GroupOf(product.arg(1), axis);
    const std::optional<int64_t> extent = axis.extent.AsInt();
    if (!size || !extent || *extent % *size != 0 || axis.halo != Halo{}) continue;
    const std::string group = axis.name + "_g";
    nest.bounds.Add(group, 0, *extent / *size - 1);
    nest.bounds.Add(axis.name, 0, *size - 1);
    nest.outer[i].extent = *size;
    nest.outer.insert(nest.outer.begin() + static_cast<long>(i),
                      NestAxis{.name = group, .extent = *extent / *size, .walks = {group}});
    SubstituteAll(nest, {{axis.name, Var(group) * *size + Var(axis.name)}});
    for (FlatStage& stage : nest.stages) {
      if (std::ranges::count(stage.over, axis.name) > 0) stage.over.push_back(group);
    }
    ++i;
  }
}

// Statistics are of rows: over all axes of n, and of no other.
bool AreRowStatistics(const CudaContraction& c) {
  for (const FlatStage& stage : c.nest.stages) {
    if (stage.over.empty()) continue;
    if (stage.over.size() != c.n.size()) return false;
    for (const NestAxis& axis : c.n) {
      if (std::count(stage.over.begin(), stage.over.end(), axis.name) == 0) return false;
    }
  }
  return true;
}

// Calls `make` with each component of each statistic, and its place in the state.
template <class Make>
void ForStatistics(const Nest& nest, const Make& make) {
  int64_t place = 0;
  for (const FlatStage& stage : nest.stages) {
    for (size_t i = 0; i < stage.results.size() && !stage.over.empty(); ++i)
      make(stage, i, place++);
  }
}

int64_t StateSize(const Nest& nest) {
  int64_t size = 0;
  ForStatistics(nest, [&](const FlatStage&, size_t, int64_t) { ++size; });
  return size;
}

Expr StateElement(TensorId state, int64_t place) { return Load(state, {Expr(place)}, DType::kF32); }

// state = combine(state, other) for all statistics, from variables.
std::vector<Stmt> CombineStates(const Nest& nest, TensorId state, TensorId other) {
  std::vector<Stmt> lets, stores;
  std::map<const FlatStage*, Substitution> operands;
  ForStatistics(nest, [&](const FlatStage& stage, size_t i, int64_t place) {
    for (const auto& [side, from] : {std::pair("a", state), std::pair("b", other)}) {
      const std::string name = StrCat(side, place);
      lets.push_back(Let(name, StateElement(from, place)));
      operands[&stage][StrCat(side, i)] = Var(name, DType::kF32);
    }
  });
  ForStatistics(nest, [&](const FlatStage& stage, size_t i, int64_t place) {
    const Expr combined = Substitute(stage.combiner.combine[i], operands[&stage]);
    stores.push_back(Store(state, Expr(place), combined));
  });
  lets.insert(lets.end(), stores.begin(), stores.end());
  return lets;
}

TileFunctor IdentityMethod(const CudaContraction& c) {
  TileFunctor method{.method = "identity", .params = {{.pointer = c.states[0]}}};
  ForStatistics(c.nest, [&](const FlatStage& stage, size_t i, int64_t place) {
    method.body.push_back(Store(c.states[0], Expr(place), stage.combiner.identity[i]));
  });
  return method;
}

TileFunctor CombineMethod(const CudaContraction& c) {
  return {.method = "combine",
          .params = {{.pointer = c.states[0]}, {.pointer = c.states[1]}},
          .body = CombineStates(c.nest, c.states[0], c.states[1])};
}

// Keeps the statistics of a row; those of further tiles are combined with what the same thread
// kept.
TileFunctor RowMethod(const CudaContraction& c) {
  TileFunctor method{.method = "row",
                     .params = {CounterOf(kAtM, c.m, 0), {.pointer = c.states[0]}}};
  method.body = DecodeAxes(c.m, Var(kAtM));
  std::vector<Stmt> first, again;
  std::map<const FlatStage*, Substitution> operands;
  ForStatistics(c.nest, [&](const FlatStage& stage, size_t i, int64_t place) {
    const FlatResult& result = stage.results[i];
    const Expr value = StateElement(c.states[0], place);
    const Expr before = Load(result.tensor, {result.index}, result.dtype);
    first.push_back(Store(result.tensor, result.index, Cast(result.dtype, value)));
    again.push_back(Let(StrCat("a", place), Cast(DType::kF32, before)));
    operands[&stage][StrCat("a", i)] = Var(StrCat("a", place), DType::kF32);
    operands[&stage][StrCat("b", i)] = value;
  });
  ForStatistics(c.nest, [&](const FlatStage& stage, size_t i, int64_t) {
    const Expr all = Substitute(stage.combiner.combine[i], operands[&stage]);
    const FlatResult& result = stage.results[i];
    again.push_back(Store(result.tensor, result.index, Cast(result.dtype, all)));
  });
  method.body.push_back(If(Eq(Var("tile_n"), 0), std::move(first), std::move(again)));
  return method;
}

// epilogue(m, n, acc[, state])
TileFunctor PointMethod(const CudaContraction& c) {
  TileFunctor method{
      .params = {CounterOf(kAtM, c.m, 0), CounterOf(kAtN, c.n, 0), {"acc", c.accumulator}}};
  method.body = DecodeAxes(c.m, Var(kAtM));
  for (Stmt& let : DecodeAxes(c.n, Var(kAtN))) method.body.push_back(std::move(let));
  Nest nest = c.nest;
  nest.stages[0].bodies = {Var("acc", c.accumulator)};
  nest.stages[0].reduce.clear();
  if (!c.states.empty()) method.params.push_back({.pointer = c.states[0]});
  ForStatistics(nest, [&](const FlatStage& stage, size_t i, int64_t place) {
    method.body.push_back(Declare(stage.results[i].variable, StateElement(c.states[0], place)));
  });
  std::optional<std::vector<Stmt>> stages = PointStatements(nest, nullptr);
  for (Stmt& stmt : *stages) method.body.push_back(std::move(stmt));
  ForStatistics(nest, [&](const FlatStage& stage, size_t i, int64_t place) {
    method.body.push_back(
        Store(c.states[0], Expr(place), Var(stage.results[i].variable, DType::kF32)));
  });
  return method;
}

// The points of `axes` that lie in the halo of axis `index`, on one of its sides.
struct HaloBox {
  std::vector<NestAxis> axes;  // without halos, each counted from 0
  Substitution shift;          // what is added to get the indices
};

HaloBox BoxOf(const std::vector<NestAxis>& axes, size_t index, bool after) {
  HaloBox box;
  for (size_t i = 0; i < axes.size(); ++i) {
    const NestAxis& axis = axes[i];
    NestAxis part{.name = axis.name + "_halo", .extent = axis.extent};
    Expr start = 0;
    if (i > index) {  // all of it
      part.extent = axis.extent + axis.halo.before + axis.halo.after;
      start = -axis.halo.before;
    } else if (i == index) {
      part.extent = after ? axis.halo.after : axis.halo.before;
      start = after ? axis.extent : Expr(-axis.halo.before);
    }
    box.shift[axis.name] = Var(part.name) + start;
    box.axes.push_back(part);
  }
  return box;
}

std::vector<Stmt> FillBox(const Nest& nest, const HaloBox& box, int64_t threads) {
  Nest shifted = nest;
  for (FlatStage& stage : shifted.stages) {
    for (FlatResult& result : stage.results) {
      if (result.index.valid()) result.index = Substitute(result.index, box.shift);
    }
  }
  const Expr count = CountOf(box.axes);
  std::vector<Stmt> body = DecodeAxes(box.axes, Var("halo"));
  for (Stmt& store : FillStatements(shifted)) body.push_back(std::move(store));
  return {For("halo_round", 0, Simplify(CeilDiv(count, threads), nest.bounds),
              {Let("halo", Var("halo_round") * threads + Var("thread")),
               If(Lt(Var("halo"), count), std::move(body))})};
}

std::vector<Stmt> FillHalo(const Nest& nest, int64_t threads) {
  std::vector<Stmt> body;
  for (size_t i = 0; i < nest.outer.size(); ++i) {
    const Halo& halo = nest.outer[i].halo;
    for (const bool after : {false, true}) {
      if ((after ? halo.after : halo.before) == 0) continue;
      for (Stmt& stmt : FillBox(nest, BoxOf(nest.outer, i, after), threads)) {
        body.push_back(std::move(stmt));
      }
    }
  }
  return body;
}

Expr Tiles(const CudaContraction& c, const std::vector<NestAxis>& axes, int64_t size) {
  return Simplify(CeilDiv(CountOf(axes), size), c.nest.bounds);
}

std::vector<NestAxis> TaskAxes(const CudaContraction& c, const BlockTile& tile) {
  std::vector<NestAxis> tasks = c.batch;
  tasks.push_back({.name = "tile_m", .extent = Tiles(c, c.m, tile.m)});
  if (!c.nest.HasStatistics()) tasks.push_back({.name = "tile_n", .extent = Tiles(c, c.n, tile.n)});
  return tasks;
}

}  // namespace

absl::StatusOr<CudaContraction> ReadCudaContraction(const Kernel& kernel) {
  if (kernel.stages.empty()) return Refuse("no contraction");
  CudaContraction c;
  AOTC_ASSIGN_OR_RETURN(c.nest, BuildNest(kernel));
  AOTC_RETURN_IF_ERROR(CheckForm(kernel, c.nest));
  SplitGroups(c.nest);
  MergeAxes(c.nest);
  c.a = c.nest.stages[0].bodies[0].arg(0);
  c.b = c.nest.stages[0].bodies[0].arg(1);
  c.accumulator = c.nest.stages[0].bodies[0].dtype();
  for (NestAxis axis : c.nest.outer) {
    axis.halo = {};
    const AxisRole role = RoleOf(axis.name, c.a, c.b);
    (role == AxisRole::kBatch ? c.batch : role == AxisRole::kM ? c.m : c.n).push_back(axis);
  }
  for (const Axis& axis : c.nest.stages[0].reduce) {
    c.k.push_back({.name = axis.name, .extent = axis.extent});
  }
  if (!AreRowStatistics(c)) return Refuse("a statistic is not of rows");
  return c;
}

FunctorParam CounterOf(std::string_view name, const std::vector<NestAxis>& axes, int64_t beyond) {
  const Expr count = CountOf(axes);
  return {.name = std::string(name), .most = beyond == 0 ? count - 1 : count + (beyond - 1)};
}

void AddStates(CudaContraction& c, LoopFunction& function) {
  if (!c.nest.HasStatistics()) return;
  for (const char* name : {"row_state", "other_state"}) {
    c.states.push_back(
        function.buffers.Add({.name = name, .place = BufferPlace::kLocal, .written = true}));
  }
}

TileObject ContractionEpilogue(const CudaContraction& c) {
  TileObject epilogue{.name = "epilogue", .methods = {PointMethod(c)}};
  if (c.states.empty()) return epilogue;
  epilogue.constants = {{"statistics", StateSize(c.nest)}};
  epilogue.methods.push_back(IdentityMethod(c));
  epilogue.methods.push_back(CombineMethod(c));
  epilogue.methods.push_back(RowMethod(c));
  return epilogue;
}

std::vector<std::vector<int64_t>> BlockVariations(
    const std::vector<std::pair<int64_t, int64_t>>& parts, const std::vector<int64_t>& steps,
    std::vector<int64_t> params) {
  static constexpr std::pair<int64_t, int64_t> kBlocks[] = {
      {128, 128}, {128, 64}, {64, 128}, {64, 64}, {64, 32}, {32, 64},
      {32, 32},   {128, 16}, {16, 128}, {16, 64}, {64, 16}, {16, 16}};
  std::vector<std::vector<int64_t>> variations;
  for (const auto& [m, n] : kBlocks) {
    for (const auto& [rows, columns] : parts) {
      for (const int64_t k : steps) {
        params[0] = m, params[1] = n, params[2] = k, params[3] = rows, params[4] = columns;
        variations.push_back(params);
      }
    }
  }
  return variations;
}

std::vector<Cut> ContractionCuts(const CudaContraction& c, const BlockTile& tile) {
  std::vector<Cut> cuts;
  for (const NestAxis& axis : c.batch) cuts.push_back({axis.walks, 1});
  cuts.push_back({WalksOf(c.m), tile.m});
  if (!c.nest.HasStatistics()) cuts.push_back({WalksOf(c.n), tile.n});
  std::erase_if(cuts, [](const Cut& cut) { return cut.axes.empty(); });
  return cuts;
}

std::vector<Expr> RangeOfTile(const CudaContraction& c, const BlockTile& tile) {
  return {Var("tile_m") * tile.m, Var("tile_n") * tile.n, CountOf(c.m), CountOf(c.n), CountOf(c.k)};
}

Expr ContractionTasks(const CudaContraction& c, const BlockTile& tile) {
  return CountOf(TaskAxes(c, tile));
}

std::vector<Stmt> ContractionBody(const CudaContraction& c, const BlockTile& tile,
                                  const Stmt& call) {
  std::vector<Stmt> body = DecodeAxes(TaskAxes(c, tile), Var("task"));
  if (c.nest.HasStatistics()) {
    body.push_back(For("tile_n", 0, Tiles(c, c.n, tile.n), {call}));
  } else {
    body.push_back(call);
  }
  std::vector<Stmt> fill = FillHalo(c.nest, tile.threads);
  if (!fill.empty()) body.push_back(If(Eq(Var("task"), 0), std::move(fill)));
  return body;
}

}  // namespace aotc
