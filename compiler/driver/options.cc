#include "compiler/driver/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <sstream>
#include <string_view>
#include <utility>

#include "absl/strings/numbers.h"
#include "compiler/driver/flags.h"
#include "compiler/driver/pipeline.h"
#include "compiler/driver/report.h"
#include "compiler/layout/winograd.h"
#include "compiler/support/refusal.h"
#include "compiler/support/shell.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/support/suggestion.h"
#include "compiler/targets/registry.h"

namespace aotc {
namespace {

// Flags that decide the bytes of the output: metadata.json keeps them, `aotc check` gives them
// again.
constexpr std::string_view kOutputFlags[] = {
    "--target",           "--name",         "--shape",      "--dim",
    "--keep-input",       "--bind",         "--cpu",        "--arch",
    "--weights",          "--example",      "--python",     "-O",
    "--enable-pass",      "--disable-pass", "--config",     "--no-templates",
    "--assume",           "--math",         "--winograd",   "--pool",
    "--disable-schedule", "--alias",        "--bound",      "--max-items",
    "--max-string-bytes", "--profile",      "--no-threads", "--optimize",
};

// What the output format promises and this version does not have: named, so that nobody takes the
// refusal for a slip of the keyboard.
constexpr std::string_view kMissingFlags[] = {
    "--accumulate",
    "--extern",
    "--hpp",
    "--report",
};
constexpr std::string_view kMissingCommands[] = {"tune"};

constexpr std::string_view kFooter = R"(
Exit codes: 0 done, 1 the model or what was asked for cannot be compiled, 2 wrong usage,
3 an error of aotc itself. Findings go to stderr, one a line.)";

constexpr std::string_view kUsage =
    "Usage: aotc MODEL -o OUTDIR [OPTIONS]\n"
    "       aotc COMMAND ...                (aotc COMMAND --help)\n";

// CLI11's, with our two ways to call the program.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* app, std::string name) const override {
    if (app->get_parent() != nullptr) return CLI::Formatter::make_usage(app, std::move(name));
    return std::string(kUsage);
  }
};

// "boxes=100"
absl::Status AddMaxItems(const std::string& text, ImportOptions& import) {
  constexpr int64_t kMostItems = 1 << 20;
  const size_t equals = text.rfind('=');
  int64_t most = 0;
  const bool fits = equals != std::string::npos && equals > 0 &&
                    absl::SimpleAtoi(text.substr(equals + 1), &most) && most >= 0 &&
                    most <= kMostItems;
  if (!fits) {
    return AOTC_REFUSAL(InvalidArgument,
                        StrCat("--max-items ", text, ": expected NAME=N, N at most ", kMostItems));
  }
  import.max_items_of[text.substr(0, equals)] = most;
  return absl::OkStatus();
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
    AddTargetFlags(app_, line_, texts_);
    AddOutputFlags(app_, line_, texts_);
    AddShapeFlags(app_, line_, texts_);
    AddPassFlags(app_, line_, texts_);
    AddReportFlags(app_, line_, texts_);
    AddCommands();
  }

  // Throws CLI::ParseError.
  void Parse(std::vector<std::string> words) {
    line_.compile.import.command = StrCat("aotc ", ShellCommand(words));
    std::reverse(words.begin(), words.end());  // the order that CLI11 takes
    app_.parse(std::move(words));
  }

  absl::StatusOr<CommandLine> Finish() {
    CompileOptions& compile = line_.compile;
    if (texts_.print_pipeline) line_.command = Command::kPrintPipeline;
    AOTC_RETURN_IF_ERROR(ReadValues());
    AOTC_RETURN_IF_ERROR(ReadPasses());
    for (const std::string& arch : texts_.archs) {
      compile.cuda_arch.push_back(arch.rfind("sm_", 0) == 0 ? arch.substr(3) : arch);
    }
    if (texts_.weights == "array") compile.weights = WeightsForm::kArray;
    if (texts_.weights == "file") compile.weights = WeightsForm::kFile;
    if (texts_.color == "always") line_.color = ColorMode::kAlways;
    if (texts_.color == "never") line_.color = ColorMode::kNever;
    compile.for_size = texts_.optimize == "size";
    compile.templates = !texts_.no_templates && !compile.for_size;
    compile.threads = !texts_.no_threads;
    compile.disabled_schedules.insert(texts_.schedules.begin(), texts_.schedules.end());
    AOTC_RETURN_IF_ERROR(CheckSchedules(compile.disabled_schedules));
    compile.assume_valid_indices = !texts_.assume.empty();
    compile.flags = OutputFlags();
    AOTC_RETURN_IF_ERROR(CheckThreads());
    AOTC_RETURN_IF_ERROR(CheckComplete());
    return std::move(line_);
  }

  CLI::App& app() { return app_; }

 private:
  CLI::App* AddCommand(const std::string& name, const std::string& text, Command command) {
    CLI::App* added = app_.add_subcommand(name, text);
    added->set_help_flag("-h,--help", "prints this help");
    added->callback([this, command] { line_.command = command; });
    AddReportFlags(*added, line_, texts_);
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
    AddTargetFlags(*verify, line_, texts_);
    AddVerifyFlags(*verify, line_.verify);
    AddShapeFlags(*verify, line_, texts_);
    AddPassFlags(*verify, line_, texts_);
    AddBench();
    CLI::App* inspect =
        AddCommand("inspect", "lists inputs, outputs, ops, cost, and all that blocks a compile",
                   Command::kInspect);
    AddModel(*inspect);
    inspect
        ->add_option("--html", line_.html, "writes a page: graphs, kernels, arena over the steps")
        ->type_name("FILE");
    AddTargetFlags(*inspect, line_, texts_);
    AddShapeFlags(*inspect, line_, texts_);
    AddPassFlags(*inspect, line_, texts_);
    AddReduce();
    CLI::App* check =
        AddCommand("check", "tells whether OUTDIR is what the model gives today", Command::kCheck);
    check->add_option("outdir", line_.outdir, "folder that aotc wrote")
        ->type_name("OUTDIR")
        ->required();
    AddModel(*check);
    AddBindFlag(*check, texts_);
    CLI::App* schedules = AddCommand(
        "schedules", "lists the schedules that kernels could have, their cost, and the choice",
        Command::kSchedules);
    AddModel(*schedules);
    schedules->add_option("--kernel", line_.kernel, "lists one kernel alone")->type_name("NAME");
    schedules->add_flag("--records", line_.records, "prints the choices as a file for --schedules");
    AddTargetFlags(*schedules, line_, texts_);
    AddShapeFlags(*schedules, line_, texts_);
    AddPassFlags(*schedules, line_, texts_);
    AddCommand("limits", "measures this machine, for --limits: prints JSON", Command::kLimits);
  }

  void AddBench() {
    CLI::App* bench = AddCommand(
        "bench", "builds what is compiled, and tells how fast it is and where the time goes",
        Command::kBench);
    AddModel(*bench);
    AddTargetFlags(*bench, line_, texts_);
    AddBenchFlags(*bench, line_.bench);
    AddShapeFlags(*bench, line_, texts_);
    AddPassFlags(*bench, line_, texts_);
  }

  void AddReduce() {
    CLI::App* reduce = AddCommand(
        "reduce", "shrinks a failing model to a small one that still fails", Command::kReduce);
    AddModel(*reduce);
    AddReduceFlags(*reduce, line_.reduce);
    AddTargetFlags(*reduce, line_, texts_);
    AddVerifyFlags(*reduce, line_.verify);
    AddShapeFlags(*reduce, line_, texts_);
    AddPassFlags(*reduce, line_, texts_);
  }

  absl::Status ReadValues() {
    ImportOptions& import = line_.compile.import;
    for (const std::string& text : texts_.shapes) {
      AOTC_ASSIGN_OR_RETURN(ShapeOption option, ParseShapeOption(text));
      import.shapes.push_back(std::move(option));
    }
    for (const std::string& text : texts_.dims) {
      AOTC_ASSIGN_OR_RETURN(DimOption option, ParseDimOption(text));
      import.dims.push_back(std::move(option));
    }
    for (const std::string& text : texts_.max_items) {
      AOTC_RETURN_IF_ERROR(AddMaxItems(text, import));
    }
    for (const std::string& text : texts_.bounds) {
      AOTC_ASSIGN_OR_RETURN(BoundOption option, ParseBoundOption(text));
      import.bounds.push_back(std::move(option));
    }
    for (const std::string& text : texts_.binds) {
      AOTC_ASSIGN_OR_RETURN(BindOption option, ParseBindOption(text));
      import.binds.push_back(std::move(option));
    }
    for (const std::string& text : texts_.aliases) {
      AOTC_ASSIGN_OR_RETURN(AliasOption option, ParseAliasOption(text));
      line_.compile.aliases.push_back(std::move(option));
    }
    for (const std::string& text : texts_.pools) {
      AOTC_ASSIGN_OR_RETURN(PoolOption option, ParsePoolOption(text));
      line_.compile.pools.push_back(std::move(option));
    }
    return absl::OkStatus();
  }

  absl::Status ReadPasses() {
    PassOptions& passes = line_.compile.passes;
    passes.enable.insert(texts_.enabled.begin(), texts_.enabled.end());
    passes.disable.insert(texts_.disabled.begin(), texts_.disabled.end());
    if (texts_.math == "fast") passes.config[std::string(kFastMath.name)] = 1;
    SetWinograd(passes);
    for (const std::string& setting : texts_.config) {
      AOTC_RETURN_IF_ERROR(SetConfig(setting, passes));
    }
    return CheckPassOptions(passes);
  }

  void SetWinograd(PassOptions& passes) const {
    if (texts_.winograd == "auto") return;
    const bool is_off = texts_.winograd == "off";
    passes.config[std::string(kWinograd.name)] = is_off ? 0 : std::stoll(texts_.winograd);
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

  absl::Status CheckThreads() const {
    const std::vector<int>& threads = line_.bench.options.threads;
    const bool has_several = std::ranges::any_of(threads, [](int count) { return count > 1; });
    if (!texts_.no_threads || !has_several) return absl::OkStatus();
    return AOTC_REFUSAL(InvalidArgument, "--threads: with --no-threads a run has one worker");
  }

  absl::Status CheckComplete() const {
    if (line_.command != Command::kCompile) return absl::OkStatus();
    if (line_.compile.model_path.empty()) return AOTC_REFUSAL(InvalidArgument, "no model given");
    if (line_.outdir.empty() && line_.compile.passes.stop_after.empty()) {
      return AOTC_REFUSAL(InvalidArgument, "no folder to write: give -o OUTDIR");
    }
    return absl::OkStatus();
  }

  CommandLine line_;
  FlagTexts texts_;
  CLI::App app_{"Compiles ONNX models to standalone C++ and CUDA sources.", "aotc"};
};

ParsedCommandLine UsageError(const std::string& message, const std::vector<std::string>& words,
                             std::string_view command = "aotc") {
  Diagnostics diagnostics;
  diagnostics.Add({.message = message, .hint = StrCat(command, " --help")});
  ParsedCommandLine parsed{.exit_code = kExitUsage, .text = diagnostics.Render()};
  if (std::ranges::count(words, "--json") > 0) {
    parsed.json = JsonText({{"findings", FindingsToJson(diagnostics)}, {"exit_code", kExitUsage}});
  }
  return parsed;
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

// Of a command, or of the program where none is given.
std::vector<std::string> FlagsOf(const CLI::App& app) {
  std::vector<std::string> flags;
  const std::vector<CLI::App*> given = app.get_subcommands();
  for (const CLI::Option* option : (given.empty() ? app : *given.front()).get_options()) {
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  }
  return flags;
}

// "aotc verify", or "aotc".
std::string GivenCommand(const CLI::App& app) {
  const std::vector<CLI::App*> given = app.get_subcommands();
  return given.empty() ? "aotc" : StrCat("aotc ", given.front()->get_name());
}

std::vector<std::string> CommandsOf(const CLI::App& app) {
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    commands.push_back(command->get_name());
  }
  return commands;
}

// What somebody sees who only gives the program's name.
std::string ShortHelp(const CLI::App& app) {
  return StrCat(app.get_description(), "\n", kUsage, "Commands: ", StrJoin(CommandsOf(app), ", "),
                "\naotc --help lists the options.\n");
}

// What is wrong with words that no flag or command takes: the first flag among them, else the first
// word where it nearly is a command's name, which was taken for a model.
std::string Unexpected(const CLI::App& app, const std::vector<std::string>& words) {
  const std::vector<std::string> extras = app.remaining(/*recurse=*/true);
  for (const std::string& word : words) {
    if (!word.starts_with("-") || std::ranges::count(extras, word) == 0) continue;
    const std::string flag = word.substr(0, word.find('='));
    const std::string meant = MeantOr(flag, FlagsOf(app), "");
    return StrCat("unknown flag '", flag, "'", meant.empty() ? "" : "; ", meant);
  }
  const bool is_command = !app.get_subcommands().empty();
  const std::string command = is_command ? "" : MeantOr(words[0], CommandsOf(app), "");
  if (!command.empty()) return StrCat("unknown command '", words[0], "'; ", command);
  return StrCat("unexpected '", StrJoin(extras, "', '"), "'");
}

}  // namespace

ParsedCommandLine ParseCommandLine(const std::vector<std::string>& words) {
  Parser parser;
  if (words.empty()) return {.exit_code = kExitUsage, .text = ShortHelp(parser.app())};
  if (const std::string missing = MissingPart(words); !missing.empty()) {
    return UsageError(StrCat("this version has no '", missing, "'"), words);
  }
  try {
    parser.Parse(words);
  } catch (const CLI::ExtrasError&) {
    return UsageError(Unexpected(parser.app(), words), words, GivenCommand(parser.app()));
  } catch (const CLI::ParseError& error) {
    std::ostringstream out, err;
    if (parser.app().exit(error, out, err) != 0)
      return UsageError(error.what(), words, GivenCommand(parser.app()));
    return {.exit_code = kExitDone, .text = out.str()};
  }
  absl::StatusOr<CommandLine> line = parser.Finish();
  if (!line.ok()) return UsageError(StrCat(line.status().message()), words);
  return {.command_line = *std::move(line)};
}

}  // namespace aotc
