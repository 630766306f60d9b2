// NAME.cpp of the CPU target: one run over the steps, shared by run and run_mt.
#include <algorithm>
#include <optional>
#include <set>
#include <utility>

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
        memory_(HostMemoryOf(context)),
        bounds_(BoundsOf(context.program.symbols)) {}

  absl::StatusOr<std::string> Run() {
    AOTC_ASSIGN_OR_RETURN(isas_, IsaTests::Of(program_));
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
        .own_header = isas_.header() + "#include \"aotc/parallel.h\""};
    return StrCat(EmitHostOpening(context_, opening), w_.text());
  }

 private:
  void Declarations() {
    DeclareWeights(context_, w_);
    if (program_.kernels.empty()) return;
    w_.Line(
        "// What a kernel does with tasks task_begin to task_end - 1, in its worker's scratch.");
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
      // What the workers of one run share.
      struct run_state {
        const $name$_inputs *in;
        const $name$_outputs *out;
        $memory$
        $weights$
        $isa$
        $sizes$
        $learned$
        $status$
        int32_t workers;
        aotc_barrier barrier;
      };)",
            {{"name", m_.prefix},
             {"memory", memory_.member},
             {"weights", context_.HasWeights() ? "const uint8_t *weights;" : ""},
             {"isa", isas_.HasChoice() ? "uint32_t isas;" : ""},
             {"sizes", m_.HasSymbols() ? "symbols sizes = {};" : ""},
             {"learned", m_.HasLateSymbols() ? "symbols learned;  // with those of the run" : ""},
             {"status", HasStatus() ? "aotc_status status;" : ""}});
    w_.Line();
  }

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
      if (step.barrier || IsControl(step)) dealt_ = IntConst(0);
      AOTC_RETURN_IF_ERROR(WriteTitled(program_, i, w_, [&] { return TimedStep(i); }));
    }
    std::swap(body, w_);
    w_.Line("// The steps, as each of the workers goes through them.");
    const auto block =
        w_.Block("void steps(run_state *self, int32_t worker, int32_t workers) {", "}\n");
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
    w_.Line(StrCat("aotc_profile_step(profile, ", index, ", worker, begin", index, ");"));
    return absl::OkStatus();
  }

  absl::Status StepCode(size_t index) {
    const Step& step = program_.steps[index];
    switch (step.kind) {
      case StepKind::kLaunch: return Launch(step);
      case StepKind::kCopy: return Copy(step);
      case StepKind::kDecode: EmitDecode(context_, step, w_); return absl::OkStatus();
      case StepKind::kSizes: Learn(index); return absl::OkStatus();
      case StepKind::kSetSizes: EmitSetSizes(context_, step, "sizes.", w_); return absl::OkStatus();
      case StepKind::kCheck: break;
      default: Control(step); return absl::OkStatus();
    }
    w_.Line(StrCat("if (worker == 0 && *", BufferPointer(context_, step.args[0], false),
                   " == 0) self->status = AOTC_ERROR_VALUE;"));
    return absl::OkStatus();
  }

  // Each worker learns them for itself, and all come to the same end.
  void Learn(size_t index) {
    w_.Emit(R"(
      {
        const aotc_status status = $learn$;
        if (worker == 0) self->status = status == AOTC_OK ? self->status : status;
        if (status != AOTC_OK) return;
        if (worker == 0) self->learned = sizes;
      })",
            {{"learn", CallLearn(context_, index, "&sizes", "self->out")}});
  }

  void Barrier() { w_.Line("aotc_barrier_wait(&self->barrier, workers);"); }

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
    if (program_.steps.empty()) w_.Line("(void)self, (void)worker, (void)workers;");
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
    w_.Emit(R"(
      {
        const aotc_range part = aotc_task_range($bytes$, worker, workers);
        if (part.begin < part.end) {
          memcpy((uint8_t *)$to$ + part.begin, (const uint8_t *)$from$ + part.begin,
                 (size_t)(part.end - part.begin));
        }
      })",
            {{"bytes", ActualBytes(context_, step.args[0])},
             {"to", Parenthesized(BufferPointer(context_, step.args[1], true))},
             {"from", Parenthesized(BufferPointer(context_, step.args[0], false))}});
    return absl::OkStatus();
  }

  static std::string Parenthesized(const std::string& text) { return StrCat("(", text, ")"); }

  // The name of the worker's place among those that deal out tasks.
  std::string Turn() const { return dealt_.IsInt(0) ? "worker" : "turn"; }

  std::string Scratch(const Step& step) const {
    if (!step.scratch.valid()) return "nullptr";
    const Buffer& buffer = program_.buffers[step.scratch];
    const ProgramKernel& kernel = program_.kernels[step.kernel];
    const bool all =
        program_.max_workers * ScratchBytes(kernel, program_.arena_align) <= buffer.bytes;
    return StrCat("(", ArenaPlace(context_, buffer), ") + (size_t)",
                  all ? Turn() : StrCat("(range.begin < range.end ? ", Turn(), " : 0)"), " * ",
                  HaveSameScratch(kernel.variants) ? RoomOf(kernel.variants.back()) : "room");
  }

  // What a worker of the variant has of the scratch.
  std::string RoomOf(const KernelVariant& variant) const {
    return StrCat(ScratchBytes(variant, program_.arena_align));
  }

  // Where scratch is short, only the first workers have tasks.
  std::string Range(const Step& step, const std::string& tasks) const {
    const int64_t most = WorkersWithScratch(program_, step);
    if (most == program_.max_workers)
      return StrCat("aotc_task_range(", tasks, ", ", Turn(), ", workers)");
    return StrCat("aotc_task_range_of(", most, ", ", tasks, ", ", Turn(), ", workers)");
  }

  absl::Status Launch(const Step& step) {
    const std::vector<KernelVariant>& variants = program_.kernels[step.kernel].variants;
    AOTC_ASSIGN_OR_RETURN(const std::string arguments, KernelArguments(context_, step));
    const auto block = w_.Block("{");
    const KernelVariant& last = variants.back();
    std::string callee = KernelSymbol(m_.prefix, last);
    std::string tasks = HostExpr(context_, last.loops.tasks, bounds_);
    if (variants.size() > 1) {
      w_.Line(StrCat("auto *kernel = ", callee, ";"));
      const bool same_tasks = HaveSameTasks(variants);
      if (!same_tasks) w_.Line(StrCat("int64_t tasks = ", tasks, ";"));
      if (!HaveSameScratch(variants)) w_.Line(StrCat("size_t room = ", RoomOf(last), ";"));
      Choose(variants, same_tasks);
      callee = "kernel";
      if (!same_tasks) tasks = "tasks";
    }
    if (!dealt_.IsInt(0)) {
      const std::string before = HostExpr(context_, dealt_, bounds_);
      w_.Line(StrCat("const int32_t turn = aotc_turn(", before, ", worker, workers);"));
    }
    w_.Line(StrCat("const aotc_range range = ", Range(step, tasks), ";"));
    w_.Line(StrCat(callee, "(", arguments, "range.begin, range.end, ", Scratch(step), ");"));
    dealt_ = Simplify(dealt_ + last.loops.tasks, bounds_);
    return absl::OkStatus();
  }

  // The first variant whose guard and feature hold; the last one is already chosen.
  void Choose(const std::vector<KernelVariant>& variants, bool same_tasks) {
    for (size_t i = 0; i + 1 < variants.size(); ++i) {
      const KernelVariant& variant = variants[i];
      const std::string otherwise = i == 0 ? "" : "else ";
      const auto branch = w_.Block(StrCat(otherwise, "if (", Condition(variant), ") {"));
      w_.Line(StrCat("kernel = ", KernelSymbol(m_.prefix, variant), ";"));
      if (!same_tasks)
        w_.Line(StrCat("tasks = ", HostExpr(context_, variant.loops.tasks, bounds_), ";"));
      if (!HaveSameScratch(variants)) w_.Line(StrCat("room = ", RoomOf(variant), ";"));
    }
  }

  static bool HaveSameTasks(const std::vector<KernelVariant>& variants) {
    return std::all_of(variants.begin(), variants.end(), [&](const KernelVariant& variant) {
      return Same(variant.loops.tasks, variants[0].loops.tasks);
    });
  }

  static bool HaveSameScratch(const std::vector<KernelVariant>& variants) {
    return std::all_of(variants.begin(), variants.end(), [&](const KernelVariant& variant) {
      return variant.loops.scratch_bytes == variants[0].loops.scratch_bytes;
    });
  }

  std::string Condition(const KernelVariant& variant) const {
    const std::string isa = isas_.Condition(variant, "self->isas");
    if (variant.guard.IsInt(1)) return isa.empty() ? "true" : isa;
    const std::string guard = HostExpr(context_, variant.guard, bounds_);
    return isa.empty() ? guard : StrCat(isa, " && (", guard, ")");
  }

  void Prepare() {
    w_.Line("// Fills in what the workers share, once all that the caller gives is in order.");
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
  const Bounds bounds_;
  IsaTests isas_;
  bool tells_ = false;        // steps so far do
  Expr dealt_ = IntConst(0);  // tasks since the workers met; any number that all agree on will do
  CodeWriter w_;
};

}  // namespace

absl::StatusOr<std::string> EmitCpuHost(const EmitContext& context) {
  return CpuHostWriter(context).Run();
}

}  // namespace aotc
