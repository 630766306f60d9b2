// Layout: how the elements of a tensor lie in storage. It belongs to a value (Graph) or a tensor
// (Kernel), never to an op: shapes and compute definitions stay logical.
//
//   Layout l = BlockedLayout(4, /*axis=*/1, /*block=*/16);   // NCHW -> N, C/16, H, W, C%16
//   l.halo = {{}, {}, {1, 1}, {1, 1}};                       // a border of one pixel, of zeros
//   StorageShape(l, {1, 24, 8, 8});                          // [1, 2, 10, 10, 16]
//   StorageIndices(l, {n, c, h, w});                         // [n, c/16, h+1, w+1, c%16]
//
// Text: `(0, 1/16, 2, 3, 1%16; halo 2:1+1 3:1+1 fill 0)`; row-major without halo prints as nothing.
// Lanes beyond the logical extent of a blocked axis are zero in storage: a reader may rely on it,
// every writer keeps it. The halo holds the fill value likewise.
#ifndef AOTC_COMPILER_IR_LAYOUT_H_
#define AOTC_COMPILER_IR_LAYOUT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/shape.h"

namespace aotc {

class Scanner;  // compiler/support/scanner.h

// One axis of storage: index = mod(floor_div(i + halo.before, divisor), modulus) of logical index
// i; modulus 0 means none.
struct StorageAxis {
  int axis = 0;
  int64_t divisor = 1;
  int64_t modulus = 0;
  friend bool operator==(const StorageAxis&, const StorageAxis&) = default;
};

struct Halo {
  int64_t before = 0;
  int64_t after = 0;
  friend bool operator==(const Halo&, const Halo&) = default;
};

struct Layout {
  std::vector<StorageAxis> axes = {};  // outermost first; empty: row-major over the logical axes
  std::vector<Halo> halo = {};         // per logical axis; empty: none
  double fill = 0;                     // value of the halo
  int64_t align = 64;                  // bytes of the first element's address
  friend bool operator==(const Layout&, const Layout&) = default;

  bool IsRowMajor() const;  // axes in logical order, none split; a halo may be there
  bool HasHalo() const;
  bool IsPlain() const { return IsRowMajor() && !HasHalo(); }
};

// Axis `axis` split into blocks of `block`, the inner part innermost.
Layout BlockedLayout(int rank, int axis, int64_t block);
// Axes in the given order: {0, 2, 3, 1} is NHWC.
Layout PermutedLayout(const std::vector<int>& order);

// Extents in storage, padded and with halo, outermost first.
Shape StorageShape(const Layout& layout, const Shape& shape);
// Indices in storage of a logical element.
std::vector<Expr> StorageIndices(const Layout& layout, const std::vector<Expr>& indices);
// Elements of storage, padding and halo included.
Expr StorageElements(const Layout& layout, const Shape& shape);

std::string PrintLayout(const Layout& layout);
// At "(": the text above.
absl::StatusOr<Layout> ParseLayout(Scanner& scanner);

}  // namespace aotc

#endif  // AOTC_COMPILER_IR_LAYOUT_H_
