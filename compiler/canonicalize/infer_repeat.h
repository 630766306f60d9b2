// One Repeat (ir/control_flow.h) brought into its form and typed, body and all.
//
//   absl::Status status = RepeatInference(known, diagnostics, rebuilder, node, outputs).Run();
//
// * A body that never runs, and one that runs once, leave no loop behind.
// * A count that only the run knows is compared with the carried counter: it becomes a condition.
// * A condition that always holds goes.
// * Sizes are known before a model runs: carried values keep their types, and values are stacked
//   only where the count is exact.
#ifndef AOTC_COMPILER_CANONICALIZE_INFER_REPEAT_H_
#define AOTC_COMPILER_CANONICALIZE_INFER_REPEAT_H_

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "compiler/canonicalize/known_elements.h"
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
  void Complain(const std::string& message, const char* hint) const;
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
  void TypeOutputs(const Node& copy);
  void CheckCarried(const Node& copy, size_t k);
  void TypeStacked(const Node& copy, size_t j);
  void MoveStackedAxis(ValueId old_output, int64_t axis);
  // Of what is stacked, as much as there were rounds where the condition may end the loop early.
  bool MayEndEarly() const { return cond_.valid() && node_.attributes.Has("counter"); }
  void LearnRounds(ValueId rounds);
  void Shorten(ValueId old_output);
  ValueId Compare(ValueId count);

  std::set<ValueId>& region_outputs_;
  const KnownElements& known_;
  SizeWalk& sizes_;
  Diagnostics& diagnostics_;
  Rebuilder& rebuilder_;
  const Node& node_;
  const RepeatForm form_;
  const Region& old_body_;
  ValueId trip_;  // of the node to come; invalid where it has none
  ValueId cond_;
  ValueId run_time_count_;
  ValueId rounds_;             // i64 [], how many there were, as a size
  std::optional<Expr> count_;  // how many trips there are at most
  bool starts_ = false;        // nothing but the count keeps the body from running
};

}  // namespace aotc

#endif  // AOTC_COMPILER_CANONICALIZE_INFER_REPEAT_H_
