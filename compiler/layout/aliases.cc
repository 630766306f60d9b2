#include "compiler/layout/aliases.h"

#include <algorithm>
#include <set>
#include <utility>

#include "compiler/ir/shape_text.h"
#include "compiler/ops/emit.h"
#include "compiler/ops/op.h"
#include "compiler/schedule/join.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

const std::string& NameOf(const Value& value) {
  return value.output_name.empty() ? value.name : value.output_name;
}

class Binder {
 public:
  Binder(Graph& graph, const AliasOption& option)
      : graph_(graph), bounds_(BoundsOf(graph.symbols)), option_(option) {}

  // Adds the pairs that the flag speaks of.
  absl::Status Run(std::vector<Alias>& aliases) {
    const size_t known = aliases.size();
    bool has_output = false;
    for (ValueId output : graph_.main_region().outputs) {
      const std::optional<std::string> name = option_.InputOf(NameOf(graph_.values[output]));
      has_output = has_output || name;
      if (!name) continue;
      const ValueId input = InputOf(*name);
      if (input.valid()) aliases.push_back({.output = output, .input = input});
    }
    if (!has_output)
      return Wrong(AOTC_REFUSAL(InvalidArgument, "the model has no such output"),
                   "aotc inspect lists them");
    if (aliases.size() == known) {
      return Wrong(AOTC_REFUSAL(InvalidArgument, "the model has no such input"),
                   "aotc inspect lists them");
    }
    for (size_t i = known; i < aliases.size(); ++i) {
      AOTC_RETURN_IF_ERROR(CheckPair(aliases[i]));
      AOTC_RETURN_IF_ERROR(Bind(aliases[i]));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Wrong(const absl::Status& refusal, std::string_view hint) const {
    return absl::Status(refusal.code(), StrCat("--alias ", option_.Text(), ": ", refusal.message(),
                                               "; hint: ", hint));
  }

  const Value& Of(ValueId id) const { return graph_.values[id]; }
  std::string Quoted(ValueId id) const { return StrCat("'", NameOf(Of(id)), "'"); }

  ValueId InputOf(const std::string& name) const {
    for (ValueId input : graph_.main_region().inputs) {
      if (Of(input).name == name) return input;
    }
    return {};
  }

  absl::Status CheckPair(const Alias& alias) const {
    const ValueType& to = Of(alias.output).type;
    const ValueType& from = Of(alias.input).type;
    if (to.dtype == from.dtype && to.dims.size() == from.dims.size()) return absl::OkStatus();
    return Wrong(AOTC_REFUSAL(InvalidArgument, StrCat(Quoted(alias.output), " and ",
                                                      Quoted(alias.input), " differ in type")),
                 "they must agree but for one axis that grows");
  }

  absl::Status Bind(Alias& alias) {
    const Shape& to = Of(alias.output).type.dims;
    const Shape& from = Of(alias.input).type.dims;
    for (size_t axis = 0; axis < to.size(); ++axis) {
      if (ProveEqual(to[axis], from[axis], bounds_)) continue;
      if (alias.axis) {
        return Wrong(
            AOTC_REFUSAL(InvalidArgument, StrCat(Quoted(alias.output), " and ", Quoted(alias.input),
                                                 " differ in more than one dim")),
            "they must agree but for one axis that grows");
      }
      alias.axis = axis;
    }
    AOTC_RETURN_IF_ERROR(alias.axis ? BindGrowing(alias) : BindState(alias));
    return CheckStrides(Of(alias.axis ? alias.root : alias.output).type.dims);
  }

  // --- Pairs of one type ----------------------------------------------------------------------

  absl::Status BindState(const Alias& alias) const {
    if (option_.axis) {
      return Wrong(
          AOTC_REFUSAL(InvalidArgument, StrCat(Quoted(alias.output), " and ", Quoted(alias.input),
                                               " have one type: no axis grows")),
          "give no :AXIS=CAPACITY");
    }
    if (!IsWindow(alias.output, alias.input)) return absl::OkStatus();
    return Wrong(
        AOTC_REFUSAL(InvalidArgument, StrCat(Quoted(alias.output), " is a sliding window over ",
                                             Quoted(alias.input), ": a run would move all of it")),
        "let the axis grow, or give it memory of its own");
  }

  // Whether a value is made of elements of `input` at other places.
  bool IsWindow(ValueId value, ValueId input, bool moved = false) const {
    if (value == input) return moved;
    const NodeId id = Producers(graph_)[value];
    if (!id.valid()) return false;
    const Node& node = graph_.nodes[id];
    const absl::StatusOr<NodeKernel> made = BuildNodeKernel(graph_, node);
    if (!made.ok()) return false;
    const bool moves = ReadCut(made->kernel) || ReadJoin(made->kernel);
    if (!moves && !HasTrait(node.op, kKeepsOrder)) return false;
    return std::ranges::any_of(made->inputs,
                               [&](ValueId from) { return IsWindow(from, input, moved || moves); });
  }

  // --- Pairs that grow ------------------------------------------------------------------------

  absl::Status BindGrowing(Alias& alias) {
    const size_t axis = *alias.axis;
    if (option_.axis && *option_.axis != static_cast<int64_t>(axis)) {
      return Wrong(
          AOTC_REFUSAL(InvalidArgument, StrCat("axis ", axis, " of ", Quoted(alias.output),
                                               " grows, not ", *option_.axis)),
          StrCat("--alias ", option_.output, "=", option_.input, ":", axis, "=", option_.capacity));
    }
    if (IsSubByte(Of(alias.output).type.dtype)) {
      return Wrong(
          AOTC_REFUSAL(InvalidArgument, "elements of less than a byte do not share memory"),
          "leave it out");
    }
    AOTC_RETURN_IF_ERROR(CheckReaders(alias));
    AOTC_RETURN_IF_ERROR(AddRoot(alias));
    const Interval given = RangeOf(Of(alias.input).type.dims[axis], bounds_);
    return given.max == 0 ? KeepNew(alias) : KeepParts(alias);
  }

  // Branches and loops read tensors whose elements lie together.
  absl::Status CheckReaders(const Alias& alias) const {
    for (NodeId id : graph_.main_region().nodes) {
      const Node& node = graph_.nodes[id];
      if (node.regions.empty()) continue;
      const std::vector<ValueId> captured = CapturedValues(graph_, node);
      for (ValueId value : {alias.input, alias.output}) {
        const bool is_read =
            std::ranges::count(node.inputs, value) > 0 || std::ranges::count(captured, value) > 0;
        if (!is_read) continue;
        return Wrong(
            AOTC_REFUSAL(InvalidArgument, StrCat(Quoted(value), " is read by a branch or loop")),
            "leave it out");
      }
    }
    return absl::OkStatus();
  }

  absl::Status AddRoot(Alias& alias) {
    ValueType type = Of(alias.output).type;
    const int64_t least = RangeOf(type.dims[*alias.axis], bounds_).max;
    const int64_t capacity = option_.axis ? option_.capacity : least;
    if (capacity < least) {
      return Wrong(
          AOTC_REFUSAL(InvalidArgument, StrCat("axis ", *alias.axis, " of ", Quoted(alias.output),
                                               " has up to ", least, " elements")),
          "a larger capacity, or a lower bound of the dim");
    }
    type.dims[*alias.axis] = std::max<int64_t>(capacity, 1);
    alias.root = graph_.AddValue(StrCat(NameOf(Of(alias.output)), "_memory"), std::move(type));
    return absl::OkStatus();
  }

  // The input never has elements: all of the output is new.
  absl::Status KeepNew(const Alias& alias) {
    const NodeId producer = Producers(graph_)[alias.output];
    if (!producer.valid() || !graph_.nodes[producer].regions.empty()) {
      return Wrong(AOTC_REFUSAL(InvalidArgument,
                                StrCat(Quoted(alias.output), " is not made by an operator")),
                   "leave it out");
    }
    const ValueId made = graph_.AddValue(Of(alias.output).name, Of(alias.output).type);
    Node& node = graph_.nodes[producer];
    std::ranges::replace(node.outputs, alias.output, made);
    InsertBehind(producer, CopyNode(made, alias.output, node));
    return absl::OkStatus();
  }

  // What is new must be written where it belongs, and by a kernel.
  absl::Status KeepParts(const Alias& alias) {
    const NodeId producer = Producers(graph_)[alias.output];
    const bool joins = producer.valid() && IsJoin(graph_.nodes[producer], alias);
    if (!joins) {
      return Wrong(AOTC_REFUSAL(InvalidArgument,
                                StrCat(Quoted(alias.output), " is not ", Quoted(alias.input),
                                       " and new elements behind it along axis ", *alias.axis)),
                   "its operator must be Concat with the input first; a window that slides cannot "
                   "share memory");
    }
    for (size_t i = 1; i < graph_.nodes[producer].inputs.size(); ++i) {
      const ValueId part = graph_.nodes[producer].inputs[i];
      const ValueId copy = graph_.AddValue(Of(part).name, Of(part).type);
      graph_.nodes[producer].inputs[i] = copy;
      InsertInFrontOf(producer, CopyNode(part, copy, graph_.nodes[producer]));
    }
    return absl::OkStatus();
  }

  bool IsJoin(const Node& node, const Alias& alias) const {
    const absl::StatusOr<NodeKernel> made = BuildNodeKernel(graph_, node);
    const std::optional<Join> join = made.ok() ? ReadJoin(made->kernel) : std::nullopt;
    if (!join || join->step != 1 || join->axis != *alias.axis) return false;
    const auto is_input = [&](const JoinPart& part) {
      const auto param = std::ranges::find(made->kernel.params, part.tensor);
      return made->inputs[static_cast<size_t>(param - made->kernel.params.begin())] == alias.input;
    };
    return is_input(join->parts[0]) && std::ranges::count_if(join->parts, is_input) == 1;
  }

  static Node CopyNode(ValueId from, ValueId to, const Node& like) {
    Node copy = RelayoutNode(from, to);
    copy.locations = like.locations;
    return copy;
  }

  void InsertInFrontOf(NodeId place, Node node) { Insert(place, 0, std::move(node)); }
  void InsertBehind(NodeId place, Node node) { Insert(place, 1, std::move(node)); }

  void Insert(NodeId place, int distance, Node node) {
    const NodeId added = graph_.AddNode(graph_.main, std::move(node));
    std::vector<NodeId>& nodes = graph_.main_region().nodes;
    nodes.pop_back();
    nodes.insert(std::ranges::find(nodes, place) + distance, added);
  }

  // The caller is told how the pair lies in memory, once for all sizes.
  absl::Status CheckStrides(const Shape& extents) const {
    for (size_t axis = 1; axis < extents.size(); ++axis) {
      if (extents[axis].IsConst()) continue;
      return Wrong(AOTC_REFUSAL(InvalidArgument,
                                StrCat("its strides in memory vary with ", PrintExpr(extents[axis]),
                                       ", the extent of axis ", axis)),
                   "pin the dim with --dim");
    }
    return absl::OkStatus();
  }

  Graph& graph_;
  const Bounds bounds_;
  const AliasOption& option_;
};

absl::Status CheckOnce(const Graph& graph, const std::vector<Alias>& aliases) {
  std::set<ValueId> outputs, inputs;
  for (const Alias& alias : aliases) {
    const bool is_new = outputs.insert(alias.output).second && inputs.insert(alias.input).second;
    if (is_new) continue;
    return AOTC_REFUSAL(InvalidArgument, StrCat("--alias: '", NameOf(graph.values[alias.output]),
                                                "' or '", NameOf(graph.values[alias.input]),
                                                "' is in two pairs; hint: name it once"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<Alias>> BindAliases(Graph& graph,
                                               const std::vector<AliasOption>& options) {
  std::vector<Alias> aliases;
  for (const AliasOption& option : options) {
    AOTC_RETURN_IF_ERROR(Binder(graph, option).Run(aliases));
    AOTC_RETURN_IF_ERROR(CheckOnce(graph, aliases));
  }
  return aliases;
}

}  // namespace aotc
