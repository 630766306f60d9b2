// Values that are no plain tensors, on their way into a graph: sequences, optionals, maps and
// tensors of strings. Names of a model mean ids of values, for these too; such an id is only a
// handle, which no node reads, and the parts that stand for it (ir/bundle.h) are plain tensors.
//
//   CompositeTable composites(graph);
//   composites.Define(id, builder.OfTensors(tensors));
//   if (const Composite* sequence = composites.Find(operand)) ... sequence->parts[kLengthPart]
#ifndef AOTC_COMPILER_IMPORT_COMPOSITE_H_
#define AOTC_COMPILER_IMPORT_COMPOSITE_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/bundle.h"
#include "compiler/ir/graph.h"

namespace aotc {

struct Composite {
  BundleKind kind = BundleKind::kSequence;
  std::vector<ValueId> parts = {};  // as PartNames(kind)
  // The tensors that are its items, where their number is known as the model is read.
  std::optional<std::vector<ValueId>> items = {};
  // Of an optional, where it is known whether there is one.
  std::optional<bool> present = {};

  ValueId elements() const { return parts[kElementsPart]; }
  ValueId dims() const { return parts[kDimsPart]; }
  ValueId length() const { return parts[kLengthPart]; }
  ValueId starts() const { return parts[kStartsPart]; }
  ValueId sizes() const { return parts[kSizesPart]; }
  ValueId pool() const { return parts[kPoolPart]; }
};

// A value of this kind, whose parts are new values without types, "name.length" and so on.
Composite AddParts(Graph& graph, BundleKind kind, std::string_view name);

class CompositeTable {
 public:
  void Define(ValueId handle, Composite composite) { known_[handle] = std::move(composite); }
  // Null where the value is a plain tensor.
  const Composite* Find(ValueId value) const {
    const auto found = known_.find(value);
    return found == known_.end() ? nullptr : &found->second;
  }
  // Null where it is no tensor of strings.
  const Composite* FindStrings(ValueId value) const {
    const Composite* found = Find(value);
    return found != nullptr && found->kind == BundleKind::kStrings ? found : nullptr;
  }
  // Null where it is no map and no sequence of maps.
  const Composite* FindMap(ValueId value) const {
    const Composite* found = Find(value);
    return found != nullptr && MapFormOf(found->kind) ? found : nullptr;
  }
  // Null where it is no sequence of tensors and no optional.
  const Composite* FindItems(ValueId value) const {
    const bool has_no_items = FindStrings(value) != nullptr || FindMap(value) != nullptr;
    return has_no_items ? nullptr : Find(value);
  }
  // Bounds of the axes of a tensor of strings are those of its starts and sizes.
  void ShareLimits(Graph& graph) const;

 private:
  std::map<ValueId, Composite> known_;
};

// The error of sequences and optionals that would hold strings.
absl::Status NoItemsOfStrings();

// Adds nodes to a region for what one node of the model says of composites.
class CompositeBuilder {
 public:
  // New values are called after `name`.
  CompositeBuilder(Graph& graph, RegionId region, std::string name, Location location)
      : graph_(graph), region_(region), name_(std::move(name)), location_(std::move(location)) {}

  Graph& graph() { return graph_; }
  ValueId Emit(std::string_view op, std::vector<ValueId> inputs, Attributes attributes = {});
  ValueId Number(int64_t value);
  ValueId Flag(bool value);
  ValueId List(const std::vector<int64_t>& values);
  // The `count` parts that a Split makes.
  std::vector<ValueId> Split(ValueId tensor, ValueId sizes, int64_t count, int64_t axis);

  // A sequence of these tensors, in their order. At least one.
  Composite OfTensors(const std::vector<ValueId>& tensors);
  Composite Empty(BundleKind kind, DType dtype);
  // A value as one of another kind: a sequence as an optional one, and back, which a run checks.
  // Error: the two have nothing in common.
  absl::StatusOr<Composite> As(BundleKind kind, const Composite& from);
  // The same with room for other values of its kind: what branches give and loops carry. `items`
  // is how many it has room for, or nothing where that follows from the others; `least` as many.
  Composite WithRoom(const Composite& from, std::optional<int64_t> items, int64_t least);
  // The same strings in a pool of their own, of at most so many bytes: what loops carry, whose
  // rounds would each leave bytes of no string there.
  Composite Packed(const Composite& strings, int64_t max_bytes);
  // The number of the item at a position, an integer; -1 where there is none. `inclusive`: one
  // behind the last item is a position too.
  ValueId Place(const Composite& sequence, ValueId position, bool inclusive);
  ValueId ItemAt(const Composite& sequence, ValueId place);
  // The sequence with the tensor at that place, or at the end.
  Composite Insert(const Composite& sequence, ValueId place, ValueId tensor);
  Composite Append(const Composite& sequence, ValueId tensor) {
    return Insert(sequence, sequence.length(), tensor);
  }
  // bool []: whether an optional has a value.
  ValueId Has(const Composite& optional);

 private:
  Graph& graph_;
  RegionId region_;
  std::string name_;
  Location location_;
};

}  // namespace aotc

#endif  // AOTC_COMPILER_IMPORT_COMPOSITE_H_
