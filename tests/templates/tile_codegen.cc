// The full tile of an ISA with bias, residual and ReLU: check_kernels looks at its instructions.
#include <math.h>
#include <stdint.h>
#include <string.h>
// The target region opens after every C header.
#include "aotc/target_begin.h"
#include "templates/cpu/contract_tile.h"

namespace {

struct full_epilogue : aotc_epilogue {
  const float *bias, *residual;
  float* y;
  AOTC_MEMBER void operator()(int m, int v, aotc_vf acc) const {
    const int at = m * 512 + v * AOTC_LANES;
    const aotc_vf sum = acc + aotc_load(bias + v * AOTC_LANES) + aotc_load(residual + at);
    aotc_store(y + at, aotc_max_known(aotc_vf{}, sum));
  }
};

}  // namespace

extern "C" void aotc_test_tile(const float* a, const float* packed, const float* bias,
                               const float* residual, float* y) {
  full_epilogue epilogue;
  epilogue.bias = bias;
  epilogue.residual = residual;
  epilogue.y = y;
  const aotc_rows<float, 512> rows = {a};
  aotc_contract_tile<TILE_ROWS, 2>(rows, aotc_panel<float>{packed}, aotc_nest_dense(512, 32),
                                   epilogue);
}

#include "aotc/target_end.h"
