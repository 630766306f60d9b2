// One kernel over symbolic dims gives the numbers of the kernels that are built for each size. (The
// conformance tests check the latter against ONNX's own data.)
#include <functional>

#include "compiler/eval/evaluate.h"
#include "gtest/gtest.h"
#include "tests/unit/op_case.h"

namespace aotc {
namespace {

constexpr DType kF32 = DType::kF32;

struct Case {
  std::string name;
  std::function<void(OpCase& op, Expr n, Expr h)> fill;
  int outputs = 1;
};

std::vector<int64_t> List(std::initializer_list<int64_t> values) { return values; }
Constant Ints(std::initializer_list<int64_t> values) { return Constant::Ints(values); }

const Case kCases[] = {
    {"Add", [](OpCase& op, Expr n, Expr h) { op.Input(kF32, {n, 1, h}).Input(kF32, {3, h}); }},
    {"Softmax", [](OpCase& op, Expr n, Expr h) { op.Input(kF32, {n, h}); }},
    {"ReduceMean",
     [](OpCase& op, Expr n, Expr h) { op.Input(kF32, {n, h, 3}).Known(Ints({1, -1})); }},
    {"ReduceLogSumExp",
     [](OpCase& op, Expr n, Expr h) { op.Input(kF32, {n, h}).Known(Ints({0})); }},
    {"MatMul", [](OpCase& op, Expr n, Expr h) { op.Input(kF32, {n, 5, h}).Input(kF32, {h, 7}); }},
    {"Gemm",
     [](OpCase& op, Expr n, Expr h) {
       op.Input(kF32, {h, n}).Input(kF32, {6, h}).Input(kF32, {6});
       op.Set("transA", int64_t{1}).Set("transB", int64_t{1}).Set("alpha", 0.5F);
     }},
    {"Conv",
     [](OpCase& op, Expr n, Expr h) {
       op.Input(kF32, {n, 4, h, h + 3}).Input(kF32, {6, 2, 3, 2}).Input(kF32, {6});
       op.Set("group", int64_t{2}).Set("pads", List({1, 0, 2, 1}));
       op.Set("strides", List({2, 1})).Set("dilations", List({1, 2}));
     }},
    {"Conv",
     [](OpCase& op, Expr n, Expr h) {
       op.Input(kF32, {n, 2, h}).Input(kF32, {2, 1, 4});
       op.Set("group", int64_t{2}).Set("auto_pad", "SAME_LOWER").Set("strides", List({3}));
     }},
    {"MaxPool",
     [](OpCase& op, Expr n, Expr h) {
       op.Input(kF32, {n, 2, h, h}).Set("kernel_shape", List({3, 2})).Set("ceil_mode", int64_t{1});
       op.Set("strides", List({2, 3})).Set("pads", List({1, 1, 1, 0}));
     }},
    {"AveragePool",
     [](OpCase& op, Expr n, Expr h) {
       op.Input(kF32, {n, 2, h, h}).Set("kernel_shape", List({3, 3}));
       op.Set("strides", List({2, 2})).Set("auto_pad", "SAME_UPPER");
     }},
    {"GlobalAveragePool", [](OpCase& op, Expr n, Expr h) { op.Input(kF32, {n, 2, h, 5}); }},
    {"LRN", [](OpCase& op, Expr n, Expr h) { op.Input(kF32, {n, 5, h}).Set("size", int64_t{3}); }},
    {"Reshape",
     [](OpCase& op, Expr n, Expr h) { op.Input(kF32, {n, h, 6}).Known(Ints({0, -1, 3})); }},
    {"Reshape", [](OpCase& op, Expr n, Expr h) { op.Input(kF32, {n, h, 6}).Known(Ints({-1, 2})); }},
    {"Flatten", [](OpCase& op, Expr n, Expr h) { op.Input(kF32, {n, 2, h}); }},
    {"Transpose",
     [](OpCase& op, Expr n, Expr h) { op.Input(kF32, {n, 2, h}).Set("perm", List({2, 0, 1})); }},
    {"DepthToSpace",
     [](OpCase& op, Expr n, Expr h) { op.Input(kF32, {n, 8, h, 3}).Set("blocksize", int64_t{2}); }},
    {"Concat",
     [](OpCase& op, Expr n, Expr h) {
       op.Input(kF32, {n, h}).Input(kF32, {n, 3}).Input(kF32, {n, h + 1}).Set("axis", int64_t{1});
     }},
    {"Split",
     [](OpCase& op, Expr n, Expr h) {
       op.Input(kF32, {n, h}).Elements({Expr(2), h - 2}).Set("axis", int64_t{1});
     },
     2},
    {"Slice",
     [](OpCase& op, Expr n, Expr h) {
       op.Input(kF32, {n, h})
           .Known(Ints({-3}))
           .Known(Ints({INT64_MIN}))
           .Known(Ints({1}))
           .Known(Ints({-2}));
     }},
    {"Slice",
     [](OpCase& op, Expr n, Expr h) {
       op.Input(kF32, {n, h}).Known(Ints({0, 2})).Known(Ints({INT64_MAX, -1}));
     }},
    {"Pad", [](OpCase& op, Expr n, Expr h) { op.Input(kF32, {n, h}).Known(Ints({1, -2, 0, 3})); }},
    {"Pad",
     [](OpCase& op, Expr n, Expr h) {
       op.Input(kF32, {n, h}).Known(Ints({0, 9, 0, 4})).Set("mode", "reflect");
     }},
    {"Expand",
     [](OpCase& op, Expr n, Expr h) { op.Input(kF32, {n, 1}).Elements({Expr(2), n, h}); }},
    {"Tile", [](OpCase& op, Expr n, Expr h) { op.Input(kF32, {n, h}).Known(Ints({1, 2})); }},
    {"Resize",
     [](OpCase& op, Expr n, Expr h) {
       op.Input(kF32, {n, 1, h, 4}).Absent().Known(Constant::Splat(kF32, {2}, 2.0));
       op.Set("axes", List({2, 3})).Set("mode", "linear");
     }},
    {"Resize",
     [](OpCase& op, Expr n, Expr h) {
       op.Input(kF32, {n, 1, h, 4}).Absent().Absent().Elements({n, Expr(1), h + 3, Expr(2)});
     }},
    {"Resize",
     [](OpCase& op, Expr n, Expr h) {
       op.Input(kF32, {n, 1, h, 4}).Absent().Known(Constant::Splat(kF32, {2}, 0.75));
       op.Set("axes", List({2, 3})).Set("mode", "linear");
       op.Set("coordinate_transformation_mode", "align_corners");
     }},
    {"Shape", [](OpCase& op, Expr n, Expr h) { op.Input(kF32, {n, 2, h}); }},
    {"Range",
     [](OpCase& op, Expr n, Expr h) { op.Elements({n}).Elements({h * 3}).Known(Ints({2})); }},
    {"Trilu", [](OpCase& op, Expr n, Expr h) { op.Input(kF32, {n, h}).Elements({h - n}); }},
    {"ArgMax", [](OpCase& op, Expr n, Expr h) { op.Input(kF32, {n, h}).Set("axis", int64_t{1}); }},
};

// Random constants for the dynamic inputs of a kernel at the sizes of the symbols.
std::vector<Constant> RandomInputs(const NodeKernel& built, const SymbolValues& symbols) {
  std::vector<Constant> inputs;
  for (size_t i = 0; i < built.inputs.size(); ++i) {
    const KernelTensor& tensor = built.kernel.tensors[built.kernel.params[i]];
    std::vector<int64_t> dims;
    for (const Expr& dim : tensor.shape) dims.push_back(EvaluateInt(dim, symbols).value());
    inputs.push_back(Constant::Random(tensor.dtype, dims, i + 1));
  }
  return inputs;
}

TEST(SymbolicKernels, AgreeWithStaticOnes) {
  int number = 0;
  for (const Case& c : kCases) {
    SCOPED_TRACE(StrCat(c.name, ", case ", number++));
    OpCase symbolic(c.name, c.outputs);
    symbolic.Symbol("n", 1, 8).Symbol("h", 4, 40);
    c.fill(symbolic, Var("n"), Var("h"));
    absl::StatusOr<NodeKernel> general = symbolic.Build();
    ASSERT_TRUE(general.ok()) << general.status();
    for (auto [n, h] : {std::pair<int64_t, int64_t>{1, 4}, {3, 7}, {2, 12}}) {
      OpCase fixed(c.name, c.outputs);
      c.fill(fixed, n, h);
      absl::StatusOr<NodeKernel> special = fixed.Build();
      ASSERT_TRUE(special.ok()) << special.status();
      SymbolValues sizes = {{"n", n}, {"h", h}};
      std::vector<Constant> inputs = RandomInputs(*general, sizes);
      auto actual = EvaluateKernel(general->kernel, inputs, sizes);
      auto expected = EvaluateKernel(special->kernel, inputs);
      ASSERT_TRUE(actual.ok() && expected.ok()) << actual.status() << expected.status();
      for (size_t o = 0; o < expected->size(); ++o) {
        EXPECT_LE(RelativeError((*actual)[o], (*expected)[o]), 1e-6)
            << "n = " << n << ", h = " << h;
      }
    }
  }
}

// Elements of a slice of n, found one by one between the ends to which ONNX clamps start and end.
// (With a negative step, a start before the first element means that element; Python's slices are
// empty there.)
int64_t CountSliced(int64_t n, int64_t start, int64_t end, int64_t step) {
  const auto place = [n](int64_t i, int64_t low, int64_t high) {
    return std::min(std::max(i < 0 ? i + n : i, low), high);
  };
  const int64_t first = place(start, 0, step > 0 ? n : n - 1);
  const int64_t last = step > 0 ? place(end, 0, n) : place(end, -1, n - 1);
  int64_t count = 0;
  for (int64_t i = first; step > 0 ? i < last : i > last; i += step) ++count;
  return count;
}

TEST(SymbolicKernels, SlicesHaveTheLengthsOfTheStandard) {
  for (int64_t step : {-3, -1, 1, 2}) {
    for (int64_t start = -10; start <= 10; ++start) {
      for (int64_t end = -10; end <= 10; ++end) {
        OpCase op("Slice", 1);
        op.Symbol("n", 0, 8).Input(kF32, {Var("n")}).Known(Ints({start})).Known(Ints({end}));
        const absl::StatusOr<NodeKernel> built = op.Known(Ints({0})).Known(Ints({step})).Build();
        ASSERT_TRUE(built.ok()) << built.status();
        const Kernel& kernel = built->kernel;
        const Expr& length = kernel.tensors[kernel.params.back()].shape[0];
        for (int64_t n = 0; n <= 8; ++n) {
          EXPECT_EQ(EvaluateInt(length, {{"n", n}}), CountSliced(n, start, end, step))
              << "[" << start << ":" << end << ":" << step << "] of " << n;
        }
      }
    }
  }
}

}  // namespace
}  // namespace aotc
