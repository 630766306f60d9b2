// Parser of the text form of Loops: functions, buffers, statements. Calls of tile functions are
// parsed in tile_parse.cc.
#include "compiler/ir/loops_parse.h"

#include <array>
#include <tuple>
#include <utility>

#include "compiler/ir/loops_text.h"
#include "compiler/ir/shape_text.h"
#include "compiler/ir/symbol_text.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// Deeper nesting than any schedule makes: an error, not a stack overflow.
constexpr int kMaxDepth = 128;

absl::StatusOr<Stmt> ParseBlock(LoopsParser& parser) {
  AOTC_ASSIGN_OR_RETURN(std::vector<Stmt> body, parser.ParseBody());
  return Stmt({.kind = StmtKind::kBlock, .body = std::move(body)});
}

// first..end or first ..+ count
absl::Status ParseRange(LoopsParser& parser, StmtNode& loop) {
  Scanner& scanner = parser.scanner();
  AOTC_ASSIGN_OR_RETURN(loop.min, ExpectDim(scanner, parser.scope()));
  const Token dots = scanner.Peek();
  AOTC_RETURN_IF_ERROR(scanner.Expect(".."));
  const bool counts = scanner.TryConsume("+");
  AOTC_ASSIGN_OR_RETURN(loop.extent, ExpectDim(scanner, parser.scope()));
  if (counts || loop.min.IsInt(0)) return absl::OkStatus();
  if (!loop.min.IsConst() || !loop.extent.IsConst()) {
    return scanner.ErrorAt(dots, "the range needs a count: first ..+ count");
  }
  loop.extent = IntConst(loop.extent->int_value - loop.min->int_value, parser.scope().index);
  return absl::OkStatus();
}

absl::StatusOr<Stmt> ParseFor(LoopsParser& parser, LoopKind kind) {
  Scanner& scanner = parser.scanner();
  StmtNode loop{.kind = StmtKind::kFor, .loop = kind};
  AOTC_ASSIGN_OR_RETURN(loop.name, scanner.ExpectIdentifier());
  AOTC_RETURN_IF_ERROR(scanner.Expect("in"));
  AOTC_RETURN_IF_ERROR(ParseRange(parser, loop));
  // The loop's variable hides one of another type.
  const auto saved = parser.scope().vars;
  parser.scope().vars.erase(loop.name);
  AOTC_ASSIGN_OR_RETURN(loop.body, parser.ParseBody());
  parser.scope().vars = saved;
  return Stmt(std::move(loop));
}

absl::StatusOr<Stmt> ParseSerial(LoopsParser& parser) {
  return ParseFor(parser, LoopKind::kSerial);
}

absl::StatusOr<Stmt> ParseUnrolled(LoopsParser& parser) {
  AOTC_RETURN_IF_ERROR(parser.scanner().Expect("for"));
  return ParseFor(parser, LoopKind::kUnrolled);
}

absl::StatusOr<Stmt> ParseThread(LoopsParser& parser) {
  AOTC_RETURN_IF_ERROR(parser.scanner().Expect("for"));
  return ParseFor(parser, LoopKind::kThread);
}

absl::StatusOr<Stmt> ParseGrid(LoopsParser& parser) {
  AOTC_RETURN_IF_ERROR(parser.scanner().Expect("for"));
  return ParseFor(parser, LoopKind::kGrid);
}

absl::StatusOr<Stmt> ParseIf(LoopsParser& parser) {
  StmtNode branch{.kind = StmtKind::kIf};
  AOTC_ASSIGN_OR_RETURN(branch.value, parser.ParseValue());
  AOTC_ASSIGN_OR_RETURN(branch.body, parser.ParseBody());
  if (parser.scanner().TryConsume("else")) {
    AOTC_ASSIGN_OR_RETURN(branch.else_body, parser.ParseBody());
  }
  return Stmt(std::move(branch));
}

// name = value; a definition gives the name its type for what follows.
absl::StatusOr<Stmt> ParseDefinition(LoopsParser& parser, StmtKind kind) {
  StmtNode node{.kind = kind};
  AOTC_ASSIGN_OR_RETURN(node.name, parser.scanner().ExpectIdentifier());
  AOTC_RETURN_IF_ERROR(parser.scanner().Expect("="));
  AOTC_ASSIGN_OR_RETURN(node.value, parser.ParseValue());
  if (kind != StmtKind::kAssign) parser.scope().vars[node.name] = node.value.dtype();
  return Stmt(std::move(node));
}

absl::StatusOr<Stmt> ParseLet(LoopsParser& parser) {
  return ParseDefinition(parser, StmtKind::kLet);
}

absl::StatusOr<Stmt> ParseDeclare(LoopsParser& parser) {
  return ParseDefinition(parser, StmtKind::kDeclare);
}

absl::StatusOr<Stmt> ParseAssign(LoopsParser& parser) {
  return ParseDefinition(parser, StmtKind::kAssign);
}

absl::StatusOr<Stmt> ParseStore(LoopsParser& parser) {
  StmtNode store{.kind = StmtKind::kStore};
  AOTC_ASSIGN_OR_RETURN(std::tie(store.buffer, store.index), parser.ParseElement());
  AOTC_RETURN_IF_ERROR(parser.scanner().Expect("="));
  AOTC_ASSIGN_OR_RETURN(store.value, parser.ParseValue());
  if (parser.scanner().TryConsume("first")) {
    AOTC_ASSIGN_OR_RETURN(store.extent, ExpectDim(parser.scanner(), parser.scope()));
  }
  return Stmt(std::move(store));
}

absl::StatusOr<Stmt> ParseBarrier(LoopsParser&) { return Barrier(); }

absl::StatusOr<Stmt> ParseComment(LoopsParser& parser) {
  AOTC_ASSIGN_OR_RETURN(const std::string text, parser.scanner().ExpectString());
  return Comment(text);
}

struct StatementForm {
  std::string_view word;
  absl::StatusOr<Stmt> (*parse)(LoopsParser& parser);
};

constexpr std::array kStatements = std::to_array<StatementForm>({
    {"block", ParseBlock},
    {"for", ParseSerial},
    {"unrolled", ParseUnrolled},
    {"thread", ParseThread},
    {"grid", ParseGrid},
    {"if", ParseIf},
    {"let", ParseLet},
    {"declare", ParseDeclare},
    {"assign", ParseAssign},
    {"store", ParseStore},
    {"barrier", ParseBarrier},
    {"call", ParseTileCall},
    {"comment", ParseComment},
});

}  // namespace

absl::StatusOr<LoopFunction> LoopsParser::Run() {
  AOTC_RETURN_IF_ERROR(ParseHeader());
  AOTC_RETURN_IF_ERROR(scanner_.Expect("{"));
  while (scanner_.At("symbol")) {
    AOTC_ASSIGN_OR_RETURN(Symbol symbol, ParseSymbol(scanner_));
    function_.symbols.push_back(std::move(symbol));
  }
  AOTC_RETURN_IF_ERROR(ParseBuffers());
  std::vector<Stmt> body;
  while (!scanner_.TryConsume("}")) {
    AOTC_ASSIGN_OR_RETURN(Stmt stmt, ParseStmt());
    body.push_back(std::move(stmt));
  }
  // Block() would give a lone block the place of this one.
  function_.body = Stmt({.kind = StmtKind::kBlock, .body = std::move(body)});
  return std::move(function_);
}

// loops @name(%x: f32, out %y: f32) tasks m threads 128 scratch 64 index i32
absl::Status LoopsParser::ParseHeader() {
  AOTC_RETURN_IF_ERROR(scanner_.Expect("loops"));
  AOTC_ASSIGN_OR_RETURN(function_.name, scanner_.ExpectName('@'));
  AOTC_RETURN_IF_ERROR(scanner_.Expect("("));
  while (!scanner_.At(")")) {
    if (!function_.params.empty()) AOTC_RETURN_IF_ERROR(scanner_.Expect(","));
    LoopBuffer buffer{.written = scanner_.TryConsume("out")};
    AOTC_ASSIGN_OR_RETURN(const TensorId id, AddBuffer(std::move(buffer)));
    function_.params.push_back(id);
  }
  AOTC_RETURN_IF_ERROR(scanner_.Expect(")"));
  AOTC_RETURN_IF_ERROR(scanner_.Expect("tasks"));
  AOTC_ASSIGN_OR_RETURN(function_.tasks, ExpectDim(scanner_));
  if (scanner_.TryConsume("threads")) {
    AOTC_ASSIGN_OR_RETURN(function_.threads, scanner_.ExpectInteger());
  }
  if (scanner_.TryConsume("group")) {
    AOTC_ASSIGN_OR_RETURN(function_.group, scanner_.ExpectInteger());
  }
  if (scanner_.TryConsume("scratch")) {
    AOTC_ASSIGN_OR_RETURN(function_.scratch_bytes, scanner_.ExpectInteger());
  }
  if (scanner_.TryConsume("index")) {
    AOTC_ASSIGN_OR_RETURN(function_.index, ExpectDType(scanner_));
    scope_.index = function_.index;
  }
  return absl::OkStatus();
}

// %name: type
absl::StatusOr<TensorId> LoopsParser::AddBuffer(LoopBuffer buffer) {
  const Token token = scanner_.Peek();
  AOTC_ASSIGN_OR_RETURN(buffer.name, scanner_.ExpectName('%'));
  AOTC_RETURN_IF_ERROR(scanner_.Expect(":"));
  AOTC_ASSIGN_OR_RETURN(buffer.dtype, ExpectDType(scanner_));
  if (scope_.tensors.contains(buffer.name)) {
    return scanner_.ErrorAt(token, StrCat("%", buffer.name, " is declared twice"));
  }
  const std::string name = buffer.name;
  const DType dtype = buffer.dtype;
  const TensorId id = function_.buffers.Add(std::move(buffer));
  scope_.tensors[name] = {id, dtype};
  return id;
}

// scratch %t: f32[64] at 128
absl::Status LoopsParser::ParseBuffers() {
  constexpr std::pair<std::string_view, BufferPlace> kPlaces[] = {
      {"scratch", BufferPlace::kScratch},
      {"local", BufferPlace::kLocal},
      {"shared", BufferPlace::kShared}};
  for (bool found = true; found;) {
    found = false;
    for (const auto& [word, place] : kPlaces) {
      if (!scanner_.TryConsume(word)) continue;
      found = true;
      AOTC_ASSIGN_OR_RETURN(const TensorId id, AddBuffer({.place = place, .written = true}));
      AOTC_RETURN_IF_ERROR(scanner_.Expect("["));
      AOTC_ASSIGN_OR_RETURN(function_.buffers[id].elements, scanner_.ExpectInteger());
      AOTC_RETURN_IF_ERROR(scanner_.Expect("]"));
      if (!scanner_.TryConsume("at")) continue;
      AOTC_ASSIGN_OR_RETURN(function_.buffers[id].offset, scanner_.ExpectInteger());
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Stmt> LoopsParser::ParseStmt() {
  for (const StatementForm& form : kStatements) {
    if (!scanner_.TryConsume(form.word)) continue;
    if (depth_ >= kMaxDepth) return scanner_.Error("the statements are nested too deeply");
    ++depth_;
    absl::StatusOr<Stmt> stmt = form.parse(*this);
    --depth_;
    return stmt;
  }
  return scanner_.Error(StrCat("expected a statement, found '", scanner_.Peek().text, "'"));
}

absl::StatusOr<std::vector<Stmt>> LoopsParser::ParseBody(std::string_view last) {
  AOTC_RETURN_IF_ERROR(scanner_.Expect("{"));
  const auto saved = scope_.vars;
  std::vector<Stmt> body;
  while (!scanner_.At("}") && (last.empty() || !scanner_.At(last))) {
    AOTC_ASSIGN_OR_RETURN(Stmt stmt, ParseStmt());
    body.push_back(std::move(stmt));
  }
  if (!last.empty()) return body;
  scope_.vars = saved;
  AOTC_RETURN_IF_ERROR(scanner_.Expect("}"));
  return body;
}

absl::StatusOr<Expr> LoopsParser::ParseValue() { return ParseExpr(scanner_, scope_); }

absl::StatusOr<TensorId> LoopsParser::ParseBufferName() {
  const Token token = scanner_.Peek();
  AOTC_ASSIGN_OR_RETURN(const std::string name, scanner_.ExpectName('%'));
  const auto found = scope_.tensors.find(name);
  if (found != scope_.tensors.end()) return found->second.first;
  return scanner_.ErrorAt(token, StrCat("unknown buffer %", name));
}

absl::StatusOr<std::pair<TensorId, Expr>> LoopsParser::ParseElement() {
  AOTC_ASSIGN_OR_RETURN(const TensorId buffer, ParseBufferName());
  AOTC_RETURN_IF_ERROR(scanner_.Expect("["));
  AOTC_ASSIGN_OR_RETURN(Expr index, ExpectDim(scanner_, scope_));
  AOTC_RETURN_IF_ERROR(scanner_.Expect("]"));
  return std::pair(buffer, std::move(index));
}

absl::StatusOr<LoopFunction> ParseLoops(Scanner& scanner) { return LoopsParser(scanner).Run(); }

absl::StatusOr<LoopFunction> ParseLoops(std::string_view text) {
  Scanner scanner(text);
  AOTC_ASSIGN_OR_RETURN(LoopFunction function, ParseLoops(scanner));
  AOTC_RETURN_IF_ERROR(scanner.ExpectEnd());
  return function;
}

}  // namespace aotc
