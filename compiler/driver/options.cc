#include "compiler/driver/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <sstream>
#include <string_view>
#include <utility>

#include "compiler/driver/pipeline.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/targets/schedules.h"

namespace aotc {
namespace {

// What the flags state before it is checked beyond its syntax.
struct Raw {
  std::vector<std::string> shapes, dims, binds, archs, enabled, disabled, schedules, config, assume;
  std::string weights = "incbin", color = "auto", math = "precise";
  bool no_templates = false, print_pipeline = false;
};

// Flags that decide the bytes of the output: metadata.json keeps them, `aotc check` gives them
// again.
constexpr std::string_view kOutputFlags[] = {
    "--target",       "--name",       "--shape",
    "--dim",          "--keep-input", "--bind",
    "--cpu",          "--arch",       "--weights",
    "--example",      "-O",           "--enable-pass",
    "--disable-pass", "--config",     "--no-templates",
    "--assume",       "--math",       "--disable-schedule",
};

// What the output format promises and this version does not have: named, so that nobody takes the
// refusal for a slip of the keyboard.
constexpr std::string_view kMissingFlags[] = {
    "--accumulate", "--bound", "--extern", "--hpp", "--max-items", "--report",
};
constexpr std::string_view kMissingCommands[] = {"bench", "tune"};

constexpr std::string_view kFooter = R"(
Exit codes: 0 done, 1 the model or what was asked for cannot be compiled, 2 wrong usage,
3 an error of aotc itself. Findings go to stderr, one a line.)";

// An option that may be given several times, one value each time.
CLI::Option* AddEach(CLI::App& app, const std::string& name, std::vector<std::string>& values,
                     const std::string& text) {
  return app.add_option(name, values, text)->allow_extra_args(false);
}

// The values are in the text of the option: they would be in the help twice.
CLI::Validator OneOf(std::vector<std::string> values) {
  return CLI::IsMember(std::move(values)).description("");
}

void AddBindFlag(CLI::App& app, Raw& raw) {
  AddEach(app, "--bind", raw.binds,
          "an input or initializer takes the value of a file (.npy, or .pb with a TensorProto)")
      ->type_name("NAME=FILE")
      ->group("Shapes");
}

void AddShapeFlags(CLI::App& app, CommandLine& line, Raw& raw) {
  AddEach(app, "--shape", raw.shapes, "pins or bounds an input: x=1x3x224x224, x=1..4x3x32..320")
      ->type_name("NAME=DIMS")
      ->group("Shapes");
  AddEach(app, "--dim", raw.dims,
          "pins or bounds a symbol: n=8, n=1..32, x:0=1..32, n=32..960:32 (a step)")
      ->type_name("NAME=RANGE")
      ->group("Shapes");
  AddEach(app, "--keep-input", line.compile.import.keep_inputs,
          "an input of the graph stays one in spite of its initializer")
      ->type_name("NAME")
      ->group("Shapes");
  AddBindFlag(app, raw);
}

void AddTargetFlags(CLI::App& app, CommandLine& line) {
  app.add_option("--target", line.compile.target, "cpu or cuda")
      ->check(OneOf({"cpu", "cuda"}))
      ->type_name("TARGET")
      ->capture_default_str();
  app.add_option("--cpu", line.compile.cpu, "instruction sets of the kernels, chosen at run time")
      ->type_name("LIST")
      ->capture_default_str();
}

void AddOutputFlags(CLI::App& app, CommandLine& line, Raw& raw) {
  app.add_option("--name", line.compile.name, "prefix of files and symbols (default: the file's)")
      ->type_name("NAME");
  app.add_option("--arch", raw.archs, "GPUs to write code for: sm_80,sm_90a (default: sm_80)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("LIST");
  app.add_option("--weights", raw.weights, "incbin, array or file: how weights reach the program")
      ->check(OneOf({"incbin", "array", "file"}))
      ->type_name("FORM")
      ->capture_default_str();
  app.add_flag("--example", line.compile.example, "writes example/main.cpp too");
}

void AddPassFlags(CLI::App& app, CommandLine& line, Raw& raw) {
  PassOptions& passes = line.compile.passes;
  app.add_option("-O", passes.level, "0 to 3: passes of a higher level do not run")
      ->type_name("LEVEL")
      ->capture_default_str()
      ->group("Passes");
  AddEach(app, "--enable-pass", raw.enabled, "runs a pass whatever the level")
      ->type_name("PASS")
      ->group("Passes");
  AddEach(app, "--disable-pass", raw.disabled, "leaves a pass out")
      ->type_name("PASS")
      ->group("Passes");
  AddEach(app, "--config", raw.config, "a setting of a pass; --print-pipeline lists them")
      ->type_name("KEY=VALUE")
      ->group("Passes");
  app.add_option("--math", raw.math,
                 "precise: NaN, infinities and signs of zero stay; fast: algebra of real numbers")
      ->check(OneOf({"precise", "fast"}))
      ->type_name("MODE")
      ->capture_default_str()
      ->group("Passes");
  AddEach(app, "--assume", raw.assume, "valid-indices: no index of the data is out of range")
      ->type_name("FACT")
      ->check(OneOf({"valid-indices"}))
      ->group("Passes");
  AddEach(app, "--disable-schedule", raw.schedules,
          "leaves a schedule out, such as contract_tile; --print-pipeline lists them")
      ->type_name("NAME")
      ->group("Passes");
  app.add_flag("--no-templates", raw.no_templates, "plain loops in place of tile functions")
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
  app.add_flag("--print-pipeline", raw.print_pipeline, "lists phases and passes, in order")
      ->group("Passes");
}

void AddReportFlags(CLI::App& app, CommandLine& line, Raw& raw) {
  app.add_flag("-q,--quiet", line.quiet, "prints nothing but findings")->group("Reports");
  app.add_flag("--json", line.json, "prints one JSON object, for machines")->group("Reports");
  app.add_option("--color", raw.color, "auto, always or never")
      ->check(OneOf({"auto", "always", "never"}))
      ->type_name("WHEN")
      ->capture_default_str()
      ->group("Reports");
}

// CLI11's, with our two ways to call the program.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* app, std::string name) const override {
    if (app->get_parent() != nullptr) return CLI::Formatter::make_usage(app, std::move(name));
    return "Usage: aotc MODEL -o OUTDIR [OPTIONS]\n"
           "       aotc COMMAND ...                (aotc COMMAND --help)\n";
  }
};

void AddVerifyFlags(CLI::App& app, VerifyOptions& verify) {
  app.add_option("--inputs", verify.inputs, "folder with input_0.npy or .pb ... to run on")
      ->type_name("DIR");
  app.add_option("--seed", verify.seed, "of the inputs that are drawn")
      ->type_name("N")
      ->capture_default_str();
  app.add_flag("--per-node", verify.per_node, "compares every value that a kernel writes");
  app.add_option("--cc", verify.build.compiler, "host compiler (default: $CXX, or c++)")
      ->type_name("CXX");
  app.add_flag("--sanitize", verify.build.sanitize, "builds with address and undefined sanitizers");
}

class Parser {
 public:
  Parser() {
    app_.set_version_flag("--version", "aotc 0.1.0", "prints the version");
    app_.set_help_flag("-h,--help", "prints this help");
    app_.footer(std::string(kFooter));
    app_.formatter(std::make_shared<HelpFormatter>());
    app_.get_formatter()->column_width(26);
    app_.add_option("model", line_.compile.model_path, "the ONNX model")->type_name("MODEL");
    app_.add_option("-o,--output", line_.outdir, "folder to write")->type_name("OUTDIR");
    AddTargetFlags(app_, line_);
    AddOutputFlags(app_, line_, raw_);
    AddShapeFlags(app_, line_, raw_);
    AddPassFlags(app_, line_, raw_);
    AddReportFlags(app_, line_, raw_);
    AddCommands();
  }

  // Throws CLI::ParseError.
  void Parse(std::vector<std::string> words) {
    std::reverse(words.begin(), words.end());  // the order that CLI11 takes
    app_.parse(std::move(words));
  }

  absl::StatusOr<CommandLine> Finish() {
    CompileOptions& compile = line_.compile;
    if (raw_.print_pipeline) line_.command = Command::kPrintPipeline;
    AOTC_RETURN_IF_ERROR(ReadShapes());
    AOTC_RETURN_IF_ERROR(ReadPasses());
    for (const std::string& arch : raw_.archs) {
      compile.cuda_arch.push_back(arch.rfind("sm_", 0) == 0 ? arch.substr(3) : arch);
    }
    if (raw_.weights == "array") compile.weights = WeightsForm::kArray;
    if (raw_.weights == "file") compile.weights = WeightsForm::kFile;
    if (raw_.color == "always") line_.color = ColorMode::kAlways;
    if (raw_.color == "never") line_.color = ColorMode::kNever;
    compile.templates = !raw_.no_templates;
    compile.disabled_schedules.insert(raw_.schedules.begin(), raw_.schedules.end());
    AOTC_RETURN_IF_ERROR(CheckSchedules(compile.disabled_schedules));
    compile.assume_valid_indices = !raw_.assume.empty();
    compile.flags = OutputFlags();
    AOTC_RETURN_IF_ERROR(CheckComplete());
    return std::move(line_);
  }

  CLI::App& app() { return app_; }

 private:
  CLI::App* AddCommand(const std::string& name, const std::string& text, Command command) {
    CLI::App* added = app_.add_subcommand(name, text);
    added->set_help_flag("-h,--help", "prints this help");
    added->callback([this, command] { line_.command = command; });
    AddReportFlags(*added, line_, raw_);
    return added;
  }

  void AddModel(CLI::App& command) {
    command.add_option("model", line_.compile.model_path, "the ONNX model")
        ->type_name("MODEL")
        ->required();
  }

  void AddCommands() {
    app_.require_subcommand(0, 1);
    CLI::App* verify = AddCommand(
        "verify", "builds what is compiled, runs it, compares with the reference evaluator",
        Command::kVerify);
    AddModel(*verify);
    AddTargetFlags(*verify, line_);
    AddVerifyFlags(*verify, line_.verify);
    AddShapeFlags(*verify, line_, raw_);
    AddPassFlags(*verify, line_, raw_);
    CLI::App* inspect =
        AddCommand("inspect", "lists inputs, outputs, ops, cost, and all that blocks a compile",
                   Command::kInspect);
    AddModel(*inspect);
    inspect
        ->add_option("--html", line_.html, "writes a page: graphs, kernels, arena over the steps")
        ->type_name("FILE");
    AddTargetFlags(*inspect, line_);
    AddShapeFlags(*inspect, line_, raw_);
    AddPassFlags(*inspect, line_, raw_);
    AddReduce();
    CLI::App* check =
        AddCommand("check", "tells whether OUTDIR is what the model gives today", Command::kCheck);
    check->add_option("outdir", line_.outdir, "folder that aotc wrote")
        ->type_name("OUTDIR")
        ->required();
    AddModel(*check);
    AddBindFlag(*check, raw_);
  }

  void AddReduce() {
    CLI::App* reduce = AddCommand(
        "reduce", "shrinks a failing model to a small one that still fails", Command::kReduce);
    AddModel(*reduce);
    reduce->add_option("-o,--output", line_.reduce.output, "the model to write")
        ->type_name("FILE")
        ->required();
    reduce
        ->add_option(
            "--check", line_.reduce.check,
            "what fails: compile (with the same errors, numbers and names aside), verify, or "
            "a command of the shell that gets the model as last argument and ends with exit "
            "code 0 where it still fails")
        ->type_name("WHAT")
        ->capture_default_str();
    reduce->add_option("--timeout", line_.reduce.timeout_seconds, "seconds that a check may take")
        ->check(CLI::PositiveNumber.description(""))
        ->type_name("N")
        ->capture_default_str();
    AddTargetFlags(*reduce, line_);
    AddVerifyFlags(*reduce, line_.verify);
    AddShapeFlags(*reduce, line_, raw_);
    AddPassFlags(*reduce, line_, raw_);
  }

  absl::Status ReadShapes() {
    ImportOptions& import = line_.compile.import;
    for (const std::string& text : raw_.shapes) {
      AOTC_ASSIGN_OR_RETURN(ShapeOption option, ParseShapeOption(text));
      import.shapes.push_back(std::move(option));
    }
    for (const std::string& text : raw_.dims) {
      AOTC_ASSIGN_OR_RETURN(DimOption option, ParseDimOption(text));
      import.dims.push_back(std::move(option));
    }
    for (const std::string& text : raw_.binds) {
      AOTC_ASSIGN_OR_RETURN(BindOption option, ParseBindOption(text));
      import.binds.push_back(std::move(option));
    }
    return absl::OkStatus();
  }

  absl::Status ReadPasses() {
    PassOptions& passes = line_.compile.passes;
    passes.enable.insert(raw_.enabled.begin(), raw_.enabled.end());
    passes.disable.insert(raw_.disabled.begin(), raw_.disabled.end());
    if (raw_.math == "fast") passes.config["simplify.fast-math"] = 1;
    for (const std::string& setting : raw_.config) {
      AOTC_RETURN_IF_ERROR(SetConfig(setting, passes));
    }
    return CheckPassOptions(passes);
  }

  // The flags that decide the output, as given, in the order of the table.
  std::vector<std::string> OutputFlags() const {
    std::vector<std::string> flags;
    for (std::string_view name : kOutputFlags) {
      const CLI::Option* option = app_.get_option_no_throw(std::string(name));
      if (option == nullptr || option->count() == 0) continue;
      if (option->get_expected_max() == 0) {
        flags.emplace_back(name);
        continue;
      }
      for (const std::string& value : option->results()) {
        const bool is_file = name == "--bind";  // outputs state no paths
        const std::string shown = is_file ? WithoutFolder(*ParseBindOption(value)) : value;
        flags.push_back(StrCat(name, name == "-O" ? "" : "=", shown));
      }
    }
    return flags;
  }

  absl::Status CheckComplete() const {
    if (line_.command != Command::kCompile) return absl::OkStatus();
    if (line_.compile.model_path.empty()) return absl::InvalidArgumentError("no model given");
    if (line_.outdir.empty() && line_.compile.passes.stop_after.empty()) {
      return absl::InvalidArgumentError("no folder to write: give -o OUTDIR");
    }
    return absl::OkStatus();
  }

  CommandLine line_;
  Raw raw_;
  CLI::App app_{"Compiles ONNX models to standalone C++ and CUDA sources.", "aotc"};
};

ParsedCommandLine UsageError(const std::string& message) {
  return {.exit_code = kExitUsage, .text = StrCat("error: ", message, "; hint: aotc --help\n")};
}

// A word of the documented command line that this version does not know; "" where there is none.
std::string MissingPart(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    const std::string flag = word.substr(0, word.find('='));
    if (std::ranges::find(kMissingFlags, flag) != std::end(kMissingFlags)) return flag;
  }
  const bool command =
      !words.empty() && std::ranges::find(kMissingCommands, words[0]) != std::end(kMissingCommands);
  return command ? words[0] : "";
}

}  // namespace

ParsedCommandLine ParseCommandLine(std::vector<std::string> words) {
  if (const std::string missing = MissingPart(words); !missing.empty()) {
    return UsageError(StrCat("this version has no '", missing, "'"));
  }
  Parser parser;
  try {
    parser.Parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    std::ostringstream out, err;
    if (parser.app().exit(error, out, err) != 0) return UsageError(error.what());
    return {.exit_code = kExitDone, .text = out.str()};
  }
  absl::StatusOr<CommandLine> line = parser.Finish();
  if (!line.ok()) return UsageError(StrCat(line.status().message()));
  return {.command_line = *std::move(line)};
}

}  // namespace aotc
