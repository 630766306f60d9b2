#include "compiler/lower/name_buffers.h"

#include <set>

#include "compiler/support/strings.h"

namespace aotc {
namespace {

// Names that emitters use for the function's own parameters.
constexpr const char* kParameters[] = {"task",    "task_begin", "task_end", "tasks",
                                       "scratch", "thread",     "stream",   "config"};

struct Taken {
  std::set<std::string> names;
  std::set<std::string> objects = {"all"};  // instances are called by these names and a number

  bool Has(const std::string& name) const {
    if (names.contains(name)) return true;
    const size_t digits = name.find_last_not_of("0123456789") + 1;
    return digits < name.size() && objects.contains(name.substr(0, digits));
  }
};

Taken TakenBy(const LoopFunction& function) {
  Taken taken;
  taken.names.insert(std::begin(kParameters), std::end(kParameters));
  for (const Symbol& symbol : function.symbols) taken.names.insert(symbol.var);
  VisitStmts(function.body, [&](const Stmt& stmt) {
    const bool declares = stmt.kind() == StmtKind::kFor || stmt.kind() == StmtKind::kLet ||
                          stmt.kind() == StmtKind::kDeclare;
    if (declares) taken.names.insert(stmt->name);
    if (stmt->tile == nullptr) return;
    for (const TileOperand& operand : stmt->tile->operands) {
      const TileObject* object = std::get_if<TileObject>(&operand);
      if (object == nullptr) continue;
      taken.objects.insert(object->name);
      for (const TileFunctor& method : object->methods) {
        for (const FunctorParam& param : method.params) taken.names.insert(param.name);
      }
    }
  });
  return taken;
}

}  // namespace

void NameBuffers(LoopFunction& function) {
  Taken taken = TakenBy(function);
  for (LoopBuffer& buffer : function.buffers) {
    while (taken.Has(buffer.name)) buffer.name += "_data";
    taken.names.insert(buffer.name);
  }
}

}  // namespace aotc
