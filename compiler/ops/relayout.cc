// Relayout: the same tensor in another layout. Inserted by the layout phase; the layout is the
// output value's own, so that the definition is the identity.
#include <string>

#include "compiler/ops/emit.h"
#include "compiler/ops/op.h"
#include "compiler/ops/registry.h"
#include "compiler/support/status.h"

namespace aotc {
namespace {

absl::Status Relayout(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(Tensor x, op.Input(0));
  op.SetOutput(0,
               op.b().Compute(x.dtype(), x.shape(), [&](const Indices& i) { return x.Stored(i); }));
  return absl::OkStatus();
}

constexpr std::string_view kRelayout = "Relayout";

constexpr OpDef kOps[] = {
    {.name = kRelayout,
     .compute = Relayout,
     .summary = "x in another storage layout",
     .traits = kOwn | kReorders},
};

}  // namespace

Node RelayoutNode(ValueId x, ValueId result) {
  return {.op = std::string(kRelayout), .inputs = {x}, .outputs = {result}};
}

ValueId EmitRelayout(Rebuilder& rebuilder, ValueId x, const Node& origin) {
  return rebuilder.Emit(kRelayout, {x}, {}, rebuilder.graph().values[x].type, origin);
}

std::span<const OpDef> RelayoutOps() { return kOps; }

}  // namespace aotc
