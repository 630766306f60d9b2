// The checks that every LoopFunction passes: names, types, buffers, and barriers (in
// uniform_control.cc).
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "compiler/ir/expr_text.h"
#include "compiler/ir/loops_text.h"
#include "compiler/ir/uniform_control.h"
#include "compiler/support/names.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

struct Variable {
  DType dtype = DType::kI64;
  int lanes = 1;
  bool is_mutable = false;
};

class Verifier {
 public:
  explicit Verifier(const LoopFunction& function) : function_(function) {}

  absl::Status Run() {
    CheckBuffers();
    CheckParams();
    CheckOfSymbols(function_.tasks, "the number of tasks");
    const bool known_index = function_.index == DType::kI64 || function_.index == DType::kI32;
    Require(known_index, StrCat("indices cannot be ", DTypeName(function_.index)));
    for (const Symbol& symbol : function_.symbols) Define(symbol.var, Index());
    const int64_t group = function_.group, threads = function_.threads;
    Require(threads >= 1, "a task has no threads");
    Require(group >= 0 && (group == 0 || threads % group == 0),
            StrCat("groups of ", group, " do not divide ", threads, " threads"));
    Define("task", Index());
    if (function_.threads > 1) Define("thread", Index());
    if (function_.body.valid()) {
      CheckStmt(function_.body);
      // That looks at expressions, which have to be sound.
      if (complaints_.empty()) complaints_ = DivergentBarriers(function_);
    } else {
      Complain("there is no body");
    }
    if (complaints_.empty()) return absl::OkStatus();
    return absl::InternalError(StrCat("loops @", function_.name, ": ", StrJoin(complaints_, "; ")));
  }

 private:
  void Complain(std::string text) { complaints_.push_back(std::move(text)); }
  void Require(bool condition, const std::string& text) {
    if (!condition) Complain(text);
  }

  // --- Buffers ------------------------------------------------------------------------------

  void CheckBuffers() {
    std::set<std::string> names;
    for (const LoopBuffer& buffer : function_.buffers) {
      const std::string name = StrCat("%", buffer.name);
      Require(IsIdentifier(buffer.name), StrCat("'", buffer.name, "' is no identifier"));
      Require(names.insert(buffer.name).second, StrCat(name, " is declared twice"));
      if (buffer.place == BufferPlace::kParam) continue;
      Require(buffer.elements >= 0 && buffer.offset >= 0, StrCat(name, " has a negative size"));
      Require(buffer.written, StrCat(name, " is never written"));
      const int64_t end = buffer.offset + buffer.elements * ByteWidth(buffer.dtype);
      Require(buffer.place != BufferPlace::kScratch || end <= function_.scratch_bytes,
              StrCat(name, " ends at byte ", end, " of ", function_.scratch_bytes));
    }
  }

  void CheckParams() {
    std::set<TensorId> params;
    for (TensorId id : function_.params) {
      if (!function_.buffers.Contains(id)) return Complain("a parameter is no buffer");
      Require(params.insert(id).second, StrCat("%", Name(id), " is a parameter twice"));
    }
    for (TensorId id : function_.buffers.ids()) {
      const bool is_param = function_.buffers[id].place == BufferPlace::kParam;
      Require(params.contains(id) == is_param,
              StrCat("%", Name(id), is_param ? " is not a parameter" : " is a parameter"));
    }
  }

  const std::string& Name(TensorId id) const { return function_.buffers[id].name; }

  bool CheckBuffer(TensorId id, std::string_view what) {
    const bool exists = function_.buffers.Contains(id);
    Require(exists, StrCat(what, " has no buffer"));
    return exists;
  }

  // --- Names --------------------------------------------------------------------------------

  void Define(const std::string& name, Variable variable) {
    Require(IsIdentifier(name), StrCat("'", name, "' is no identifier"));
    const bool is_new = variables_.insert_or_assign(name, variable).second;
    Require(is_new, StrCat(name, " is defined within the reach of another ", name));
  }

  // --- Expressions --------------------------------------------------------------------------

  std::string Text(const Expr& e) const {
    const auto names = [this](TensorId id) {
      return function_.buffers.Contains(id) ? Name(id) : StrCat("?", id.index());
    };
    return PrintExpr(e, names, function_.index);
  }

  void CheckExpr(const Expr& e) {
    Visit(e, [this](const Expr& node) {
      if (node.IsVar()) CheckVar(node);
      if (node.op() == ExprOp::kLoad) return CheckLoad(node);
      CheckLanes(node);
    });
  }

  void CheckVar(const Expr& e) {
    const auto found = variables_.find(e->name);
    if (found == variables_.end()) return Complain(StrCat(e->name, " is not defined"));
    const Variable& variable = found->second;
    Require(variable.dtype == e.dtype() && variable.lanes == e.lanes(),
            StrCat(e->name, " is used as ", TypeText(e.dtype(), e.lanes()), " and defined as ",
                   TypeText(variable.dtype, variable.lanes)));
  }

  static std::string TypeText(DType dtype, int lanes) {
    return lanes == 1 ? StrCat(DTypeName(dtype)) : StrCat(DTypeName(dtype), "<", lanes, ">");
  }

  // One index; of several lanes also a stride and, where it is masked, a count.
  void CheckLoad(const Expr& load) {
    if (!CheckBuffer(load->tensor, "a load")) return;
    const LoopBuffer& buffer = function_.buffers[load->tensor];
    Require(buffer.dtype == load.dtype(),
            StrCat("%", buffer.name, " is read as ", DTypeName(load.dtype())));
    const size_t count = load.args().size(), most = load.lanes() == 1 ? 1 : 3;
    Require(count >= std::min<size_t>(most, 2) && count <= most,
            StrCat(Text(load), " has ", count, " arguments"));
    for (const Expr& arg : load.args()) RequireScalar(arg, load);
  }

  Variable Index() const { return {.dtype = function_.index}; }

  void RequireScalar(const Expr& arg, const Expr& user) {
    Require(arg.dtype() == function_.index && arg.lanes() == 1,
            StrCat(Text(arg), " is no single ", DTypeName(function_.index), " in ", Text(user)));
  }

  // What the host can compute.
  void CheckOfSymbols(const Expr& e, std::string_view what) {
    if (!e.valid()) return Complain(StrCat(what, " is missing"));
    Require(e.dtype() == DType::kI64 && e.lanes() == 1, StrCat(what, " is no single i64"));
    for (const std::string& name : FreeVars(e)) {
      const bool known = std::ranges::any_of(
          function_.symbols, [&](const Symbol& symbol) { return symbol.var == name; });
      Require(known, StrCat(name, " is not defined"));
    }
    Require(LoadsOf(e).empty(), StrCat(what, " is loaded"));
  }

  void CheckLanes(const Expr& e) {
    switch (e.op()) {
      case ExprOp::kRamp:
        for (const Expr& arg : e.args()) RequireScalar(arg, e);
        return;
      case ExprOp::kBroadcast:
        return Require(e.arg(0).lanes() == 1, StrCat(Text(e), " has lanes already"));
      case ExprOp::kLaneSum:
      case ExprOp::kLaneMax:
      case ExprOp::kLaneMin:
        return Require(e.lanes() == 1 && e.arg(0).lanes() > 1, StrCat(Text(e), " has no lanes"));
      default: break;
    }
    for (size_t i = 0; i < e.args().size(); ++i) {
      // One condition may choose for all lanes.
      const bool uniform = e.op() == ExprOp::kSelect && i == 0 && e.arg(0).lanes() == 1;
      Require(uniform || e.arg(i).lanes() == e.lanes(), StrCat("lanes differ in ", Text(e)));
    }
  }

  void CheckIndex(const Expr& e, std::string_view what) {
    if (!e.valid()) return Complain(StrCat(what, " is missing"));
    CheckExpr(e);
    Require(e.dtype() == function_.index && e.lanes() == 1,
            StrCat(what, " is no single ", DTypeName(function_.index)));
  }

  void CheckValue(const Expr& e, std::string_view what) {
    if (!e.valid()) return Complain(StrCat(what, " is missing"));
    CheckExpr(e);
  }

  // --- Statements ---------------------------------------------------------------------------

  void CheckBody(const std::vector<Stmt>& body) {
    const auto saved = variables_;
    for (const Stmt& stmt : body) CheckStmt(stmt);
    variables_ = saved;
  }

  void CheckStmt(const Stmt& stmt) {
    const StmtNode& node = *stmt;
    switch (node.kind) {
      case StmtKind::kBlock: return CheckBody(node.body);
      case StmtKind::kFor: return CheckFor(node);
      case StmtKind::kIf: return CheckIf(node);
      case StmtKind::kLet:
      case StmtKind::kDeclare: return CheckDefinition(node);
      case StmtKind::kAssign: return CheckAssign(node);
      case StmtKind::kStore: return CheckStore(node);
      case StmtKind::kBarrier: return;
      case StmtKind::kTile: return CheckTile(*node.tile);
      case StmtKind::kComment: return;
    }
  }

  void CheckFor(const StmtNode& loop) {
    CheckIndex(loop.min, StrCat("the start of ", loop.name));
    CheckIndex(loop.extent, StrCat("the extent of ", loop.name));
    const auto saved = variables_;
    Define(loop.name, Index());
    CheckBody(loop.body);
    variables_ = saved;
  }

  void CheckIf(const StmtNode& branch) {
    CheckValue(branch.value, "a condition");
    const bool is_bool =
        branch.value.valid() && branch.value.dtype() == DType::kBool && branch.value.lanes() == 1;
    Require(is_bool, "a condition is no single bool");
    CheckBody(branch.body);
    CheckBody(branch.else_body);
  }

  void CheckDefinition(const StmtNode& node) {
    CheckValue(node.value, node.name);
    if (!node.value.valid()) return;
    Define(node.name, {.dtype = node.value.dtype(),
                       .lanes = node.value.lanes(),
                       .is_mutable = node.kind == StmtKind::kDeclare});
  }

  void CheckAssign(const StmtNode& node) {
    CheckValue(node.value, node.name);
    const auto found = variables_.find(node.name);
    if (found == variables_.end()) return Complain(StrCat(node.name, " is not defined"));
    const Variable& variable = found->second;
    Require(variable.is_mutable, StrCat(node.name, " cannot be assigned to"));
    const bool fits = node.value.valid() && node.value.dtype() == variable.dtype &&
                      node.value.lanes() == variable.lanes;
    Require(fits, StrCat(node.name, " is assigned a value of another type"));
  }

  void CheckStore(const StmtNode& store) {
    CheckIndex(store.index, "the index of a store");
    CheckValue(store.value, "the value of a store");
    if (store.extent.valid()) CheckIndex(store.extent, "the count of a store");
    if (!CheckBuffer(store.buffer, "a store") || !store.value.valid()) return;
    const LoopBuffer& buffer = function_.buffers[store.buffer];
    Require(buffer.written, StrCat("%", buffer.name, " is stored to but not written"));
    Require(buffer.dtype == store.value.dtype(),
            StrCat("%", buffer.name, " is ", DTypeName(buffer.dtype), " and is stored ",
                   DTypeName(store.value.dtype())));
    Require(!store.extent.valid() || store.value.lanes() > 1,
            StrCat("a store of one lane to %", buffer.name, " has a count"));
  }

  // --- Tile functions -----------------------------------------------------------------------

  void CheckTile(const TileCall& tile) {
    Require(IsIdentifier(tile.tile), StrCat("'", tile.tile, "' is no identifier"));
    for (const Expr& extent : tile.extents) CheckIndex(extent, StrCat("an extent of ", tile.tile));
    for (const TileOperand& operand : tile.operands) {
      if (const auto* view = std::get_if<TileView>(&operand)) CheckView(*view);
      if (const auto* object = std::get_if<TileObject>(&operand)) CheckObject(*object);
      if (const auto* combiner = std::get_if<TileCombiner>(&operand)) CheckCombiner(*combiner);
    }
    for (const std::string& name : tile.state) {
      const auto found = variables_.find(name);
      Require(found != variables_.end() && found->second.is_mutable,
              StrCat(name, " cannot be a state of ", tile.tile));
    }
  }

  void CheckPointer(TensorId buffer, const Expr& offset) {
    CheckBuffer(buffer, "a pointer");
    CheckIndex(offset, "the offset of a pointer");
  }

  void CheckView(const TileView& view) {
    CheckPointer(view.buffer, view.offset);
    for (const Expr& stride : view.strides) CheckIndex(stride, "a stride");
  }

  // Operands are named a0, b0, a1, ... and have the types of the identity.
  void CheckCombiner(const TileCombiner& argument) {
    const Combiner& combiner = argument.combiner;
    Require(IsIdentifier(argument.name), StrCat("'", argument.name, "' is no identifier"));
    const size_t count = combiner.identity.size();
    if (count == 0 || combiner.combine.size() != count) {
      return Complain(StrCat("combiner ", argument.name, " has not one combination an identity"));
    }
    const auto saved = std::exchange(variables_, {});
    for (size_t i = 0; i < count; ++i) {
      CheckExpr(combiner.identity[i]);
      const Variable operand{.dtype = combiner.identity[i].dtype()};
      Define(StrCat("a", i), operand);
      Define(StrCat("b", i), operand);
    }
    for (size_t i = 0; i < count; ++i) {
      CheckExpr(combiner.combine[i]);
      Require(combiner.combine[i].dtype() == combiner.identity[i].dtype(),
              StrCat("combiner ", argument.name, " changes the type of its operands"));
    }
    variables_ = saved;
  }

  // A function object has copies of what it uses of the outside.
  void CheckObject(const TileObject& object) {
    Require(IsIdentifier(object.name), StrCat("'", object.name, "' is no identifier"));
    const auto saved = variables_;
    for (auto& [name, variable] : variables_) variable.is_mutable = false;
    for (const TileFunctor& method : object.methods) CheckMethod(method);
    variables_ = saved;
  }

  void CheckMethod(const TileFunctor& method) {
    const auto saved = variables_;
    for (const FunctorParam& param : method.params) {
      if (param.pointer.valid()) {
        CheckBuffer(param.pointer, "a parameter");
        continue;
      }
      // A parameter may hide a variable of the outside, but no symbol: rules write expressions over
      // symbols and parameters alike.
      const bool is_symbol = std::ranges::any_of(
          function_.symbols, [&](const Symbol& symbol) { return symbol.var == param.name; });
      if (!is_symbol) variables_.erase(param.name);
      Define(param.name, {.dtype = param.dtype, .lanes = param.lanes});
      if (param.most.valid()) CheckOfSymbols(param.most, StrCat("the most of ", param.name));
    }
    for (const Stmt& stmt : method.body) CheckStmt(stmt);
    if (method.result.valid()) CheckExpr(method.result);
    if (method.result_pointer.valid()) CheckPointer(method.result_pointer, method.result_offset);
    Require(!method.result.valid() || !method.result_pointer.valid(),
            StrCat(method.method, " returns two things"));
    variables_ = saved;
  }

  const LoopFunction& function_;
  std::map<std::string, Variable> variables_;
  std::vector<std::string> complaints_;
};

}  // namespace

absl::Status VerifyLoops(const LoopFunction& function) { return Verifier(function).Run(); }

}  // namespace aotc
