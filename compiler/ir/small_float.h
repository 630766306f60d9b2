// Floats of 16 bits and fewer: conversion from and to double for all formats, by one pair of
// functions.
//
//   const SmallFloat* half = SmallFloatOf(DType::kF16);
//   EncodeSmallFloat(*half, 1.0);      // 0x3c00
//   DecodeSmallFloat(*half, 0x3c00);   // 1.0
#ifndef AOTC_COMPILER_IR_SMALL_FLOAT_H_
#define AOTC_COMPILER_IR_SMALL_FLOAT_H_

#include <cstdint>

#include "compiler/ir/dtype.h"

namespace aotc {

struct SmallFloat {
  int bits;  // sign, exponent and mantissa
  int mantissa_bits;
  int bias;
  uint16_t largest;  // code of the largest finite magnitude
  uint16_t beyond;   // what overflow gives: infinity, or else NaN, or else the largest
  uint16_t nan;      // code of a quiet NaN
  bool has_negative_zero;
  bool is_power = false;  // powers of two, without sign, zero or infinity: `bits` of exponent
};

// The format of f16, bf16, f8 and f4 types; null for others.
const SmallFloat* SmallFloatOf(DType type);

// Rounds to the nearest value, ties to even. A power of two is that of the magnitude, rounded up
// and limited to the least and the largest, as ONNX's Cast does by default.
uint16_t EncodeSmallFloat(const SmallFloat& format, double value);
double DecodeSmallFloat(const SmallFloat& format, uint16_t code);

// The magnitudes of the least and the largest normal number of a float type.
struct NormalRange {
  double least;
  double largest;
};
NormalRange NormalRangeOf(DType type);

}  // namespace aotc

#endif  // AOTC_COMPILER_IR_SMALL_FLOAT_H_
