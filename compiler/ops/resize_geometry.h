// Geometry of Resize: from an index of the result to a place in the input, as an exact fraction.
//
// A scale that is given as a float stands for the simplest fraction that rounds to it (0.6 is 3/5),
// so that places, which are then floored or rounded, are integers over integers and never suffer
// from rounding. Those of onnxruntime do (its issue 28291): of 14 elements resized to 4, asymmetric
// and by floor, it takes element 6 as the third, which is 7 = 2 * 14 / 4.
#ifndef AOTC_COMPILER_OPS_RESIZE_GEOMETRY_H_
#define AOTC_COMPILER_OPS_RESIZE_GEOMETRY_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ops/op.h"

namespace aotc {

inline constexpr std::string_view kCoordinates = "coordinate_transformation_mode";
inline constexpr std::string_view kAlignCorners = "align_corners";  // one of them

// numerator / denominator; the denominator is positive.
struct Fraction {
  Expr numerator = 0;
  Expr denominator = 1;
};

// The fraction of least denominator that rounds to `value` as a float. Requires a finite value.
Fraction SimplestFraction(float value);

struct ResizedAxis {
  bool resized = false;  // false: the index passes through
  bool of_run = false;   // a run knows the scale, and whether the index passes through
  Expr in = {};
  Expr out = {};
  Fraction scale = {};  // of the result to the input
  // Length of the result whose last place is the input's last element: that which a scale gives.
  std::optional<Fraction> aligned = {};
  Fraction roi_start = {};  // of the input's length, for tf_crop_and_resize
  Fraction roi_size = {.numerator = 1};
};

// One per axis of the input, from the inputs roi, scales or sizes and the attributes axes and
// keep_aspect_ratio_policy; of a ResizeTo from its integers. FailedPrecondition: floats that only a
// run knows, of which the node is to be expanded.
absl::StatusOr<std::vector<ResizedAxis>> ResizedAxes(OpContext& op, const Shape& shape);

// Place in the input of index i of the result, by attribute coordinate_transformation_mode.
absl::StatusOr<Fraction> Place(const ResizedAxis& axis, const std::string& mode, const Expr& i);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPS_RESIZE_GEOMETRY_H_
