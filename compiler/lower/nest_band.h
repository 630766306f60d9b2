// A band of a nest: what of it is computed at a time, where a kernel is only a part of a task.
//
//   outer n, c_o, h, w, c_i          // of %v[n, c, h, w], %x[n, c, h, w]
//   TakeBand(nest, {.tasks = {{"image", 8}, {"h_chunk", 14}},
//                   .at = {{"n", Var("image")}}, .axis = "h", .first = Var("h_chunk") * 4,
//                   .count = 4, .most = 4, .local = v})
//   outer c_o, h, w, c_i             // %v[h, w, c], %x[image, c, h_chunk*4 + h, w]
//
// The tensor `local` holds the band alone, whose rows index it.
#ifndef AOTC_COMPILER_LOWER_NEST_BAND_H_
#define AOTC_COMPILER_LOWER_NEST_BAND_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "compiler/lower/nest.h"

namespace aotc {

struct NestBand {
  std::vector<NestAxis> tasks = {};  // whose variables the others are over
  Substitution at = {};              // axes of the nest of which it has one iteration
  std::string axis = {};             // the one of which it has some:
  Expr first = {}, count = {};       // `count` from `first` on
  int64_t most = 1;                  // the largest count
  Expr all = {};                     // iterations that there are
  TensorId local = {};
};

// Error: the nest has no such axis.
absl::Status TakeBand(Nest& nest, const NestBand& band);

}  // namespace aotc

#endif  // AOTC_COMPILER_LOWER_NEST_BAND_H_
