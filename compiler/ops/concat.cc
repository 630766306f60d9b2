// Joining and dividing tensors along an axis: Concat, Interleave and Split.
#include <numeric>
#include <utility>

#include "compiler/ops/emit.h"
#include "compiler/ops/gradient_rules.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

absl::StatusOr<std::vector<Tensor>> ConcatOperands(OpContext& op) {
  std::vector<Tensor> parts;
  for (size_t i = 0; i < op.InputCount(); ++i) {
    AOTC_ASSIGN_OR_RETURN(Tensor part, op.Input(i));
    parts.push_back(part);
  }
  if (parts.empty()) return AOTC_REFUSAL(InvalidArgument, "needs an operand");
  AOTC_RETURN_IF_ERROR(RequireSameType(parts));
  for (const Tensor& part : parts) {
    AOTC_RETURN_IF_ERROR(RequireRank(part, parts[0].rank(), parts[0].rank()));
  }
  return parts;
}

// Longer chains of choices are halved: what reads them takes time, and nests, with their depth.
constexpr size_t kLongestChain = 16;

struct Parts {
  std::vector<Tensor> tensors;
  std::vector<Expr> ends;  // of each along the axis
  size_t axis = 0;

  // The element at i of part p.
  Expr Element(size_t p, Indices i) const {
    if (p > 0) i[axis] = i[axis] - ends[p - 1];
    return tensors[p].Stored(i);
  }
};

// The element of the first of the parts begin .. end - 1 that ends after index i[axis].
Expr ElementOfParts(const Parts& parts, size_t begin, size_t end, const Indices& i) {
  const Expr& at = i[parts.axis];
  if (end - begin > kLongestChain) {
    const size_t middle = begin + (end - begin) / 2;
    return Select(Lt(at, parts.ends[middle - 1]), ElementOfParts(parts, begin, middle, i),
                  ElementOfParts(parts, middle, end, i));
  }
  Expr result = parts.Element(end - 1, i);
  for (size_t p = end - 1; p-- > begin;) {
    result = Select(Lt(at, parts.ends[p]), parts.Element(p, i), result);
  }
  return result;
}

absl::Status Concat(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(std::vector<Tensor> parts, ConcatOperands(op));
  AOTC_ASSIGN_OR_RETURN(int axis, op.Axis("axis", 0, parts[0].rank()));
  Shape shape = parts[0].shape();
  Parts filled = {.tensors = {}, .ends = {}, .axis = static_cast<size_t>(axis)};  // no empty ones
  Expr& total = shape[filled.axis];
  total = 0;
  for (size_t p = 0; p < parts.size(); ++p) {
    for (int d = 0; d < parts[p].rank(); ++d) {
      if (d == axis) continue;
      AOTC_RETURN_IF_ERROR(op.RequireEqual(
          parts[p].dim(d), parts[0].dim(d),
          StrCat("operand ", p, " has another dim along axis ", d, " than the first")));
    }
    if (parts[p].dim(axis).IsInt(0)) continue;
    filled.tensors.push_back(parts[p]);
    filled.ends.push_back(total = total + parts[p].dim(axis));
  }
  for (Expr& dim : shape) dim = Simplify(dim, op.bounds());
  if (filled.tensors.empty()) filled = {{parts[0]}, {0}, filled.axis};
  op.SetOutput(0, op.b().Compute(parts[0].dtype(), shape, [&](const Indices& i) {
    return ElementOfParts(filled, 0, filled.tensors.size(), i);
  }));
  return absl::OkStatus();
}

// Operand p has elements p, p + k, p + 2k ... of the axis, where there are k operands.
absl::Status Interleave(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const std::vector<Tensor> parts, ConcatOperands(op));
  AOTC_ASSIGN_OR_RETURN(const int axis, op.Axis("axis", 0, parts[0].rank()));
  const auto count = static_cast<int64_t>(parts.size());
  Shape shape = parts[0].shape();
  Expr& total = shape[static_cast<size_t>(axis)];
  total = 0;
  for (const Tensor& part : parts) total = total + part.dim(axis);
  for (Expr& dim : shape) dim = Simplify(dim, op.bounds());
  for (int64_t p = 0; p < count; ++p) {
    for (int d = 0; d < parts[p].rank(); ++d) {
      const Expr& dim = shape[static_cast<size_t>(d)];
      const Expr wanted = d == axis ? CeilDiv(dim - p, count) : dim;
      if (!ProveEqual(parts[p].dim(d), wanted, op.bounds()))
        return absl::InternalError(StrCat("operand ", p, " has another dim along axis ", d));
    }
  }
  op.SetOutput(0, op.b().Compute(parts[0].dtype(), shape, [&](Indices i) {
    const Expr at = i[static_cast<size_t>(axis)];
    i[static_cast<size_t>(axis)] = FloorDiv(at, count);
    Expr result = parts.back().Stored(i);
    for (int64_t p = count - 1; p-- > 0;)
      result = Select(Eq(Mod(at, count), p), parts[p].Stored(i), result);
    return result;
  }));
  return absl::OkStatus();
}

// From input 1, or equal parts where only their number is given, the last one smaller.
absl::StatusOr<std::vector<Expr>> PartSizes(OpContext& op, const Expr& dim, int axis) {
  if (op.HasInput(1)) {
    AOTC_ASSIGN_OR_RETURN(std::vector<Expr> sizes, op.IntElements(1));
    constexpr const char* kWrong = "the sizes do not add up to the dim of the axis";
    if (sizes.size() != op.node().outputs.size()) return AOTC_REFUSAL(InvalidArgument, kWrong);
    Expr total = 0;
    for (size_t p = 0; p < sizes.size(); ++p) {
      sizes[p] = op.Size(sizes[p], p, axis, dim);
      total = total + sizes[p];
      // It follows from the sum of all; a part that is read has to know it of those up to itself.
      if (p > 0 && p + 1 < sizes.size()) AOTC_RETURN_IF_ERROR(op.Require(Le(total, dim), kWrong));
    }
    AOTC_RETURN_IF_ERROR(op.RequireEqual(total, dim, kWrong));
    return sizes;
  }
  auto count = static_cast<int64_t>(op.node().outputs.size());
  if (op.attributes().Int("num_outputs", count) != count) {
    return AOTC_REFUSAL(InvalidArgument,
                        "attribute num_outputs differs from the number of outputs");
  }
  Expr size = CeilDiv(dim, count);
  std::vector<Expr> sizes(static_cast<size_t>(count), size);
  sizes.back() = dim - size * (count - 1);
  // n >= (count - 1) * ceil(n / count) where n >= (count - 1)^2; of fewer, where it can be proved.
  const bool is_long = Prove(Le((count - 1) * (count - 1), dim), op.bounds()) == true;
  if (!is_long) {
    AOTC_RETURN_IF_ERROR(
        op.Require(Le(0, sizes.back()), "the axis is too short for that many parts"));
  }
  return sizes;
}

absl::Status Split(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(int axis, op.Axis("axis", 0, x.rank()));
  AOTC_ASSIGN_OR_RETURN(std::vector<Expr> sizes, PartSizes(op, x.dim(axis), axis));
  Expr offset = 0;
  for (size_t p = 0; p < sizes.size(); ++p) {
    Shape shape = x.shape();
    shape[static_cast<size_t>(axis)] = Simplify(sizes[p], op.bounds());
    op.SetOutput(p, op.b().Compute(x.dtype(), shape, [&](const Indices& i) {
      Indices indices = i;
      indices[static_cast<size_t>(axis)] = i[static_cast<size_t>(axis)] + offset;
      return x.Stored(indices);
    }));
    offset = Simplify(offset + sizes[p], op.bounds());
  }
  return absl::OkStatus();
}

constexpr std::string_view kInterleave = "Interleave";

constexpr OpDef kOps[] = {
    {.name = "Concat",
     .compute = Concat,
     .summary = "tensors one after the other along an axis",
     .traits = kMovesOperands,
     .gradient = GradientOfConcat},
    {.name = kInterleave,
     .compute = Interleave,
     .summary = "elements of tensors in turn along an axis",
     .traits = kOwn},
    {.name = "Split",
     .compute = Split,
     .summary = "parts of a tensor along an axis",
     .traits = kMovesOperands,
     .gradient = GradientOfSplit},
};

}  // namespace

ValueId EmitInterleaved(Rebuilder& rebuilder, std::vector<ValueId> parts, size_t axis,
                        const ValueType& type, const Node& origin) {
  Attributes attributes;
  attributes.Set("axis", static_cast<int64_t>(axis));
  return rebuilder.Emit(kInterleave, std::move(parts), std::move(attributes), type, origin);
}

std::span<const OpDef> ConcatOps() { return kOps; }

}  // namespace aotc
