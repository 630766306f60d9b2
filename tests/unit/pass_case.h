// What tests of passes share: a graph from its text, the passes by name, and the check that a pass
// keeps the numbers and changes nothing when it runs again.
#ifndef AOTC_TESTS_UNIT_PASS_CASE_H_
#define AOTC_TESTS_UNIT_PASS_CASE_H_

#include <string>
#include <string_view>
#include <vector>

#include "compiler/driver/pipeline.h"
#include "compiler/eval/evaluate.h"
#include "compiler/ir/graph_text.h"
#include "gtest/gtest.h"

namespace aotc {

inline Graph ParseCase(std::string_view text) {
  absl::StatusOr<Graph> graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? *std::move(graph) : Graph();
}

struct PassResult {
  absl::StatusOr<Graph> graph = absl::UnknownError("not run");
  Diagnostics diagnostics = {};
};

// `held` is what the text promises: types, unless a pass is to find them.
inline PassResult RunCase(const Graph& graph, std::string_view passes, GraphProperties held = 0,
                          PassOptions options = {}) {
  PassResult result;
  PassContext context(std::move(options), result.diagnostics);
  absl::StatusOr<std::vector<Pass>> list = PassesByName(passes);
  EXPECT_TRUE(list.ok()) << list.status();
  if (list.ok()) result.graph = RunPasses(graph, *list, context, held);
  return result;
}

inline std::vector<Constant> CaseInputs(const Graph& graph) {
  std::vector<Constant> inputs;
  for (ValueId input : graph.main_region().inputs) {
    const ValueType& type = graph.values[input].type;
    std::vector<int64_t> dims;
    for (const Expr& dim : type.dims) dims.push_back(dim.AsInt().value_or(3));
    inputs.push_back(Constant::Random(type.dtype, dims, inputs.size() + 1));
  }
  return inputs;
}

// The graph after the passes, which gives the same numbers and does not change in a second run.
inline Graph CheckCase(std::string_view text, std::string_view passes, GraphProperties held = 0) {
  Graph before = ParseCase(text);
  PassResult result = RunCase(before, passes, held);
  EXPECT_TRUE(result.graph.ok()) << result.graph.status();
  if (!result.graph.ok()) return before;
  Graph after = *result.graph;
  auto expected = EvaluateGraph(before, CaseInputs(before));
  auto actual = EvaluateGraph(after, CaseInputs(before));
  EXPECT_TRUE(expected.ok()) << expected.status();
  EXPECT_TRUE(actual.ok()) << actual.status();
  if (expected.ok() && actual.ok()) {
    for (size_t i = 0; i < expected->size(); ++i) {
      EXPECT_LE(RelativeError((*actual)[i], (*expected)[i]), 1e-5) << PrintGraph(after);
    }
  }
  PassResult again = RunCase(after, passes, held | kTyped | kExpanded);
  EXPECT_TRUE(again.graph.ok()) << again.graph.status();
  if (again.graph.ok()) {
    EXPECT_EQ(PrintGraph(*again.graph), PrintGraph(after));
  }
  return after;
}

// Ops of the main region in order: "Conv Relu".
inline std::string OpsOf(const Graph& graph) {
  std::string ops;
  for (NodeId id : graph.main_region().nodes) {
    ops += (ops.empty() ? "" : " ") + graph.nodes[id].op;
  }
  return ops;
}

}  // namespace aotc

#endif  // AOTC_TESTS_UNIT_PASS_CASE_H_
