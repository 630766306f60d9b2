// What is in a model, and what keeps it from compiling.
#ifndef AOTC_COMPILER_DRIVER_INSPECT_H_
#define AOTC_COMPILER_DRIVER_INSPECT_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/driver/report.h"
#include "compiler/import/onnx_import.h"

namespace aotc {

// One op of the model. Costs are those of the nodes whose shapes are known, at the symbols' maxima;
// a symbol without a bound counts as 1.
struct OpSummary {
  int nodes = 0;
  int without_cost = 0;  // nodes whose types could not be inferred
  double flops = 0;
  double bytes = 0;
  bool supported = true;
};

struct Inspection {
  ModelInfo info = {};
  Graph graph = {};  // as imported
  Graph typed = {};  // with the types that could be inferred, constants folded
  std::map<std::string, OpSummary> ops = {};
  int64_t constant_bytes = 0;
};

// Whatever blocks a compile goes into `diagnostics`; an error is returned only where there is no
// graph.
absl::StatusOr<Inspection> Inspect(const std::string& path, const ImportOptions& options,
                                   Diagnostics& diagnostics);

// The types that can be inferred in an imported graph: nodes that inference cannot pass are left
// out, their results are inputs of unknown type then, and a finding tells why.
Graph InferPartly(const Graph& graph, Diagnostics& diagnostics);

std::string PrintInspection(const Inspection& inspection, const Diagnostics& diagnostics);
Json InspectionToJson(const Inspection& inspection);

}  // namespace aotc

#endif  // AOTC_COMPILER_DRIVER_INSPECT_H_
