#include "compiler/lower/index_width.h"

#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/lower/narrow_expr.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

class Narrower {
 public:
  explicit Narrower(const LoopFunction& function) : function_(function), exprs_(function) {}

  // The narrow function; of no use where there is a complaint.
  LoopFunction Run() {
    LoopFunction narrow = function_;
    scope().bounds = BoundsOf(function_.symbols);
    for (const Symbol& symbol : function_.symbols) {
      scope().indices.insert(symbol.var);
      exprs_.Check(Var(symbol.var));
    }
    scope().Define("task", 0, function_.tasks - 1);
    scope().Define("thread", 0, function_.threads - 1);
    exprs_.Check(function_.tasks - 1);
    narrow.body = Narrow(function_.body);
    narrow.index = DType::kI32;
    return narrow;
  }

  const std::string& complaint() const { return exprs_.complaint(); }

 private:
  IndexScope& scope() { return exprs_.scope(); }

  std::vector<Stmt> Body(const std::vector<Stmt>& body) {
    const IndexScope saved = scope();
    std::vector<Stmt> result;
    result.reserve(body.size());
    for (const Stmt& stmt : body) result.push_back(Narrow(stmt));
    scope() = saved;
    return result;
  }

  Stmt Narrow(const Stmt& stmt) {
    StmtNode node = *stmt;
    switch (node.kind) {
      case StmtKind::kBlock: node.body = Body(node.body); break;
      case StmtKind::kFor: NarrowFor(node); break;
      case StmtKind::kIf: NarrowIf(node); break;
      case StmtKind::kLet: NarrowLet(node); break;
      case StmtKind::kDeclare:
        // What changes in loops has no bounds that are easily told.
        if (node.value.dtype() == DType::kI64) scope().DefineData(node.name);
        node.value = exprs_.Value(node.value);
        break;
      case StmtKind::kAssign: node.value = exprs_.Value(node.value); break;
      case StmtKind::kStore:
        node.index = exprs_.Index(node.index);
        node.value = exprs_.Value(node.value);
        break;
      case StmtKind::kTile: node.tile = Narrow(*node.tile); break;
      case StmtKind::kBarrier:
      case StmtKind::kComment: break;
    }
    return Stmt(std::move(node));
  }

  // How far the iterations of a thread lie apart.
  Expr StepOf(LoopKind kind) const {
    if (kind == LoopKind::kGrid) return GridStride(function_);
    if (kind != LoopKind::kThread) return 1;
    return function_.group == 0 ? function_.threads : function_.group;
  }

  // A loop ends when its variable has passed the last value by less than a step; threads begin
  // within the first step.
  void NarrowFor(StmtNode& loop) {
    const Expr min = loop.min, extent = loop.extent, step = StepOf(loop.loop);
    exprs_.Check(step);
    exprs_.Check(min + step - 1);
    exprs_.Check(min + extent);
    exprs_.Check(min + extent + step - 1);
    loop.min = exprs_.Index(min);
    loop.extent = exprs_.Index(extent);
    const IndexScope saved = scope();
    scope().Define(loop.name, min, MostOf(min + extent - 1));
    loop.body = Body(loop.body);
    scope() = saved;
  }

  void NarrowIf(StmtNode& branch) {
    const Expr condition = branch.value;
    branch.value = exprs_.Value(condition);
    const IndexScope saved = scope();
    Refine(scope(), condition, function_.symbols);
    branch.body = Body(branch.body);
    scope() = saved;
    branch.else_body = Body(branch.else_body);
  }

  void NarrowLet(StmtNode& let) {
    const Expr value = let.value;
    if (value.dtype() != DType::kI64) {
      let.value = exprs_.Value(value);
      return;
    }
    const Interval range = RangeOf(value, scope().bounds);
    const std::optional<Expr> index = exprs_.TryIndex(value);
    if (!index && exprs_.HasData(value)) {
      let.value = exprs_.Value(value);
      scope().DefineData(let.name, range);
      return;
    }
    let.value = exprs_.Index(value);
    scope().Define(let.name, range.min, MostOf(value));
  }

  Expr MostOf(const Expr& e) { return aotc::MostOf(e, scope().bounds, function_.symbols); }

  // --- Tile functions -----------------------------------------------------------------------

  // Tiles reach behind their beginnings and ends, by less than this.
  static constexpr int64_t kTileReach = 1024;

  std::shared_ptr<const TileCall> Narrow(TileCall tile) {
    for (Expr& extent : tile.extents) {
      exprs_.Check(extent + kTileReach);
      extent = exprs_.Index(extent);
    }
    for (TileOperand& operand : tile.operands) {
      if (TileView* view = std::get_if<TileView>(&operand)) NarrowView(*view);
      TileObject* object = std::get_if<TileObject>(&operand);
      if (object == nullptr) continue;
      for (TileFunctor& method : object->methods) NarrowMethod(method);
    }
    return std::make_shared<const TileCall>(std::move(tile));
  }

  void NarrowView(TileView& view) {
    view.offset = exprs_.Index(view.offset);
    for (Expr& stride : view.strides) stride = exprs_.Index(stride);
  }

  // Of the i64 parameters those with a known range are indices, the others elements.
  void NarrowMethod(TileFunctor& method) {
    const IndexScope saved = scope();
    for (FunctorParam& param : method.params) {
      if (param.pointer.valid() || param.dtype != DType::kI64) continue;
      if (!param.most.valid()) {
        scope().DefineData(param.name);
        continue;
      }
      exprs_.Check(param.most);
      scope().Define(param.name, 0, param.most);
      param.dtype = DType::kI32;
    }
    for (Stmt& stmt : method.body) stmt = Narrow(stmt);
    if (method.result.valid()) method.result = Result(method.result);
    if (method.result_offset.valid()) method.result_offset = exprs_.Index(method.result_offset);
    scope() = saved;
  }

  Expr Result(const Expr& e) {
    const bool is_i64 = e.dtype() == DType::kI64;
    const std::optional<Expr> index = is_i64 ? exprs_.TryIndex(e) : std::nullopt;
    if (index || (is_i64 && !exprs_.HasData(e))) return exprs_.Index(e);
    return exprs_.Value(e);
  }

  const LoopFunction& function_;
  NarrowExprs exprs_;
};

}  // namespace

std::string UseNarrowIndices(LoopFunction& function) {
  Narrower narrower(function);
  LoopFunction narrow = narrower.Run();
  if (narrower.complaint().empty()) function = std::move(narrow);
  return narrower.complaint();
}

}  // namespace aotc
