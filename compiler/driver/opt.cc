#include "compiler/driver/opt.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "compiler/driver/pipeline.h"
#include "compiler/ir/graph_text.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// The passes one after the other, with what is printed around each.
class WatchedPasses {
 public:
  WatchedPasses(std::span<const Pass> passes, const OptOptions& options, PassContext& context)
      : passes_(passes), options_(options), context_(context) {
    context_.AddInstrument([this](const PassRun& run) {
      AtEnd(run);
      return absl::OkStatus();
    });
  }

  absl::StatusOr<Graph> Run(const Graph& graph) {
    // What the text states is what holds.
    GraphProperties held = kExpanded;
    if (VerifyGraph(graph).ok()) held |= kTyped;
    Graph current = graph;
    for (const Pass& pass : passes_) {
      if (options_.print_before.contains(std::string(pass.name))) {
        Print("before", pass.name, current);
      }
      AOTC_ASSIGN_OR_RETURN(current, RunPasses(current, {&pass, 1}, context_, held));
      held |= pass.ensures;
    }
    return current;
  }

 private:
  void Print(std::string_view when, std::string_view pass, const Graph& graph) {
    Log(StrCat("// ", when, " ", pass, "\n", PrintGraph(graph)));
  }

  void AtEnd(const PassRun& run) {
    if (options_.print_after_all || options_.print_after.contains(std::string(run.pass.name))) {
      Print("after", run.pass.name, run.after);
    }
    if (options_.time) Log(absl::StrFormat("%-24s %8.3f s\n", View(run.pass.name), run.seconds));
  }

  void Log(const std::string& text) const {
    if (options_.log) options_.log(text);
  }

  std::span<const Pass> passes_;
  const OptOptions& options_;
  PassContext& context_;
};

absl::Status CheckNames(const std::set<std::string>& names, std::span<const Pass> passes) {
  for (const std::string& name : names) {
    AOTC_RETURN_IF_ERROR(PassesByName(name).status());
    const bool runs = std::ranges::any_of(passes, [&](const Pass& pass) {  //
      return pass.name == name;
    });
    if (!runs)
      return AOTC_REFUSAL(InvalidArgument, StrCat("pass '", name, "' is not among --passes"));
  }
  return absl::OkStatus();
}

absl::StatusOr<PassOptions> PassOptionsOf(const OptOptions& options, std::span<const Pass> passes) {
  PassOptions result{.level = 3, .verify_each = options.verify_each};  // a pass that is named runs
  for (const std::string& setting : options.config) {
    AOTC_RETURN_IF_ERROR(SetConfig(setting, result));
  }
  AOTC_RETURN_IF_ERROR(CheckNames(options.print_before, passes));
  AOTC_RETURN_IF_ERROR(CheckNames(options.print_after, passes));
  return result;
}

}  // namespace

absl::StatusOr<std::vector<AirModule>> RunOpt(std::vector<AirModule> modules,
                                              std::span<const Pass> passes,
                                              const OptOptions& options, Diagnostics& diagnostics) {
  AOTC_ASSIGN_OR_RETURN(const PassOptions pass_options, PassOptionsOf(options, passes));
  PassContext context(pass_options, diagnostics, PassTargetOf(options.target, /*templates=*/true));
  WatchedPasses watched(passes, options, context);
  for (AirModule& module : modules) {
    AOTC_RETURN_IF_ERROR(VerifyAir(module));
    if (passes.empty()) continue;
    const Graph* graph = std::get_if<Graph>(&module);
    if (graph == nullptr) return AOTC_REFUSAL(InvalidArgument, "passes run on graphs only");
    AOTC_ASSIGN_OR_RETURN(module, watched.Run(*graph));
  }
  return modules;
}

}  // namespace aotc
