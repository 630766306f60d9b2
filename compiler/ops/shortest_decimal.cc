#include <utility>

#include "compiler/ops/decimal.h"
#include "compiler/ops/helpers.h"

namespace aotc {
namespace {

// The shortest decimal number between the middles to both neighbours of a float, the one nearest to
// it among those: c * 2^q is looked at 4 c times finer, and scaled to 10^k with 128 bits.
class Shortest {
 public:
  Shortest(OpContext& op, const Shape& dims, const FloatParts& floats, const Tensor& table)
      : op_(op), dims_(dims), x_(floats), table_(table) {}

  Decimal Find() {
    const int64_t hidden = int64_t{1} << x_.layout.fraction_bits;
    const Element c = Keep([&](const Indices& i) {
      return x_.fraction(i) + Select(Eq(x_.exponent(i), U64(0)), U64(0), U64(hidden));
    });
    ReadScale();
    // In quarters of the last place: the number, and the middles on both sides, of which the lower
    // one is nearer below a power of two.
    const Element least = Scaled(
        [&](const Indices& i) { return c(i) * U64(4) - Select(is_power_(i), U64(1), U64(2)); });
    const Element own = Scaled([&](const Indices& i) { return c(i) * U64(4); });
    const Element most = Scaled([&](const Indices& i) { return c(i) * U64(4) + U64(2); });
    const auto is_odd = [&](const Indices& i) { return LowBits(c(i), U64(1)); };
    const Element lower = Keep([&](const Indices& i) { return least(i) + is_odd(i); });
    const Element upper = Keep([&](const Indices& i) { return most(i) - is_odd(i); });
    return Nearest(own, lower, upper);
  }

 private:
  Element Keep(const Element& value) const { return Kept(op_, DType::kU64, dims_, value); }
  Element KeepInt(const Element& value) const { return Kept(op_, DType::kI64, dims_, value); }

  // k, the exponent of ten, by logarithms in fixed point, and what scales to it.
  void ReadScale() {
    const FloatLayout& layout = x_.layout;
    const int64_t bias = layout.bias() + layout.fraction_bits;
    is_power_ = [&x = x_](const Indices& i) {
      return And(Eq(x.fraction(i), U64(0)), Lt(U64(1), x.exponent(i)));
    };
    const Element q =
        KeepInt([&](const Indices& i) { return Max(Cast(DType::kI64, x_.exponent(i)), 1) - bias; });
    k_ = KeepInt([&](const Indices& i) {
      constexpr int64_t kLogOfTwo = 1262611, kLogOfThreeQuarters = 524031;  // of 10, times 2^22
      const Expr less = Select(is_power_(i), Expr(kLogOfThreeQuarters), 0);
      return FloorDiv(q(i) * kLogOfTwo - less, int64_t{1} << 22);
    });
    shift_ = KeepInt([&](const Indices& i) {
      constexpr int64_t kLogOfTen = 1741647;  // of 2, times 2^19
      return q(i) + FloorDiv(-k_(i) * kLogOfTen, int64_t{1} << 19) + 1;
    });
    const auto power = [&](int64_t half) {
      return Keep([&, half](const Indices& i) {
        const Expr row = Clamp(-k_(i), kLeastPower, kMostPower) - kLeastPower;
        return table_({row, Expr(half)});
      });
    };
    high_ = power(0);
    low_ = power(1);
  }

  // The high bits of the power times x * 2^shift, the last of them set where others are.
  Element Scaled(const Element& x) const {
    const Element shifted =
        Keep([&](const Indices& i) { return ShiftedLeft(x(i), Clamp(shift_(i), 0, 63)); });
    const Wide below = FullProduct(op_, dims_, low_, shifted);
    const Wide above = FullProduct(op_, dims_, high_, shifted);
    const Element middle = Keep([&](const Indices& i) { return above.low(i) + below.high(i); });
    return Keep([&](const Indices& i) {
      const Expr carry = Cast(DType::kU64, Lt(middle(i), above.low(i)));
      const Expr rest = Cast(DType::kU64, Lt(U64(1), middle(i)));
      return Binary(ExprOp::kBitOr, above.high(i) + carry, rest);
    });
  }

  // One digit less where just one such number lies between; else the nearer one of this many.
  Decimal Nearest(const Element& own, const Element& lower, const Element& upper) const {
    const Element s = Keep([&](const Indices& i) { return ShiftedRight(own(i), 2); });
    const Element tens = Keep([&](const Indices& i) { return Div(s(i), U64(10)); });
    const auto between = [&](const Expr& below, const Expr& step, const Indices& i) {
      return std::pair(Le(lower(i), below), Le(below + step, upper(i)));
    };
    const auto bool_of = [&](const Element& value) {
      return Kept(op_, DType::kBool, dims_, value);
    };
    const Element is_short = bool_of([&](const Indices& i) {
      const auto [down, up] = between(tens(i) * U64(40), U64(40), i);
      return And(Le(U64(10), s(i)), Ne(down, up));
    });
    const Element goes_up = bool_of([&](const Indices& i) {
      const auto [down, up] = between(s(i) * U64(4), U64(4), i);
      const Expr middle = s(i) * U64(4) + U64(2);
      const Expr is_odd = Ne(LowBits(s(i), U64(1)), U64(0));
      const Expr nearer = Or(Lt(middle, own(i)), And(Eq(own(i), middle), is_odd));
      return Select(Ne(down, up), up, nearer);
    });
    const Element digits = Keep([&](const Indices& i) {
      const Expr up = Le(tens(i) * U64(40) + U64(40), upper(i));
      return Select(is_short(i), tens(i) + Cast(DType::kU64, up),
                    s(i) + Cast(DType::kU64, goes_up(i)));
    });
    const auto exponent = [&](const Indices& i) { return k_(i) + Cast(DType::kI64, is_short(i)); };
    return {digits, KeepInt(exponent)};
  }

  OpContext& op_;
  const Shape dims_;
  const FloatParts& x_;
  const Tensor table_;
  Element is_power_, k_, shift_, high_, low_;
};

}  // namespace

Decimal ShortestDecimal(OpContext& op, const Shape& dims, const FloatParts& floats,
                        const Tensor& table) {
  return Shortest(op, dims, floats, table).Find();
}

}  // namespace aotc
