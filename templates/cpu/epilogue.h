// Base of the function objects that take the results of tile functions.
//
//   namespace {                                             // members must not be weak symbols
//   struct relu_epilogue : aotc_epilogue {
//     float *y;
//     AOTC_MEMBER void operator()(int m, int v, aotc_vf acc) const {
//       aotc_store(y + m * 40 + v * AOTC_LANES, aotc_max_known(aotc_vf{}, acc));
//     }
//   };
//   }  // namespace
#ifndef AOTC_EPILOGUE_H_
#define AOTC_EPILOGUE_H_

#include "aotc/vector.h"

struct aotc_epilogue {
  // Starting value of an accumulator: another one (bias, partial sums of earlier K blocks) is
  // stated by a member of the same name.
  AOTC_MEMBER aotc_vf initial(int, int) const { return aotc_vf{}; }

  // `enum { rolled = 1 };` in an epilogue of many instructions (exp, erf): it is then compiled once
  // and called in a loop over accumulators in memory, not MR * NV times over registers.
  enum { rolled = 0 };
};

// What a tile function works with: a constant epilogue as a copy of its own, so that stores of
// bytes, which may alias anything, do not make it read the members again and compute addresses from
// them for each accumulator. One with state is the caller's.
//
//   typename aotc_own_epilogue<Epilogue>::type own = epilogue;
template <class Epilogue>
struct aotc_own_epilogue {
  typedef Epilogue &type;
};
template <class Epilogue>
struct aotc_own_epilogue<const Epilogue> {
  typedef const Epilogue type;
};

#endif  // AOTC_EPILOGUE_H_
