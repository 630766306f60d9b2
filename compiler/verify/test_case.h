// What a compiled model is run on: drawn inputs, and test data in files.
//
//   AOTC_ASSIGN_OR_RETURN(TestCase drawn, DrawCase(graph, {.seed = 1}));
//   AOTC_ASSIGN_OR_RETURN(std::vector<TestCase> stored, StoredCases("model.onnx", graph));
#ifndef AOTC_COMPILER_VERIFY_TEST_CASE_H_
#define AOTC_COMPILER_VERIFY_TEST_CASE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/constant.h"
#include "compiler/ir/graph.h"

namespace aotc {

struct TestCase {
  std::string name = {};                // "seed 1, batch = 3", "test_data_set_0"
  std::vector<Constant> inputs = {};    // of the graph, in order
  std::vector<Constant> expected = {};  // outputs that a file states; empty where none does
  // Outputs of the reference evaluator.
  std::vector<Constant> reference = {};
};

struct DrawOptions {
  uint64_t seed = 1;
  bool smallest = false;  // the least size of each symbol, in place of a drawn one
};

// Inputs from a seeded generator, of sizes within the bounds of the symbols, with the results of
// the reference evaluator. Integers are drawn from ever smaller ranges until no index is out of
// range. Error: the evaluator's, where no range will do.
absl::StatusOr<TestCase> DrawCase(const Graph& graph, const DrawOptions& options);

// The folders test_data_set_<k> beside the model, in order.
absl::StatusOr<std::vector<TestCase>> StoredCases(const std::string& model, const Graph& graph);

// input_<i>.pb or input_<i>.npy of a folder, and output_<i> where there are any. Error: a file that
// is missing or cannot be read, outputs for some and not for all.
absl::StatusOr<TestCase> ReadCase(const std::string& folder, const Graph& graph);

}  // namespace aotc

#endif  // AOTC_COMPILER_VERIFY_TEST_CASE_H_
