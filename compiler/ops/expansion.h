// A shorter hand for definitions by other ops (OpDef::expand).
//
//   absl::Status FusedSum(Rebuilder& rebuilder, const Node& node) {
//     Expansion e(rebuilder, node);
//     AOTC_RETURN_IF_ERROR(e.RequireInputs({0, 1}));
//     ValueId sum = e.Emit("Add", {e.Input(0), e.Input(1)});
//     e.SetOutput(0, e.Emit("LeakyRelu", {sum}, {{"alpha", 0.1F}}));
//     return absl::OkStatus();
//   }
#ifndef AOTC_COMPILER_OPS_EXPANSION_H_
#define AOTC_COMPILER_OPS_EXPANSION_H_

#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/ir/graph_rebuild.h"

namespace aotc {

class Expansion {
 public:
  using NamedValues = std::vector<std::pair<std::string, AttributeValue>>;
  static constexpr const char kRanks[] = "operand_ranks";

  Expansion(Rebuilder& rebuilder, const Node& node) : rebuilder_(rebuilder), node_(node) {}

  const Attributes& attributes() const { return node_.attributes; }
  bool HasInput(size_t index) const;
  bool WantsOutput(size_t index) const;
  // The value that stands for an input; invalid where there is none.
  ValueId Input(size_t index) const;
  // What is known of the type of an input, and its constant; of a definition that needs them and
  // is met before types are inferred, nothing.
  const Constant* ConstInput(size_t index) const;
  const ValueType& InputType(size_t index) const;
  // The rank of an input, where the op has another definition that its types do not suit; else -1.
  int64_t Rank(size_t index) const;
  absl::Status RequireInputs(std::initializer_list<size_t> indices) const;

  ValueId Emit(std::string_view op, std::vector<ValueId> inputs,
               const NamedValues& attributes = {});
  // The same with several outputs.
  std::vector<ValueId> EmitSeveral(std::string_view op, std::vector<ValueId> inputs, size_t outputs,
                                   const NamedValues& attributes = {});
  // A value that a body turns into the next one, so many times (i64 []); rounds count from 0.
  using LoopBody = std::function<ValueId(ValueId round, ValueId state)>;
  absl::StatusOr<ValueId> EmitLoop(ValueId times, ValueId first, const LoopBody& body);
  ValueId Add(std::string_view name, Constant constant);
  ValueId Ints(std::string_view name, const std::vector<int64_t>& values);
  ValueId Number(std::string_view name, DType type, double value);  // a scalar
  ValueId Numbers(std::string_view name, DType type, std::vector<int64_t> dims,
                  const std::vector<double>& values);

  void SetOutput(size_t index, ValueId value);

 private:
  std::string BaseName() const;

  Rebuilder& rebuilder_;
  const Node& node_;
};

// Of operands, -1 for one that is absent: what tells Expansion::Rank, as the attribute kRanks.
std::vector<int64_t> RanksOf(const Graph& graph, const std::vector<ValueId>& operands);

// A node whose op has a definition by others, and no other one.
bool IsDefinedByOthers(const Node& node);
// A round of writing such nodes as others: all but those that expand last; where only such are
// left, the first of them. `expand` is shown each node of the round.
absl::StatusOr<Graph> ExpandRound(const Graph& graph, const NodeVisitor& expand);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPS_EXPANSION_H_
