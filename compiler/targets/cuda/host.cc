// The record of the CUDA target's host programs, and what they add to the public header and to the
// build file.
#include "compiler/targets/cuda/host.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "compiler/emit/host_control.h"
#include "compiler/emit/host_parts.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

std::string Usage(int arch) {
  return StrCat("*\n* Needs a device of compute capability ", arch / 10, ".", arch % 10,
                " or later, and toolkit 11.8 or later.");
}

void Capturable(const EmitContext& context, CodeWriter& w) {
  const ModelInterface& m = context.interface;
  const bool waits = std::ranges::count(StepsThatWait(context.program), true) > 0;
  w.Emit(waits ? R"(
    /* 0: $name$_enqueue waits where data of the device decides which steps run (the steps that
     * have `waits` in metadata.json), and cannot be captured in a CUDA graph. */
    #define $NAME$_CAPTURABLE 0
    )"
               : R"(
    /* 1: no step waits for the device, and $name$_enqueue may be captured in a CUDA graph. */
    #define $NAME$_CAPTURABLE 1
    )",
         {{"name", m.prefix}, {"NAME", m.macro}});
  if (context.options.profile) w.Line("/* A run that tells of its steps may not be captured. */");
  w.Line();
}

// Members of an instance: what its last run is asked about when it is over.
std::string WhatIsWatched(const EmitContext& context, size_t checks) {
  const bool marks = MarksSteps(context);
  return StrCat(checks == 0 ? ""
                            : "void *checks; /* pinned bytes of the last enqueue: 0 where an "
                              "index was out of range */",
                checks > 0 && marks ? "\n" : "", marks ? "aotc_profile_events events;" : "");
}

void Functions(const EmitContext& context, CodeWriter& w) {
  const ModelInterface& m = context.interface;
  Capturable(context, w);
  const size_t checks = LateChecks(context.program);
  w.Emit(
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
      $capability$
      uint8_t inputs_on_host[$inputs$], outputs_on_host[$outputs$];
      $watch$
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
      {{"name", m.prefix},
       {"NAME", m.macro},
       {"capability", AsksForCapability(context.program)
                          ? "int32_t capability; /* of the device, times ten */"
                          : ""},
       {"inputs", StrCat(std::max<size_t>(1, m.inputs.size()))},
       {"outputs", StrCat(std::max<size_t>(1, m.outputs.size()))},
       {"watch", WhatIsWatched(context, checks)},
       {"value", checks == 0 ? "" : ", unless an index was out of range"},
       {"weights_member", context.LoadsWeights()
                              ? StrCat("const ", m.prefix, "_weights *weights; /* from load */")
                              : ""}});
  w.Line();
}

std::string CudaSources(const std::vector<std::string>& sources) {
  std::vector<std::string> found;
  std::copy_if(sources.begin(), sources.end(), std::back_inserter(found),
               [](const std::string& path) { return absl::EndsWith(path, ".cu"); });
  return StrJoin(found, " ");
}

void Language(const std::vector<std::string>& arch, const std::vector<std::string>& sources,
              CodeWriter& w) {
  std::string set_arch;
  if (!arch.empty()) {
    set_arch = StrCat("if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)\n  set(CMAKE_CUDA_ARCHITECTURES ",
                      StrJoin(arch, " "), ")\nendif()");
  }
  w.Emit(R"(

    option(AOTC_CUDA_EMULATE "Run the kernels on the CPU, compiled as plain C++" OFF)
    if(AOTC_CUDA_EMULATE)
      set_source_files_properties($sources$
        PROPERTIES LANGUAGE CXX COMPILE_OPTIONS "-x;c++")
    else()
      $set_arch$
      enable_language(CUDA)
    endif())",
         {{"sources", CudaSources(sources)}, {"set_arch", set_arch}});
}

void Properties(const EmitContext& context, CodeWriter& w) {
  w.Emit(R"(
    set_target_properties($name$ PROPERTIES CUDA_STANDARD 17 CUDA_STANDARD_REQUIRED ON)
    if(AOTC_CUDA_EMULATE)
      target_compile_definitions($name$ PRIVATE AOTC_CUDA_EMULATE)
      find_package(Threads REQUIRED)
      target_link_libraries($name$ PUBLIC Threads::Threads)
    endif())",
         {{"name", context.interface.prefix}});
}

absl::StatusOr<OutputFiles> Sources(const EmitContext& context) {
  const std::string& name = context.interface.prefix;
  OutputFiles files;
  AOTC_ASSIGN_OR_RETURN(files[name + ".cpp"], EmitCudaHost(context));
  files[name + "_device.cu"] = EmitCudaDevice(context);
  return files;
}

}  // namespace

HostWriter CudaHost(const std::vector<std::string>& archs, int least_arch) {
  return {.target = "cuda",
          .machines = "CUDA",
          .has_device = true,
          .usage = [least_arch](const EmitContext&) { return Usage(least_arch); },
          .functions = Functions,
          .profile_header = "#include \"aotc/profile_events.h\"",
          .sources = Sources,
          .toolkit = ", the CUDA toolkit,",
          .language = [archs](const std::vector<std::string>& sources,
                              CodeWriter& w) { Language(archs, sources, w); },
          .properties = Properties};
}

}  // namespace aotc
