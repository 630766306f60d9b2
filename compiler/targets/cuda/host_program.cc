// NAME.cpp of the CUDA target, which is plain C++: it never includes CUDA's headers. What calls the
// CUDA runtime is NAME_device.cu, kernels are launched by functions of the kernel files.
#include <optional>
#include <utility>

#include "compiler/emit/c_expr.h"
#include "compiler/emit/host_control.h"
#include "compiler/emit/host_decode.h"
#include "compiler/emit/host_expr.h"
#include "compiler/emit/host_parts.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cuda/cuda_target.h"
#include "compiler/targets/cuda/host.h"

namespace aotc {
namespace {

class CudaHostWriter {
 public:
  explicit CudaHostWriter(const EmitContext& context)
      : context_(context),
        program_(context.program),
        m_(context.interface),
        bounds_(BoundsOf(context.program.symbols)),
        waits_(StepsThatWait(context.program)) {}

  absl::StatusOr<std::string> Run() {
    Declarations();
    w_.Line("namespace {\n");
    EmitPlaces(context_, w_);
    EmitSymbols(context_, w_);
    EmitLearnSizes(context_, w_);
    EmitStaging(context_, w_);
    EmitMarks(context_, w_);
    AOTC_RETURN_IF_ERROR(Steps());
    EmitCheckRun(context_, w_);
    EmitTransfers(context_, w_);
    w_.Line("}  // namespace\n");
    if (context_.LoadsWeights()) EmitCudaLoad(context_, w_);
    EmitCudaLifetime(context_, check_, w_);
    Enqueue();
    AOTC_RETURN_IF_ERROR(EmitCudaTable(context_, w_));
    const HostOpening opening = {
        .title = StrCat("the host program, which queues ", program_.steps.size(),
                        " steps on a stream: no lookups, no allocation."),
        .system_header = decodes_ ? "#include <stdlib.h>" : ""};
    return StrCat(EmitHostOpening(context_, opening), w_.text());
  }

 private:
  void Emit(std::string_view snippet) {
    w_.Emit(snippet, {{"name", m_.prefix}, {"NAME", m_.macro}});
  }

  void Declarations() {
    DeclareWeights(context_, w_);
    w_.Line(StrCat("// The CUDA runtime, from ", m_.prefix,
                   "_device.cu. Copies are between any two places ", "and wait for nothing."));
    DeclareCudaDevice(context_, w_);
    if (program_.kernels.empty()) return;
    w_.Line("// The launchers of the kernels.");
    for (const ProgramKernel& kernel : program_.kernels) {
      for (const KernelVariant& variant : kernel.variants) {
        w_.Line(StrCat(m_.macro, "_LOCAL aotc_status ", CudaSymbol(m_.prefix, kernel, variant), "(",
                       KernelParameters(variant), "int64_t tasks, struct CUstream_st *stream);"));
      }
    }
    w_.Line();
  }

  absl::Status Steps() {
    const HostUses before = std::exchange(context_.uses, {});
    CodeWriter body;
    std::swap(body, w_);
    for (size_t i = 0; i < program_.steps.size(); ++i) {
      w_.Line();
      AOTC_RETURN_IF_ERROR(WriteTitled(program_, i, w_, [&] { return MarkedStep(i); }));
    }
    std::swap(body, w_);
    if (reads_flags_) ReadFlag();
    if (decodes_) EmitDecodeOnHost(w_);
    w_.Line(StrCat("// Queues the steps. All pointers", check_ > 0 ? " but checks" : "",
                   " are device memory."));
    std::string params = StrCat("const ", m_.prefix, "_inputs *in, ", m_.prefix,
                                "_outputs *out, uint8_t *arena, const uint8_t *weights, ");
    const bool learns = m_.HasLateSymbols();
    if (m_.HasSymbols()) StrAppend(&params, learns ? "" : "const ", "symbols &dims, ");
    if (check_ > 0) StrAppend(&params, "uint8_t *checks, ");
    if (AsksForCapability(program_)) StrAppend(&params, "int32_t capability, ");
    if (MarksSteps(context_)) StrAppend(&params, "aotc_profile_events *events, ");
    const auto block =
        w_.Block(StrCat("aotc_status steps(", params, "struct CUstream_st *stream) {"), "}\n");
    const HostUses& uses = context_.uses;
    for (const auto& [name, used] :
         {std::pair("in", uses.inputs), std::pair("out", uses.outputs || learns),
          std::pair("arena", uses.arena), std::pair("weights", uses.weights),
          std::pair("dims", uses.dims || learns || !m_.HasSymbols()),
          std::pair("stream", uses_stream_)}) {
      if (!used) w_.Line(StrCat("(void)", name, ";"));
    }
    context_.uses.functions |= before.functions;
    w_.Line("aotc_status status = AOTC_OK;");
    for (const Buffer& buffer : program_.buffers) {
      if (buffer.kind == BufferKind::kHost) w_.Line(HostVariable(buffer));
    }
    w_.Emit("$body$", {{"body", body.text()}});
    w_.Line("return status;");
    return absl::OkStatus();
  }

  static std::string HostVariable(const Buffer& buffer) {
    const std::string name = StrCat(CInterfaceType(buffer.dtype), " ", buffer.name);
    if (buffer.shape.empty()) return StrCat(name, " = 0;");
    return StrCat(name, "[", std::max<int64_t>(ElementCount(buffer.shape).AsInt().value_or(1), 1),
                  "] = {};");
  }

  void ReadFlag() {
    Emit(R"(
      // Waits for all that was queued, and brings what decides the way on to the host.
      aotc_status read_back(void *to, const void *from, size_t bytes, struct CUstream_st *stream) {
        const aotc_status status = $name$_device_copy(to, from, bytes, stream);
        return status == AOTC_OK ? $name$_device_wait(stream) : status;
      }
      )");
    w_.Line();
  }

  absl::Status MarkedStep(size_t index) {
    if (!IsMarked(context_, program_.steps[index])) return StepCode(index);
    Queue("begin_step(events, stream)");
    AOTC_RETURN_IF_ERROR(StepCode(index));
    Queue(StrCat("end_step(events, ", index, ", stream)"));
    return absl::OkStatus();
  }

  // A call whose status ends the run.
  void Queue(const std::string& call) {
    uses_stream_ = true;
    w_.Line(StrCat("status = ", call, ";"));
    w_.Line("if (status != AOTC_OK) return status;");
  }

  absl::Status StepCode(size_t index) {
    const Step& step = program_.steps[index];
    switch (step.kind) {
      case StepKind::kLaunch: return Launch(step);
      case StepKind::kCopy: return Copy(step);
      case StepKind::kCheck: return Check(index);
      case StepKind::kDecode: Decode(step); return absl::OkStatus();
      case StepKind::kSizes: Learn(index); return absl::OkStatus();
      case StepKind::kSetSizes: EmitSetSizes(context_, step, "dims.", w_); return absl::OkStatus();
      default: break;
    }
    const std::string flag =
        step.args.empty() ? "" : StrCat(program_.buffers[step.args[0]].name, " != 0");
    w_.Line(ControlLine(context_, step, flag));
    return absl::OkStatus();
  }

  void Decode(const Step& step) {
    decodes_ = reads_flags_ = uses_stream_ = true;
    EmitCallOfDecode(context_, step, w_);
  }

  void Learn(size_t index) {
    w_.Line(StrCat("status = ", CallLearn(context_, index, "&dims", "out"), ";"));
    w_.Line("if (status != AOTC_OK) return status;");
  }

  // Looked at when the run is over, or at once where another round would overwrite it.
  absl::Status Check(size_t index) {
    const Step& step = program_.steps[index];
    const std::string from = BufferPointer(context_, step.args[0], false);
    if (!waits_[index]) {
      CopyLine(StrCat("checks + ", check_++), from, "1");
      return absl::OkStatus();
    }
    const auto block = w_.Block("{");
    w_.Line("uint8_t valid = 0;");
    ToHost("&valid", from, "1");
    w_.Line("if (valid == 0) return AOTC_ERROR_VALUE;");
    return absl::OkStatus();
  }

  void ToHost(const std::string& to, const std::string& from, const std::string& bytes) {
    reads_flags_ = true;
    Queue(StrCat("read_back(", to, ", ", from, ", ", bytes, ", stream)"));
  }

  absl::Status Launch(const Step& step) {
    const ProgramKernel& kernel = program_.kernels[step.kernel];
    AOTC_ASSIGN_OR_RETURN(const std::string arguments, KernelArguments(context_, step));
    const KernelVariant& last = kernel.variants.back();
    const std::string symbol = CudaSymbol(m_.prefix, kernel, last);
    if (kernel.variants.size() > 1) return LaunchOneOf(kernel, arguments);
    Call(symbol, arguments, HostExpr(context_, last.loops.tasks, bounds_),
         RangeOf(last.loops.tasks, bounds_).min > 0);
    return absl::OkStatus();
  }

  // Nothing is launched where there are no tasks.
  void Call(const std::string& function, const std::string& arguments, const std::string& tasks,
            bool has_tasks) {
    uses_stream_ = true;
    const std::string when = has_tasks ? "" : StrCat("if (", tasks, " > 0) ");
    w_.Line(StrCat(when, "status = ", function, "(", arguments, tasks, ", stream);"));
    w_.Line("if (status != AOTC_OK) return status;");
  }

  // The first variant whose guard and feature hold; the last one is chosen before.
  absl::Status LaunchOneOf(const ProgramKernel& kernel, const std::string& arguments) {
    const std::vector<KernelVariant>& variants = kernel.variants;
    const auto block = w_.Block("{");
    const KernelVariant& last = variants.back();
    w_.Line(StrCat("auto *kernel = ", CudaSymbol(m_.prefix, kernel, last), ";"));
    w_.Line(StrCat("int64_t tasks = ", HostExpr(context_, last.loops.tasks, bounds_), ";"));
    bool has_tasks = RangeOf(last.loops.tasks, bounds_).min > 0;
    for (size_t i = 0; i + 1 < variants.size(); ++i) {
      const KernelVariant& variant = variants[i];
      AOTC_ASSIGN_OR_RETURN(const std::string condition, Condition(kernel, variant));
      const auto branch = w_.Block(StrCat(i == 0 ? "" : "else ", "if (", condition, ") {"));
      w_.Line(StrCat("kernel = ", CudaSymbol(m_.prefix, kernel, variant), ";"));
      w_.Line(StrCat("tasks = ", HostExpr(context_, variant.loops.tasks, bounds_), ";"));
      has_tasks = has_tasks && RangeOf(variant.loops.tasks, bounds_).min > 0;
    }
    Call("kernel", arguments, "tasks", has_tasks);
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> Condition(const ProgramKernel& kernel,
                                        const KernelVariant& variant) const {
    std::vector<std::string> parts;
    if (!variant.feature.empty()) {
      const std::optional<int> capability = CapabilityOf(variant.feature);
      if (!capability) {
        return absl::InternalError(StrCat("kernel ", kernel.kernel.name, " needs '",
                                          variant.feature, "', which the host cannot ask for"));
      }
      parts.push_back(StrCat("capability >= ", *capability));
    }
    if (!variant.guard.IsInt(1))
      parts.push_back(StrCat("(", HostExpr(context_, variant.guard, bounds_), ")"));
    return parts.empty() ? "true" : StrJoin(parts, " && ");
  }

  absl::Status Copy(const Step& step) {
    if (program_.buffers[step.args[1]].kind == BufferKind::kHost) {
      ToHost(BufferPointer(context_, step.args[1], true),
             BufferPointer(context_, step.args[0], false), ActualBytes(context_, step.args[1]));
      return absl::OkStatus();
    }
    CopyLine(BufferPointer(context_, step.args[1], true),
             BufferPointer(context_, step.args[0], false),
             StrCat("(size_t)(", ActualBytes(context_, step.args[0]), ")"));
    return absl::OkStatus();
  }

  void CopyLine(const std::string& to, const std::string& from, const std::string& bytes) {
    Queue(StrCat(m_.prefix, "_device_copy(", to, ", ", from, ", ", bytes, ", stream)"));
  }

  // The host reads sizes where they are when a run begins.
  std::string ReadByHost() const {
    std::string text;
    for (size_t i = 0; i < m_.inputs.size(); ++i) {
      if (!m_.inputs[i].is_read_by_host) continue;
      StrAppend(&text, "if (self->inputs_on_host[", i, "] == 0) return AOTC_ERROR_POINTER;\n");
    }
    return text;
  }

  std::string StartSteps() const {
    if (!MarksSteps(context_)) return "";
    return StrCat("status = start_steps(&self->events, in->", m_.profile_member,
                  ", stream);\nif (status != AOTC_OK) return status;");
  }

  void Enqueue() {
    const std::string dims = m_.HasSymbols() ? ", sizes" : "";
    const std::string arena_check =
        program_.arena_bytes == 0 ? ""
                                  : StrCat("if (!aotc_usable(arena, ", m_.macro,
                                           "_DEVICE_ARENA_ALIGN)) return AOTC_ERROR_POINTER;");
    w_.Emit(R"(
      aotc_status $name$_enqueue($name$_instance *self, const $name$_inputs *in, $name$_outputs *out,
                                 void *device_arena, struct CUstream_st *stream) {
        if (!aotc_usable(self, alignof(void *)) || self->ready == 0) return AOTC_ERROR_POINTER;
        $read_by_host$
        $sizes$
        aotc_status status = check_run(in, out$sizes_out$);
        if (status != AOTC_OK) return status;
        $report$
        void *arena = device_arena != nullptr ? device_arena : self->device_arena;
        $arena_check$
        $name$_inputs device_in = *in;
        $name$_outputs device_out = *out;
        self->last = stream;
        status = stage(self, &device_in, &device_out$dims$, stream);
        if (status != AOTC_OK) return status;
        $start_steps$
        status = steps(&device_in, &device_out, (uint8_t *)arena, (const uint8_t *)self->device_weights$dims$,
                       $checks$stream);
        if (status != AOTC_OK) return status;
        $report_learned$
        return unstage(self, &device_out, out$dims$, stream);
      })",
            {{"name", m_.prefix},
             {"read_by_host", ReadByHost()},
             {"sizes", m_.HasSymbols() ? "symbols sizes = {};" : ""},
             {"sizes_out", m_.HasSymbols() ? ", &sizes" : ""},
             {"report", CallReportSizes(m_, "sizes", /*late=*/false)},
             {"report_learned", CallReportSizes(m_, "sizes", /*late=*/true)},
             {"arena_check", arena_check},
             {"checks", StrCat(check_ > 0 ? "(uint8_t *)self->checks, " : "",
                               AsksForCapability(program_) ? "self->capability, " : "",
                               MarksSteps(context_) ? "&self->events, " : "")},
             {"start_steps", StartSteps()},
             {"dims", dims}});
    w_.Line();
  }

  const EmitContext& context_;
  const Program& program_;
  const ModelInterface& m_;
  const Bounds bounds_;
  const std::vector<bool> waits_;  // per step
  size_t check_ = 0;               // checks among the steps so far
  bool uses_stream_ = false;       // by the steps so far
  bool reads_flags_ = false;       // likewise
  bool decodes_ = false;           // likewise
  CodeWriter w_;
};

}  // namespace

absl::StatusOr<std::string> EmitCudaHost(const EmitContext& context) {
  return CudaHostWriter(context).Run();
}

}  // namespace aotc
