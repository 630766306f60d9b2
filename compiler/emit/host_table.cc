// The table of aotc/model.h: how a run comes in through it, per target, and its rows.
#include "compiler/emit/host_parts.h"
#include "compiler/support/literals.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// "inputs == nullptr || outputs == nullptr", of those that exist.
std::string NothingGiven(const ModelInterface& m) {
  std::vector<std::string> wrong;
  if (!m.inputs.empty()) wrong.push_back("inputs == nullptr");
  if (!m.outputs.empty()) wrong.push_back("outputs == nullptr");
  return wrong.empty() ? "false" : StrJoin(wrong, " || ");
}

// What differs between the tables of targets.
struct TableRows {
  std::string arena_bytes;
  std::string arena_align;
  std::string instance_bytes = "0";
  std::string pool_create = "nullptr";
  std::string pool_destroy = "nullptr";
  std::string set_weights = "nullptr";
};

void EmitRows(const EmitContext& context, const TableRows& rows, CodeWriter& w) {
  const ModelInterface& m = context.interface;
  w.Emit(R"(
    const aotc_model table = {
        AOTC_ABI_VERSION,
        "$name$",
        $producer$,
        $input_count$,
        $output_count$,
        $inputs$,
        $outputs$,
        $arena_bytes$,
        $arena_align$,
        $instance$,
        create,
        run,
        destroy,
        $pool_create$,
        $pool_destroy$,
        aotc_status_text,
        $set_weights$,
    };

    }  // namespace

    const aotc_model *$name$_model(void) { return &table; })",
         {{"name", m.prefix},
          {"producer", StringLiteral(StrCat("aotc ", context.options.provenance.aotc_version))},
          {"input_count", StrCat(m.inputs.size())},
          {"output_count", StrCat(m.outputs.size())},
          {"inputs", m.inputs.empty() ? "nullptr" : "input_infos"},
          {"outputs", m.outputs.empty() ? "nullptr" : "output_infos"},
          {"arena_bytes", rows.arena_bytes},
          {"arena_align", rows.arena_align},
          {"instance", rows.instance_bytes},
          {"pool_create", rows.pool_create},
          {"pool_destroy", rows.pool_destroy},
          {"set_weights", rows.set_weights}});
}

// The instance of a CPU model whose weights are a file: where they lie.
void EmitLoadedInstance(const EmitContext& context, CodeWriter& w) {
  w.Emit(R"(
    aotc_status create(void *instance) {
      if (!aotc_usable(instance, alignof(void *))) return AOTC_ERROR_POINTER;
      (($name$_weights *)instance)->data = nullptr;
      return AOTC_OK;
    }

    aotc_status destroy(void *instance) { return create(instance); }

    aotc_status set_weights(void *instance, const void *data, size_t bytes) {
      if (!aotc_usable(instance, alignof(void *))) return AOTC_ERROR_POINTER;
      return $name$_load(($name$_weights *)instance, data, bytes);
    }
    )",
         {{"name", context.interface.prefix}});
}

// run(), and what makes and ends an instance of a CUDA model.
void EmitCudaRun(const EmitContext& context, CodeWriter& w) {
  const ModelInterface& m = context.interface;
  const bool loads = context.LoadsWeights();
  w.Emit(R"(
    aotc_status run(void *instance, const aotc_value *inputs, aotc_value *outputs, void *,
                    const aotc_parallel *) {
      $name$_instance *self = ($name$_instance *)instance;
      if (!aotc_usable(self, alignof(void *))) return AOTC_ERROR_POINTER;
      if (self->ready == 0) return $not_ready$;
      if ($given$) return AOTC_ERROR_POINTER;
      $name$_inputs in = {};
      $name$_outputs out = {};
      aotc_status status = bind(inputs, outputs, &in, &out);
      if (status != AOTC_OK) return status;
      status = $name$_enqueue(self, &in, &out, nullptr, self->stream);
      const aotc_status end = $name$_finish(self);
      return status != AOTC_OK ? status : end;
    }

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
          {"not_ready", loads ? "AOTC_ERROR_WEIGHTS" : "AOTC_ERROR_POINTER"},
          {"given", NothingGiven(m)},
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

void EmitCpuTable(const EmitContext& context, CodeWriter& w) {
  const ModelInterface& m = context.interface;
  const bool loads = context.LoadsWeights();
  const std::string use_instance =
      loads ? "if (!aotc_usable(instance, alignof(void *))) return AOTC_ERROR_POINTER;" : "";
  w.Line("namespace {\n");
  EmitTableBinding(context, w);
  w.Emit(R"(
    aotc_status run(void *$instance$, const aotc_value *inputs, aotc_value *outputs, void *arena,
                    const aotc_parallel *parallel) {
      $use_instance$
      if ($given$) return AOTC_ERROR_POINTER;
      $name$_inputs in = {};
      $name$_outputs out = {};
      const aotc_status status = bind(inputs, outputs, &in, &out);
      if (status != AOTC_OK) return status;
      return $name$_run_mt($loaded$&in, &out, arena, parallel);
    }
    )",
         {{"name", m.prefix},
          {"instance", loads ? "instance" : ""},
          {"use_instance", use_instance},
          {"given", NothingGiven(m)},
          {"loaded", loads ? StrCat("(const ", m.prefix, "_weights *)instance, ") : ""}});
  w.Line();
  if (loads) {
    EmitLoadedInstance(context, w);
    w.Line();
  } else {
    w.Line("aotc_status create(void *) { return AOTC_OK; }\n");
    w.Line("aotc_status destroy(void *) { return AOTC_OK; }\n");
  }
  TableRows rows{.arena_bytes = m.macro + "_ARENA_BYTES", .arena_align = m.macro + "_ARENA_ALIGN"};
  rows.pool_create = m.prefix + "_pool_create";
  rows.pool_destroy = m.prefix + "_pool_destroy";
  if (loads) rows.instance_bytes = StrCat("sizeof(", m.prefix, "_weights)");
  if (loads) rows.set_weights = "set_weights";
  EmitRows(context, rows, w);
}

void EmitCudaTable(const EmitContext& context, CodeWriter& w) {
  const ModelInterface& m = context.interface;
  w.Line("namespace {\n");
  EmitTableBinding(context, w);
  EmitCudaRun(context, w);
  EmitCudaCreate(context, w);
  TableRows rows{.arena_bytes = "0", .arena_align = "1"};
  rows.instance_bytes = StrCat("sizeof(", m.prefix, "_instance)");
  if (context.LoadsWeights()) rows.set_weights = "set_weights";
  EmitRows(context, rows, w);
}

}  // namespace aotc
