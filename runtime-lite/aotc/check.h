// What every entry point looks at before a model runs: pointers, and values of the table.
//
//   if (!aotc_usable(in->image, alignof(float))) return AOTC_ERROR_POINTER;
//   aotc_status status = aotc_check_input(&inputs[0], &input_infos[0]);
#ifndef AOTC_CHECK_H_
#define AOTC_CHECK_H_

#include <stddef.h>
#include <stdint.h>

#include "aotc/model.h"

// The status of a class, AOTC_ERROR_..., that says which of the model's checks failed: their texts
// are what the model's status_text gives.
static inline aotc_status aotc_failed(aotc_status status, int32_t check) {
  return status | (check + 1) << 8;
}

// Arithmetic on sizes that a run is given; `too_large` is set where the result is not within 64
// bits, and the result is then any.
static inline int64_t aotc_plus(int64_t a, int64_t b, bool *too_large) {
  int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) *too_large = true;
  return result;
}
static inline int64_t aotc_minus(int64_t a, int64_t b, bool *too_large) {
  int64_t result = 0;
  if (__builtin_sub_overflow(a, b, &result)) *too_large = true;
  return result;
}
static inline int64_t aotc_times(int64_t a, int64_t b, bool *too_large) {
  int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) *too_large = true;
  return result;
}

// True of an address that is not null and a multiple of `align`, a power of two.
static inline bool aotc_usable(const void *pointer, size_t align) {
  return pointer != nullptr && ((uintptr_t)pointer & (align - 1)) == 0;
}

// Bits of one element in memory; 0 for numbers that are no type.
static inline int32_t aotc_dtype_bits(int32_t dtype) {
  static const uint8_t bits[] = {0, 32, 8,  8,  16, 16, 32,  64, (uint8_t)(8 * sizeof(aotc_string)),
                                 8, 16, 64, 32, 64, 64, 128, 16, 8,
                                 8, 8,  8,  4,  4,  4,  8,   2,  2};
  const int32_t count = (int32_t)(sizeof bits / sizeof bits[0]);
  return dtype > 0 && dtype < count ? bits[dtype] : 0;
}

// Bytes of a tensor with these dims; SIZE_MAX where that does not fit or a dim is negative.
static inline size_t aotc_tensor_bytes(int32_t dtype, int32_t rank, const int64_t *dims) {
  uint64_t elements = 1;
  bool too_large = false;
  for (int32_t axis = 0; axis < rank; ++axis) {
    if (dims[axis] < 0) return SIZE_MAX;
    if (dims[axis] == 0) return 0;
    too_large = too_large || elements > (UINT64_MAX >> 9) / (uint64_t)dims[axis];
    elements = too_large ? 1 : elements * (uint64_t)dims[axis];
  }
  const uint64_t bytes = (elements * (uint64_t)aotc_dtype_bits(dtype) + 7) / 8;
  return too_large || bytes >= SIZE_MAX ? SIZE_MAX : (size_t)bytes;
}

// The memory of a tensor: none where it has no element, else aligned to 64 bytes and large enough.
static inline aotc_status aotc_check_memory(const aotc_tensor *tensor) {
  const size_t bytes = aotc_tensor_bytes(tensor->dtype, tensor->rank, tensor->dims);
  if (bytes == 0) return AOTC_OK;
  if (bytes > tensor->capacity_bytes) return AOTC_ERROR_CAPACITY;
  return aotc_usable(tensor->data, 64) ? AOTC_OK : AOTC_ERROR_POINTER;
}

// A tensor that the caller gives, against what the model states of it.
static inline aotc_status aotc_check_input(const aotc_value *value, const aotc_value_info *info) {
  if (value->kind != info->kind) return AOTC_ERROR_KIND;
  if (value->tensor.dtype != info->dtype) return AOTC_ERROR_DTYPE;
  if (value->tensor.rank != info->rank) return AOTC_ERROR_RANK;
  for (int32_t axis = 0; axis < info->rank; ++axis) {
    const int64_t dim = value->tensor.dims[axis];
    if (dim < info->min_dims[axis] || dim > info->max_dims[axis]) return AOTC_ERROR_DIM;
  }
  return aotc_check_memory(&value->tensor);
}

// Fills in what the model says of an output, `dims` among it, and checks the memory lent for it.
static inline aotc_status aotc_describe_output(aotc_value *value, const aotc_value_info *info,
                                               const int64_t *dims) {
  value->kind = info->kind;
  value->item_count = 0;
  value->tensor.dtype = info->dtype;
  value->tensor.rank = info->rank;
  for (int32_t axis = 0; axis < AOTC_MAX_RANK; ++axis) {
    value->tensor.dims[axis] = axis < info->rank ? dims[axis] : 0;
  }
  return aotc_check_memory(&value->tensor);
}

#endif  // AOTC_CHECK_H_
