// WinogradConv: Conv with 3x3 taps and a step of 1 over m x m outputs at a time. The pass
// `layout` makes it of Conv where the contract says so; its weights are transformed as far as that
// makes them no larger.
#include <algorithm>
#include <utility>

#include "compiler/ir/winograd.h"
#include "compiler/ops/emit.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/op.h"
#include "compiler/ops/registry.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

struct WinogradConvolution {
  Tensor x = {}, weights = {};  // [N, C, H, W], [K, C, 3, 3]: the rows that are kept
  int64_t m = 0;
  std::vector<int64_t> pads = {};  // as Conv's
  Shape out = {};                  // [N, K, H', W']
  WinogradMatrices matrices = {};

  Expr size() const { return m + kWinogradTaps - 1; }  // of a patch
  // [N, tiles of rows, tiles of columns, first, second, channels]
  Shape Tiles(const Expr& first, const Expr& second, const Expr& channels) const {
    return {x.dim(0), CeilDiv(out[2], m), CeilDiv(out[3], m), first, second, channels};
  }
};

absl::StatusOr<WinogradConvolution> Read(OpContext& op) {
  WinogradConvolution conv;
  AOTC_ASSIGN_OR_RETURN(conv.x, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(conv.weights, op.Input(1));
  AOTC_RETURN_IF_ERROR(RequireRank(conv.x, 4, 4));
  AOTC_RETURN_IF_ERROR(RequireRank(conv.weights, 4, 4));
  conv.m = op.attributes().Int("m", 0);
  conv.pads = op.attributes().Ints("pads");
  constexpr int64_t kMostPad = 1 << 20;
  const bool holds =
      std::ranges::count(kWinogradTiles, conv.m) == 1 && conv.pads.size() == 4 &&
      std::ranges::all_of(conv.pads, [](int64_t p) { return p >= 0 && p < kMostPad; });
  if (!holds) return absl::InternalError("m is a size that there is, pads are four numbers");
  const bool fits = ProveEqual(conv.weights.dim(1), conv.x.dim(1), op.bounds()) &&
                    ProveEqual(conv.weights.dim(2), kWinogradTaps) &&
                    ProveEqual(conv.weights.dim(3), kWinogradTaps) &&
                    conv.x.dtype() == DType::kF32 && conv.weights.dtype() == DType::kF32;
  if (!fits) return absl::InternalError("weights are f32 [K, C, 3, 3]");
  const auto along = [&](int axis) {
    const size_t at = static_cast<size_t>(axis) - 2;
    return Simplify(conv.x.dim(axis) + (conv.pads[at] + conv.pads[at + 2] - kWinogradTaps + 1));
  };
  conv.out = {conv.x.dim(0), conv.weights.dim(0), along(2), along(3)};
  conv.matrices = WinogradMatricesOf(conv.m);
  return conv;
}

// An element of the input, 0 beyond it.
Expr Padded(const Tensor& x, const Indices& at) {
  const auto inside = [&](size_t axis) {
    return And(Le(Expr(0), at[axis]), Lt(at[axis], x.dim(static_cast<int>(axis))));
  };
  return Select(And(inside(2), inside(3)), x(at), FloatConst(0));
}

// One axis of the patches' transform.
Tensor TransformRows(TensorBuilder& b, const WinogradConvolution& conv) {
  const auto element = [&](const Indices& i, const Indices& r) {
    const Expr row = i[1] * conv.m + r[0] - conv.pads[0];
    const Expr column = i[2] * conv.m + i[4] - conv.pads[1];
    return MatrixElement(conv.matrices.bt, i[3], r[0]) * Padded(conv.x, {i[0], i[5], row, column});
  };
  const Shape shape = conv.Tiles(conv.size(), conv.size(), conv.x.dim(1));
  return b.Reduce("sum", DType::kF32, shape, {conv.size()}, element);
}

Tensor TransformColumns(TensorBuilder& b, const WinogradConvolution& conv, const Tensor& rows) {
  const auto element = [&](const Indices& i, const Indices& r) {
    return MatrixElement(conv.matrices.bt, i[4], r[0]) * rows({i[0], i[1], i[2], i[3], r[0], i[5]});
  };
  const Shape shape = conv.Tiles(conv.size(), conv.size(), conv.x.dim(1));
  return b.Reduce("sum", DType::kF32, shape, {conv.size()}, element);
}

Tensor SpreadRows(TensorBuilder& b, const WinogradConvolution& conv) {
  const auto element = [&](const Indices& i, const Indices& r) {
    return MatrixElement(conv.matrices.spread, i[2], r[0]) * conv.weights({i[0], i[1], r[0], i[3]});
  };
  const Shape shape = {conv.weights.dim(0), conv.weights.dim(1), conv.size(), kWinogradTaps};
  return b.Reduce("sum", DType::kF32, shape, {kWinogradTaps}, element);
}

Tensor SpreadColumns(TensorBuilder& b, const WinogradConvolution& conv, const Tensor& rows) {
  const auto element = [&](const Indices& i, const Indices& r) {
    return MatrixElement(conv.matrices.spread, i[3], r[0]) * rows({i[0], i[1], i[2], r[0]});
  };
  const Shape shape = {conv.weights.dim(0), conv.weights.dim(1), conv.size(), conv.size()};
  return b.Reduce("sum", DType::kF32, shape, {kWinogradTaps}, element);
}

// A product of matrices for each place of the patches.
Tensor Multiply(TensorBuilder& b, const WinogradConvolution& conv, const Tensor& patches,
                const Tensor& weights) {
  const auto element = [&](const Indices& i, const Indices& r) {
    return patches({i[0], i[1], i[2], i[3], i[4], r[0]}) * weights({i[5], r[0], i[3], i[4]});
  };
  const Shape shape = conv.Tiles(conv.size(), conv.size(), conv.weights.dim(0));
  return b.Reduce("sum", DType::kF32, shape, {conv.x.dim(1)}, element);
}

Tensor GatherColumns(TensorBuilder& b, const WinogradConvolution& conv, const Tensor& sums) {
  const auto element = [&](const Indices& i, const Indices& r) {
    return MatrixElement(conv.matrices.at, i[4], r[0]) * sums({i[0], i[1], i[2], i[3], r[0], i[5]});
  };
  const Shape shape = conv.Tiles(conv.size(), conv.m, conv.weights.dim(0));
  return b.Reduce("sum", DType::kF32, shape, {conv.size()}, element);
}

Tensor GatherRows(TensorBuilder& b, const WinogradConvolution& conv, const Tensor& columns) {
  const int64_t m = conv.m;
  const auto element = [&](const Indices& i, const Indices& r) {
    const Indices at = {i[0], FloorDiv(i[2], m), FloorDiv(i[3], m), r[0], Mod(i[3], m), i[1]};
    return MatrixElement(conv.matrices.at, Mod(i[2], m), r[0]) * columns(at);
  };
  return b.Reduce("sum", DType::kF32, conv.out, {conv.size()}, element);
}

absl::Status WinogradConv(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const WinogradConvolution conv, Read(op));
  TensorBuilder& b = op.b();
  const Tensor patches = TransformColumns(b, conv, TransformRows(b, conv));
  const Tensor weights = SpreadColumns(b, conv, SpreadRows(b, conv));
  const Tensor products = Multiply(b, conv, patches, weights);
  const Tensor sums = GatherRows(b, conv, GatherColumns(b, conv, products));
  if (!op.HasInput(2)) {
    op.SetOutput(0, sums);
    return absl::OkStatus();
  }
  AOTC_ASSIGN_OR_RETURN(const Tensor bias, op.Input(2));
  const auto add_bias = [&](const Indices& i) { return sums(i) + bias({i[1]}); };
  op.SetOutput(0, b.Compute(DType::kF32, conv.out, add_bias));
  return absl::OkStatus();
}

constexpr std::string_view kWinogradConv = "WinogradConv";

constexpr OpDef kOps[] = {
    {.name = kWinogradConv,
     .compute = WinogradConv,
     .summary = "a convolution with 3x3 taps and a step of 1, by Winograd's algorithm",
     .traits = kOwn | kContraction,
     .first_weight = 1},
};

}  // namespace

ValueId EmitWinogradConv(Rebuilder& rebuilder, std::vector<ValueId> inputs, int64_t m,
                         std::vector<int64_t> pads, const Node& origin) {
  Attributes attributes;
  attributes.Set("m", m);
  attributes.Set("pads", std::move(pads));
  const ValueType& type = rebuilder.old_graph().values[origin.outputs[0]].type;
  return rebuilder.Emit(kWinogradConv, std::move(inputs), std::move(attributes), type, origin);
}

std::span<const OpDef> WinogradConvOps() { return kOps; }

}  // namespace aotc
