// Streams and events. Work is queued, and done only when somebody waits for it, so that a missing
// wait or a host buffer that is reused too early shows as a wrong result. The null stream does its
// work at once. All state is reached from the handles: nothing is shared between files.
//
// Limits: a host thread that waits for a stream does that stream's work; cudaDeviceSynchronize,
// cudaMemcpy and cudaFree wait for the streams that were created in the same file.
#ifndef AOTC_EMULATION_STREAM_H_
#define AOTC_EMULATION_STREAM_H_

#include <time.h>

#include "aotc/emulation/errors.h"
#include "aotc/emulation/grid.h"

struct CUstream_st;
typedef CUstream_st *cudaStream_t;

// A unit of work. `references` counts the queues and graphs that hold it.
struct aotc_emulation_operation {
  cudaError_t (*run)(aotc_emulation_operation *self, cudaStream_t stream);
  int references;
  bool always;                            // runs even where an operation before it failed
  alignas(64) unsigned char payload[64];  // as long as was asked for
};

struct CUgraph_st {
  aotc_emulation_operation **operations;
  uint32_t count, capacity;
};
typedef CUgraph_st *cudaGraph_t;

struct aotc_emulation_stream_list {
  pthread_mutex_t mutex;
  CUstream_st *first;
};

enum { AOTC_EMULATION_STREAM_MAGIC = 0x61535401 };  // changes with the layout of CUstream_st

struct CUstream_st {
  uint32_t magic;
  pthread_mutex_t mutex;
  aotc_emulation_operation **queue;  // [head, tail) wait to be run
  uint32_t head, tail, capacity;
  cudaError_t error;    // of the first operation that failed; nothing runs afterwards
  CUgraph_st *capture;  // where operations go while the stream captures
  aotc_emulation_engine *engines[AOTC_EMULATION_MAX_ENGINES];
  aotc_emulation_stream_list *list;
  CUstream_st *next;
};

struct CUevent_st {
  int references;
  cudaStream_t stream;           // of the last record
  uint64_t recorded, completed;  // records queued and done
  timespec time;
};
typedef CUevent_st *cudaEvent_t;

static aotc_emulation_stream_list aotc_emulation_streams AOTC_EMULATION_UNUSED = {
    PTHREAD_MUTEX_INITIALIZER, nullptr};
static CUstream_st aotc_emulation_null_stream AOTC_EMULATION_UNUSED = {AOTC_EMULATION_STREAM_MAGIC,
                                                                       PTHREAD_MUTEX_INITIALIZER,
                                                                       nullptr,
                                                                       0,
                                                                       0,
                                                                       0,
                                                                       cudaSuccess,
                                                                       nullptr,
                                                                       {},
                                                                       nullptr,
                                                                       nullptr};

// A library that is unloaded gives back the stacks on which the null stream's threads ran: a
// process has some 65,000 mappings, of which a block of 1,024 threads takes 2,048.
__attribute__((destructor)) static void aotc_emulation_release_null_stream() {
  for (aotc_emulation_engine *&engine : aotc_emulation_null_stream.engines) {
    aotc_emulation_engine_destroy(engine);
    engine = nullptr;
  }
}

static inline cudaStream_t aotc_emulation_stream_of(cudaStream_t stream) {
  return stream == nullptr ? &aotc_emulation_null_stream : stream;
}

static inline aotc_emulation_operation *aotc_emulation_operation_create(
    cudaError_t (*run)(aotc_emulation_operation *, cudaStream_t), size_t payload_bytes) {
  void *memory = nullptr;
  const size_t bytes = sizeof(aotc_emulation_operation) + payload_bytes;
  if (posix_memalign(&memory, alignof(aotc_emulation_operation), bytes) != 0) return nullptr;
  aotc_emulation_operation *operation = static_cast<aotc_emulation_operation *>(memory);
  operation->run = run;
  operation->references = 1;
  operation->always = false;
  return operation;
}

static inline void aotc_emulation_operation_drop(aotc_emulation_operation *operation) {
  if (__atomic_sub_fetch(&operation->references, 1, __ATOMIC_ACQ_REL) == 0) free(operation);
}

// Appends to an array of operations; false when there is no memory.
static inline bool aotc_emulation_append(aotc_emulation_operation ***array, uint32_t *count,
                                         uint32_t *capacity, aotc_emulation_operation *operation) {
  if (*count == *capacity) {
    const uint32_t larger = *capacity == 0 ? 64 : 2 * *capacity;
    void *memory = realloc(*array, larger * sizeof(aotc_emulation_operation *));
    if (memory == nullptr) return false;
    *array = static_cast<aotc_emulation_operation **>(memory);
    *capacity = larger;
  }
  (*array)[(*count)++] = operation;
  return true;
}

// Does a piece of work unless an earlier one failed, and drops it. Called with the mutex held.
static inline void aotc_emulation_perform(cudaStream_t stream,
                                          aotc_emulation_operation *operation) {
  if (stream->error == cudaSuccess || operation->always) {
    const cudaError_t error = operation->run(operation, stream);
    if (stream->error == cudaSuccess) stream->error = error;
  }
  aotc_emulation_operation_drop(operation);
}

// Does the oldest piece of queued work. Called with the mutex held.
static inline void aotc_emulation_step(cudaStream_t stream) {
  aotc_emulation_operation *operation = stream->queue[stream->head++];
  if (stream->head == stream->tail) stream->head = stream->tail = 0;
  aotc_emulation_perform(stream, operation);
}

// Does the queued work until `*progress` (null: all of it) reaches `goal`.
static inline cudaError_t aotc_emulation_drain(cudaStream_t stream, const uint64_t *progress,
                                               uint64_t goal) {
  if (stream->magic != AOTC_EMULATION_STREAM_MAGIC) {
    return aotc_emulation_note(cudaErrorInvalidResourceHandle);
  }
  pthread_mutex_lock(&stream->mutex);
  cudaError_t error = cudaErrorStreamCaptureUnsupported;
  if (stream->capture == nullptr) {
    while (stream->tail > 0 &&
           (progress == nullptr || __atomic_load_n(progress, __ATOMIC_ACQUIRE) < goal)) {
      aotc_emulation_step(stream);
    }
    error = stream->error;
  }
  pthread_mutex_unlock(&stream->mutex);
  return aotc_emulation_note(error);
}

// Queues `operation` where the stream captures or works later; false when there is no memory.
static inline bool aotc_emulation_keep(cudaStream_t stream, aotc_emulation_operation *operation) {
  CUgraph_st *graph = stream->capture;
  return graph != nullptr
             ? aotc_emulation_append(&graph->operations, &graph->count, &graph->capacity, operation)
             : aotc_emulation_append(&stream->queue, &stream->tail, &stream->capacity, operation);
}

// Queues `operation` (null: no memory was left for it) and takes it over. The null stream, which
// nobody destroys, keeps no queue: it does the work at once.
static inline cudaError_t aotc_emulation_enqueue(cudaStream_t handle,
                                                 aotc_emulation_operation *operation) {
  if (operation == nullptr) return aotc_emulation_note(cudaErrorMemoryAllocation);
  cudaStream_t stream = aotc_emulation_stream_of(handle);
  if (stream->magic != AOTC_EMULATION_STREAM_MAGIC) {
    aotc_emulation_operation_drop(operation);
    return aotc_emulation_note(cudaErrorInvalidResourceHandle);
  }
  pthread_mutex_lock(&stream->mutex);
  bool kept = true;
  if (handle == nullptr) {
    aotc_emulation_perform(stream, operation);
  } else {
    kept = aotc_emulation_keep(stream, operation);
  }
  const cudaError_t error = kept ? stream->error : cudaErrorMemoryAllocation;
  pthread_mutex_unlock(&stream->mutex);
  if (!kept) aotc_emulation_operation_drop(operation);
  return aotc_emulation_note(error);
}

static inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned) {
  void *memory = calloc(1, sizeof(CUstream_st));
  if (memory == nullptr) return aotc_emulation_note(cudaErrorMemoryAllocation);
  cudaStream_t created = static_cast<cudaStream_t>(memory);
  created->magic = AOTC_EMULATION_STREAM_MAGIC;
  pthread_mutex_init(&created->mutex, nullptr);
  created->list = &aotc_emulation_streams;
  pthread_mutex_lock(&created->list->mutex);
  created->next = created->list->first;
  created->list->first = created;
  pthread_mutex_unlock(&created->list->mutex);
  *stream = created;
  return cudaSuccess;
}

static inline cudaError_t cudaStreamCreate(cudaStream_t *stream) {
  return cudaStreamCreateWithFlags(stream, 0);
}

static inline cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return aotc_emulation_drain(aotc_emulation_stream_of(stream), nullptr, 0);
}

// Work goes on only when somebody looks, so this is never cudaErrorNotReady.
static inline cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return cudaStreamSynchronize(stream);
}

static inline cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  if (stream == nullptr || stream->magic != AOTC_EMULATION_STREAM_MAGIC) {
    return aotc_emulation_note(cudaErrorInvalidResourceHandle);
  }
  aotc_emulation_drain(stream, nullptr, 0);
  pthread_mutex_lock(&stream->list->mutex);
  CUstream_st **link = &stream->list->first;
  while (*link != nullptr && *link != stream) link = &(*link)->next;
  if (*link == stream) *link = stream->next;
  pthread_mutex_unlock(&stream->list->mutex);
  for (int i = 0; i < AOTC_EMULATION_MAX_ENGINES; ++i) {
    aotc_emulation_engine_destroy(stream->engines[i]);
  }
  pthread_mutex_destroy(&stream->mutex);
  stream->magic = 0;
  free(stream->queue);
  free(stream);
  return cudaSuccess;
}

static inline cudaError_t cudaDeviceSynchronize() {
  cudaError_t result = aotc_emulation_drain(&aotc_emulation_null_stream, nullptr, 0);
  pthread_mutex_lock(&aotc_emulation_streams.mutex);
  for (CUstream_st *stream = aotc_emulation_streams.first; stream != nullptr;
       stream = stream->next) {
    const cudaError_t error = aotc_emulation_drain(stream, nullptr, 0);
    if (result == cudaSuccess) result = error;
  }
  pthread_mutex_unlock(&aotc_emulation_streams.mutex);
  return result;
}

#endif  // AOTC_EMULATION_STREAM_H_
