#include "compiler/lower/nest_pieces.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "compiler/lower/nest_stages.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// A condition that holds for the axis below `at` and not from there on, or the other way round.
struct Choice {
  Expr condition = {};
  bool holds_before = true;
  Expr at = {};
};

bool IsOver(const Expr& e, const std::set<std::string>& known) {
  bool is_over = true;
  Visit(e, [&](const Expr& node) {
    const bool is_unknown = node.IsVar() && !known.contains(node->name);
    if (is_unknown || node.op() == ExprOp::kLoad) is_over = false;
  });
  return is_over;
}

// Reads `condition`, a comparison of integers, as one of the axis with something known.
std::optional<Choice> AsChoice(const Expr& condition, const std::string& axis,
                               const std::set<std::string>& known, const Bounds& bounds) {
  const bool is_strict = condition.op() == ExprOp::kLt;
  if (!is_strict && condition.op() != ExprOp::kLe) return std::nullopt;
  if (condition.arg(0).dtype() != DType::kI64 || condition.lanes() > 1) return std::nullopt;
  const std::optional<Affine> affine =
      AsAffine(condition.arg(0) - condition.arg(1), {axis}, bounds);
  if (!affine || !affine->coefficients.contains(axis)) return std::nullopt;
  const std::optional<int64_t> sign = affine->coefficients.at(axis).AsInt();
  if ((sign != 1 && sign != -1) || !IsOver(affine->rest, known)) return std::nullopt;
  // axis + rest < 0 holds below -rest, rest - axis < 0 from rest + 1 on.
  const Expr at =
      sign == 1 ? (is_strict ? 0 : 1) - affine->rest : affine->rest + (is_strict ? 1 : 0);
  return Choice{.condition = condition, .holds_before = sign == 1, .at = Simplify(at, bounds)};
}

// Names that have one value along the axis: symbols, and the axes around it.
std::set<std::string> KnownBefore(const Nest& nest, size_t axis) {
  std::set<std::string> known;
  std::set<std::string> inside;
  for (size_t i = axis; i < nest.outer.size(); ++i) inside.insert(nest.outer[i].name);
  for (const FlatStage& stage : nest.stages) {
    for (const Axis& inner : stage.inner) inside.insert(inner.name);
    for (const Axis& reduced : stage.reduce) inside.insert(reduced.name);
    for (const FlatResult& result : stage.results) inside.insert(result.variable);
    for (const Expr& body : stage.bodies) {
      Visit(body, [&](const Expr& node) {
        if (node.IsVar()) known.insert(node->name);
      });
    }
  }
  for (const std::string& name : inside) known.erase(name);
  return known;
}

std::optional<Choice> FirstChoice(const Nest& nest, size_t axis) {
  const std::set<std::string> known = KnownBefore(nest, axis);
  std::optional<Choice> found;
  for (const FlatStage& stage : nest.stages) {
    for (const Expr& body : stage.bodies) {
      Visit(body, [&](const Expr& node) {
        if (!found) found = AsChoice(node, nest.outer[axis].name, known, nest.bounds);
      });
    }
  }
  return found;
}

// Points of an axis, `extent` from `begin` on, for all of which a condition holds or does not.
struct Piece {
  Expr begin = {};
  Expr extent = {};
  bool holds = true;
};

Nest PieceOf(Nest nest, size_t axis, const Piece& piece, const Expr& condition) {
  NestAxis& walked = nest.outer[axis];
  walked.extent = Simplify(piece.extent, nest.bounds);
  nest.bounds.Add(walked.name, 0, walked.extent - 1);
  const Substitution shift = {{walked.name, Var(walked.name) + piece.begin}};
  for (FlatStage& stage : nest.stages) {
    for (Expr& body : stage.bodies) {
      const Expr decided = Transform(
          body, [&](const Expr& node) { return Same(node, condition) ? Bool(piece.holds) : node; });
      body = Simplify(Substitute(decided, shift), nest.bounds);
    }
    for (FlatResult& result : stage.results) {
      if (result.index.valid())
        result.index = Simplify(Substitute(result.index, shift), nest.bounds);
    }
  }
  return nest;
}

enum class Form : uint8_t { kShort, kVectors, kScalars };

// Short: less than half a vector along the axis. `pieces`: how many more there may be.
Form HaveVectors(const Nest& nest, int lanes, int& pieces) {
  const NestAxis& axis = nest.outer.back();
  if (RangeOf(axis.extent, nest.bounds).max * 2 < lanes) return Form::kShort;
  const Lanes along{.var = axis.name, .first = Var("first"), .count = lanes};
  if (PointStatements(nest, &along).has_value()) return Form::kVectors;
  if (--pieces < 0) return Form::kScalars;
  const std::optional<NestPieces> parts = PartAt(nest, nest.outer.size() - 1);
  if (!parts) return Form::kScalars;
  const Form before = HaveVectors(parts->before, lanes, pieces);
  if (before == Form::kScalars) return before;
  return std::max(before, HaveVectors(parts->behind, lanes, pieces));
}

}  // namespace

std::optional<NestPieces> PartAt(const Nest& nest, size_t axis) {
  if (nest.HasStatistics() || nest.valid.valid() || !nest.is_point) return std::nullopt;
  const std::optional<Choice> choice = FirstChoice(nest, axis);
  if (!choice) return std::nullopt;
  const Expr& extent = nest.outer[axis].extent;
  NestPieces pieces;
  pieces.cut_value = Simplify(Max(Expr(0), Min(choice->at, extent)), nest.bounds);
  Expr cut = pieces.cut_value;
  Nest whole = nest;
  if (!cut.IsConst() && !cut.IsVar()) {
    // One name for each condition on the way to here: the bounds know those that are taken.
    for (int i = 0; pieces.cut_name.empty() || nest.bounds.Find(pieces.cut_name) != nullptr; ++i)
      pieces.cut_name = StrCat(nest.outer[axis].name, i == 0 ? "" : StrCat("_", i), "_cut");
    cut = Var(pieces.cut_name);
    whole.bounds.Add(pieces.cut_name, 0, extent);
  }
  const bool holds = choice->holds_before;
  pieces.before = PieceOf(whole, axis, {0, cut, holds}, choice->condition);
  pieces.behind = PieceOf(whole, axis, {cut, extent - cut, !holds}, choice->condition);
  return pieces;
}

bool PointsHaveVectors(const Nest& nest, int lanes) {
  constexpr int kMostPieces = 64;  // code for each of them would be read by somebody
  int pieces = kMostPieces;
  return !nest.outer.empty() && HaveVectors(nest, lanes, pieces) == Form::kVectors;
}

}  // namespace aotc
