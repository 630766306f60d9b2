// What is shared by conversions between floats and their decimal digits, both ways exact: powers of
// ten to 128 bits, products of 128 bits, and how a float's bits are laid out.
//
//   const Wide product = FullProduct(op, dims, a, b);      // of two u64 at each element
//   product.high(i), product.low(i)
#ifndef AOTC_COMPILER_OPS_DECIMAL_H_
#define AOTC_COMPILER_OPS_DECIMAL_H_

#include <cstdint>
#include <functional>
#include <optional>

#include "compiler/ops/op.h"

namespace aotc {

// Powers of ten that a product of 64 bits may need to become an f64, or be made of one.
inline constexpr int64_t kLeastPower = -342, kMostPower = 324;
// Up to this one they are exact; beyond, and below 1, rounded up.
inline constexpr int64_t kLastExactPower = 55;

// u64 [powers, 2]: of 10^kLeastPower on, the first 128 bits: the 64 high ones, whose first is set,
// and the 64 low ones.
Constant PowersOfTenIn128Bits();
// u64 [20]: 10^k for all k that 64 bits hold.
inline constexpr int64_t kPowersIn64Bits = 20;
Constant PowersOfTenIn64Bits();

// A float as 1 sign bit, bits of the exponent and bits of the fraction.
struct FloatLayout {
  int64_t fraction_bits = 0;
  int64_t exponent_bits = 0;
  DType bits = {};  // the unsigned integer of its width

  int64_t bias() const { return (int64_t{1} << (exponent_bits - 1)) - 1; }
  // The exponent of infinity, as it is stored.
  int64_t infinity() const { return (int64_t{1} << exponent_bits) - 1; }
};
// Nothing for other types than f16, bf16, f32 and f64.
std::optional<FloatLayout> LayoutOfFloat(DType type);

// A number at each element.
using Element = std::function<Expr(const Indices&)>;
Element ElementsOf(const Tensor& x);

// A value that is computed once at each element, however often it is read.
Element Kept(OpContext& op, DType type, const Shape& dims, const Element& value);

struct Wide {
  Element high = {}, low = {};  // u64
};
Wide FullProduct(OpContext& op, const Shape& dims, const Element& a, const Element& b);

// A tensor's floats, taken apart.
struct FloatParts {
  FloatLayout layout = {};
  Element exponent = {}, fraction = {};  // u64, as they are stored
  Element is_negative = {};              // bool, of the sign bit

  Expr IsSpecial(const Indices& i) const;  // infinite, or not a number
  Expr IsNan(const Indices& i) const;
};
FloatParts PartsOf(OpContext& op, const Tensor& x, const FloatLayout& layout);

// digits * 10^exponent at each element.
struct Decimal {
  Element digits = {};    // u64
  Element exponent = {};  // i64
};

// Of positive floats the decimal numbers of the fewest digits that are nearer to them than to their
// neighbours, and of those the nearest, as Schubfach finds them (Giulietti, "The Schubfach way to
// render doubles"). `table`: powers of ten in 128 bits.
Decimal ShortestDecimal(OpContext& op, const Shape& dims, const FloatParts& floats,
                        const Tensor& table);

// The nearest floats, halves to even, as exponent and fraction are stored, u64; that of infinity
// where they are beyond all. At most 19 digits, by the algorithm of Lemire ("Number parsing at a
// gigabyte per second"), for which 128 bits of the power are enough (Mushtak and Lemire, "Fast
// number parsing without fallback").
Element NearestFloat(OpContext& op, const Shape& dims, const Decimal& numbers,
                     const FloatLayout& layout, const Tensor& table);

// Shorter forms on integers.
Expr ShiftedLeft(const Expr& x, const Expr& bits);
Expr ShiftedRight(const Expr& x, const Expr& bits);
Expr LowBits(const Expr& x, const Expr& mask);
Expr U64(int64_t value);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPS_DECIMAL_H_
