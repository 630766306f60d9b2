// NAME.cpp of the CUDA target, which is plain C++: it never includes CUDA's headers. What calls the
// CUDA runtime is NAME_device.cu, kernels are launched by functions of the kernel files.
#include <utility>

#include "compiler/emit/host_control.h"
#include "compiler/emit/host_expr.h"
#include "compiler/emit/host_parts.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
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
    Staging();
    AOTC_RETURN_IF_ERROR(Steps());
    EmitCheckRun(context_, w_);
    Transfers();
    w_.Line("}  // namespace\n");
    if (context_.LoadsWeights()) EmitCudaLoad(context_, w_);
    Lifetime();
    Enqueue();
    EmitCudaTable(context_, w_);
    const HostOpening opening = {.title = StrCat("the host program, which queues ",
                                                 program_.steps.size(),
                                                 " steps on a stream: no lookups, no allocation.")};
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
      w_.Line(StrCat(m_.macro, "_LOCAL aotc_status ", Launcher(kernel), "(",
                     KernelParameters(kernel.variants.back()),
                     "int64_t tasks, struct CUstream_st *stream);"));
    }
    w_.Line();
  }

  std::string Launcher(const ProgramKernel& kernel) const {
    return StrCat(m_.prefix, "_", kernel.kernel.name);
  }

  // Where inputs and outputs that are host memory are mirrored on the device.
  void Staging() {
    w_.Line(
        "// Where the device's copies of inputs and outputs lie, for those that are host memory.");
    const auto block = w_.Block("namespace staged {", "}  // namespace staged\n");
    w_.Line("constexpr size_t padded(size_t bytes) { return (bytes + 255) / 256 * 256; }");
    std::string end = "0";
    for (const auto& [ports, role] :
         {std::pair(&m_.inputs, "in_"), std::pair(&m_.outputs, "out_")}) {
      for (const TensorPort& port : *ports) {
        w_.Line(StrCat("constexpr size_t ", role, port.member, " = ", end, ";"));
        end = StrCat(role, port.member, " + padded(", port.macro, ")");
      }
    }
    w_.Line(StrCat("constexpr size_t bytes = ", end, ";"));
  }

  absl::Status Steps() {
    const HostUses before = std::exchange(context_.uses, {});
    CodeWriter body;
    std::swap(body, w_);
    for (size_t i = 0; i < program_.steps.size(); ++i) {
      w_.Line();
      AOTC_RETURN_IF_ERROR(WriteTitled(program_, i, w_, [&] { return StepCode(i); }));
    }
    std::swap(body, w_);
    if (reads_flags_) ReadFlag();
    w_.Line(StrCat("// Queues the steps. All pointers", check_ > 0 ? " but checks" : "",
                   " are device memory."));
    std::string params = StrCat("const ", m_.prefix, "_inputs *in, ", m_.prefix,
                                "_outputs *out, uint8_t *arena, const uint8_t *weights, ");
    if (!m_.dims.empty()) StrAppend(&params, "const symbols &dims, ");
    if (check_ > 0) StrAppend(&params, "uint8_t *checks, ");
    const auto block =
        w_.Block(StrCat("aotc_status steps(", params, "struct CUstream_st *stream) {"), "}\n");
    const HostUses& uses = context_.uses;
    for (const auto& [name, used] :
         {std::pair("in", uses.inputs), std::pair("out", uses.outputs),
          std::pair("arena", uses.arena), std::pair("weights", uses.weights),
          std::pair("dims", uses.dims || m_.dims.empty()), std::pair("stream", uses_stream_)}) {
      if (!used) w_.Line(StrCat("(void)", name, ";"));
    }
    context_.uses.functions |= before.functions;
    w_.Line("aotc_status status = AOTC_OK;");
    for (const Buffer& buffer : program_.buffers) {
      if (buffer.kind == BufferKind::kHost) w_.Line(StrCat("uint8_t ", buffer.name, " = 0;"));
    }
    w_.Emit("$body$", {{"body", body.text()}});
    w_.Line("return status;");
    return absl::OkStatus();
  }

  void ReadFlag() {
    Emit(R"(
      // Waits for all that was queued, and brings one bool from the device to the host.
      aotc_status read_flag(uint8_t *to, const uint8_t *from, struct CUstream_st *stream) {
        const aotc_status status = $name$_device_copy(to, from, 1, stream);
        return status == AOTC_OK ? $name$_device_wait(stream) : status;
      }
      )");
    w_.Line();
  }

  absl::Status StepCode(size_t index) {
    const Step& step = program_.steps[index];
    switch (step.kind) {
      case StepKind::kLaunch: return Launch(step);
      case StepKind::kCopy: return Copy(step);
      case StepKind::kCheck: return Check(index);
      default: break;
    }
    const std::string flag =
        step.args.empty() ? "" : StrCat(program_.buffers[step.args[0]].name, " != 0");
    w_.Line(ControlLine(context_, step, flag));
    return absl::OkStatus();
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
    ToHost("&valid", from);
    w_.Line("if (valid == 0) return AOTC_ERROR_VALUE;");
    return absl::OkStatus();
  }

  void ToHost(const std::string& to, const std::string& from) {
    reads_flags_ = uses_stream_ = true;
    w_.Line(StrCat("status = read_flag(", to, ", ", from, ", stream);"));
    w_.Line("if (status != AOTC_OK) return status;");
  }

  absl::Status Launch(const Step& step) {
    const ProgramKernel& kernel = program_.kernels[step.kernel];
    if (kernel.variants.size() != 1) {
      return absl::UnimplementedError(
          StrCat("kernel ", kernel.kernel.name, " has several variants on CUDA"));
    }
    AOTC_ASSIGN_OR_RETURN(const std::string arguments, KernelArguments(context_, step));
    const Expr& tasks = kernel.variants[0].loops.tasks;
    const Interval range = RangeOf(tasks, bounds_);
    if (range.max > INT32_MAX) {
      return absl::UnimplementedError(StrCat("kernel ", kernel.kernel.name, " needs ", range.max,
                                             " blocks, more than a grid has"));
    }
    uses_stream_ = true;
    const std::string call = StrCat("status = ", Launcher(kernel), "(", arguments,
                                    HostExpr(context_, tasks, bounds_), ", stream);");
    const std::string when =
        range.min > 0 ? "" : StrCat("if (", HostExpr(context_, tasks, bounds_), " > 0) ");
    w_.Line(StrCat(when, call));
    w_.Line("if (status != AOTC_OK) return status;");
    return absl::OkStatus();
  }

  absl::Status Copy(const Step& step) {
    if (program_.buffers[step.args[1]].kind == BufferKind::kHost) {
      ToHost(BufferPointer(context_, step.args[1], true),
             BufferPointer(context_, step.args[0], false));
      return absl::OkStatus();
    }
    CopyLine(BufferPointer(context_, step.args[1], true),
             BufferPointer(context_, step.args[0], false),
             StrCat("(size_t)(", ActualBytes(context_, step.args[0]), ")"));
    return absl::OkStatus();
  }

  void CopyLine(const std::string& to, const std::string& from, const std::string& bytes) {
    uses_stream_ = true;
    w_.Line(
        StrCat("status = ", m_.prefix, "_device_copy(", to, ", ", from, ", ", bytes, ", stream);"));
    w_.Line("if (status != AOTC_OK) return status;");
  }

  // Functions that replace host pointers by staged ones, and bring results back.
  void Transfers() {
    const std::string dims = m_.dims.empty() ? "" : "const symbols &dims, ";
    w_.Line(
        "// Copies inputs that are host memory to the device; `in` and `out` point there "
        "afterwards.");
    {
      const auto block = w_.Block(StrCat("aotc_status stage(const ", m_.prefix, "_instance *self, ",
                                         m_.prefix, "_inputs *in, ", m_.prefix, "_outputs *out, ",
                                         dims, "struct CUstream_st *stream) {"),
                                  "}\n");
      w_.Line("uint8_t *staging = (uint8_t *)self->staging;");
      w_.Line("(void)staging, (void)in, (void)out, (void)stream;");
      if (!m_.dims.empty()) w_.Line("(void)dims;");
      for (size_t i = 0; i < m_.inputs.size(); ++i) StageInput(i);
      for (size_t i = 0; i < m_.outputs.size(); ++i) {
        const TensorPort& port = m_.outputs[i];
        w_.Line(StrCat("if (self->outputs_on_host[", i, "]) out->", port.member, " = (", port.type,
                       " *)(staging + staged::out_", port.member, ");"));
      }
      w_.Line("return AOTC_OK;");
    }
    w_.Line("// Copies outputs from where stage() put them to host memory.");
    const auto block =
        w_.Block(StrCat("aotc_status unstage(const ", m_.prefix, "_instance *self, const ",
                        m_.prefix, "_outputs *from, const ", m_.prefix, "_outputs *to, ", dims,
                        "struct CUstream_st *stream) {"),
                 "}\n");
    w_.Line("(void)self, (void)from, (void)to, (void)stream;");
    if (!m_.dims.empty()) w_.Line("(void)dims;");
    for (size_t i = 0; i < m_.outputs.size(); ++i) {
      const TensorPort& port = m_.outputs[i];
      Transfer(StrCat("self->outputs_on_host[", i, "]"), "to->" + port.member,
               "from->" + port.member, port.id);
    }
    w_.Line("return AOTC_OK;");
  }

  void Transfer(const std::string& condition, const std::string& to, const std::string& from,
                BufferId id) {
    const auto block = w_.Block(StrCat("if (", condition, ") {"));
    w_.Line(StrCat("const aotc_status status = ", m_.prefix, "_device_copy(", to, ", ", from,
                   ", (size_t)(", ActualBytes(context_, id), "), stream);"));
    w_.Line("if (status != AOTC_OK) return status;");
  }

  void StageInput(size_t index) {
    const TensorPort& port = m_.inputs[index];
    const auto block = w_.Block(StrCat("if (self->inputs_on_host[", index, "]) {"));
    w_.Line(
        StrCat(port.type, " *copy = (", port.type, " *)(staging + staged::in_", port.member, ");"));
    w_.Line(StrCat("const aotc_status status = ", m_.prefix, "_device_copy(copy, in->", port.member,
                   ", (size_t)(", ActualBytes(context_, port.id), "), stream);"));
    w_.Line("if (status != AOTC_OK) return status;");
    w_.Line(StrCat("in->", port.member, " = copy;"));
  }

  // Lines of finish() that wait, and look at what the checks found.
  std::string Finish() const {
    const std::string wait = StrCat("const aotc_status status = ", m_.prefix,
                                    "_device_wait(self->last);\nself->last = nullptr;\n");
    if (check_ == 0) return wait + "return status;";
    return StrCat(wait, "const uint8_t *checks = (const uint8_t *)self->checks;\n",
                  "for (size_t i = 0; i < ", check_,
                  "; ++i) {\n  if (status == AOTC_OK && checks[i] == 0) return "
                  "AOTC_ERROR_VALUE;\n}\nreturn status;");
  }

  // Lines of create() that make the checks of no run.
  std::string MakeChecks() const {
    if (check_ == 0) return "";
    return StrCat("if (status == AOTC_OK) status = ", m_.prefix,
                  "_device_allocate_pinned(&self->checks, ", check_, ");\n",
                  "for (size_t i = 0; status == AOTC_OK && i < ", check_,
                  "; ++i) ((uint8_t *)self->checks)[i] = 1;");
  }

  void Lifetime() {
    w_.Emit(
        R"(
      aotc_status $name$_create($name$_instance *self, const $name$_config *config) {
        if (!aotc_usable(self, alignof(void *))) return AOTC_ERROR_POINTER;
        *self = {};
        $name$_config given = {};
        if (config != nullptr) given = *config;
        aotc_status status = AOTC_OK;
        $weights$
        $make_checks$
        if (status == AOTC_OK && given.own_arena != 0) {
          status = $name$_device_allocate(&self->device_arena, $NAME$_DEVICE_ARENA_BYTES);
        }
        bool on_host = false;
        for (size_t i = 0; i < sizeof given.inputs_on_host; ++i) {
          self->inputs_on_host[i] = given.inputs_on_host[i];
          on_host = on_host || given.inputs_on_host[i] != 0;
        }
        for (size_t i = 0; i < sizeof given.outputs_on_host; ++i) {
          self->outputs_on_host[i] = given.outputs_on_host[i];
          on_host = on_host || given.outputs_on_host[i] != 0;
        }
        if (status == AOTC_OK && on_host) status = $name$_device_allocate(&self->staging, staged::bytes);
        self->ready = 1;
        if (status != AOTC_OK) $name$_destroy(self);
        return status;
      }

      aotc_status $name$_destroy($name$_instance *self) {
        if (!aotc_usable(self, alignof(void *))) return AOTC_ERROR_POINTER;
        aotc_status status = AOTC_OK;
        if (self->ready != 0) status = $name$_device_wait(self->last);
        if (self->owns_weights != 0) $name$_device_free(self->device_weights);
        $name$_device_free(self->device_arena);
        $name$_device_free(self->staging);
        $free_checks$
        if (self->stream != nullptr) $name$_device_stream_destroy(self->stream);
        *self = {};
        return status;
      }

      aotc_status $name$_finish($name$_instance *self) {
        if (!aotc_usable(self, alignof(void *)) || self->ready == 0) return AOTC_ERROR_POINTER;
        $checked$
      })",
        {{"name", m_.prefix},
         {"NAME", m_.macro},
         {"weights", BringCudaWeights(context_)},
         {"make_checks", MakeChecks()},
         {"free_checks", check_ > 0 ? StrCat(m_.prefix, "_device_free_pinned(self->checks);") : ""},
         {"checked", Finish()}});
    w_.Line();
  }

  void Enqueue() {
    const std::string dims = m_.dims.empty() ? "" : ", sizes";
    const std::string arena_check =
        program_.arena_bytes == 0 ? ""
                                  : StrCat("if (!aotc_usable(arena, ", m_.macro,
                                           "_DEVICE_ARENA_ALIGN)) return AOTC_ERROR_POINTER;");
    w_.Emit(R"(
      aotc_status $name$_enqueue($name$_instance *self, const $name$_inputs *in, $name$_outputs *out,
                                 void *device_arena, struct CUstream_st *stream) {
        if (!aotc_usable(self, alignof(void *)) || self->ready == 0) return AOTC_ERROR_POINTER;
        $sizes$
        aotc_status status = check_run(in, out$sizes_out$);
        if (status != AOTC_OK) return status;
        void *arena = device_arena != nullptr ? device_arena : self->device_arena;
        $arena_check$
        $name$_inputs device_in = *in;
        $name$_outputs device_out = *out;
        self->last = stream;
        status = stage(self, &device_in, &device_out$dims$, stream);
        if (status != AOTC_OK) return status;
        status = steps(&device_in, &device_out, (uint8_t *)arena, (const uint8_t *)self->device_weights$dims$,
                       $checks$stream);
        if (status != AOTC_OK) return status;
        return unstage(self, &device_out, out$dims$, stream);
      })",
            {{"name", m_.prefix},
             {"sizes", m_.dims.empty() ? "" : "symbols sizes;"},
             {"sizes_out", m_.dims.empty() ? "" : ", &sizes"},
             {"arena_check", arena_check},
             {"checks", check_ > 0 ? "(uint8_t *)self->checks, " : ""},
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
  CodeWriter w_;
};

}  // namespace

absl::StatusOr<std::string> EmitCudaHost(const EmitContext& context) {
  return CudaHostWriter(context).Run();
}

}  // namespace aotc
