// What a chain should take: its two contractions band by band, what a band reads of the rows of its
// neighbours, and what it saves.
#include <algorithm>

#include "compiler/targets/cpu/estimate.h"

namespace aotc {
namespace {

constexpr double kElement = 4;

// Bytes of the first one's input that a band reads, and of these what the next reads as well.
struct InputRows {
  double all = 0, shared = 0;
};

class ChainCost {
 public:
  ChainCost(const Chain& c, const ChainTiling& tiling, const CpuCore& core)
      : c_(c), tiling_(tiling), core_(core), bounds_(BoundsOf(c.kernel.symbols)) {}

  CpuEstimate All() const {
    const ChainBand& band = *BandOf(c_, tiling_.rows);
    double bands = 1;
    for (const NestAxis& task : band.of_first.tasks) bands *= MostOf(task.extent, bounds_);
    const double chunks = std::max(MostOf(band.of_first.tasks.back().extent, bounds_), 1.0);
    const double cycles = EstimateContraction(band.first, tiling_.first, core_, bands).cycles +
                          EstimateContraction(band.second, tiling_.second, core_, bands).cycles +
                          bands / chunks * (chunks - 1) * Neighbours();
    const double all = MostOf(band.of_first.all, bounds_), rows = static_cast<double>(tiling_.rows);
    return {.cycles = cycles,
            .tasks = bands,
            .whole_tasks = bands / chunks * std::max(all / rows, 1.0)};
  }

 private:
  // Rows of the input that the band before has read as well, which come from the second cache if
  // that keeps what a band touches, half of the time while tiles compute.
  double Neighbours() const {
    constexpr double kApart = 0.5;
    const InputRows input = RowsOfInput();
    const double scratch = static_cast<double>(BandOf(c_, tiling_.rows)->elements) * kElement;
    return kApart * input.shared / core_.RateOf(input.all + scratch);
  }

  InputRows RowsOfInput() const {
    const Stage& stage = c_.head.stages[0];
    const Axis& axis = stage.axes[c_.band];
    for (const Expr& load : LoadsOf(stage.body[0])) {
      const KernelTensor& tensor = c_.head.tensors[load->tensor];
      if (tensor.role != TensorRole::kInput) continue;
      double row = kElement, window = 0, step = 0;
      for (size_t i = 0; i < load.args().size(); ++i) {
        const bool is_single = std::ranges::any_of(c_.single, [&](size_t single) {
          return UsesVar(load.arg(i), stage.axes[single].name);
        });
        if (is_single) continue;
        if (!UsesVar(load.arg(i), axis.name)) {
          row *= MostOf(tensor.shape[i], bounds_);
          continue;
        }
        step = StepOf(load.arg(i), axis.name);
        window = WindowOf(stage, load.arg(i), axis.name);
      }
      const double rows = static_cast<double>(tiling_.rows - 1) * step + window;
      return {rows * row, std::max(window - step, 0.0) * row};
    }
    return {};
  }

  double StepOf(const Expr& index, const std::string& name) const {
    const Expr step = Substitute(index, {{name, Expr(1)}}) - Substitute(index, {{name, Expr(0)}});
    return static_cast<double>(Simplify(step).AsInt().value_or(1));
  }

  // Elements that one row of the result reads along the index.
  double WindowOf(const Stage& stage, const Expr& index, const std::string& name) const {
    const Bounds bounds = StageBounds(c_.head, stage);
    const Interval range = RangeOf(Simplify(Substitute(index, {{name, Expr(0)}})), bounds);
    return static_cast<double>(range.max - range.min + 1);
  }

  const Chain& c_;
  const ChainTiling& tiling_;
  const CpuCore& core_;
  const Bounds bounds_;
};

}  // namespace

CpuEstimate EstimateChain(const Chain& chain, const ChainTiling& tiling, const CpuCore& core) {
  return ChainCost(chain, tiling, core).All();
}

double HandoverCycles(const Chain& chain, const CpuCore& core) {
  constexpr double kPasses = 3;  // a line is fetched, written back, and fetched by its reader
  const KernelTensor& between = chain.head.tensors[chain.anchor.between];
  const Expr elements = StorageElements(between.layout, between.shape);
  const double bytes = MostOf(elements, BoundsOf(chain.kernel.symbols)) * kElement;
  return bytes * kPasses / core.RateOf(bytes);
}

}  // namespace aotc
