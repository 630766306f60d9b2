#include "compiler/lower/row_groups.h"

#include <algorithm>
#include <map>
#include <utility>

#include "compiler/lower/lower_loops.h"
#include "compiler/lower/nest_stages.h"
#include "compiler/lower/row_temps.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

int64_t MostOf(const std::vector<Axis>& axes, const Bounds& bounds) {
  Shape shape;
  for (const Axis& axis : axes) shape.push_back(axis.extent);
  return MaxElements(shape, bounds).value_or(INT64_MAX);
}

// Axes as one counter: the counter's name and extent, and the axes in terms of it.
struct Joined {
  std::string name = {};
  Expr extent = 1;
  Substitution axes = {};
};

Joined Join(const std::vector<Axis>& axes) {
  Joined joined;
  std::vector<Axis> real;
  for (const Axis& axis : axes) {
    joined.axes[axis.name] = 0;
    if (!axis.extent.IsInt(1)) real.push_back(axis);
  }
  joined.name = real.size() == 1 ? real[0].name : "element";
  for (size_t i = real.size(); i-- > 0;) {
    const Expr number = FloorDiv(Var(joined.name), joined.extent);
    joined.axes[real[i].name] = i == 0 ? number : Mod(number, real[i].extent);
    joined.extent = joined.extent * real[i].extent;
  }
  return joined;
}

class RowGroupWriter {
 public:
  RowGroupWriter(const Nest& nest, const RowGroups& groups, Expr exists)
      : nest_(nest), groups_(groups), exists_(std::move(exists)) {}

  absl::StatusOr<std::vector<Stmt>> Run() {
    for (const FlatStage& stage : nest_.stages) {
      WaitForTemps(stage);
      if (stage.reduce.empty()) {
        Pointwise(stage);
      } else if (stage.inner.empty()) {
        Reduction(stage);
      } else {
        InnerReduction(stage);
      }
    }
    return std::move(out_);
  }

 private:
  // How a temp, or a result that a later stage reads, was written: as element `index` by the thread
  // that meets it in this deal.
  struct Writer {
    Expr extent = {};
    Expr index = {};  // over the variable "element"
    bool dealt = false;
  };

  bool InShared(TensorId id) const {
    return nest_.buffers[id].place == BufferPlace::kShared && nest_.buffers[id].elements > 0;
  }

  // A barrier, unless each thread reads of the temps only what it wrote itself.
  void WaitForTemps(const FlatStage& stage) {
    const bool deals_inner = stage.reduce.empty() || !DealsReduction(stage);
    const bool deals_one = stage.inner.empty() || stage.reduce.empty();
    const Joined joined = Join(deals_inner && !stage.inner.empty() ? stage.inner : stage.reduce);
    bool wait = false;
    for (const Expr& body : stage.bodies) {
      for (const Expr& load : LoadsOf(body)) {
        auto writer = unread_.find(load->tensor);
        if (writer == unread_.end()) continue;
        const Substitution rename = {{joined.name, Var("element")}};
        const Expr index = Simplify(Substitute(Substitute(load.arg(0), joined.axes), rename),
                                    BoundsOfDeal(joined));
        const bool own = deals_one && writer->second.dealt && Same(index, writer->second.index) &&
                         ProveEqual(joined.extent, writer->second.extent, nest_.bounds);
        wait = wait || !own;
      }
    }
    if (!wait) return;
    out_.push_back(Barrier());
    unread_.clear();
  }

  Bounds BoundsOfDeal(const Joined& joined) const {
    Bounds bounds = nest_.bounds;
    bounds.Add("element", 0, joined.extent - 1);
    return bounds;
  }

  void RememberTemps(const FlatStage& stage, const Joined& joined, bool dealt) {
    for (const FlatResult& result : stage.results) {
      if (!result.index.valid() || !result.variable.empty()) continue;
      Writer writer{.extent = joined.extent, .dealt = dealt};
      writer.index = Simplify(
          Substitute(Substitute(result.index, joined.axes), {{joined.name, Var("element")}}),
          BoundsOfDeal(joined));
      unread_[result.tensor] = writer;
    }
  }

  // for (element of `axes`, dealt out) body
  static Stmt Deal(const Joined& joined, std::vector<Stmt> body) {
    for (Stmt& stmt : body) {
      stmt = TransformExprs(stmt, [&](const Expr& e) { return Substitute(e, joined.axes); });
    }
    return For(joined.name, 0, joined.extent, std::move(body), LoopKind::kThread);
  }

  // Of a reduction with inner axes: whether the reduce axes are dealt out, for one inner element
  // after another, rather than the inner ones.
  bool DealsReduction(const FlatStage& stage) const {
    return stage.inner.empty() || MostOf(stage.inner, nest_.bounds) * 2 < groups_.group;
  }

  std::string NameOf(const FlatStage& stage, size_t k) const {
    const FlatResult& result = stage.results[k];
    return result.variable.empty() ? nest_.buffers[result.tensor].name + "_value" : result.variable;
  }

  Stmt StoreOf(const FlatResult& result, const Expr& value) const {
    Expr index = result.index;
    if (InShared(result.tensor)) {
      index = OfOwnRow(result.tensor, index);
      return Store(result.tensor, index, Cast(result.dtype, value));
    }
    const Stmt store = Store(result.tensor, index, Cast(result.dtype, value));
    return exists_.valid() ? If(exists_, {store}) : store;
  }

  Expr OfOwnRow(TensorId tensor, const Expr& index) const {
    if (groups_.group == groups_.threads) return index;
    const int64_t rows = groups_.threads / groups_.group;
    return Var("place") * (nest_.buffers[tensor].elements / rows) + index;
  }

  Expr AtOwnRow(const Expr& e) const {
    return Transform(e, [&](const Expr& node) {
      if (node.op() != ExprOp::kLoad || !InShared(node->tensor)) return node;
      return Load(node->tensor, {OfOwnRow(node->tensor, node.arg(0))}, node.dtype());
    });
  }

  // What one thread of the group does for all of it.
  void Once(std::vector<Stmt> body) {
    const Expr first = Eq(Var(groups_.group == groups_.threads ? "thread" : "lane"), 0);
    out_.push_back(If(first, std::move(body)));
  }

  void Pointwise(const FlatStage& stage) {
    std::vector<Stmt> stores;
    for (size_t k = 0; k < stage.bodies.size(); ++k) {
      const FlatResult& result = stage.results[k];
      Expr value = AtOwnRow(stage.bodies[k]);
      if (!result.variable.empty()) {
        value = InVariable(value);
        out_.push_back(Let(result.variable, value));
        value = Var(result.variable, value.dtype());
      }
      if (result.index.valid()) stores.push_back(StoreOf(result, value));
    }
    if (stores.empty()) return;
    if (stage.inner.empty()) {
      Once(std::move(stores));
      return RememberTemps(stage, {}, false);
    }
    const Joined joined = Join(stage.inner);
    out_.push_back(Deal(joined, std::move(stores)));
    RememberTemps(stage, joined, true);
  }

  std::vector<std::string> DeclareAccumulators(const FlatStage& stage,
                                               std::vector<Stmt>& out) const {
    std::vector<std::string> names;
    for (size_t k = 0; k < stage.bodies.size(); ++k) {
      names.push_back(NameOf(stage, k));
      out.push_back(Declare(names[k], stage.combiner.identity[k]));
    }
    return names;
  }

  FlatStage AtOwnRow(FlatStage stage) const {
    for (Expr& body : stage.bodies) body = AtOwnRow(body);
    return stage;
  }

  std::vector<Stmt> Stores(const FlatStage& stage) const {
    std::vector<Stmt> stores;
    for (size_t k = 0; k < stage.bodies.size(); ++k) {
      if (!stage.results[k].index.valid()) continue;
      const DType dtype = stage.combiner.identity[k].dtype();
      stores.push_back(StoreOf(stage.results[k], Var(NameOf(stage, k), dtype)));
    }
    return stores;
  }

  Stmt Combine(const FlatStage& stage, const std::vector<std::string>& names) const {
    const bool block = groups_.group > 32;
    TileCall call{.tile = block ? "block_reduce" : "warp_reduce", .params = {groups_.group}};
    const std::string& name = stage.combiner.name;
    call.operands = {TileCombiner{.name = name.empty() ? "combine" : name,
                                  .combiner = stage.combiner,
                                  .has_identity = block}};
    call.state = names;
    return Tile(std::move(call));
  }

  void Reduction(const FlatStage& given) {
    const FlatStage stage = AtOwnRow(given);
    const std::vector<std::string> names = DeclareAccumulators(stage, out_);
    out_.push_back(Deal(Join(stage.reduce), AccumulateElements(stage, names)));
    out_.push_back(Combine(stage, names));
    std::vector<Stmt> stores = Stores(stage);
    if (!stores.empty()) Once(std::move(stores));
    RememberTemps(stage, {}, false);
  }

  // Every thread sums for the inner elements that it is dealt; few inner elements are taken one
  // after another by the whole group.
  void InnerReduction(const FlatStage& given) {
    const FlatStage stage = AtOwnRow(given);
    const Joined inner = Join(stage.inner);
    std::vector<Stmt> body;
    const std::vector<std::string> names = DeclareAccumulators(stage, body);
    if (DealsReduction(stage)) {
      body.push_back(Deal(Join(stage.reduce), AccumulateElements(stage, names)));
      body.push_back(Combine(stage, names));
      std::vector<Stmt> saved = std::move(out_);
      out_.clear();
      Once(Stores(stage));
      for (Stmt& stmt : out_) body.push_back(std::move(stmt));
      out_ = std::move(saved);
      for (size_t i = stage.inner.size(); i-- > 0;) {
        body = {For(stage.inner[i].name, 0, stage.inner[i].extent, std::move(body))};
      }
      out_.push_back(body[0]);
    } else {
      std::vector<Stmt> sum = AccumulateElements(stage, names);
      for (size_t i = stage.reduce.size(); i-- > 0;) {
        sum = {For(stage.reduce[i].name, 0, stage.reduce[i].extent, std::move(sum))};
      }
      body.push_back(sum[0]);
      for (Stmt& stmt : Stores(stage)) body.push_back(std::move(stmt));
      out_.push_back(Deal(inner, std::move(body)));
    }
    RememberTemps(stage, inner, !DealsReduction(stage));
  }

  const Nest& nest_;
  const RowGroups groups_;
  const Expr exists_;                  // that the row is one of the kernel's; null where all are
  std::map<TensorId, Writer> unread_;  // what was written to memory since the last barrier
  std::vector<Stmt> out_;
};

// In the stages from `first` on, reads of `result` take its variable.
void ReadVariable(Nest& nest, size_t first, const FlatResult& result) {
  const Expr value = Var(result.variable, result.dtype);
  const auto take = [&](const Expr& node) {
    const bool reads = node.op() == ExprOp::kLoad && node->tensor == result.tensor;
    return reads && Same(node.arg(0), result.index) ? value : node;
  };
  for (size_t reader = first; reader < nest.stages.size(); ++reader) {
    for (Expr& body : nest.stages[reader].bodies) body = Transform(body, take);
  }
}

// Gives results of one element per row, which one thread stores for all, a variable that later
// stages read.
void KeepScalarResults(Nest& nest) {
  for (size_t s = 0; s < nest.stages.size(); ++s) {
    if (!nest.stages[s].inner.empty()) continue;
    for (FlatResult& result : nest.stages[s].results) {
      const bool rounds = ComputeType(result.dtype) != result.dtype;
      if (!result.index.valid() || !result.variable.empty() || rounds) continue;
      result.variable = nest.buffers[result.tensor].name + "_value";
      ReadVariable(nest, s + 1, result);
    }
  }
}

absl::Status CheckResults(const Nest& nest) {
  for (const FlatStage& stage : nest.stages) {
    for (const FlatResult& result : stage.results) {
      const bool whole = result.inner_count == static_cast<int>(stage.inner.size());
      if (!whole && !stage.inner.empty()) {
        return absl::FailedPreconditionError("results of one stage have several ranks");
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

int64_t LongestDeal(const Nest& nest) {
  int64_t most = 1;
  for (const FlatStage& stage : nest.stages) {
    most = std::max(most, MostOf(stage.inner, nest.bounds));
    most = std::max(most, MostOf(stage.reduce, nest.bounds));
  }
  return most;
}

absl::StatusOr<LoopFunction> LowerToRowGroups(const Kernel& kernel, Nest nest,
                                              const RowGroups& groups) {
  KeepFewTemps(nest);
  KeepScalarResults(nest);
  AOTC_RETURN_IF_ERROR(CheckResults(nest));
  const int64_t rows = groups.threads / groups.group;
  AOTC_RETURN_IF_ERROR(PlaceTemps(nest, rows));
  LoopFunction function = StartFunction(kernel, nest);
  const Expr count = CountOf(nest.outer);
  function.threads = groups.threads;
  function.group = groups.group;
  function.tasks = Simplify(CeilDiv(count, rows), nest.bounds);
  std::vector<Stmt> body;
  Expr row = Var("task"), exists;
  if (rows > 1) {
    body.push_back(Let("lane", Mod(Var("thread"), groups.group)));
    body.push_back(Let("place", FloorDiv(Var("thread"), groups.group)));
    const Expr number = Var("task") * rows + Var("place");
    row = number;
    if (!ProveDivisible(count, rows, nest.bounds)) {
      // All lanes take part in shuffles: those beyond the last row compute it again.
      body.push_back(Let("number", number));
      body.push_back(Let("row", Min(Var("number"), count - 1)));
      exists = Lt(Var("number"), count);
      row = Var("row");
    }
  }
  for (Stmt& let : DecodeAxes(nest.outer, row)) body.push_back(std::move(let));
  AOTC_ASSIGN_OR_RETURN(std::vector<Stmt> stages, RowGroupWriter(nest, groups, exists).Run());
  body.insert(body.end(), stages.begin(), stages.end());
  function.body = Block(std::move(body));
  return function;
}

}  // namespace aotc
