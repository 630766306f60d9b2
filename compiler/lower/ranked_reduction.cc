#include "compiler/lower/ranked_reduction.h"

#include <utility>

#include "compiler/support/strings.h"

namespace aotc {
namespace {

// Takes what does not change along the row out of an expression, each value once.
class Hoister {
 public:
  Hoister(const FlatStage& stage, std::string stem) : stage_(stage), stem_(std::move(stem)) {}

  Expr Run(const Expr& e) {
    if (e.args().empty()) return e;
    if (e.op() != ExprOp::kLoad && IsUniform(e)) return Named(e);
    if (e.op() == ExprOp::kLoad) return e;
    std::vector<Expr> args;
    for (const Expr& arg : e.args()) args.push_back(Run(arg));
    return WithArgs(e, std::move(args));
  }

  std::vector<Stmt> lets;

 private:
  bool IsUniform(const Expr& e) const {
    for (const Axis& axis : stage_.inner) {
      if (UsesVar(e, axis.name)) return false;
    }
    return LoadsOf(e).empty();
  }

  Expr Named(const Expr& e) {
    for (const Stmt& let : lets) {
      if (Same(let->value, e)) return Var(let->name, e.dtype());
    }
    lets.push_back(Let(StrCat(stem_, lets.size()), e));
    return Var(lets.back()->name, e.dtype());
  }

  const FlatStage& stage_;
  const std::string stem_;
};

Expr InMemory(const FlatResult& result) {
  return Load(result.tensor, {result.index}, result.dtype);
}

}  // namespace

bool IsRanked(const FlatStage& stage, size_t k) { return stage.results[k].inner_count > 0; }

bool HasSeveralRanks(const FlatStage& stage) {
  for (size_t k = 1; k < stage.results.size(); ++k) {
    if (stage.results[k].inner_count != stage.results[0].inner_count) return true;
  }
  return false;
}

// Fusion makes no others: the largest, sums, and rows that both of them scale.
absl::Status CheckRanks(const FlatStage& stage) {
  const int inner = static_cast<int>(stage.inner.size());
  for (size_t k = 0; k < stage.results.size() && HasSeveralRanks(stage); ++k) {
    const int count = stage.results[k].inner_count;
    if (count != 0 && count != inner)
      return absl::InternalError("a reduction has results of three ranks");
    if (count != 0 && stage.results[k].dtype != stage.bodies[k].dtype())
      return absl::InternalError("a row of a reduction has another type than its sum");
    for (size_t j = 0; j < stage.results.size(); ++j) {
      const Expr& combine = stage.combiner.combine[k];
      const bool needs = UsesVar(combine, StrCat("a", j)) || UsesVar(combine, StrCat("b", j));
      if (needs && j != k && IsRanked(stage, j))
        return absl::InternalError("a row of a reduction is needed by another result");
    }
  }
  return absl::OkStatus();
}

RankedStep SplitRanks(const FlatStage& stage, const std::function<std::string(size_t)>& variable) {
  RankedStep step;
  Substitution operands;
  for (size_t k = 0; k < stage.bodies.size(); ++k) {
    const Expr& body = stage.bodies[k];
    Expr &a = operands[StrCat("a", k)], &b = operands[StrCat("b", k)];
    if (IsRanked(stage, k)) {
      step.identities.push_back(stage.combiner.identity[k]);
      a = InMemory(stage.results[k]);
      b = body;
      continue;
    }
    step.before.push_back(Let(variable(k) + "_element", body));
    a = Var(variable(k), body.dtype());
    b = Var(variable(k) + "_element", body.dtype());
  }
  Hoister hoister(stage, variable(0) + "_factor");
  std::vector<Stmt> next_values;
  for (size_t k = 0; k < stage.bodies.size(); ++k) {
    const Expr combined = Substitute(stage.combiner.combine[k], operands);
    if (IsRanked(stage, k)) {
      step.combined.push_back(hoister.Run(combined));
      continue;
    }
    const std::string next = variable(k) + "_next";
    next_values.push_back(Let(next, combined));
    step.after.push_back(Assign(variable(k), Var(next, combined.dtype())));
  }
  step.before.insert(step.before.end(), hoister.lets.begin(), hoister.lets.end());
  step.before.insert(step.before.end(), next_values.begin(), next_values.end());
  return step;
}

}  // namespace aotc
