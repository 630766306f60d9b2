// Text form of element types and dims, the same in all four IRs.
//
//   AOTC_ASSIGN_OR_RETURN(DType dtype, ExpectDType(scanner));              // f32
//   AOTC_RETURN_IF_ERROR(scanner.Expect("["));
//   AOTC_ASSIGN_OR_RETURN(Shape dims, ExpectDims(scanner, "]", scope));    // m, 4*k]
#ifndef AOTC_COMPILER_IR_SHAPE_TEXT_H_
#define AOTC_COMPILER_IR_SHAPE_TEXT_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/expr_text.h"
#include "compiler/ir/layout.h"
#include "compiler/ir/shape.h"

namespace aotc {

// "a, b, c"; "?" for a null expression.
std::string PrintExprList(const std::vector<Expr>& exprs, const TensorNames& tensor_name = {});

absl::StatusOr<DType> ExpectDType(Scanner& scanner);
// An expression of the scope's type of indices, i64 by itself: a dim, an index, a count.
absl::StatusOr<Expr> ExpectDim(Scanner& scanner, const ExprScope& scope = {});
// Those up to and with the punctuation `end`, separated by commas; there may be none.
absl::StatusOr<std::vector<Expr>> ExpectDims(Scanner& scanner, std::string_view end,
                                             const ExprScope& scope = {});

// What is known of a tensor in kernels and programs: f32[m, 24](0, 1/8, 1%8)
struct TensorText {
  DType dtype = DType::kF32;
  Shape shape = {};
  Layout layout = {};
};
std::string PrintTensorText(const TensorText& tensor);
absl::StatusOr<TensorText> ExpectTensorText(Scanner& scanner, const ExprScope& scope = {});

}  // namespace aotc

#endif  // AOTC_COMPILER_IR_SHAPE_TEXT_H_
