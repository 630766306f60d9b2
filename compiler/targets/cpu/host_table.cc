// How a run of a CPU model comes in through the table of aotc/model.h.
#include "compiler/emit/bundles.h"
#include "compiler/emit/host_parts.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cpu/host.h"

namespace aotc {
namespace {

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

std::string RunLines(const EmitContext& context, bool loads) {
  const ModelInterface& m = context.interface;
  const std::string call =
      StrCat(m.prefix, context.HasThreads() ? "_run_mt(" : "_run(",
             loads ? StrCat("(const ", m.prefix, "_weights *)instance, ") : "",
             context.HasThreads() ? "&in, &out, arena, parallel);" : "&in, &out, arena);");
  if (!HasLateOutputs(m) && !HasBundles(context)) return StrCat("return ", call);
  CodeWriter w;
  w.Line(StrCat("aotc_status end = ", call));
  DescribeLateOutputs(m, w);
  if (HasBundles(context)) w.Line("if (end == AOTC_OK) end = give_values(outputs, lent);");
  w.Line("return end;");
  return w.Take();
}

std::string RoundedArena(const EmitContext& context) {
  return StrCat("((", context.interface.macro, "_ARENA_BYTES + 63u) / 64u * 64u)");
}

// The arena of the table is that of the model, with room for the parts of values behind it.
std::string TakeLines(const EmitContext& context) {
  if (!HasBundles(context)) return "";
  CodeWriter w;
  w.Line("if (!aotc_usable(arena, 64)) return AOTC_ERROR_POINTER;");
  EmitTakeValues(context, StrCat("(uint8_t *)arena + ", RoundedArena(context)), w);
  return w.Take();
}

}  // namespace

absl::Status EmitCpuTable(const EmitContext& context, CodeWriter& w) {
  const ModelInterface& m = context.interface;
  const bool loads = context.LoadsWeights();
  const ProfiledRun profiled = ProfiledRunOf(context);
  const std::string use_instance =
      loads ? "if (!aotc_usable(instance, alignof(void *))) return AOTC_ERROR_POINTER;" : "";
  w.Line("namespace {\n");
  EmitTableBinding(context, w);
  AOTC_RETURN_IF_ERROR(EmitBundles(context, w));
  w.Emit(R"(
    aotc_status $function$(void *$instance$, const aotc_value *$inputs$, aotc_value *$outputs$,
                           void *arena, const aotc_parallel *$parallel$$profile$) {
      $use_instance$
      if ($given$) return AOTC_ERROR_POINTER;
      $take$
      $name$_inputs in = {};
      $name$_outputs out = {};
      const aotc_status status = bind(inputs, outputs, &in, &out);
      if (status != AOTC_OK) return status;
      $tell$
      $run$
    }
    )",
         {{"name", m.prefix},
          {"function", profiled.name},
          {"profile", profiled.parameter},
          {"tell", profiled.give},
          {"instance", loads ? "instance" : ""},
          {"use_instance", use_instance},
          {"inputs", RunValuesOf(context).inputs},
          {"outputs", RunValuesOf(context).outputs},
          {"parallel", context.HasThreads() ? "parallel" : ""},
          {"given", NothingGiven(context)},
          {"take", TakeLines(context)},
          {"run", RunLines(context, loads)}});
  w.Line();
  EmitPlainRun(context, w);
  if (loads) {
    EmitLoadedInstance(context, w);
    w.Line();
  } else {
    w.Line("aotc_status create(void *) { return AOTC_OK; }\n");
    w.Line("aotc_status destroy(void *) { return AOTC_OK; }\n");
  }
  TableRows rows{.arena_bytes = m.macro + "_ARENA_BYTES", .arena_align = m.macro + "_ARENA_ALIGN"};
  if (HasBundles(context)) {
    rows.arena_bytes = StrCat(RoundedArena(context), " + ", BytesOfParts(context), "u");
    rows.arena_align = "64u";
  }
  if (context.HasThreads()) {
    rows.pool_create = m.prefix + "_pool_create";
    rows.pool_destroy = m.prefix + "_pool_destroy";
  }
  if (loads) rows.instance_bytes = StrCat("sizeof(", m.prefix, "_weights)");
  if (loads) rows.set_weights = "set_weights";
  EmitTable(context, rows, w);
  return absl::OkStatus();
}

}  // namespace aotc
