#include "compiler/targets/attention_reach.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace aotc {
namespace {

constexpr double kLeast = -std::numeric_limits<double>::infinity();

bool IsNumber(const Expr& e) {
  return e.IsConst() && IsFloat(e.dtype()) && !std::isnan(e->float_value);
}

// A condition without which a score is at most `hidden`.
struct Seen {
  Expr condition = {};
  double hidden = kLeast;
};

// What the last stages do to the scores, peeled off from the last one: selects of a constant, and
// below them a sum with what is not made of the product.
class Masks {
 public:
  explicit Masks(const Attention& a) : a_(a), at_(a.scores.stages.size() - 1) {
    score_ = a_.scores.stages[at_].bodies[0];
    while (PeelSelect() || PeelStage()) {
    }
    TakeSum();
  }

  std::vector<Seen> found() const { return found_; }

  bool UsesStages(const Expr& e) const {
    return std::ranges::any_of(a_.scores.stages, [&](const FlatStage& stage) {
      return UsesVar(e, stage.results[0].variable);
    });
  }

 private:
  bool PeelSelect() {
    if (score_.op() != ExprOp::kSelect) return false;
    const bool hides_last = IsNumber(score_.arg(2));
    if (!hides_last && !IsNumber(score_.arg(1))) return false;
    const Expr condition = hides_last ? score_.arg(0) : Not(score_.arg(0));
    found_.push_back(
        {Simplify(condition, a_.scores.bounds), score_.arg(hides_last ? 2 : 1)->float_value});
    score_ = score_.arg(hides_last ? 1 : 2);
    return true;
  }

  // A mask that is added: beside -inf nothing is left of a score, whatever is made of it before.
  void TakeSum() {
    if (score_.op() != ExprOp::kAdd) return;
    for (const size_t i : {0, 1}) {
      const Expr& mask = score_.arg(i);
      if (!UsesStages(mask)) found_.push_back({Simplify(IsMoreThanLeast(mask), a_.scores.bounds)});
    }
  }

  static Expr IsMoreThanLeast(const Expr& mask) {
    if (IsNumber(mask)) return Bool(mask->float_value != kLeast);
    if (mask.op() != ExprOp::kSelect) return Ne(mask, NumberConst(kLeast, mask.dtype()));
    return Or(And(mask.arg(0), IsMoreThanLeast(mask.arg(1))),
              And(Not(mask.arg(0)), IsMoreThanLeast(mask.arg(2))));
  }

  // The score is what a stage before has made.
  bool PeelStage() {
    if (at_ == 0 || !score_.IsVar()) return false;
    if (score_->name != a_.scores.stages[at_ - 1].results[0].variable) return false;
    score_ = a_.scores.stages[--at_].bodies[0];
    return at_ > 0;  // the first is the product
  }

  const Attention& a_;
  size_t at_ = 0;
  Expr score_;
  std::vector<Seen> found_;
};

// The ends of expressions over a block of rows.
class OverRows {
 public:
  OverRows(std::string row, Expr first, Expr last)
      : row_(std::move(row)), first_(std::move(first)), last_(std::move(last)) {}

  // The largest that `e` can be, or the least; nothing of other than sums, multiples, quotients,
  // min and max of the row.
  std::optional<Expr> End(const Expr& e, bool largest) const {
    if (!UsesVar(e, row_)) return e;
    if (e.IsVar()) return largest ? last_ : first_;
    const ExprOp op = e.op();
    if (op == ExprOp::kNeg) {
      const std::optional<Expr> end = End(e.arg(0), !largest);
      return end ? std::optional(WithArgs(e, {*end})) : std::nullopt;
    }
    if (e.args().size() != 2) return std::nullopt;
    const Expr &x = e.arg(0), &y = e.arg(1);
    if (op == ExprOp::kAdd || op == ExprOp::kMin || op == ExprOp::kMax)
      return Made(e, End(x, largest), End(y, largest));
    if (op == ExprOp::kSub) return Made(e, End(x, largest), End(y, !largest));
    const std::optional<int64_t> factor = y.AsInt(), first = x.AsInt();
    if (op == ExprOp::kMul && factor) return Made(e, End(x, largest == (*factor >= 0)), y);
    if (op == ExprOp::kMul && first) return Made(e, x, End(y, largest == (*first >= 0)));
    if (op == ExprOp::kFloorDiv && factor && *factor > 0) return Made(e, End(x, largest), y);
    return std::nullopt;
  }

 private:
  static std::optional<Expr> Made(const Expr& e, const std::optional<Expr>& x,
                                  const std::optional<Expr>& y) {
    if (!x || !y) return std::nullopt;
    return WithArgs(e, {*x, *y});
  }

  const std::string row_;
  const Expr first_, last_;
};

// What b - a (less one for a < b) has to be at least 0 for a condition a <= b (a < b) on integers.
std::optional<Expr> SlackOf(const Expr& condition) {
  const bool is_strict = condition.op() == ExprOp::kLt;
  if (condition.op() != ExprOp::kLe && !is_strict) return std::nullopt;
  if (condition.arg(0).dtype() != DType::kI64) return std::nullopt;
  return condition.arg(1) - condition.arg(0) - (is_strict ? 1 : 0);
}

class Reach {
 public:
  Reach(const Attention& a, const Expr& first_row, const Expr& row_count)
      : a_(a), rows_(a.rows().name, first_row, first_row + row_count - 1) {}

  // Keys that the condition may hold for.
  KeyRange Of(const Expr& condition) const {
    const ExprOp op = condition.op();
    if (op == ExprOp::kAnd || op == ExprOp::kOr) {
      KeyRange range = Of(condition.arg(0));
      for (size_t i = 1; i < condition.args().size(); ++i) {
        const KeyRange other = Of(condition.arg(i));
        range = op == ExprOp::kAnd
                    ? KeyRange{Max(range.begin, other.begin), Min(range.end, other.end)}
                    : KeyRange{Min(range.begin, other.begin), Max(range.end, other.end)};
      }
      return range;
    }
    const std::optional<Expr> slack = SlackOf(condition);
    return slack ? WhereNotNegative(*slack) : All();
  }

 private:
  KeyRange All() const { return {0, a_.keys}; }
  Expr Inside(const Expr& key) const { return Min(Max(key, 0), a_.keys); }

  KeyRange WhereNotNegative(const Expr& slack) const {
    const std::optional<Affine> affine = AsAffine(slack, {a_.key_axis}, a_.scores.bounds);
    if (!affine) return All();
    const auto found = affine->coefficients.find(a_.key_axis);
    const std::optional<int64_t> step =
        found == affine->coefficients.end() ? 0 : found->second.AsInt();
    const std::optional<Expr> most = rows_.End(affine->rest, /*largest=*/true);
    if (!step || !most) return All();
    // step * key + most >= 0
    if (*step == 0) return {0, Select(Le(Expr(0), *most), a_.keys, 0)};
    if (*step < 0) return {0, Inside(FloorDiv(*most, -*step) + 1)};
    return {Inside(CeilDiv(Expr(0) - *most, *step)), a_.keys};
  }

  const Attention& a_;
  const OverRows rows_;
};

}  // namespace

KeyRange ReachedKeys(const Attention& attention, const Expr& first_row, const Expr& row_count) {
  Expr condition = Bool(true);
  for (const Seen& seen : Masks(attention).found()) {
    if (seen.hidden == kLeast) condition = And(condition, seen.condition);
  }
  return Reach(attention, first_row, row_count).Of(Simplify(condition, attention.scores.bounds));
}

std::optional<MaskOfElements> ReadMaskOfElements(const Attention& attention) {
  std::optional<MaskOfElements> mask;
  double hidden = kLeast;
  const Masks masks(attention);
  for (const Seen& seen : masks.found()) {
    if (masks.UsesStages(seen.condition)) return std::nullopt;  // which follows from the scores
    hidden = std::max(hidden, seen.hidden);
    const bool differs = std::ranges::any_of(LoadsOf(seen.condition), [&](const Expr& load) {
      return UsesVar(load, attention.key_axis);
    });
    if (!differs) continue;
    if (!mask) mask = {.seen = Bool(true)};
    mask->seen = And(mask->seen, seen.condition);
  }
  if (mask) mask->hidden = hidden;  // what another mask hides may be that instead
  return mask;
}

Expr IsFarBelow(double hidden, const Expr& top) {
  if (hidden == kLeast) return Bool(true);
  constexpr double kDepth = 110;  // exp of less than -104 is less than half of the least f32
  return Lt(FloatConst(hidden + kDepth), top);
}

}  // namespace aotc
