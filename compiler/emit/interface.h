// The names and numbers of a model's public interface, worked out once for all files that spell
// them.
//
//   ModelInterface m = *DescribeInterface(program);
//   m.inputs[0].member    // "image": in->image
//   m.inputs[0].macro     // "MOBILENET_INPUT_IMAGE_BYTES"
//   m.dims[0].member      // "batch": in->dims.batch
#ifndef AOTC_COMPILER_EMIT_INTERFACE_H_
#define AOTC_COMPILER_EMIT_INTERFACE_H_

#include <map>
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
  DType dtype = DType::kUndefined;    // of an element
  std::string type = {};              // the same in C
  int element_align = 1;              // natural alignment in bytes
  std::string text = {};              // "f32[batch, 3, 224, 224]", dims as the user names them
  std::vector<Interval> ranges = {};  // of the dims
  bool is_read_by_host = false;       // an input whose elements sizes depend on
  bool reports_dims = false;          // an output of whose dims only a run knows some
  std::string dims_member = {};       // of the outputs struct, where it reports them
  bool is_late = false;               // an output whose dims are known in the middle of a run
  std::string capacity_member = {};   // of the outputs struct, where it is late
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

// What is worked out or looked at once the symbols before it are known: a symbol and its range, or
// a condition that has to hold.
struct SizeStep {
  int step = -1;  // of the program, behind which they are; -1: before the first
  Symbol symbol = {};
  Expr holds = {};  // valid: that, and no symbol
  int check = -1;   // -1 where a value cannot leave the range
};

// A dim or an element of an input that has to be what other inputs state: its axis, or which one.
struct AgreePort {
  int input = 0;
  bool is_dim = true;
  size_t at = 0;
  int check = -1;
};

// An input and an output in one memory.
struct AliasPort {
  int input = 0, output = 0;          // which of the ports
  std::vector<int64_t> strides = {};  // in elements, of both
  std::string text = {};              // "786432, 65536, 64, 1"
};

// Of a map that is an input: that its entries have room, that no key is there twice.
struct MapChecks {
  int entries = -1;
  int keys = -1;
};

struct ModelInterface {
  std::string prefix = {};  // "mobilenet"
  std::string macro = {};   // "MOBILENET"
  std::vector<TensorPort> inputs = {};
  std::vector<TensorPort> outputs = {};
  std::vector<DimPort> dims = {};
  std::vector<ElementPort> elements = {};  // of inputs
  std::vector<ElementPort> computed = {};  // of what steps take
  std::vector<AliasPort> aliases = {};
  std::vector<SizeStep> sizes = {};  // in the order of the symbols
  std::vector<AgreePort> agreements = {};
  std::vector<std::string> checks = {};  // what each says where it fails
  // By the name of an input that has strings: the check that their bytes have room.
  std::map<std::string, int> room_checks = {};
  std::map<std::string, MapChecks> map_checks = {};  // by the name of an input

  std::string profile_member = {};  // of the inputs struct, where runs tell of their steps

  bool has_late_symbols = false;  // some are known in the middle of a run

  bool HasSymbols() const { return !dims.empty() || !elements.empty() || has_late_symbols; }
  bool HasLateSymbols() const { return has_late_symbols; }
  // Null where the element of the input states no symbol.
  const ElementPort* ElementAt(size_t input, size_t element) const;
  // The check of what other inputs state too; -1 where none does.
  int AgreementOf(size_t input, bool is_dim, size_t at) const;
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
