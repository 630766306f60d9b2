#include "compiler/lower/row_temps.h"

#include <algorithm>

#include "compiler/lower/nest_stages.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr int64_t kSharedBytes = 40 * 1024;  // of the 48 KiB that every block has
constexpr int64_t kMostRepeatedTerms = 32;  // a chain of x * sigmoid(x) would double them each time
constexpr int64_t kMostStatementTerms = 128;  // a statement that one still reads, and lays out fast

// What a pointwise stage stored at an element, in place of a load of that element.
class StoredValue {
 public:
  explicit StoredValue(const FlatStage& writer) : writer_(writer) {
    for (const Axis& axis : writer.inner) extents_.push_back(axis.extent);
    strides_ = RowMajorStrides(extents_);
  }

  Expr In(const Expr& body, const Bounds& bounds) const {
    const Expr replaced = Transform(body, [&](const Expr& node) {
      const bool reads = node.op() == ExprOp::kLoad && node->tensor == writer_.results[0].tensor;
      if (!reads) return node;
      const Expr stored = At(node.arg(0), bounds);
      return node->guarded ? Guarded(stored) : stored;
    });
    return Simplify(replaced, bounds);
  }

 private:
  // What is read of a temp under a guard exists under that guard only.
  static Expr Guarded(const Expr& stored) {
    return Transform(stored, [](const Expr& node) {
      if (node.op() != ExprOp::kLoad) return node;
      ExprNode load = *node;
      load.guarded = true;
      return Expr::Make(std::move(load));
    });
  }

  Expr At(const Expr& offset, const Bounds& bounds) const {
    Substitution at;
    for (size_t i = 0; i < extents_.size(); ++i) {
      const Expr number = FloorDiv(offset, strides_[i]);
      at[writer_.inner[i].name] = Simplify(i == 0 ? number : Mod(number, extents_[i]), bounds);
    }
    return Substitute(writer_.bodies[0], at);
  }

  const FlatStage& writer_;
  std::vector<Expr> extents_ = {};
  std::vector<Expr> strides_ = {};
};

// Terms that inlining the stage would write again: every load of its result but the first of a body
// gets another copy of its own body.
int64_t RepeatedTerms(const Nest& nest, size_t index) {
  const FlatStage& writer = nest.stages[index];
  int64_t most = 0;
  for (size_t s = index + 1; s < nest.stages.size(); ++s) {
    for (const Expr& body : nest.stages[s].bodies) {
      int64_t loads = 0;
      Visit(body, [&](const Expr& e) {
        loads += int64_t{e.op() == ExprOp::kLoad && e->tensor == writer.results[0].tensor};
      });
      most = std::max(most, loads - 1);
    }
  }
  return most * TermCount(writer.bodies[0]);
}

// Replaces loads of a pointwise temp of a row nest by what was stored.
void InlineTemp(Nest& nest, size_t index) {
  const FlatStage writer = nest.stages[index];
  const StoredValue stored(writer);
  for (size_t s = index + 1; s < nest.stages.size(); ++s) {
    FlatStage& stage = nest.stages[s];
    const Bounds bounds = StageBounds(nest, stage);
    for (Expr& body : stage.bodies) body = stored.In(body, bounds);
  }
  nest.buffers[writer.results[0].tensor].elements = 0;
  nest.stages.erase(nest.stages.begin() + static_cast<long>(index));
}

bool IsTempStage(const Nest& nest, const FlatStage& stage) {
  return stage.reduce.empty() && stage.bodies.size() == 1 && !stage.inner.empty() &&
         nest.buffers[stage.results[0].tensor].place == BufferPlace::kScratch;
}

// A temp that its readers can compute without repeating much.
bool CanInline(const Nest& nest, size_t index) {
  return IsTempStage(nest, nest.stages[index]) && RepeatedTerms(nest, index) <= kMostRepeatedTerms;
}

int64_t Iterations(const FlatStage& stage, const Bounds& bounds) {
  Shape shape;
  for (const Axis& axis : stage.inner) shape.push_back(axis.extent);
  for (const Axis& axis : stage.reduce) shape.push_back(axis.extent);
  return MaxElements(shape, bounds).value_or(INT64_MAX);
}

// Loads of `temp` in the stage.
std::vector<Expr> LoadsFrom(const FlatStage& stage, TensorId temp) {
  std::vector<Expr> found;
  for (const Expr& body : stage.bodies) {
    for (const Expr& load : LoadsOf(body)) {
      if (load->tensor == temp) found.push_back(load);
    }
  }
  return found;
}

// Of stages behind `writer`, one alone reads its result, by one load, as often as it is computed,
// and is short enough to compute it.
bool IsReadOnce(const Nest& nest, size_t writer) {
  const TensorId temp = nest.stages[writer].results[0].tensor;
  size_t loads = 0;
  int64_t reads = 0, terms = TermCount(nest.stages[writer].bodies[0]);
  for (size_t s = writer + 1; s < nest.stages.size(); ++s) {
    const size_t found = LoadsFrom(nest.stages[s], temp).size();
    if (found == 0) continue;
    reads = Iterations(nest.stages[s], nest.bounds);
    for (const Expr& body : nest.stages[s].bodies) terms += TermCount(body);
    loads += found;
  }
  return loads == 1 && reads <= Iterations(nest.stages[writer], nest.bounds) &&
         terms <= kMostStatementTerms;
}

void InlineSingleReads(Nest& nest) {
  for (size_t s = 0; s < nest.stages.size();) {
    const DType dtype = nest.stages[s].results[0].dtype;
    if (CanInline(nest, s) && ComputeType(dtype) == dtype && IsReadOnce(nest, s)) {
      InlineTemp(nest, s);
    } else {
      ++s;
    }
  }
}

// Whether the stage reads `temp` at no element but the one that it writes itself.
bool ReadsInPlace(const FlatStage& stage, TensorId temp) {
  return std::ranges::all_of(LoadsFrom(stage, temp), [&](const Expr& load) {
    return Same(load.arg(0), stage.results[0].index);
  });
}

bool IsReadBehind(const Nest& nest, size_t index, TensorId temp) {
  return std::any_of(nest.stages.begin() + static_cast<long>(index) + 1, nest.stages.end(),
                     [&](const FlatStage& stage) { return !LoadsFrom(stage, temp).empty(); });
}

// The temp that the stage may overwrite with its result, element by element.
TensorId TempToOverwrite(const Nest& nest, size_t index) {
  const FlatStage& stage = nest.stages[index];
  const LoopBuffer& own = nest.buffers[stage.results[0].tensor];
  for (const Expr& load : LoadsOf(stage.bodies[0])) {
    const LoopBuffer& read = nest.buffers[load->tensor];
    if (read.place == BufferPlace::kScratch && read.elements == own.elements &&
        read.dtype == own.dtype && ReadsInPlace(stage, load->tensor) &&
        !IsReadBehind(nest, index, load->tensor)) {
      return load->tensor;
    }
  }
  return {};
}

// Stages from `index` on have `to` in place of the temp `from`.
void ReplaceTemp(Nest& nest, size_t index, TensorId from, TensorId to) {
  for (size_t s = index; s < nest.stages.size(); ++s) {
    for (FlatResult& result : nest.stages[s].results) {
      if (result.tensor == from) result.tensor = to;
    }
    for (Expr& body : nest.stages[s].bodies) {
      body = Transform(body, [&](const Expr& e) {
        if (e.op() != ExprOp::kLoad || e->tensor != from) return e;
        ExprNode load = *e;
        load.tensor = to;
        return Expr::Make(std::move(load));
      });
    }
  }
  nest.buffers[from].elements = 0;
}

void MakeScalars(Nest& nest) {
  for (FlatStage& stage : nest.stages) {
    const bool single = std::all_of(stage.inner.begin(), stage.inner.end(),
                                    [](const Axis& axis) { return axis.extent.IsInt(1); });
    if (!single) continue;
    Substitution zero;
    for (const Axis& axis : stage.inner) zero[axis.name] = 0;
    stage.inner.clear();
    for (Expr& body : stage.bodies) body = Substitute(body, zero);
    for (FlatResult& result : stage.results) {
      result.inner_count = 0;
      LoopBuffer& buffer = nest.buffers[result.tensor];
      if (result.index.valid()) result.index = Simplify(Substitute(result.index, zero));
      if (buffer.place != BufferPlace::kScratch || buffer.elements != 1) continue;
      buffer.elements = 0;
      result.index = {};
      result.variable = buffer.name + "_value";
    }
  }
  for (FlatStage& stage : nest.stages) {
    for (Expr& body : stage.bodies) {
      const auto is_variable = [&](TensorId id) {
        return nest.buffers[id].place == BufferPlace::kScratch && nest.buffers[id].elements == 0;
      };
      body = Transform(WithBitsOfStored(body, is_variable), [&](const Expr& node) {
        if (node.op() == ExprOp::kCast) return Cast(node.dtype(), node.arg(0));
        if (node.op() != ExprOp::kLoad || !is_variable(node->tensor)) return node;
        const LoopBuffer& buffer = nest.buffers[node->tensor];
        return Var(buffer.name + "_value", ComputeType(buffer.dtype));
      });
      body = Simplify(body, nest.bounds);
    }
  }
}

}  // namespace

void KeepFewTemps(Nest& nest) {
  MakeScalars(nest);
  InlineSingleReads(nest);
}

void OverwriteTemps(Nest& nest) {
  for (size_t s = 0; s < nest.stages.size(); ++s) {
    if (!IsTempStage(nest, nest.stages[s])) continue;
    const TensorId old = TempToOverwrite(nest, s);
    if (old.valid()) ReplaceTemp(nest, s, nest.stages[s].results[0].tensor, old);
  }
}

void TidyNest(Nest& nest) {
  if (!nest.is_point) {
    KeepFewTemps(nest);
    OverwriteTemps(nest);
  }
  MergeAxes(nest);
}

absl::Status PlaceTemps(Nest& nest, int64_t rows) {
  for (size_t s = 0; s < nest.stages.size() && TempBytes(nest) * rows > kSharedBytes;) {
    if (CanInline(nest, s)) {
      InlineTemp(nest, s);
    } else {
      ++s;
    }
  }
  if (TempBytes(nest) * rows > kSharedBytes) {
    return absl::FailedPreconditionError(
        StrCat("temps of ", TempBytes(nest) * rows, " bytes do not fit in shared memory"));
  }
  for (LoopBuffer& buffer : nest.buffers) {
    if (buffer.place != BufferPlace::kScratch) continue;
    buffer.place = BufferPlace::kShared;
    buffer.elements *= rows;
  }
  return absl::OkStatus();
}

}  // namespace aotc
