#include "compiler/ir/loops_text.h"

#include "compiler/ir/kernel_text.h"
#include "compiler/ir/shape_text.h"
#include "compiler/ir/symbol_text.h"
#include "compiler/support/code_writer.h"
#include "compiler/support/literals.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

std::string_view PlaceName(BufferPlace place) {
  switch (place) {
    case BufferPlace::kParam: return "param";
    case BufferPlace::kScratch: return "scratch";
    case BufferPlace::kLocal: return "local";
    case BufferPlace::kShared: return "shared";
  }
  return "?";
}

std::string_view LoopPrefix(LoopKind kind) {
  switch (kind) {
    case LoopKind::kSerial: return "";
    case LoopKind::kUnrolled: return "unrolled ";
    case LoopKind::kThread: return "thread ";
    case LoopKind::kGrid: return "grid ";
  }
  return "?";
}

class Printer {
 public:
  explicit Printer(const LoopFunction& function) : function_(function) {
    names_ = [this](TensorId id) { return NameOf(id); };
  }

  std::string Run() {
    {
      const auto scope = writer_.Block(Header());
      for (const Symbol& symbol : function_.symbols) writer_.Line(PrintSymbol(symbol));
      PrintBuffers();
      if (function_.body.valid()) PrintTop(function_.body);
    }
    return writer_.Take();
  }

 private:
  std::string NameOf(TensorId id) const {
    return function_.buffers.Contains(id) ? function_.buffers[id].name : StrCat("?", id.index());
  }

  std::string Text(const Expr& e) const { return PrintExpr(e, names_, function_.index); }

  std::string Header() const {
    const std::string params = StrJoin(function_.params, ", ", [this](TensorId id) {
      const bool exists = function_.buffers.Contains(id);
      const LoopBuffer buffer = exists ? function_.buffers[id] : LoopBuffer{};
      return StrCat(buffer.written ? "out " : "", "%", NameOf(id), ": ", DTypeName(buffer.dtype));
    });
    std::string text =
        StrCat("loops @", function_.name, "(", params, ") tasks ", PrintExpr(function_.tasks));
    if (function_.threads != 1) StrAppend(&text, " threads ", function_.threads);
    if (function_.group != 0) StrAppend(&text, " group ", function_.group);
    if (function_.scratch_bytes != 0) StrAppend(&text, " scratch ", function_.scratch_bytes);
    if (function_.index != DType::kI64) StrAppend(&text, " index ", DTypeName(function_.index));
    return text + " {";
  }

  void PrintBuffers() {
    for (const LoopBuffer& buffer : function_.buffers) {
      if (buffer.place == BufferPlace::kParam) continue;
      const std::string at = buffer.offset != 0 ? StrCat(" at ", buffer.offset) : "";
      writer_.Line(StrCat(PlaceName(buffer.place), " %", buffer.name, ": ", DTypeName(buffer.dtype),
                          "[", buffer.elements, "]", at));
    }
  }

  // The statements of a body stand in the braces of what they belong to.
  void PrintTop(const Stmt& body) {
    if (body.kind() == StmtKind::kBlock) return PrintBody(body->body);
    PrintStmt(body);
  }

  void PrintBody(const std::vector<Stmt>& body) {
    for (const Stmt& stmt : body) PrintStmt(stmt);
  }

  void PrintNested(const std::string& open, const std::vector<Stmt>& body,
                   std::string_view close = "}") {
    const auto scope = writer_.Block(open, close);
    PrintBody(body);
  }

  void PrintStmt(const Stmt& stmt) {
    const StmtNode& node = *stmt;
    switch (node.kind) {
      case StmtKind::kBlock: return PrintNested("block {", node.body);
      case StmtKind::kFor: return PrintFor(node);
      case StmtKind::kIf: return PrintIf(node);
      case StmtKind::kLet: return PrintDefinition("let ", node);
      case StmtKind::kDeclare: return PrintDefinition("declare ", node);
      case StmtKind::kAssign: return PrintDefinition("assign ", node);
      case StmtKind::kStore: return PrintStore(node);
      case StmtKind::kBarrier: return writer_.Line("barrier");
      case StmtKind::kTile: return PrintTile(*node.tile);
      case StmtKind::kComment: return writer_.Line(StrCat("comment ", QuotedText(node.name)));
    }
  }

  void PrintFor(const StmtNode& loop) {
    const std::optional<int64_t> min = loop.min.AsInt(), extent = loop.extent.AsInt();
    int64_t end = 0;
    std::string range = StrCat(Text(loop.min), " ..+ ", Text(loop.extent));
    if (min == 0) {
      range = StrCat("0..", Text(loop.extent));
    } else if (min && extent && !__builtin_add_overflow(*min, *extent, &end)) {
      range = StrCat(*min, "..", end);
    }
    PrintNested(StrCat(LoopPrefix(loop.loop), "for ", loop.name, " in ", range, " {"), loop.body);
  }

  void PrintIf(const StmtNode& branch) {
    const bool has_else = !branch.else_body.empty();
    PrintNested(StrCat("if ", Text(branch.value), " {"), branch.body, has_else ? "" : "}");
    if (has_else) PrintNested("} else {", branch.else_body);
  }

  void PrintDefinition(std::string_view word, const StmtNode& node) {
    writer_.Line(StrCat(word, node.name, " = ", Text(node.value)));
  }

  void PrintStore(const StmtNode& store) {
    const std::string count = store.extent.valid() ? StrCat(" first ", Text(store.extent)) : "";
    writer_.Line(StrCat("store %", NameOf(store.buffer), "[", Text(store.index),
                        "] = ", Text(store.value), count));
  }

  std::string Pointer(TensorId buffer, const Expr& offset) const {
    return StrCat("&%", NameOf(buffer), "[", Text(offset), "]");
  }

  // &%x[offset], or &%x[offset] by (stride, ...)
  std::string ViewText(const TileView& view) const {
    const std::string start = Pointer(view.buffer, view.offset);
    return view.strides.empty() ? start : StrCat(start, " by (", Texts(view.strides), ")");
  }

  std::string Texts(const std::vector<Expr>& exprs) const {
    return StrJoin(exprs, ", ", [this](const Expr& e) { return Text(e); });
  }

  void PrintTile(const TileCall& tile) {
    std::string open = StrCat("call ", tile.tile);
    if (!tile.params.empty()) StrAppend(&open, "<", StrJoin(tile.params, ", "), ">");
    if (tile.lanes > 1) StrAppend(&open, " lanes ", tile.lanes);
    if (!tile.extents.empty()) StrAppend(&open, " extents (", Texts(tile.extents), ")");
    if (!tile.state.empty()) StrAppend(&open, " state (", StrJoin(tile.state, ", "), ")");
    const auto scope = writer_.Block(open + " {");
    for (const TileOperand& operand : tile.operands) {
      PrintOperand(operand, &operand == &tile.operands.back() ? "" : ",");
    }
  }

  void PrintOperand(const TileOperand& operand, std::string_view comma) {
    if (const auto* object = std::get_if<TileObject>(&operand)) return PrintObject(*object, comma);
    const auto* view = std::get_if<TileView>(&operand);
    writer_.Line(StrCat(
        view != nullptr ? ViewText(*view) : CombinerText(std::get<TileCombiner>(operand)), comma));
  }

  static std::string CombinerText(const TileCombiner& argument) {
    const Combiner& combiner = argument.combiner;
    const std::string details = IsStockCombiner(combiner.name)
                                    ? StrCat(DTypeName(combiner.identity[0].dtype()))
                                    : PrintCombiner(combiner);
    return StrCat("combiner ", argument.name, " = ", combiner.name,
                  combiner.name.empty() ? "" : " ", details,
                  argument.has_identity ? "" : " no_identity");
  }

  void PrintObject(const TileObject& object, std::string_view comma) {
    const auto scope = writer_.Block(StrCat("object ", object.name, " {"), StrCat("}", comma));
    for (const auto& [name, value] : object.constants) {
      writer_.Line(StrCat("constant ", name, " = ", value));
    }
    for (const TileFunctor& method : object.methods) PrintMethod(method);
  }

  void PrintMethod(const TileFunctor& method) {
    const std::string params = StrJoin(method.params, ", ", [this](const FunctorParam& param) {
      if (param.pointer.valid()) return StrCat("%", NameOf(param.pointer));
      const std::string lanes = param.lanes == 1 ? "" : StrCat("<", param.lanes, ">");
      const std::string most = param.most.valid() ? StrCat(" to ", PrintExpr(param.most)) : "";
      return StrCat(param.name, ": ", DTypeName(param.dtype), lanes, most);
    });
    const auto scope = writer_.Block(StrCat(method.method, "(", params, ") {"));
    PrintBody(method.body);
    if (method.result.valid()) writer_.Line(StrCat("return ", Text(method.result)));
    if (method.result_pointer.valid()) {
      writer_.Line(StrCat("return ", Pointer(method.result_pointer, method.result_offset)));
    }
  }

  const LoopFunction& function_;
  TensorNames names_;
  CodeWriter writer_;
};

}  // namespace

std::string PrintLoops(const LoopFunction& function) { return Printer(function).Run(); }

}  // namespace aotc
