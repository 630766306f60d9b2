#include "compiler/eval/evaluate.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/substitute.h"
#include "compiler/ir/expr_simplify.h"
#include "compiler/ir/kernel_text.h"
#include "compiler/ops/tensor_builder.h"
#include "gtest/gtest.h"
#include "tests/unit/naive_evaluator.h"

namespace aotc {
namespace {

constexpr DType kF32 = DType::kF32;

// Evaluates with both evaluators and compares; returns the outputs.
std::vector<Constant> Check(const Kernel& kernel, const std::vector<Constant>& inputs,
                            const SymbolValues& symbols = {}) {
  absl::StatusOr<std::vector<Constant>> actual = EvaluateKernel(kernel, inputs, symbols);
  EXPECT_TRUE(actual.ok()) << actual.status();
  if (!actual.ok()) return {};
  std::vector<Constant> expected = NaiveEvaluator(kernel, inputs, symbols).Run();
  EXPECT_EQ(actual->size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_LE(RelativeError((*actual)[i], expected[i]), 1e-6) << kernel.name << " output " << i;
  }
  return *actual;
}

Constant F32(std::vector<int64_t> dims, const std::vector<float>& values) {
  std::vector<uint8_t> bytes(values.size() * 4);
  for (size_t i = 0; i < values.size(); ++i) StoreElement(kF32, bytes.data(), i, values[i]);
  return Constant::Dense(kF32, std::move(dims), std::move(bytes));
}

Kernel MatMul(int64_t m, int64_t n, int64_t k, DType dtype, DType accumulator) {
  TensorBuilder b("matmul");
  Tensor x = b.Input("x", dtype, {m, k}), w = b.Input("w", dtype, {k, n});
  b.SetOutput(0, b.Reduce("sum", accumulator, {m, n}, {k}, [&](const Indices& i, const Indices& r) {
    return Cast(accumulator, x({i[0], r[0]})) * Cast(accumulator, w({r[0], i[1]}));
  }));
  return b.Finish({});
}

TEST(TensorBuilder, ShapesStayWhereTheyAreAsTensorsAreAdded) {
  TensorBuilder b("many");
  const Tensor x = b.Input("x", kF32, {2, 3});
  const Shape& shape = x.shape();
  for (int i = 0; i < 100; ++i) b.Compute(kF32, shape, [](const Indices&) { return Expr(0); });
  EXPECT_EQ(&x.shape(), &shape);
}

TEST(EvaluateKernel, MatMulOfManyShapes) {
  for (auto [m, n, k] :
       {std::array<int64_t, 3>{3, 5, 7}, {1, 300, 2}, {2, 1, 513}, {1, 1, 1}, {4, 257, 9}}) {
    Constant x = Constant::Random(kF32, {m, k}, 1), w = Constant::Random(kF32, {k, n}, 2);
    Check(MatMul(m, n, k, kF32, kF32), {x, w});
    Check(MatMul(m, n, k, DType::kI8, DType::kI32),
          {Constant::Random(DType::kI8, {m, k}, 1), Constant::Random(DType::kI8, {k, n}, 2)});
  }
}

Kernel PaddedConv(int64_t size, int64_t kernel, int64_t stride, int64_t pad, int64_t channels) {
  TensorBuilder b("conv");
  Tensor x = b.Input("x", kF32, {1, channels, size, size});
  Tensor w = b.Input("w", kF32, {channels, channels, kernel, kernel});
  int64_t out = (size + 2 * pad - kernel) / stride + 1;
  auto body = [&](const Indices& i, const Indices& r) {
    Expr h = i[2] * stride + r[1] - pad, v = i[3] * stride + r[2] - pad;
    Expr inside = And(And(Le(0, h), Lt(h, size)), And(Le(0, v), Lt(v, size)));
    return Select(inside, x({i[0], r[0], h, v}), FloatConst(0)) * w({i[1], r[0], r[1], r[2]});
  };
  b.SetOutput(0, b.Reduce("sum", kF32, {1, channels, out, out}, {channels, kernel, kernel}, body));
  return b.Finish({});
}

TEST(EvaluateKernel, ConvolutionGuardsItsBorders) {
  for (auto [size, kernel, stride, pad, channels] : {std::array<int64_t, 5>{7, 3, 1, 1, 2},
                                                     {8, 3, 2, 1, 3},
                                                     {5, 5, 1, 4, 2},
                                                     {300, 3, 1, 1, 1},
                                                     {3, 2, 3, 1, 40}}) {
    Check(PaddedConv(size, kernel, stride, pad, channels),
          {Constant::Random(kF32, {1, channels, size, size}, 1),
           Constant::Random(kF32, {channels, channels, kernel, kernel}, 2)});
  }
}

TEST(EvaluateKernel, SymbolsHaveValues) {
  TensorBuilder b("rows");
  Expr m = Var("m");
  Tensor x = b.Input("x", kF32, {m, 3});
  b.SetOutput(0,
              b.Compute(kF32, {m, 3}, [&](const Indices& i) { return x({m - 1 - i[0], i[1]}); }));
  Kernel kernel = b.Finish({{.name = "m", .var = "m", .min = 1, .max = 9}});
  Constant x_value = Constant::Random(kF32, {4, 3}, 3);
  Check(kernel, {x_value}, {{"m", 4}});
  EXPECT_FALSE(EvaluateKernel(kernel, {x_value}, {{"m", 5}}).ok());
  EXPECT_FALSE(EvaluateKernel(kernel, {x_value}).ok());
}

// First index of the largest element: a tuple whose order of operands matters on ties.
Combiner ArgMax() {
  Expr a = Var("a0", kF32), b = Var("b0", kF32), i = Var("a1"), j = Var("b1");
  Expr keep = Or(Lt(b, a), And(Eq(a, b), Lt(i, j)));
  return {.identity = {FloatConst(-INFINITY), Expr(-1)},
          .combine = {Select(keep, a, b), Select(keep, i, j)}};
}

TEST(EvaluateKernel, TupleReductionAlongEitherKindOfRow) {
  for (auto [rows, columns] :
       {std::array<int64_t, 2>{3, 700}, {700, 3}, {1, 1}, {2, 1}, {1, 257}}) {
    TensorBuilder b("argmax");
    Tensor x = b.Input("x", kF32, {rows, columns});
    std::vector<Tensor> results =
        b.ReduceTuple(ArgMax(), {rows}, {columns}, [&](const Indices& i, const Indices& r) {
          return std::vector<Expr>{Unary(ExprOp::kFloor, x({i[0], r[0]}) * FloatConst(4)), r[0]};
        });
    b.SetOutput(0, results[0]);
    b.SetOutput(1, results[1]);
    Check(b.Finish({}), {Constant::Random(kF32, {rows, columns}, 5)});
  }
}

// A fold that keeps the last element: associative, not commutative.
TEST(EvaluateKernel, FoldKeepsTheOrderOfOperands) {
  Combiner last = {.identity = {Expr(-1)},
                   .combine = {Select(Lt(Var("b0"), 0), Var("a0"), Var("b0"))}};
  for (int64_t size : {1, 2, 3, 255, 256, 257, 1000}) {
    TensorBuilder b("last");
    Tensor x = b.Input("x", DType::kI64, {size});
    std::vector<Tensor> results = b.ReduceTuple(
        last, {}, {size},
        [&](const Indices&, const Indices& r) { return std::vector<Expr>{x({r[0]})}; });
    b.SetOutput(0, results[0]);
    Check(b.Finish({}), {Constant::Random(DType::kI64, {size}, 7)});
  }
}

// Attention's accumulator: maximum, sum and weighted row; the row has one axis more than the
// others.
TEST(EvaluateKernel, ComponentsMayHaveFewerAxes) {
  Expr a = Var("a0", kF32), b0 = Var("b0", kF32), top = Max(a, b0);
  auto merged = [&](const char* x, const char* y) {
    return Var(x, kF32) * Exp(a - top) + Var(y, kF32) * Exp(b0 - top);
  };
  Combiner attention = {.identity = {FloatConst(-1e30), FloatConst(0), FloatConst(0)},
                        .combine = {top, merged("a1", "b1"), merged("a2", "b2")}};
  Kernel kernel;
  auto add = [&](const char* name, Shape shape, TensorRole role) {
    TensorId id =
        kernel.tensors.Add({.name = name, .dtype = kF32, .shape = std::move(shape), .role = role});
    kernel.params.push_back(id);
    return id;
  };
  int64_t m = 5, d = 6, n = 11;
  TensorId scores = add("scores", {m, n}, TensorRole::kInput),
           v = add("v", {n, d}, TensorRole::kInput);
  TensorId top_out = add("top", {m}, TensorRole::kOutput),
           sum = add("sum", {m}, TensorRole::kOutput);
  TensorId row = add("row", {m, d}, TensorRole::kOutput);
  Expr i = Var("i"), j = Var("j"), k = Var("k");
  kernel.stages.push_back(
      {.results = {{top_out, 1}, {sum, 1}, {row, 2}},
       .axes = {{"i", m}, {"j", d}},
       .reduce_axes = {{"k", n}},
       .combiner = attention,
       .body = {Load(scores, {i, k}, kF32), FloatConst(1), Load(v, {k, j}, kF32)}});
  Check(kernel, {Constant::Random(kF32, {m, n}, 1), Constant::Random(kF32, {n, d}, 2)});
}

TEST(EvaluateKernel, SelectsGuardLoadsInAnyForm) {
  TensorBuilder b("guards");
  Tensor x = b.Input("x", kF32, {10}), c = b.Input("c", DType::kBool, {30});
  auto output = [&](int index, const std::function<Expr(const Expr&)>& condition) {
    b.SetOutput(index, b.Compute(kF32, {30}, [&](const Indices& i) {
      return Select(condition(i[0]), x({i[0] - 10}), FloatConst(7));
    }));
  };
  auto outside = [](const Expr& i) { return Or(Lt(i, 10), Le(20, i)); };
  b.SetOutput(0, b.Compute(kF32, {30}, [&](const Indices& i) {
    return Select(outside(i[0]), FloatConst(3), x({i[0] - 10}));
  }));
  output(1, [&](const Expr& i) { return Not(outside(i)); });
  output(2, [&](const Expr& i) { return And(Not(outside(i)), Eq(Mod(i, 3), 0)); });
  output(3, [&](const Expr& i) { return And(Eq(Mod(i, 3), 0), Not(outside(i))); });
  output(4, [&](const Expr& i) { return Eq(i, 15); });
  output(5, [&](const Expr& i) { return And(Ne(i, 15), Not(outside(i))); });
  output(6, [&](const Expr& i) { return And(c({i}), Not(outside(i))); });
  // Not linear, so that only the chosen lanes may be loaded.
  output(7, [&](const Expr& i) { return Eq(FloorDiv(Mod(i * 7, 30), 10), 1); });
  b.SetOutput(8, b.Compute(kF32, {30}, [&](const Indices& i) {
    return Select(c({i[0]}), x({Mod(i[0], 10)}), FloatConst(1));
  }));
  Kernel kernel = b.Finish({});
  std::vector<Constant> inputs = {Constant::Random(kF32, {10}, 1),
                                  Constant::Random(DType::kBool, {30}, 2)};
  // Output 7 reads out of range in chosen lanes: an error, not a wrong number.
  EXPECT_EQ(EvaluateKernel(kernel, inputs).status().code(), absl::StatusCode::kOutOfRange);
  std::erase_if(kernel.stages, [&](const Stage& stage) {
    return stage.results[0].tensor == kernel.params[kernel.params.size() - 2];
  });
  kernel.params.erase(kernel.params.end() - 2);
  Check(kernel, inputs);
}

TEST(EvaluateKernel, IndexOutOfRangeIsAnError) {
  TensorBuilder b("gather");
  Tensor x = b.Input("x", kF32, {4}), index = b.Input("index", DType::kI64, {3});
  b.SetOutput(0, b.Compute(kF32, {3}, [&](const Indices& i) { return x({index({i[0]})}); }));
  Kernel kernel = b.Finish({});
  Constant data = F32({4}, {1, 2, 3, 4});
  std::vector<Constant> y = Check(kernel, {data, Constant::Ints({3, 0, 1})});
  EXPECT_EQ(y[0].FloatAt(0), 4);
  absl::Status status = EvaluateKernel(kernel, {data, Constant::Ints({3, 4, 1})}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_NE(status.message().find("index 4 is outside 0..3 of axis 0"), std::string::npos)
      << status;
}

TEST(EvaluateKernel, LargeSplatsStaySplats) {
  std::vector<int64_t> dims = {1 << 15, 1 << 15};  // 4 GiB if it were dense
  TensorBuilder b("splat");
  Tensor x = b.Input("x", kF32, MakeShape(dims));
  Tensor y = b.Map({x}, [](const auto& v) { return v[0] * FloatConst(2) + FloatConst(1); });
  b.SetOutput(0, y);
  absl::StatusOr<std::vector<Constant>> result =
      EvaluateKernel(b.Finish({}), {Constant::Splat(kF32, dims, 3)});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE((*result)[0].is_splat());
  EXPECT_EQ((*result)[0].FloatAt(12345), 7);
}

TEST(EvaluateKernel, SplatsReadLikeDenseTensors) {
  Kernel kernel = PaddedConv(6, 3, 1, 1, 2);
  Constant x = Constant::Splat(kF32, {1, 2, 6, 6}, 0.5),
           w = Constant::Random(kF32, {2, 2, 3, 3}, 1);
  Constant y = Check(kernel, {x, w})[0];
  EXPECT_TRUE(y.SameValue((*EvaluateKernel(kernel, {x.Expanded(), w}))[0]));
  Constant sum = Check(MatMul(4, 5, 6, kF32, kF32),
                       {Constant::Splat(kF32, {4, 6}, 2), Constant::Splat(kF32, {6, 5}, 3)})[0];
  EXPECT_TRUE(sum.is_splat());
  EXPECT_EQ(sum.FloatAt(0), 36);
}

// As text, because the tensor builder drops what a sum over nothing would read.
Kernel MatMulText(int64_t m, int64_t n, int64_t k) {
  return *ParseKernel(
      absl::Substitute("kernel @mm(in %x: f32[$0, $2], in %w: f32[$2, $1], out %y: f32[$0, $1]) {\n"
                       "  %y[i<$0, j<$1] = reduce sum(r<$2) %x[i, r] * %w[r, j]\n}",
                       m, n, k));
}

TEST(EvaluateKernel, EmptyTensorsAreOrdinary) {
  Constant y = Check(MatMulText(3, 4, 0),
                     {Constant::Splat(kF32, {3, 0}, 1), Constant::Splat(kF32, {0, 4}, 1)})[0];
  EXPECT_EQ(y.FloatAt(11), 0);
  EXPECT_TRUE(Check(MatMul(3, 4, 0, kF32, kF32), {})[0].SameValue(y));
  y = Check(MatMulText(0, 4, 2),
            {Constant::Splat(kF32, {0, 2}, 1), Constant::Splat(kF32, {2, 4}, 1)})[0];
  EXPECT_EQ(y.dims(), (std::vector<int64_t>{0, 4}));
}

TEST(EvaluateKernel, IntegersAreExactAndWrap) {
  TensorBuilder b("ints");
  Tensor x = b.Input("x", DType::kI64, {2});
  Tensor u = b.Input("u", DType::kU64, {2});
  Tensor s = b.Input("s", DType::kI8, {2});
  b.SetOutput(0, b.Map({x}, [](const auto& v) { return v[0] * v[0] + 1; }));
  b.SetOutput(1, b.Map({u}, [](const auto& v) { return Div(v[0], IntConst(2, DType::kU64)); }));
  b.SetOutput(2, b.Map({u}, [](const auto& v) { return Lt(v[0], IntConst(5, DType::kU64)); }));
  b.SetOutput(
      3, b.Map({s}, [](const auto& v) { return Min(v[0] * v[0], IntConst(100, DType::kI8)); }));
  b.SetOutput(4, b.Map({u}, [](const auto& v) { return Cast(kF32, v[0]); }));
  std::vector<uint8_t> bytes(16);
  StoreIntElement(DType::kU64, bytes.data(), 0, -2);
  StoreIntElement(DType::kU64, bytes.data(), 1, 4);
  Constant u_value = Constant::Dense(DType::kU64, {2}, bytes);
  Constant s_value = Constant::Dense(DType::kI8, {2}, {100, 3});
  auto y = EvaluateKernel(b.Finish({}), {Constant::Ints({3037000499, 5}), u_value, s_value});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ((*y)[0].IntAt(0), int64_t{9223372030926249002});  // is no double
  EXPECT_EQ((*y)[1].IntAt(0), INT64_MAX);
  EXPECT_EQ((*y)[2].AsInts(), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ((*y)[3].AsInts(), (std::vector<int64_t>{16, 9}));
  EXPECT_EQ((*y)[4].FloatAt(0), 18446744073709551616.0);
}

TEST(EvaluateKernel, SmallTypesRoundWhereTheyAreStored) {
  for (DType dtype : {DType::kF16, DType::kBF16, DType::kF8E4M3FN}) {
    TensorBuilder b("small");
    Tensor x = b.Input("x", dtype, {100});
    Tensor y = b.Map({x}, [](const auto& v) { return Div(v[0], FloatConst(3)); });
    EXPECT_EQ(y.dtype(), dtype);
    b.SetOutput(0, b.Map({y}, [](const auto& v) { return v[0] * FloatConst(3); }));
    Check(b.Finish({}), {Constant::Random(dtype, {100}, 1)});
  }
  TensorBuilder b("nibbles");
  Tensor x = b.Input("x", DType::kI4, {5});
  b.SetOutput(0, b.Compute(DType::kI4, {5}, [&](const Indices& i) { return x({4 - i[0]}); }));
  EXPECT_EQ(Check(b.Finish({}), {Constant::Dense(DType::kI4, {5}, {0x21, 0xf3, 0x08})})[0].AsInts(),
            (std::vector<int64_t>{-8, -1, 3, 2, 1}));
}

// Bytes of `dtype` that are any bits at all.
Constant AnyBits(DType dtype, int64_t count) {
  const Constant bytes = Constant::Random(DType::kU8, {StorageBytes(dtype, count)}, 1);
  return Constant::Dense(dtype, {count}, {bytes.bytes().begin(), bytes.bytes().end()});
}

// There and back by an integer keeps every bit, those of NaN included, as far as they are stored.
TEST(EvaluateKernel, BitCastsKeepStoredBits) {
  for (DType dtype : {DType::kF64, DType::kF32, DType::kF16, DType::kBF16, DType::kF8E4M3FN,
                      DType::kF8E5M2FNUZ, DType::kF8E8M0, DType::kF4E2M1}) {
    const DType bits = UnsignedOfWidth(dtype);
    TensorBuilder b("bits");
    Tensor x = b.Input("x", dtype, {1000});
    b.SetOutput(
        0, b.Compute(bits, {1000}, [&](const Indices& i) { return BitCast(bits, x.Stored(i)); }));
    const Constant given = AnyBits(dtype, 1000);
    const std::vector<Constant> result = *EvaluateKernel(b.Finish({}), {given});
    EXPECT_TRUE(std::ranges::equal(result[0].bytes(), given.bytes())) << DTypeName(dtype);
  }
}

TEST(EvaluateKernel, BitCastsOfWhatIsComputed) {
  const absl::StatusOr<Kernel> kernel = ParseKernel(R"(
    kernel @bits(in %x: f32[300], in %n: i16[300], out %y: i32[300], out %z: f16[300],
                 out %w: bf16[300]) {
      %y[i<300] = bits_i32(%x[i] * 2.0) + i32:1
      %z[i<300] = bits_f16(mod(%n[i], i16:31744))
      %w[i<300] = bits_bf16(f16(%x[i]))
    })");
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  Check(*kernel, {Constant::Random(kF32, {300}, 1), AnyBits(DType::kI16, 300)});
}

TEST(RelativeError, AsDocumented) {
  Constant a = F32({2}, {1, -4});
  EXPECT_EQ(RelativeError(a, a), 0);
  EXPECT_EQ(RelativeError(F32({2}, {1.5, -4}), a), 0.125);
  EXPECT_EQ(RelativeError(F32({2}, {NAN, -4}), F32({2}, {NAN, -4})), 0);
  EXPECT_TRUE(std::isinf(RelativeError(F32({2}, {NAN, -4}), a)));
  EXPECT_TRUE(std::isinf(RelativeError(F32({2}, {INFINITY, 0}), F32({2}, {-INFINITY, 0}))));
  EXPECT_TRUE(std::isinf(RelativeError(F32({1}, {1}), a)));
  EXPECT_TRUE(std::isinf(RelativeError(Constant::Ints({1}), Constant::Ints({2}))));
}

}  // namespace
}  // namespace aotc
