// The buffers of a program that is being built, one for each value that a step reads or writes.
//
//   ValueBuffers buffers(graph, /*has_weights=*/true, program);
//   buffers.WriteInto(value, output);      // what makes it writes straight there
//   step.args.push_back(buffers.Of(value));
#ifndef AOTC_COMPILER_LOWER_VALUE_BUFFERS_H_
#define AOTC_COMPILER_LOWER_VALUE_BUFFERS_H_

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "compiler/ir/fused_graph.h"
#include "compiler/ir/program.h"
#include "compiler/support/names.h"

namespace aotc {

class ValueBuffers {
 public:
  // Buffers go to `program`; without weights constants take no room in it.
  ValueBuffers(const Graph& graph, bool has_weights, Program& program)
      : graph_(graph), has_weights_(has_weights), program_(program) {}

  void AddViews(const std::vector<ValueView>& views) {
    for (const ValueView& view : views) views_[view.value] = view;
  }
  // A buffer more that holds the value.
  BufferId Add(ValueId id, BufferKind kind);
  // A buffer of the arena with two rooms, each for the largest of the values, and the elements from
  // the one to the other.
  std::pair<BufferId, int64_t> AddRooms(const std::vector<ValueId>& values);
  // A buffer of one byte for each element of the value.
  BufferId AddBytes(ValueId id);
  // The value at an offset in `base`, which may be a view of an enclosing region.
  BufferId AddView(ValueId id, BufferId base, const Expr& offset);
  // From now on the value lies there.
  void Put(ValueId id, BufferId buffer) { buffers_[id] = buffer; }
  // Has the value, or what it is a view of, written straight to where it is to be. False where
  // something else than the steps to come makes it, or it goes to two places.
  bool WriteInto(ValueId value, BufferId target);
  // Whether it would be, in any memory that is not the host's or a box.
  bool CanBeWrittenInto(ValueId value) const;
  // Whether it is known where the value lies, or of what it is a part.
  bool IsPlaced(ValueId value) const { return buffers_.contains(value) || views_.contains(value); }
  // The value whose storage a whole view shares; one with blocks that are not full has more storage
  // than its view.
  ValueId HomeOf(ValueId id) const;

  // That of a value in memory.
  BufferId Of(ValueId id);
  // Of a value in memory or of a constant.
  BufferId Read(ValueId id);
  // One packed copy per constant, layout and dtype.
  BufferId Weights(ValueId id, const KernelTensor& tensor);

  std::string UniqueName(std::string_view name) { return names_.Unique(std::string(name)); }
  // The name of a variable that is no buffer and no symbol.
  std::string UniqueVariable(std::string_view name);

 private:
  bool HasBoxes(ValueId base) const;

  const Graph& graph_;
  const bool has_weights_;
  Program& program_;
  NameTable names_;
  std::map<ValueId, ValueView> views_;
  std::map<ValueId, BufferId> buffers_;
  std::map<std::tuple<ValueId, std::string, DType>, BufferId> weights_;
};

}  // namespace aotc

#endif  // AOTC_COMPILER_LOWER_VALUE_BUFFERS_H_
