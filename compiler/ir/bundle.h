// Values of a model that are no plain tensors, and the tensors that stand for them. Graphs and
// programs know tensors alone: what brings a model in writes each other value as several tensors,
// its parts, and what writes the interface of a compiled model makes one value of them again. From
// the one to the other a list of bundles goes beside the graph, whose inputs and outputs keep their
// order.
//
//   Bundle{.name = "boxes", .kind = BundleKind::kSequence, .is_output = false, .first = 2}
//   // the inputs 2, 3 and 4 of the graph are the parts of its input "boxes"
//
// To add a kind: say here what its parts are, in import/ how a value of the kind comes to be and
// what operators make of its parts, in emit/bundles.cc how the table's value and the parts become
// one another. Nothing between the two asks for it.
#ifndef AOTC_COMPILER_IR_BUNDLE_H_
#define AOTC_COMPILER_IR_BUNDLE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace aotc {

// kSequence: tensors of one element type. Its parts:
//   elements  [room, dims...]   item k is elements[k, 0 .. its dims]; row-major from elements[k, 0]
//                               in [room, most], where items have different ranks
//   dims      i64[room, columns]  of each item: none where all have those of `elements`, one per
//                               axis where they vary, kRankColumn + 1 where also ranks do
//   length    i64[]             how many items there are; what is behind them is any
// kOptional: of a tensor; the parts of a sequence of one item or none.
// kOptionalSequence: the parts of a sequence, and behind them
//   has       bool[]            whether there is one
// kStrings: a tensor of strings. Its parts:
//   starts    i64[dims...]      where the bytes of each string begin in the pool
//   sizes     i64[dims...]      how many they are
//   pool      u8[bytes]         one byte at least; those of no string are any
// kMap: from integers to numbers. Keys differ from one another and are in any order. Its parts:
//   keys      i64[entries]
//   values    [entries]
// kMapFromStrings: the keys are three parts, those of strings. kMapToStrings: the values are.
// kMaps, kMapsFromStrings: a sequence of maps, all of which have the same keys. Its parts:
//   keys      i64[entries], or the three of strings
//   values    [maps, entries]
enum class BundleKind {
  kSequence,
  kOptional,
  kOptionalSequence,
  kStrings,
  kMap,
  kMapFromStrings,
  kMapToStrings,
  kMaps,
  kMapsFromStrings
};

inline constexpr size_t kElementsPart = 0, kDimsPart = 1, kLengthPart = 2, kHasPart = 3;
inline constexpr size_t kStartsPart = 0, kSizesPart = 1, kPoolPart = 2;
// Of `dims`, where ranks vary: the column of the rank, behind one for each axis.
inline constexpr int kRankColumn = 8;

// What kinds of maps differ in.
struct MapForm {
  bool is_sequence = false;
  bool has_string_keys = false;
  bool has_string_values = false;

  size_t first_value() const { return has_string_keys ? kPoolPart + 1 : 1; }  // of its parts
};
// Nothing for other kinds.
std::optional<MapForm> MapFormOf(BundleKind kind);
// The part that holds the bytes of its strings; nothing where it has none.
std::optional<size_t> PoolPartOf(BundleKind kind);

// "elements", "dims", "length" ...
const std::vector<std::string_view>& PartNames(BundleKind kind);
// An input or output of a graph that is no plain tensor.
struct Bundle {
  std::string name = {};  // as in the model
  BundleKind kind = BundleKind::kSequence;
  bool is_output = false;
  size_t first = 0;  // of its parts, among the inputs or the outputs of the graph
};

// The one that such an input or output is a part of; null for a tensor of the model.
const Bundle* BundleOf(const std::vector<Bundle>& bundles, bool is_output, size_t index);

}  // namespace aotc

#endif  // AOTC_COMPILER_IR_BUNDLE_H_
