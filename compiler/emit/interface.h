// The names and numbers of a model's public interface, worked out once for all files that spell
// them.
//
//   ModelInterface m = *DescribeInterface(program);
//   m.inputs[0].member    // "image": in->image
//   m.inputs[0].macro     // "MOBILENET_INPUT_IMAGE_BYTES"
//   m.dims[0].member      // "batch": in->dims.batch
//
// The steps of a program know plain tensors alone. Where the model has values that are several of
// these (ir/bundle.h), the caller's structs have one member for each value, `given` and `taken`,
// and a run puts its parts, the members of other structs, into memory behind the arena.
#ifndef AOTC_COMPILER_EMIT_INTERFACE_H_
#define AOTC_COMPILER_EMIT_INTERFACE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/bundle.h"
#include "compiler/ir/program.h"

namespace aotc {

// A graph input or output.
struct TensorPort {
  BufferId id = {};
  int64_t bytes = 0;                  // of its memory at the largest dims
  std::string name = {};              // as in the ONNX graph
  std::string member = {};            // of the inputs or outputs struct
  std::string macro = {};             // the bytes at the largest dims
  std::string type = {};              // of an element, in C
  DType dtype = DType::kUndefined;    // of an element
  int element_align = 1;              // natural alignment in bytes
  std::string text = {};              // "f32[batch, 3, 224, 224]", dims as the user names them
  std::vector<Interval> ranges = {};  // of the dims
  bool is_read_by_host = false;       // an input whose elements sizes depend on
  bool reports_dims = false;          // an output of whose dims only a run knows some
  std::string dims_member = {};       // of the outputs struct, where it reports them
  bool is_late = false;               // an output whose dims are known in the middle of a run
  std::string capacity_member = {};   // of the outputs struct, where it is late
  int bundle = -1;                    // that it is a part of, or is made of
  size_t part = 0;                    // which
  int64_t offset = 0;                 // of a part: where it lies behind the arena, in bytes
};

// A symbol that the caller states, and where the table's run reads it: dims[axis] of an input is
// scale * var + offset.
struct DimPort {
  Symbol symbol = {};
  std::string member = {};  // of the dims struct, which holds step * var
  int input = -1;
  int axis = 0;
  int64_t scale = 1;
  int64_t offset = 0;
  bool is_packed = false;  // of a pool of strings: what the caller gives says it, not the caller
};

// A symbol that a run reads from an input in host memory, or from what a step of the program takes:
// its element, row-major, is scale * var.
struct ElementPort {
  Symbol symbol = {};
  int input = -1;  // or
  int step = -1;
  size_t element = 0;
  int64_t scale = 1;
  int check = -1;  // of its range; -1 where the symbol clamps
};

// What is worked out or looked at once the symbols before it are known.
struct SizeStep {
  Symbol symbol = {};    // with a value, with checks, or with both
  int step = -1;         // of the program, behind which they are; -1: before the first
  int range_check = -1;  // of the value; -1 where it cannot leave the range
  int first_check = 0;   // of the symbol's checks
};

// An input and an output in one memory.
struct AliasPort {
  int input = 0, output = 0;          // which of the ports
  std::vector<int64_t> strides = {};  // in elements, of both
  std::string text = {};              // "786432, 65536, 64, 1"
};

struct ModelInterface {
  std::string prefix = {};              // "mobilenet"
  std::string macro = {};               // "MOBILENET"
  std::vector<TensorPort> inputs = {};  // of the program
  std::vector<TensorPort> outputs = {};
  std::vector<TensorPort> given = {};  // the caller's: the same, or values in place of their parts
  std::vector<TensorPort> taken = {};
  std::vector<Bundle> bundles = {};
  std::vector<int> pool_checks = {};  // per bundle: of an input, that its bytes have room
  std::string inputs_type = {};       // of the structs that the steps know
  std::string outputs_type = {};
  int64_t parts_begin = 0;  // behind the arena, in bytes, aligned as that is
  int64_t parts_bytes = 0;
  std::vector<DimPort> dims = {};
  std::vector<ElementPort> elements = {};  // of inputs
  std::vector<ElementPort> computed = {};  // of what steps take
  std::vector<AliasPort> aliases = {};
  std::vector<SizeStep> sizes = {};      // in the order of the symbols
  std::vector<std::string> checks = {};  // what each says where it fails

  bool HasBundles() const { return !bundles.empty(); }
  // Which of `given` (`taken`) an input (output) of the program is, or is a part of.
  size_t GivenOf(size_t input) const;
  size_t TakenOf(size_t output) const;
  bool HasSymbols() const { return !dims.empty() || !elements.empty() || !computed.empty(); }
  // Some are known in the middle of a run.
  bool HasLateSymbols() const { return !computed.empty(); }
  // Null where the element of the input states no symbol.
  const ElementPort* ElementAt(size_t input, size_t element) const;
  // Null where the input or output has a memory of its own.
  const AliasPort* AliasOfInput(size_t input) const;
  const AliasPort* AliasOfOutput(size_t output) const;
};

absl::StatusOr<ModelInterface> DescribeInterface(const Program& program,
                                                 const std::vector<Bundle>& bundles = {});

// A dim over the symbols with each `var` replaced by the user's dim: "batch", "height/32 + 1".
std::string PrintUserDim(const Expr& dim, const std::vector<Symbol>& symbols);

}  // namespace aotc

#endif  // AOTC_COMPILER_EMIT_INTERFACE_H_
