// Words for each status, for the model's `status_text`.
//
//   return aotc_status_text(AOTC_ERROR_DIM);  // "a dim is outside its bounds, or ..."
#ifndef AOTC_STATUS_H_
#define AOTC_STATUS_H_

#include "aotc/model.h"

// Returns a constant sentence; never null, whatever the number. Of a status that names a check of a
// model it is what its class says.
static inline const char *aotc_status_text(aotc_status status) {
  switch (aotc_status_code(status)) {
    case AOTC_OK: return "success";
    case AOTC_ERROR_POINTER: return "a pointer is null or misaligned";
    case AOTC_ERROR_KIND: return "a value is not of the kind that the model states";
    case AOTC_ERROR_DTYPE: return "a tensor has not the element type that the model states";
    case AOTC_ERROR_RANK: return "a tensor has not the rank that the model states";
    case AOTC_ERROR_DIM: return "a dim is outside its bounds, or two dims that must agree do not";
    case AOTC_ERROR_CAPACITY: return "a buffer is too small";
    case AOTC_ERROR_VALUE: return "a value in the data is out of range";
    case AOTC_ERROR_WEIGHTS: return "the weights are missing, truncated or of another model";
    case AOTC_ERROR_CPU: return "this processor lacks an instruction set that the model needs";
    case AOTC_ERROR_DEVICE: return "there is no usable device, or it lacks a needed feature";
    case AOTC_ERROR_CUDA: return "a CUDA call or kernel failed";
    case AOTC_ERROR_THREADS: return "the threads could not be made";
    default: return "unknown status";
  }
}

#endif  // AOTC_STATUS_H_
