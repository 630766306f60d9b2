// The tests of tile_test.cc once more with every access of shared memory watched.
#define AOTC_CUDA_CHECK_RACES 1
#include "tests/cuda/tile_test.cc"
