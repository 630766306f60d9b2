// Values of the table that a model holds as several tensors, its parts: what all kinds share.
#ifndef AOTC_PARTS_H_
#define AOTC_PARTS_H_

#include <stdint.h>

#include "aotc/model.h"

// A part that lies in `memory`, with its largest dims.
static inline void aotc_lend_part(aotc_value *part, const aotc_value_info *info, void *memory) {
  *part = {};
  part->kind = AOTC_TENSOR;
  part->tensor.data = memory;
  part->tensor.capacity_bytes = info->max_bytes;
  part->tensor.dtype = info->dtype;
  part->tensor.rank = info->rank;
  for (int32_t axis = 0; axis < info->rank; ++axis) {
    part->tensor.dims[axis] = info->max_dims[axis];
  }
}

#endif  // AOTC_PARTS_H_
