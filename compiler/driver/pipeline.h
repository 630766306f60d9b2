// The table of passes over the Graph, in the order in which they run, and the table of their
// settings.
//
//   AOTC_RETURN_IF_ERROR(CheckPassOptions(options));     // names and values that the user gave
//   graph = *RunPasses(graph, AllPasses(), context);
//
//   std::vector<Pass> some = *PassesByName("infer-and-fold,remove-identities");
#ifndef AOTC_COMPILER_DRIVER_PIPELINE_H_
#define AOTC_COMPILER_DRIVER_PIPELINE_H_

#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/driver/pass.h"

namespace aotc {

std::span<const Pass> AllPasses();
const Pass* FindPass(std::string_view name);
// The named passes in the order given, separated by commas. Error: an unknown name, with the known
// ones.
absl::StatusOr<std::vector<Pass>> PassesByName(std::string_view names);

// Expands ops, infers and folds what is known, and nothing else: for reports and tests. Inputs may
// have no type.
absl::StatusOr<Graph> InferTypes(const Graph& graph, Diagnostics& diagnostics);

std::span<const ConfigKey> AllConfigKeys();
const ConfigKey* FindConfigKey(std::string_view name);
// Sets "key=value" in the options. Error: an unknown key (with the known ones), no number, out of
// range.
absl::Status SetConfig(std::string_view setting, PassOptions& options);
// Error: names of passes and keys that do not exist, values out of range; all at once.
absl::Status CheckPassOptions(const PassOptions& options);

}  // namespace aotc

#endif  // AOTC_COMPILER_DRIVER_PIPELINE_H_
