#include "compiler/targets/cpu/chain.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/schedule/stage_kinds.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

absl::Status Refuse(std::string_view reason) { return absl::FailedPreconditionError(View(reason)); }

absl::StatusOr<TiledContraction> AnalyzeHead(const Kernel& head) {
  absl::StatusOr<TiledContraction> first = AnalyzeContraction(head);
  if (first.ok()) return first;
  absl::StatusOr<TiledContraction> depthwise = AnalyzeDepthwise(head);
  return depthwise.ok() ? depthwise : first;
}

bool ReadBy(const Kernel& kernel, TensorId tensor) {
  return std::ranges::any_of(kernel.stages,
                             [&](const Stage& stage) { return Reads(stage, tensor); });
}

// The constants as the two find them, who must not differ on one that both read.
absl::Status PackBoth(Chain& c) {
  for (TensorId id : c.kernel.tensors.ids()) {
    KernelTensor& tensor = c.kernel.tensors[id];
    if (tensor.role != TensorRole::kConstant) continue;
    const KernelTensor &in_first = c.first.kernel.tensors[id],
                       &in_second = c.second.kernel.tensors[id];
    const bool agree = in_first.dtype == in_second.dtype && in_first.layout == in_second.layout;
    if (ReadBy(c.head, id) && ReadBy(c.tail, id) && !agree)
      return Refuse("both read a constant, each in a layout of its own");
    const KernelTensor& stored = ReadBy(c.head, id) ? in_first : in_second;
    tensor.dtype = stored.dtype;
    tensor.layout = stored.layout;
  }
  return absl::OkStatus();
}

// Images are cut along the last axis but one, so that a row of a band is a row of tiles; matrices
// along the last.
absl::Status ChooseBand(Chain& c) {
  constexpr size_t kImage = 4;
  const Shape& shape = c.kernel.tensors[c.anchor.between].shape;
  std::vector<size_t> rows;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (c.anchor.rows[i] && !shape[i].IsInt(1)) rows.push_back(i);
  }
  if (rows.empty()) return Refuse("there is one row");
  if (shape.size() >= kImage && rows.size() > 1 && rows.back() + 1 == shape.size() &&
      rows[rows.size() - 2] + 2 == shape.size()) {
    rows.pop_back();
  }
  c.band = rows.back();
  rows.pop_back();
  c.single = std::move(rows);
  return absl::OkStatus();
}

// Steps of %v's storage in a band of rows, and what all of it takes.
std::vector<Expr> BandStrides(const Chain& c, int64_t rows, Expr& elements) {
  const KernelTensor& between = c.head.tensors[c.anchor.between];
  const Shape extents = StorageShape(between.layout, between.shape);
  std::vector<Expr> strides(extents.size(), Expr(0));
  elements = 1;
  for (size_t i = extents.size(); i-- > 0;) {
    const size_t axis =
        between.layout.axes.empty() ? i : static_cast<size_t>(between.layout.axes[i].axis);
    if (std::ranges::count(c.single, axis) > 0) continue;
    strides[i] = Simplify(elements);
    elements = elements * (axis == c.band ? Expr(rows) : extents[i]);
  }
  return strides;
}

// Axes of the stage that makes a kernel's result, by their positions in %v.
class RowNames {
 public:
  RowNames(const Chain& c, bool is_second) : c_(c), is_second_(is_second) {
    const Kernel& kernel = is_second ? c.tail : c.head;
    axes_ = DefiningStage(kernel, MainOutput(kernel))->axes;
  }
  const std::string& Of(size_t axis) const {
    return axes_[is_second_ ? *c_.anchor.rows[axis] : axis].name;
  }

 private:
  const Chain& c_;
  const bool is_second_;
  std::vector<Axis> axes_;
};

NestBand BandFor(const Chain& c, int64_t rows, bool is_second) {
  const RowNames own(c, is_second), result(c, true);
  const Shape& shape = c.kernel.tensors[c.anchor.between].shape;
  NestBand band{.axis = own.Of(c.band), .all = shape[c.band], .local = c.anchor.between};
  for (const size_t axis : c.single) {
    const std::string task = StrCat("task_", result.Of(axis));
    band.tasks.push_back({.name = task, .extent = shape[axis]});
    band.at[own.Of(axis)] = Var(task);
  }
  const std::string chunk = StrCat(result.Of(c.band), "_chunk");
  const Bounds bounds = BoundsOf(c.kernel.symbols);
  const Expr chunks = Simplify(CeilDiv(band.all, rows), bounds);
  band.tasks.push_back({.name = chunk, .extent = chunks});
  band.first = chunks.IsInt(1) ? Expr(0) : Var(chunk) * rows;
  band.most = rows;
  band.count = ProveDivisible(band.all, rows, bounds) ? Expr(rows) : Var("band_rows");
  return band;
}

}  // namespace

absl::StatusOr<Chain> AnalyzeChain(const Kernel& kernel) {
  const std::optional<ChainAnchor> anchor = ReadChain(kernel);
  if (!anchor) return Refuse("no two contractions, one of what the other makes");
  Chain c{.kernel = kernel, .anchor = *anchor};
  c.kernel.tensors[anchor->between].layout.halo.clear();  // it is read where it is, no further
  c.head = ChainHead(c.kernel, *anchor);
  c.tail = ChainTail(c.kernel, *anchor);
  AOTC_RETURN_IF_ERROR(ChooseBand(c));
  AOTC_ASSIGN_OR_RETURN(c.first, AnalyzeHead(c.head));
  AOTC_ASSIGN_OR_RETURN(c.second, AnalyzeContraction(c.tail));
  if (c.second.nest.HasStatistics()) return Refuse("there are statistics");
  AOTC_RETURN_IF_ERROR(PackBoth(c));
  c.bands = std::make_shared<std::map<int64_t, absl::StatusOr<ChainBand>>>();
  return c;
}

namespace {

absl::StatusOr<ChainBand> MakeBand(const Chain& c, int64_t rows) {
  ChainBand band{.of_first = BandFor(c, rows, false), .of_second = BandFor(c, rows, true)};
  Expr elements;
  const std::vector<Expr> strides = BandStrides(c, rows, elements);
  band.elements = RangeOf(elements, BoundsOf(c.kernel.symbols)).max;
  constexpr int64_t kMostElements = int64_t{1} << 24;
  if (band.elements > kMostElements) return Refuse("a row has no bound, or a large one");
  Kernel head = c.head, tail = c.tail;
  head.tensors[c.anchor.between].strides = strides;
  tail.tensors[c.anchor.between].strides = strides;
  AOTC_ASSIGN_OR_RETURN(band.first, c.first.is_depthwise
                                        ? AnalyzeDepthwise(head, &band.of_first)
                                        : AnalyzeContraction(head, &band.of_first));
  AOTC_ASSIGN_OR_RETURN(band.second, AnalyzeContraction(tail, &band.of_second));
  return band;
}

}  // namespace

const absl::StatusOr<ChainBand>& BandOf(const Chain& chain, int64_t rows) {
  const auto known = chain.bands->find(rows);
  if (known != chain.bands->end()) return known->second;
  return chain.bands->emplace(rows, MakeBand(chain, rows)).first->second;
}

}  // namespace aotc
