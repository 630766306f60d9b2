// The functions of NAME.cpp that its users call: load, run, and run_mt where there are threads.
#include "compiler/emit/host_parts.h"
#include "compiler/support/literals.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cpu/host.h"

namespace aotc {
namespace {

// Takes the blob that the user has in memory, and checks it once.
void EmitLoadPoint(const EmitContext& context, CodeWriter& w) {
  w.Emit(R"(
      aotc_status $name$_load($name$_weights *weights, const void *data, size_t bytes) {
        if (weights == nullptr) return AOTC_ERROR_POINTER;
        const aotc_status status = aotc_weights_check(data, bytes, $size$u, $hash$);
        weights->data = status == AOTC_OK ? data : nullptr;
        return status;
      }
      )",
         {{"name", context.interface.prefix},
          {"size", StrCat(context.program.weights.size())},
          {"hash", HashLiteral(context.weights_hash)}});
  w.Line();
}

constexpr std::string_view kRun = R"(
  aotc_status $name$_$run$($weights$const $name$_inputs *in, $name$_outputs *out, $parameter$) {
    run_state self;
    const aotc_status status = prepare(&self, $loaded$in, out, $memory$);
    if (status != AOTC_OK) return status;
    $report$
    $steps$
    $when_learned$$report_learned$
    return $status$;
  }
  )";

constexpr std::string_view kRunOnWorkers = R"(
  // Workers beyond those that the arena has room for return at once.
  static void $name$_work(void *argument, int32_t worker) {
    run_state *self = (run_state *)argument;
    if (worker < self->workers) steps(self, worker, self->workers);
  }

  aotc_status $name$_$run$_mt($weights$const $name$_inputs *in, $name$_outputs *out,
                              $parameter$, const aotc_parallel *parallel) {
    if (parallel == nullptr) return $name$_$run$($loaded$in, out, $memory$);
    if (parallel->workers < 1) return AOTC_ERROR_THREADS;
    if (parallel->run == nullptr) return AOTC_ERROR_POINTER;
    run_state self;
    const aotc_status status = prepare(&self, $loaded$in, out, $memory$);
    if (status != AOTC_OK) return status;
    $report$
    const int32_t most = $NAME$_MAX_WORKERS;
    self.workers = parallel->workers < most ? parallel->workers : most;
    aotc_barrier_init(&self.barrier);
    parallel->run(parallel->context, $name$_work, &self);
    $when_learned$$report_learned$
    return $status$;
  }
  )";

}  // namespace

std::string WeightsParameter(const EmitContext& context) {
  const std::string& name = context.interface.prefix;
  return context.LoadsWeights() ? StrCat("const ", name, "_weights *loaded, ") : "";
}

void EmitEntryPoints(const EmitContext& context, bool has_status, CodeWriter& w) {
  const ModelInterface& m = context.interface;
  const HostMemory memory = HostMemoryOf(context);
  const auto emit = [&](std::string_view text) {
    w.Emit(text, {{"name", m.prefix},
                  {"NAME", m.macro},
                  {"run", memory.run},
                  {"parameter", memory.parameter},
                  {"memory", memory.name},
                  {"weights", WeightsParameter(context)},
                  {"report", CallReportSizes(m, "self.sizes", /*late=*/false)},
                  {"steps", context.HasThreads()
                                ? "aotc_barrier_init(&self.barrier);\nsteps(&self, 0, 1);"
                                : "steps(&self);"},
                  {"when_learned",
                   ReportsSizes(m) && m.HasLateSymbols() ? "if (self.status == AOTC_OK) " : ""},
                  {"report_learned", CallReportSizes(m, "self.learned", /*late=*/true)},
                  {"status", has_status ? "self.status" : "AOTC_OK"},
                  {"loaded", context.LoadsWeights() ? "loaded, " : ""}});
    w.Line();
  };
  if (context.LoadsWeights()) EmitLoadPoint(context, w);
  emit(kRun);
  if (context.HasThreads()) emit(kRunOnWorkers);
}

}  // namespace aotc
