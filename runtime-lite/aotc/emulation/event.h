// Events, and stream capture into graphs of one stream.
#ifndef AOTC_EMULATION_EVENT_H_
#define AOTC_EMULATION_EVENT_H_

#include "aotc/emulation/stream.h"

enum {
  cudaStreamDefault = 0,
  cudaStreamNonBlocking = 1,
  cudaEventDefault = 0,
  cudaEventDisableTiming = 2,
};

static inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned) {
  void *memory = calloc(1, sizeof(CUevent_st));
  if (memory == nullptr) return aotc_emulation_note(cudaErrorMemoryAllocation);
  *event = static_cast<cudaEvent_t>(memory);
  (*event)->references = 1;
  return cudaSuccess;
}

static inline cudaError_t cudaEventCreate(cudaEvent_t *event) {
  return cudaEventCreateWithFlags(event, 0);
}

static inline void aotc_emulation_event_drop(cudaEvent_t event) {
  if (__atomic_sub_fetch(&event->references, 1, __ATOMIC_ACQ_REL) == 0) free(event);
}

static inline cudaError_t cudaEventDestroy(cudaEvent_t event) {
  aotc_emulation_event_drop(event);
  return cudaSuccess;
}

namespace {
struct aotc_emulation_event_use {
  cudaEvent_t event;
  uint64_t record;  // which record of the event
};
}  // namespace

static inline aotc_emulation_event_use aotc_emulation_event_payload(
    const aotc_emulation_operation *operation) {
  aotc_emulation_event_use use;
  __builtin_memcpy(&use, operation->payload, sizeof use);
  return use;
}

static inline cudaError_t aotc_emulation_run_record(aotc_emulation_operation *operation,
                                                    cudaStream_t) {
  const aotc_emulation_event_use use = aotc_emulation_event_payload(operation);
  clock_gettime(CLOCK_MONOTONIC, &use.event->time);
  __atomic_store_n(&use.event->completed, use.record, __ATOMIC_RELEASE);
  aotc_emulation_event_drop(use.event);
  return cudaSuccess;
}

// Does the work before record `record` of the event.
static inline cudaError_t aotc_emulation_await(cudaEvent_t event, uint64_t record) {
  if (__atomic_load_n(&event->completed, __ATOMIC_ACQUIRE) >= record) return cudaSuccess;
  return aotc_emulation_drain(event->stream, &event->completed, record);
}

static inline cudaError_t aotc_emulation_run_wait(aotc_emulation_operation *operation,
                                                  cudaStream_t stream) {
  const aotc_emulation_event_use use = aotc_emulation_event_payload(operation);
  const bool own = use.event->stream == stream;  // earlier in this very queue
  const cudaError_t error = own ? cudaSuccess : aotc_emulation_await(use.event, use.record);
  aotc_emulation_event_drop(use.event);
  return error;
}

static inline cudaError_t aotc_emulation_enqueue_event(
    cudaStream_t stream, cudaEvent_t event,
    cudaError_t (*run)(aotc_emulation_operation *, cudaStream_t)) {
  if (aotc_emulation_stream_of(stream)->capture != nullptr) {
    return aotc_emulation_note(cudaErrorStreamCaptureUnsupported);
  }
  const aotc_emulation_event_use use = {event, event->recorded};
  aotc_emulation_operation *operation = aotc_emulation_operation_create(run, sizeof use);
  if (operation == nullptr) return aotc_emulation_note(cudaErrorMemoryAllocation);
  __atomic_add_fetch(&event->references, 1, __ATOMIC_RELAXED);
  __builtin_memcpy(operation->payload, &use, sizeof use);
  operation->always = true;  // it holds a reference
  return aotc_emulation_enqueue(stream, operation);
}

static inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr) {
  event->stream = aotc_emulation_stream_of(stream);
  ++event->recorded;
  return aotc_emulation_enqueue_event(stream, event, aotc_emulation_run_record);
}

static inline cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
                                              unsigned = 0) {
  return aotc_emulation_enqueue_event(stream, event, aotc_emulation_run_wait);
}

static inline cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return aotc_emulation_await(event, event->recorded);
}

static inline cudaError_t cudaEventQuery(cudaEvent_t event) { return cudaEventSynchronize(event); }

static inline cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t begin,
                                               cudaEvent_t end) {
  if (begin->completed < begin->recorded || end->completed < end->recorded) {
    return aotc_emulation_note(cudaErrorNotReady);
  }
  const double seconds = static_cast<double>(end->time.tv_sec - begin->time.tv_sec);
  const double nanoseconds = static_cast<double>(end->time.tv_nsec - begin->time.tv_nsec);
  *milliseconds = static_cast<float>(seconds * 1e3 + nanoseconds * 1e-6);
  return cudaSuccess;
}

// Capture records the operations of one stream; events within it are refused.
enum cudaStreamCaptureMode {
  cudaStreamCaptureModeGlobal = 0,
  cudaStreamCaptureModeThreadLocal = 1,
  cudaStreamCaptureModeRelaxed = 2,
};
enum cudaStreamCaptureStatus {
  cudaStreamCaptureStatusNone = 0,
  cudaStreamCaptureStatusActive = 1,
};
typedef cudaGraph_t cudaGraphExec_t;

static inline cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  if (stream == nullptr || stream->capture != nullptr) {
    return aotc_emulation_note(stream == nullptr ? cudaErrorStreamCaptureUnsupported
                                                 : cudaErrorIllegalState);
  }
  stream->capture = static_cast<cudaGraph_t>(calloc(1, sizeof(CUgraph_st)));
  return aotc_emulation_note(stream->capture == nullptr ? cudaErrorMemoryAllocation : cudaSuccess);
}

static inline cudaError_t cudaStreamIsCapturing(cudaStream_t stream,
                                                cudaStreamCaptureStatus *status) {
  const bool active = stream != nullptr && stream->capture != nullptr;
  *status = active ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}

static inline cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
  if (stream == nullptr || stream->capture == nullptr) {
    return aotc_emulation_note(cudaErrorIllegalState);
  }
  *graph = stream->capture;
  stream->capture = nullptr;
  return cudaSuccess;
}

static inline cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  for (uint32_t i = 0; i < graph->count; ++i) aotc_emulation_operation_drop(graph->operations[i]);
  free(graph->operations);
  free(graph);
  return cudaSuccess;
}

static inline cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
  return cudaGraphDestroy(graph);
}

static inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t *result, cudaGraph_t graph,
                                               unsigned long long = 0) {
  cudaGraph_t copy = static_cast<cudaGraph_t>(calloc(1, sizeof(CUgraph_st)));
  if (copy == nullptr) return aotc_emulation_note(cudaErrorMemoryAllocation);
  for (uint32_t i = 0; i < graph->count; ++i) {
    aotc_emulation_operation *operation = graph->operations[i];
    if (!aotc_emulation_append(&copy->operations, &copy->count, &copy->capacity, operation)) {
      cudaGraphDestroy(copy);
      return aotc_emulation_note(cudaErrorMemoryAllocation);
    }
    __atomic_add_fetch(&operation->references, 1, __ATOMIC_RELAXED);
  }
  *result = copy;
  return cudaSuccess;
}

static inline cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
  for (uint32_t i = 0; i < graph->count; ++i) {
    __atomic_add_fetch(&graph->operations[i]->references, 1, __ATOMIC_RELAXED);
    const cudaError_t error = aotc_emulation_enqueue(stream, graph->operations[i]);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

#endif  // AOTC_EMULATION_EVENT_H_
