#include "compiler/ops/decimal.h"
#include "compiler/ops/helpers.h"

namespace aotc {
namespace {

// A float's bits of digits * 10^exponent.
class Rounding {
 public:
  Rounding(OpContext& op, const Shape& dims, const Decimal& numbers, const FloatLayout& layout)
      : op_(op),
        layout_(layout),
        dims_(dims),
        digits_(numbers.digits),
        exponent_(numbers.exponent) {}

  // Exponent and fraction, u64, as they are stored; that of infinity where it is beyond all.
  Element Bits(const Tensor& table) const {
    const Element last_bit = LastBit();
    const Element digits = Keep([&](const Indices& i) {  // the first bit of 64 set
      return ShiftedLeft(digits_(i), 63 - last_bit(i));
    });
    const Wide product = Scaled(digits, table);
    // Two bits behind the fraction's, and one more where the first bit of the product is set.
    const Element top = KeepInt(
        [&](const Indices& i) { return Cast(DType::kI64, ShiftedRight(product.high(i), 63)); });
    const Element shift =
        KeepInt([&](const Indices& i) { return top(i) + (64 - layout_.fraction_bits - 3); });
    const Element leading =
        Keep([&](const Indices& i) { return ShiftedRight(product.high(i), shift(i)); });
    const Element is_exact = Kept(op_, DType::kBool, dims_, [&](const Indices& i) {
      constexpr int64_t kExact = 27;  // 64 bits hold 5^27
      const Expr in_reach = And(Le(-kExact, exponent_(i)), Le(exponent_(i), kExact));
      const Expr is_whole = Eq(ShiftedLeft(leading(i), shift(i)), product.high(i));
      return And(in_reach, And(is_whole, Le(product.low(i), U64(1))));
    });
    const Element stored = KeepInt([&](const Indices& i) {  // the exponent; 0 and below: denormal
      constexpr int64_t kLogOfTen = 217706;                 // of 2, times 2^16
      const Expr scale = FloorDiv(exponent_(i) * kLogOfTen, int64_t{1} << 16);
      return scale + top(i) + last_bit(i) + layout_.bias();
    });
    return Rounded(leading, is_exact, stored);
  }

 private:
  Element Keep(const Element& value) const { return Kept(op_, DType::kU64, dims_, value); }
  Element KeepInt(const Element& value) const { return Kept(op_, DType::kI64, dims_, value); }

  // The place of the highest bit of the digits, by the exponent of the f64 next to them, which may
  // be one more.
  Element LastBit() const {
    const FloatLayout f64 = *LayoutOfFloat(DType::kF64);
    const Element near = KeepInt([&](const Indices& i) {
      const Expr bits = BitCast(DType::kI64, Cast(DType::kF64, digits_(i)));
      return Clamp(ShiftedRight(bits, Expr(f64.fraction_bits)) - f64.bias(), 0, 63);
    });
    return KeepInt([&](const Indices& i) {
      const Expr is_less = Lt(digits_(i), ShiftedLeft(U64(1), near(i)));
      return Max(near(i) - Cast(DType::kI64, is_less), 0);
    });
  }

  // The first 128 bits of the product with the power of ten, rounded down.
  Wide Scaled(const Element& digits, const Tensor& table) const {
    const auto power = [&](int64_t half) {
      return Keep([&, half](const Indices& i) {
        const Expr row = Clamp(exponent_(i), kLeastPower, kMostPower) - kLeastPower;
        const Expr more = half == 0 ? Bool(false) : Lt(kLastExactPower, exponent_(i));
        return table({row, Expr(half)}) - Cast(DType::kU64, more);
      });
    };
    const Wide above = FullProduct(op_, dims_, digits, power(0));
    const Wide below = FullProduct(op_, dims_, digits, power(1));
    const Element low = Keep([&](const Indices& i) { return above.low(i) + below.high(i); });
    const auto high = [&](const Indices& i) {
      return above.high(i) + Cast(DType::kU64, Lt(low(i), below.high(i)));
    };
    return {Keep(high), low};
  }

  // Halves to even; what a denormal has no room for is cut off with the last bits. One that rounds
  // up to the next exponent adds to it.
  Element Rounded(const Element& leading, const Element& is_exact, const Element& stored) const {
    const int64_t enough = layout_.fraction_bits + 3;
    const Element cut = KeepInt([&](const Indices& i) { return Clamp(1 - stored(i), 0, enough); });
    const Element half = Keep([&](const Indices& i) { return ShiftedRight(leading(i), cut(i)); });
    const Element fraction = Keep([&](const Indices& i) {
      const Expr down = ShiftedRight(half(i), 1);
      const Expr lost = LowBits(leading(i), ShiftedLeft(U64(1), cut(i)) - U64(1));
      const Expr more = Or(Not(is_exact(i)), Ne(lost, U64(0)));
      const Expr is_odd = Ne(LowBits(down, U64(1)), U64(0));
      const Expr up = And(Ne(LowBits(half(i), U64(1)), U64(0)), Or(more, is_odd));
      return down + Cast(DType::kU64, up);
    });
    return Keep([&](const Indices& i) {
      const Expr exponent = Cast(DType::kU64, Clamp(stored(i), 1, layout_.infinity()) - 1);
      const Expr infinite = U64(layout_.infinity() << layout_.fraction_bits);
      const Expr bits = ShiftedLeft(exponent, Expr(layout_.fraction_bits)) + fraction(i);
      const Expr is_zero = Or(Eq(digits_(i), U64(0)), Lt(exponent_(i), kLeastPower));
      return Select(is_zero, U64(0),
                    Select(Lt(kMostPower, exponent_(i)), infinite, Min(bits, infinite)));
    });
  }

  OpContext& op_;
  const FloatLayout layout_;
  const Shape dims_;
  const Element digits_, exponent_;
};

}  // namespace

Element NearestFloat(OpContext& op, const Shape& dims, const Decimal& numbers,
                     const FloatLayout& layout, const Tensor& table) {
  return Rounding(op, dims, numbers, layout).Bits(table);
}

}  // namespace aotc
