// Ops that the compiler makes itself. They trust what they are given, so no model may name them.
#include "compiler/import/schema_check.h"
#include "compiler/ops/op.h"
#include "compiler/support/refusal.h"
#include "compiler/support/strings.h"

namespace aotc {

absl::Status CheckName(const pb::NodeProto& node) {
  if (node.op_type().empty()) return AOTC_REFUSAL(InvalidArgument, "has no op type");
  if (!CanonicalDomain(node.domain()).empty()) return absl::OkStatus();
  // Control flow has no definition: Repeat is what Loop and Scan become.
  if (node.op_type() != "Repeat" && !HasTrait(node.op_type(), kOwn)) return absl::OkStatus();
  return AOTC_REFUSAL(Unimplemented,
                      StrCat("ONNX has no operator ", node.op_type(),
                             ", which is the compiler's own; hint: give an operator of yours a "
                             "domain, and a function that defines it"));
}

}  // namespace aotc
