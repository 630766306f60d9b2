// Text form of graphs: the grammar is shown in graph.h. Constants print as random(seed=n) (only parsed),
// splat(v), [short, lists] up to `constant_limit` elements, else as a content hash `#0123abcd` (not parsed back).
#ifndef AOTC_COMPILER_IR_GRAPH_TEXT_H_
#define AOTC_COMPILER_IR_GRAPH_TEXT_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"

namespace aotc {

class Scanner;  // compiler/support/scanner.h

std::string PrintGraph(const Graph& graph, int constant_limit = 16);
std::string PrintType(const ValueType& type);
absl::StatusOr<Graph> ParseGraph(std::string_view text);
absl::StatusOr<Graph> ParseGraph(Scanner& scanner);

// Every value is defined once and before use (regions see outer values), ids are in range, names are
// unique, every value has a known type; collects all violations in one status.
absl::Status VerifyGraph(const Graph& graph);

}  // namespace aotc

#endif  // AOTC_COMPILER_IR_GRAPH_TEXT_H_
