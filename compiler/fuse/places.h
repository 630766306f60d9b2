// Places: values of a region that lie in the memory of another. The operands of a Concat are boxes
// in its result, which then needs no kernel: who makes them writes there, who reads them reads
// there. A result may itself be an operand of a further Concat, so boxes lie in boxes. A Slice is a
// box in what it is a slice of. The operands of an Interleave are boxes that step over one another.
//
//   Places places(graph);
//   places.PlaceParts(y, {.axis = 1}, {{a, 0}, {b, 32}});   // %y = Concat(%a, %b): boxes in y
//   places.ViewOf(b)                                        // of %y at [0, 32, 0, 0]
//   places.PlaceSlice(z, 1, {c, 16});                       // %c = Slice(%z), channels from 16 on
#ifndef AOTC_COMPILER_FUSE_PLACES_H_
#define AOTC_COMPILER_FUSE_PLACES_H_

#include <map>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "compiler/ir/fused_graph.h"
#include "compiler/schedule/join.h"

namespace aotc {

// An operand of a Concat or an Interleave, and its first index along the axis.
struct Part {
  ValueId value = {};
  Expr start = 0;
};

// The axis of the whole along which parts lie, and from an element of one to its next.
struct PartAxis {
  size_t axis = 0;
  int64_t step = 1;
};

std::vector<Part> PartsOf(const FusedKernel& fused, const Join& join);

class Places {
 public:
  explicit Places(const Graph& graph) : graph_(graph) {}

  // `parts` with those that together are the result of an earlier Concat replaced by that:
  // Concat(a, b, c) is Concat(y, c) where %y = Concat(a, b).
  std::vector<Part> Joined(const PartAxis& along, const std::vector<Part>& parts) const;

  // The reason why `parts` cannot be boxes in `whole`: their layouts differ, they do not begin and
  // end where blocks do, or one lies elsewhere already.
  absl::Status CheckParts(ValueId whole, const PartAxis& along,
                          const std::vector<Part>& parts) const;
  // They must have passed the check.
  void PlaceParts(ValueId whole, const PartAxis& along, const std::vector<Part>& parts);

  // Lets an output and the input in whose memory it grows be boxes in their root.
  void PlaceAlias(const Alias& alias);

  // The same of a part of what kernels make as a whole.
  absl::Status CheckSlice(ValueId whole, size_t axis, const Part& part) const;
  void PlaceSlice(ValueId whole, size_t axis, const Part& part);

  // Whether the value is a part of another, or has parts itself.
  bool IsPart(ValueId value) const { return parts_.contains(value); }
  bool HasParts(ValueId value) const { return IsWhole(value) || slices_.contains(value); }
  // Whether it is made by those who make its parts.
  bool IsWhole(ValueId value) const { return wholes_.contains(value); }
  // What it is a part of, and that one, up to what is none; itself where it is none.
  ValueId RootOf(ValueId value) const;
  // What the value is a part of; invalid where it is none.
  ValueId WholeOf(ValueId value) const;
  // Whether the elements of a part of `whole` are neighbours wherever that one lies, as far as they
  // are when dense: then flat views of it stay right.
  bool IsDenseIn(ValueId part, ValueId whole) const;

  // Of a part in what is no part itself.
  ValueView ViewOf(ValueId part) const;
  std::map<ValueId, ValueView> Views() const;

 private:
  struct Box {
    ValueId whole = {};
    PartAxis along = {};
    Expr start = 0;  // along the axis
  };
  // Where an element of a value is in the value that it lies in, per axis of both.
  struct Walk {
    ValueId root = {};
    std::vector<Expr> starts = {};
    std::vector<int64_t> steps = {};
  };
  Walk WalkOf(ValueId part) const;
  absl::Status CheckPart(const Part& part, const Expr& end, ValueId whole,
                         const PartAxis& along) const;
  // Parts in order that are all of the value along one axis; none where there are no such.
  std::vector<ValueId> PartsOf(ValueId value, size_t axis) const;
  // The parts of parts of ... that make up a value along one axis.
  void AddLeaves(ValueId value, size_t axis, std::vector<ValueId>& leaves) const;

  const Graph& graph_;
  std::map<ValueId, Box> parts_;
  std::map<ValueId, std::pair<PartAxis, std::vector<ValueId>>> wholes_;  // parts in order
  std::map<ValueId, std::vector<ValueId>> slices_;  // by what they are slices of
};

// Values that others than the kernels of a region reach: its outputs, and what nodes with regions
// read.
std::set<ValueId> BoundValues(const Graph& graph, const Region& region);

// Gives the params of all kernels, those of bodies included, the strides of the boxes that their
// values are.
void SetStrides(const Graph& graph, FusedGraph& fused);

}  // namespace aotc

#endif  // AOTC_COMPILER_FUSE_PLACES_H_
