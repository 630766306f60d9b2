// The dump of the phase: decisions, views and kernels.
#include "compiler/fuse/fuse.h"
#include "compiler/ir/kernel_text.h"
#include "compiler/ir/shape_text.h"
#include "compiler/support/strings.h"

namespace aotc {

std::string PrintFused(const Graph& graph, const FusedGraph& fused) {
  std::string text;
  for (const std::string& decision : fused.decisions) StrAppend(&text, "// ", decision, "\n");
  for (const ValueView& view : fused.views) {
    StrAppend(&text, "// view %", graph.values[view.value].name, " of %",
              graph.values[view.base].name);
    if (view.IsBox()) StrAppend(&text, " at [", PrintExprList(view.start), "]");
    if (!view.step.empty()) StrAppend(&text, " step [", StrJoin(view.step, ", "), "]");
    StrAppend(&text, "\n");
  }
  for (const FusedKernel& kernel : fused.kernels) {
    StrAppend(&text, PrintKernel(kernel.kernel), "\n");
    if (!kernel.control.valid()) continue;
    auto body = fused.bodies.at(kernel.control).begin();
    for (const auto& [name, region] : graph.nodes[kernel.control].regions) {
      StrAppend(&text, "// ", name, " of ", kernel.kernel.name, ":\n", PrintFused(graph, *body++),
                "// end of ", name, "\n");
    }
  }
  return text;
}

}  // namespace aotc
