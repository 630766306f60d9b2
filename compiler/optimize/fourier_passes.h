// Discrete Fourier transforms as passes of matrix products over the factors of their length.
//
//   FourierPasses(site).Transform(x, {.length = 64, .bins = 64});    // [.., 2, 64] -> [.., 64, 2]
#ifndef AOTC_COMPILER_OPTIMIZE_FOURIER_PASSES_H_
#define AOTC_COMPILER_OPTIMIZE_FOURIER_PASSES_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "compiler/optimize/fourier_tables.h"
#include "compiler/optimize/rewrite.h"

namespace aotc {

class FourierPasses {
 public:
  explicit FourierPasses(RewriteSite& site) : site_(site) {}

  // x: f32 or f64 [..., parts, length] -> [..., bins, 2 or, of real results, 1]
  ValueId Transform(ValueId x, const FourierMatrix& transform);

  // What operands are made with. Element types are those of the operand.
  ValueId Emit(std::string_view op, std::vector<ValueId> inputs, const Shape& dims,
               Attributes attributes = {});
  ValueId Transpose(ValueId x, const std::vector<int64_t>& perm);
  // The axis with that dim: the rest is cut off, or made of zeros.
  ValueId Resize(ValueId x, size_t axis, int64_t dim);
  const Shape& DimsOf(ValueId x) const { return site_.TypeOf(x).dims; }

 private:
  // Between passes: [..., factors so far, parts, length of what is left]
  struct Rows {
    ValueId x;
    Shape lead;
    std::vector<int64_t> factors = {};
    int64_t parts = 2;
    int64_t length = 1;

    // The dims in front, and then those.
    Shape Dims(const std::vector<int64_t>& last) const;
  };

  void Split(Rows& rows, int64_t factor, int64_t sign);
  // [..., factors, bins, results] of rows of the last length
  ValueId Product(const Rows& rows, const FourierMatrix& last);
  ValueId Convolution(const Rows& rows, int64_t padded, const FourierMatrix& last);
  // x times numbers that broadcast to it: [..., parts, n] by [..., 2, n]
  ValueId Turned(ValueId x, Constant numbers);

  RewriteSite& site_;
};

}  // namespace aotc

#endif  // AOTC_COMPILER_OPTIMIZE_FOURIER_PASSES_H_
