// What a CUDA model that tells of its steps (--profile) has: events of the instance, recorded on
// the stream in front of each step and behind it, and looked at when the run is over.
#include <algorithm>

#include "compiler/support/strings.h"
#include "compiler/targets/cuda/host.h"

namespace aotc {

bool IsMarked(const EmitContext& context, const Step& step) {
  switch (step.kind) {
    case StepKind::kLaunch:
    case StepKind::kCopy:
    case StepKind::kDecode:
    case StepKind::kCheck: return context.options.profile;
    default: return false;  // nothing of it is queued
  }
}

bool MarksSteps(const EmitContext& context) {
  return std::ranges::any_of(context.program.steps,
                             [&](const Step& step) { return IsMarked(context, step); });
}

void DeclareDeviceEvents(const EmitContext& context, CodeWriter& w) {
  if (!MarksSteps(context)) return;
  w.Emit(R"(
    $NAME$_LOCAL aotc_status $name$_device_event_create(struct CUevent_st **event);
    $NAME$_LOCAL aotc_status $name$_device_event_destroy(struct CUevent_st *event);
    $NAME$_LOCAL aotc_status $name$_device_event_record(struct CUevent_st *event,
                                                        struct CUstream_st *stream);
    $NAME$_LOCAL aotc_status $name$_device_event_time(struct CUevent_st *from,
                                                      struct CUevent_st *to,
                                                      uint64_t *nanoseconds);)",
         {{"name", context.interface.prefix}, {"NAME", context.interface.macro}});
  w.Line();
}

void EmitDeviceEvents(const EmitContext& context, CodeWriter& w) {
  if (!MarksSteps(context)) return;
  w.Line();
  w.Emit(R"(
    aotc_status $name$_device_event_create(struct CUevent_st **event) {
      return aotc_cuda_status(cudaEventCreate(event));
    }

    aotc_status $name$_device_event_destroy(struct CUevent_st *event) {
      return event == nullptr ? AOTC_OK : aotc_cuda_status(cudaEventDestroy(event));
    }

    aotc_status $name$_device_event_record(struct CUevent_st *event, struct CUstream_st *stream) {
      return aotc_cuda_status(cudaEventRecord(event, stream));
    }

    // Waits for the second event.
    aotc_status $name$_device_event_time(struct CUevent_st *from, struct CUevent_st *to,
                                         uint64_t *nanoseconds) {
      float milliseconds = 0.0f;
      cudaError_t error = cudaEventSynchronize(to);
      if (error == cudaSuccess) error = cudaEventElapsedTime(&milliseconds, from, to);
      *nanoseconds = (uint64_t)((double)milliseconds * 1e6);
      return aotc_cuda_status(error);
    })",
         {{"name", context.interface.prefix}});
}

void EmitMarks(const EmitContext& context, CodeWriter& w) {
  if (!MarksSteps(context)) return;
  w.Emit(R"(
    // Tells of the steps that are marked, for which it waits.
    aotc_status tell_steps(aotc_profile_events *events) {
      aotc_status status = AOTC_OK;
      for (int32_t i = 0; i < events->count && status == AOTC_OK; ++i) {
        uint64_t begin = 0, end = 0;
        status = $name$_device_event_time(events->start, events->begin[i], &begin);
        if (status == AOTC_OK) {
          status = $name$_device_event_time(events->start, events->end[i], &end);
        }
        if (status != AOTC_OK) break;
        events->profile->step(events->profile->context, events->steps[i], 0, begin, end);
      }
      events->count = 0;
      return status;
    }

    aotc_status start_steps(aotc_profile_events *events, const aotc_profile *profile,
                            struct CUstream_st *stream) {
      events->profile = profile;
      events->count = 0;
      return profile == nullptr ? AOTC_OK : $name$_device_event_record(events->start, stream);
    }

    aotc_status begin_step(aotc_profile_events *events, struct CUstream_st *stream) {
      if (events->profile == nullptr) return AOTC_OK;
      const aotc_status status =
          events->count < AOTC_PROFILE_STEPS ? AOTC_OK : tell_steps(events);
      if (status != AOTC_OK) return status;
      return $name$_device_event_record(events->begin[events->count], stream);
    }

    aotc_status end_step(aotc_profile_events *events, int32_t step, struct CUstream_st *stream) {
      if (events->profile == nullptr) return AOTC_OK;
      events->steps[events->count] = step;
      return $name$_device_event_record(events->end[events->count++], stream);
    }
    )",
         {{"name", context.interface.prefix}});
  w.Line();
}

std::string CreateEvents(const EmitContext& context) {
  if (!MarksSteps(context)) return "";
  CodeWriter w;
  w.Emit(R"(
    if (status == AOTC_OK) status = $name$_device_event_create(&self->events.start);
    for (int32_t i = 0; status == AOTC_OK && i < AOTC_PROFILE_STEPS; ++i) {
      status = $name$_device_event_create(&self->events.begin[i]);
      if (status == AOTC_OK) status = $name$_device_event_create(&self->events.end[i]);
    })",
         {{"name", context.interface.prefix}});
  return w.Take();
}

std::string DestroyEvents(const EmitContext& context) {
  if (!MarksSteps(context)) return "";
  CodeWriter w;
  w.Emit(R"(
    $name$_device_event_destroy(self->events.start);
    for (int32_t i = 0; i < AOTC_PROFILE_STEPS; ++i) {
      $name$_device_event_destroy(self->events.begin[i]);
      $name$_device_event_destroy(self->events.end[i]);
    })",
         {{"name", context.interface.prefix}});
  return w.Take();
}

}  // namespace aotc
