// Parser of calls of tile functions, the leaves of Loops.
#include <algorithm>
#include <utility>

#include "compiler/ir/kernel_text.h"
#include "compiler/ir/loops_parse.h"
#include "compiler/ir/shape_text.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// &%x[offset]: of a view, as yet without strides
absl::StatusOr<TileView> ParsePointer(LoopsParser& parser) {
  AOTC_RETURN_IF_ERROR(parser.scanner().Expect("&"));
  AOTC_ASSIGN_OR_RETURN(auto element, parser.ParseElement());
  return TileView{.buffer = element.first, .offset = std::move(element.second)};
}

// (a, b), at least one
absl::StatusOr<std::vector<Expr>> ParseExprs(LoopsParser& parser) {
  std::vector<Expr> exprs;
  AOTC_RETURN_IF_ERROR(parser.scanner().Expect("("));
  do {
    AOTC_ASSIGN_OR_RETURN(Expr e, parser.ParseValue());
    exprs.push_back(std::move(e));
  } while (parser.scanner().TryConsume(","));
  AOTC_RETURN_IF_ERROR(parser.scanner().Expect(")"));
  return exprs;
}

// &%x[offset] by (64, 1)
absl::StatusOr<TileView> ParseView(LoopsParser& parser) {
  AOTC_ASSIGN_OR_RETURN(TileView view, ParsePointer(parser));
  if (parser.scanner().TryConsume("by")) {
    AOTC_ASSIGN_OR_RETURN(view.strides, ParseExprs(parser));
  }
  return view;
}

// m: i64 to 63, acc: f32<16>, %state) after the opening parenthesis
absl::StatusOr<std::vector<FunctorParam>> ParseParams(LoopsParser& parser) {
  Scanner& scanner = parser.scanner();
  std::vector<FunctorParam> params;
  while (!scanner.At(")")) {
    if (!params.empty()) AOTC_RETURN_IF_ERROR(scanner.Expect(","));
    FunctorParam param;
    if (scanner.AtName('%')) {
      AOTC_ASSIGN_OR_RETURN(param.pointer, parser.ParseBufferName());
      params.push_back(std::move(param));
      continue;
    }
    AOTC_ASSIGN_OR_RETURN(param.name, scanner.ExpectIdentifier());
    AOTC_RETURN_IF_ERROR(scanner.Expect(":"));
    AOTC_ASSIGN_OR_RETURN(param.dtype, ExpectDType(scanner));
    AOTC_ASSIGN_OR_RETURN(param.lanes, ParseLanes(scanner));
    if (scanner.TryConsume("to")) {
      AOTC_ASSIGN_OR_RETURN(param.most, ExpectDim(scanner));
    }
    parser.scope().vars[param.name] = param.dtype;
    params.push_back(std::move(param));
  }
  AOTC_RETURN_IF_ERROR(scanner.Expect(")"));
  return params;
}

absl::Status ParseReturn(LoopsParser& parser, TileFunctor& method) {
  if (!parser.scanner().TryConsume("return")) return absl::OkStatus();
  if (parser.scanner().At("&")) {
    AOTC_ASSIGN_OR_RETURN(TileView pointer, ParsePointer(parser));
    method.result_pointer = pointer.buffer;
    method.result_offset = std::move(pointer.offset);
    return absl::OkStatus();
  }
  AOTC_ASSIGN_OR_RETURN(method.result, parser.ParseValue());
  return absl::OkStatus();
}

// operator()(m: i64) { ... return m }
absl::StatusOr<TileFunctor> ParseMethod(LoopsParser& parser) {
  Scanner& scanner = parser.scanner();
  TileFunctor method;
  AOTC_ASSIGN_OR_RETURN(method.method, scanner.ExpectIdentifier());
  AOTC_RETURN_IF_ERROR(scanner.Expect("("));
  if (method.method == "operator") {
    AOTC_RETURN_IF_ERROR(scanner.Expect(")"));
    AOTC_RETURN_IF_ERROR(scanner.Expect("("));
    method.method += "()";
  }
  const auto saved = parser.scope().vars;
  AOTC_ASSIGN_OR_RETURN(method.params, ParseParams(parser));
  AOTC_ASSIGN_OR_RETURN(method.body, parser.ParseBody("return"));
  AOTC_RETURN_IF_ERROR(ParseReturn(parser, method));
  AOTC_RETURN_IF_ERROR(scanner.Expect("}"));
  parser.scope().vars = saved;
  return method;
}

// object name { constants methods }
absl::StatusOr<TileObject> ParseObject(LoopsParser& parser) {
  Scanner& scanner = parser.scanner();
  AOTC_RETURN_IF_ERROR(scanner.Expect("object"));
  TileObject object;
  AOTC_ASSIGN_OR_RETURN(object.name, scanner.ExpectIdentifier());
  AOTC_RETURN_IF_ERROR(scanner.Expect("{"));
  while (scanner.TryConsume("constant")) {
    AOTC_ASSIGN_OR_RETURN(std::string name, scanner.ExpectIdentifier());
    AOTC_RETURN_IF_ERROR(scanner.Expect("="));
    AOTC_ASSIGN_OR_RETURN(const int64_t value, scanner.ExpectInteger());
    object.constants.emplace_back(std::move(name), value);
  }
  while (!scanner.TryConsume("}")) {
    AOTC_ASSIGN_OR_RETURN(TileFunctor method, ParseMethod(parser));
    object.methods.push_back(std::move(method));
  }
  return object;
}

// combiner name = sum f32, combiner name = argmax identity (...) combine (...) no_identity
absl::StatusOr<TileCombiner> ParseCombinerArgument(LoopsParser& parser) {
  Scanner& scanner = parser.scanner();
  AOTC_RETURN_IF_ERROR(scanner.Expect("combiner"));
  TileCombiner result;
  AOTC_ASSIGN_OR_RETURN(result.name, scanner.ExpectIdentifier());
  AOTC_RETURN_IF_ERROR(scanner.Expect("="));
  Combiner& combiner = result.combiner;
  if (!scanner.At("identity")) {
    AOTC_ASSIGN_OR_RETURN(combiner.name, scanner.ExpectIdentifier());
  }
  if (IsStockCombiner(combiner.name)) {
    AOTC_ASSIGN_OR_RETURN(const DType dtype, ExpectDType(scanner));
    combiner = StockCombiner(combiner.name, dtype);
  } else {
    AOTC_RETURN_IF_ERROR(ParseCombiner(scanner, /*count=*/0, combiner));
  }
  result.has_identity = !scanner.TryConsume("no_identity");
  return result;
}

absl::StatusOr<TileOperand> ParseOperand(LoopsParser& parser) {
  if (parser.scanner().At("object")) return ParseObject(parser);
  if (parser.scanner().At("combiner")) return ParseCombinerArgument(parser);
  return ParseView(parser);
}

// (top, total)
absl::StatusOr<std::vector<std::string>> ParseState(Scanner& scanner) {
  std::vector<std::string> names;
  AOTC_RETURN_IF_ERROR(scanner.Expect("("));
  do {
    AOTC_ASSIGN_OR_RETURN(std::string name, scanner.ExpectIdentifier());
    names.push_back(std::move(name));
  } while (scanner.TryConsume(","));
  AOTC_RETURN_IF_ERROR(scanner.Expect(")"));
  return names;
}

// <14, 2>, or nothing
absl::StatusOr<std::vector<int64_t>> ParseTileParams(Scanner& scanner) {
  std::vector<int64_t> args;
  if (!scanner.TryConsume("<")) return args;
  do {
    AOTC_ASSIGN_OR_RETURN(const int64_t value, scanner.ExpectInteger());
    args.push_back(value);
  } while (scanner.TryConsume(","));
  AOTC_RETURN_IF_ERROR(scanner.Expect(">"));
  return args;
}

}  // namespace

absl::StatusOr<Stmt> ParseTileCall(LoopsParser& parser) {
  Scanner& scanner = parser.scanner();
  TileCall call;
  AOTC_ASSIGN_OR_RETURN(call.tile, scanner.ExpectIdentifier());
  AOTC_ASSIGN_OR_RETURN(call.params, ParseTileParams(scanner));
  if (scanner.TryConsume("lanes")) {
    AOTC_ASSIGN_OR_RETURN(const int64_t lanes, scanner.ExpectInteger());
    call.lanes = static_cast<int>(std::clamp<int64_t>(lanes, 1, INT16_MAX));
  }
  if (scanner.TryConsume("extents")) {
    AOTC_ASSIGN_OR_RETURN(call.extents, ParseExprs(parser));
  }
  if (scanner.TryConsume("state")) {
    AOTC_ASSIGN_OR_RETURN(call.state, ParseState(scanner));
  }
  AOTC_RETURN_IF_ERROR(scanner.Expect("{"));
  while (!scanner.At("}")) {
    if (!call.operands.empty()) AOTC_RETURN_IF_ERROR(scanner.Expect(","));
    AOTC_ASSIGN_OR_RETURN(TileOperand operand, ParseOperand(parser));
    call.operands.push_back(std::move(operand));
  }
  AOTC_RETURN_IF_ERROR(scanner.Expect("}"));
  return Tile(std::move(call));
}

}  // namespace aotc
