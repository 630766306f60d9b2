// aotc-opt: reads one text IR (.air), checks it, runs the named passes, prints it.
//
//   aotc-opt tests/golden/graph/model.air --passes expand-ops,infer-and-fold
//   aotc-opt kernel.air                                  # parse, verify, print
//   aotc-opt graph.air --passes simplify --print-before simplify --time
//
// The file may hold graphs, kernels, loops and programs: whatever `aotc --dump-after=PHASE` prints.
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "compiler/driver/opt.h"
#include "compiler/driver/pipeline.h"
#include "compiler/ir/air_text.h"
#include "compiler/support/files.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

struct CommandLine {
  std::string path = {};
  std::string passes = {};
  bool list = false;
  OptOptions opt = {};
};

void AddFlags(CLI::App& app, CommandLine& line) {
  OptOptions& opt = line.opt;
  app.add_option("file", line.path, "a .air file");
  app.add_option("--passes", line.passes, "names of passes, comma-separated");
  app.add_option("--config", opt.config, "KEY=VALUE: a setting of a pass")->allow_extra_args(false);
  app.add_option("--target", opt.target, "a target: what passes that ask it hear");
  app.add_flag("--list", line.list, "prints the passes and their settings");
  app.add_flag("--verify-each,!--no-verify-each", opt.verify_each,
               "verifies the graph after each pass and names the one that broke it (the default)");
  app.add_flag("--time", opt.time, "prints the time of each pass, to stderr");
  app.add_option("--print-before", opt.print_before, "prints the graph before a pass, to stderr")
      ->type_name("PASS")
      ->allow_extra_args(false);
  app.add_option("--print-after", opt.print_after, "prints the graph after a pass, to stderr")
      ->type_name("PASS")
      ->allow_extra_args(false);
  app.add_flag("--print-after-all", opt.print_after_all, "prints it after every pass");
}

// The text for stdout; what was asked to be printed on the way goes to stderr.
absl::StatusOr<std::string> Run(const CommandLine& line, Diagnostics& diagnostics) {
  if (line.list) return DescribePipeline();
  AOTC_ASSIGN_OR_RETURN(const std::string text, ReadFile(line.path));
  AOTC_ASSIGN_OR_RETURN(std::vector<AirModule> modules, ParseAir(text, line.path));
  AOTC_ASSIGN_OR_RETURN(const std::vector<Pass> passes, PassesByName(line.passes));
  AOTC_ASSIGN_OR_RETURN(modules, RunOpt(std::move(modules), passes, line.opt, diagnostics));
  return PrintAir(modules);
}

int Main(int argc, char** argv) {
  CLI::App app("Runs passes on a text IR and prints the result.");
  CommandLine line;
  AddFlags(app, line);
  line.opt.log = [](const std::string& piece) { std::fputs(piece.c_str(), stderr); };
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
