#include "compiler/lower/pack_elements.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "absl/strings/substitute.h"
#include "compiler/eval/evaluate.h"
#include "compiler/ir/kernel_text.h"

namespace aotc {
namespace {

constexpr const char* kTypes[] = {"uint2", "int2", "u4", "i4", "f4e2m1"};

Kernel Parsed(std::string_view text) {
  absl::StatusOr<Kernel> kernel = ParseKernel(text);
  EXPECT_TRUE(kernel.ok()) << kernel.status() << "\n" << text;
  EXPECT_TRUE(VerifyKernel(*kernel).ok());
  return *std::move(kernel);
}

Constant Evaluated(const Kernel& kernel, const Constant& input, const SymbolValues& symbols = {}) {
  EXPECT_TRUE(VerifyKernel(kernel).ok()) << VerifyKernel(kernel) << PrintKernel(kernel);
  absl::StatusOr<std::vector<Constant>> outputs = EvaluateKernel(kernel, {input}, symbols);
  EXPECT_TRUE(outputs.ok()) << outputs.status() << PrintKernel(kernel);
  return std::move((*outputs)[0]);
}

// What the kernel writes as bytes, in one stage and by a second kernel, is how its result is
// stored.
void ExpectPacked(const Kernel& kernel, const Constant& input, const SymbolValues& symbols = {}) {
  const Constant expected = Evaluated(kernel, input, symbols);
  const absl::StatusOr<Kernel> codes = WithBytePerElement(kernel);
  ASSERT_TRUE(codes.ok()) << codes.status();
  EXPECT_FALSE(ComputesPacked(*codes));
  const TensorId result = kernel.params.back();
  const std::optional<Kernel> one = PackedInOneStage(*codes, kernel.tensors[result].dtype);
  ASSERT_TRUE(one.has_value());
  const Constant direct = Evaluated(*one, input, symbols);
  EXPECT_EQ(direct.dtype(), DType::kU8);
  EXPECT_TRUE(std::ranges::equal(direct.bytes(), expected.bytes())) << PrintKernel(*one);
  const Kernel packing = PackingKernel(kernel, result);
  const Constant behind = Evaluated(packing, Evaluated(*codes, input, symbols), symbols);
  EXPECT_TRUE(std::ranges::equal(behind.bytes(), expected.bytes())) << PrintKernel(packing);
}

TEST(PackElements, BytesAreThoseOfTheResult) {
  for (const char* type : kTypes) {
    for (const auto& [shape, axes, index] : {std::tuple("8", "i<8", "i"),
                                             {"9", "i<9", "i"},
                                             {"3, 5", "i<3, j<5", "i, j"},
                                             {"3, 4", "i<3, j<4", "i, j"},
                                             {"2, 3, 1", "i<2, j<3, k<1", "i, j, k"},
                                             {"", "", ""},
                                             {"1", "i<1", "i"}}) {
      const Kernel kernel = Parsed(absl::Substitute(
          "kernel @k(in %x: f32[$0], out %y: $1[$0]) {\n  %y[$2] = $1(%x[$3] * 5.0)\n}", shape,
          type, axes, index));
      std::vector<int64_t> dims;
      for (const Expr& dim : kernel.tensors[kernel.params[0]].shape) dims.push_back(*dim.AsInt());
      ExpectPacked(kernel, Constant::Random(DType::kF32, dims, 3));
    }
  }
}

TEST(PackElements, RowsOfAnyLengthShareBytes) {
  for (const char* type : kTypes) {
    const Kernel kernel = Parsed(absl::Substitute(
        R"(kernel @k(in %x: $0[m, n], out %y: $0[n, m]) {
             symbol m in 1..9
             symbol n in 1..9
             %y[i<n, j<m] = %x[j, i]
           })",
        type));
    for (int64_t m = 1; m < 6; ++m) {
      for (int64_t n = 1; n < 6; ++n) {
        const Constant input = Constant::Random(kernel.tensors[kernel.params[0]].dtype, {m, n}, 4);
        ExpectPacked(kernel, input, {{"m", m}, {"n", n}});
      }
    }
  }
}

TEST(PackElements, StagesBeforeTheResultAreSubstituted) {
  const Kernel kernel = Parsed(R"(kernel @k(in %x: f32[7], out %y: i4[7]) {
      temp %t: f32[7]
      temp %u: i4[7]
      %t[i<7] = %x[i] * 9.0
      %u[i<7] = i4(%t[6 - i])
      %y[i<7] = i4(i32(%u[i]) + i32:1)
    })");
  ExpectPacked(kernel, Constant::Random(DType::kF32, {7}, 5));
}

TEST(PackElements, OtherKernelsWriteAByteForEachElement) {
  const Kernel kernel = Parsed(R"(kernel @k(in %x: f32[3, 4], out %y: i4[3], out %z: uint2[3]) {
      temp %s: f32[3]
      %s[i<3] = reduce sum(r<4) %x[i, r]
      %y[i<3] = i4(%s[i])
      %z[i<3] = uint2(i32(%y[i]))
    })");
  const absl::StatusOr<Kernel> codes = WithBytePerElement(kernel);
  ASSERT_TRUE(codes.ok()) << codes.status();
  EXPECT_FALSE(PackedInOneStage(*codes, DType::kU2).has_value());
  const Constant input = Constant::Random(DType::kF32, {3, 4}, 6);
  const std::vector<Constant> expected = *EvaluateKernel(kernel, {input});
  const std::vector<Constant> bytes = *EvaluateKernel(*codes, {input});
  for (size_t i = 0; i < 2; ++i) {
    const Constant packed = Evaluated(PackingKernel(kernel, kernel.params[i + 1]), bytes[i]);
    EXPECT_TRUE(std::ranges::equal(packed.bytes(), expected[i].bytes()));
  }
}

TEST(PackElements, ReductionsOfThemAreRefused) {
  const Kernel kernel = Parsed(R"(kernel @k(in %x: i4[3, 4], out %y: i4[3]) {
      %y[i<3] = reduce max(r<4) %x[i, r]
    })");
  EXPECT_EQ(
      WithBytePerElement(kernel).status().message(),
      "node : 'y' has elements of type i4, which reductions do not give; hint: cast to a type "
      "of 8 bits in front of it");
}

}  // namespace
}  // namespace aotc
