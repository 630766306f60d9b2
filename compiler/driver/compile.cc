#include "compiler/driver/compile.h"

#include <chrono>
#include <utility>

#include "absl/strings/str_split.h"
#include "compiler/driver/fuse_within_arena.h"
#include "compiler/driver/pipeline.h"
#include "compiler/driver/recorded_schedules.h"
#include "compiler/driver/smaller_variants.h"
#include "compiler/emit/bundles.h"
#include "compiler/fuse/aliases.h"
#include "compiler/fuse/control.h"
#include "compiler/fuse/fuse.h"
#include "compiler/fuse/index_checks.h"
#include "compiler/fuse/places.h"
#include "compiler/fuse/split_kernels.h"
#include "compiler/ir/graph_text.h"
#include "compiler/ir/kernel_text.h"
#include "compiler/ir/program_text.h"
#include "compiler/layout/aliases.h"
#include "compiler/lower/build_program.h"
#include "compiler/plan/memory_map.h"
#include "compiler/plan/plan.h"
#include "compiler/support/files.h"
#include "compiler/support/names.h"
#include "compiler/support/refusal.h"
#include "compiler/support/sha256.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/targets/registry.h"

namespace aotc {
namespace {

std::string BaseName(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

std::string Stem(const std::string& path) {
  const std::string base = BaseName(path);
  return base.substr(0, base.find_last_of('.'));
}

std::string AsComments(const std::string& text) {
  std::string result;
  for (const auto& line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    StrAppend(&result, "// ", std::string(line), "\n");
  }
  return result;
}

absl::StatusOr<std::string> FileSha256(const std::string& path) {
  Sha256 hash;
  AOTC_RETURN_IF_ERROR(VisitFile(path, [&](std::string_view piece) {
    hash.Update(piece);
    return true;
  }));
  return hash.HexDigest();
}

// The text of a file that a flag names; without one what else there is.
absl::StatusOr<std::string> TextOf(std::string_view flag, const std::string& path,
                                   const std::string& otherwise) {
  if (path.empty()) return otherwise;
  AOTC_ASSIGN_OR_RETURN(std::string text, ReadFile(path));
  if (text.empty()) return AOTC_REFUSAL(InvalidArgument, StrCat(flag, ": the file is empty"));
  return text;
}

absl::StatusOr<TargetOptions> TargetOptionsOf(const CompileOptions& options) {
  AOTC_ASSIGN_OR_RETURN(std::string limits,
                        TextOf("--limits", options.limits_path, options.limits));
  return TargetOptions{.cpu = options.cpu,
                       .archs = options.cuda_arch,
                       .limits = std::move(limits),
                       .templates = options.templates,
                       .threads = options.threads,
                       .disabled = options.disabled_schedules};
}

std::vector<std::string> FilesRead(const CompileOptions& options, const ModelInfo& info) {
  std::vector<std::string> files = {options.model_path};
  const std::string folder = options.model_path.substr(0, options.model_path.find_last_of('/') + 1);
  for (const std::string& file : info.data_files) files.push_back(folder + file);
  for (const BindOption& bind : options.import.binds) files.push_back(bind.path);
  for (const std::string& file : {options.limits_path, options.schedules_path}) {
    if (!file.empty()) files.push_back(file);
  }
  return files;
}

// The phases in order: one member function for each arrow of the picture in README.md.
class Compilation {
 public:
  Compilation(const CompileOptions& options, Diagnostics& diagnostics, const PhaseHook& hook)
      : options_(options), diagnostics_(diagnostics), hook_(hook) {}

  absl::StatusOr<CompileResult> Run() {
    AOTC_RETURN_IF_ERROR(Prepare());
    AOTC_RETURN_IF_ERROR(RunPhase("import", &Compilation::Import));
    AOTC_RETURN_IF_ERROR(TransformGraph());
    AOTC_RETURN_IF_ERROR(RunPhase("fuse", &Compilation::FuseNodes));
    AOTC_RETURN_IF_ERROR(RunPhase("lower", &Compilation::Lower));
    AOTC_RETURN_IF_ERROR(RunPhase("plan", &Compilation::Plan));
    AOTC_RETURN_IF_ERROR(RunPhase("emit", &Compilation::Emit));
    return std::move(result_);
  }

 private:
  using Clock = std::chrono::steady_clock;

  absl::Status Prepare() {
    AOTC_ASSIGN_OR_RETURN(const TargetOptions wanted, TargetOptionsOf(options_));
    AOTC_ASSIGN_OR_RETURN(target_, MakeTarget(options_.target, wanted));
    result_.target = target_;
    for (const std::string_view flag : target_.unused_flags) {
      diagnostics_.Note({}, StrCat(flag, " has no effect on target '", target_.name, "'"));
    }
    if (!options_.pools.empty() && !target_.refuses_pools.empty()) {
      return AOTC_REFUSAL(InvalidArgument, StrCat("--pool: ", target_.refuses_pools));
    }
    AOTC_RETURN_IF_ERROR(CheckPoolOptions(options_.pools));
    AOTC_RETURN_IF_ERROR(ReadRecords());
    return CheckPassOptions(options_.passes);
  }

  absl::Status ReadRecords() {
    AOTC_ASSIGN_OR_RETURN(const std::string text,
                          TextOf("--schedules", options_.schedules_path, options_.schedules));
    if (text.empty()) return absl::OkStatus();
    AOTC_ASSIGN_OR_RETURN(std::vector<ScheduleRecord> records, ParseRecords(text));
    records_.emplace(std::move(records), target_);
    target_.schedule = [this](const Kernel& kernel) { return records_->Schedule(kernel); };
    return absl::OkStatus();
  }

  absl::Status RunPhase(std::string_view name, absl::Status (Compilation::*phase)()) {
    if (stopped_) return absl::OkStatus();
    const Phase* known = FindPhase(name);
    AOTC_CHECK(known != nullptr) << name;
    if (IsEnabled(name, known->level, options_.passes)) ran_.emplace_back(name);
    const Clock::time_point start = Clock::now();
    AOTC_RETURN_IF_ERROR((this->*phase)());
    const std::chrono::duration<double> elapsed = Clock::now() - start;
    if (hook_) hook_({std::string(name), elapsed.count(), [this] { return Dump(); }});
    stopped_ = options_.passes.stop_after == name;
    return absl::OkStatus();
  }

  // All passes of the table.
  absl::Status TransformGraph() {
    if (stopped_) return absl::OkStatus();
    PassContext context(options_.passes, diagnostics_, PassTargetOf(target_));
    context.AddInstrument([this](const PassRun& run) {
      ran_.emplace_back(run.pass.name);
      if (hook_)
        hook_({ran_.back(), run.seconds,
               [&] { return PrintGraph(run.after, options_.dump_constants); }});
      return absl::OkStatus();
    });
    AOTC_ASSIGN_OR_RETURN(result_.graph, RunPasses(result_.graph, AllPasses(), context));
    stopped_ = FindPass(options_.passes.stop_after) != nullptr;
    if (!stopped_) NoteUnreadInputs();
    return absl::OkStatus();
  }

  // Callers of the compiled model give all of its inputs.
  void NoteUnreadInputs() {
    const IdVector<ValueId, int> uses = UseCounts(result_.graph);
    const std::vector<ValueId>& inputs = result_.graph.main_region().inputs;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (BundleOf(info_.bundles, /*is_output=*/false, i) != nullptr) continue;
      const ValueId input = inputs[i];
      const bool decides_sizes = result_.graph.values[input].elements.has_value();
      if (uses[input] > 0 || decides_sizes) continue;
      diagnostics_.Note({}, StrCat("input '", result_.graph.values[input].name,
                                   "' has no influence on any output"));
    }
  }

  absl::Status Import() {
    AOTC_ASSIGN_OR_RETURN(result_.graph,
                          ImportOnnx(options_.model_path, options_.import, diagnostics_, &info_));
    result_.files_read = FilesRead(options_, info_);
    return absl::OkStatus();
  }

  absl::Status FuseNodes() {
    FuseOptions fuse{.enabled = IsEnabled("fuse", FindPhase("fuse")->level, options_.passes),
                     .costs = KernelCosts(target_.estimate)};
    AOTC_ASSIGN_OR_RETURN(fuse.aliases, BindAliases(result_.graph, options_.aliases));
    planning_.schedule = ScheduledOnce(target_.schedule);
    planning_.threads = options_.threads;
    planning_.for_size = options_.for_size;
    // Whoever says which schedules there are wants these.
    if (!records_) planning_.smaller = SmallerVariants(target_);
    AOTC_ASSIGN_OR_RETURN(fused_, FuseWithinArena(result_.graph, fuse, planning_));
    SplitKernels(result_.graph, fused_, fuse.costs);
    if (!options_.assume_valid_indices) {
      AOTC_RETURN_IF_ERROR(AddIndexChecks(result_.graph, fused_));
    }
    if (options_.keep_values) {
      AOTC_ASSIGN_OR_RETURN(result_.kept, KeepValues(result_.graph, fused_));
    }
    OrderForAliases(result_.graph, fused_);
    NoteCopiedAliases();
    SetStrides(result_.graph, fused_);  // of the kernels that have come since
    fused_text_ = hook_ ? PrintFused(result_.graph, fused_) : "";
    if (!options_.passes.verify_each) return absl::OkStatus();
    KernelVerifier verifier;
    absl::Status status;
    VisitBodies(result_.graph, fused_, [&](const FusedGraph& part, RegionId) {
      for (const FusedKernel& fused : part.kernels) {
        if (status.ok() && !fused.control.valid()) status = verifier.Verify(fused.kernel);
      }
    });
    if (status.ok()) return status;
    return absl::InternalError(StrCat("after fuse: ", status.message()));
  }

  void NoteCopiedAliases() {
    for (const Alias& alias : fused_.aliases) {
      if (!alias.copied) continue;
      const auto name = [&](ValueId id) { return result_.graph.values[id].name; };
      diagnostics_.Note(
          {}, StrCat("--alias: '", name(alias.output), "' is copied to the memory of '",
                     name(alias.input), "' at the end of a run, which is read until it is made"));
    }
  }

  absl::Status Lower() {
    AOTC_ASSIGN_OR_RETURN(const bool in_turn, MayUseRoomsInTurn(result_.graph, fused_, planning_));
    AOTC_ASSIGN_OR_RETURN(result_.program,
                          BuildProgram(result_.graph, std::move(fused_), planning_.schedule,
                                       {.has_device = target_.host.has_device,
                                        .in_turn = in_turn,
                                        .threads = options_.threads}));
    if (records_) records_->Report(diagnostics_);
    result_.program.name =
        ModelPrefix(options_.name.empty() ? Stem(options_.model_path) : options_.name);
    for (const PoolOption& pool : options_.pools) {
      result_.program.pools.Add({.name = pool.name, .limit = pool.limit});
    }
    return options_.passes.verify_each ? VerifyVariants(result_.program) : absl::OkStatus();
  }

  absl::Status Plan() {
    AOTC_RETURN_IF_ERROR(PlanMemory(result_.program, planning_.smaller));
    map_ = hook_ ? AsComments(PrintMemoryMap(result_.program)) : "";
    return VerifyProgram(result_.program);
  }

  absl::Status Emit() {
    EmitOptions emit{.host = target_.host,
                     .weights = options_.weights,
                     .example = options_.example,
                     .python = options_.python,
                     .profile = options_.profile,
                     .kernels = target_.kernel_files(result_.program)};
    emit.provenance.model_name = BaseName(options_.model_path);
    AOTC_ASSIGN_OR_RETURN(emit.provenance.model_sha256, FileSha256(options_.model_path));
    for (const auto& [domain, version] : info_.opsets) emit.provenance.opsets[domain] = version;
    for (const BindOption& bind : options_.import.binds) {
      AOTC_ASSIGN_OR_RETURN(emit.provenance.bound_sha256[bind.name], FileSha256(bind.path));
    }
    emit.provenance.flags = options_.flags;
    emit.provenance.limits = target_.limits;
    if (records_) emit.provenance.schedules = records_->Used();
    emit.provenance.passes = ran_;
    AOTC_ASSIGN_OR_RETURN(result_.files, EmitOutput(result_.program, emit, info_.bundles));
    result_.emulation_flags = target_.emulation_flags;
    return absl::OkStatus();
  }

  std::string Dump() const {
    if (!result_.program.kernels.empty()) return map_ + PrintProgram(result_.program);
    return fused_text_.empty() ? PrintGraph(result_.graph, options_.dump_constants) : fused_text_;
  }

  const CompileOptions& options_;
  Diagnostics& diagnostics_;
  std::optional<RecordedSchedules> records_;
  const PhaseHook& hook_;
  Target target_;
  ModelInfo info_;
  Planning planning_;
  FusedGraph fused_;
  std::string fused_text_;
  std::string map_;  // of the memory, above the dump
  CompileResult result_;
  std::vector<std::string> ran_;  // phases and passes, in order
  bool stopped_ = false;
};

}  // namespace

absl::StatusOr<CompileResult> Compile(const CompileOptions& options, Diagnostics& diagnostics,
                                      const PhaseHook& hook) {
  return Compilation(options, diagnostics, hook).Run();
}

}  // namespace aotc
