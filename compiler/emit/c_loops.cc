#include "compiler/emit/c_loops.h"

#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "compiler/emit/c_expr.h"
#include "compiler/emit/c_tiles.h"
#include "compiler/ir/expr_simplify.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// Name of the object that takes the results of a tile.
constexpr std::string_view kEpilogue = "epilogue";

// What a function object captures: variables by type, buffers.
struct Captures {
  std::map<std::string, std::pair<DType, int>> vars;  // name -> dtype, lanes
  std::set<TensorId> buffers;
};

std::set<std::string> NamesUsedBy(const TileFunctor& method) {
  std::set<std::string> names;
  auto see = [&](const Expr& e) { names.merge(FreeVars(e)); };
  for (const Stmt& stmt : method.body) VisitExprs(stmt, see);
  if (method.result.valid()) see(method.result);
  if (method.result_offset.valid()) see(method.result_offset);
  return names;
}

class Emitter {
 public:
  Emitter(const LoopFunction& function, const CSpelling& spelling)
      : function_(function),
        spelling_(spelling),
        printer_([&](TensorId id) { return function_.buffers[id].name; },
                 [&](TensorId id) { return function_.buffers[id].place == BufferPlace::kShared; },
                 [&](const std::string& name) { return data_vars_.contains(name); }) {}

  CKernelText Run() {
    if (function_.body.kind() == StmtKind::kBlock) {
      EmitBody(function_.body->body, text_.body);
    } else {
      EmitStmt(function_.body, text_.body);
    }
    // Values may be rounded to a type that no buffer has.
    if (printer_.uses().float8) text_.headers.insert("float8.h");
    if (printer_.uses().packed) text_.headers.insert("nibbles.h");
    if (spelling_.vectors && printer_.uses().vectors)
      text_.headers.insert({"vector.h", "vector_convert.h", "vector_math.h"});
    for (const LoopBuffer& buffer : function_.buffers) {
      if (IsFloat(buffer.dtype) && BitWidth(buffer.dtype) == 8) text_.headers.insert("float8.h");
      if (IsSubByte(buffer.dtype)) text_.headers.insert("nibbles.h");
    }
    return std::move(text_);
  }

 private:
  void EmitStmt(const Stmt& stmt, std::string& out) {
    switch (stmt.kind()) {
      case StmtKind::kBlock:
        StrAppend(&out, "{\n");
        EmitBody(stmt->body, out);
        StrAppend(&out, "}\n");
        return;
      case StmtKind::kFor: return EmitFor(*stmt, out);
      case StmtKind::kIf: return EmitIf(*stmt, out);
      case StmtKind::kLet: return EmitVariable("const ", *stmt, out);
      case StmtKind::kDeclare: return EmitVariable("", *stmt, out);
      case StmtKind::kAssign:
        StrAppend(&out, stmt->name, " = ", printer_.Print(stmt->value), ";\n");
        return;
      case StmtKind::kStore: return EmitStore(*stmt, out);
      case StmtKind::kBarrier: StrAppend(&out, spelling_.barrier, ";\n"); return;
      case StmtKind::kTile: return EmitTile(*stmt->tile, out);
      case StmtKind::kComment: StrAppend(&out, "// ", stmt->name, "\n"); return;
    }
  }

  void EmitBody(const std::vector<Stmt>& body, std::string& out) {
    for (const Stmt& stmt : body) EmitStmt(stmt, out);
  }

  void EmitFor(const StmtNode& loop, std::string& out) {
    const std::string& name = loop.name;
    std::string start = printer_.Print(loop.min), step = "++" + name;
    if (loop.loop == LoopKind::kThread || loop.loop == LoopKind::kGrid) {
      const auto [first, stride] = Dealing(loop.loop);
      start = StrCat(loop.min.IsInt(0) ? "" : printer_.Term(loop.min) + " + ", first);
      step = StrCat(name, " += ", stride);
    }
    const Expr end = Simplify(loop.min + loop.extent);
    const std::string goes_on = printer_.Print(Lt(Var(name, end.dtype()), end));
    if (loop.loop == LoopKind::kUnrolled) StrAppend(&out, "AOTC_UNROLL(8)\n");
    StrAppend(&out, "for (", CValueType(function_.index), " ", name, " = ", start, "; ", goes_on,
              "; ", step, ") {\n");
    EmitBody(loop.body, out);
    StrAppend(&out, "}\n");
  }

  // The first iteration of a thread, and the distance to its next.
  std::pair<std::string, std::string> Dealing(LoopKind kind) const {
    const int64_t threads = function_.threads;
    if (kind == LoopKind::kGrid) {
      return {StrCat("task * ", threads, " + thread"), printer_.Print(GridStride(function_))};
    }
    const bool whole = function_.group == 0 || function_.group == threads;
    return {whole ? "thread" : "lane", StrCat(whole ? threads : function_.group)};
  }

  void EmitIf(const StmtNode& branch, std::string& out) {
    StrAppend(&out, "if (", printer_.Print(branch.value), ") {\n");
    EmitBody(branch.body, out);
    if (!branch.else_body.empty()) {
      StrAppend(&out, "} else {\n");
      EmitBody(branch.else_body, out);
    }
    StrAppend(&out, "}\n");
  }

  void EmitVariable(std::string_view qualifier, const StmtNode& variable, std::string& out) {
    const Expr& value = variable.value;
    types_[variable.name] = {value.dtype(), value.lanes()};
    if (qualifier.empty() || printer_.HasData(value)) data_vars_.insert(variable.name);
    StrAppend(&out, qualifier, CValueType(value.dtype(), value.lanes()), " ", variable.name, " = ",
              printer_.Print(value), ";\n");
  }

  void EmitStore(const StmtNode& store, std::string& out) {
    const LoopBuffer& buffer = function_.buffers[store.buffer];
    const Expr& value = store.value;
    if (value.lanes() > 1) {
      // The store converts to a small type by itself.
      const bool converts =
          value.op() == ExprOp::kCast && ComputeType(value.dtype()) != value.dtype();
      const bool masked = store.extent.valid();
      // Lanes that hold are all ones.
      const bool is_mask = value.dtype() == DType::kBool;
      StrAppend(&out, masked ? "aotc_store_first(" : "aotc_store(",
                printer_.Pointer(store.buffer, store.index), ", ",
                is_mask ? StrCat("(", printer_.Print(value), ") & 1")
                        : printer_.Print(converts ? value.arg(0) : value),
                masked ? StrCat(", ", printer_.Print(store.extent)) : "", ");\n");
      return;
    }
    StrAppend(&out, buffer.name, "[", printer_.Print(store.index), "] = ", printer_.Print(value),
              ";\n");
  }

  // Elements that share bytes have a name for tiles, which are given the byte of the first.
  static std::string TileElement(DType dtype) {
    return IsSubByte(dtype) ? StrCat("aotc_", DTypeName(dtype)) : CElementType(dtype);
  }
  std::string TilePointer(TensorId id, const Expr& at) const {
    const DType dtype = function_.buffers[id].dtype;
    if (!IsSubByte(dtype)) return printer_.Pointer(id, at);
    return printer_.Pointer(id, Simplify(FloorDiv(at, 8 / BitWidth(dtype))));
  }

  void EmitTile(const TileCall& tile, std::string& out) {
    const TileRow* row = FindTile(spelling_.tiles, tile.tile);
    AOTC_CHECK(row != nullptr) << tile.tile;
    text_.headers.insert(std::string(row->header));
    TileText text{.value = [&](const Expr& e) { return printer_.Print(e); },
                  .pointer = [&](TensorId id, const Expr& at) { return TilePointer(id, at); },
                  .element = [&](TensorId id) { return TileElement(function_.buffers[id].dtype); },
                  .index = CValueType(function_.index)};
    for (const TileOperand& operand : tile.operands) {
      text.objects.push_back(EmitOperand(operand, *row, out));
    }
    const std::string enter = SpellEnter(*row, tile, text);
    if (text_.enter.empty() && !enter.empty()) {
      text_.enter = StrCat(enter, ";\n");
      text_.leave = StrCat(row->leave, ";\n");
    }
    const bool differs = !enter.empty() && StrCat(enter, ";\n") != text_.enter;
    if (differs) StrAppend(&out, enter, ";\n");
    if (tile.state.empty()) {
      StrAppend(&out, SpellTile(*row, tile, text), ";\n");
    } else {
      EmitStateCall(*row, tile, std::move(text), out);
    }
    if (differs) StrAppend(&out, text_.enter);
  }

  // variable = f(variable, arguments); several variables go through a struct.
  void EmitStateCall(const TileRow& row, const TileCall& tile, TileText text, std::string& out) {
    if (tile.state.size() == 1) {
      text.state = tile.state[0];
      StrAppend(&out, tile.state[0], " = ", SpellTile(row, tile, text), ";\n");
      return;
    }
    const std::string all = StrCat("all", objects_++), state = combiner_type_ + "::state";
    text.state = StrCat(state, "{", absl::StrJoin(tile.state, ", "), "}");
    StrAppend(&out, "const ", state, " ", all, " = ", SpellTile(row, tile, text), ";\n");
    for (size_t k = 0; k < tile.state.size(); ++k) {
      StrAppend(&out, tile.state[k], " = ", all, ".v", k, ";\n");
    }
  }

  // What stands for an operand that is no view.
  std::string EmitOperand(const TileOperand& operand, const TileRow& row, std::string& out) {
    if (const auto* combiner = std::get_if<TileCombiner>(&operand)) return EmitCombiner(*combiner);
    const auto* object = std::get_if<TileObject>(&operand);
    return object == nullptr ? "" : EmitObject(*object, row, out);
  }

  // Writes the struct before the kernel; returns a value of it.
  std::string EmitCombiner(const TileCombiner& argument) {
    const Combiner& combiner = argument.combiner;
    const bool single = combiner.identity.size() == 1;
    combiner_type_ = StrCat(function_.name, "_", argument.name, objects_++);
    std::string fields, identity, combined;
    Substitution operands;
    for (size_t k = 0; k < combiner.identity.size(); ++k) {
      const DType dtype = combiner.identity[k].dtype();
      StrAppend(&fields, CValueType(dtype), " v", k, ";\n");
      for (const char* side : {"a", "b"}) {
        const std::string field = single ? side : StrCat(side, ".v", k);
        operands[StrCat(side, k)] = Var(field, dtype);
        data_vars_.insert(field);
      }
    }
    for (size_t k = 0; k < combiner.identity.size(); ++k) {
      const char* comma = k == 0 ? "" : ", ";
      StrAppend(&identity, comma, printer_.Print(combiner.identity[k]));
      StrAppend(&combined, comma, printer_.Print(Substitute(combiner.combine[k], operands)));
    }
    const std::string type = single ? CValueType(combiner.identity[0].dtype()) : "state";
    const std::string state = single ? "" : StrCat("struct state {\n", fields, "};\n");
    const std::string qualifier = StrCat(spelling_.object_qualifier, " ", type);
    StrAppend(&text_.objects, "struct ", combiner_type_, " {\n", state);
    // Braces around a scalar are a warning of clang.
    auto value = [&](const std::string& text) { return single ? text : StrCat("{", text, "}"); };
    if (argument.has_identity) {
      StrAppend(&text_.objects, qualifier, " identity() const { return ", value(identity), "; }\n");
    }
    StrAppend(&text_.objects, qualifier, " combine(", type, " a, ", type, " b) const { return ",
              value(combined), "; }\n};\n\n");
    return combiner_type_ + "{}";
  }

  // Writes the struct before the kernel and an instance of it before the call; returns its name.
  std::string EmitObject(const TileObject& object, const TileRow& row, std::string& out) {
    const bool derives = object.name == kEpilogue && !row.epilogue_base.empty();
    Captures captures = CapturesOf(object);
    const std::string type = StrCat(function_.name, "_", object.name, objects_);
    const std::string instance = StrCat(object.name, objects_++);
    std::string fields;
    std::vector<std::string> values;
    if (derives) values.push_back("{}");
    for (TensorId id : captures.buffers) {
      const LoopBuffer& buffer = function_.buffers[id];
      StrAppend(&fields, buffer.written ? "" : "const ", CElementType(buffer.dtype), " *",
                buffer.name, ";\n");
      values.push_back(buffer.name);
    }
    for (const auto& [name, type_of] : captures.vars) {
      StrAppend(&fields, CValueType(type_of.first, type_of.second), " ", name, ";\n");
      values.push_back(name);
    }
    std::string methods;
    for (const auto& [name, value] : object.constants) {
      StrAppend(&methods, "enum { ", name, " = ", value, " };\n");
    }
    for (const TileFunctor& method : object.methods) EmitMethod(method, methods);
    StrAppend(&text_.objects, "struct ", type, derives ? " : " : "",
              derives ? row.epilogue_base : "", " {\n", fields, methods, "};\n\n");
    StrAppend(&out, "const ", type, " ", instance, " = {", absl::StrJoin(values, ", "), "};\n");
    return instance;
  }

  void EmitMethod(const TileFunctor& method, std::string& out) {
    std::vector<std::string> params;
    const std::set<std::string> used = NamesUsedBy(method);
    for (const FunctorParam& param : method.params) {
      if (param.pointer.valid()) {
        const LoopBuffer& buffer = function_.buffers[param.pointer];
        params.push_back(
            StrCat(buffer.written ? "" : "const ", CElementType(buffer.dtype), " *", buffer.name));
        continue;
      }
      params.push_back(StrCat(CValueType(param.dtype, param.lanes),
                              used.contains(param.name) ? " " + param.name : ""));
    }
    std::string result = "void";
    if (method.result.valid()) result = CValueType(method.result.dtype(), method.result.lanes());
    if (method.result_pointer.valid()) {
      result = StrCat("const ", CElementType(function_.buffers[method.result_pointer].dtype), " *");
    }
    StrAppend(&out, spelling_.object_qualifier, " ", result, " ", method.method, "(",
              absl::StrJoin(params, ", "), ") const {\n");
    EmitBody(method.body, out);
    if (method.result.valid()) StrAppend(&out, "return ", printer_.Print(method.result), ";\n");
    if (method.result_pointer.valid()) {
      StrAppend(&out, "return ", printer_.Pointer(method.result_pointer, method.result_offset),
                ";\n");
    }
    StrAppend(&out, "}\n");
  }

  Captures CapturesOf(const TileObject& object) {
    Captures captures;
    for (const TileFunctor& method : object.methods) AddCaptures(method, captures);
    for (const TileFunctor& method : object.methods) {  // what methods are given, the object lacks
      for (const FunctorParam& param : method.params) {
        if (param.pointer.valid()) captures.buffers.erase(param.pointer);
      }
    }
    return captures;
  }

  void AddCaptures(const TileFunctor& method, Captures& captures) {
    std::set<std::string> own;
    for (const FunctorParam& param : method.params) own.insert(param.name);
    auto see = [&](const Expr& e) {
      Visit(e, [&](const Expr& node) { See(node, own, captures); });
    };
    for (const Stmt& stmt : method.body) {
      VisitStmts(stmt, [&](const Stmt& inner) {
        const StmtKind kind = inner.kind();
        if (kind == StmtKind::kLet || kind == StmtKind::kDeclare || kind == StmtKind::kFor) {
          own.insert(inner->name);
        }
        if (kind == StmtKind::kStore) captures.buffers.insert(inner->buffer);
      });
      VisitExprs(stmt, see);
    }
    if (method.result.valid()) see(method.result);
    if (method.result_offset.valid()) see(method.result_offset);
    if (method.result_pointer.valid()) captures.buffers.insert(method.result_pointer);
  }

  void See(const Expr& node, const std::set<std::string>& own, Captures& captures) {
    if (node.op() == ExprOp::kLoad) captures.buffers.insert(node->tensor);
    if (!node.IsVar() || own.contains(node->name)) return;
    auto found = types_.find(node->name);
    captures.vars[node->name] =
        found == types_.end() ? std::pair(node.dtype(), node.lanes()) : found->second;
  }

  const LoopFunction& function_;
  const CSpelling& spelling_;
  CExprPrinter printer_;
  CKernelText text_;
  std::map<std::string, std::pair<DType, int>> types_;
  std::set<std::string> data_vars_ = {};  // hold what elements give
  std::string combiner_type_;             // of the latest combiner
  int objects_ = 0;
};

}  // namespace

CKernelText EmitTaskBody(const LoopFunction& function, const CSpelling& spelling) {
  return Emitter(function, spelling).Run();
}

}  // namespace aotc
