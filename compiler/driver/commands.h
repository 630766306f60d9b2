// What the commands of the command line do. They print nothing: main does.
//
//   Diagnostics diagnostics;
//   CommandResult result = RunCommand(line, diagnostics);
//   // result.text or result.json to stdout, the findings to stderr
#ifndef AOTC_COMPILER_DRIVER_COMMANDS_H_
#define AOTC_COMPILER_DRIVER_COMMANDS_H_

#include <functional>
#include <string>

#include "compiler/driver/options.h"
#include "compiler/driver/report.h"

namespace aotc {

struct CommandResult {
  int exit_code = kExitDone;
  std::string dumps = {};  // what --dump-after asks for; printed even with --quiet
  std::string text = {};
  Json json = Json::object();
};

// Called when a step of a longer command begins, with the seconds since the command did.
using ProgressHook = std::function<void(const std::string& step, double seconds)>;

// Every error is among the findings, and the exit code says whose fault it is.
CommandResult RunCommand(const CommandLine& line, Diagnostics& diagnostics,
                         const ProgressHook& progress = {});

}  // namespace aotc

#endif  // AOTC_COMPILER_DRIVER_COMMANDS_H_
