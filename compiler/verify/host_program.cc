#include "compiler/verify/host_program.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "absl/strings/str_split.h"
#include "compiler/import/npy.h"
#include "compiler/support/files.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/support/subprocess.h"

namespace aotc {
namespace {

constexpr int kBuildSeconds = 1800;  // for one file
constexpr int kRunSeconds = 3600;    // emulated kernels are slow

bool EndsWith(const std::string& path, std::string_view ending) {
  return path.size() >= ending.size() && path.ends_with(ending);
}

// The last lines of what a program has said, as one text without newlines at its end.
std::string Tail(const std::string& output) {
  constexpr size_t kMost = 2000;
  std::string text = output.size() > kMost ? output.substr(output.size() - kMost) : output;
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace

absl::Status Succeeded(const ProcessResult& result, const std::string& what) {
  if (result.exit_code == 0) return absl::OkStatus();
  return absl::UnknownError(
      StrCat(what, " ended with exit code ", result.exit_code, ": ", Tail(result.output)));
}

namespace {

absl::Status RunOrFail(const ProcessOptions& options, const std::string& what) {
  AOTC_ASSIGN_OR_RETURN(const ProcessResult result, RunProcess(options));
  return Succeeded(result, what);
}

std::vector<std::string> CompilerWords(const HostBuildOptions& options) {
  std::vector<std::string> words = absl::StrSplit(options.compiler, ' ', absl::SkipWhitespace());
  words.push_back(options.sanitize ? "-O1" : "-O2");
  if (options.sanitize) {
    for (const char* flag : {"-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"}) {
      words.emplace_back(flag);
    }
  }
  words.emplace_back("-pthread");
  return words;
}

// Compiles the sources of a folder, as many at a time as there are processors, and links them.
class Builder {
 public:
  Builder(std::string folder, const CompileResult& compiled, const HostBuildOptions& options)
      : folder_(std::move(folder)),
        compiler_(CompilerWords(options)),
        flags_(compiled.emulation_flags) {
    for (const auto& [path, content] : compiled.files) {
      const bool is_source =
          EndsWith(path, ".cpp") || EndsWith(path, ".cu") || EndsWith(path, ".S");
      if (is_source) sources_.push_back(path);
    }
  }

  absl::Status Run() {
    std::vector<std::thread> threads;
    const unsigned count = std::max(1U, std::thread::hardware_concurrency());
    for (unsigned i = 0; i < count; ++i) threads.emplace_back([this] { CompileSome(); });
    for (std::thread& thread : threads) thread.join();
    AOTC_RETURN_IF_ERROR(status_);
    std::vector<std::string> words = compiler_;
    for (size_t i = 0; i < sources_.size(); ++i) words.push_back(ObjectOf(i));
    words.insert(words.end(), {"-o", folder_ + "/program"});
    return RunOrFail({.argv = words, .timeout_seconds = kBuildSeconds}, "the linker");
  }

 private:
  std::string ObjectOf(size_t index) const { return StrCat(folder_, "/", index, ".o"); }

  void CompileSome() {
    for (size_t i = next_++; i < sources_.size(); i = next_++) {
      const absl::Status status = CompileOne(i);
      const std::lock_guard<std::mutex> lock(mutex_);
      if (status_.ok()) status_ = status;
      if (!status_.ok()) return;
    }
  }

  absl::Status CompileOne(size_t index) const {
    const std::string& source = sources_[index];
    std::vector<std::string> words = compiler_;
    words.insert(words.end(), {"-I", folder_ + "/out", "-c"});
    if (!EndsWith(source, ".S")) words.insert(words.end(), {"-std=c++17", "-x", "c++"});
    words.insert(words.end(), flags_.begin(), flags_.end());
    words.insert(words.end(), {StrCat(folder_, "/out/", source), "-o", ObjectOf(index)});
    return RunOrFail({.argv = words, .timeout_seconds = kBuildSeconds},
                     StrCat("'", compiler_[0], "' on ", source));
  }

  const std::string folder_;
  const std::vector<std::string> compiler_;
  const std::vector<std::string> flags_;
  std::vector<std::string> sources_;
  std::atomic<size_t> next_ = 0;
  std::mutex mutex_;  // guards status_
  absl::Status status_;
};

}  // namespace

absl::StatusOr<HostProgram> HostProgram::Build(const CompileResult& compiled,
                                               const HostBuildOptions& options) {
  AOTC_ASSIGN_OR_RETURN(TemporaryFolder folder, TemporaryFolder::Create("aotc_verify"));
  for (const auto& [path, content] : compiled.files) {
    AOTC_RETURN_IF_ERROR(folder.Write("out/" + path, content));
  }
  AOTC_RETURN_IF_ERROR(Builder(folder.path(), compiled, options).Run());
  return HostProgram(std::move(folder));
}

absl::StatusOr<ProcessResult> HostProgram::Execute(std::vector<std::string> arguments) const {
  arguments.insert(arguments.begin(), folder_.path() + "/program");
  return RunProcess(
      {.argv = std::move(arguments), .folder = folder_.path(), .timeout_seconds = kRunSeconds});
}

absl::StatusOr<std::vector<Constant>> HostProgram::Run(const std::vector<Constant>& inputs,
                                                       const std::vector<Constant>& like) const {
  std::vector<std::string> words;
  for (size_t i = 0; i < inputs.size(); ++i) {
    words.push_back(StrCat(folder_.path(), "/input_", i, ".npy"));
    AOTC_RETURN_IF_ERROR(WriteFileIfChanged(words.back(), ToNpy(inputs[i])).status());
  }
  AOTC_ASSIGN_OR_RETURN(const ProcessResult result, Execute(std::move(words)));
  AOTC_RETURN_IF_ERROR(Succeeded(result, "the compiled model"));
  std::vector<Constant> outputs;
  for (size_t i = 0; i < like.size(); ++i) {
    const std::string name = StrCat("output_", i, ".npy");
    AOTC_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(folder_.path() + "/" + name));
    absl::StatusOr<Constant> output = ParseNpy(bytes, like[i].dtype(), like[i].dims());
    if (!output.ok()) {
      return absl::Status(output.status().code(), StrCat(name, " ", output.status().message()));
    }
    outputs.push_back(*std::move(output));
  }
  return outputs;
}

}  // namespace aotc
