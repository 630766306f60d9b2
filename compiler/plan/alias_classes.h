// Buffers that share one place in the arena: an output that a kernel may compute in place takes the
// place of the input that dies there, and so on along a chain.
//
//   x = conv(...); y = relu(x); z = add(y, w)   // {x, y, z} is one class where each dies in turn
//
// Views need no entry: their memory is their base's.
#ifndef AOTC_COMPILER_PLAN_ALIAS_CLASSES_H_
#define AOTC_COMPILER_PLAN_ALIAS_CLASSES_H_

#include <vector>

#include "compiler/ir/program.h"

namespace aotc {

struct AliasClass {
  std::vector<BufferId> members = {};  // arena buffers in order of their lifetimes
  int64_t bytes = 0;                   // equal for all members
  int first_step = 0;                  // the union of their lifetimes, without a hole
  int last_step = 0;
};

// All arena buffers that some step touches, each in one class; in order of the first member's id.
// Lifetimes must be set.
std::vector<AliasClass> AliasClasses(const Program& program);

// True if `output` may take the memory of `input` at this step, wherever it stands in an order that
// makes it the first step to touch the one and the last to touch the other.
bool MayShare(const Program& program, const Step& step, BufferId output, BufferId input);

// True if `output` may take the memory of `input` at step `index`: both are whole arena buffers of
// equal bytes, the input is not needed later, the output not before, and no other argument touches
// either.
bool CanShare(const Program& program, int index, BufferId output, BufferId input);

}  // namespace aotc

#endif  // AOTC_COMPILER_PLAN_ALIAS_CLASSES_H_
