// Random numbers as expressions: element k of stream s is a function of s and k alone (SplitMix64),
// so that every target draws the same ones, in any order.
//
//   const RandomStream stream(op.attributes().Int(kStreamAttribute));
//   Tensor bits = stream.Bits(op.b(), shape);       // u64, an element each
//   UniformOf(bits(i), DType::kF32);                // in [0, 1)
//   stream.Other(1).Bits(op.b(), shape);            // independent of these
//
// A node has one stream, from its seed or else its name (import/opset_rules.h): it gives the same
// numbers in every run of the model. Others come from a number of the run: the round of a loop, or
// the input that --random-seed-input adds. RandomKey makes it the last operand of the node:
//
//   %k: u64[] = RandomKey(_, %iteration)                other keys for other numbers
//   %y: f32[8] = RandomUniform(%k) {stream = 7}         and other y for other keys
//   %l: u64[] = RandomKey(%k, %inner_iteration)         of a number within the first one
#ifndef AOTC_COMPILER_OPS_RANDOM_BITS_H_
#define AOTC_COMPILER_OPS_RANDOM_BITS_H_

#include <cstdint>

#include "compiler/ir/expr.h"
#include "compiler/ir/graph.h"
#include "compiler/ops/tensor_builder.h"

namespace aotc {

inline constexpr const char kStreamAttribute[] = "stream";
inline constexpr const char kKeyedAttribute[] = "keyed";  // the last input is a key

class RandomStream {
 public:
  // `key`: u64, a number of the run that the stream depends on too.
  explicit RandomStream(int64_t number, Expr key = {});

  // Another stream of the same number.
  RandomStream Other(uint64_t which) const;
  // u64, all bits random, an element each by its position: in stages, as each step reads the one
  // before it twice.
  Tensor Bits(TensorBuilder& b, const Shape& shape) const;
  // The same of one element, as one expression; `position` is an i64 that is not negative.
  Expr BitsAt(const Expr& position) const;

 private:
  Expr First(const Expr& position) const;

  uint64_t start_ = 0;
  Expr key_;
};

// Of random bits, multiples of 2^-24 in [0, 1) for f32, of 2^-53 for f64.
Expr UniformOf(const Expr& bits, DType type);
// In (0, 1): halfway between two of the multiples of 2^-23 or 2^-52.
Expr InnerUniformOf(const Expr& bits, DType type);

// u64 []: of two numbers, an i64 within what a key stands for, or within nothing where it is
// invalid.
Tensor MixedKey(TensorBuilder& b, const Expr& key, const Expr& number);

// Puts a RandomKey of `number`, i64 [], before each node of the region that draws, and of those
// within, so that it draws other numbers for another one.
void DrawByNumber(Graph& graph, RegionId region, ValueId number);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPS_RANDOM_BITS_H_
