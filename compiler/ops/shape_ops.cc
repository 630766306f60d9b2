// Ops about shapes and values known at compile time: Shape, Size, Constant, ConstantOfShape, Range.
#include <algorithm>
#include <cmath>

#include "compiler/ir/control_flow.h"
#include "compiler/ir/graph_rebuild.h"
#include "compiler/ops/emit.h"
#include "compiler/ops/expansion.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// values[i], as a chain of selects.
Expr Choose(const std::vector<Expr>& values, const Expr& i) {
  if (values.empty()) return 0;
  Expr result = values.back();
  for (size_t k = values.size() - 1; k-- > 0;) {
    result = Select(Eq(i, static_cast<int64_t>(k)), values[k], result);
  }
  return result;
}

absl::StatusOr<Shape> DimsOf(const OpContext& op) {
  const ValueType& type = op.InputType(0);
  if (type.kind != ValueKind::kTensor || !type.ranked) {
    return AOTC_REFUSAL(InvalidArgument, "input 0 is not a tensor of known rank");
  }
  return type.dims;
}

// Attributes start and end select axes as a slice does.
absl::Status ShapeOp(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Shape dims, DimsOf(op));
  auto rank = static_cast<int64_t>(dims.size());
  auto limit = [&](int64_t axis) {
    return std::clamp<int64_t>(axis < 0 ? axis + rank : axis, 0, rank);
  };
  int64_t start = limit(op.attributes().Int("start")),
          end = limit(op.attributes().Int("end", rank));
  Shape chosen;
  if (start < end) chosen.assign(dims.begin() + start, dims.begin() + end);
  Shape shape = {Expr(static_cast<int64_t>(chosen.size()))};
  auto body = [&](const Indices& i) { return Choose(chosen, i[0]); };
  op.SetOutput(0, op.b().Compute(DType::kI64, shape, body));
  return absl::OkStatus();
}

absl::Status Size(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Shape dims, DimsOf(op));
  Expr count = ElementCount(dims);
  op.SetOutput(0, op.b().Compute(DType::kI64, {}, [&](const Indices&) { return count; }));
  return absl::OkStatus();
}

// Shape arithmetic that has been done: elements over the symbols, from no other value. Ours, made
// by type inference.
absl::Status Elements(OpContext& op) {
  const std::vector<Expr>* elements = op.OutputElements(0);
  if (elements == nullptr) return absl::InternalError("needs elements at its output");
  const ValueType& type = op.OutputType(0);
  auto body = [&](const Indices& i) {
    return Cast(type.dtype, Choose(*elements, LinearIndex(i, RowMajorStrides(type.dims))));
  };
  op.SetOutput(0, op.b().Compute(type.dtype, type.dims, body));
  return absl::OkStatus();
}

absl::StatusOr<Constant> ConstantValue(const Attributes& a) {
  if (const AttributeValue* value = a.Find("value"); value != nullptr) {
    if (const auto* constant = std::get_if<Constant>(value)) return *constant;
  }
  if (a.Has("value_float")) return Constant::Splat(DType::kF32, {}, a.Float("value_float"));
  if (a.Has("value_int")) return Constant::SplatInt(DType::kI64, {}, a.Int("value_int"));
  if (a.Has("value_ints")) return Constant::Ints(a.Ints("value_ints"));
  if (a.Has("value_floats")) {
    std::vector<float> floats = a.Floats("value_floats");
    std::vector<uint8_t> bytes(floats.size() * sizeof(float));
    for (size_t i = 0; i < floats.size(); ++i) {
      StoreElement(DType::kF32, bytes.data(), static_cast<int64_t>(i), floats[i]);
    }
    return Constant::Dense(DType::kF32, {static_cast<int64_t>(floats.size())}, std::move(bytes));
  }
  if (a.Has("value_string")) return Constant::Strings({}, {a.String("value_string")});
  return absl::InternalError("a constant that the importer does not make");
}

absl::Status ConstantOp(Rebuilder& rebuilder, const Node& node) {
  AOTC_ASSIGN_OR_RETURN(Constant value, ConstantValue(node.attributes));
  const std::string& name = rebuilder.old_graph().values[node.outputs[0]].name;
  rebuilder.Replace(node.outputs[0], rebuilder.graph().AddConstant(name, std::move(value)));
  return absl::OkStatus();
}

absl::Status ConstantOfShape(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Shape shape, op.IntElements(0));
  for (Expr& dim : shape) {
    dim = Simplify(dim, op.bounds());
    if (Prove(Lt(dim, 0), op.bounds()) == true)
      return AOTC_REFUSAL(InvalidArgument, "a dim is negative");
  }
  Expr value = FloatConst(0);
  DType dtype = DType::kF32;
  if (const AttributeValue* attribute = op.attributes().Find("value"); attribute != nullptr) {
    const auto* constant = std::get_if<Constant>(attribute);
    if (constant == nullptr || constant->element_count() != 1) {
      return AOTC_REFUSAL(InvalidArgument, "attribute value must be a tensor of one element");
    }
    dtype = constant->dtype();
    if (!IsFloat(dtype) && !IsInteger(dtype) && dtype != DType::kBool) {
      return AOTC_REFUSAL(Unimplemented, StrCat("a value of type ", TypeName(dtype)));
    }
    value = ElementOf(*constant, 0, ComputeType(dtype));
  }
  op.SetOutput(0, op.b().Compute(dtype, shape, [&](const Indices&) { return value; }));
  return absl::OkStatus();
}

// How many elements a Range of that start, limit and step has, which only a run knows and of which
// none is a size: i64 []. Of a step of 0, or what is no number, more than any tensor has. Ours.
absl::Status RangeLengthOp(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Expr start, OneElement(op, 0, DType::kF64));
  AOTC_ASSIGN_OR_RETURN(const Expr limit, OneElement(op, 1, DType::kF64));
  AOTC_ASSIGN_OR_RETURN(const Expr delta, OneElement(op, 2, DType::kF64));
  op.SetOutput(0, op.b().Compute(DType::kI64, {}, [&](const Indices&) {
    const Expr zero = NumberConst(0, DType::kF64), none = NumberConst(kNoSize, DType::kF64);
    const Expr length = Unary(ExprOp::kCeil, Div(limit - start, delta));
    const Expr is_length = And(Ne(delta, zero), Lt(length, none));
    return Cast(DType::kI64, Select(is_length, Max(length, zero), none));
  }));
  return absl::OkStatus();
}

constexpr size_t kLengthOfRange = 3;  // what RangeLength gives

// ceil((limit - start) / delta) elements, from constants of any type or from integers over the
// dims.
absl::StatusOr<Expr> RangeLength(OpContext& op) {
  if (op.HasInput(kLengthOfRange)) {
    AOTC_ASSIGN_OR_RETURN(const std::vector<Expr> length, op.IntElements(kLengthOfRange));
    return Simplify(Max(length[0], 0), op.bounds());
  }
  const Constant* constants[3] = {op.ConstInput(0), op.ConstInput(1), op.ConstInput(2)};
  if (constants[0] != nullptr && constants[1] != nullptr && constants[2] != nullptr &&
      IsFloat(constants[0]->dtype())) {
    for (const Constant* constant : constants) AOTC_RETURN_IF_ERROR(RequireOneElement(constant));
    double start = constants[0]->FloatAt(0), limit = constants[1]->FloatAt(0);
    double length = std::ceil((limit - start) / constants[2]->FloatAt(0));
    if (!(length < INT32_MAX))
      return AOTC_REFUSAL(InvalidArgument, "the range has no finite length");
    return Expr(static_cast<int64_t>(std::max(length, 0.0)));
  }
  for (size_t index = 0; index < 3; ++index) {  // what is unknown, before constants of its type
    if (op.HasInput(index) && constants[index] == nullptr) {
      AOTC_RETURN_IF_ERROR(SizeElements(op, index).status());
    }
  }
  AOTC_ASSIGN_OR_RETURN(std::vector<Expr> start, op.IntElements(0));
  AOTC_ASSIGN_OR_RETURN(std::vector<Expr> limit, op.IntElements(1));
  AOTC_ASSIGN_OR_RETURN(std::vector<Expr> delta, op.IntElements(2));
  if (start.size() != 1 || limit.size() != 1 || delta.size() != 1) {
    return AOTC_REFUSAL(InvalidArgument, "needs a start, a limit and a step");
  }
  if (delta[0].IsInt(INT64_MIN)) return AOTC_REFUSAL(InvalidArgument, "the step is out of range");
  AOTC_RETURN_IF_ERROR(op.Require(Ne(delta[0], 0), "the step is 0"));
  const std::optional<int64_t> step = delta[0].AsInt();
  // The same number in two forms: a constant step is best divided by as a positive number.
  const Expr length =
      step ? CeilDiv(*step > 0 ? limit[0] - start[0] : start[0] - limit[0], std::abs(*step))
           : -FloorDiv(start[0] - limit[0], delta[0]);
  return Simplify(Max(length, 0), op.bounds());
}

// The one element of an input: known, as the length of the range needs it to be, unless that is an
// operand of its own.
absl::StatusOr<Expr> ElementOfRange(OpContext& op, size_t index, DType compute) {
  if (const Constant* constant = op.ConstInput(index); constant != nullptr) {
    AOTC_RETURN_IF_ERROR(RequireOneElement(constant));
    return ElementOf(*constant, 0, compute);
  }
  if (op.HasInput(kLengthOfRange)) return OneElement(op, index, compute);
  AOTC_ASSIGN_OR_RETURN(std::vector<Expr> elements, op.IntElements(index));
  return Cast(compute, elements[0]);
}

absl::Status Range(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Expr length, RangeLength(op));
  DType dtype = op.InputType(0).dtype;
  AOTC_ASSIGN_OR_RETURN(Expr start, ElementOfRange(op, 0, ComputeType(dtype)));
  AOTC_ASSIGN_OR_RETURN(Expr delta, ElementOfRange(op, 2, ComputeType(dtype)));
  op.SetOutput(0, op.b().Compute(dtype, {length}, [&](const Indices& i) {
    return start + Cast(ComputeType(dtype), i[0]) * delta;
  }));
  return absl::OkStatus();
}

// One of whose length only a run knows, from what is no size: it becomes one more operand.
absl::Status ExpandRange(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0, 1, 2}));
  std::vector<ValueId> inputs = {e.Input(0), e.Input(1), e.Input(2)};
  inputs.push_back(e.Emit("RangeLength", inputs));
  e.SetOutput(0, rebuilder.Emit("Range", inputs, node.attributes, UnknownType(), node));
  return absl::OkStatus();
}

constexpr std::string_view kElements = "Elements";

constexpr OpDef kOps[] = {
    {.name = "Constant", .expand = ConstantOp, .summary = "a tensor given by an attribute"},
    {.name = "ConstantOfShape", .compute = ConstantOfShape, .summary = "one value everywhere"},
    {.name = kDefineSizes,
     .compute = Elements,
     .summary = "elements of a tensor as sizes of what comes behind",
     .traits = kOwn},
    {.name = kElements,
     .compute = Elements,
     .summary = "numbers over the dims, from no tensor",
     .traits = kOwn},
    {.name = "Range",
     .compute = Range,
     .expand = ExpandRange,
     .summary = "numbers from a start to a limit by a step"},
    {.name = "RangeLength",
     .compute = RangeLengthOp,
     .summary = "the number of elements of a Range",
     .traits = kOwn | kCounts},
    {.name = "Shape", .compute = ShapeOp, .summary = "dims of a tensor", .traits = kReadsShapeOnly},
    {.name = "Size",
     .compute = Size,
     .summary = "number of elements of a tensor",
     .traits = kReadsShapeOnly},
};

}  // namespace

ValueId EmitDims(Rebuilder& rebuilder, const Shape& dims, const Node& origin) {
  if (const std::optional<std::vector<int64_t>> numbers = StaticDims(dims))
    return rebuilder.graph().AddConstant("shape", Constant::Ints(*numbers));
  const Shape rank = {Expr(static_cast<int64_t>(dims.size()))};
  const ValueId shape = rebuilder.Emit(kElements, {}, {}, TensorType(DType::kI64, rank), origin);
  rebuilder.graph().values[shape].elements = dims;
  return shape;
}

std::span<const OpDef> ShapeOps() { return kOps; }

}  // namespace aotc
