// In what parts a discrete Fourier transform of a known length is computed.
//
//   PlanFourier({.length = 4096});      // {.factors = {16, 16}, .last = 16}
//
// A transform of length r * m is m transforms of length r, a turn of each number, and r transforms
// of length m (Cooley and Tukey); each of a small length is a product with a constant matrix. What
// has a large prime in it is the cyclic convolution with a chirp, of a padded length (Bluestein).
#ifndef AOTC_COMPILER_OPTIMIZE_FOURIER_PLAN_H_
#define AOTC_COMPILER_OPTIMIZE_FOURIER_PLAN_H_

#include <cstdint>
#include <vector>

namespace aotc {

// What is asked of each transform.
struct FourierSize {
  int64_t length = 1;
  int64_t parts = 2;  // of an operand's number: 1 of real ones
  double asked = 1;   // what part of the results is
};

struct FourierPlan {
  std::vector<int64_t> factors = {};  // in the order of the passes; their product times `last`
  int64_t last = 1;                   // is the length
  int64_t padded = 0;                 // length of the convolution for `last`; 0: a matrix
  double cost = 0;                    // products, or what takes as long
};

// The plan of the least cost. `length` is from 1 to 2^31.
FourierPlan PlanFourier(const FourierSize& size);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPTIMIZE_FOURIER_PLAN_H_
