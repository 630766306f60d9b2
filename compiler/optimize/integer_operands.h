// What the rules of integer_contractions.h share: quantised operands with constant parameters.
#ifndef AOTC_COMPILER_OPTIMIZE_INTEGER_OPERANDS_H_
#define AOTC_COMPILER_OPTIMIZE_INTEGER_OPERANDS_H_

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "compiler/optimize/rewrite.h"

namespace aotc {

inline bool IsByte(DType type) { return type == DType::kI8 || type == DType::kU8; }

// The elements of a constant, one or `count`, as `count` numbers; nothing where it has others.
std::optional<std::vector<double>> NumbersOf(const Constant* constant, int64_t count);

// Scale and zero point of a tensor that has one of each.
struct QuantGrid {
  double scale = 1;
  int64_t zero = 0;
  friend bool operator==(const QuantGrid&, const QuantGrid&) = default;
};
// Of a QuantizeLinear or DequantizeLinear between f32 and bytes, with constant parameters.
std::optional<QuantGrid> GridOf(const RewriteSite& site, const Node& node);

// The constant operand of a contraction: output channels along `axis`, all others are summed over.
struct IntegerWeights {
  Constant stored = {};  // i8 or u8; [M, C, taps...] of a convolution, [K, N] or [K] of a product
  size_t axis = 0;       // beyond the rank: there is one channel
  int64_t channels = 1;

  int64_t TermCount() const { return stored.element_count() / channels; }
  // Calls visit(channel, element) for all elements.
  template <class Visit>
  void ForEach(const Visit& visit) const {
    int64_t inner = 1;
    for (size_t i = axis + 1; i < stored.dims().size(); ++i) inner *= stored.dims()[i];
    for (int64_t i = 0; i < stored.element_count(); ++i) {
      visit(static_cast<size_t>(i / inner % channels), stored.IntAt(i));
    }
  }
};
// Of the node that would contract them: Conv and ConvInteger, else a product. Nothing where they
// are no bytes, or products have batches.
std::optional<IntegerWeights> IntegerWeightsOf(const Constant* stored, bool is_convolution);

// One number per output channel, shaped to be broadcast over the contraction's result of `rank`.
Constant PerChannel(DType dtype, const std::vector<double>& numbers, bool is_convolution,
                    size_t rank);

// Of a Cast.
Attributes CastTo(DType type);

// Sums in f32, times factors that are broadcast over them.
ValueId EmitScaled(RewriteSite& site, ValueId sums, ValueId factors);
// Ends a node: what is scaled already, rounded, plus a zero point (invalid: none).
bool ReplaceByRounded(RewriteSite& site, ValueId scaled, ValueId zero);

// ConvInteger without the taps that only read padding (optimize/padding_taps.cc).
bool WithoutPaddingTaps(RewriteSite& site);
// ConvInteger and MatMulInteger of constant weights: the form without zero points, u8 times i8.
std::span<const RewriteRule> IntegerSumRules();
// The same of two operands of the run: of any bytes.
std::span<const RewriteRule> IntegerProductRules();
// QuantizeLinear, DequantizeLinear and what lies between them.
std::span<const RewriteRule> QuantizeRules();

}  // namespace aotc

#endif  // AOTC_COMPILER_OPTIMIZE_INTEGER_OPERANDS_H_
