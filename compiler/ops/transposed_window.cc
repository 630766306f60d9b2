#include "compiler/ops/transposed_window.h"

#include "compiler/ops/helpers.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// The attribute, or `count` times `fallback` where it is absent.
absl::StatusOr<std::vector<int64_t>> Values(const Node& node, std::string_view name, size_t count,
                                            int64_t fallback, int64_t least) {
  std::vector<int64_t> values = node.attributes.Ints(name);
  if (values.empty()) values.assign(count, fallback);
  if (values.size() != count) {
    return AOTC_REFUSAL(InvalidArgument, StrCat("attribute ", name, " has ", values.size(),
                                                " elements instead of ", count));
  }
  for (int64_t value : values) {
    if (value < least || value > INT32_MAX) {
      return AOTC_REFUSAL(InvalidArgument, StrCat("attribute ", name, " holds ", value));
    }
  }
  return values;
}

struct Padding {
  bool same = false;   // out = input * stride, as far as the kernel reaches
  bool upper = false;  // of what is cut off on both sides, the odd element is the last
  std::vector<int64_t> output_shape = {};
  std::vector<int64_t> output_padding = {};
  std::vector<int64_t> pads = {};
};

absl::StatusOr<Padding> PaddingOf(const Node& node, size_t rank) {
  Padding padding;
  const std::string auto_pad = node.attributes.String("auto_pad", "NOTSET");
  padding.upper = auto_pad == "SAME_UPPER";
  padding.same = padding.upper || auto_pad == "SAME_LOWER";
  if (!padding.same && auto_pad != "NOTSET" && auto_pad != "VALID" && !auto_pad.empty()) {
    return AOTC_REFUSAL(InvalidArgument, StrCat("unknown auto_pad '", auto_pad, "'"));
  }
  AOTC_ASSIGN_OR_RETURN(padding.output_padding, Values(node, "output_padding", rank, 0, 0));
  AOTC_ASSIGN_OR_RETURN(padding.pads, Values(node, "pads", rank * 2, 0, 0));
  if (auto_pad == "VALID") padding.pads.assign(rank * 2, 0);
  if (node.attributes.Has("output_shape")) {
    AOTC_ASSIGN_OR_RETURN(padding.output_shape, Values(node, "output_shape", rank, 0, 1));
  }
  return padding;
}

// Adds the result's dim and the cut at its begin along axis d.
void AddAxis(TransposedWindow& w, size_t d, const Padding& padding) {
  Expr full = (w.input[d] - 1) * w.strides[d] + (w.Reach(d) + padding.output_padding[d]);
  if (!padding.same && padding.output_shape.empty()) {
    w.pad_begin.push_back(padding.pads[d]);
    w.out.push_back(full - (padding.pads[d] + padding.pads[d + w.rank()]));
    return;
  }
  // No end is padded: a kernel shorter than the stride reaches less than input * stride.
  w.out.push_back(padding.output_shape.empty() ? Min(w.input[d] * w.strides[d], full)
                                               : Expr(padding.output_shape[d]));
  Expr total = Max(full - w.out[d], 0);
  w.pad_begin.push_back(FloorDiv(padding.upper ? total : total + 1, 2));
}

}  // namespace

Expr TransposedWindow::Position(size_t axis, const Expr& o, const Expr& k) const {
  return FloorDiv(o + pad_begin[axis] - k * dilations[axis], strides[axis]);
}

Indices TransposedWindow::Positions(const Indices& o, const Indices& k) const {
  Indices positions;
  for (size_t d = 0; d < rank(); ++d) positions.push_back(Position(d, o[d], k[d]));
  return positions;
}

Expr TransposedWindow::Reached(const Indices& o, const Indices& k) const {
  Expr reached = Bool(true);
  for (size_t d = 0; d < rank(); ++d) {
    Expr rest = Mod(o[d] + pad_begin[d] - k[d] * dilations[d], strides[d]);
    Expr here = And(InBounds(Position(d, o[d], k[d]), input[d]), Eq(rest, 0));
    reached = d == 0 ? here : And(reached, here);
  }
  return reached;
}

absl::StatusOr<TransposedWindow> MakeTransposedWindow(const Node& node, const Shape& x,
                                                      const std::vector<int64_t>& weight,
                                                      const Bounds& bounds) {
  TransposedWindow w;
  w.input.assign(x.begin() + 2, x.end());
  w.kernel.assign(weight.begin() + 2, weight.end());
  AOTC_ASSIGN_OR_RETURN(std::vector<int64_t> stated, Values(node, "kernel_shape", w.rank(), 0, 0));
  if (node.attributes.Has("kernel_shape") && stated != w.kernel) {
    return AOTC_REFUSAL(InvalidArgument,
                        "attribute kernel_shape differs from the shape of the weight");
  }
  AOTC_ASSIGN_OR_RETURN(w.strides, Values(node, "strides", w.rank(), 1, 1));
  AOTC_ASSIGN_OR_RETURN(w.dilations, Values(node, "dilations", w.rank(), 1, 1));
  AOTC_ASSIGN_OR_RETURN(Padding padding, PaddingOf(node, w.rank()));
  for (size_t d = 0; d < w.rank(); ++d) {
    AddAxis(w, d, padding);
    w.out[d] = Simplify(w.out[d], bounds);
    w.pad_begin[d] = Simplify(w.pad_begin[d], bounds);
    if (Prove(Lt(w.out[d], 1), bounds) == true && !w.input[d].IsInt(0)) {
      return AOTC_REFUSAL(
          InvalidArgument,
          StrCat("the padding leaves nothing of the result along spatial axis ", d));
    }
  }
  return w;
}

}  // namespace aotc
