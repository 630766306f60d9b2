#include "compiler/ir/loops.h"

#include <utility>

#include "compiler/ir/expr_simplify.h"
#include "compiler/support/status.h"

namespace aotc {
namespace {

using ExprMap = std::function<Expr(const Expr&)>;

Expr Map(const Expr& e, const ExprMap& rewrite) { return e.valid() ? rewrite(e) : e; }

std::vector<Stmt> Map(const std::vector<Stmt>& body, const ExprMap& rewrite) {
  std::vector<Stmt> result;
  result.reserve(body.size());
  for (const Stmt& stmt : body) result.push_back(TransformExprs(stmt, rewrite));
  return result;
}

TileFunctor Map(TileFunctor functor, const ExprMap& rewrite) {
  functor.body = Map(functor.body, rewrite);
  functor.result = Map(functor.result, rewrite);
  functor.result_offset = Map(functor.result_offset, rewrite);
  return functor;
}

TileOperand Map(TileOperand operand, const ExprMap& rewrite) {
  if (TileView* view = std::get_if<TileView>(&operand)) {
    view->offset = Map(view->offset, rewrite);
    for (Expr& stride : view->strides) stride = Map(stride, rewrite);
  }
  if (TileObject* object = std::get_if<TileObject>(&operand)) {
    for (TileFunctor& method : object->methods) method = Map(std::move(method), rewrite);
  }
  return operand;
}

void VisitTile(const TileCall& tile, const std::function<void(const Stmt&)>& visit) {
  for (const TileOperand& operand : tile.operands) {
    const TileObject* object = std::get_if<TileObject>(&operand);
    if (object == nullptr) continue;
    for (const TileFunctor& method : object->methods) {
      for (const Stmt& stmt : method.body) VisitStmts(stmt, visit);
    }
  }
}

void VisitOwnExprs(const StmtNode& node, const std::function<void(const Expr&)>& visit) {
  auto see = [&](const Expr& e) {
    if (e.valid()) visit(e);
  };
  for (const Expr& e : {node.min, node.extent, node.value, node.index}) see(e);
  if (node.tile == nullptr) return;
  for (const Expr& extent : node.tile->extents) see(extent);
  for (const TileOperand& operand : node.tile->operands) {
    if (const TileView* view = std::get_if<TileView>(&operand)) {
      see(view->offset);
      for (const Expr& stride : view->strides) see(stride);
    }
    if (const TileObject* object = std::get_if<TileObject>(&operand)) {
      for (const TileFunctor& method : object->methods) {
        see(method.result);
        see(method.result_offset);
      }
    }
  }
}

}  // namespace

Stmt Block(std::vector<Stmt> body) {
  if (body.size() == 1) return body[0];
  return Stmt({.kind = StmtKind::kBlock, .body = std::move(body)});
}

Stmt For(std::string_view name, const Expr& min, const Expr& extent, std::vector<Stmt> body,
         LoopKind kind) {
  return Stmt({.kind = StmtKind::kFor,
               .loop = kind,
               .name = std::string(name),
               .min = min,
               .extent = extent,
               .body = std::move(body)});
}

Stmt If(const Expr& condition, std::vector<Stmt> body, std::vector<Stmt> else_body) {
  return Stmt({.kind = StmtKind::kIf,
               .value = condition,
               .body = std::move(body),
               .else_body = std::move(else_body)});
}

Stmt Let(std::string_view name, const Expr& value) {
  return Stmt({.kind = StmtKind::kLet, .name = std::string(name), .value = value});
}

Stmt Declare(std::string_view name, const Expr& value) {
  return Stmt({.kind = StmtKind::kDeclare, .name = std::string(name), .value = value});
}

Stmt Assign(std::string_view name, const Expr& value) {
  return Stmt({.kind = StmtKind::kAssign, .name = std::string(name), .value = value});
}

Stmt Store(TensorId buffer, const Expr& index, const Expr& value, const Expr& count) {
  return Stmt({.kind = StmtKind::kStore,
               .extent = count,
               .value = value,
               .index = index,
               .buffer = buffer});
}

Stmt Barrier() { return Stmt({.kind = StmtKind::kBarrier}); }

Stmt Comment(std::string_view text) {
  return Stmt({.kind = StmtKind::kComment, .name = std::string(text)});
}

Stmt Tile(TileCall call) {
  return Stmt({.kind = StmtKind::kTile, .tile = std::make_shared<const TileCall>(std::move(call))});
}

Expr GridStride(const LoopFunction& function) {
  return Simplify(function.tasks * function.threads, BoundsOf(function.symbols));
}

void VisitStmts(const Stmt& stmt, const std::function<void(const Stmt&)>& visit) {
  visit(stmt);
  for (const Stmt& inner : stmt->body) VisitStmts(inner, visit);
  for (const Stmt& inner : stmt->else_body) VisitStmts(inner, visit);
  if (stmt->tile != nullptr) VisitTile(*stmt->tile, visit);
}

void VisitExprs(const Stmt& stmt, const std::function<void(const Expr&)>& visit) {
  VisitStmts(stmt, [&](const Stmt& inner) { VisitOwnExprs(*inner, visit); });
}

namespace {

// Takes out of `buffers` those that are loaded from.
void EraseLoaded(const LoopFunction& function, std::vector<TensorId>& buffers) {
  VisitExprs(function.body, [&](const Expr& e) {
    Visit(e, [&](const Expr& node) {
      if (node.op() == ExprOp::kLoad) std::erase(buffers, node->tensor);
    });
  });
}

// Takes out those that a tile function has a pointer to.
void ErasePointedTo(const TileCall& tile, std::vector<TensorId>& buffers) {
  for (const TileOperand& operand : tile.operands) {
    if (const auto* view = std::get_if<TileView>(&operand)) std::erase(buffers, view->buffer);
    const auto* object = std::get_if<TileObject>(&operand);
    if (object == nullptr) continue;
    for (const TileFunctor& method : object->methods) {
      std::erase(buffers, method.result_pointer);
      for (const FunctorParam& param : method.params) std::erase(buffers, param.pointer);
    }
  }
}

}  // namespace

std::vector<TensorId> UnusedParams(const LoopFunction& function) {
  std::vector<TensorId> unused = function.params;
  VisitStmts(function.body, [&](const Stmt& stmt) {
    if (stmt.kind() == StmtKind::kStore) std::erase(unused, stmt->buffer);
    if (stmt.kind() == StmtKind::kTile) unused.clear();
  });
  EraseLoaded(function, unused);
  return unused;
}

std::vector<TensorId> UnreadBuffers(const LoopFunction& function) {
  std::vector<TensorId> unread;
  for (TensorId id : function.buffers.ids()) {
    if (function.buffers[id].place != BufferPlace::kParam) unread.push_back(id);
  }
  VisitStmts(function.body, [&](const Stmt& stmt) {
    if (stmt.kind() == StmtKind::kTile) ErasePointedTo(*stmt->tile, unread);
  });
  EraseLoaded(function, unread);
  return unread;
}

Stmt TransformExprs(const Stmt& stmt, const ExprMap& rewrite) {
  StmtNode node = *stmt;
  node.min = Map(node.min, rewrite);
  node.extent = Map(node.extent, rewrite);
  node.value = Map(node.value, rewrite);
  node.index = Map(node.index, rewrite);
  node.body = Map(node.body, rewrite);
  node.else_body = Map(node.else_body, rewrite);
  if (node.tile != nullptr) {
    TileCall tile = *node.tile;
    for (Expr& extent : tile.extents) extent = Map(extent, rewrite);
    for (TileOperand& operand : tile.operands) operand = Map(std::move(operand), rewrite);
    node.tile = std::make_shared<const TileCall>(std::move(tile));
  }
  return Stmt(std::move(node));
}

}  // namespace aotc
