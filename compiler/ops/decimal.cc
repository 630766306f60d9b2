#include "compiler/ops/decimal.h"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "compiler/ir/small_float.h"

namespace aotc {
namespace {

// A whole number of any length, 32 bits to a digit, the lowest first.
class Whole {
 public:
  explicit Whole(uint32_t value) : digits_{value} {}

  // 2^bits.
  static Whole PowerOfTwo(int64_t bits) {
    Whole power(0);
    power.digits_.assign(static_cast<size_t>(bits / 32) + 1, 0);
    power.digits_.back() = uint32_t{1} << (bits % 32);
    return power;
  }

  void Multiply(uint32_t factor) {
    uint64_t carry = 0;
    for (uint32_t& digit : digits_) {
      carry += uint64_t{digit} * factor;
      digit = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
    if (carry != 0) digits_.push_back(static_cast<uint32_t>(carry));
  }

  // Rounded down.
  void Divide(uint32_t divisor) {
    uint64_t rest = 0;
    for (size_t i = digits_.size(); i-- > 0;) {
      rest = rest << 32 | digits_[i];
      digits_[i] = static_cast<uint32_t>(rest / divisor);
      rest %= divisor;
    }
    while (digits_.size() > 1 && digits_.back() == 0) digits_.pop_back();
  }

  int64_t BitCount() const { return 32 * std::ssize(digits_) - std::countl_zero(digits_.back()); }

  // 64 bits, of which the highest is number `last`, 0 where there is none.
  uint64_t BitsUpTo(int64_t last) const {
    uint64_t bits = 0;
    for (int64_t i = last; i > last - 64; --i) bits = bits << 1 | Bit(i);
    return bits;
  }

  bool HasBitsBelow(int64_t end) const {
    for (int64_t i = 0; i < end; ++i) {
      if (Bit(i) != 0) return true;
    }
    return false;
  }

 private:
  uint64_t Bit(int64_t i) const {
    if (i < 0 || i / 32 >= std::ssize(digits_)) return 0;
    return digits_[static_cast<size_t>(i / 32)] >> (i % 32) & 1;
  }

  std::vector<uint32_t> digits_;
};

struct Bits128 {
  uint64_t high = 0, low = 0;
};

// The first 128 bits of a number, rounded up where it has more, or `more` of which are not shown.
Bits128 FirstBits(const Whole& number, bool more) {
  const int64_t last = number.BitCount() - 1;
  Bits128 bits = {number.BitsUpTo(last), number.BitsUpTo(last - 64)};
  if (more || number.HasBitsBelow(last - 127)) bits.high += ++bits.low == 0 ? 1 : 0;
  return bits;
}

// Those of 5^power, which 10^power differs from by a power of two.
Bits128 PowerOfFive(int64_t power) {
  constexpr int64_t kEnoughBits = 1024;  // 5^342 has 795
  Whole number = power < 0 ? Whole::PowerOfTwo(kEnoughBits) : Whole(1);
  for (int64_t i = 0; i < power; ++i) number.Multiply(5);
  for (int64_t i = 0; i > power; --i) number.Divide(5);
  return FirstBits(number, power < 0);
}

void StoreU64(std::vector<uint8_t>& bytes, uint64_t value) {
  for (int byte = 0; byte < 8; ++byte) bytes.push_back(static_cast<uint8_t>(value >> (8 * byte)));
}

}  // namespace

Constant PowersOfTenIn128Bits() {
  static_assert(std::endian::native == std::endian::little);
  std::vector<uint8_t> bytes;
  for (int64_t power = kLeastPower; power <= kMostPower; ++power) {
    const Bits128 bits = PowerOfFive(power);
    StoreU64(bytes, bits.high);
    StoreU64(bytes, bits.low);
  }
  return Constant::Dense(DType::kU64, {kMostPower - kLeastPower + 1, 2}, std::move(bytes));
}

Constant PowersOfTenIn64Bits() {
  std::vector<uint8_t> bytes;
  uint64_t power = 1;
  for (int64_t k = 0; k < kPowersIn64Bits; ++k, power *= 10) StoreU64(bytes, power);
  return Constant::Dense(DType::kU64, {kPowersIn64Bits}, std::move(bytes));
}

std::optional<FloatLayout> LayoutOfFloat(DType type) {
  if (type == DType::kF64) return FloatLayout{52, 11, DType::kU64};
  if (type == DType::kF32) return FloatLayout{23, 8, DType::kU32};
  if (type != DType::kF16 && type != DType::kBF16) return std::nullopt;
  const SmallFloat& small = *SmallFloatOf(type);
  return FloatLayout{small.mantissa_bits, small.bits - 1 - small.mantissa_bits, DType::kU16};
}

Element ElementsOf(const Tensor& x) {
  return [x](const Indices& i) { return x(i); };
}

Element Kept(OpContext& op, DType type, const Shape& dims, const Element& value) {
  return ElementsOf(op.b().Compute(type, dims, value));
}

Expr FloatParts::IsSpecial(const Indices& i) const {
  return Eq(exponent(i), U64(layout.infinity()));
}
Expr FloatParts::IsNan(const Indices& i) const {
  return And(IsSpecial(i), Ne(fraction(i), U64(0)));
}

FloatParts PartsOf(OpContext& op, const Tensor& x, const FloatLayout& layout) {
  const Element bits = Kept(op, DType::kU64, x.shape(), [&](const Indices& i) {
    return Cast(DType::kU64, BitCast(layout.bits, x.Stored(i)));
  });
  const int64_t fraction = layout.fraction_bits;
  const auto exponent = [bits, fraction, layout](const Indices& i) {
    return LowBits(ShiftedRight(bits(i), Expr(fraction)), U64(layout.infinity()));
  };
  const int64_t sign = fraction + layout.exponent_bits;
  return {layout, Kept(op, DType::kU64, x.shape(), exponent),
          [bits, fraction](const Indices& i) {
            return LowBits(bits(i), U64((int64_t{1} << fraction) - 1));
          },
          [bits, sign](const Indices& i) { return Ne(ShiftedRight(bits(i), Expr(sign)), U64(0)); }};
}

Expr ShiftedLeft(const Expr& x, const Expr& bits) {
  return Binary(ExprOp::kShiftLeft, x, Cast(x.dtype(), bits));
}
Expr ShiftedRight(const Expr& x, const Expr& bits) {
  return Binary(ExprOp::kShiftRight, x, Cast(x.dtype(), bits));
}
Expr LowBits(const Expr& x, const Expr& mask) { return Binary(ExprOp::kBitAnd, x, mask); }
Expr U64(int64_t value) { return IntConst(value, DType::kU64); }

// Of halves of 32 bits each, as by hand.
Wide FullProduct(OpContext& op, const Shape& dims, const Element& a, const Element& b) {
  const auto low = [](const Expr& x) { return LowBits(x, U64(0xFFFFFFFF)); };
  const auto high = [](const Expr& x) { return ShiftedRight(x, 32); };
  const auto keep = [&](const Element& value) { return Kept(op, DType::kU64, dims, value); };
  const Element across = keep([&](const Indices& i) { return low(a(i)) * high(b(i)); });
  const Element down = keep([&](const Indices& i) { return high(a(i)) * low(b(i)); });
  const Element middle = keep([&](const Indices& i) {
    return high(low(a(i)) * low(b(i))) + low(across(i)) + low(down(i));
  });
  const Element top = keep([&](const Indices& i) {
    return high(a(i)) * high(b(i)) + high(across(i)) + high(down(i)) + high(middle(i));
  });
  return {top, keep([&](const Indices& i) { return a(i) * b(i); })};
}

}  // namespace aotc
