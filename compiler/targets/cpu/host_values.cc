// Entry points of some CPU models: of those whose values are not the tensors of their steps, and
// of those whose weights are a file.
#include "compiler/emit/host_parts.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cpu/host.h"

namespace aotc {

void EmitRunsOfValues(const EmitContext& context, const std::string& weights, CodeWriter& w) {
  const ModelInterface& m = context.interface;
  w.Emit(R"(
    aotc_status $name$_run_mt($weights$const $name$_inputs *in, $name$_outputs *out, void *arena,
                              const aotc_parallel *parallel) {
      if (!aotc_usable(arena, $NAME$_ARENA_ALIGN)) return AOTC_ERROR_POINTER;
      tensor_inputs given = {};
      tensor_outputs made = {};
      aotc_status status = pack(in, out, (uint8_t *)arena + $parts$, &given, &made);
      if (status == AOTC_OK) status = run_tensors_mt($loaded$&given, &made, arena, parallel);
      return status == AOTC_OK ? unpack(&made, out) : status;
    }

    aotc_status $name$_run($weights$const $name$_inputs *in, $name$_outputs *out, void *arena) {
      return $name$_run_mt($loaded$in, out, arena, nullptr);
    }
    )",
         {{"name", m.prefix},
          {"NAME", m.macro},
          {"weights", weights},
          {"loaded", weights.empty() ? "" : "loaded, "},
          {"parts", StrCat(m.parts_begin)}});
  w.Line();
}

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

}  // namespace aotc
