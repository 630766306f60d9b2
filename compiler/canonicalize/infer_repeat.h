// One Repeat (ir/control_flow.h) brought into its form and typed, body and all.
//
//   absl::Status status = RepeatInference(known, diagnostics, rebuilder, node, outputs).Run();
//
// * A body that never runs, and one that runs once, leave no loop behind.
// * A count that only the run knows is compared with the carried counter: it becomes a condition.
// * A condition that always holds goes.
// * A dim of a carried value that a round changes is a symbol in the body, and another one behind
//   it: bounded by what is derived, or by --bound of the result, which is checked in each round.
// * Values are stacked where there is a count of which no round is left out.
#ifndef AOTC_COMPILER_CANONICALIZE_INFER_REPEAT_H_
#define AOTC_COMPILER_CANONICALIZE_INFER_REPEAT_H_

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "compiler/canonicalize/known_elements.h"
#include "compiler/canonicalize/round_sizes.h"
#include "compiler/canonicalize/run_sizes.h"
#include "compiler/ir/control_flow.h"
#include "compiler/ir/graph_rebuild.h"
#include "compiler/support/diagnostics.h"

namespace aotc {

class RepeatInference {
 public:
  // Outputs of regions that are no more leave `region_outputs`.
  RepeatInference(const KnownElements& known, SizeWalk& sizes, Diagnostics& diagnostics,
                  Rebuilder& rebuilder, const Node& node, std::set<ValueId>& region_outputs);

  // The node is replaced. Complaints go to the diagnostics; an error is one of the walk.
  absl::Status Run();

 private:
  void Complain(const absl::Status& refusal, const char* hint = "") const;
  const ValueType& TypeOf(ValueId id) const { return rebuilder_.graph().values[id].type; }
  ValueId Initial(size_t k) const;
  // The scalar of an operand in the graph in work; invalid where it is absent, or with a complaint.
  ValueId Operand(size_t index, DType dtype, const char* what);
  // The element of a scalar, where it is known at compile time.
  std::optional<Expr> ElementOf(ValueId scalar) const;
  bool IsProved(ValueId condition, bool value) const;

  void Skip();
  absl::Status RunOnce();
  void StackOne(ValueId old_output, ValueId item, int64_t axis);
  void ComplainOfAxis(int64_t axis, int64_t rank) const;
  absl::Status CopyLoop();
  void TypeBody(RegionId body);
  absl::Status FinishBody(RegionId body);
  // The condition of the next iteration from that of the body, which may be invalid.
  ValueId WithCount(ValueId next);
  void TypeOutputs(NodeId copy);
  void CheckCarried(NodeId copy, size_t k);
  // How many values a stacked output may hold; nothing, with a complaint, where that has no bound.
  std::optional<Expr> MostRounds(NodeId copy, size_t j);
  void TypeStacked(NodeId copy, size_t j, const Expr& rounds);
  void MoveStackedAxis(ValueId old_output, int64_t axis);
  // Of what is stacked, as much as there were rounds where the condition may end the loop early.
  bool MayEndEarly() const { return cond_.valid() && node_.attributes.Has("counter"); }
  void LearnRounds(NodeId copy, size_t j, const Expr& most);
  // Of a loop that stacks, where there is a bound for that and no count, or a greater one.
  void BoundRounds();
  void RestoreCount();
  void Shorten(ValueId old_output);
  ValueId Compare(ValueId count);

  std::set<ValueId>& region_outputs_;
  const KnownElements& known_;
  SizeWalk& sizes_;
  Diagnostics& diagnostics_;
  Rebuilder& rebuilder_;
  const Node& node_;
  const RepeatForm form_;
  RoundSizes growth_;
  const Region& old_body_;
  ValueId trip_;  // of the node to come; invalid where it has none
  ValueId cond_;
  ValueId run_time_count_;
  ValueId rounds_;                      // i64 [], how many there were, as a size
  std::optional<Expr> count_;           // how many trips there are at most
  std::optional<int64_t> most_rounds_;  // where only a bound of what is stacked says so
  struct {
    ValueId value = {};
    std::optional<Expr> count = {};
  } given_trip_;         // in place of which the bound is
  bool starts_ = false;  // nothing but the count keeps the body from running
};

}  // namespace aotc

#endif  // AOTC_COMPILER_CANONICALIZE_INFER_REPEAT_H_
