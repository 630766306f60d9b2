// How a run of a CUDA model comes in through the table of aotc/model.h.
#include "compiler/emit/bundles.h"
#include "compiler/emit/host_parts.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cuda/host.h"

namespace aotc {
namespace {

// run()
void EmitCudaRun(const EmitContext& context, CodeWriter& w) {
  const ModelInterface& m = context.interface;
  const bool loads = context.LoadsWeights();
  const ProfiledRun profiled = ProfiledRunOf(context);
  CodeWriter late;
  if (HasLateOutputs(m)) late.Line("if (end == AOTC_OK) end = status;");
  DescribeLateOutputs(m, late);
  if (HasBundles(context)) {
    late.Line("if (status == AOTC_OK && end == AOTC_OK) end = give_values(outputs, lent);");
  }
  CodeWriter take;
  if (HasBundles(context)) {
    take.Line("if (!aotc_usable(arena, 64)) return AOTC_ERROR_POINTER;");
    EmitTakeValues(context, "(uint8_t *)arena", take);
  }
  w.Emit(R"(
    aotc_status $function$(void *instance, const aotc_value *$inputs$, aotc_value *$outputs$,
                           void *$arena$, const aotc_parallel *$profile$) {
      $name$_instance *self = ($name$_instance *)instance;
      if (!aotc_usable(self, alignof(void *))) return AOTC_ERROR_POINTER;
      if (self->ready == 0) return $not_ready$;
      if ($given$) return AOTC_ERROR_POINTER;
      $take$
      $name$_inputs in = {};
      $name$_outputs out = {};
      aotc_status status = bind(inputs, outputs, &in, &out);
      if (status != AOTC_OK) return status;
      $tell$
      status = $name$_enqueue(self, &in, &out, nullptr, self->stream);
      $const$aotc_status end = $name$_finish(self);
      $late$
      return status != AOTC_OK ? status : end;
    })",
         {{"name", m.prefix},
          {"function", profiled.name},
          {"profile", profiled.parameter},
          {"tell", profiled.give},
          {"inputs", RunValuesOf(context).inputs},
          {"outputs", RunValuesOf(context).outputs},
          {"arena", HasBundles(context) ? "arena" : ""},
          {"take", take.text()},
          {"const", HasLateOutputs(m) || HasBundles(context) ? "" : "const "},
          {"late", late.text()},
          {"not_ready", loads ? "AOTC_ERROR_WEIGHTS" : "AOTC_ERROR_POINTER"},
          {"given", NothingGiven(context)}});
  w.Line();
  EmitPlainRun(context, w);
}

// What makes and ends an instance.
void EmitInstance(const EmitContext& context, CodeWriter& w) {
  const ModelInterface& m = context.interface;
  const bool loads = context.LoadsWeights();
  w.Emit(R"(
    // All data is host memory; the instance owns its arena and its stream.
    aotc_status prepare($name$_instance *self$weights_param$) {
      $name$_config config = {};
      config.own_arena = 1;
      for (uint8_t &flag : config.inputs_on_host) flag = 1;
      for (uint8_t &flag : config.outputs_on_host) flag = 1;
      $weights_set$
      aotc_status status = $name$_create(self, &config);
      if (status != AOTC_OK) return status;
      status = $name$_device_stream_create(&self->stream);
      if (status != AOTC_OK) $name$_destroy(self);
      return status;
    }

    aotc_status destroy(void *instance) { return $name$_destroy(($name$_instance *)instance); })",
         {{"name", m.prefix},
          {"weights_param", loads ? StrCat(", const ", m.prefix, "_weights *weights") : ""},
          {"weights_set", loads ? "config.weights = weights;" : ""}});
  w.Line();
}

// create(), which waits for set_weights() where the weights are a file.
void EmitCudaCreate(const EmitContext& context, CodeWriter& w) {
  const ModelInterface& m = context.interface;
  if (context.LoadsWeights()) {
    w.Emit(R"(
      aotc_status create(void *instance) {
        if (!aotc_usable(instance, alignof(void *))) return AOTC_ERROR_POINTER;
        *($name$_instance *)instance = {};
        return AOTC_OK;
      }

      // The weights go to the device here: `data` is not needed afterwards.
      aotc_status set_weights(void *instance, const void *data, size_t bytes) {
        $name$_weights weights;
        aotc_status status = $name$_load(&weights, data, bytes);
        if (status == AOTC_OK) status = $name$_destroy(($name$_instance *)instance);
        if (status == AOTC_OK) status = prepare(($name$_instance *)instance, &weights);
        return status;
      })",
           {{"name", m.prefix}});
  } else {
    w.Emit("aotc_status create(void *instance) { return prepare(($name$_instance *)instance); }",
           {{"name", m.prefix}});
  }
  w.Line();
}

}  // namespace

absl::Status EmitCudaTable(const EmitContext& context, CodeWriter& w) {
  const ModelInterface& m = context.interface;
  w.Line("namespace {\n");
  EmitTableBinding(context, w);
  AOTC_RETURN_IF_ERROR(EmitBundles(context, w));
  EmitCudaRun(context, w);
  EmitInstance(context, w);
  EmitCudaCreate(context, w);
  TableRows rows{.arena_bytes = "0", .arena_align = "1"};
  if (HasBundles(context)) {
    rows.arena_bytes = StrCat(BytesOfParts(context), "u");
    rows.arena_align = "64u";
  }
  rows.instance_bytes = StrCat("sizeof(", m.prefix, "_instance)");
  if (context.LoadsWeights()) rows.set_weights = "set_weights";
  EmitTable(context, rows, w);
  return absl::OkStatus();
}

}  // namespace aotc
