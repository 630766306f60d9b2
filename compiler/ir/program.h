// Program: what the generated host code does: steps over buffers in one arena.
//
// A step launches a kernel on buffers, copies, or checks; branches and loops are steps that open
// and close, with the steps of their bodies between (program_control.h). Buffers are inputs and
// outputs (the caller's memory), slices of the weights, slices of the arena, or views: another
// buffer at an offset with strides. Text form: program_text.h.
#ifndef AOTC_COMPILER_IR_PROGRAM_H_
#define AOTC_COMPILER_IR_PROGRAM_H_

#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/kernel.h"
#include "compiler/ir/loops.h"
#include "compiler/ir/packing.h"

namespace aotc {

using BufferId = Id<struct BufferTag>;
using KernelId = Id<struct KernelTag>;
using PoolId = Id<struct PoolTag>;

// kHost: a variable of the host program, for what decides its way where kernels run on a device.
enum class BufferKind : uint8_t { kInput, kOutput, kWeights, kArena, kView, kHost };

struct Buffer {
  std::string name = {};   // a C identifier, unique in the program
  std::string value = {};  // the graph value it holds
  DType dtype = DType::kF32;
  Shape shape = {};  // logical
  Layout layout = {};
  BufferKind kind = BufferKind::kArena;
  int64_t bytes = 0;        // at the symbols' maxima, padding and halo included
  int64_t offset = 0;       // into the arena or the weights, in bytes; set by plan/ and pack
  BufferId base = {};       // kView: the buffer that it looks into (not a view itself)
  Expr element_offset = 0;  // kView: of its first element, in elements of the base
  // kView: a box in the base, whose strides it has: where it begins per storage axis of the base.
  // Empty: its elements lie together.
  std::vector<Expr> start = {};
  // Of a box: from one of its elements to the next, per storage axis of the base. Empty: 1.
  std::vector<int64_t> step = {};
  // kInput whose elements are sizes: those, over the symbols.
  std::vector<Expr> elements = {};
  int first_step = -1;  // arena: live from the start of this step ...
  int last_step = -1;   // ... to the end of this one; set by plan/
  PoolId pool = {};     // arena: the pool that it lies in, where there are any; set by plan/
};

// One of the memories that make up the arena where the user has several. Pools lie in the arena one
// after another, so that a caller may lend one memory for all of them.
struct Pool {
  std::string name = {};              // a C identifier
  std::optional<int64_t> limit = {};  // most bytes
  int64_t offset = 0;                 // in the arena; this and the rest are set by plan/
  int64_t bytes = 0;
  int64_t lower_bound = 0;  // largest sum of bytes of its buffers that live at one step
  bool is_least = false;    // above the bound: a search has proven that they need no less
};

// One way to run a kernel: the first whose guard holds is taken.
struct KernelVariant {
  Expr guard = Bool(true);  // over the symbols
  std::string feature =
      {};  // instruction set or architecture it needs: "x86-64-v4", "sm_80"; "" is the base
  std::string realisation = {};  // "loops", "vector_loops", "contract_tile", ...
  std::string schedule = {};     // printed: "contract_tile{mr=14, nv=2}"
  std::string reason = {};
  LoopFunction loops = {};
};

struct ProgramKernel {
  Kernel kernel = {};                  // names and sources are those of its first launch
  Packing packing = {};                // of its constants, for the loops of all variants alike
  std::vector<std::string> also = {};  // sources of further launches, "Conv_0 (Conv) + ..." each
  std::vector<KernelVariant> variants = {};
};

// kCheck: the run gives AOTC_ERROR_VALUE unless its argument, one bool, is true.
// kIf, kElse, kEnd: the steps up to kElse run where the argument of kIf, one bool, is true; those
// up to kEnd where it is not. kLoop, kEnd: the steps between run `trip` times, and only as long as
// the argument, one bool or none, is true in front of a round.
// kSizes: the elements of the argument, integers that the host can read, give symbols their values,
// and with them those that follow (program_sizes.h), until the end of the branch or round. Without
// an argument they have one: that which kSetSizes has given them, or that of the symbol.
// kSetSizes: symbols that a kSizes to come makes known take values, all at once.
// kDecode: the host calls the user's aotc_decode_image (ir/image_decoder.h) on the first argument,
// bytes, wherever they lie; the last one gets height and width, i64[2], or the pixels.
enum class StepKind : uint8_t {
  kLaunch,
  kCopy,
  kCheck,
  kDecode,
  kSizes,
  kSetSizes,
  kIf,
  kElse,
  kLoop,
  kEnd
};

struct Step {
  StepKind kind = StepKind::kLaunch;
  KernelId kernel = {};
  std::vector<BufferId> args = {};        // one per kernel param; kCopy: from, to; else bools
  std::vector<std::string> sources = {};  // ONNX nodes that it computes: "Conv_0 (Conv)"
  // Outputs that may share memory with an input which dies here: (arg index of output, of input).
  std::vector<std::pair<int, int>> in_place = {};
  BufferId scratch = {};     // arena, max_workers x the kernel's scratch; added by plan/
  bool barrier = true;       // workers meet before it; dropped by plan/ where nothing asks for it
  Expr trip = {};            // kLoop: over the symbols; invalid where only the argument ends it
  std::string counter = {};  // kLoop: variable of the rounds done so far, for offsets of views
  std::string rounds = {};   // kLoop: the same behind its end, where one is asked for
  std::vector<Expr> elements = {};  // kSizes: what those of its argument are, over symbols
  std::vector<Expr> values = {};    // kSetSizes: of its elements, which are variables
  std::string pixel_format = {};    // kDecode: "RGB", "BGR" or "Grayscale"
};

struct Program {
  std::string name = "model";
  std::vector<Symbol> symbols = {};
  IdVector<BufferId, Buffer> buffers = {};
  std::vector<BufferId> inputs = {};  // in graph order
  std::vector<BufferId> outputs = {};
  IdVector<KernelId, ProgramKernel> kernels = {};
  std::vector<Step> steps = {};
  std::vector<uint8_t> weights = {};  // packed blob without header; buffers have offsets in it
  IdVector<PoolId, Pool> pools = {};  // fastest first; none: the arena is one memory
  int64_t arena_bytes = 0;
  int64_t lower_bound = 0;      // largest sum of live bytes over the steps
  bool arena_is_least = false;  // above the bound: a search has proven that nothing smaller exists
  int64_t arena_align = 64;
  int64_t max_workers = 16;  // more than these find no scratch in the arena and stand idle
};

// How many steps launch each kernel.
IdVector<KernelId, int64_t> LaunchCounts(const Program& program);

// Ids in range, args match kernel params (dtype, bytes), views lie within their base, outputs
// written.
absl::Status VerifyProgram(const Program& program);
// All kernels, and the loops of all variants.
absl::Status VerifyVariants(const Program& program);

}  // namespace aotc

#endif  // AOTC_COMPILER_IR_PROGRAM_H_
