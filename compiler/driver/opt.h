// What aotc-opt does: the passes that are named, on the graphs of a text, watched as asked.
//
//   OptOptions options{.print_before = {"fold-scale"}, .log = [](const std::string& text) {
//     std::fputs(text.c_str(), stderr);
//   }};
//   modules = *RunOpt(modules, *PassesByName("simplify,fold-scale"), options, diagnostics);
#ifndef AOTC_COMPILER_DRIVER_OPT_H_
#define AOTC_COMPILER_DRIVER_OPT_H_

#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/air_text.h"
#include "compiler/pass/pass.h"

namespace aotc {

struct OptOptions {
  std::vector<std::string> config = {};  // KEY=VALUE
  std::string target = {};               // what passes that ask the target hear
  bool verify_each = true;               // an error names the pass after which the IR is broken
  bool time = false;                     // the seconds of each pass go into the log
  // Names of passes at whose begin or end the graph goes into the log.
  std::set<std::string> print_before = {};
  std::set<std::string> print_after = {};
  bool print_after_all = false;
  std::function<void(const std::string& text)> log = {};  // takes what is asked for, as it comes
};

// Verifies the modules; runs the passes on each, which must be graphs then. Error: a module or a
// pass that fails, settings and names that do not exist, a pass to print at that does not run.
absl::StatusOr<std::vector<AirModule>> RunOpt(std::vector<AirModule> modules,
                                              std::span<const Pass> passes,
                                              const OptOptions& options, Diagnostics& diagnostics);

}  // namespace aotc

#endif  // AOTC_COMPILER_DRIVER_OPT_H_
