// The command line: words in, a CommandLine out.
//
//   ParsedCommandLine parsed = ParseCommandLine({"model.onnx", "--target", "cuda", "-o", "out"});
//   if (!parsed.command_line) { print parsed.text; exit with parsed.exit_code; }
//   Compile(parsed.command_line->compile, diagnostics);
#ifndef AOTC_COMPILER_DRIVER_OPTIONS_H_
#define AOTC_COMPILER_DRIVER_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/bench/bench.h"
#include "compiler/driver/compile.h"
#include "compiler/verify/verify.h"

namespace aotc {

// What the process tells its caller.
inline constexpr int kExitDone = 0;
inline constexpr int kExitModelError = 1;  // the model or the user
inline constexpr int kExitUsage = 2;
inline constexpr int kExitInternal = 3;

enum class Command : uint8_t {
  kCompile,
  kVerify,
  kInspect,
  kCheck,
  kReduce,
  kLimits,
  kSchedules,
  kBench,
  kPrintPipeline
};
enum class ColorMode : uint8_t { kAuto, kAlways, kNever };

struct ReduceFlags {
  std::string output = {};        // the file to write
  std::string check = "compile";  // or verify, or a command
  int timeout_seconds = 60;       // of one check
};

struct BenchFlags {
  BenchOptions options = {};  // all but what to compile
  std::string compare = {};   // "onnxruntime", or nothing
  int top = 20;               // steps that a table shows; 0: all
  std::string trace = {};     // a file to write
  std::string html = {};      // likewise
};

struct CommandLine {
  Command command = Command::kCompile;
  CompileOptions compile = {};
  BenchFlags bench = {};
  std::string outdir = {};
  bool force = false;         // writes over what somebody changed in it
  bool list_outputs = false;  // prints the paths of the files, and writes none
  std::string depfile = {};   // a rule for make: what the compile read
  bool time_passes = false;
  std::vector<std::string> dump_after = {};  // names of PhaseNames()
  bool quiet = false;
  bool json = false;
  ColorMode color = ColorMode::kAuto;
  VerifyOptions verify = {};  // without its `compile`
  ReduceFlags reduce = {};
  std::string html = {};    // inspect: the page to write
  std::string kernel = {};  // schedules: the one to list
  bool records = false;     // schedules: the choices, as --schedules takes them
};

struct ParsedCommandLine {
  std::optional<CommandLine> command_line = {};
  // Where there is none: the help (exit code 0, for stdout) or what is wrong (2, for stderr).
  int exit_code = kExitDone;
  std::string text = {};
  // What is wrong as one JSON object, where --json is among the words: for stdout.
  std::string json = {};
};

// `words` without the name of the program. No words at all are wrong usage, with a short help.
ParsedCommandLine ParseCommandLine(const std::vector<std::string>& words);

}  // namespace aotc

#endif  // AOTC_COMPILER_DRIVER_OPTIONS_H_
