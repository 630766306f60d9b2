#include "compiler/ops/window.h"

#include <algorithm>

#include "compiler/ops/helpers.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// Least value that attribute elements may have.
absl::Status RequireAtLeast(const std::vector<int64_t>& values, int64_t least, const char* what) {
  for (int64_t value : values) {
    if (value < least || value > INT32_MAX) {
      return AOTC_REFUSAL(InvalidArgument, StrCat("attribute ", what, " holds ", value));
    }
  }
  return absl::OkStatus();
}

// Distance from the first to the last tap, plus one.
Expr Reach(const Window& w, size_t d) { return Expr((w.kernel[d] - 1) * w.dilations[d] + 1); }

void SetExplicitPads(Window& w, const std::vector<int64_t>& pads) {
  for (size_t d = 0; d < w.rank(); ++d) {
    w.pad_begin.push_back(pads[d]);
    w.pad_end.push_back(pads[d + w.rank()]);
  }
}

// out = ceil(input / stride); what that needs of padding is split, the odd one at the end for
// SAME_UPPER.
void SetSamePads(Window& w, bool upper) {
  for (size_t d = 0; d < w.rank(); ++d) {
    w.out.push_back(CeilDiv(w.input[d], w.strides[d]));
    Expr total = Max((w.out[d] - 1) * w.strides[d] + Reach(w, d) - w.input[d], 0);
    Expr less = FloorDiv(total, 2), more = FloorDiv(total + 1, 2);
    w.pad_begin.push_back(upper ? less : more);
    w.pad_end.push_back(upper ? more : less);
  }
}

// Windows that fit; with ceil_mode also one that overhangs, unless it starts beyond the begin
// padding and the input.
Expr WindowCount(const Window& w, size_t d, bool ceil_mode) {
  Expr room = w.input[d] + w.pad_begin[d] + w.pad_end[d] - Reach(w, d);
  if (!ceil_mode) return FloorDiv(room, w.strides[d]) + 1;
  Expr starts = CeilDiv(w.input[d] + w.pad_begin[d], w.strides[d]);
  return Min(CeilDiv(room, w.strides[d]) + 1, starts);
}

absl::Status SetPads(const OpContext& op, Window& w) {
  std::string auto_pad = op.attributes().String("auto_pad", "NOTSET");
  std::vector<int64_t> none(w.rank() * 2, 0);
  if (auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER") {
    SetSamePads(w, auto_pad == "SAME_UPPER");
  } else if (auto_pad == "VALID") {
    SetExplicitPads(w, none);
  } else if (auto_pad == "NOTSET" || auto_pad.empty()) {
    AOTC_ASSIGN_OR_RETURN(std::vector<int64_t> pads, IntsOr(op, "pads", w.rank() * 2, 0));
    AOTC_RETURN_IF_ERROR(RequireAtLeast(pads, 0, "pads"));
    SetExplicitPads(w, pads);
  } else {
    return AOTC_REFUSAL(InvalidArgument, StrCat("unknown auto_pad '", auto_pad, "'"));
  }
  return absl::OkStatus();
}

}  // namespace

Expr Window::Position(size_t axis, const Expr& o, const Expr& k) const {
  return o * strides[axis] + k * dilations[axis] - pad_begin[axis];
}

Indices Window::Positions(const Indices& o, const Indices& k) const {
  Indices positions;
  for (size_t d = 0; d < rank(); ++d) positions.push_back(Position(d, o[d], k[d]));
  return positions;
}

Expr Window::Inside(const Indices& o, const Indices& k) const {
  Expr inside = Bool(true);
  for (size_t d = 0; d < rank(); ++d) {
    Expr here = InBounds(Position(d, o[d], k[d]), input[d]);
    inside = d == 0 ? here : And(inside, here);
  }
  return inside;
}

Expr Window::TapCount(size_t axis, const Expr& o, bool count_padding) const {
  // Taps k with 0 <= start + k * dilation < end.
  Expr start = o * strides[axis] - pad_begin[axis];
  Expr end = count_padding ? input[axis] + pad_end[axis] : input[axis];
  Expr first = count_padding ? Expr(0) : Max(CeilDiv(-start, dilations[axis]), 0);
  Expr last = Min(CeilDiv(end - start, dilations[axis]), kernel[axis]);
  return Max(last - first, 0);
}

absl::StatusOr<Window> MakeWindow(const OpContext& op, const Shape& spatial_dims,
                                  const std::vector<int64_t>& kernel) {
  Window w;
  w.input = spatial_dims;
  w.kernel = kernel;
  if (kernel.size() != spatial_dims.size()) {
    return AOTC_REFUSAL(InvalidArgument, StrCat("a kernel of ", kernel.size(), " axes over ",
                                                spatial_dims.size(), " spatial axes"));
  }
  AOTC_RETURN_IF_ERROR(RequireAtLeast(kernel, 1, "kernel_shape"));
  AOTC_ASSIGN_OR_RETURN(w.strides, IntsOr(op, "strides", w.rank(), 1));
  AOTC_RETURN_IF_ERROR(RequireAtLeast(w.strides, 1, "strides"));
  AOTC_ASSIGN_OR_RETURN(w.dilations, IntsOr(op, "dilations", w.rank(), 1));
  AOTC_RETURN_IF_ERROR(RequireAtLeast(w.dilations, 1, "dilations"));
  AOTC_RETURN_IF_ERROR(SetPads(op, w));
  bool same = !w.out.empty();
  bool ceil_mode = op.attributes().Int("ceil_mode") != 0;
  for (size_t d = 0; d < w.rank(); ++d) {
    if (!same) w.out.push_back(WindowCount(w, d, ceil_mode));
    w.out[d] = Simplify(w.out[d], op.bounds());
    w.pad_begin[d] = Simplify(w.pad_begin[d], op.bounds());
    w.pad_end[d] = Simplify(w.pad_end[d], op.bounds());
    if (Prove(Lt(w.out[d], 1), op.bounds()) == true && !w.input[d].IsInt(0)) {
      return AOTC_REFUSAL(
          InvalidArgument,
          StrCat("the window is larger than the padded input along spatial axis ", d));
    }
  }
  return w;
}

}  // namespace aotc
