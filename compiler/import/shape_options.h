// The flags that pin and bound dims, as values.
//
//   *ParseShapeOption("x=1x3x224x224");            // pins every dim of input x
//   *ParseShapeOption("x:1..4x3x32..320");         // bounds some
//   *ParseDimOption("height=32..960:32");          // multiples of 32
//   *ParseDimOption("x:0=8");                      // axis 0 of input x
//   *ParseDimOption("unk__7=unk__6");              // the same number, under two names
//   *ParseDimOption("ends[1]=-8..8");              // an element of input ends that sizes depend on
//   *ParseBoundOption("kept:0=64");                // axis 0 of a tensor has at most 64
//
// Names may contain dots, colons and `=`. The least value of a range is 1 unless said: `..8`.
#ifndef AOTC_COMPILER_IMPORT_SHAPE_OPTIONS_H_
#define AOTC_COMPILER_IMPORT_SHAPE_OPTIONS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace aotc {

// The values of a dim: min, min + step, ... max. Pinned where min equals max.
struct DimBound {
  int64_t min = 1;
  int64_t max = 1;
  int64_t step = 1;
  friend bool operator==(const DimBound&, const DimBound&) = default;
};

struct ShapeOption {
  std::string input;
  std::vector<DimBound> dims;  // empty: rank 0
};

struct DimOption {
  std::string name;          // of a symbol, INPUT:AXIS, or an element: INPUT[INDEX]
  DimBound bound = {};       // where same_as is empty
  std::string same_as = {};  // the other name of an equal dim
};

// The most that an axis of a tensor has in any run, where only a run knows the size.
struct BoundOption {
  std::string tensor;
  int axis = 0;
  int64_t most = 0;
};

// Errors name the flag and the grammar that it misses.
absl::StatusOr<ShapeOption> ParseShapeOption(std::string_view text);
absl::StatusOr<DimOption> ParseDimOption(std::string_view text);
absl::StatusOr<BoundOption> ParseBoundOption(std::string_view text);

// "8", "1..32", "32..960:32".
std::string PrintDimBound(const DimBound& bound);

}  // namespace aotc

#endif  // AOTC_COMPILER_IMPORT_SHAPE_OPTIONS_H_
