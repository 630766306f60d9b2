#include "compiler/lower/tidy_loops.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "compiler/lower/name_buffers.h"

namespace aotc {
namespace {

bool IsNonNegative(const Expr& e, const Bounds& bounds) { return RangeOf(e, bounds).min >= 0; }

// floor_div(a, b) -> a / b and mod(a, b) -> a % b where a >= 0 and b > 0: what C has operators for.
Expr SpellDivisions(const Expr& e, const Bounds& bounds) {
  return Transform(e, [&](const Expr& node) {
    if (node.dtype() != DType::kI64 || node.lanes() > 1) return node;
    const bool is_division = node.op() == ExprOp::kFloorDiv || node.op() == ExprOp::kMod;
    if (!is_division || !IsNonNegative(node.arg(0), bounds) || RangeOf(node.arg(1), bounds).min < 1)
      return node;
    return Binary(node.op() == ExprOp::kFloorDiv ? ExprOp::kDiv : ExprOp::kTruncMod, node.arg(0),
                  node.arg(1));
  });
}

// Without the lets that no later statement of `body` reads, nor the expressions `behind` it. Loops
// over the threads of a group read `lane` (LoopFunction::group).
std::vector<Stmt> WithoutUnusedLets(std::vector<Stmt> body, const std::vector<Expr>& behind = {}) {
  std::set<std::string> used;
  const auto use = [&](const Expr& e) {
    Visit(e, [&](const Expr& node) {
      if (node.IsVar()) used.insert(node->name);
    });
  };
  for (const Expr& e : behind) {
    if (e.valid()) use(e);
  }
  for (size_t i = body.size(); i-- > 0;) {
    if (body[i].kind() == StmtKind::kLet && !used.contains(body[i]->name)) {
      body.erase(body.begin() + static_cast<ptrdiff_t>(i));
    } else {
      VisitExprs(body[i], use);
      VisitStmts(body[i], [&](const Stmt& inner) {
        if (inner.kind() == StmtKind::kFor && inner->loop == LoopKind::kThread) used.insert("lane");
      });
    }
  }
  return body;
}

class Tidier {
 public:
  explicit Tidier(Bounds bounds, std::vector<TensorId> unread = {})
      : bounds_(std::move(bounds)), unread_(std::move(unread)) {}

  std::vector<Stmt> Body(const std::vector<Stmt>& body) {
    const Bounds saved = bounds_;
    const Substitution known = known_;
    std::vector<Stmt> result;
    for (const Stmt& stmt : body) {
      for (Stmt& tidy : Run(stmt)) result.push_back(std::move(tidy));
    }
    bounds_ = saved;
    known_ = known;
    return WithoutUnusedLets(std::move(result));
  }

 private:
  Expr Tidy(const Expr& e) const {
    if (!e.valid()) return e;
    return SpellDivisions(Simplify(Substitute(e, known_), bounds_), bounds_);
  }

  // What a statement becomes, in its place.
  std::vector<Stmt> Run(const Stmt& stmt) {
    switch (stmt.kind()) {
      case StmtKind::kBlock: return {Block(Body(stmt->body))};
      case StmtKind::kFor: return RunFor(*stmt);
      case StmtKind::kIf: return RunIf(*stmt);
      case StmtKind::kLet: return RunLet(*stmt);
      case StmtKind::kTile: return {RunTile(*stmt)};
      case StmtKind::kStore:
        if (std::ranges::find(unread_, stmt->buffer) != unread_.end()) return {};
        [[fallthrough]];
      default: return {TransformExprs(stmt, [&](const Expr& e) { return Tidy(e); })};
    }
  }

  std::vector<Stmt> RunFor(const StmtNode& loop) {
    const Expr min = Tidy(loop.min), extent = Tidy(loop.extent);
    if (extent.IsInt(0)) return {};
    const Bounds saved = bounds_;
    const Substitution known = known_;
    known_.erase(loop.name);
    std::vector<Stmt> result;
    if (extent.IsInt(1) && loop.loop == LoopKind::kSerial) {
      known_[loop.name] = min;
      result = {Block(Body(loop.body))};
    } else {
      bounds_.Add(loop.name, min, min + extent - 1);
      result = {For(loop.name, min, extent, Body(loop.body), loop.loop)};
    }
    bounds_ = saved;
    known_ = known;
    return result;
  }

  std::vector<Stmt> RunIf(const StmtNode& branch) {
    const Expr condition = Tidy(branch.value);
    if (condition.IsInt(1)) return {Block(Body(branch.body))};
    if (condition.IsInt(0))
      return branch.else_body.empty() ? std::vector<Stmt>{}
                                      : std::vector{Block(Body(branch.else_body))};
    const Bounds saved = bounds_;
    bounds_.AddFact(condition);
    std::vector<Stmt> body = Body(branch.body);
    bounds_ = saved;
    return {If(condition, std::move(body), Body(branch.else_body))};
  }

  std::vector<Stmt> RunLet(const StmtNode& let) {
    const Expr value = Tidy(let.value);
    known_.erase(let.name);
    if (value.dtype() != DType::kI64 || value.lanes() > 1) return {Let(let.name, value)};
    const Interval range = RangeOf(value, bounds_);
    if (range.min == range.max) {
      known_[let.name] = range.min;
      return {};
    }
    if (HasElements(value, bounds_)) {
      bounds_.AddElement(let.name, range);
    } else if (range.min != INT64_MIN && range.max != INT64_MAX) {
      bounds_.Add(let.name, range.min, range.max);
    }
    return {Let(let.name, value)};
  }

  Stmt RunTile(const StmtNode& stmt) {
    TileCall tile = *stmt.tile;
    for (Expr& extent : tile.extents) extent = Tidy(extent);
    for (TileOperand& operand : tile.operands) {
      if (TileView* view = std::get_if<TileView>(&operand)) {
        view->offset = Tidy(view->offset);
        for (Expr& stride : view->strides) stride = Tidy(stride);
      }
      TileObject* object = std::get_if<TileObject>(&operand);
      if (object == nullptr) continue;
      for (TileFunctor& method : object->methods) RunMethod(method);
    }
    return Tile(std::move(tile));
  }

  // Names of parameters hide what is known outside.
  void RunMethod(TileFunctor& method) {
    const Bounds saved = bounds_;
    const Substitution known = known_;
    for (const FunctorParam& param : method.params) {
      known_.erase(param.name);
      if (param.dtype != DType::kI64) continue;
      bounds_.Add(param.name, 0, param.most.valid() ? param.most : Expr(INT32_MAX));
    }
    std::vector<Stmt> body;
    for (const Stmt& stmt : method.body) {
      for (Stmt& tidy : Run(stmt)) body.push_back(std::move(tidy));
    }
    method.result = Tidy(method.result);
    method.result_offset = Tidy(method.result_offset);
    method.body = WithoutUnusedLets(std::move(body), {method.result, method.result_offset});
    bounds_ = saved;
    known_ = known;
  }

  Bounds bounds_;
  Substitution known_;
  std::vector<TensorId> unread_;  // what is stored there is dropped
};

}  // namespace

Stmt TidyLoops(const Stmt& stmt, const Bounds& bounds) {
  return Block(Tidier(bounds).Body({stmt}));
}

void TidyLoops(LoopFunction& function) {
  Bounds bounds = BoundsOf(function.symbols);
  bounds.Add("task", 0, function.tasks - 1);
  bounds.Add("thread", 0, function.threads - 1);
  const std::vector<Stmt> body = function.body.kind() == StmtKind::kBlock
                                     ? function.body->body
                                     : std::vector<Stmt>{function.body};
  const std::vector<TensorId> unread = UnreadBuffers(function);
  function.body = Stmt({.kind = StmtKind::kBlock, .body = Tidier(bounds, unread).Body(body)});
  for (TensorId id : unread) function.buffers[id].elements = 0;
  NameBuffers(function);
}

}  // namespace aotc
