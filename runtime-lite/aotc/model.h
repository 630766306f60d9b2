/* The table through which a host runs any compiled model without knowing its own header.
 *
 * The same for every model and target, C99 and C++. It is ABI: members are only ever appended to
 * aotc_model, each time with a new AOTC_ABI_VERSION.
 *
 *   const aotc_model *model = mobilenet_model();
 *   aotc_value in[1], out[1];             // fill data, dims ... from model->inputs[0].max_bytes
 *   void *arena = aligned_alloc(64, (model->arena_bytes + 63) / 64 * 64);
 *   aotc_status status = model->run(NULL, in, out, arena, NULL);
 *   if (status != AOTC_OK) puts(model->status_text(status));
 */
#ifndef AOTC_MODEL_H_
#define AOTC_MODEL_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define AOTC_ABI_VERSION 2
#define AOTC_MAX_RANK 8

/* 0 is success; else the low 8 bits are one of AOTC_ERROR_..., and the bits above 1 + the number of
 * the check that failed, or 0. */
typedef int32_t aotc_status;

enum {
  AOTC_OK = 0,
  AOTC_ERROR_POINTER = 1,  /* a pointer is null where data is needed, or misaligned */
  AOTC_ERROR_KIND = 2,     /* not the kind (tensor, sequence, ...) that the model states */
  AOTC_ERROR_DTYPE = 3,    /* not the element type that the model states */
  AOTC_ERROR_RANK = 4,     /* not the rank that the model states */
  AOTC_ERROR_DIM = 5,      /* a dim outside its bounds, or two dims that must agree and do not */
  AOTC_ERROR_CAPACITY = 6, /* a buffer or an item list too small for what it must hold */
  AOTC_ERROR_VALUE = 7,    /* a value in the data is refused: an index out of range ... */
  AOTC_ERROR_WEIGHTS = 8,  /* weights missing, truncated, or not those of this model */
  AOTC_ERROR_CPU = 9,      /* this processor lacks an instruction set that the model needs */
  AOTC_ERROR_DEVICE = 10,  /* no usable device, or it lacks something that the model needs */
  AOTC_ERROR_CUDA = 11,    /* a CUDA call or kernel failed */
  AOTC_ERROR_THREADS = 12  /* a thread pool could not be made, or its worker count is refused */
};

/* The class of a status: AOTC_OK, or one of AOTC_ERROR_... */
static inline int32_t aotc_status_code(aotc_status status) { return status & 0xff; }

/* Element of a string tensor: UTF-8, not terminated. bytes may be NULL where size is 0. */
typedef struct aotc_string {
  const char *bytes;
  size_t size;
} aotc_string;

typedef struct aotc_tensor {
  void *data;                  /* caller's memory, aligned to 64 bytes; NULL if it has no element */
  size_t capacity_bytes;       /* what data has room for */
  int64_t dims[AOTC_MAX_RANK]; /* inputs: set by the caller; outputs: set by the model */
  int32_t rank;
  int32_t dtype; /* the numbers of onnx.TensorProto.DataType */
} aotc_tensor;

enum { AOTC_TENSOR = 0, AOTC_SEQUENCE = 1, AOTC_OPTIONAL = 2, AOTC_MAP = 3 };

typedef struct aotc_value {
  int32_t kind;             /* AOTC_TENSOR ... AOTC_MAP */
  int32_t item_count;       /* sequence: its length; optional: 0 or 1; map: 2, keys and values */
  int32_t item_capacity;    /* room in items */
  struct aotc_value *items; /* caller's memory */
  aotc_tensor tensor;       /* where kind is AOTC_TENSOR */
} aotc_value;

typedef struct aotc_value_info {
  const char *name; /* as in the ONNX graph; "" for children */
  int32_t kind;
  int32_t child_count; /* sequence and optional: 1 (the element); map: 2; tensor: 0 */
  const struct aotc_value_info *children;
  int32_t max_items;   /* sequences: the bound; else 0 */
  int32_t dtype, rank; /* tensors; rank is -1 where it is not fixed */
  int64_t min_dims[AOTC_MAX_RANK], max_dims[AOTC_MAX_RANK]; /* equal where a dim is static */
  const char *dim_names[AOTC_MAX_RANK];                     /* symbol, or NULL */
  size_t max_bytes; /* room that one tensor of it needs at most */
} aotc_value_info;

/* An input and an output in one memory: `data` is the same for both, with room for max_bytes. They
 * lie there row-major with these strides, in elements. */
typedef struct aotc_alias {
  int32_t input, output;
  int64_t strides[AOTC_MAX_RANK];
} aotc_alias;

/* Threads that the caller lends for the length of one run. */
typedef struct aotc_parallel {
  void *context;
  int32_t workers;
  /* Runs task(argument, worker) for worker 0 .. workers-1, all at the same time (they wait for
   * one another), and returns when all have returned. */
  void (*run)(void *context, void (*task)(void *argument, int32_t worker), void *argument);
} aotc_parallel;

typedef struct aotc_model {
  uint32_t abi_version;
  const char *name, *producer;
  int32_t input_count, output_count;
  const aotc_value_info *inputs, *outputs;
  size_t arena_bytes, arena_align; /* host arena that run needs; align is 1 to 64 */
  size_t instance_bytes;           /* 0 where the model keeps nothing between runs */
  aotc_status (*create)(void *instance);
  /* parallel may be NULL: one thread. Returns when the outputs are there. */
  aotc_status (*run)(void *instance, const aotc_value *inputs, aotc_value *outputs, void *arena,
                     const aotc_parallel *parallel);
  aotc_status (*destroy)(void *instance);
  aotc_status (*pool_create)(int32_t workers, aotc_parallel *pool); /* NULL: no threads here */
  void (*pool_destroy)(aotc_parallel *pool);                        /* NULL likewise */
  const char *(*status_text)(aotc_status status);                   /* never returns NULL */
  /* NULL unless the weights are a file of their own: called after create, before run. */
  aotc_status (*set_weights)(void *instance, const void *data, size_t bytes);
  int32_t alias_count; /* version 2: pairs that share memory */
  const aotc_alias *aliases;
} aotc_model;

#ifdef __cplusplus
}
#endif

#endif /* AOTC_MODEL_H_ */
