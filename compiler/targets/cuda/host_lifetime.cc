// What makes, waits for and ends an instance of a CUDA model: create, finish and destroy.
#include "compiler/support/strings.h"
#include "compiler/targets/cuda/host.h"

namespace aotc {
namespace {

// Lines of finish() that wait, and look at what the checks found.
std::string Finish(const EmitContext& context, size_t checks) {
  const bool tells = MarksSteps(context);
  const std::string wait =
      StrCat(tells ? "" : "const ", "aotc_status status = ", context.interface.prefix,
             "_device_wait(self->last);\nself->last = nullptr;\n",
             tells ? "if (status == AOTC_OK) status = tell_steps(&self->events);\n"
                     "self->events.count = 0;\n"
                   : "");
  if (checks == 0) return wait + "return status;";
  return StrCat(wait, "const uint8_t *checks = (const uint8_t *)self->checks;\n",
                "for (size_t i = 0; i < ", checks,
                "; ++i) {\n  if (status == AOTC_OK && checks[i] == 0) return "
                "AOTC_ERROR_VALUE;\n}\nreturn status;");
}

// Lines of create() that make the checks of no run.
std::string MakeChecks(const std::string& name, size_t checks) {
  if (checks == 0) return "";
  return StrCat("if (status == AOTC_OK) status = ", name, "_device_allocate_pinned(&self->checks, ",
                checks, ");\n", "for (size_t i = 0; status == AOTC_OK && i < ", checks,
                "; ++i) ((uint8_t *)self->checks)[i] = 1;");
}

// Lines of create() that fill in what launches choose by, and make events for those who watch.
std::string PrepareLaunches(const EmitContext& context) {
  std::string events = CreateEvents(context);
  if (!AsksForCapability(context.program)) return events;
  return StrCat("if (status == AOTC_OK) status = ", context.interface.prefix,
                "_device_capability(&self->capability);", events.empty() ? "" : "\n", events);
}

}  // namespace

void EmitCudaLifetime(const EmitContext& context, size_t checks, CodeWriter& w) {
  const std::string& name = context.interface.prefix;
  w.Emit(
      R"(
    aotc_status $name$_create($name$_instance *self, const $name$_config *config) {
      if (!aotc_usable(self, alignof(void *))) return AOTC_ERROR_POINTER;
      *self = {};
      $name$_config given = {};
      if (config != nullptr) given = *config;
      aotc_status status = AOTC_OK;
      $weights$
      $make_checks$
      $launches$
      if (status == AOTC_OK && given.own_arena != 0) {
        status = $name$_device_allocate(&self->device_arena, $NAME$_DEVICE_ARENA_BYTES);
      }
      bool on_host = false;
      for (size_t i = 0; i < sizeof given.inputs_on_host; ++i) {
        self->inputs_on_host[i] = given.inputs_on_host[i];
        on_host = on_host || given.inputs_on_host[i] != 0;
      }
      for (size_t i = 0; i < sizeof given.outputs_on_host; ++i) {
        self->outputs_on_host[i] = given.outputs_on_host[i];
        on_host = on_host || given.outputs_on_host[i] != 0;
      }
      if (status == AOTC_OK && on_host) status = $name$_device_allocate(&self->staging, staged::bytes);
      self->ready = 1;
      if (status != AOTC_OK) $name$_destroy(self);
      return status;
    }

    aotc_status $name$_destroy($name$_instance *self) {
      if (!aotc_usable(self, alignof(void *))) return AOTC_ERROR_POINTER;
      aotc_status status = AOTC_OK;
      if (self->ready != 0) status = $name$_device_wait(self->last);
      if (self->owns_weights != 0) $name$_device_free(self->device_weights);
      $name$_device_free(self->device_arena);
      $name$_device_free(self->staging);
      $free_checks$
      $destroy_events$
      if (self->stream != nullptr) $name$_device_stream_destroy(self->stream);
      *self = {};
      return status;
    }

    aotc_status $name$_finish($name$_instance *self) {
      if (!aotc_usable(self, alignof(void *)) || self->ready == 0) return AOTC_ERROR_POINTER;
      $checked$
    })",
      {{"name", name},
       {"NAME", context.interface.macro},
       {"weights", BringCudaWeights(context)},
       {"make_checks", MakeChecks(name, checks)},
       {"destroy_events", DestroyEvents(context)},
       {"launches", PrepareLaunches(context)},
       {"free_checks", checks > 0 ? StrCat(name, "_device_free_pinned(self->checks);") : ""},
       {"checked", Finish(context, checks)}});
  w.Line();
}

}  // namespace aotc
