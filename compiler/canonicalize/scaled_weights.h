// Weights of 8 and 4 bits that contractions read as they are stored, where the target's tile
// functions scale them: their DequantizeLinear is not folded.
//
//   ScaledWeights weights(graph);
//   if (auto stays = weights.Stay(node, inputs)) ...      // its scales, one per column or block
//
// What stays carries the attribute `stored`, which keeps other passes from folding it.
#ifndef AOTC_COMPILER_CANONICALIZE_SCALED_WEIGHTS_H_
#define AOTC_COMPILER_CANONICALIZE_SCALED_WEIGHTS_H_

#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"

namespace aotc {

inline constexpr std::string_view kStoredWeights = "stored";

// How a DequantizeLinear is to be written that stays.
struct StoredScales {
  std::vector<Constant> params = {};  // the scale, and the zero point where there is one
  int64_t axis = 0;
};

// Weights that stay as they are stored for another reason: the contraction's other operand is
// dequantised too, so that the two may be multiplied as integers (optimize/integer_contractions.h).
std::set<ValueId> QuantizedWeights(const Graph& graph);

class ScaledWeights {
 public:
  explicit ScaledWeights(const Graph& graph);

  // Of a DequantizeLinear of the graph above, whose inputs are these constants. Nothing where it is
  // to be folded: not only contractions read it, as weights, or their tiles could not scale it.
  std::optional<StoredScales> Stay(const Node& node, const std::vector<Constant>& inputs) const;

 private:
  // What contractions take an axis of their weights for.
  struct Reading {
    size_t rank = 0;  // 0: any
    int64_t column = 0;
    std::optional<int64_t> reduced = {};  // the axis that may have blocks
    int readers = 0;

    bool operator==(const Reading&) const = default;
  };
  static std::optional<Reading> ReadingOf(const Node& node);

  std::map<ValueId, Reading> readings_;
};

}  // namespace aotc

#endif  // AOTC_COMPILER_CANONICALIZE_SCALED_WEIGHTS_H_
