// The flags of the command line, by the groups that commands share: names, texts, where values go.
//
//   CLI::App app;
//   AddShapeFlags(app, line, texts);    // --shape, --dim, --bound, --keep-input ...
//
// What CLI11 can check goes into the CommandLine; other values stay texts, for options.cc to read.
#ifndef AOTC_COMPILER_DRIVER_FLAGS_H_
#define AOTC_COMPILER_DRIVER_FLAGS_H_

#include <string>
#include <vector>

#include "compiler/driver/options.h"

namespace CLI {
class App;
}

namespace aotc {

// What the flags state before it is checked beyond its syntax.
struct FlagTexts {
  std::vector<std::string> shapes, dims, bounds, max_items, binds, pools, aliases, archs;
  std::vector<std::string> enabled, disabled, schedules, config, assume;
  std::string weights = "incbin", color = "auto", math = "precise", winograd = "auto";
  std::string optimize = "speed";
  bool no_templates = false, no_threads = false, print_pipeline = false;
};

void AddBindFlag(CLI::App& app, FlagTexts& texts);
void AddShapeFlags(CLI::App& app, CommandLine& line, FlagTexts& texts);
void AddTargetFlags(CLI::App& app, CommandLine& line, FlagTexts& texts);
void AddOutputFlags(CLI::App& app, CommandLine& line, FlagTexts& texts);
void AddPassFlags(CLI::App& app, CommandLine& line, FlagTexts& texts);
void AddReportFlags(CLI::App& app, CommandLine& line, FlagTexts& texts);
void AddBenchFlags(CLI::App& app, BenchFlags& bench);
void AddReduceFlags(CLI::App& app, ReduceFlags& reduce);
void AddVerifyFlags(CLI::App& app, VerifyOptions& verify);

}  // namespace aotc

#endif  // AOTC_COMPILER_DRIVER_FLAGS_H_
