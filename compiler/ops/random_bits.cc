#include "compiler/ops/random_bits.h"

#include <cmath>

namespace aotc {
namespace {

// Of SplitMix64 (Steele, Lea and Flood, 2014).
constexpr uint64_t kStep = 0x9e3779b97f4a7c15, kFirst = 0xbf58476d1ce4e5b9,
                   kSecond = 0x94d049bb133111eb;
constexpr int kWidth = 64;

uint64_t Mixed(uint64_t z) {
  z = (z ^ (z >> 30)) * kFirst;
  z = (z ^ (z >> 27)) * kSecond;
  return z ^ (z >> 31);
}

Expr Word(uint64_t value) { return IntConst(static_cast<int64_t>(value), DType::kU64); }

Expr XorShifted(const Expr& z, uint64_t count) {
  return Binary(ExprOp::kBitXor, z, Binary(ExprOp::kShiftRight, z, Word(count)));
}

int MantissaBits(DType type) { return type == DType::kF64 ? 53 : 24; }

}  // namespace

RandomStream::RandomStream(int64_t number) : key_(Mixed(static_cast<uint64_t>(number) + kStep)) {}

RandomStream RandomStream::Other(uint64_t which) const {
  RandomStream other = *this;
  other.key_ = Mixed(key_ ^ (which * kStep));
  return other;
}

Expr RandomStream::Bits(const Expr& position) const {
  const Expr z = Cast(DType::kU64, position) * Word(kStep) + Word(key_);
  return XorShifted(XorShifted(XorShifted(z, 30) * Word(kFirst), 27) * Word(kSecond), 31);
}

Expr RandomStream::HighBits(const Expr& position, DType type, int count) const {
  const Expr shift = Word(static_cast<uint64_t>(kWidth - count));
  // Below 2^53, where a signed integer becomes a float at less cost.
  return Cast(type, Cast(DType::kI64, Binary(ExprOp::kShiftRight, Bits(position), shift)));
}

Expr RandomStream::Uniform(const Expr& position, DType type) const {
  const int count = MantissaBits(type);
  return HighBits(position, type, count) * FloatConst(std::ldexp(1.0, -count), type);
}

Expr RandomStream::InnerUniform(const Expr& position, DType type) const {
  const int count = MantissaBits(type) - 1;
  return (HighBits(position, type, count) + FloatConst(0.5, type)) *
         FloatConst(std::ldexp(1.0, -count), type);
}

}  // namespace aotc
