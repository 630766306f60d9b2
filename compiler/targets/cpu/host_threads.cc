// NAME_pool.cpp: what a CPU model needs to offer threads of its own.
#include "compiler/targets/cpu/host.h"

namespace aotc {

std::string EmitCpuThreads(const EmitContext& context) {
  CodeWriter w;
  w.Emit(R"(
    // $name$: a pool of threads for callers that have none to lend. Only making and ending it allocates.
    #include "aotc/pool.h"

    #include "$name$.h"

    aotc_status $name$_pool_create(int32_t workers, aotc_parallel *pool) {
      return aotc_pool_create(workers, pool);
    }

    void $name$_pool_destroy(aotc_parallel *pool) { aotc_pool_destroy(pool); })",
         {{"name", context.interface.prefix}});
  return w.Take();
}

}  // namespace aotc
