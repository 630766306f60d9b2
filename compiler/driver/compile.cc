#include "compiler/driver/compile.h"

#include <algorithm>
#include <array>
#include <utility>

#include "compiler/driver/pipeline.h"
#include "compiler/fuse/fuse.h"
#include "compiler/ir/graph_text.h"
#include "compiler/layout/choose_layouts.h"
#include "compiler/layout/split_groups.h"
#include "compiler/lower/build_program.h"
#include "compiler/plan/plan.h"
#include "compiler/support/files.h"
#include "compiler/support/names.h"
#include "compiler/support/sha256.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cpu/cpu_target.h"
#include "compiler/targets/cuda/cuda_target.h"

namespace aotc {
namespace {

std::string BaseName(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

std::string Stem(const std::string& path) {
  const std::string base = BaseName(path);
  return base.substr(0, base.find_last_of('.'));
}

constexpr OptionalPass kLayoutPhase = {"layout", 1, "chooses the storage of values"};
constexpr OptionalPass kFusePhase = {"fuse", 1, "merges kernels into those that read them"};
constexpr OptionalPass kOptionalPhases[] = {kLayoutPhase, kFusePhase};

// The phases in order: one member function for each arrow of the picture in README.md.
class Compilation {
 public:
  Compilation(const CompileOptions& options, Diagnostics& diagnostics, const PhaseHook& hook)
      : options_(options),
        diagnostics_(diagnostics),
        hook_(hook),
        cuda_(options.target == "cuda") {}

  struct Phase {
    const char* name;
    absl::Status (Compilation::*run)();
  };
  static constexpr size_t kPhaseCount = 7;
  static const std::array<Phase, kPhaseCount>& Phases() {
    static constexpr std::array<Phase, kPhaseCount> kPhases = {{
        {"import", &Compilation::Import},
        {"canonicalize", &Compilation::Canonicalize},
        {"layout", &Compilation::Layout},
        {"fuse", &Compilation::FuseNodes},
        {"lower", &Compilation::Lower},
        {"plan", &Compilation::Plan},
        {"emit", &Compilation::Emit},
    }};
    return kPhases;
  }

  absl::StatusOr<CompileResult> Run() {
    AOTC_RETURN_IF_ERROR(Prepare());
    for (const Phase& phase : Phases()) {
      AOTC_RETURN_IF_ERROR((this->*phase.run)());
      if (Runs(phase.name)) ran_.emplace_back(phase.name);
      if (hook_) hook_(phase.name, [this] { return Dump(); });
      const bool last_pass =
          phase.run == &Compilation::Canonicalize && FindPass(options_.stop_after) != nullptr;
      if (options_.stop_after == phase.name || last_pass) break;
    }
    return std::move(result_);
  }

 private:
  absl::Status Prepare() {
    if (!cuda_ && options_.target != "cpu") {
      return absl::InvalidArgumentError(
          StrCat("unknown target '", options_.target, "'; known: cpu, cuda"));
    }
    AOTC_ASSIGN_OR_RETURN(cpu_.isas, ParseCpuList(options_.cpu));
    cpu_.templates = options_.templates;
    pass_options_ = options_.passes;
    for (const OptionalPass& phase : kOptionalPhases) {
      pass_options_.enable.erase(std::string(phase.name));
      pass_options_.disable.erase(std::string(phase.name));
    }
    if (FindPass(options_.stop_after) != nullptr) pass_options_.stop_after = options_.stop_after;
    return CheckPassOptions(pass_options_);
  }

  bool Runs(std::string_view phase) const {
    for (const OptionalPass& optional : kOptionalPhases) {
      if (optional.name == phase) return IsOn(optional);
    }
    return true;
  }

  bool IsOn(const OptionalPass& phase) const {
    const std::string name(phase.name);
    if (options_.passes.disable.contains(name)) return false;
    return options_.passes.level >= phase.level || options_.passes.enable.contains(name);
  }

  absl::Status Import() {
    AOTC_ASSIGN_OR_RETURN(result_.graph,
                          ImportOnnx(options_.model_path, options_.import, diagnostics_, &info_));
    return absl::OkStatus();
  }

  // All passes of the table; each is a phase of its own to hooks and to stop_after.
  absl::Status Canonicalize() {
    PassContext context(pass_options_, diagnostics_);
    if (hook_) {
      context.AddInstrument([this](const Pass& pass, const Graph&, const Graph& after) {
        hook_(std::string(pass.name), [&] { return PrintGraph(after, options_.dump_constants); });
        return absl::OkStatus();
      });
    }
    AOTC_ASSIGN_OR_RETURN(result_.graph, RunPasses(result_.graph, AllPasses(), context));
    for (const PassTime& time : context.times()) ran_.push_back(time.pass);
    return absl::OkStatus();
  }

  // Blocks of channels are what CPU tiles want; CUDA kernels read row-major tensors.
  absl::Status Layout() {
    if (cuda_ || !options_.templates || !IsOn(kLayoutPhase)) return absl::OkStatus();
    AOTC_ASSIGN_OR_RETURN(result_.graph, SplitGroups(result_.graph));
    AOTC_ASSIGN_OR_RETURN(result_.graph, ChooseLayouts(result_.graph, {}));
    return absl::OkStatus();
  }

  absl::Status FuseNodes() {
    const FuseOptions fuse{.enabled = IsOn(kFusePhase),
                           .veto = cuda_ ? CudaFusionVeto : CpuFusionVeto};
    AOTC_ASSIGN_OR_RETURN(fused_, Fuse(result_.graph, fuse));
    if (options_.keep_values) {
      AOTC_ASSIGN_OR_RETURN(result_.kept, KeepValues(result_.graph, fused_));
    }
    fused_text_ = hook_ ? PrintFused(result_.graph, fused_) : "";
    return absl::OkStatus();
  }

  absl::Status Lower() {
    const Scheduler schedule = [this](Kernel kernel) {
      return cuda_ ? ScheduleOnCuda(kernel, {.templates = options_.templates})
                   : ScheduleOnCpu(std::move(kernel), cpu_);
    };
    AOTC_ASSIGN_OR_RETURN(result_.program,
                          BuildProgram(result_.graph, std::move(fused_), schedule));
    result_.program.name =
        ModelPrefix(options_.name.empty() ? Stem(options_.model_path) : options_.name);
    return absl::OkStatus();
  }

  absl::Status Plan() {
    AOTC_RETURN_IF_ERROR(PlanMemory(result_.program));
    return VerifyProgram(result_.program);
  }

  absl::Status Emit() {
    EmitOptions emit{.target = cuda_ ? EmitTarget::kCuda : EmitTarget::kCpu,
                     .weights = options_.weights,
                     .example = options_.example,
                     .cuda_arch = options_.cuda_arch};
    emit.kernels = cuda_ ? CudaFiles() : CpuFiles();
    AOTC_ASSIGN_OR_RETURN(const std::string model, ReadFile(options_.model_path));
    emit.provenance.model_name = BaseName(options_.model_path);
    emit.provenance.model_sha256 = Sha256Hex(model);
    for (const auto& [domain, version] : info_.opsets) emit.provenance.opsets[domain] = version;
    emit.provenance.flags = options_.flags;
    emit.provenance.passes = ran_;
    emit.provenance.passes.emplace_back("emit");
    AOTC_ASSIGN_OR_RETURN(result_.files, EmitOutput(result_.program, emit));
    return absl::OkStatus();
  }

  // Kernels of one instruction set, in files of a size that compiles quickly.
  std::vector<KernelFile> CpuFiles() const {
    constexpr size_t kKernelsPerFile = 16;
    const Program& program = result_.program;
    std::vector<KernelFile> files;
    for (const Isa& isa : cpu_.isas) {
      std::vector<CpuKernelRef> refs;
      auto flush = [&] {
        if (refs.empty()) return;
        files.push_back({StrCat(program.name, "_kernels_", files.size(), ".cpp"),
                         EmitCpuKernels(refs, isa, program.name)});
        refs.clear();
      };
      for (const ProgramKernel& kernel : program.kernels) {
        for (const KernelVariant& variant : kernel.variants) {
          if (variant.feature == isa.name) refs.push_back({&kernel, &variant});
        }
        if (refs.size() >= kKernelsPerFile) flush();
      }
      flush();
    }
    return files;
  }

  std::vector<KernelFile> CudaFiles() const {
    constexpr size_t kKernelsPerFile = 20;
    const Program& program = result_.program;
    std::vector<KernelFile> files;
    std::vector<const ProgramKernel*> kernels;
    for (KernelId id : program.kernels.ids()) {
      kernels.push_back(&program.kernels[id]);
      const bool last = static_cast<size_t>(id.index()) + 1 == program.kernels.size();
      if (kernels.size() < kKernelsPerFile && !last) continue;
      files.push_back({StrCat(program.name, "_kernels_", files.size(), ".cu"),
                       EmitCudaKernels(kernels, program.name)});
      kernels.clear();
    }
    return files;
  }

  std::string Dump() const {
    if (!result_.program.kernels.empty()) return PrintProgram(result_.program);
    return fused_text_.empty() ? PrintGraph(result_.graph, options_.dump_constants) : fused_text_;
  }

  const CompileOptions& options_;
  Diagnostics& diagnostics_;
  const PhaseHook& hook_;
  const bool cuda_;
  CpuOptions cpu_;
  PassOptions pass_options_;
  std::vector<std::string> ran_;  // phases and passes, in order
  ModelInfo info_;
  FusedGraph fused_;
  std::string fused_text_;
  CompileResult result_;
};

}  // namespace

std::vector<std::string> PhaseNames() {
  std::vector<std::string> names;
  for (const auto& phase : Compilation::Phases()) {
    if (std::string_view(phase.name) == "canonicalize") {
      for (const Pass& pass : AllPasses()) names.emplace_back(pass.name);
    }
    names.emplace_back(phase.name);
  }
  return names;
}

std::vector<OptionalPass> OptionalPasses() {
  std::vector<OptionalPass> passes;
  for (const Pass& pass : AllPasses()) passes.push_back({pass.name, pass.level, pass.summary});
  passes.insert(passes.end(), std::begin(kOptionalPhases), std::end(kOptionalPhases));
  return passes;
}

absl::StatusOr<CompileResult> Compile(const CompileOptions& options, Diagnostics& diagnostics,
                                      const PhaseHook& hook) {
  return Compilation(options, diagnostics, hook).Run();
}

}  // namespace aotc
