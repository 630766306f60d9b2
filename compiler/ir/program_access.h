// What steps read and write, through views, in terms of the buffers that own memory.
//
//   for (const BufferAccess& access : StepAccesses(program, step)) {
//     BufferId owner = BaseOf(program, access.buffer);   // %concat for a view into it
//   }
#ifndef AOTC_COMPILER_IR_PROGRAM_ACCESS_H_
#define AOTC_COMPILER_IR_PROGRAM_ACCESS_H_

#include <vector>

#include "compiler/ir/program.h"

namespace aotc {

struct BufferAccess {
  BufferId buffer = {};  // as named by the step; may be a view
  bool written = false;
};

// The buffer whose memory `buffer` uses: itself, or the base of a view.
BufferId BaseOf(const Program& program, BufferId buffer);

// Whether an input or output of the program is a view: of memory that the caller gives for both.
bool IsShared(const Program& program, BufferId port);

// One per argument in order, then the scratch (written) where there is one.
std::vector<BufferAccess> StepAccesses(const Program& program, const Step& step);

// Of a view its offset in the base; 0 for others. In elements of the base.
Expr ElementOffset(const Buffer& buffer);

// Of a box, along a storage axis of its base: from one element to the next, and one past the last.
int64_t StepAlong(const Buffer& box, size_t axis);
Expr EndAlong(const Buffer& box, size_t axis);
// Of a box, per storage axis, in elements of its base.
std::vector<Expr> BoxStrides(const Program& program, const Buffer& box);

// Elements between the first and one past the last that a kernel reaches through this parameter.
Expr ReachedElements(const KernelTensor& tensor);
// The same of a buffer: of a view that is a box, in its base.
Expr ReachedElements(const Program& program, const Buffer& buffer);

// Whether no element of the one is proved to be one of the other. Both use the memory of one base.
bool AreApart(const Program& program, BufferId a, BufferId b);
// The same of what one step takes, which sees all counters of rounds as they are then: rooms of a
// buffer that rounds use in turn are apart, too.
bool AreApartInStep(const Program& program, BufferId a, BufferId b);

// Bytes of the largest value of `elements` over the box of the symbols; -1 where that is unbounded.
int64_t MaxBytes(const Expr& elements, DType dtype, const Bounds& bounds);

// The scratch of one worker, rounded up to `align` bytes; of a kernel that of its largest variant.
int64_t ScratchBytes(const KernelVariant& variant, int64_t align);
int64_t ScratchBytes(const ProgramKernel& kernel, int64_t align);
// The scratch of the first `workers`, one behind the other, whichever variant runs: where it has
// fewer tasks, only so many workers have one, and scratch.
int64_t ScratchBytes(const Program& program, const ProgramKernel& kernel, int64_t workers);
// Workers that have tasks of the kernel, and so scratch: the first ones, where tasks are few.
int64_t ScratchWorkers(const Program& program, const ProgramKernel& kernel);
// The first workers, those for whose tasks the step's buffer has scratch; all where it has it for
// every task, or none is wanted.
int64_t WorkersWithScratch(const Program& program, const Step& step);

}  // namespace aotc

#endif  // AOTC_COMPILER_IR_PROGRAM_ACCESS_H_
