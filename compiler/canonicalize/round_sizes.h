// Carried values of a Repeat whose dims a round changes.
//
//   RoundSizes growth(sizes, rebuilder, node);
//   growth.EnterRound(k, dims);                       // [1, 3] becomes [z_0, 3] in the body
//   growth.LimitNext(body, k);                        // what a round gives is at most z:0's bound
//   growth.LeaveRounds(copy, k, next, count, dims);   // [z_0, 3] becomes [z_0_2, 3] behind it
//
// A dim that data decide, where the body's declares the number that the first value has, has to
// stay that number, which is checked in each round. That a dim changes is only seen once a body has
// been typed with one that does not: the graph is walked again then, with a symbol in its place,
// and once more when its bound has been found, from --bound, from what a round adds, or from what
// the model declares.
#ifndef AOTC_COMPILER_CANONICALIZE_ROUND_SIZES_H_
#define AOTC_COMPILER_CANONICALIZE_ROUND_SIZES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/canonicalize/run_sizes.h"
#include "compiler/ir/graph_rebuild.h"

namespace aotc {

// Attribute of a Repeat that is not typed yet, for each dim that changes: a carried value, an axis,
// and the least and the most that its dim may be; -1 where the most is still to be found.
inline constexpr const char kGrowth[] = "growth";

class RoundSizes {
 public:
  // `node`: of the old graph.
  RoundSizes(SizeWalk& sizes, Rebuilder& rebuilder, const Node& node);

  // Whether symbols stand for dims of a carried value.
  bool Changes(size_t k) const { return !GrowthOf(k).empty(); }
  // From the dims of the first carried value those in the body.
  void EnterRound(size_t k, Shape& dims);
  // Where a size may pass its bound, a symbol within that takes its place at the end of the round:
  // what the body gives is as much as there is room for. Output k of the body, a carried value.
  void LimitNext(RegionId body, size_t k);
  // Output `index` of the body, which is stacked to one of the node: what the model declares of
  // that has to hold.
  void LimitStacked(RegionId body, size_t index, ValueId old_result);
  // From the dims in the body, which those that a round gives are not, the ones behind the loop,
  // which has at most `count` rounds. Error: a size without a bound.
  absl::Status LeaveRounds(NodeId copy, size_t k, const Shape& next,
                           const std::optional<Expr>& count, Shape& dims);
  // Which symbols the body of the new node begins with, once that is there.
  void NoteRoundSizes(Node& copy) const;

 private:
  using Growth = std::map<size_t, Interval>;  // what the dim of an axis may be, as in the attribute

  Growth GrowthOf(size_t k) const;
  // Of a value of the old graph a dim that inference has made before: it stays.
  std::optional<Expr> KnownSize(ValueId old_value, size_t axis, const char* attribute) const;
  std::string NameOf(size_t k, size_t axis) const;
  Interval FirstRange(size_t k, size_t axis) const;
  bool IsDeclaredToStay(size_t k, size_t axis) const;
  // A symbol within that range, which is checked, is the dim of an output of the body.
  void Limit(RegionId body, size_t index, size_t axis, Interval range, std::string name);
  // Has the graph walked again.
  void Grow(size_t k, size_t axis, Interval range);
  // The most that the size of a round may be; while bounds are not asked for yet, any. Error: none
  // is known.
  absl::StatusOr<int64_t> BoundOf(size_t k, size_t axis, const Expr& next, const Expr& size,
                                  const std::optional<Expr>& count) const;
  std::optional<int64_t> MostOf(size_t k, size_t axis, const Expr& next, const Expr& size,
                                const std::optional<Expr>& count) const;
  Expr SizeBehind(NodeId copy, size_t k, size_t axis, Interval range);

  SizeWalk& sizes_;
  Rebuilder& rebuilder_;
  const Node& node_;
  const Region& old_body_;
  std::vector<std::string> round_sizes_ = {};
};

}  // namespace aotc

#endif  // AOTC_COMPILER_CANONICALIZE_ROUND_SIZES_H_
