// What the files of a model declare behind its prefix, besides kernels: `mobilenet_run`.
#ifndef AOTC_COMPILER_SUPPORT_INTERFACE_NAMES_H_
#define AOTC_COMPILER_SUPPORT_INTERFACE_NAMES_H_

#include <string_view>

#include "compiler/support/names.h"

namespace aotc {

inline constexpr std::string_view kInterfaceNames[] = {"config",
                                                       "create",
                                                       "destroy",
                                                       "device_allocate",
                                                       "device_allocate_pinned",
                                                       "device_capability",
                                                       "device_copy",
                                                       "device_event_create",
                                                       "device_event_destroy",
                                                       "device_event_record",
                                                       "device_event_time",
                                                       "device_free",
                                                       "device_free_pinned",
                                                       "device_stream_create",
                                                       "device_stream_destroy",
                                                       "device_wait",
                                                       "dims",
                                                       "enqueue",
                                                       "finish",
                                                       "inputs",
                                                       "instance",
                                                       "load",
                                                       "model",
                                                       "outputs",
                                                       "pool_create",
                                                       "pool_destroy",
                                                       "pools",
                                                       "run",
                                                       "run_mt",
                                                       "run_pools",
                                                       "run_pools_mt",
                                                       "run_profiled",
                                                       "weights",
                                                       "weights_blob",
                                                       "work"};

// A table in which these names are taken.
inline NameTable TakenByInterface() {
  NameTable taken;
  for (std::string_view name : kInterfaceNames) taken.Reserve(name);
  return taken;
}

}  // namespace aotc

#endif  // AOTC_COMPILER_SUPPORT_INTERFACE_NAMES_H_
