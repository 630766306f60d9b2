#include "compiler/ir/uniform_control.h"

#include <set>

#include "compiler/support/strings.h"

namespace aotc {
namespace {

class Divergence {
 public:
  explicit Divergence(const LoopFunction& function) : function_(function) {}

  std::vector<std::string> Run() {
    varying_.insert("thread");
    // A variable may turn out to vary after uses of it were seen: until nothing is added.
    for (size_t before = 0; before != varying_.size();) {
      before = varying_.size();
      messages_.clear();
      Walk(function_.body, "");
    }
    return std::move(messages_);
  }

 private:
  bool Varies(const Expr& e) const {
    bool varies = false;
    Visit(e, [&](const Expr& node) {
      varies |= node.IsVar() && varying_.contains(node->name);
      varies |= node.op() == ExprOp::kLoad &&
                function_.buffers[node->tensor].place == BufferPlace::kLocal;
    });
    return varies;
  }

  // `cause` says what around the statement differs among threads; "" where nothing does.
  void Walk(const Stmt& stmt, const std::string& cause) {
    const StmtNode& node = *stmt;
    switch (node.kind) {
      case StmtKind::kFor: return WalkFor(node, cause);
      case StmtKind::kIf: return WalkIf(node, cause);
      case StmtKind::kBarrier:
        if (!cause.empty()) messages_.push_back(StrCat("a barrier is under ", cause));
        return;
      case StmtKind::kLet:
      case StmtKind::kDeclare:
      case StmtKind::kAssign:
        if (!cause.empty() || Varies(node.value)) varying_.insert(node.name);
        return;
      default: return WalkBody(node.body, cause);
    }
  }

  void WalkBody(const std::vector<Stmt>& body, const std::string& cause) {
    for (const Stmt& stmt : body) Walk(stmt, cause);
  }

  void WalkFor(const StmtNode& loop, const std::string& cause) {
    const bool dealt = loop.loop == LoopKind::kThread || loop.loop == LoopKind::kGrid;
    const bool differs = dealt || Varies(loop.min) || Varies(loop.extent);
    if (differs) varying_.insert(loop.name);
    WalkBody(loop.body, differs ? StrCat("the loop over ", loop.name) : cause);
  }

  void WalkIf(const StmtNode& branch, const std::string& cause) {
    const std::string inner =
        Varies(branch.value) ? "a condition that differs among threads" : cause;
    WalkBody(branch.body, inner);
    WalkBody(branch.else_body, inner);
  }

  const LoopFunction& function_;
  std::set<std::string> varying_;
  std::vector<std::string> messages_;
};

}  // namespace

std::vector<std::string> DivergentBarriers(const LoopFunction& function) {
  return Divergence(function).Run();
}

}  // namespace aotc
