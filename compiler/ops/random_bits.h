// Random numbers as expressions: element k of stream s is a function of s and k alone (SplitMix64),
// so that every target draws the same ones, in any order.
//
//   const RandomStream stream(op.attributes().Int(kStreamAttribute));
//   stream.Uniform(position, DType::kF32);           // in [0, 1)
//   stream.Other(1).Uniform(position, DType::kF32);  // independent of these
//
// A node has one stream, from its seed or else its name (import/opset_rules.h): it gives the same
// numbers whenever it runs, in every run of the model and in every round of a loop.
#ifndef AOTC_COMPILER_OPS_RANDOM_BITS_H_
#define AOTC_COMPILER_OPS_RANDOM_BITS_H_

#include <cstdint>

#include "compiler/ir/expr.h"

namespace aotc {

inline constexpr const char kStreamAttribute[] = "stream";

class RandomStream {
 public:
  explicit RandomStream(int64_t number);

  // Another stream of the same number.
  RandomStream Other(uint64_t which) const;
  // u64, all bits random; `position` is an i64 that is not negative.
  Expr Bits(const Expr& position) const;
  // Multiples of 2^-24 in [0, 1) for f32, of 2^-53 for f64.
  Expr Uniform(const Expr& position, DType type) const;
  // In (0, 1): halfway between two of the multiples of 2^-23 or 2^-52.
  Expr InnerUniform(const Expr& position, DType type) const;

 private:
  Expr HighBits(const Expr& position, DType type, int count) const;

  uint64_t key_ = 0;
};

}  // namespace aotc

#endif  // AOTC_COMPILER_OPS_RANDOM_BITS_H_
