// Expressions as C++ text, for scalars and vectors alike: the spelled functions are overloaded.
//
//   CExprPrinter printer([&](TensorId id) { return buffers[id].name; });
//   printer.Print(Max(Load(x, {i + 1}, DType::kF32), FloatConst(0)));
//   // aotc_max_known(0.0f, x[i + 1])
#ifndef AOTC_COMPILER_EMIT_C_EXPR_H_
#define AOTC_COMPILER_EMIT_C_EXPR_H_

#include <functional>
#include <string>
#include <utility>

#include "compiler/ir/expr.h"

namespace aotc {

// Type of a local variable ("float", "int64_t", "aotc_vf") or of stored elements ("aotc_f16",
// "uint8_t").
std::string CValueType(DType dtype, int lanes = 1);
std::string CElementType(DType dtype);
// The element type in signatures that C sees: f16 and bf16 are uint16_t, bool and f8 are uint8_t.
std::string CInterfaceType(DType dtype);
// An exact literal of that type.
std::string CLiteral(const Expr& constant);

// What printed expressions need of runtime-lite.
struct CExprUses {
  bool functions = false;  // such as aotc_max: scalar_math.h, or for lanes vector_math.h
  bool vectors = false;    // several lanes: vector.h, vector_convert.h and vector_math.h
  bool float8 = false;     // float8.h
  bool packed = false;     // nibbles.h

  void Add(const CExprUses& other) {
    functions |= other.functions;
    vectors |= other.vectors;
    float8 |= other.float8;
    packed |= other.packed;
  }
};

class CExprPrinter {
 public:
  // `is_shared`: whether a buffer lies in shared memory, whose elements are read as values.
  // `is_data`: whether a variable holds what was computed from elements, and so any number.
  explicit CExprPrinter(std::function<std::string(TensorId)> buffer_name,
                        std::function<bool(TensorId)> is_shared = {},
                        std::function<bool(const std::string&)> is_data = {})
      : buffer_name_(std::move(buffer_name)),
        is_shared_(std::move(is_shared)),
        is_data_(std::move(is_data)) {}

  // Whether `e` depends on elements of buffers.
  bool HasData(const Expr& e) const;

  std::string Print(const Expr& e) const;
  // As an operand of a sum, in parentheses where it takes some.
  std::string Term(const Expr& e) const;
  // buffer + offset as a pointer.
  std::string Pointer(TensorId buffer, const Expr& offset) const;

  // By all that was printed so far.
  const CExprUses& uses() const { return uses_; }

 private:
  struct Text {
    std::string text;
    int precedence;  // of the outermost operator; higher binds tighter
  };
  Text PrintNode(const Expr& e) const;
  // Of narrow integers in the type that C computes in.
  Text PrintOperator(const Expr& e) const;
  Text PrintBinary(const Expr& e) const;
  std::string VectorLoad(const Expr& load) const;
  Text PrintLoad(const Expr& e) const;
  Text PrintCast(const Expr& e) const;
  Text PrintBitCast(const Expr& e) const;
  Text PrintCall(const Expr& e) const;
  std::string Wrapped(const Expr& e, int least) const;
  std::string Literal(const Expr& constant) const;
  bool MayOverflow(const Expr& e) const;

  std::function<std::string(TensorId)> buffer_name_;
  std::function<bool(TensorId)> is_shared_;
  std::function<bool(const std::string&)> is_data_;
  mutable CExprUses uses_ = {};
};

}  // namespace aotc

#endif  // AOTC_COMPILER_EMIT_C_EXPR_H_
