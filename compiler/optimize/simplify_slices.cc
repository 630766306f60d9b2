// Parts of joined tensors, and tensors that are only broadcast.
#include <algorithm>
#include <optional>

#include "compiler/ops/op.h"
#include "compiler/optimize/simplify_rules.h"
#include "compiler/pass/pass.h"

namespace aotc {
namespace {

std::optional<std::vector<int64_t>> IntsOf(const RewriteSite& site, size_t index) {
  const Constant* constant = site.ConstantInput(index);
  if (constant == nullptr || !IsInteger(constant->dtype())) return std::nullopt;
  return constant->AsInts();
}

// A range of static ends along one axis of static dim.
struct Range {
  size_t axis = 0;
  int64_t start = 0;
  int64_t end = 0;
};

// Of a Slice in steps of one along one axis.
std::optional<Range> RangeOfSlice(const RewriteSite& site) {
  auto starts = IntsOf(site, 1), ends = IntsOf(site, 2), axes = IntsOf(site, 3);
  auto steps = site.HasInput(4) ? IntsOf(site, 4) : std::vector<int64_t>{1};
  if (!starts || !ends || !steps || (site.HasInput(3) && !axes)) return std::nullopt;
  if (starts->size() != 1 || ends->size() != 1 || steps->size() != 1 || (*steps)[0] != 1)
    return std::nullopt;
  const Shape& dims = site.InputType(0).dims;
  const auto rank = static_cast<int64_t>(dims.size());
  int64_t axis = axes ? (*axes)[0] : 0;
  axis = axis < 0 ? axis + rank : axis;
  std::optional<int64_t> dim = dims[static_cast<size_t>(axis)].AsInt();
  if (!dim) return std::nullopt;
  auto limited = [&](int64_t x) { return std::clamp<int64_t>(x < 0 ? x + *dim : x, 0, *dim); };
  return Range{static_cast<size_t>(axis), limited((*starts)[0]), limited((*ends)[0])};
}

// A part of a Concat that lies inside of one operand is a part of that, or all of it.
bool SliceOfConcat(RewriteSite& site) {
  if (site.node().op != "Slice") return false;
  const Node* concat = site.Producer(0);
  std::optional<Range> range = RangeOfSlice(site);
  if (!range || concat == nullptr || concat->op != "Concat" || range->start >= range->end)
    return false;
  const auto rank = static_cast<int64_t>(site.type().dims.size());
  int64_t axis = concat->attributes.Int("axis");
  axis = axis < 0 ? axis + rank : axis;
  if (axis != static_cast<int64_t>(range->axis)) return false;
  int64_t begin = 0;
  for (ValueId operand : concat->inputs) {
    std::optional<int64_t> size = site.TypeOf(operand).dims[range->axis].AsInt();
    if (!size || range->start < begin) return false;
    if (range->end > begin + *size) {
      begin += *size;
      continue;
    }
    if (range->start == begin && range->end == begin + *size) return site.ReplaceBy(operand);
    auto number = [&](const char* suffix, int64_t value) {
      return site.EmitConstant(suffix, Constant::Ints({value}));
    };
    return site.ReplaceBy("Slice", {operand, number("_start", range->start - begin),
                                    number("_end", range->end - begin), number("_axis", axis)});
  }
  return false;
}

// Concat(Concat(x, y), z) along one axis, where nothing else reads the inner one.
bool ConcatOfConcat(RewriteSite& site) {
  if (site.node().op != "Concat") return false;
  const auto rank = static_cast<int64_t>(site.type().dims.size());
  auto axis_of = [&](const Node& node) {
    const int64_t axis = node.attributes.Int("axis");
    return axis < 0 ? axis + rank : axis;
  };
  std::vector<ValueId> parts;
  bool found = false;
  for (size_t i = 0; i < site.node().inputs.size(); ++i) {
    const Node* inner = site.Producer(i);
    const bool joins = inner != nullptr && inner->op == "Concat" && site.Readers(i) == 1 &&
                       axis_of(*inner) == axis_of(site.node());
    if (joins) parts.insert(parts.end(), inner->inputs.begin(), inner->inputs.end());
    if (!joins) parts.push_back(site.node().inputs[i]);
    found |= joins;
  }
  return found && parts.size() <= kMostOperands &&
         site.ReplaceBy("Concat", parts, site.node().attributes);
}

// All indices address elements of an axis.
bool AreInside(const Constant& indices, const Expr& dim) {
  std::optional<int64_t> size = dim.AsInt();
  if (!size || !IsInteger(indices.dtype())) return false;
  const std::vector<int64_t> all = indices.AsInts();
  return std::ranges::all_of(all, [&](int64_t i) { return i >= -*size && i < *size; });
}

// Rows of a constant table at a part of constant indices (positions 0, 1, ... of a sequence): a
// part of the rows at all of them, which are known.
bool GatherOfSlice(RewriteSite& site) {
  if (site.node().op != "Gather" || site.ConstantInput(0) == nullptr) return false;
  const Node* slice = site.Producer(1);
  if (slice == nullptr || slice->op != "Slice") return false;
  const std::vector<ValueId> operands = slice->inputs;
  const Constant* indices = site.ConstantOf(operands[0]);
  const Shape table = site.InputType(0).dims;
  int64_t axis = site.node().attributes.Int("axis");
  axis = axis < 0 ? axis + static_cast<int64_t>(table.size()) : axis;
  if (indices == nullptr || !AreInside(*indices, table[static_cast<size_t>(axis)])) return false;
  const auto rank = static_cast<int64_t>(indices->dims().size());
  std::vector<int64_t> axes;
  const Constant* given =
      operands.size() > 3 && operands[3].valid() ? site.ConstantOf(operands[3]) : nullptr;
  if (given == nullptr) return false;
  for (int64_t a : given->AsInts()) axes.push_back((a < 0 ? a + rank : a) + axis);
  Shape all(table.begin(), table.begin() + axis);
  for (int64_t dim : indices->dims()) all.push_back(dim);
  all.insert(all.end(), table.begin() + axis + 1, table.end());
  const ValueId rows = site.Emit("Gather", {site.node().inputs[0], operands[0]},
                                 site.node().attributes, TensorType(site.type().dtype, all));
  std::vector<ValueId> inputs = operands;
  inputs[0] = rows;
  inputs[3] = site.EmitConstant("_axes", Constant::Ints(axes));
  return site.ReplaceBy("Slice", inputs);
}

// Ops of broadcast operands do what Expand does by themselves.
bool ExpandIntoBroadcast(RewriteSite& site) {
  if (!HasTrait(site.node().op, kBroadcasts)) return false;
  for (size_t i = 0; i < site.node().inputs.size(); ++i) {
    const Node* expand = site.Producer(i);
    if (expand == nullptr || expand->op != "Expand") continue;
    std::vector<ValueId> inputs = site.node().inputs;
    inputs[i] = expand->inputs[0];
    std::vector<Shape> shapes;
    for (ValueId input : inputs) shapes.push_back(site.TypeOf(input).dims);
    absl::StatusOr<Shape> shape = BroadcastShapes(shapes);
    if (!shape.ok() || !SameShape(*shape, site.type().dims)) continue;
    return site.ReplaceBy(site.node().op, inputs, site.node().attributes);
  }
  return false;
}

constexpr RewriteRule kRules[] = {SliceOfConcat, ConcatOfConcat, GatherOfSlice,
                                  ExpandIntoBroadcast};

}  // namespace

std::span<const RewriteRule> SliceRules() { return kRules; }

}  // namespace aotc
