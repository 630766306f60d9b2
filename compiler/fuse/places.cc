#include "compiler/fuse/places.h"

#include <algorithm>
#include <utility>

#include "compiler/ir/expr_simplify.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

template <class... Pieces>
absl::Status Refuse(const Pieces&... pieces) {
  return absl::FailedPreconditionError(StrCat(pieces...));
}

// The block in which a layout stores the axis; 1 where it has none.
int64_t BlockOf(const Layout& layout, size_t axis) {
  int64_t block = 1;
  for (const StorageAxis& storage : layout.axes) {
    if (storage.axis == static_cast<int>(axis) && storage.modulus == 0) {
      block = std::max(block, storage.divisor);
    }
  }
  return block;
}

bool HasHaloAlong(const Layout& layout, size_t axis) {
  return axis < layout.halo.size() && layout.halo[axis] != Halo{};
}

// That of a part: where parts take turns, each has its share of the whole's halo.
Layout PartLayout(Layout whole, const PartAxis& along) {
  if (along.step == 1 || !HasHaloAlong(whole, along.axis)) return whole;
  Halo& halo = whole.halo[along.axis];
  if (halo.before % along.step == 0 && halo.after % along.step == 0)
    halo = {halo.before / along.step, halo.after / along.step};
  if (!whole.HasHalo()) whole.halo.clear();
  return whole;
}

std::vector<Expr> StridesOf(const Value& value) {
  return RowMajorStrides(StorageShape(value.layout, value.type.dims));
}

// The strides of a box in `base`; empty where they are those of a dense tensor.
std::vector<Expr> BoxStrides(const Value& box, const Value& base,
                             const std::vector<int64_t>& step) {
  const std::vector<Expr> dense = StridesOf(box);
  std::vector<Expr> strides = StridesOf(base);
  for (size_t i = 0; i < step.size(); ++i) strides[i] = strides[i] * step[i];
  const Shape extents = StorageShape(box.layout, box.type.dims);
  for (size_t i = 0; i < strides.size(); ++i) {
    if (!extents[i].IsInt(1) && !ProveEqual(dense[i], strides[i])) return strides;
  }
  return {};
}

}  // namespace

std::vector<Part> PartsOf(const FusedKernel& fused, const Join& join) {
  std::vector<Part> parts;
  for (const JoinPart& part : join.parts) {
    const auto param = std::ranges::find(fused.kernel.params, part.tensor);
    const auto number = static_cast<size_t>(param - fused.kernel.params.begin());
    parts.push_back({fused.args[number], part.start});
  }
  return parts;
}

std::vector<ValueId> Places::PartsOf(ValueId value, size_t axis) const {
  const auto whole = wholes_.find(value);
  if (whole != wholes_.end()) {
    const auto& [along, parts] = whole->second;
    return along.axis == axis && along.step == 1 ? parts : std::vector<ValueId>();
  }
  const auto slices = slices_.find(value);
  if (slices == slices_.end()) return {};
  std::vector<ValueId> parts;
  Expr end = 0;
  for (size_t count = 0; count <= slices->second.size(); ++count) {
    if (ProveEqual(end, graph_.values[value].type.dims[axis])) return parts;
    const auto next = std::ranges::find_if(slices->second, [&](ValueId slice) {
      const Box& box = parts_.at(slice);
      return box.along.axis == axis && ProveEqual(box.start, end);
    });
    if (next == slices->second.end()) return {};
    parts.push_back(*next);
    end = Simplify(end + graph_.values[*next].type.dims[axis]);
  }
  return {};
}

void Places::AddLeaves(ValueId value, size_t axis, std::vector<ValueId>& leaves) const {
  const std::vector<ValueId> parts = PartsOf(value, axis);
  if (parts.empty()) return leaves.push_back(value);
  for (ValueId part : parts) AddLeaves(part, axis, leaves);
}

std::vector<Part> Places::Joined(const PartAxis& along, const std::vector<Part>& parts) const {
  if (along.step != 1) return parts;
  std::vector<Part> joined;
  for (size_t i = 0; i < parts.size();) {
    Part part = parts[i];
    size_t taken = 1;
    // The largest of the wholes that begin with this one.
    for (ValueId whole = WholeOf(part.value); whole.valid(); whole = WholeOf(whole)) {
      std::vector<ValueId> leaves;
      AddLeaves(whole, along.axis, leaves);
      const bool fits =
          leaves.size() <= parts.size() - i &&
          std::equal(leaves.begin(), leaves.end(), parts.begin() + static_cast<long>(i),
                     [](ValueId leaf, const Part& p) { return leaf == p.value; });
      if (!fits) break;
      part.value = whole;
      taken = leaves.size();
    }
    joined.push_back(part);
    i += taken;
  }
  return joined;
}

absl::Status Places::CheckParts(ValueId whole, const PartAxis& along,
                                const std::vector<Part>& parts) const {
  const Value& to = graph_.values[whole];
  if (IsSubByte(to.type.dtype)) return Refuse("its elements are less than a byte");
  if (along.step == 1 && HasHaloAlong(to.layout, along.axis))
    return Refuse("it has a halo along the axis");
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto same = [&](const Part& other) { return other.value == parts[i].value; };
    if (std::any_of(parts.begin(), parts.begin() + static_cast<long>(i), same)) {
      return Refuse("%", graph_.values[parts[i].value].name, " occurs twice");
    }
    const Expr end = i + 1 < parts.size() ? parts[i + 1].start : Expr();
    AOTC_RETURN_IF_ERROR(CheckPart(parts[i], end, whole, along));
  }
  return absl::OkStatus();
}

// `end` is that of the part; null at the end of the whole, whose last block may be padded.
absl::Status Places::CheckPart(const Part& part, const Expr& end, ValueId whole,
                               const PartAxis& along) const {
  const Value& from = graph_.values[part.value];
  const Layout& layout = graph_.values[whole].layout;
  if (parts_.contains(part.value)) {
    return Refuse("%", from.name, " lies in %", graph_.values[WholeOf(part.value)].name);
  }
  if (from.layout != PartLayout(layout, along))
    return Refuse("%", from.name, " has another layout");
  const int64_t block = BlockOf(layout, along.axis);
  if (block > 1 && along.step > 1) return Refuse("blocks of ", block, " lie along the axis");
  if (block > 1 &&
      (!ProveDivisible(part.start, block) || (end.valid() && !ProveDivisible(end, block)))) {
    return Refuse("%", from.name, " does not begin and end where blocks of ", block, " do");
  }
  return absl::OkStatus();
}

void Places::PlaceParts(ValueId whole, const PartAxis& along, const std::vector<Part>& parts) {
  auto& [of_axis, values] = wholes_[whole];
  of_axis = along;
  for (const Part& part : parts) {
    parts_[part.value] = {whole, along, part.start};
    values.push_back(part.value);
  }
}

void Places::PlaceAlias(const Alias& alias) {
  for (ValueId value : {alias.output, alias.input}) {
    parts_[value] = {.whole = alias.root, .along = {.axis = *alias.axis}};
  }
}

absl::Status Places::CheckSlice(ValueId whole, size_t axis, const Part& part) const {
  const Value& from = graph_.values[whole];
  if (IsSubByte(from.type.dtype)) return Refuse("its elements are less than a byte");
  if (HasHaloAlong(from.layout, axis)) return Refuse("there is a halo along the axis");
  const Expr end = Simplify(part.start + graph_.values[part.value].type.dims[axis]);
  const bool is_last = ProveEqual(end, from.type.dims[axis]);
  return CheckPart(part, is_last ? Expr() : end, whole, {.axis = axis});
}

void Places::PlaceSlice(ValueId whole, size_t axis, const Part& part) {
  parts_[part.value] = {whole, {.axis = axis}, part.start};
  slices_[whole].push_back(part.value);
}

ValueId Places::RootOf(ValueId value) const {
  for (ValueId whole = value; whole.valid(); whole = WholeOf(whole)) value = whole;
  return value;
}

ValueId Places::WholeOf(ValueId value) const {
  const auto found = parts_.find(value);
  return found == parts_.end() ? ValueId() : found->second.whole;
}

bool Places::IsDenseIn(ValueId part, ValueId whole) const {
  const bool steps = std::ranges::any_of(WalkOf(part).steps, [](int64_t step) { return step > 1; });
  return !steps && BoxStrides(graph_.values[part], graph_.values[whole], {}).empty();
}

Places::Walk Places::WalkOf(ValueId part) const {
  const size_t rank = graph_.values[part].type.dims.size();
  Walk walk{.root = part, .starts = std::vector<Expr>(rank, 0), .steps = {}};
  walk.steps.assign(rank, 1);
  for (auto box = parts_.find(part); box != parts_.end(); box = parts_.find(walk.root)) {
    const auto& [axis, step] = box->second.along;
    walk.starts[axis] = Simplify(walk.starts[axis] * step + box->second.start);
    walk.steps[axis] *= step;
    walk.root = box->second.whole;
  }
  return walk;
}

ValueView Places::ViewOf(ValueId part) const {
  const Walk walk = WalkOf(part);
  const Value& base = graph_.values[walk.root];
  Layout layout = base.layout;
  layout.halo.clear();  // a box begins where its own halo does
  ValueView view{.value = part, .base = walk.root, .start = StorageIndices(layout, walk.starts)};
  for (Expr& start : view.start) start = Simplify(start);
  view.offset = Simplify(LinearIndex(view.start, StridesOf(base)));
  if (std::ranges::all_of(walk.steps, [](int64_t step) { return step == 1; })) return view;
  for (size_t i = 0; i < view.start.size(); ++i) {  // an axis with steps has no blocks
    view.step.push_back(walk.steps[layout.axes.empty() ? i : layout.axes[i].axis]);
  }
  return view;
}

std::map<ValueId, ValueView> Places::Views() const {
  std::map<ValueId, ValueView> views;
  for (const auto& [part, box] : parts_) views.emplace(part, ViewOf(part));
  return views;
}

std::set<ValueId> BoundValues(const Graph& graph, const Region& region) {
  std::set<ValueId> bound(region.outputs.begin(), region.outputs.end());
  for (NodeId id : region.nodes) {
    const Node& node = graph.nodes[id];
    if (node.regions.empty()) continue;
    bound.insert(node.inputs.begin(), node.inputs.end());
    const std::vector<ValueId> captured = CapturedValues(graph, node);
    bound.insert(captured.begin(), captured.end());
  }
  return bound;
}

namespace {

// The dims of a base may vary with symbols that the kernel has no use for otherwise.
void AddSymbols(const Graph& graph, const std::vector<Expr>& strides, Kernel& kernel) {
  for (const Symbol& symbol : graph.symbols) {
    const bool is_used =
        std::ranges::any_of(strides, [&](const Expr& e) { return UsesVar(e, symbol.var); });
    const bool is_known = std::ranges::count(kernel.symbols, symbol.var, &Symbol::var) > 0;
    if (!is_used || is_known) continue;
    kernel.symbols.push_back(symbol);
    kernel.symbols.back().value = {};
    kernel.symbols.back().checks.clear();
  }
}

}  // namespace

void SetStrides(const Graph& graph, FusedGraph& fused) {
  std::map<ValueId, std::vector<Expr>> strides;
  VisitBodies(graph, fused, [&](const FusedGraph& part, RegionId) {
    for (const ValueView& view : part.views) {
      if (!view.IsBox()) continue;
      strides[view.value] =
          BoxStrides(graph.values[view.value], graph.values[view.base], view.step);
    }
  });
  VisitBodies(graph, fused, [&](FusedGraph& part, RegionId) {
    for (FusedKernel& kernel : part.kernels) {
      for (size_t i = 0; i < kernel.args.size(); ++i) {
        const auto found = strides.find(kernel.args[i]);
        if (found == strides.end()) continue;
        kernel.kernel.tensors[kernel.kernel.params[i]].strides = found->second;
        AddSymbols(graph, found->second, kernel.kernel);
      }
    }
  });
}

}  // namespace aotc
