#include "compiler/schedule/winograd.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <vector>

#include "compiler/ir/expr_simplify.h"
#include "compiler/ir/winograd.h"
#include "compiler/schedule/anchor.h"

namespace aotc {
namespace {

// Stages as a list of what they should be, one after another.
class Reader {
 public:
  explicit Reader(const Kernel& kernel) : kernel_(kernel) {}

  std::optional<WinogradAnchor> Read() {
    if (kernel_.stages.size() < kWinogradStages || !HaveForm() || !ReadOperands()) {
      return std::nullopt;
    }
    const bool holds = FindRows() && Is(1, InputColumns()) && Is(2, WeightRows()) &&
                       Is(3, WeightColumns()) && Is(4, Products()) && Is(5, SumColumns()) &&
                       Is(6, SumRows());
    return holds ? std::optional(anchor_) : std::nullopt;
  }

 private:
  const Stage& stage(size_t s) const { return kernel_.stages[s]; }
  Expr Axis(size_t s, size_t i) const { return Var(stage(s).axes[i].name); }
  Expr Reduced(size_t s) const { return Var(stage(s).reduce_axes[0].name); }
  TensorId Result(size_t s) const { return stage(s).results[0].tensor; }
  Expr Element(TensorId tensor, std::vector<Expr> indices) const {
    return Load(tensor, std::move(indices), DType::kF32);
  }

  bool HaveForm() const {
    for (size_t s = 0; s < kWinogradStages; ++s) {
      const bool of_tiles = s != kWinogradRows && s != kWinogradWeights && s + 1 < kWinogradStages;
      const bool fits = stage(s).combiner.name == "sum" && stage(s).reduce_axes.size() == 1 &&
                        stage(s).results.size() == 1 &&
                        stage(s).axes.size() == (of_tiles ? 6 : 4) &&
                        stage(s).body[0].dtype() == DType::kF32;
      if (!fits) return false;
    }
    return true;
  }

  // The tensors, m, and where the first patch begins.
  bool ReadOperands() {
    const std::vector<Expr> loads = LoadsOf(stage(0).body[0]), taps = LoadsOf(stage(2).body[0]);
    if (loads.size() != 1 || taps.size() != 1) return false;
    anchor_.input = loads[0]->tensor;
    anchor_.weights = taps[0]->tensor;
    const KernelTensor& x = kernel_.tensors[anchor_.input];
    const KernelTensor& w = kernel_.tensors[anchor_.weights];
    if (x.shape.size() != 4 || w.shape.size() != 4) return false;
    if (x.dtype != DType::kF32 || w.dtype != DType::kF32) return false;
    anchor_.m = stage(0).axes[3].extent.AsInt().value_or(0) - kWinogradTaps + 1;
    if (std::ranges::count(kWinogradTiles, anchor_.m) == 0) return false;
    matrices_ = WinogradMatricesOf(anchor_.m);
    const auto begin = [&](size_t axis) {
      Substitution origin;
      for (const std::string& name : FreeVars(loads[0].arg(axis))) origin[name] = 0;
      return Simplify(Substitute(loads[0].arg(axis), origin)).AsInt();
    };
    const std::optional<int64_t> row = begin(2), column = begin(3);
    first_walked_ = row.value_or(0);
    anchor_.first_column = column.value_or(0);
    return row && column;
  }

  // Where patches begin, of which rows that are none of the input may not be walked.
  bool FindRows() {
    for (skipped_ = 0; skipped_ < kWinogradTaps; ++skipped_) {
      anchor_.first_row = first_walked_ - skipped_;
      if (WalksPatches() && Is(0, InputRows())) return true;
    }
    return false;
  }

  // All rows of a patch but those above and below the input, of which one patch alone has some.
  bool WalksPatches() const {
    const Expr& walked = stage(0).reduce_axes[0].extent;
    const Expr height = kernel_.tensors[anchor_.input].shape[2];
    const int64_t rows = anchor_.m + kWinogradTaps - 1;
    const Bounds bounds = BoundsOf(kernel_.symbols);
    const bool from_above =
        skipped_ == 0 || (stage(0).axes[1].extent.IsInt(1) && first_walked_ <= 0);
    const bool to_below = ProveEqual(walked + skipped_, rows, bounds) ||
                          Prove(Le(height, walked + first_walked_), bounds) == true;
    return from_above && to_below;
  }

  Expr InputRows() const {
    const Shape& dims = kernel_.tensors[anchor_.input].shape;
    const Expr of_patch = Reduced(0) + skipped_;
    const Expr row = Axis(0, 1) * anchor_.m + of_patch + anchor_.first_row;
    const Expr column = Axis(0, 2) * anchor_.m + Axis(0, 4) + anchor_.first_column;
    const Expr inside =
        And(And(Le(Expr(0), row), Lt(row, dims[2])), And(Le(Expr(0), column), Lt(column, dims[3])));
    const Expr x = Element(anchor_.input, {Axis(0, 0), Axis(0, 5), row, column});
    return MatrixElement(matrices_.bt, Axis(0, 3), of_patch) * Select(inside, x, FloatConst(0));
  }

  Expr InputColumns() const {
    const Expr r = Element(
        Result(0), {Axis(1, 0), Axis(1, 1), Axis(1, 2), Axis(1, 3), Reduced(1), Axis(1, 5)});
    return MatrixElement(matrices_.bt, Axis(1, 4), Reduced(1)) * r;
  }

  Expr WeightRows() const {
    const Expr w = Element(anchor_.weights, {Axis(2, 0), Axis(2, 1), Reduced(2), Axis(2, 3)});
    return MatrixElement(matrices_.spread, Axis(2, 2), Reduced(2)) * w;
  }

  Expr WeightColumns() const {
    const Expr f = Element(Result(2), {Axis(3, 0), Axis(3, 1), Axis(3, 2), Reduced(3)});
    return MatrixElement(matrices_.spread, Axis(3, 3), Reduced(3)) * f;
  }

  Expr Products() const {
    const Expr v = Element(
        Result(1), {Axis(4, 0), Axis(4, 1), Axis(4, 2), Axis(4, 3), Axis(4, 4), Reduced(4)});
    return v * Element(Result(3), {Axis(4, 5), Reduced(4), Axis(4, 3), Axis(4, 4)});
  }

  Expr SumColumns() const {
    const Expr p = Element(
        Result(4), {Axis(5, 0), Axis(5, 1), Axis(5, 2), Axis(5, 3), Reduced(5), Axis(5, 5)});
    return MatrixElement(matrices_.at, Axis(5, 4), Reduced(5)) * p;
  }

  Expr SumRows() const {
    const int64_t m = anchor_.m;
    const Expr h = Axis(6, 2), w = Axis(6, 3);
    const Expr q = Element(
        Result(5), {Axis(6, 0), FloorDiv(h, m), FloorDiv(w, m), Reduced(6), Mod(w, m), Axis(6, 1)});
    return MatrixElement(matrices_.at, Mod(h, m), Reduced(6)) * q;
  }

  bool Is(size_t s, const Expr& body) const {
    const Bounds bounds = StageBounds(kernel_, stage(s));
    return Same(Simplify(stage(s).body[0], bounds), Simplify(body, bounds));
  }

  const Kernel& kernel_;
  WinogradAnchor anchor_;
  WinogradMatrices matrices_;
  int64_t first_walked_ = 0, skipped_ = 0;  // row of the input, rows of a patch before that
};

}  // namespace

std::optional<WinogradAnchor> ReadWinograd(const Kernel& kernel) { return Reader(kernel).Read(); }

Kernel WinogradTail(Kernel kernel) {
  const auto first = kernel.stages.begin();
  const auto last = first + static_cast<std::ptrdiff_t>(kWinogradStages) - 1;
  kernel.tensors[std::prev(last)->results[0].tensor].role = TensorRole::kInput;
  kernel.stages.erase(first, last);
  return kernel;
}

}  // namespace aotc
