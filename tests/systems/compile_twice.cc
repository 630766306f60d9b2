// The library's way to compile: no command line, twice in one process, the files written by hand.
//
//   build/tests/compile_twice mobilenet.onnx --target cpu -o outdir
//
// Exit status 0: both compiles give the same files, and outdir holds them.
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "compiler/driver/compile.h"
#include "compiler/driver/options.h"

namespace {

int Fail(const std::string& text) {
  std::fprintf(stderr, "%s\n", text.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const aotc::ParsedCommandLine parsed = aotc::ParseCommandLine({argv + 1, argv + argc});
  if (!parsed.command_line) return Fail(parsed.text);
  const aotc::CompileOptions& options = parsed.command_line->compile;
  aotc::Diagnostics findings;
  const absl::StatusOr<aotc::CompileResult> first = aotc::Compile(options, findings);
  const absl::StatusOr<aotc::CompileResult> second = aotc::Compile(options, findings);
  if (!first.ok() || !second.ok()) return Fail(findings.Render());
  if (first->files != second->files) return Fail("the second compile gives other files");
  const std::filesystem::path outdir = parsed.command_line->outdir;
  for (const auto& [name, text] : first->files) {
    std::filesystem::create_directories((outdir / name).parent_path());
    std::ofstream(outdir / name, std::ios::binary) << text;
  }
  return 0;
}
