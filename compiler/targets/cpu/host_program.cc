// NAME.cpp of the CPU target: one run over the steps, shared by run and run_mt.
#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "compiler/emit/host_control.h"
#include "compiler/emit/host_decode.h"
#include "compiler/emit/host_expr.h"
#include "compiler/emit/host_parts.h"
#include "compiler/ir/program_access.h"
#include "compiler/ir/program_control.h"
#include "compiler/support/literals.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cpu/host.h"
#include "compiler/targets/cpu/host_launch.h"
#include "compiler/targets/cpu/isa_tests.h"
#include "compiler/targets/cpu/kernel_symbol.h"

namespace aotc {
namespace {

class CpuHostWriter {
 public:
  explicit CpuHostWriter(const EmitContext& context)
      : context_(context),
        program_(context.program),
        m_(context.interface),
        memory_(HostMemoryOf(context)) {}

  absl::StatusOr<std::string> Run() {
    AOTC_ASSIGN_OR_RETURN(isas_, IsaTests::Of(program_));
    launches_.emplace(context_, isas_);
    Declarations();
    w_.Line("namespace {\n");
    EmitPlaces(context_, w_);
    EmitSymbols(context_, w_);
    isas_.EmitFinder(w_);
    EmitLearnSizes(context_, w_);
    RunState();
    AOTC_RETURN_IF_ERROR(EmitSteps());
    EmitCheckRun(context_, w_);
    Prepare();
    EmitPoolsOfArena(context_, w_);
    w_.Line("}  // namespace\n");
    EmitEntryPoints(context_, HasStatus(), w_);
    EmitRunsInOneArena(context_, w_);
    AOTC_RETURN_IF_ERROR(EmitCpuTable(context_, w_));
    const HostOpening opening = {
        .title = StrCat("the host program, ", program_.steps.size(), " steps in one ",
                        HasControl() ? "" : "straight ", "run: no lookups, no allocation."),
        .system_header = "#include <string.h>",
        .own_header = isas_.header() + (HasThreads() ? "#include \"aotc/parallel.h\"" : "")};
    return StrCat(EmitHostOpening(context_, opening), w_.text());
  }

 private:
  void Declarations() {
    DeclareWeights(context_, w_);
    if (program_.kernels.empty()) return;
    w_.Line(StrCat("// What a kernel does with tasks task_begin to task_end - 1, in ",
                   HasThreads() ? "its worker's scratch." : "the scratch that it is given."));
    std::set<std::string> declared;
    for (const ProgramKernel& kernel : program_.kernels) {
      for (const KernelVariant& variant : kernel.variants) {
        const std::string symbol = KernelSymbol(m_.prefix, variant);
        if (!declared.insert(symbol).second) continue;
        w_.Line(StrCat(m_.macro, "_LOCAL void ", symbol, "(", KernelParameters(variant),
                       "int64_t task_begin, int64_t task_end, void *scratch);"));
      }
    }
    w_.Line();
  }

  void RunState() {
    w_.Emit(R"(
      // What $sharers$ share.
      struct run_state {
        const $name$_inputs *in;
        const $name$_outputs *out;
        $memory$
        $weights$
        $isa$
        $sizes$
        $learned$
        $status$
        $workers$
      };)",
            {{"name", m_.prefix},
             {"sharers", HasThreads() ? "the workers of one run" : "the steps of one run"},
             {"workers", HasThreads() ? "int32_t workers;\naotc_barrier barrier;" : ""},
             {"memory", memory_.member},
             {"weights", context_.HasWeights() ? "const uint8_t *weights;" : ""},
             {"isa", isas_.HasChoice() ? "uint32_t isas;" : ""},
             {"sizes", m_.HasSymbols() ? "symbols sizes = {};" : ""},
             {"learned", m_.HasLateSymbols() ? "symbols learned;  // with those of the run" : ""},
             {"status", HasStatus() ? "aotc_status status;" : ""}});
    w_.Line();
  }

  bool HasThreads() const { return context_.HasThreads(); }
  bool HasControl() const { return std::ranges::any_of(program_.steps, IsControl); }
  bool HasChecks() const { return CheckCount(program_) > 0 || DecodesImages(program_); }
  bool HasStatus() const { return HasChecks() || m_.HasLateSymbols(); }

  absl::Status EmitSteps() {
    const HostUses before = std::exchange(context_.uses, {});
    CodeWriter body;
    std::swap(body, w_);
    for (size_t i = 0; i < program_.steps.size(); ++i) {
      const Step& step = program_.steps[i];
      w_.Line();
      if (step.barrier && i > 0 && step.kind != StepKind::kLoop) Barrier();
      if (step.barrier || IsControl(step)) launches_->WorkersMeet();
      AOTC_RETURN_IF_ERROR(WriteTitled(program_, i, w_, [&] { return TimedStep(i); }));
    }
    std::swap(body, w_);
    if (HasThreads()) w_.Line("// The steps, as each of the workers goes through them.");
    const auto block =
        w_.Block(StrCat("void steps(run_state *self",
                        HasThreads() ? ", int32_t worker, int32_t workers) {" : ") {"),
                 "}\n");
    NameSharedState();
    context_.uses.functions |= before.functions;
    w_.Emit("$body$", {{"body", body.text()}});
    return absl::OkStatus();
  }

  // What branches and loops take is that of their steps.
  absl::Status TimedStep(size_t index) {
    if (!context_.options.profile || IsControl(program_.steps[index])) return StepCode(index);
    tells_ = true;
    w_.Line(StrCat("const uint64_t begin", index, " = aotc_profile_now(profile);"));
    AOTC_RETURN_IF_ERROR(StepCode(index));
    w_.Line(StrCat("aotc_profile_step(profile, ", index, ", ", HasThreads() ? "worker" : "0",
                   ", begin", index, ");"));
    return absl::OkStatus();
  }

  absl::Status StepCode(size_t index) {
    const Step& step = program_.steps[index];
    switch (step.kind) {
      case StepKind::kLaunch: return launches_->Emit(step, w_);
      case StepKind::kCopy: return Copy(step);
      case StepKind::kDecode: EmitDecode(context_, step, w_); return absl::OkStatus();
      case StepKind::kSizes: Learn(index); return absl::OkStatus();
      case StepKind::kSetSizes: EmitSetSizes(context_, step, "sizes.", w_); return absl::OkStatus();
      case StepKind::kCheck: break;
      default: Control(step); return absl::OkStatus();
    }
    w_.Line(StrCat("if (", HasThreads() ? "worker == 0 && *" : "*",
                   BufferPointer(context_, step.args[0], false),
                   " == 0) self->status = AOTC_ERROR_VALUE;"));
    return absl::OkStatus();
  }

  // Each worker learns them for itself, and all come to the same end.
  void Learn(size_t index) {
    w_.Emit(R"(
      {
        const aotc_status status = $learn$;
        $one$self->status = status == AOTC_OK ? self->status : status;
        if (status != AOTC_OK) return;
        $one$self->learned = sizes;
      })",
            {{"one", HasThreads() ? "if (worker == 0) " : ""},
             {"learn", CallLearn(context_, index, "&sizes", "self->out")}});
  }

  void Barrier() {
    if (HasThreads()) w_.Line("aotc_barrier_wait(&self->barrier, workers);");
  }

  // All workers go the same way: they read a flag, and a status, that none of them writes before
  // they meet again. Behind a check that failed the values that are to end a loop may be anything.
  void Control(const Step& step) {
    const std::string flag =
        step.args.empty() ? "" : StrCat("*", BufferPointer(context_, step.args[0], false));
    const bool is_loop = step.kind == StepKind::kLoop;
    w_.Line(ControlLine(context_, step, is_loop ? "" : StrCat(flag, " != 0")));
    if (!is_loop) return;
    Barrier();
    if (HasChecks()) w_.Line("if (self->status != AOTC_OK) break;");
    if (!flag.empty()) w_.Line(StrCat("if (", flag, " == 0) break;"));
  }

  // Short names for what the steps use of the state.
  void NameSharedState() {
    const HostUses& uses = context_.uses;
    if (program_.steps.empty())
      w_.Line(HasThreads() ? "(void)self, (void)worker, (void)workers;" : "(void)self;");
    if (uses.inputs) w_.Line(StrCat("const ", m_.prefix, "_inputs *in = self->in;"));
    if (uses.outputs) w_.Line(StrCat("const ", m_.prefix, "_outputs *out = self->out;"));
    if (tells_) w_.Line(StrCat("const aotc_profile *profile = self->in->", m_.profile_member, ";"));
    if (uses.arena) w_.Line("uint8_t *arena = self->arena;");
    if (uses.pools) w_.Line(StrCat("const ", m_.prefix, "_pools &pools = self->pools;"));
    if (uses.weights) w_.Line("const uint8_t *weights = self->weights;");
    const bool has_others = !m_.dims.empty() || !m_.elements.empty();
    if (m_.HasLateSymbols())
      w_.Line(StrCat("symbols sizes = ", has_others ? "self->sizes;" : "{};"));
    if (!uses.dims) return;
    w_.Line(StrCat("const symbols &dims = ", m_.HasLateSymbols() ? "sizes;" : "self->sizes;"));
  }

  absl::Status Copy(const Step& step) {
    const std::string bytes = ActualBytes(context_, step.args[0]);
    const std::string to = BufferPointer(context_, step.args[1], true);
    const std::string from = BufferPointer(context_, step.args[0], false);
    if (!HasThreads()) {
      int64_t known = 0;
      const bool some = absl::SimpleAtoi(bytes, &known) && known > 0;
      w_.Line(StrCat(some ? "" : StrCat("if ((", bytes, ") > 0) "), "memcpy(", to, ", ", from,
                     ", (size_t)(", bytes, "));"));
      return absl::OkStatus();
    }
    w_.Emit(R"(
      {
        const aotc_range part = aotc_task_range($bytes$, worker, workers);
        if (part.begin < part.end) {
          memcpy((uint8_t *)($to$) + part.begin, (const uint8_t *)($from$) + part.begin,
                 (size_t)(part.end - part.begin));
        }
      })",
            {{"bytes", bytes}, {"to", to}, {"from", from}});
    return absl::OkStatus();
  }

  void Prepare() {
    w_.Line("// Fills in what steps share, once all that the caller gives is in order.");
    const auto block =
        w_.Block(StrCat("aotc_status prepare(run_state *self, ", WeightsParameter(context_),
                        "const ", m_.prefix, "_inputs *in, const ", m_.prefix, "_outputs *out, ",
                        memory_.parameter, ") {"),
                 "}\n");
    w_.Emit(R"(
      const aotc_status status = check_run(in, out$sizes$);
      if (status != AOTC_OK) return status;)",
            {{"sizes", m_.HasSymbols() ? ", &self->sizes" : ""}});
    CheckMemory(context_, w_);
    if (context_.HasWeights()) PrepareWeights();
    if (isas_.HasChoice()) w_.Line("self->isas = find_isas();");
    if (isas_.HasNeeds()) {
      w_.Line(StrCat("if (", isas_.Missing(isas_.HasChoice() ? "self->isas" : "find_isas()"),
                     ") return AOTC_ERROR_CPU;"));
    }
    w_.Emit(R"(
      self->in = in;
      self->out = out;
      $memory$
      $status$
      return AOTC_OK;)",
            {{"memory", memory_.keep}, {"status", HasStatus() ? "self->status = AOTC_OK;" : ""}});
  }

  void PrepareWeights() {
    const std::string bytes = StrCat(program_.weights.size(), "u");
    if (context_.LoadsWeights()) {
      w_.Line("if (loaded == nullptr || loaded->data == nullptr) return AOTC_ERROR_WEIGHTS;");
      w_.Line("const uint8_t *blob = (const uint8_t *)loaded->data;");
    } else {
      w_.Line(StrCat("const uint8_t *blob = ", m_.prefix, "_weights_blob;"));
      w_.Line(StrCat("if (!aotc_weights_match(blob, ", bytes, ", ",
                     HashLiteral(context_.weights_hash), ")) return AOTC_ERROR_WEIGHTS;"));
    }
    w_.Line("self->weights = blob + AOTC_WEIGHTS_HEADER_BYTES;");
  }

  const EmitContext& context_;
  const Program& program_;
  const ModelInterface& m_;
  const HostMemory memory_;
  IsaTests isas_;
  std::optional<LaunchWriter> launches_;
  bool tells_ = false;  // steps so far do
  CodeWriter w_;
};

}  // namespace

absl::StatusOr<std::string> EmitCpuHost(const EmitContext& context) {
  return CpuHostWriter(context).Run();
}

}  // namespace aotc
