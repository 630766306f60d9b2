// What op definitions state of themselves, against what their kernels compute.
#include <algorithm>
#include <optional>
#include <set>

#include "compiler/ir/graph_text.h"
#include "compiler/ops/op.h"
#include "compiler/support/strings.h"
#include "gmock/gmock.h"

namespace aotc {
namespace {

using ::testing::ElementsAre;

// The kernel of a node with `count` operands [2, 3] of the type; nothing where the op refuses them.
std::optional<NodeKernel> KernelOf(std::string_view op, int count, std::string_view type) {
  std::string params, operands;
  for (int i = 0; i < count; ++i) {
    StrAppend(&params, i > 0 ? ", " : "", "%x", i, ": ", i > 0 || op != "Where" ? type : "bool",
              "[2, 3]");
    StrAppend(&operands, i > 0 ? ", " : "", "%x", i);
  }
  absl::StatusOr<Graph> graph = ParseGraph(StrCat("graph @g(", params, ") -> (%y) { %y = ", op, "(",
                                                  operands, R"() {to=1, direction="LEFT"} })"));
  if (!graph.ok()) return std::nullopt;
  absl::StatusOr<NodeKernel> kernel = BuildNodeKernel(*graph, graph->nodes[NodeId(0)]);
  return kernel.ok() ? std::optional(*std::move(kernel)) : std::nullopt;
}

// Every result is defined by loads at its own place, and by nothing that knows its place.
bool IsElementwise(const Kernel& kernel) {
  return std::ranges::all_of(kernel.stages, [](const Stage& stage) {
    bool own = !stage.IsReduction() && stage.body.size() == 1;
    const Expr bare = Transform(stage.body[0], [&](const Expr& e) {
      if (e.op() != ExprOp::kLoad) return e;
      own &= e.args().size() == stage.axes.size();
      for (size_t i = 0; own && i < stage.axes.size(); ++i) {
        own &= IsOwnIndex(e.arg(i), stage.axes[i]);
      }
      return NumberConst(0, e.dtype());
    });
    return own && FreeVars(bare).empty();
  });
}

// By the first number of operands and the first type that the op takes; nothing where it takes
// none. An operand that no kernel reads may be a shape.
std::optional<bool> ComputesElementwise(std::string_view op) {
  for (int count = 1; count <= 3; ++count) {
    for (std::string_view type : {"f32", "i32", "u8", "bool"}) {
      const std::optional<NodeKernel> node = KernelOf(op, count, type);
      if (!node) continue;
      return std::cmp_equal(node->inputs.size(), count) && IsElementwise(node->kernel);
    }
  }
  return std::nullopt;
}

// The slope of PRelu is broadcast to its input, not the two to one another; the others move
// elements, and nowhere else in this one case.
TEST(OpTraits, ElementwiseOpsAreThoseWhoseKernelsAre) {
  std::vector<std::string_view> unmarked;
  for (const OpDef* op : AllOps()) {
    if (op->compute == nullptr) continue;
    const std::optional<bool> elementwise = ComputesElementwise(op->name);
    const bool marked = HasTrait(op->name, kElementwise);
    if (marked) {
      EXPECT_EQ(elementwise, true) << op->name;
    }
    if (elementwise == true && !marked) unmarked.push_back(op->name);
  }
  EXPECT_THAT(unmarked, ElementsAre("Concat", "Dropout", "Flatten", "Identity", "Interleave",
                                    "PRelu", "Relayout", "ScoreTransform", "Split", "Squeeze"));
}

TEST(OpTraits, OperandsOfAllRanksAreBroadcastToOneAnother) {
  for (const OpDef* op : AllOps()) {
    if (!HasTrait(op->name, kBroadcasts)) continue;
    EXPECT_TRUE(HasTrait(op->name, kElementwise)) << op->name;
  }
}

TEST(OpTraits, NoOpOfThatNameHasNone) { EXPECT_FALSE(HasTrait("Frobnicate", kElementwise)); }

}  // namespace
}  // namespace aotc
