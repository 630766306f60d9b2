// BitCast: the bits of elements read as another type of the same width (ONNX BitCast-26).
//
// Integers of one width differ in what their highest bit means, which a cast keeps.
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

absl::Status CheckTypes(DType from, DType to) {
  // ONNX counts a bool as the byte that it is stored in.
  const auto width = [](DType type) { return type == DType::kBool ? 8 : BitWidth(type); };
  if (width(from) != width(to)) {
    return absl::InvalidArgumentError(
        StrCat("the bits of ", TypeName(from), " and ", TypeName(to), " are not equally many"));
  }
  const bool from_bits = IsInteger(from) || from == DType::kBool;
  if (from == to || (from_bits && IsInteger(to) && width(to) >= 8)) return absl::OkStatus();
  return absl::UnimplementedError(
      StrCat("the bits of ", TypeName(from), " as ", TypeName(to), " are not supported"));
}

absl::Status BitCast(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor x, op.Input(0));
  const int64_t to = op.attributes().Int("to");
  if (to != static_cast<int>(to) || !IsKnownDType(static_cast<int>(to))) {
    return absl::UnimplementedError(StrCat("bits as ONNX element type ", to));
  }
  const auto target = static_cast<DType>(to);
  AOTC_RETURN_IF_ERROR(CheckTypes(x.dtype(), target));
  op.SetOutput(0, op.b().Compute(target, x.shape(),
                                 [&](const Indices& i) { return Cast(target, x.Stored(i)); }));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "BitCast",
     .compute = BitCast,
     .summary = "the bits of elements as another type of their width",
     .traits = kElementwise | kChangesType},
};

}  // namespace

std::span<const OpDef> BitCastOps() { return kOps; }

}  // namespace aotc
