// aotc-opt: reads one text IR (.air), checks it, runs the named passes, prints it.
//
//   aotc-opt tests/golden/graph/model.air --passes expand-ops,infer-and-fold
//   aotc-opt kernel.air                                  # parse, verify, print
//
// The file may hold graphs, kernels, loops and programs: whatever `aotc --dump-after=PHASE` prints.
#include <cstdio>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "compiler/driver/pipeline.h"
#include "compiler/ir/air_text.h"
#include "compiler/ir/graph_text.h"
#include "compiler/support/files.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

struct CommandLine {
  std::string path = {};
  std::string passes = {};
  std::vector<std::string> config = {};
  std::string target = {};
  bool list = false;
};

absl::StatusOr<Graph> RunOnGraph(const Graph& graph, const CommandLine& line,
                                 Diagnostics& diagnostics) {
  PassOptions options{.level = 3};  // a pass that is named runs
  for (const std::string& setting : line.config) {
    AOTC_RETURN_IF_ERROR(SetConfig(setting, options));
  }
  AOTC_ASSIGN_OR_RETURN(std::vector<Pass> passes, PassesByName(line.passes));
  // What the text states is what holds.
  GraphProperties held = kExpanded;
  if (VerifyGraph(graph).ok()) held |= kTyped;
  PassContext context(options, diagnostics, PassTargetOf(line.target, /*templates=*/true));
  return RunPasses(graph, passes, context, held);
}

absl::StatusOr<std::string> Run(const CommandLine& line, Diagnostics& diagnostics) {
  if (line.list) return DescribePipeline();
  AOTC_ASSIGN_OR_RETURN(const std::string text, ReadFile(line.path));
  AOTC_ASSIGN_OR_RETURN(std::vector<AirModule> modules, ParseAir(text, line.path));
  for (AirModule& module : modules) {
    AOTC_RETURN_IF_ERROR(VerifyAir(module));
    if (line.passes.empty()) continue;
    const Graph* graph = std::get_if<Graph>(&module);
    if (graph == nullptr) return absl::InvalidArgumentError("passes run on graphs only");
    AOTC_ASSIGN_OR_RETURN(module, RunOnGraph(*graph, line, diagnostics));
  }
  return PrintAir(modules);
}

int Main(int argc, char** argv) {
  CLI::App app("Runs passes on a text IR and prints the result.");
  CommandLine line;
  app.add_option("file", line.path, "a .air file");
  app.add_option("--passes", line.passes, "names of passes, comma-separated");
  app.add_option("--config", line.config, "KEY=VALUE: a setting of a pass");
  app.add_option("--target", line.target, "cpu or cuda: what passes that ask the target hear");
  app.add_flag("--list", line.list, "prints the passes and their settings");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (line.path.empty() && !line.list) {
    std::fputs("error: no file given\n", stderr);
    return 2;
  }
  Diagnostics diagnostics;
  const absl::StatusOr<std::string> text = Run(line, diagnostics);
  if (!text.ok() && diagnostics.error_count() == 0) diagnostics.AddStatus(text.status());
  std::fputs(diagnostics.Render().c_str(), stderr);
  if (!text.ok()) return text.status().code() == absl::StatusCode::kInternal ? 3 : 1;
  std::fputs(text->c_str(), stdout);
  return 0;
}

}  // namespace
}  // namespace aotc

int main(int argc, char** argv) { return aotc::Main(argc, argv); }
