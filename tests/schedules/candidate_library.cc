#include "tests/schedules/candidate_library.h"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "absl/strings/match.h"
#include "compiler/eval/evaluate.h"
#include "compiler/support/files.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cpu/kernel_symbol.h"
#include "compiler/targets/cuda/cuda_target.h"

namespace aotc {
namespace {

// The headers that outputs include as aotc/..., where their sources lie.
absl::Status LinkHeaders(const std::string& folder) {
  namespace fs = std::filesystem;
  const fs::path aotc = fs::path(folder) / "aotc";
  std::error_code error;
  fs::create_directory(aotc, error);
  std::vector<fs::path> sources = {"templates/cpu", "templates/cuda", "templates/host"};
  for (const fs::directory_entry& entry : fs::directory_iterator("runtime-lite/aotc")) {
    sources.push_back(entry.path());
  }
  for (const fs::path& source : sources) {
    fs::create_symlink(fs::absolute(source), aotc / source.filename(), error);
    if (error) return absl::InternalError(error.message());
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CandidateLibrary> CandidateLibrary::Build(const Target& target, ProgramKernel kernel,
                                                         const std::vector<std::string>& flags) {
  AOTC_ASSIGN_OR_RETURN(TemporaryFolder folder, TemporaryFolder::Create("aotc_candidates"));
  CandidateLibrary library(std::move(folder));
  library.kernel_ = std::move(kernel);
  int64_t scratch = 0;
  for (size_t i = 0; i < library.size(); ++i) {
    LoopFunction& loops = library.kernel_.variants[i].loops;
    loops.name = StrCat("candidate", i);
    scratch = std::max(scratch, loops.scratch_bytes);
  }
  library.scratch_.resize(static_cast<size_t>(scratch) / sizeof(double) + 16);
  constexpr size_t kMoreThanCaches = size_t{4} << 20;  // of a core: second-level caches
  library.elsewhere_.resize(kMoreThanCaches);
  AOTC_RETURN_IF_ERROR(library.Compile(target, flags));
  return library;
}

std::string CandidateLibrary::TableText(const Target& target) const {
  const bool is_cuda = target.name == "cuda";
  std::string declarations, cases;
  for (size_t i = 0; i < size(); ++i) {
    const KernelVariant& variant = kernel_.variants[i];
    const std::string symbol =
        is_cuda ? CudaSymbol("k", kernel_, variant) : KernelSymbol("k", variant);
    std::string params, args;
    for (size_t p = 0; p < kernel_.kernel.params.size(); ++p) {
      StrAppend(&params, "void *, ");
      StrAppend(&args, "p[", p, "], ");
    }
    for (size_t s = 0; s < kernel_.kernel.symbols.size(); ++s) {
      StrAppend(&params, "int64_t, ");
      StrAppend(&args, "s[", s, "], ");
    }
    StrAppend(&params, is_cuda ? "int64_t, void *" : "int64_t, int64_t, void *");
    StrAppend(&args, is_cuda ? "tasks, 0" : "0, tasks, scratch");
    StrAppend(&declarations, "void ", symbol, "(", params, ");\n");
    StrAppend(&cases, "case ", i, ": ", symbol, "(", args, "); break;\n");
  }
  return StrCat("#include <stdint.h>\nextern \"C\" {\n", declarations,
                "void run_candidate(int i, void *const *p, const int64_t *s, int64_t tasks, "
                "void *scratch) {\n(void)s; (void)scratch;\nswitch (i) {\n",
                cases, "}\n}\n}\n");
}

absl::Status CandidateLibrary::Compile(const Target& target,
                                       const std::vector<std::string>& flags) {
  const std::string& folder = folder_.path();
  AOTC_RETURN_IF_ERROR(LinkHeaders(folder));
  Program program{.name = "k"};
  program.kernels.Add(kernel_);
  std::vector<KernelFile> files = target.kernel_files(program);
  files.push_back({"table.cpp", TableText(target)});
  const std::string result = StrCat(folder, "/candidates.so");
  std::vector<std::string> argv = {"g++", "-std=c++17", "-fPIC", "-shared", "-I", folder};
  argv.insert(argv.end(), target.emulation_flags.begin(), target.emulation_flags.end());
  argv.insert(argv.end(), flags.begin(), flags.end());
  argv.insert(argv.end(), {"-o", result, "-x", "c++"});
  for (const KernelFile& file : files) {
    const std::string path = StrCat(folder, "/", file.path);
    AOTC_RETURN_IF_ERROR(WriteFileIfChanged(path, file.text).status());
    argv.push_back(path);
  }
  argv.push_back("-lpthread");
  AOTC_RETURN_IF_ERROR(RunTool(argv).status());
  AOTC_ASSIGN_OR_RETURN(library_, HostLibrary::Load(result));
  function_ = library_.Find<Function>("run_candidate");
  return function_ != nullptr ? absl::OkStatus() : absl::InternalError("no run_candidate");
}

void CandidateLibrary::Run(size_t candidate, const KernelMemory& memory) const {
  const Expr& tasks = kernel_.variants[candidate].loops.tasks;
  const std::vector<int64_t> symbols = memory.SymbolArguments();
  const auto base = reinterpret_cast<uintptr_t>(scratch_.data());
  function_(static_cast<int>(candidate), memory.pointers().data(), symbols.data(),
            EvaluateInt(tasks, memory.symbols()).value_or(0),
            reinterpret_cast<void*>((base + 63) / 64 * 64));
}

double CandidateLibrary::Seconds(size_t candidate, const KernelMemory& memory) {
  using Clock = std::chrono::steady_clock;
  for (size_t i = 0; i < elsewhere_.size(); i += 64) ++elsewhere_[i];
  constexpr double kLeast = 20e-6;  // that the clock can tell from others
  const auto start = Clock::now();
  double seconds = 0;
  int runs = 0;
  for (; seconds < kLeast; ++runs) {
    Run(candidate, memory);
    seconds = std::chrono::duration<double>(Clock::now() - start).count();
  }
  return seconds / runs;
}

}  // namespace aotc
