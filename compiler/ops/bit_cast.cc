// BitCast: the bits of elements read as another type of the same width (ONNX BitCast-26).
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// The type of numbers that has the bits of elements as they are stored: ONNX counts a bool as the
// byte that it is stored in.
DType Stored(DType type) { return type == DType::kBool ? DType::kU8 : type; }

absl::Status CheckTypes(DType from, DType to) {
  if (BitWidth(from) != BitWidth(to)) {
    return AOTC_REFUSAL(InvalidArgument, StrCat("the bits of ", TypeName(from), " and ",
                                                TypeName(to), " are not equally many"));
  }
  const auto is_number = [](DType type) {
    return IsFloat(Stored(type)) || IsInteger(Stored(type));
  };
  if (from == to || (is_number(from) && is_number(to))) return absl::OkStatus();
  return AOTC_REFUSAL(Unimplemented, StrCat("the bits of ", TypeName(from), " as ", TypeName(to),
                                            " are not supported"));
}

// A byte that is not 0 is true, which is stored as 1.
Expr AsBits(DType to, const Expr& element) {
  if (element.dtype() == to) return element;
  const Expr bits = BitCast(Stored(to), Cast(Stored(element.dtype()), element));
  return to == DType::kBool ? Ne(bits, NumberConst(0, bits.dtype())) : bits;
}

absl::Status BitCastOp(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor x, op.Input(0));
  const int64_t to = op.attributes().Int("to");
  if (to != static_cast<int>(to) || !IsKnownDType(static_cast<int>(to))) {
    return AOTC_REFUSAL(Unimplemented, StrCat("bits as ONNX element type ", to));
  }
  const auto target = static_cast<DType>(to);
  AOTC_RETURN_IF_ERROR(CheckTypes(x.dtype(), target));
  op.SetOutput(0, op.b().Compute(target, x.shape(),
                                 [&](const Indices& i) { return AsBits(target, x.Stored(i)); }));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "BitCast",
     .compute = BitCastOp,
     .summary = "the bits of elements as another type of their width",
     .traits = kElementwise | kChangesType},
};

}  // namespace

std::span<const OpDef> BitCastOps() { return kOps; }

}  // namespace aotc
