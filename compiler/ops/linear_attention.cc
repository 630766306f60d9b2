// LinearAttention: attention by a state per head, to which each step adds the product of its key
// and value, and from which its query reads (ONNX LinearAttention-27).
//
// It becomes a loop over the steps, of an op of ours that makes one. The state is in f32.
#include <cmath>

#include "compiler/ir/control_flow.h"
#include "compiler/ir/graph_rebuild.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr DType kState = DType::kF32;

// Inputs of both ops; in that of a step the state is that before it, and the number of the step
// follows.
enum Operand : size_t { kQuery, kKey, kValue, kPast, kDecay, kBeta, kStep };

// The heads' dims, of operands [B, T, heads * features].
struct HeadDims {
  int64_t query_heads = 0;
  int64_t heads = 0;   // of keys, values and states
  int64_t keys = 0;    // features of a query and a key: d_k
  int64_t values = 0;  // d_v
  Expr batch = {};
  Expr steps = {};
};

absl::Status CheckSteps(OpContext& op, const HeadDims& dims, size_t index) {
  const ValueType& type = op.InputType(index);
  if (!type.ranked || type.dims.size() != 3) {
    return AOTC_REFUSAL(InvalidArgument, StrCat("needs input ", index, " of rank 3"));
  }
  const std::string text = "the operands have different batches or numbers of steps";
  const Shape given = type.dims;
  AOTC_RETURN_IF_ERROR(op.RequireEqual(given[0], dims.batch, text));
  return op.RequireEqual(given[1], dims.steps, text);
}

// The features of one of `heads` in the last dim of an input.
absl::StatusOr<int64_t> FeaturesOf(const OpContext& op, size_t index, int64_t heads) {
  const std::optional<int64_t> last = op.InputType(index).dims.back().AsInt();
  if (!last) return AOTC_REFUSAL(Unimplemented, StrCat("needs known features of input ", index));
  if (*last > 0 && *last % heads == 0) return *last / heads;
  return AOTC_REFUSAL(InvalidArgument, StrCat(*last, " features of input ", index,
                                              " do not divide into ", heads, " heads"));
}

absl::StatusOr<HeadDims> ReadDims(OpContext& op) {
  HeadDims dims = {.query_heads = op.attributes().Int("q_num_heads"),
                   .heads = op.attributes().Int("kv_num_heads")};
  if (dims.heads < 1 || dims.query_heads < 1 || dims.query_heads % dims.heads != 0) {
    return AOTC_REFUSAL(InvalidArgument, StrCat("q_num_heads = ", dims.query_heads,
                                                " is no multiple of kv_num_heads = ", dims.heads));
  }
  const ValueType query = op.InputType(kQuery);
  if (!query.ranked || query.dims.size() != 3) {
    return AOTC_REFUSAL(InvalidArgument, "needs queries of rank 3");
  }
  dims.batch = query.dims[0];
  dims.steps = query.dims[1];
  for (size_t index : {kKey, kValue}) AOTC_RETURN_IF_ERROR(CheckSteps(op, dims, index));
  AOTC_ASSIGN_OR_RETURN(dims.keys, FeaturesOf(op, kQuery, dims.query_heads));
  AOTC_ASSIGN_OR_RETURN(const int64_t keys, FeaturesOf(op, kKey, dims.heads));
  AOTC_ASSIGN_OR_RETURN(dims.values, FeaturesOf(op, kValue, dims.heads));
  if (keys == dims.keys) return dims;
  return AOTC_REFUSAL(InvalidArgument, "queries and keys have different numbers of features");
}

Shape StateShape(const HeadDims& dims) {
  return {dims.batch, Expr(dims.heads), Expr(dims.keys), Expr(dims.values)};
}

// Ours: the state before the first step, [B, heads, d_k, d_v], 0 where none is given.
absl::Status FirstState(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const HeadDims dims, ReadDims(op));
  Tensor past;
  const Shape shape = StateShape(dims);
  if (op.HasInput(kPast)) {
    AOTC_ASSIGN_OR_RETURN(past, op.Input(kPast));
    AOTC_RETURN_IF_ERROR(RequireFloat(past));
    AOTC_RETURN_IF_ERROR(RequireRank(past, 4, 4));
    const Shape given = past.shape();
    for (size_t d = 0; d < shape.size(); ++d) {
      AOTC_RETURN_IF_ERROR(op.RequireEqual(given[d], shape[d],
                                           "past_state needs the dims [batch, heads, d_k, d_v]"));
    }
  }
  op.SetOutput(0, op.b().Compute(kState, shape, [&](const Indices& i) {
    return past.valid() ? Cast(kState, past(i)) : NumberConst(0, kState);
  }));
  return absl::OkStatus();
}

// Builds one step.
class StepBuilder {
 public:
  explicit StepBuilder(OpContext& op) : op_(op), b_(op.b()) {}

  absl::Status Run() {
    AOTC_ASSIGN_OR_RETURN(dims_, ReadDims(op_));
    AOTC_RETURN_IF_ERROR(ReadOperands());
    const Tensor kept = decay_.valid() ? Decayed() : state_;
    const Tensor added = beta_.valid() ? Corrected(kept) : Tensor();
    const Tensor next = b_.Compute(kState, StateShape(dims_), [&](const Indices& i) {
      const Expr value = added.valid() ? added({i[0], i[1], i[3]}) : Value(i, i[1], i[3]);
      return kept(i) + Key(i, i[1], i[2]) * value;
    });
    op_.SetOutput(0, next);
    op_.SetOutput(1, Read(next));
    return absl::OkStatus();
  }

 private:
  absl::Status ReadOperands() {
    AOTC_ASSIGN_OR_RETURN(query_, op_.Input(kQuery));
    AOTC_ASSIGN_OR_RETURN(key_, op_.Input(kKey));
    AOTC_ASSIGN_OR_RETURN(value_, op_.Input(kValue));
    AOTC_ASSIGN_OR_RETURN(state_, op_.Input(kPast));
    AOTC_ASSIGN_OR_RETURN(step_, op_.Input(kStep));
    std::vector<Tensor> operands = {query_, key_, value_};
    if (op_.HasInput(kDecay)) {
      AOTC_RETURN_IF_ERROR(CheckSteps(op_, dims_, kDecay));
      AOTC_ASSIGN_OR_RETURN(decay_, op_.Input(kDecay));
      operands.push_back(decay_);
      if (!decay_.dim(2).IsInt(dims_.heads) && !decay_.dim(2).IsInt(dims_.heads * dims_.keys)) {
        return AOTC_REFUSAL(InvalidArgument,
                            "decay needs one element per head, or per key feature");
      }
    }
    if (op_.HasInput(kBeta)) {
      AOTC_RETURN_IF_ERROR(CheckSteps(op_, dims_, kBeta));
      AOTC_ASSIGN_OR_RETURN(beta_, op_.Input(kBeta));
      operands.push_back(beta_);
      if (!beta_.dim(2).IsInt(dims_.heads) && !beta_.dim(2).IsInt(1)) {
        return AOTC_REFUSAL(InvalidArgument, "beta needs one element per head, or one");
      }
    }
    AOTC_RETURN_IF_ERROR(RequireFloat(query_));
    return RequireSameType(operands);
  }

  // The element of x at this step; the step is the counter of the loop, always in range.
  Expr Now(const Tensor& x, const Indices& i, const Expr& last) const {
    const Expr step = Clamp(step_({}), 0, x.dim(1) - 1);
    return Cast(kState, x({i[0], step, last}));
  }
  Expr Query(const Indices& i, const Expr& head, const Expr& feature) const {
    return Now(query_, i, head * dims_.keys + feature);
  }
  Expr Key(const Indices& i, const Expr& head, const Expr& feature) const {
    return Now(key_, i, head * dims_.keys + feature);
  }
  Expr Value(const Indices& i, const Expr& head, const Expr& feature) const {
    return Now(value_, i, head * dims_.values + feature);
  }

  // exp(g) * S
  Tensor Decayed() {
    const bool by_feature = !decay_.dim(2).IsInt(dims_.heads);
    return b_.Compute(kState, StateShape(dims_), [&](const Indices& i) {
      return Exp(Now(decay_, i, by_feature ? i[1] * dims_.keys + i[2] : i[1])) * state_(i);
    });
  }

  // beta * (v - S^T k): [B, heads, d_v]
  Tensor Corrected(const Tensor& kept) {
    const Shape shape = {dims_.batch, Expr(dims_.heads), Expr(dims_.values)};
    const Tensor found = b_.Reduce("sum", kState, shape, {Expr(dims_.keys)},
                                   [&](const Indices& i, const Indices& r) {
                                     return kept({i[0], i[1], r[0], i[2]}) * Key(i, i[1], r[0]);
                                   });
    const bool by_head = !beta_.dim(2).IsInt(1);
    return b_.Compute(kState, shape, [&](const Indices& i) {
      return Now(beta_, i, by_head ? i[1] : Expr(0)) * (Value(i, i[1], i[2]) - found(i));
    });
  }

  // scale * q^T S: [B, query heads * d_v], in the type of the queries
  Tensor Read(const Tensor& state) {
    double scale = op_.attributes().Float("scale");
    if (scale == 0) scale = static_cast<float>(1 / std::sqrt(static_cast<double>(dims_.keys)));
    const int64_t shared = dims_.query_heads / dims_.heads;
    const Shape shape = {dims_.batch, Expr(dims_.query_heads * dims_.values)};
    const Tensor sums = b_.Reduce(
        "sum", kState, shape, {Expr(dims_.keys)}, [&](const Indices& i, const Indices& r) {
          const Expr head = FloorDiv(i[1], dims_.values), feature = Mod(i[1], dims_.values);
          return Query(i, head, r[0]) * state({i[0], FloorDiv(head, shared), r[0], feature});
        });
    return b_.Map(
        {sums}, [&](const auto& v) { return v[0] * Number(scale, v[0]); }, query_.dtype());
  }

  OpContext& op_;
  TensorBuilder& b_;
  HeadDims dims_;
  Tensor query_, key_, value_, state_, decay_, beta_, step_;
};

absl::Status Step(OpContext& op) { return StepBuilder(op).Run(); }

absl::Status CheckRule(const Node& node) {
  const std::string rule = node.attributes.String("update_rule", "gated_delta");
  const bool gated = rule == "gated" || rule == "gated_delta";
  const bool delta = rule == "delta" || rule == "gated_delta";
  if (!gated && !delta && rule != "linear") {
    return AOTC_REFUSAL(InvalidArgument, StrCat("unknown update_rule '", rule, "'"));
  }
  if (HasInput(node, kDecay) == gated && HasInput(node, kBeta) == delta) return absl::OkStatus();
  return AOTC_REFUSAL(InvalidArgument, StrCat("update_rule '", rule, "' needs ", gated ? "" : "no ",
                                              "decay and ", delta ? "" : "no ", "beta"));
}

// The region of the loop: (counter, state) -> (counter + 1, state, what is read at this step).
absl::StatusOr<RegionId> StepRegion(Rebuilder& rebuilder, const Node& node,
                                    std::vector<ValueId> inputs, const std::string& name) {
  return rebuilder.BuildRegion([&](RegionId region) {
    Graph& graph = rebuilder.graph();
    const ValueId counter = graph.AddValue(StrCat(name, "_iteration"), TensorType(DType::kI64, {}));
    const ValueId state = graph.AddValue(StrCat(name, "_state"), UnknownType());
    inputs[kPast] = state;
    inputs.push_back(counter);
    const ValueId one =
        graph.AddConstant(StrCat(name, "_step"), Constant::SplatInt(DType::kI64, {}, 1));
    const ValueId next =
        rebuilder.Emit("Add", {counter, one}, {}, TensorType(DType::kI64, {}), node);
    const ValueId state_next = graph.AddValue(StrCat(name, "_next"), UnknownType());
    const ValueId read = graph.AddValue(StrCat(name, "_read"), UnknownType());
    graph.AddNode(region, {.op = "LinearAttentionStep",
                           .inputs = inputs,
                           .outputs = {state_next, read},
                           .attributes = node.attributes,
                           .locations = node.locations});
    graph.regions[region].inputs = {counter, state};
    graph.regions[region].outputs = {next, state_next, read};
    return absl::OkStatus();
  });
}

absl::Status LinearAttention(Rebuilder& rebuilder, const Node& node) {
  AOTC_RETURN_IF_ERROR(CheckRule(node));
  std::vector<ValueId> inputs;
  for (size_t i = 0; i < kStep; ++i) {
    inputs.push_back(HasInput(node, i) ? rebuilder.Mapped(node.inputs[i]) : ValueId());
  }
  if (node.outputs.empty() || !node.outputs[0].valid()) {
    return AOTC_REFUSAL(Unimplemented, "an output is needed");
  }
  Graph& graph = rebuilder.graph();
  const std::string name = rebuilder.old_graph().values[node.outputs[0]].name;
  const ValueId first =
      rebuilder.Emit("LinearAttentionState", inputs, node.attributes, UnknownType(), node);
  Attributes axes;
  axes.Set("axes", std::vector<int64_t>{1});
  const ValueId trip = rebuilder.Emit("ScanLength", {inputs[kQuery]}, axes, UnknownType(), node);
  const ValueId zero =
      graph.AddConstant(StrCat(name, "_first"), Constant::SplatInt(DType::kI64, {}, 0));
  Node repeat = {.op = "Repeat", .inputs = {trip, {}, zero, first}, .locations = node.locations};
  AOTC_ASSIGN_OR_RETURN(repeat.regions["body"], StepRegion(rebuilder, node, inputs, name));
  const ValueId count = graph.AddValue(StrCat(name, "_iterations"), TensorType(DType::kI64, {}));
  const ValueId last = graph.AddValue(StrCat(name, "_last"), UnknownType());
  const ValueId read = graph.AddValue(name, UnknownType());
  repeat.outputs = {count, last, read};
  repeat.attributes.Set("counter", int64_t{1});
  repeat.attributes.Set(kStackAxes, std::vector<int64_t>{1});
  graph.AddNode(rebuilder.region(), std::move(repeat));
  rebuilder.Replace(node.outputs[0], read);
  if (node.outputs.size() < 2 || !node.outputs[1].valid()) return absl::OkStatus();
  const ValueId like = inputs[inputs[kPast].valid() ? kPast : kQuery];
  rebuilder.Replace(node.outputs[1],
                    rebuilder.Emit("CastLike", {last, like}, {}, UnknownType(), node));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "LinearAttention",
     .expand = LinearAttention,
     .summary = "attention by a state that each step changes"},
    {.name = "LinearAttentionState",
     .compute = FirstState,
     .summary = "the state before the first step of a LinearAttention",
     .traits = kOwn},
    {.name = "LinearAttentionStep",
     .compute = Step,
     .summary = "one step of a LinearAttention",
     .traits = kOwn},
};

}  // namespace

std::span<const OpDef> LinearAttentionOps() { return kOps; }

}  // namespace aotc
