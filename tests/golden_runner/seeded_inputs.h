// Seeded values for the inputs of graphs and kernels.
//
//   AOTC_ASSIGN_OR_RETURN(SymbolValues symbols, DrawSymbols(graph.symbols, line));
//   AOTC_ASSIGN_OR_RETURN(std::vector<Constant> inputs, DrawInputs(graph, symbols, /*seed=*/1));
#ifndef AOTC_TESTS_GOLDEN_RUNNER_SEEDED_INPUTS_H_
#define AOTC_TESTS_GOLDEN_RUNNER_SEEDED_INPUTS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/eval/evaluate.h"
#include "tests/golden_runner/golden_case.h"

namespace aotc {

// Each symbol's value by name: the line's option, else 3 or the nearest value in its range.
SymbolValues DrawSymbols(const std::vector<Symbol>& symbols, const SubtestLine& line);

// One tensor for each input of the main region, or for each input and constant of the kernel.
absl::StatusOr<std::vector<Constant>> DrawInputs(const Graph& graph, const SymbolValues& symbols,
                                                 uint64_t seed);
absl::StatusOr<std::vector<Constant>> DrawInputs(const Kernel& kernel, const SymbolValues& symbols,
                                                 uint64_t seed);

}  // namespace aotc

#endif  // AOTC_TESTS_GOLDEN_RUNNER_SEEDED_INPUTS_H_
