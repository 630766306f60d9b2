// The record of the CPU target's host programs, and what they add to the public header.
#include "compiler/targets/cpu/host.h"

#include "compiler/emit/host_parts.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

std::string Usage(const EmitContext& context) {
  const ModelInterface& m = context.interface;
  CodeWriter usage;
  usage.Emit(R"(
    *
    *   $name$_inputs in = {...};
    *   $name$_outputs out = {...};
    *   void *arena = aligned_alloc($NAME$_ARENA_ALIGN, $NAME$_ARENA_BYTES);
    *   aotc_status status = $name$_run($weights$&in, &out, arena);)",
             {{"name", m.prefix},
              {"NAME", m.macro},
              {"weights", context.LoadsWeights() ? "&weights, " : ""}});
  std::string text = usage.Take();
  text.pop_back();
  return text;
}

// Declarations in which `$weights$` stands for the weights that the user loads.
void Declare(const EmitContext& context, std::string_view text, CodeWriter& w) {
  const ModelInterface& m = context.interface;
  const std::string weights =
      context.LoadsWeights() ? StrCat("const ", m.prefix, "_weights *weights, ") : "";
  w.Emit(text, {{"name", m.prefix}, {"NAME", m.macro}, {"weights", weights}});
  w.Line();
}

constexpr std::string_view kRun = R"(
  /* Runs the model once, in the calling thread. Several threads may run it at the same time,
   * each with an arena of its own. */
  aotc_status $name$_run($weights$const $name$_inputs *in, $name$_outputs *out, void *arena);
  )";

constexpr std::string_view kRunOnWorkers = R"(
  /* The same on the workers that `parallel` lends; NULL means the calling thread alone. */
  aotc_status $name$_run_mt($weights$const $name$_inputs *in, $name$_outputs *out, void *arena,
                            const aotc_parallel *parallel);
  )";

constexpr std::string_view kRunPools = R"(
  /* $name$_run with a memory for each pool in place of one arena for all. */
  aotc_status $name$_run_pools($weights$const $name$_inputs *in, $name$_outputs *out,
                               const $name$_pools *pools);
  )";

constexpr std::string_view kRunPoolsOnWorkers = R"(
  /* $name$_run_mt likewise. */
  aotc_status $name$_run_pools_mt($weights$const $name$_inputs *in, $name$_outputs *out,
                                  const $name$_pools *pools, const aotc_parallel *parallel);
  )";

constexpr std::string_view kThreads = R"(
  /* Threads for callers that have none to lend. Create and destroy allocate, runs do not. */
  aotc_status $name$_pool_create(int32_t workers, aotc_parallel *pool);
  void $name$_pool_destroy(aotc_parallel *pool);)";

// A memory for each pool, and the functions that take them.
void PoolFunctions(const EmitContext& context, CodeWriter& w) {
  const ModelInterface& m = context.interface;
  w.Emit("/* The pools, each aligned to $NAME$_ARENA_ALIGN; NULL where it has no bytes. */",
         {{"NAME", m.macro}});
  {
    auto block = w.Block("typedef struct {", StrCat("} ", m.prefix, "_pools;\n"));
    for (const Pool& pool : context.program.pools) w.Line(StrCat("void *", pool.name, ";"));
  }
  Declare(context, kRunPools, w);
  if (context.HasThreads()) Declare(context, kRunPoolsOnWorkers, w);
}

void Functions(const EmitContext& context, CodeWriter& w) {
  Declare(context, kRun, w);
  if (context.HasThreads()) Declare(context, kRunOnWorkers, w);
  if (!context.program.pools.empty()) PoolFunctions(context, w);
  if (context.HasThreads()) Declare(context, kThreads, w);
}

void Sizes(const EmitContext& context, CodeWriter& w) {
  if (!context.HasThreads()) return;
  w.Emit(R"(
    /* Workers that the arena has room for; further ones stand idle. */
    #define $NAME$_MAX_WORKERS $workers$)",
         {{"NAME", context.interface.macro}, {"workers", StrCat(context.program.max_workers)}});
}

void LinkThreads(const EmitContext& context, CodeWriter& w) {
  if (!context.HasThreads()) return;
  w.Emit(R"(
    find_package(Threads REQUIRED)
    target_link_libraries($name$ PUBLIC Threads::Threads))",
         {{"name", context.interface.prefix}});
}

absl::StatusOr<OutputFiles> Sources(const EmitContext& context) {
  const std::string& name = context.interface.prefix;
  OutputFiles files;
  AOTC_ASSIGN_OR_RETURN(files[name + ".cpp"], EmitCpuHost(context));
  if (context.HasThreads()) files[name + "_pool.cpp"] = EmitCpuThreads(context);
  return files;
}

}  // namespace

HostWriter CpuHost() {
  return {.target = "cpu",
          .machines = "CPUs",
          .usage = Usage,
          .sizes = Sizes,
          .functions = Functions,
          .profile_header = "#include \"aotc/profile.h\"",
          .sources = Sources,
          .properties = LinkThreads};
}

}  // namespace aotc
