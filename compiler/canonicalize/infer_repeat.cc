#include "compiler/canonicalize/infer_repeat.h"

#include <algorithm>
#include <utility>

#include "compiler/canonicalize/control_values.h"
#include "compiler/canonicalize/declared_type.h"
#include "compiler/canonicalize/place.h"
#include "compiler/canonicalize/size_sources.h"
#include "compiler/ir/graph_text.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr const char* kBody = "body";
constexpr const char* kCounter = "counter";
constexpr const char* kHintForCarried = "a carried value keeps its element type and its rank";
constexpr const char* kHintForStacked =
    "how many values there may be has to be known: give the loop a count, or say it with --bound "
    "OUTPUT:0=64, of what is stacked";

}  // namespace

RepeatInference::RepeatInference(const KnownElements& known, SizeWalk& sizes,
                                 Diagnostics& diagnostics, Rebuilder& rebuilder, const Node& node,
                                 std::set<ValueId>& region_outputs)
    : region_outputs_(region_outputs),
      known_(known),
      sizes_(sizes),
      diagnostics_(diagnostics),
      rebuilder_(rebuilder),
      node_(node),
      form_(FormOf(rebuilder.old_graph(), node)),
      growth_(sizes, rebuilder, node),
      old_body_(rebuilder.old_graph().regions[node.regions.at(kBody)]) {}

void RepeatInference::Complain(const absl::Status& refusal, const char* hint) const {
  diagnostics_.Error(PlaceOf(rebuilder_.old_graph(), node_), refusal, hint);
}

ValueId RepeatInference::Initial(size_t k) const {
  return rebuilder_.Mapped(node_.inputs[RepeatForm::kFirstCarried + k]);
}

ValueId RepeatInference::Operand(size_t index, DType dtype, const char* what) {
  const ValueId value = rebuilder_.Mapped(node_.inputs[index]);
  // A finding about the producer was enough.
  if (!value.valid() || !IsKnownType(TypeOf(value))) return value;
  absl::StatusOr<ValueId> scalar = AsScalar(rebuilder_, node_, value, dtype, what);
  if (scalar.ok()) return *scalar;
  Complain(scalar.status());
  return value;
}

std::optional<Expr> RepeatInference::ElementOf(ValueId scalar) const {
  if (!scalar.valid() || !IsKnownType(TypeOf(scalar))) return std::nullopt;
  std::optional<std::vector<Expr>> elements = known_.Find(rebuilder_.graph(), scalar);
  if (!elements || elements->size() != 1) return std::nullopt;
  return Simplify((*elements)[0], BoundsOf(rebuilder_.graph().symbols));
}

bool RepeatInference::IsProved(ValueId condition, bool value) const {
  const std::optional<Expr> element = ElementOf(condition);
  if (!element || element->dtype() != DType::kBool) return false;
  return Prove(*element, BoundsOf(rebuilder_.graph().symbols)) == value;
}

absl::Status RepeatInference::Run() {
  const ValueId given_cond = rebuilder_.Mapped(node_.inputs[RepeatForm::kCond]);
  count_ = ElementOf(rebuilder_.Mapped(node_.inputs[RepeatForm::kTrip]));
  starts_ = !given_cond.valid() || IsProved(given_cond, true);
  const bool never = IsProved(given_cond, false);
  const Bounds bounds = BoundsOf(rebuilder_.graph().symbols);
  const bool no_trip = count_ && Prove(Le(*count_, 0), bounds) == true;
  if ((never || no_trip) && form_.stacked == 0) {
    Skip();
    return absl::OkStatus();
  }
  if (count_ && count_->IsInt(1) && starts_) return RunOnce();
  trip_ = Operand(RepeatForm::kTrip, DType::kI64, "the count");
  cond_ = Operand(RepeatForm::kCond, DType::kBool, "the condition");
  return CopyLoop();
}

void RepeatInference::Skip() {
  for (size_t k = 0; k < form_.carried; ++k) rebuilder_.Replace(node_.outputs[k], Initial(k));
}

absl::Status RepeatInference::RunOnce() {
  for (ValueId output : old_body_.outputs) region_outputs_.erase(output);
  for (size_t k = 0; k < form_.carried; ++k) rebuilder_.Replace(old_body_.inputs[k], Initial(k));
  AOTC_RETURN_IF_ERROR(rebuilder_.Splice(node_.regions.at(kBody)));
  const std::vector<int64_t> axes = node_.attributes.Ints(kStackAxes);
  for (size_t k = 0; k < node_.outputs.size(); ++k) {
    if (!node_.outputs[k].valid()) continue;
    const ValueId next = rebuilder_.Mapped(old_body_.outputs[form_.first_next + k]);
    if (k < form_.carried) {
      rebuilder_.Replace(node_.outputs[k], next);
      continue;
    }
    StackOne(node_.outputs[k], next, axes.empty() ? 0 : axes[k - form_.carried]);
  }
  return absl::OkStatus();
}

// 0 < count
ValueId RepeatInference::Compare(ValueId count) {
  const ValueId zero =
      rebuilder_.graph().AddConstant(StrCat(rebuilder_.graph().values[count].name, "_none"),
                                     Constant::SplatInt(DType::kI64, {}, 0));
  return rebuilder_.Emit("Less", {zero, count}, {}, TensorType(DType::kBool, {}), node_);
}

absl::Status RepeatInference::CopyLoop() {
  if (trip_.valid() && !count_ && (form_.stacked > 0 || node_.attributes.Has(kGrowth))) {
    const ValueId given = rebuilder_.Mapped(node_.inputs[RepeatForm::kTrip]);
    sizes_.wanted.merge(SizeSourcesBehind(rebuilder_.graph(), given));
  }
  if (trip_.valid() && !count_) {
    if (!node_.attributes.Has(kCounter))
      Complain(AOTC_REFUSAL(Unimplemented, "its count is not known at compile time"));
    run_time_count_ = std::exchange(trip_, ValueId());
    const ValueId any = Compare(run_time_count_);
    cond_ = starts_ ? any
                    : rebuilder_.Emit("And", {cond_, any}, {}, TensorType(DType::kBool, {}), node_);
  }
  if (form_.stacked > 0 && (!trip_.valid() || node_.attributes.Has(kCounter))) BoundRounds();
  AOTC_RETURN_IF_ERROR(
      rebuilder_.Copy(node_, {.enter =
                                  [this](RegionId body) {
                                    TypeBody(body);
                                    return absl::OkStatus();
                                  },
                              .leave = [this](RegionId body) { return FinishBody(body); }}));
  Graph& graph = rebuilder_.graph();
  Node& copy = graph.nodes[LastNode(graph)];
  copy.inputs[RepeatForm::kTrip] = trip_;
  copy.inputs[RepeatForm::kCond] = cond_;
  copy.attributes.Erase(kCounter);
  copy.attributes.Erase(kStackAxes);
  copy.attributes.Erase(kGrowth);
  growth_.NoteRoundSizes(copy);
  if (MayEndEarly() && !copy.outputs[0].valid()) {
    copy.outputs[0] = graph.AddValue("rounds", TensorType(DType::kI64, {}));
  }
  TypeOutputs(LastNode(graph));
  return absl::OkStatus();
}

// The old node's carried values are all live, as the pass before has dropped what was not.
void RepeatInference::TypeBody(RegionId body) {
  Graph& graph = rebuilder_.graph();
  for (size_t k = 0; k < form_.carried; ++k) {
    ValueType type = TypeOf(Initial(k));
    if (!IsKnownType(type)) continue;
    growth_.EnterRound(k, type.dims);
    graph.values[graph.regions[body].inputs[k]].type = std::move(type);
  }
}

ValueId RepeatInference::WithCount(ValueId next) {
  const ValueId counter = rebuilder_.Mapped(old_body_.outputs[form_.first_next]);
  const ValueId more =
      rebuilder_.Emit("Less", {counter, run_time_count_}, {}, TensorType(DType::kBool, {}), node_);
  if (!next.valid()) return more;
  return rebuilder_.Emit("And", {next, more}, {}, TensorType(DType::kBool, {}), node_);
}

absl::Status RepeatInference::FinishBody(RegionId body) {
  std::vector<ValueId>& outputs = rebuilder_.graph().regions[body].outputs;
  ValueId next;
  bool goes_on = true;
  if (form_.first_next == 1) {
    next = outputs[0];
    goes_on = IsProved(CopiedFrom(rebuilder_.graph(), body, next), true);
    outputs.erase(outputs.begin());
    if (IsKnownType(TypeOf(next))) {
      absl::StatusOr<ValueId> scalar =
          AsScalar(rebuilder_, node_, next, DType::kBool, "the condition that its body gives");
      if (scalar.ok()) next = *scalar;
      if (!scalar.ok()) Complain(scalar.status());
    }
  }
  if (run_time_count_.valid()) {
    next = WithCount(goes_on ? ValueId() : next);
  } else if (goes_on && starts_) {
    if (!trip_.valid())
      Complain(AOTC_REFUSAL(InvalidArgument, "its condition always holds: it never ends"));
    next = cond_ = {};
    if (given_trip_.value.valid()) RestoreCount();
  }
  for (size_t k = 0; k < form_.carried; ++k) growth_.LimitNext(body, k);
  for (size_t k = form_.carried; k < form_.carried + form_.stacked; ++k) {
    growth_.LimitStacked(body, k, node_.outputs[k]);
  }
  if (next.valid()) {
    std::vector<ValueId>& now = rebuilder_.graph().regions[body].outputs;
    now.insert(now.begin(), next);
  }
  return absl::OkStatus();
}

void RepeatInference::TypeOutputs(NodeId copy) {
  for (size_t k = 0; k < form_.carried; ++k) {
    sizes_.rooms.Join(rebuilder_.graph(), node_.inputs[RepeatForm::kFirstCarried + k],
                      old_body_.outputs[form_.first_next + k], /*carried=*/true);
    CheckCarried(copy, k);
  }
  if (form_.stacked > 0 && !trip_.valid()) {
    // Of an operand of unknown type its producer has been complained of.
    const bool known = cond_.valid() && IsKnownType(TypeOf(cond_)) &&
                       (!run_time_count_.valid() || IsKnownType(TypeOf(run_time_count_)));
    if (known)
      Complain(AOTC_REFUSAL(InvalidArgument,
                            "stacks values of its iterations, whose number only the run knows"),
               kHintForStacked);
    return;
  }
  for (size_t j = 0; j < form_.stacked; ++j) {
    const bool is_read = rebuilder_.graph().nodes[copy].outputs[form_.carried + j].valid();
    const std::optional<Expr> rounds = is_read && count_ ? MostRounds(copy, j) : std::nullopt;
    if (!rounds) continue;
    if (MayEndEarly() && !rounds_.valid()) LearnRounds(copy, j, *rounds);
    TypeStacked(copy, j, *rounds);
  }
}

void RepeatInference::CheckCarried(NodeId copy, size_t k) {
  Graph& graph = rebuilder_.graph();
  const Region& body = graph.regions[graph.nodes[copy].regions.at(kBody)];
  const ValueId before = body.inputs[k];
  const ValueId next = body.outputs[body.outputs.size() - graph.nodes[copy].outputs.size() + k];
  ValueType type = TypeOf(before);
  const ValueType after = TypeOf(next);
  if (!IsKnownType(type) || !IsKnownType(after)) return;
  if (type.dtype != after.dtype || type.dims.size() != after.dims.size()) {
    Complain(AOTC_REFUSAL(InvalidArgument,
                          StrCat("what it carries from '", graph.values[next].name, "' to '",
                                 graph.values[before].name, "' is ", PrintType(after),
                                 " after an iteration and ", PrintType(type), " before")),
             kHintForCarried);
    return;
  }
  const bool is_same = IsSameType(type, after, BoundsOf(graph.symbols));
  if (is_same) graph.values[next].type = type;
  if (!is_same || growth_.Changes(k)) {
    const absl::Status status = growth_.LeaveRounds(copy, k, after.dims, count_, type.dims);
    if (!status.ok()) Complain(status);
  }
  const ValueId output = graph.nodes[copy].outputs[k];
  if (output.valid()) ReplaceDeclaredType(graph.values[output], type, diagnostics_);
}

}  // namespace aotc
