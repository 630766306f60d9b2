#include "compiler/driver/flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "compiler/driver/pipeline.h"
#include "compiler/ir/winograd.h"
#include "compiler/support/byte_count.h"
#include "compiler/support/strings.h"
#include "compiler/support/suggestion.h"
#include "compiler/targets/registry.h"

namespace aotc {
namespace {

// An option that may be given several times, one value each time.
CLI::Option* AddEach(CLI::App& app, const std::string& name, std::vector<std::string>& values,
                     const std::string& text) {
  return app.add_option(name, values, text)->allow_extra_args(false);
}

// The values are in the text of the option: they would be in the help twice.
CLI::Validator OneOf(std::vector<std::string> values) {
  const auto refused = [values = std::move(values)](const std::string& value) {
    return std::ranges::count(values, value) > 0 ? "" : UnknownName("value", value, values);
  };
  return {refused, ""};
}

// Writes 64K as the number of bytes that it is; what is no such text is left to the checks.
std::string AsByteCount(std::string& text) {
  if (const std::optional<int64_t> bytes = ParseByteCount(text)) text = StrCat(*bytes);
  return "";
}

// "2, 4 or 6", and the words that the flag takes.
std::string WinogradSizes() {
  const std::vector<int64_t> but_last(kWinogradTiles.begin(), kWinogradTiles.end() - 1);
  return StrCat(StrJoin(but_last, ", "), " or ", kWinogradTiles.back());
}

std::vector<std::string> WinogradChoices() {
  std::vector<std::string> words = {"auto", "off"};
  for (const int64_t m : kWinogradTiles) words.push_back(StrCat(m));
  return words;
}

// What is refused of a value, or "".
std::string WrongSeconds(const std::string& text) {
  constexpr double kMost = 1800;  // below the time that a program is given
  double seconds = -1;
  const bool fits = absl::SimpleAtod(text, &seconds) && seconds >= 0 && seconds <= kMost;
  return fits ? "" : StrCat("expected seconds from 0 to ", kMost);
}

std::string WrongTarget(const std::string& name) {
  return std::string(CheckTarget(name).message());
}

}  // namespace

void AddBindFlag(CLI::App& app, FlagTexts& texts) {
  AddEach(app, "--bind", texts.binds,
          "an input or initializer takes the value of a file (.npy, or .pb with a TensorProto)")
      ->type_name("NAME=FILE")
      ->group("Shapes");
}

void AddShapeFlags(CLI::App& app, CommandLine& line, FlagTexts& texts) {
  AddEach(app, "--shape", texts.shapes, "pins or bounds an input: x=1x3x224x224, x=1..4x3x32..320")
      ->type_name("NAME=DIMS")
      ->group("Shapes");
  AddEach(app, "--dim", texts.dims,
          "pins or bounds a symbol: n=8, n=1..32, x:0=1..32, n=32..960:32 (a step), m=n (equal); "
          "ends[1]=-8..8: an element of an integer input that sizes depend on")
      ->type_name("NAME=RANGE")
      ->group("Shapes");
  AddEach(app, "--bound", texts.bounds,
          "the most of an axis whose size only a run knows: kept:0=64")
      ->type_name("TENSOR:AXIS=N")
      ->group("Shapes");
  AddEach(app, "--max-items", texts.max_items,
          "the most items of a sequence that is an input or that a loop carries, or entries of a "
          "map (default 64)")
      ->type_name("NAME=N")
      ->group("Shapes");
  app.add_option("--max-string-bytes", line.compile.import.max_string_bytes,
                 "the most bytes of the strings of an input, or of those that a node makes: 64K")
      ->transform(CLI::Validator(AsByteCount, ""))
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 30))
      ->type_name("N")
      ->capture_default_str()
      ->group("Shapes");
  AddEach(app, "--keep-input", line.compile.import.keep_inputs,
          "an input of the graph stays one in spite of its initializer")
      ->type_name("NAME")
      ->group("Shapes");
  app.add_flag("--random-seed-input", line.compile.import.random_seed_input,
               "adds an input aotc_seed, i64[1]: other random numbers for another one")
      ->group("Shapes");
  AddBindFlag(app, texts);
}

void AddTargetFlags(CLI::App& app, CommandLine& line, FlagTexts& texts) {
  app.add_option("--target", line.compile.target, StrJoin(TargetNames(), " or "))
      ->check(WrongTarget)
      ->type_name("TARGET")
      ->capture_default_str();
  app.add_option("--cpu", line.compile.cpu, "instruction sets of the kernels, chosen at run time")
      ->type_name("LIST")
      ->capture_default_str();
  app.add_option("--optimize", texts.optimize,
                 "speed, or size: plain loops in place of tile functions, and the smallest arena")
      ->check(OneOf({"speed", "size"}))
      ->type_name("FOR")
      ->capture_default_str();
  app.add_flag("--no-threads", texts.no_threads,
               "one worker: no threads, no barriers, nothing of an operating system");
  app.add_option("--arch", texts.archs, "GPUs to write code for: sm_80,sm_90a (default: sm_80)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("LIST");
  app.add_option("--limits", line.compile.limits_path,
                 "a machine's limits, as `aotc limits` prints them (default: tables by name)")
      ->type_name("FILE");
  app.add_option("--schedules", line.compile.schedules_path,
                 "choices of schedules, as `aotc schedules --records` prints them")
      ->type_name("FILE");
  AddEach(app, "--pool", texts.pools,
          "a memory that the arena is made of, the fastest first: fast=64K; the last may have no "
          "=BYTES")
      ->type_name("NAME=BYTES");
  AddEach(app, "--alias", texts.aliases,
          "an output takes an input's memory: h_out=h_in; a cache grows along an axis with room for"
          " CAPACITY: present_*=past_*:2=1024, * being the same text on both sides")
      ->type_name("OUTPUT=INPUT[:AXIS=CAPACITY]");
}

void AddOutputFlags(CLI::App& app, CommandLine& line, FlagTexts& texts) {
  app.add_option("--name", line.compile.name, "prefix of files and symbols (default: the file's)")
      ->type_name("NAME");
  app.add_option("--weights", texts.weights, "incbin, array or file: how weights reach the program")
      ->check(OneOf({"incbin", "array", "file"}))
      ->type_name("FORM")
      ->capture_default_str();
  app.add_flag("--example", line.compile.example, "writes example/main.cpp too");
  app.add_flag("--python", line.compile.python,
               "writes NAME.py too, which calls the model with arrays of numpy");
  app.add_flag("--profile", line.compile.profile,
               "runs tell who asks when each step begins and ends, by a clock of the caller's");
  app.add_flag("--list-outputs", line.list_outputs,
               "prints the paths of the files that the compile would write, and writes none");
  app.add_option("--depfile", line.depfile,
                 "writes the files that the compile read, as a rule for make")
      ->type_name("FILE");
  app.add_flag("--force", line.force,
               "writes over files of an earlier compile that were changed since, and over another "
               "model's folder");
}

void AddPassFlags(CLI::App& app, CommandLine& line, FlagTexts& texts) {
  PassOptions& passes = line.compile.passes;
  app.add_option("-O", passes.level, "0 to 3: passes of a higher level do not run")
      ->type_name("LEVEL")
      ->capture_default_str()
      ->group("Passes");
  AddEach(app, "--enable-pass", texts.enabled, "runs a pass whatever the level")
      ->type_name("PASS")
      ->group("Passes");
  AddEach(app, "--disable-pass", texts.disabled, "leaves a pass out")
      ->type_name("PASS")
      ->group("Passes");
  AddEach(app, "--config", texts.config, "a setting of a pass; --print-pipeline lists them")
      ->type_name("KEY=VALUE")
      ->group("Passes");
  app.add_option("--math", texts.math,
                 "precise: NaN, infinities and signs of zero stay; fast: algebra of real numbers")
      ->check(OneOf({"precise", "fast"}))
      ->type_name("MODE")
      ->capture_default_str()
      ->group("Passes");
  app.add_option("--winograd", texts.winograd,
                 StrCat("3x3 convolutions by Winograd's algorithm: over ", WinogradSizes(),
                        " outputs along each axis, or not at all; auto: where that is faster,"
                        " within an error of 1e-5 of the output's scale"))
      ->check(OneOf(WinogradChoices()))
      ->type_name("HOW")
      ->capture_default_str()
      ->group("Passes");
  AddEach(app, "--assume", texts.assume, "valid-indices: no index of the data is out of range")
      ->type_name("FACT")
      ->check(OneOf({"valid-indices"}))
      ->group("Passes");
  AddEach(app, "--disable-schedule", texts.schedules,
          "leaves a schedule out, such as contract_tile; --print-pipeline lists them")
      ->type_name("NAME")
      ->group("Passes");
  app.add_flag("--no-templates", texts.no_templates, "plain loops in place of tile functions")
      ->group("Passes");
  app.add_flag("--time-passes", line.time_passes, "prints the time of each phase and pass")
      ->group("Passes");
  AddEach(app, "--dump-after", line.dump_after, "prints the program after a phase or pass")
      ->type_name("PHASE")
      ->check(OneOf(PhaseNames()))
      ->group("Passes");
  app.add_option("--dump-constants", line.compile.dump_constants, "longest constant shown whole")
      ->check(CLI::NonNegativeNumber.description(""))
      ->type_name("N")
      ->capture_default_str()
      ->group("Passes");
  app.add_option("--stop-after", passes.stop_after, "ends after it; nothing is written")
      ->type_name("PHASE")
      ->check(OneOf(PhaseNames()))
      ->group("Passes");
  app.add_flag("--print-pipeline", texts.print_pipeline, "lists phases and passes, in order")
      ->group("Passes");
}

void AddReportFlags(CLI::App& app, CommandLine& line, FlagTexts& texts) {
  app.add_flag("-q,--quiet", line.quiet, "prints nothing but findings")->group("Reports");
  app.add_flag("--json", line.json, "prints one JSON object, for machines")->group("Reports");
  app.add_option("--color", texts.color, "auto, always or never")
      ->check(OneOf({"auto", "always", "never"}))
      ->type_name("WHEN")
      ->capture_default_str()
      ->group("Reports");
}

namespace {

// What a compiled model is run on, and what builds it.
void AddRunFlags(CLI::App& app, std::string& inputs, uint64_t& seed, HostBuildOptions& build) {
  app.add_option("--inputs", inputs, "folder with input_0.npy or .pb ... to run on")
      ->type_name("DIR");
  app.add_option("--seed", seed, "of the inputs that are drawn")
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--cc", build.compiler, "host compiler (default: $CXX, or c++)")->type_name("CXX");
}

}  // namespace

void AddBenchFlags(CLI::App& app, BenchFlags& bench) {
  app.add_option("--threads", bench.options.threads, "numbers of workers: 1,2")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(1, 1024).description(""))
      ->type_name("LIST")
      ->default_str("1");
  app.add_option("--seconds", bench.options.seconds, "how long it runs with each of them")
      ->check(CLI::Validator(WrongSeconds, ""))
      ->type_name("S")
      ->capture_default_str();
  app.add_option("--top", bench.top, "how many of the slowest steps the table shows; 0: all")
      ->check(CLI::NonNegativeNumber.description(""))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--compare", bench.compare, "onnxruntime: times that too, where python3 has it")
      ->check(OneOf({"onnxruntime"}))
      ->type_name("RUNTIME");
  app.add_option("--trace", bench.trace,
                 "writes the fastest run, step by step, for ui.perfetto.dev or chrome://tracing")
      ->type_name("FILE");
  app.add_option("--html", bench.html, "writes a page: the fastest run over time, and all steps")
      ->type_name("FILE");
  AddRunFlags(app, bench.options.inputs, bench.options.seed, bench.options.build);
}

void AddVerifyFlags(CLI::App& app, VerifyOptions& verify) {
  AddRunFlags(app, verify.inputs, verify.seed, verify.build);
  app.add_flag("--per-node", verify.per_node, "compares every value that a kernel writes");
  app.add_flag("--sanitize", verify.build.sanitize, "builds with address and undefined sanitizers");
}

void AddReduceFlags(CLI::App& app, ReduceFlags& reduce) {
  app.add_option("-o,--output", reduce.output, "the model to write")->type_name("FILE")->required();
  app.add_option("--check", reduce.check,
                 "what fails: compile (with the same errors, numbers and names aside), verify, or "
                 "a command of the shell that gets the model as last argument and ends with exit "
                 "code 0 where it still fails")
      ->type_name("WHAT")
      ->capture_default_str();
  app.add_option("--timeout", reduce.timeout_seconds, "seconds that a check may take")
      ->check(CLI::PositiveNumber.description(""))
      ->type_name("N")
      ->capture_default_str();
}

}  // namespace aotc
