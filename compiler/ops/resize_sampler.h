// What the ways of sampling that Resize has share: places along the axes of a tensor, and filters.
//
//   Fraction place = sampler.PlaceAt(2, i[2]);               // 7/2: between elements 3 and 4
//   Expr low = weight of element FloorOf(place), 1 - Remainder(place, sampler.compute)
#ifndef AOTC_COMPILER_OPS_RESIZE_SAMPLER_H_
#define AOTC_COMPILER_OPS_RESIZE_SAMPLER_H_

#include <string>
#include <vector>

#include "compiler/ops/resize_geometry.h"

namespace aotc {

// A Resize with its attributes read.
struct Sampler {
  Tensor x;
  std::vector<ResizedAxis> axes;
  std::string coordinate_mode;
  DType compute = DType::kF32;

  // Valid: coordinate_mode was checked when the sampler was made.
  Fraction PlaceAt(size_t d, const Expr& i) const { return *Place(axes[d], coordinate_mode, i); }
  Expr LastOf(size_t d) const { return axes[d].in - 1; }
};

inline Expr FloorOf(const Fraction& f) { return FloorDiv(f.numerator, f.denominator); }

// place - floor(place)
inline Expr Remainder(const Fraction& f, DType type) {
  return Div(Cast(type, Mod(f.numerator, f.denominator)), Cast(type, f.denominator));
}

// The cubic kernel at a distance in [0, 2], coefficient a: equation (4) of Keys, 1981.
Expr CubicWeight(const Expr& distance, double a);

// A filter that is stretched by 1 / scale along axes that shrink: attribute antialias.
struct AntialiasFilter {
  bool is_cubic = false;  // else linear
  double coefficient = -0.75;
  bool exclude_outside = false;
};

// The result; floats of fewer than 32 bits are not yet rounded to the input's type. One axis after
// the other, the last first, integers rounded after each, as onnxruntime does. Elements outside are
// those at the border, unless they are excluded; the weights of a place are scaled to a sum of 1.
Tensor AntialiasSums(TensorBuilder& b, const Sampler& s, const AntialiasFilter& filter);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPS_RESIZE_SAMPLER_H_
