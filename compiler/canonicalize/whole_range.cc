#include "compiler/canonicalize/whole_range.h"

#include <algorithm>
#include <cmath>

#include "compiler/ir/expr_simplify.h"

namespace aotc {
namespace {

// The integer that a float always is: of a constant, or of an integer cast to float. Adds what that
// takes to `checks`.
std::optional<Expr> WholeNumber(const Expr& e, const Bounds& bounds,
                                std::vector<SizeCheck>& checks) {
  const double limit = std::ldexp(1.0, SignificandBits(e.dtype()));
  if (e.IsConst()) {
    const double value = e->float_value;
    if (std::trunc(value) != value || std::abs(value) > limit) return std::nullopt;
    return Expr(static_cast<int64_t>(value));
  }
  if (e.op() != ExprOp::kCast || e.arg(0).dtype() != DType::kI64) return std::nullopt;
  const Interval range = RangeOf(e.arg(0), bounds);
  const auto most = static_cast<int64_t>(limit);
  if (range.min >= -most && range.max <= most) return e.arg(0);
  if (e.dtype() != DType::kF32) return std::nullopt;
  checks.push_back({And(Le(-most, e.arg(0)), Le(e.arg(0), most)),
                    "a number of the range is one that f32 does not hold"});
  return e.arg(0);
}

}  // namespace

std::optional<WholeRange> FindWholeRange(const Graph& graph, const std::vector<ValueId>& inputs,
                                         const KnownElements& known) {
  const auto is_given = [](ValueId input) { return input.valid(); };
  const auto is_constant = [&](ValueId input) { return graph.values[input].constant.has_value(); };
  if (inputs.size() != 3 || !std::ranges::all_of(inputs, is_given)) return std::nullopt;
  if (std::ranges::all_of(inputs, is_constant)) return std::nullopt;
  const Bounds bounds = BoundsOf(graph.symbols);
  std::vector<Expr> whole;
  std::vector<SizeCheck> checks;
  for (ValueId input : inputs) {
    const std::optional<std::vector<Expr>> elements = known.Find(graph, input);
    if (!elements || elements->size() != 1 || !IsFloat(elements->front().dtype())) {
      return std::nullopt;
    }
    const std::optional<Expr> number = WholeNumber(elements->front(), bounds, checks);
    if (!number) return std::nullopt;
    whole.push_back(*number);
  }
  return WholeRange{whole[0], whole[1], whole[2], checks};
}

}  // namespace aotc
