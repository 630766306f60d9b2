// What a CPU host program does with its memory: one arena, or several pools.
#include "compiler/support/strings.h"
#include "compiler/targets/cpu/host.h"

namespace aotc {

HostMemory HostMemoryOf(const EmitContext& context) {
  if (context.program.pools.empty()) {
    return {"void *arena", "arena", "run", "uint8_t *arena;", "self->arena = (uint8_t *)arena;"};
  }
  const std::string type = context.interface.prefix + "_pools";
  return {StrCat("const ", type, " *pools"), "pools", "run_pools", type + " pools;",
          "self->pools = *pools;"};
}

void CheckMemory(const EmitContext& context, CodeWriter& w) {
  const std::string align = context.interface.macro + "_ARENA_ALIGN";
  const Program& program = context.program;
  const auto check = [&](const std::string& memory, int64_t bytes) {
    if (bytes == 0) return;
    w.Line(StrCat("if (!aotc_usable(", memory, ", ", align, ")) return AOTC_ERROR_POINTER;"));
  };
  if (program.pools.empty()) return check("arena", program.arena_bytes);
  w.Line("if (pools == nullptr) return AOTC_ERROR_POINTER;");
  for (const Pool& pool : program.pools) check("pools->" + pool.name, pool.bytes);
}

void EmitPoolsOfArena(const EmitContext& context, CodeWriter& w) {
  if (context.program.pools.empty()) return;
  const auto place = [](const Pool& pool) { return StrCat("begin + ", pool.offset); };
  w.Emit(R"(
    // The pools one after another in one memory.
    $name$_pools pools_of(void *arena) {
      if (arena == nullptr) return {};
      uint8_t *begin = (uint8_t *)arena;
      return {$places$};
    }
    )",
         {{"name", context.interface.prefix},
          {"places", StrJoin(context.program.pools, ", ", place)}});
}

void EmitRunsInOneArena(const EmitContext& context, CodeWriter& w) {
  if (context.program.pools.empty()) return;
  const bool loads = context.LoadsWeights();
  const auto emit = [&](std::string_view text) {
    w.Emit(text, {{"name", context.interface.prefix},
                  {"weights", WeightsParameter(context)},
                  {"loaded", loads ? "loaded, " : ""}});
    w.Line();
  };
  emit(R"(
    aotc_status $name$_run($weights$const $name$_inputs *in, $name$_outputs *out, void *arena) {
      const $name$_pools pools = pools_of(arena);
      return $name$_run_pools($loaded$in, out, &pools);
    }
    )");
  if (!context.HasThreads()) return;
  emit(R"(
    aotc_status $name$_run_mt($weights$const $name$_inputs *in, $name$_outputs *out, void *arena,
                              const aotc_parallel *parallel) {
      const $name$_pools pools = pools_of(arena);
      return $name$_run_pools_mt($loaded$in, out, &pools, parallel);
    }
    )");
}

}  // namespace aotc
