// The order of a compile: the phase that reads the model, the table of passes over the Graph, the
// phases from fusion on; and the table of settings. The names that users give are checked here.
//
//   AOTC_RETURN_IF_ERROR(CheckPassOptions(options));
//   graph = *RunPasses(graph, AllPasses(), context);
//
//   std::vector<Pass> some = *PassesByName("infer-and-fold,remove-identities");
#ifndef AOTC_COMPILER_DRIVER_PIPELINE_H_
#define AOTC_COMPILER_DRIVER_PIPELINE_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/pass/pass.h"
#include "compiler/targets/target.h"

namespace aotc {

// A step of the compile that is no function from Graph to Graph.
struct Phase {
  std::string_view name;
  int level;  // the lowest at which it runs; 0: it always runs
  std::string_view summary;
};
// All of them in the order in which they run, the passes of the table among them.
std::vector<Phase> AllPhases();
std::vector<std::string> PhaseNames();
// Null where there is none of that name, or where it is a pass.
const Phase* FindPhase(std::string_view name);
// Phases, passes and settings with their summaries, a line each.
std::string DescribePipeline();

// What passes have to know of the target of this name; one that does not exist wants nothing.
// `templates` is false for plain loops only.
PassTarget PassTargetOf(std::string_view target, bool templates);
PassTarget PassTargetOf(const Target& target);

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
// Error: names of passes and keys that do not exist, phases that cannot be disabled, levels and
// values out of range; all at once.
absl::Status CheckPassOptions(const PassOptions& options);

}  // namespace aotc

#endif  // AOTC_COMPILER_DRIVER_PIPELINE_H_
