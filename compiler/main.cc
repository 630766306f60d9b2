// aotc: the command line. Parses flags, calls Compile, writes the output folder, prints findings.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compiler/driver/compile.h"
#include "compiler/support/files.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// Exit codes, as docs and scripts rely on them.
enum ExitCode { kDone = 0, kUserError = 1, kUsage = 2, kInternal = 3 };

struct CommandLine {
  CompileOptions compile = {};
  std::string outdir = {};
  std::vector<std::string> shapes = {};
  std::vector<std::string> dims = {};
  std::string weights = "incbin";
  std::vector<std::string> dump_after = {};
  bool no_templates = false;
  bool quiet = false;
};

void AddFlags(CLI::App& app, CommandLine& line) {
  app.add_option("model", line.compile.model_path, "the ONNX model")->required();
  app.add_option("-o,--output", line.outdir, "folder to write");
  app.add_option("--target", line.compile.target, "cpu or cuda")->capture_default_str();
  app.add_option("--name", line.compile.name, "prefix of files and symbols");
  app.add_option("--shape", line.shapes, "NAME=1x3x224x224: pins or bounds an input's dims");
  app.add_option("--dim", line.dims, "NAME=8 or NAME=1..32: pins or bounds a symbol");
  app.add_option("--keep-input", line.compile.import.keep_inputs,
                 "NAME: stays an input in spite of its initializer");
  app.add_option("--cpu", line.compile.cpu, "instruction sets, comma-separated")
      ->capture_default_str();
  app.add_option("--arch", line.compile.cuda_arch, "sm_80,...: for the emitted CMakeLists.txt")
      ->delimiter(',');
  app.add_option("--weights", line.weights, "incbin, array or file")
      ->check(CLI::IsMember({"incbin", "array", "file"}))
      ->capture_default_str();
  app.add_flag("--example", line.compile.example, "write example/main.cpp too");
  app.add_flag("--no-templates", line.no_templates, "plain loops only");
  app.add_option("--disable-pass", line.compile.disabled_passes, "a pass to leave out")
      ->delimiter(',');
  app.add_option("--dump-after", line.dump_after, "print the program after this phase")
      ->check(CLI::IsMember(PhaseNames()));
  app.add_option("--stop-after", line.compile.stop_after, "end after this phase")
      ->check(CLI::IsMember(PhaseNames()));
  app.add_flag("--quiet", line.quiet, "no summary");
  app.set_version_flag("--version", "aotc 0.1.0");
}

// Flags that change the output, without paths: kept in metadata.json.
std::vector<std::string> RecordedFlags(const CommandLine& line) {
  const CompileOptions& options = line.compile;
  std::vector<std::string> flags = {"--target=" + options.target};
  if (!options.name.empty()) flags.push_back("--name=" + options.name);
  for (const std::string& shape : line.shapes) flags.push_back("--shape=" + shape);
  for (const std::string& dim : line.dims) flags.push_back("--dim=" + dim);
  if (options.target == "cpu") flags.push_back("--cpu=" + options.cpu);
  if (line.weights != "incbin") flags.push_back("--weights=" + line.weights);
  if (options.example) flags.push_back("--example");
  if (line.no_templates) flags.push_back("--no-templates");
  for (const std::string& pass : options.disabled_passes) {
    flags.push_back("--disable-pass=" + pass);
  }
  return flags;
}

absl::Status FinishOptions(CommandLine& line) {
  CompileOptions& options = line.compile;
  for (const std::string& text : line.shapes) {
    AOTC_ASSIGN_OR_RETURN(ShapeOption shape, ParseShapeOption(text));
    options.import.shapes.push_back(std::move(shape));
  }
  for (const std::string& text : line.dims) {
    AOTC_ASSIGN_OR_RETURN(DimOption dim, ParseDimOption(text));
    options.import.dims.push_back(std::move(dim));
  }
  if (line.weights == "array") options.weights = WeightsForm::kArray;
  if (line.weights == "file") options.weights = WeightsForm::kFile;
  options.templates = !line.no_templates;
  options.flags = RecordedFlags(line);
  return absl::OkStatus();
}

// Files that an earlier compile wrote into the folder: the list in its metadata.json.
std::vector<std::string> PreviousFiles(const std::string& outdir) {
  const absl::StatusOr<std::string> text = ReadFile(outdir + "/metadata.json");
  if (!text.ok()) return {};
  const nlohmann::json metadata = nlohmann::json::parse(*text, nullptr, false);
  if (!metadata.is_object() || !metadata.contains("files")) return {};
  std::vector<std::string> files = {"metadata.json"};
  for (const nlohmann::json& file : metadata["files"]) {
    if (file.is_string()) files.push_back(file.get<std::string>());
  }
  return files;
}

absl::Status Run(CommandLine& line, Diagnostics& diagnostics) {
  AOTC_RETURN_IF_ERROR(FinishOptions(line));
  const PhaseHook hook = [&](const std::string& phase, const std::function<std::string()>& dump) {
    for (const std::string& wanted : line.dump_after) {
      if (wanted == phase) std::printf("// after %s\n%s", phase.c_str(), dump().c_str());
    }
  };
  AOTC_ASSIGN_OR_RETURN(const CompileResult result, Compile(line.compile, diagnostics, hook));
  if (result.files.empty()) return absl::OkStatus();
  OutputFolder folder(line.outdir);
  for (const auto& [path, content] : result.files) folder.Add(path, content);
  AOTC_RETURN_IF_ERROR(folder.Commit(PreviousFiles(line.outdir)));
  if (!line.quiet) {
    std::printf("%s: %zu kernels, %zu bytes of weights, arena %lld bytes (lower bound %lld)\n",
                line.outdir.c_str(), result.program.kernels.size(), result.program.weights.size(),
                static_cast<long long>(result.program.arena_bytes),
                static_cast<long long>(result.program.lower_bound));
  }
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  CLI::App app("Compiles an ONNX model to standalone C++ or CUDA sources.");
  CommandLine line;
  AddFlags(app, line);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kDone : kUsage;
  }
  if (line.outdir.empty() && line.compile.stop_after.empty()) {
    std::fprintf(stderr, "error: no output folder; hint: give -o FOLDER\n");
    return kUsage;
  }
  Diagnostics diagnostics;
  const absl::Status status = Run(line, diagnostics);
  if (!status.ok() && diagnostics.error_count() == 0) diagnostics.AddStatus(status);
  std::fputs(diagnostics.Render().c_str(), stderr);
  if (status.ok()) return kDone;
  return status.code() == absl::StatusCode::kInternal ? kInternal : kUserError;
}

}  // namespace
}  // namespace aotc

int main(int argc, char** argv) { return aotc::Main(argc, argv); }
