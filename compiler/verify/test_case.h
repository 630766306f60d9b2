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
#include "compiler/eval/evaluate.h"
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

enum class DrawnSizes : uint8_t { kAny, kLeast, kMost };

struct DrawOptions {
  uint64_t seed = 1;
  DrawnSizes sizes = DrawnSizes::kAny;  // of each symbol
};

// Inputs alone. `name` tells of seed and sizes: "seed 1, batch = 3".
struct DrawnInputs {
  std::string name = {};
  std::vector<Constant> inputs = {};
  SymbolValues sizes = {};  // by Symbol::var, of symbols that inputs state
};

// Integers of inputs are drawn from 0 .. range - 1, of their whole type where it is 0: ever smaller
// ranges, until all that are indices are valid.
inline constexpr int64_t kDrawnRanges[] = {0, 1000, 100, 16, 4, 2, 1};

// Inputs from a seeded generator, of sizes within the bounds of the symbols. Error: an input that
// is no tensor of numbers.
absl::StatusOr<DrawnInputs> DrawInputs(const Graph& graph, const DrawOptions& options,
                                       int64_t range);

bool HasIntegers(const std::vector<Constant>& inputs);

// Drawn inputs without an index that is out of range, with the results of the reference evaluator.
// Error: the evaluator's, where no range will do.
absl::StatusOr<TestCase> DrawCase(const Graph& graph, const DrawOptions& options);

// The folders test_data_set_<k> beside the model, in order.
absl::StatusOr<std::vector<TestCase>> StoredCases(const std::string& model, const Graph& graph);

// input_<i>.pb or input_<i>.npy of a folder, one per input. Error: a file that is missing or cannot
// be read, or does not fit.
absl::StatusOr<std::vector<Constant>> ReadInputs(const std::string& folder, const Graph& graph);

// The same, and output_<i> where there are any. Error: outputs for some and not for all.
absl::StatusOr<TestCase> ReadCase(const std::string& folder, const Graph& graph);

}  // namespace aotc

#endif  // AOTC_COMPILER_VERIFY_TEST_CASE_H_
