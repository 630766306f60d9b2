#include "compiler/lower/updates.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "compiler/lower/nest_stages.h"
#include "compiler/schedule/nest_form.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr double kWorthwhile = 4;  // as often the steps of the other form

// A condition in its parts, those that guard others in front.
void Split(const Expr& condition, std::vector<Expr>& parts) {
  const bool is_guarded = condition.op() == ExprOp::kSelect && condition.arg(2).IsInt(0);
  if (condition.op() != ExprOp::kAnd && !is_guarded) return parts.push_back(condition);
  Split(condition.arg(0), parts);
  Split(condition.arg(1), parts);
}

// What an element is where a condition holds, and else.
struct Choice {
  Expr condition = {}, value = {}, otherwise = {};
};

std::optional<Choice> ReadChoice(const Expr& body) {
  if (body.op() == ExprOp::kSelect) return Choice{body.arg(0), body.arg(1), body.arg(2)};
  const bool counts = body.op() == ExprOp::kCast && body.arg(0).dtype() == DType::kBool;
  if (!counts) return std::nullopt;
  return Choice{body.arg(0), NumberConst(1, body.dtype()), NumberConst(0, body.dtype())};
}

class Reader {
 public:
  Reader(const Nest& nest, const FlatStage& stage)
      : nest_(nest), stage_(stage), bounds_(StageBounds(nest, stage)) {}

  std::optional<Updates> Run() {
    const bool in_memory = stage_.bodies.size() == 1 && !stage_.reduce.empty() &&
                           stage_.results[0].index.valid() &&
                           stage_.results[0].dtype == stage_.bodies[0].dtype();
    if (!in_memory) return std::nullopt;
    const std::optional<Choice> choice = ReadChoice(stage_.bodies[0]);
    if (!choice) return std::nullopt;
    const std::optional<Expr> first = First(*choice);
    if (!first) return std::nullopt;
    updates_.first = *first;
    updates_.value = choice->value;
    std::vector<Expr> parts;
    Split(choice->condition, parts);
    for (const Expr& part : parts) {
      if (!AddPlace(part)) updates_.conditions.push_back(part);
    }
    if (updates_.places.empty() || !IsSound() || !IsWorthwhile()) return std::nullopt;
    return std::move(updates_);
  }

 private:
  // An element that does not count is the identity, or it is no more than any value of a maximum.
  std::optional<Expr> First(const Choice& choice) const {
    const Expr& identity = stage_.combiner.identity[0];
    const Expr otherwise = Simplify(choice.otherwise, bounds_);
    if (Same(otherwise, identity)) return identity;
    if (!otherwise.IsConst() || !IsInteger(otherwise.dtype())) return std::nullopt;
    const Interval values = RangeOf(choice.value, bounds_), other = RangeOf(otherwise, bounds_);
    const bool is_least = stage_.combiner.name == "max" && other.max <= values.min;
    const bool is_most = stage_.combiner.name == "min" && other.min >= values.max;
    if (!is_least && !is_most) return std::nullopt;
    Expr is_any = Bool(true);
    for (const Axis& axis : stage_.reduce) is_any = And(is_any, Lt(0, axis.extent));
    return Simplify(Select(is_any, otherwise, identity), bounds_);
  }

  bool IsFound(std::string_view name) const { return updates_.HasPlaceOf(name); }

  bool AddPlace(const Expr& part) {
    if (part.op() != ExprOp::kEq) return false;
    for (const size_t side : {size_t{0}, size_t{1}}) {
      const Expr &own = part.arg(side), &at = part.arg(1 - side);
      if (!own.IsVar() || at.dtype() != DType::kI64 || IsFound(own->name)) continue;
      const auto axis = std::ranges::find(stage_.inner, own->name, &Axis::name);
      if (axis == stage_.inner.end()) continue;
      updates_.places.push_back({*axis, at});
      return true;
    }
    return false;
  }

  // What is asked before a place is known does not depend on it.
  bool IsSound() const {
    const auto is_free = [&](const Expr& e) {
      const std::set<std::string> names = FreeVars(e);
      return std::ranges::none_of(names, [&](const std::string& name) { return IsFound(name); });
    };
    return std::ranges::all_of(updates_.conditions, is_free) &&
           std::ranges::all_of(updates_.places,
                               [&](const auto& place) { return is_free(place.at); });
  }

  double Most(const std::vector<Axis>& axes, bool found) const {
    double count = 1;
    for (const Axis& axis : axes) {
      const auto extent = static_cast<double>(RangeOf(axis.extent, nest_.bounds).max);
      if (found || !IsFound(axis.name)) count *= std::max(extent, 1.0);
    }
    return count;
  }

  bool IsWorthwhile() const {
    const double elements = Most(stage_.inner, true), taken = Most(stage_.reduce, true);
    return elements * taken > kWorthwhile * (elements + taken * Most(stage_.inner, false));
  }

  const Nest& nest_;
  const FlatStage& stage_;
  const Bounds bounds_;
  Updates updates_;
};

// Axes of the result that no place is of: those on which depends where an element goes, and others.
std::pair<std::vector<Axis>, std::vector<Axis>> OtherAxes(const FlatStage& stage,
                                                          const Updates& updates) {
  std::set<std::string> found, asked;
  for (const Updates::Place& place : updates.places) {
    found.insert(place.axis.name);
    asked.merge(FreeVars(place.at));
  }
  for (const Expr& condition : updates.conditions) asked.merge(FreeVars(condition));
  std::vector<Axis> first, rest;
  for (const Axis& axis : stage.inner) {
    if (!found.contains(axis.name)) (asked.contains(axis.name) ? first : rest).push_back(axis);
  }
  return {first, rest};
}

}  // namespace

bool Updates::HasPlaceOf(std::string_view axis) const {
  return std::ranges::any_of(places, [&](const Place& place) { return place.axis.name == axis; });
}

std::optional<Updates> ReadUpdates(const Nest& nest, const FlatStage& stage) {
  return Reader(nest, stage).Run();
}

std::vector<Stmt> UpdateLoops(const FlatStage& stage, const Updates& updates, const Expr& owned) {
  const FlatResult& result = stage.results[0];
  const Expr stored = Load(result.tensor, {result.index}, result.dtype);
  const Expr next = Substitute(stage.combiner.combine[0], {{"a0", stored}, {"b0", updates.value}});
  const auto [asked, others] = OtherAxes(stage, updates);
  std::vector<Stmt> body = Around(others, {Store(result.tensor, result.index, next)});
  if (owned.valid()) body = {If(owned, std::move(body))};
  std::vector<Stmt> places, known;
  Expr within;
  for (const Updates::Place& place : updates.places) {
    const std::string name = place.axis.name + "_at";
    const Expr at = Var(name);
    places.push_back(Let(name, place.at));
    known.push_back(Let(place.axis.name, Min(Max(at, 0), place.axis.extent - 1)));
    const Expr inside = And(Le(0, at), Lt(at, place.axis.extent));
    within = within.valid() ? And(within, inside) : inside;
  }
  known.insert(known.end(), body.begin(), body.end());
  places.push_back(If(within, std::move(known)));
  for (size_t c = updates.conditions.size(); c-- > 0;) {
    places = {If(updates.conditions[c], std::move(places))};
  }
  return Around(stage.reduce, Around(asked, std::move(places)));
}

std::optional<Nest> UpdateNest(const Kernel& kernel) {
  const bool looks = std::ranges::any_of(kernel.stages, [](const Stage& stage) {
    return stage.IsReduction() && ReadChoice(stage.body[0]);
  });
  if (!looks || !IsPointNest(kernel)) return std::nullopt;
  const absl::StatusOr<Nest> whole = BuildRowNest(kernel, 0);
  if (!whole.ok()) return std::nullopt;
  size_t shared = kernel.stages.front().axes.size();
  bool any = false;
  for (const FlatStage& stage : whole->stages) {
    const std::optional<Updates> updates = ReadUpdates(*whole, stage);
    if (stage.reduce.empty()) continue;
    if (!updates) return std::nullopt;
    any = true;
    for (size_t i = 0; i < stage.inner.size(); ++i) {
      if (updates->HasPlaceOf(stage.inner[i].name)) shared = std::min(shared, i);
    }
  }
  if (!any) return std::nullopt;
  absl::StatusOr<Nest> nest = BuildRowNest(kernel, shared);
  return nest.ok() ? std::optional<Nest>(*std::move(nest)) : std::nullopt;
}

}  // namespace aotc
