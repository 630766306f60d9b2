// NAME.h: the public header, C99 and C++.
#include <algorithm>

#include "compiler/emit/host_control.h"
#include "compiler/emit/host_parts.h"
#include "compiler/emit/parts.h"
#include "compiler/support/code_writer.h"
#include "compiler/support/literals.h"
#include "compiler/support/names.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

class HeaderWriter {
 public:
  explicit HeaderWriter(const EmitContext& context)
      : context_(context),
        m_(context.interface),
        cuda_(context.options.target == EmitTarget::kCuda) {}

  std::string Run() {
    Opening();
    Sizes();
    Dims();
    Ports("inputs", m_.inputs, /*constant=*/true);
    Ports("outputs", m_.outputs, /*constant=*/false);
    if (context_.LoadsWeights()) LoadedWeights();
    if (cuda_) {
      CudaFunctions();
    } else {
      CpuFunctions();
    }
    w_.Emit(R"(
      /* The same by table, for hosts that load models by name. Never NULL. */
      const aotc_model *$name$_model(void);

      #ifdef __cplusplus
      }
      #endif

      #endif /* $NAME$_H_ */)",
            {{"name", m_.prefix}, {"NAME", m_.macro}});
    return w_.Take();
  }

 private:
  void Opening() {
    const Provenance& from = context_.options.provenance;
    const std::string model = from.model_name.empty() ? m_.prefix : from.model_name;
    w_.Emit(R"(
      /* $name$: the model $model$, compiled by aotc $version$ for $target$.
       *
       * The caller owns all memory: inputs, outputs and arena. Every call returns a status, 0 for
       * success; aotc/model.h lists the others.
       $usage$
       */
      #ifndef $NAME$_H_
      #define $NAME$_H_

      #include <stddef.h>
      #include <stdint.h>

      #include "aotc/model.h"

      #ifdef __cplusplus
      extern "C" {
      #endif
      )",
            {{"name", m_.prefix},
             {"NAME", m_.macro},
             {"model", CommentText(model)},
             {"version", from.aotc_version},
             {"target", cuda_ ? "CUDA" : "CPUs"},
             {"usage", cuda_ ? CudaUsage() : CpuUsage()}});
    w_.Line();
  }

  std::string CpuUsage() const {
    CodeWriter usage;
    usage.Emit(R"(
      *
      *   $name$_inputs in = {...};
      *   $name$_outputs out = {...};
      *   void *arena = aligned_alloc($NAME$_ARENA_ALIGN, $NAME$_ARENA_BYTES);
      *   aotc_status status = $name$_run($weights$&in, &out, arena);)",
               {{"name", m_.prefix},
                {"NAME", m_.macro},
                {"weights", context_.LoadsWeights() ? "&weights, " : ""}});
    std::string text = usage.Take();
    text.pop_back();
    return text;
  }

  std::string CudaUsage() const {
    const int arch = context_.options.least_cuda_arch;
    return StrCat("*\n* Needs a device of compute capability ", arch / 10, ".", arch % 10,
                  " or later, and toolkit 11.8 or later.");
  }

  void Sizes() {
    const std::string kind = cuda_ ? "DEVICE_ARENA" : "ARENA";
    w_.Emit(R"(
      /* The arena, in bytes: $what$. */
      #define $NAME$_$kind$_BYTES $bytes$
      #define $NAME$_$kind$_ALIGN $align$)",
            {{"NAME", m_.macro},
             {"kind", kind},
             {"what", cuda_ ? "device memory for all that lies between the steps"
                            : "memory for all that lies between the steps"},
             {"bytes", Bytes(context_.program.arena_bytes)},
             {"align", StrCat(context_.program.arena_align, "u")}});
    w_.Line();
    PoolSizes();
    if (!cuda_) {
      w_.Emit(R"(
        /* Workers that the arena has room for; further ones stand idle. */
        #define $NAME$_MAX_WORKERS $workers$)",
              {{"NAME", m_.macro}, {"workers", StrCat(context_.program.max_workers)}});
    }
    w_.Emit(R"(

      /* Inputs and outputs at their largest, in bytes. */)");
    for (const auto* ports : {&m_.inputs, &m_.outputs}) {
      for (const TensorPort& port : *ports) {
        w_.Line(
            StrCat("#define ", port.macro, " ", Bytes(context_.program.buffers[port.id].bytes)));
      }
    }
    w_.Line();
  }

  void PoolSizes() {
    const IdVector<PoolId, Pool>& pools = context_.program.pools;
    if (pools.empty()) return;
    w_.Line(
        "/* The pools that the arena is made of, in bytes, in the order in which they lie there. "
        "*/");
    for (const Pool& pool : pools) {
      w_.Line(StrCat("#define ", m_.macro, "_POOL_", MacroCase(pool.name), "_BYTES ",
                     Bytes(pool.bytes)));
    }
    w_.Line();
  }

  static std::string Bytes(int64_t bytes) { return UnsignedLiteral(static_cast<uint64_t>(bytes)); }

  void Dims() {
    if (m_.dims.empty()) return;
    w_.Line("/* The sizes of one run. */");
    auto block = w_.Block("typedef struct {", StrCat("} ", m_.prefix, "_dims;\n"));
    for (const DimPort& dim : m_.dims) {
      const Symbol& symbol = dim.symbol;
      std::string range = StrCat(symbol.min * symbol.step, " to ", symbol.max * symbol.step);
      if (symbol.step != 1) StrAppend(&range, ", a multiple of ", symbol.step);
      w_.Line(StrCat("int64_t ", dim.member, "; /* ", range, " */"));
    }
  }

  void Ports(const std::string& what, const std::vector<TensorPort>& ports, bool constant) {
    const bool dims = constant && !m_.dims.empty();
    auto block = w_.Block("typedef struct {", StrCat("} ", m_.prefix, "_", what, ";\n"));
    for (const TensorPort& port : ports) {
      w_.Line(StrCat(constant ? "const " : "", port.type, " *", port.member, "; /* ",
                     CommentText(StrCat("'", port.name, "', ", port.text)), " */"));
    }
    if (dims) w_.Line(StrCat(m_.prefix, "_dims dims;"));
    if (ports.empty() && !dims) w_.Line("char unused_;");
  }

  void LoadedWeights() {
    w_.Emit(R"(
      /* The weights, once $name$_load has verified them. */
      typedef struct {
        const void *data;
      } $name$_weights;

      /* Verifies the contents of $name$_weights.bin, which the caller read or mapped at an address
       * aligned to 64 bytes and keeps for as long as the model runs. */
      aotc_status $name$_load($name$_weights *weights, const void *data, size_t bytes);)",
            {{"name", m_.prefix}});
    w_.Line();
  }

  // A memory for each pool, and the functions that take them.
  void PoolFunctions(const std::string& weights) {
    if (context_.program.pools.empty()) return;
    w_.Emit("/* The pools, each aligned to $NAME$_ARENA_ALIGN; NULL where it has no bytes. */",
            {{"NAME", m_.macro}});
    {
      auto block = w_.Block("typedef struct {", StrCat("} ", m_.prefix, "_pools;\n"));
      for (const Pool& pool : context_.program.pools) w_.Line(StrCat("void *", pool.name, ";"));
    }
    w_.Emit(R"(
      /* $name$_run and $name$_run_mt with a memory for each pool in place of one arena for all. */
      aotc_status $name$_run_pools($weights$const $name$_inputs *in, $name$_outputs *out,
                                   const $name$_pools *pools);
      aotc_status $name$_run_pools_mt($weights$const $name$_inputs *in, $name$_outputs *out,
                                      const $name$_pools *pools, const aotc_parallel *parallel);)",
            {{"name", m_.prefix}, {"weights", weights}});
    w_.Line();
  }

  void CpuFunctions() {
    const std::string weights =
        context_.LoadsWeights() ? StrCat("const ", m_.prefix, "_weights *weights, ") : "";
    w_.Emit(R"(
      /* Runs the model once, in the calling thread. Several threads may run it at the same time,
       * each with an arena of its own. */
      aotc_status $name$_run($weights$const $name$_inputs *in, $name$_outputs *out, void *arena);

      /* The same on the workers that `parallel` lends; NULL means the calling thread alone. */
      aotc_status $name$_run_mt($weights$const $name$_inputs *in, $name$_outputs *out, void *arena,
                                const aotc_parallel *parallel);
      )",
            {{"name", m_.prefix}, {"weights", weights}});
    w_.Line();
    PoolFunctions(weights);
    w_.Emit(R"(
      /* Threads for callers that have none to lend. Create and destroy allocate, runs do not. */
      aotc_status $name$_pool_create(int32_t workers, aotc_parallel *pool);
      void $name$_pool_destroy(aotc_parallel *pool);)",
            {{"name", m_.prefix}});
    w_.Line();
  }

  void Capturable() {
    const bool waits = std::ranges::count(StepsThatWait(context_.program), true) > 0;
    w_.Emit(waits ? R"(
      /* 0: $name$_enqueue waits where data of the device decides which steps run (the steps that
       * have `waits` in metadata.json), and cannot be captured in a CUDA graph. */
      #define $NAME$_CAPTURABLE 0
      )"
                  : R"(
      /* 1: no step waits for the device, and $name$_enqueue may be captured in a CUDA graph. */
      #define $NAME$_CAPTURABLE 1
      )",
            {{"name", m_.prefix}, {"NAME", m_.macro}});
    w_.Line();
  }

  void CudaFunctions() {
    Capturable();
    const size_t checks = LateChecks(context_.program);
    w_.Emit(
        R"(
      struct CUstream_st;

      /* What a model keeps between runs; filled in by create, for no one else to change. */
      typedef struct $name$_instance {
        void *device_weights;
        void *device_arena;
        void *staging;              /* device copies of inputs and outputs that are host memory */
        struct CUstream_st *stream; /* of runs through the table */
        struct CUstream_st *last;   /* of the last enqueue */
        int32_t ready, owns_weights;
        uint8_t inputs_on_host[$inputs$], outputs_on_host[$outputs$];
        $checks$
      } $name$_instance;

      typedef struct {
        int32_t own_arena;                    /* allocate a device arena: enqueue may be given none */
        uint8_t inputs_on_host[$inputs$];     /* 1 where enqueue gets host memory, in order */
        uint8_t outputs_on_host[$outputs$];
        const $name$_instance *share_weights; /* use the weights of this instance, which outlives it */
        $weights_member$
      } $name$_config;

      /* Uploads the weights and allocates what `config` (NULL: all zero) asks for. */
      aotc_status $name$_create($name$_instance *self, const $name$_config *config);

      /* Queues one run; an instance has one at a time. The stream and host memory must stay as they
       * are until finish; copies of host memory that is not pinned may be waited for. device_arena
       * may be NULL where the instance owns one. */
      aotc_status $name$_enqueue($name$_instance *self, const $name$_inputs *in, $name$_outputs *out,
                                 void *device_arena, struct CUstream_st *stream);

      /* Waits for the last enqueue; the outputs are there$value$. */
      aotc_status $name$_finish($name$_instance *self);

      /* Waits, and frees what create allocated. */
      aotc_status $name$_destroy($name$_instance *self);)",
        {{"name", m_.prefix},
         {"NAME", m_.macro},
         {"inputs", StrCat(std::max<size_t>(1, m_.inputs.size()))},
         {"outputs", StrCat(std::max<size_t>(1, m_.outputs.size()))},
         {"checks", checks == 0 ? ""
                                : "void *checks; /* pinned bytes of the last enqueue: 0 where an "
                                  "index was out of range */"},
         {"value", checks == 0 ? "" : ", unless an index was out of range"},
         {"weights_member", context_.LoadsWeights()
                                ? StrCat("const ", m_.prefix, "_weights *weights; /* from load */")
                                : ""}});
    w_.Line();
  }

  const EmitContext& context_;
  const ModelInterface& m_;
  const bool cuda_;
  CodeWriter w_;
};

}  // namespace

std::string EmitHeader(const EmitContext& context) { return HeaderWriter(context).Run(); }

}  // namespace aotc
