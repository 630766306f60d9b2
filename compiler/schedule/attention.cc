#include "compiler/schedule/attention.h"

#include <algorithm>
#include <vector>

#include "compiler/ir/access.h"
#include "compiler/schedule/stage_kinds.h"

namespace aotc {
namespace {

class Reader {
 public:
  explicit Reader(const Kernel& kernel) : kernel_(kernel) {}

  std::optional<AttentionAnchor> Read() {
    const size_t count = kernel_.stages.size();
    while (anchor_.scores < count && !IsContraction(stage(anchor_.scores))) ++anchor_.scores;
    anchor_.maximum = anchor_.scores + 1;
    while (anchor_.maximum < count && !stage(anchor_.maximum).IsReduction()) ++anchor_.maximum;
    anchor_.values = anchor_.maximum + 4;
    if (anchor_.values >= count || !IsContraction(stage(anchor_.values))) return std::nullopt;
    return HaveForm() && IsSoftmax() && IsWeighted() ? std::optional(anchor_) : std::nullopt;
  }

 private:
  const Stage& stage(size_t s) const { return kernel_.stages[s]; }
  TensorId Result(size_t s) const { return stage(s).results[0].tensor; }
  size_t Leading() const { return stage(anchor_.scores).axes.size() - 1; }

  // One result each, sums over one axis, pointwise but for scores, softmax and values.
  bool HaveForm() const {
    if (stage(anchor_.scores).axes.size() < 2) return false;
    for (size_t s = 0; s < kernel_.stages.size(); ++s) {
      const bool reduces = s == anchor_.scores || s == anchor_.maximum ||
                           s == anchor_.maximum + 2 || s == anchor_.values;
      if (stage(s).results.size() != 1 || stage(s).reduce_axes.size() != (reduces ? 1U : 0U))
        return false;
      if (s >= anchor_.scores && !SharesAxes(stage(s))) return false;
      // Values of one column may have no axis for it: the last one is then one of the rows.
      if (s >= anchor_.values && stage(s).axes.size() != Leading() + 1) return false;
    }
    return true;
  }

  bool SharesAxes(const Stage& other) const {
    const std::vector<Axis>& axes = stage(anchor_.scores).axes;
    if (other.axes.size() < Leading() || other.axes.size() > Leading() + 1) return false;
    for (size_t i = 0; i < Leading(); ++i) {
      if (!ProveEqual(axes[i].extent, other.axes[i].extent)) return false;
    }
    return true;
  }

  // An element of the tensor in the stage's own row, at `last`; of a number of the row without one.
  bool IsOfRow(const Expr& e, TensorId tensor, const Stage& reader, const Expr& last) const {
    if (e.op() != ExprOp::kLoad || e->tensor != tensor || e.args().size() < Leading()) return false;
    for (size_t i = 0; i < Leading(); ++i) {
      if (!IsOwnIndex(e.arg(i), reader.axes[i])) return false;
    }
    if (e.args().size() == Leading()) return !last.valid();
    return last.valid() ? Same(e.arg(Leading()), last) : e.arg(Leading()).IsInt(0);
  }

  bool IsSoftmax() const {
    const size_t m = anchor_.maximum;
    const TensorId scores = Result(m - 1), top = Result(m), shifted = Result(m + 1),
                   sum = Result(m + 2);
    const auto own = [&](size_t s) { return Var(stage(s).axes.back().name); };
    const auto reduced = [&](size_t s) { return Var(stage(s).reduce_axes[0].name); };
    const Expr &exponent = stage(m + 1).body[0], &quotient = stage(m + 3).body[0];
    if (exponent.op() != ExprOp::kExp || exponent.arg(0).op() != ExprOp::kSub) return false;
    if (quotient.op() != ExprOp::kDiv || stage(m).body[0].dtype() != DType::kF32) return false;
    const Expr none;
    return stage(m).combiner.name == "max" && stage(m + 2).combiner.name == "sum" &&
           IsOfRow(stage(m).body[0], scores, stage(m), reduced(m)) &&
           IsOfRow(exponent.arg(0).arg(0), scores, stage(m + 1), own(m + 1)) &&
           IsOfRow(exponent.arg(0).arg(1), top, stage(m + 1), none) &&
           IsOfRow(stage(m + 2).body[0], shifted, stage(m + 2), reduced(m + 2)) &&
           IsOfRow(quotient.arg(0), shifted, stage(m + 3), own(m + 3)) &&
           IsOfRow(quotient.arg(1), sum, stage(m + 3), none);
  }

  // The weights are read by the values alone, and what else lies between by the next stages only.
  bool IsWeighted() const {
    const Stage& values = stage(anchor_.values);
    const Expr last = Var(values.reduce_axes[0].name);
    const TensorId weights = Result(anchor_.values - 1);
    const Expr& product = values.body[0];
    const bool reads = IsOfRow(product.arg(0), weights, values, last) ||
                       IsOfRow(product.arg(1), weights, values, last);
    if (!reads) return false;
    for (size_t s = 0; s < anchor_.values; ++s) {
      if (kernel_.tensors[Result(s)].role != TensorRole::kTemp) return false;
      for (size_t reader = anchor_.values; reader < kernel_.stages.size(); ++reader) {
        if (Reads(stage(reader), Result(s)) && (reader != anchor_.values || Result(s) != weights))
          return false;
      }
    }
    return true;
  }

  const Kernel& kernel_;
  AttentionAnchor anchor_;
};

}  // namespace

std::optional<AttentionAnchor> ReadAttention(const Kernel& kernel) { return Reader(kernel).Read(); }

}  // namespace aotc
