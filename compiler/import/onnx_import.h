// ONNX models to graphs: parsing, opset normalisation, inlining of functions, symbolic dims.
//
//   ImportOptions options;
//   options.dims.push_back(*ParseDimOption("batch=1..8"));
//   Diagnostics diagnostics;
//   absl::StatusOr<Graph> graph = ImportOnnx("model.onnx", options, diagnostics);
//
// Intermediate values have no types yet: the pass that infers types gives them. The types of the
// outputs are those that the model declares, where it does. Outputs of the graph are results of
// nodes, each another: an Identity stands before one that is an input, a constant or a second
// output.
#ifndef AOTC_COMPILER_IMPORT_ONNX_IMPORT_H_
#define AOTC_COMPILER_IMPORT_ONNX_IMPORT_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/import/bind_option.h"
#include "compiler/import/shape_options.h"
#include "compiler/ir/bundle.h"
#include "compiler/ir/graph.h"
#include "compiler/support/diagnostics.h"

namespace aotc {

struct ImportOptions {
  std::vector<ShapeOption> shapes = {};       // --shape
  std::vector<DimOption> dims = {};           // --dim
  std::vector<BoundOption> bounds = {};       // --bound
  std::vector<std::string> keep_inputs = {};  // --keep-input: inputs in spite of their initializers
  std::vector<BindOption> binds = {};  // --bind: inputs and initializers with values of files
  int64_t max_items = 64;              // of sequences of which --max-items says nothing
  std::map<std::string, int64_t> max_items_of = {};  // --max-items
  int64_t max_string_bytes = 64 << 10;  // --max-string-bytes: of an input, or that a node makes
  bool random_seed_input = false;       // --random-seed-input: input aotc_seed, i64 [1]
  // The model is a part of the one that the flags are for: names that it lacks are no findings.
  bool partial = false;
  // As it was given to a shell, for hints that name flags to add; "" where there was none.
  std::string command = {};
  // Returns the graph also where ops are not supported or symbols have no bound (their errors are
  // in the diagnostics all the same): to look at a model.
  bool lenient = false;
};

// What a model is made of, besides its graph.
struct ModelInfo {
  std::map<std::string, int> opsets = {};  // by domain; "" is ai.onnx
  std::string producer = {};
  std::set<std::string> unbound_symbols = {};  // Symbol::var of those that still need a flag
  // External data, relative to the model's folder, sorted.
  std::vector<std::string> data_files = {};
  // Inputs of the graph that are parts of one input of the model, in order; then outputs.
  std::vector<Bundle> bundles = {};
};

// Error: the findings of `diagnostics`, each with its place. Never a crash, whatever the file
// holds.
absl::StatusOr<Graph> ImportOnnx(const std::string& path, const ImportOptions& options,
                                 Diagnostics& diagnostics, ModelInfo* info = nullptr);

// Reports every node whose op has no definition, one finding for each op, with its count. An If
// waits for inference, which may decide it.
void ReportUnsupported(const Graph& graph, Diagnostics& diagnostics);
// Ops without a definition with the number of their nodes, regions included; by name.
std::map<std::string, int> UnsupportedOps(const Graph& graph);

}  // namespace aotc

#endif  // AOTC_COMPILER_IMPORT_ONNX_IMPORT_H_
