#include "compiler/ir/shape_text.h"

#include "compiler/support/scanner.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {

std::string PrintExprList(const std::vector<Expr>& exprs, const TensorNames& tensor_name) {
  return StrJoin(exprs, ", ", [&](const Expr& e) { return PrintExpr(e, tensor_name); });
}

absl::StatusOr<DType> ExpectDType(Scanner& scanner) {
  const std::optional<DType> dtype = ParseDType(scanner.Peek().text);
  if (!dtype) {
    return scanner.Error(StrCat("expected an element type, found '", scanner.Peek().text, "'"));
  }
  scanner.Take();
  return *dtype;
}

absl::StatusOr<Expr> ExpectDim(Scanner& scanner, const ExprScope& scope) {
  const Token token = scanner.Peek();
  AOTC_ASSIGN_OR_RETURN(Expr dim, ParseExpr(scanner, scope));
  if (dim.dtype() == scope.index) return dim;
  return scanner.ErrorAt(token, StrCat("expected an ", DTypeName(scope.index), " expression"));
}

absl::StatusOr<std::vector<Expr>> ExpectDims(Scanner& scanner, std::string_view end,
                                             const ExprScope& scope) {
  std::vector<Expr> dims;
  while (!scanner.At(end)) {
    if (!dims.empty()) AOTC_RETURN_IF_ERROR(scanner.Expect(","));
    AOTC_ASSIGN_OR_RETURN(Expr dim, ExpectDim(scanner, scope));
    dims.push_back(std::move(dim));
  }
  AOTC_RETURN_IF_ERROR(scanner.Expect(end));
  return dims;
}

std::string PrintTensorText(const TensorText& tensor) {
  return StrCat(DTypeName(tensor.dtype), "[", PrintExprList(tensor.shape), "]",
                PrintLayout(tensor.layout));
}

absl::StatusOr<TensorText> ExpectTensorText(Scanner& scanner, const ExprScope& scope) {
  TensorText tensor;
  AOTC_ASSIGN_OR_RETURN(tensor.dtype, ExpectDType(scanner));
  AOTC_RETURN_IF_ERROR(scanner.Expect("["));
  AOTC_ASSIGN_OR_RETURN(tensor.shape, ExpectDims(scanner, "]", scope));
  if (scanner.At("(")) {
    AOTC_ASSIGN_OR_RETURN(tensor.layout, ParseLayout(scanner));
  }
  return tensor;
}

}  // namespace aotc
