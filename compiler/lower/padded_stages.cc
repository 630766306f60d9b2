// Points that only pad storage: what they store, and what they must not read.
#include <algorithm>
#include <utility>

#include "compiler/lower/nest_stages.h"

namespace aotc {
namespace {

bool ReadsBeyond(const Expr& e) {
  bool found = false;
  Visit(e, [&](const Expr& node) { found |= node->guarded; });
  return found;
}

bool IsStored(const FlatResult& result) { return result.index.valid(); }

// The nest of points that only pad: they are zero, and no part of any statistic.
Nest PaddingNest(Nest nest) {
  std::erase_if(nest.stages, [](const FlatStage& stage) {
    return !stage.over.empty() ||
           std::none_of(stage.results.begin(), stage.results.end(), IsStored);
  });
  for (FlatStage& stage : nest.stages) {
    for (Expr& body : stage.bodies) body = NumberConst(0, body.dtype());
    stage.reduce.clear();
  }
  nest.valid = {};
  return nest;
}

// `body` where that can be, else `otherwise`; either may have no statement.
std::vector<Stmt> Either(const Expr& condition, std::vector<Stmt> body,
                         std::vector<Stmt> otherwise) {
  if (body.empty() && otherwise.empty()) return {};
  if (body.empty()) return {If(Not(condition), std::move(otherwise))};
  return {If(condition, std::move(body), std::move(otherwise))};
}

}  // namespace

bool PaddingReadsBeyond(const Nest& nest) {
  if (!nest.valid.valid()) return false;
  for (const FlatStage& stage : nest.stages) {
    for (const Expr& body : stage.bodies) {
      if (ReadsBeyond(body)) return true;
    }
  }
  return false;
}

Nest GuardPadding(Nest nest) {
  for (FlatStage& stage : nest.stages) {
    for (Expr& body : stage.bodies) {
      if (ReadsBeyond(body)) body = Select(nest.valid, body, NumberConst(0, body.dtype()));
    }
  }
  return nest;
}

std::optional<std::vector<Stmt>> PaddedStatements(const Nest& nest, const Lanes& lanes,
                                                  const LaneRange& range) {
  const bool guarded = PaddingReadsBeyond(nest);
  if (guarded && !nest.padded.valid()) return std::nullopt;
  const Expr end = guarded ? nest.logical : range.stored;
  Nest exact = nest;
  if (guarded) exact.valid = {};
  std::optional<std::vector<Stmt>> whole = PointStatements(exact, &lanes);
  if (!whole || !end.valid()) return whole;
  const Expr is_whole = Le(range.first + lanes.count, end);
  if (Prove(is_whole, nest.bounds).value_or(false)) return whole;
  Lanes some = lanes;
  if (guarded) some.readable = Simplify(end - range.first, nest.bounds);
  if (range.stored.valid() && !ProveDivisible(range.stored, lanes.count)) {
    some.active = Simplify(range.stored - range.first, nest.bounds);
  }
  std::optional<std::vector<Stmt>> partial = std::vector<Stmt>{};
  if (!ProveDivisible(end, lanes.count)) partial = PointStatements(nest, &some);
  std::optional<std::vector<Stmt>> zeros = std::vector<Stmt>{};
  if (guarded) {
    some.readable = {};
    zeros = PointStatements(PaddingNest(nest), &some);
  }
  if (!partial || !zeros) return std::nullopt;
  if (range.stored.valid()) zeros = Either(Lt(range.first, range.stored), *std::move(zeros), {});
  return Either(is_whole, *std::move(whole),
                partial->empty()
                    ? *std::move(zeros)
                    : Either(Lt(range.first, end), *std::move(partial), *std::move(zeros)));
}

std::vector<Stmt> FillStatements(const Nest& nest) {
  std::vector<Stmt> body;
  for (const FlatStage& stage : nest.stages) {
    if (!stage.over.empty()) continue;
    for (const FlatResult& result : stage.results) {
      if (!result.index.valid()) continue;
      body.push_back(Store(result.tensor, result.index, NumberConst(nest.fill, result.dtype)));
    }
  }
  return body;
}

}  // namespace aotc
