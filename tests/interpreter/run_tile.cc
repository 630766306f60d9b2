#include "tests/interpreter/run_tile.h"

#include <algorithm>
#include <set>
#include <utility>

#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "tests/interpreter/lane_ops.h"

namespace aotc {
namespace {

constexpr std::string_view kCall = "operator()", kInitial = "initial";

const TileFunctor* FindMethod(const TileObject& object, std::string_view name) {
  const auto found = std::ranges::find(object.methods, name, &TileFunctor::method);
  return found == object.methods.end() ? nullptr : &*found;
}

// Calls visit for each position within dims, in order, the last axis in steps.
template <class Visit>
void ForIndices(const std::vector<int64_t>& dims, int64_t step, const Visit& visit) {
  if (std::ranges::find(dims, 0) != dims.end()) return;
  std::vector<int64_t> at(dims.size(), 0);
  while (true) {
    if (!visit(at)) return;
    size_t axis = dims.size();
    while (axis-- > 0) {
      at[axis] += axis + 1 == dims.size() ? step : 1;
      if (at[axis] < dims[axis]) break;
      at[axis] = 0;
    }
    if (axis == static_cast<size_t>(-1)) return;
  }
}

// What an object's own variables would overwrite is put back when it has run.
class KeptSlots {
 public:
  KeptSlots(Frame& frame, const std::vector<size_t>& slots) : frame_(frame), slots_(slots) {
    for (const size_t slot : slots_) values_.push_back(frame_.slot(slot));
  }
  ~KeptSlots() {
    for (size_t i = 0; i < slots_.size(); ++i) frame_.slot(slots_[i]) = values_[i];
  }
  KeptSlots(const KeptSlots&) = delete;
  KeptSlots& operator=(const KeptSlots&) = delete;

 private:
  Frame& frame_;
  const std::vector<size_t>& slots_;
  std::vector<LaneValues> values_;
};

// Element `at` of what the view shows. Null where it does not exist, which fails the frame.
class ViewElements {
 public:
  ViewElements(const Memory& memory, int64_t offset, std::vector<int64_t> strides, Frame& frame)
      : memory_(memory), offset_(offset), strides_(std::move(strides)), frame_(frame) {}

  std::optional<int64_t> Find(const std::vector<int64_t>& at, std::string_view what) const {
    int64_t index = offset_;
    for (size_t axis = 0; axis < at.size(); ++axis) index += at[axis] * strides_[axis];
    if (0 <= index && index < memory_.elements) return index;
    frame_.Fail(StrCat("element ", index, " of ", memory_.name, " is ", what, " by a tile, of ",
                       memory_.elements));
    return std::nullopt;
  }

 private:
  const Memory& memory_;
  const int64_t offset_;
  const std::vector<int64_t> strides_;
  Frame& frame_;
};

}  // namespace

absl::StatusOr<TileRunner> TileRunner::Make(const TileRow& row, const TileCall& call,
                                            ExprCode& exprs, const Translate& translate) {
  if (!row.box.empty() || !call.state.empty()) {
    return absl::UnimplementedError(StrCat("calls ", row.name, ", which threads share"));
  }
  AOTC_RETURN_IF_ERROR(CheckTileCall(row, call));
  TileRunner runner(row, call);
  runner.fixed_["lanes"] = call.lanes;
  for (size_t i = 0; i < call.params.size(); ++i) {
    runner.fixed_[std::string(row.params[i].name)] = call.params[i];
  }
  for (size_t i = 0; i < call.extents.size(); ++i) {
    runner.extents_.push_back({std::string(row.extents[i]), exprs.Add(call.extents[i]),
                               MostOf(row, row.extents[i], call.params)});
  }
  for (size_t i = 0; i < call.operands.size(); ++i) {
    AOTC_ASSIGN_OR_RETURN(Operand made, runner.MakeOperand(i, call.operands[i], exprs, translate));
    runner.operands_.push_back(std::move(made));
  }
  return runner;
}

std::optional<TileRunner::Method> TileRunner::MakeMethod(const TileObject& object,
                                                         std::string_view name, size_t params,
                                                         ExprCode& exprs,
                                                         const Translate& translate) {
  const TileFunctor* functor = FindMethod(object, name);
  if (functor == nullptr || functor->params.size() != params) return std::nullopt;
  std::set<std::string> own;
  Method method;
  for (const FunctorParam& param : functor->params) {
    if (param.pointer.valid()) return std::nullopt;
    own.insert(param.name);
    method.params.push_back(exprs.SlotOf(param.name));
  }
  for (const Stmt& stmt : functor->body) {
    VisitStmts(stmt, [&](const Stmt& inner) {
      if (!inner->name.empty() && inner.kind() != StmtKind::kComment) own.insert(inner->name);
    });
  }
  for (const std::string& name_of_own : own) method.hidden.push_back(exprs.SlotOf(name_of_own));
  method.body = translate(functor->body);
  if (functor->result.valid()) method.result = exprs.Add(functor->result);
  return method;
}

absl::StatusOr<TileRunner::Operand> TileRunner::MakeOperand(size_t number,
                                                            const TileOperand& operand,
                                                            ExprCode& exprs,
                                                            const Translate& translate) const {
  Operand made;
  if (const auto* view = std::get_if<TileView>(&operand)) {
    made.is_view = true;
    made.buffer = static_cast<size_t>(view->buffer.index());
    made.offset = exprs.Add(view->offset);
    for (const Expr& stride : view->strides) made.strides.push_back(exprs.Add(stride));
    return made;
  }
  const TileObject& object = std::get<TileObject>(operand);
  const bool is_result = number == text_.inputs();
  const size_t indices = text_.operand(number).shape.size();
  made.call = MakeMethod(object, kCall, indices + (is_result ? 1 : 0), exprs, translate);
  if (is_result) made.initial = MakeMethod(object, kInitial, indices, exprs, translate);
  if (made.call && (is_result || made.call->result >= 0)) return made;
  return absl::UnimplementedError(StrCat("object ", object.name, " gives or takes no elements"));
}

SymbolValues TileRunner::Symbols(const ExprCode& exprs, Frame& frame) const {
  SymbolValues symbols = fixed_;
  for (const Extent& extent : extents_) {
    const int64_t value = exprs.Integer(extent.value, frame);
    if (value > extent.most) frame.Fail(StrCat(extent.name, " of a tile is ", value));
    symbols[extent.name] = value;
  }
  return symbols;
}

void TileRunner::Run(const ExprCode& exprs, Frame& frame, const Execute& execute) const {
  const auto run = [&]() -> absl::Status {
    const SymbolValues symbols = Symbols(exprs, frame);
    AOTC_RETURN_IF_ERROR(text_.CheckSymbols(symbols));
    std::vector<std::vector<Lane>> inputs;
    for (size_t i = 0; i < text_.inputs() && !frame.failed(); ++i) {
      AOTC_ASSIGN_OR_RETURN(const Indices dims, text_.DimsOf(i, symbols));
      inputs.push_back(Read(i, dims, exprs, frame, execute));
    }
    if (frame.failed()) return absl::OkStatus();
    AOTC_ASSIGN_OR_RETURN(const std::vector<Lane> values, text_.Compute(inputs, symbols));
    AOTC_ASSIGN_OR_RETURN(const Indices dims, text_.DimsOf(text_.inputs(), symbols));
    Write(values, dims, exprs, frame, execute);
    return absl::OkStatus();
  };
  if (const absl::Status status = run(); !status.ok()) frame.Fail(std::string(status.message()));
}

std::vector<Lane> TileRunner::Read(size_t operand, const Indices& dims, const ExprCode& exprs,
                                   Frame& frame, const Execute& execute) const {
  const Operand& from = operands_[operand];
  const DType dtype = text_.operand(operand).dtype;
  std::vector<Lane> values;
  if (!from.is_view) {
    const KeptSlots kept(frame, from.call->hidden);
    ForIndices(dims, 1, [&](const Indices& at) {
      for (size_t i = 0; i < at.size(); ++i) frame.slot(from.call->params[i])[0].i = at[i];
      execute(from.call->body);
      LaneValues value;
      exprs.Evaluate(from.call->result, frame, value);
      values.push_back(CastLane(exprs.DTypeOf(from.call->result), dtype, value[0]));
      return !frame.failed();
    });
    return values;
  }
  const Memory& memory = frame.buffer(from.buffer);
  Indices strides;
  for (const int stride : from.strides) strides.push_back(exprs.Integer(stride, frame));
  const ViewElements view(memory, exprs.Integer(from.offset, frame), std::move(strides), frame);
  ForIndices(dims, 1, [&](const Indices& at) {
    const std::optional<int64_t> index = view.Find(at, "read");
    if (!index) return false;
    const Lane value = LoadLane(memory, *index);
    values.push_back(memory.dtype == dtype ? value : CastLane(memory.dtype, dtype, value));
    return true;
  });
  return values;
}

void TileRunner::Write(const std::vector<Lane>& values, const Indices& dims, const ExprCode& exprs,
                       Frame& frame, const Execute& execute) const {
  const Operand& to = operands_.back();
  if (!to.is_view) return WriteFragments(values, dims, exprs, frame, execute);
  const DType dtype = text_.operand(text_.inputs()).dtype;
  const Memory& memory = frame.buffer(to.buffer);
  Indices strides;
  for (const int stride : to.strides) strides.push_back(exprs.Integer(stride, frame));
  const ViewElements view(memory, exprs.Integer(to.offset, frame), std::move(strides), frame);
  size_t next = 0;
  ForIndices(dims, 1, [&](const Indices& at) {
    const std::optional<int64_t> index = view.Find(at, "written");
    if (!index) return false;
    const Lane value = values[next++];
    StoreLane(memory, *index, memory.dtype == dtype ? value : CastLane(dtype, memory.dtype, value));
    return true;
  });
}

// The epilogue takes the result in fragments, to which `initial` adds what it gives.
void TileRunner::WriteFragments(const std::vector<Lane>& values, const Indices& dims,
                                const ExprCode& exprs, Frame& frame, const Execute& execute) const {
  const Operand& to = operands_.back();
  const auto width = static_cast<size_t>(result_ == Fragment::kVector ? lanes_ : 1);
  if (!dims.empty() && dims.back() % static_cast<int64_t>(width) != 0) {
    return frame.Fail(StrCat("a row of ", dims.back(), " is not whole vectors"));
  }
  const DType dtype = text_.operand(text_.inputs()).dtype;
  size_t next = 0;
  ForIndices(dims, static_cast<int64_t>(width), [&](Indices at) {
    if (!at.empty()) at.back() /= static_cast<int64_t>(width);
    LaneValues fragment = {};
    std::copy_n(values.begin() + static_cast<int64_t>(next), width, fragment.begin());
    next += width;
    const auto place = [&](const Method& method) {
      for (size_t i = 0; i < at.size(); ++i) frame.slot(method.params[i])[0].i = at[i];
    };
    if (to.initial) {
      const KeptSlots kept(frame, to.initial->hidden);
      place(*to.initial);
      execute(to.initial->body);
      LaneValues start;
      exprs.Evaluate(to.initial->result, frame, start);
      for (size_t l = 0; l < width; ++l) {
        if (IsFloat(dtype))
          fragment[l].f = RoundTo(dtype, fragment[l].f + start[l].f);
        else
          fragment[l] = CastLane(DType::kI64, dtype, {.i = fragment[l].i + start[l].i});
      }
    }
    const KeptSlots kept(frame, to.call->hidden);
    place(*to.call);
    frame.slot(to.call->params.back()) = fragment;
    execute(to.call->body);
    return !frame.failed();
  });
}

}  // namespace aotc
