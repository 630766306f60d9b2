// Pieces that the host programs of all targets share: places of buffers, checks of a run, the
// table.
#ifndef AOTC_COMPILER_EMIT_HOST_PARTS_H_
#define AOTC_COMPILER_EMIT_HOST_PARTS_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "compiler/emit/parts.h"
#include "compiler/support/code_writer.h"

namespace aotc {

// How the file of a host program begins.
struct HostOpening {
  std::string title = {};          // what it is, behind the model's name
  std::string system_header = {};  // a further #include, or none
  std::string own_header = {};     // the same, of runtime-lite
};

// Title, includes (those that what was written uses among them) and the macro of the model's shared
// names.
std::string EmitHostOpening(const EmitContext& context, const HostOpening& opening);

// The declaration of weights that are linked in. Nothing where they are not.
void DeclareWeights(const EmitContext& context, CodeWriter& w);

// Constants `at::NAME` and `packed::NAME`: offsets of arena buffers and of weights that steps use.
void EmitPlaces(const EmitContext& context, CodeWriter& w);

// `struct symbols`, the sizes of one run as the steps use them. Nothing for static models.
void EmitSymbols(const EmitContext& context, CodeWriter& w);

// Lines that give the symbol of a port, a member of `into` ("sizes->"), the value of an element.
// Nothing is computed of an element before it is known to be in its range.
void EmitReadElement(const ElementPort& port, std::string_view element, std::string_view into,
                     CodeWriter& w);

// `work_out(sizes)`: symbols with values, and the checks of all, as far as they are known before
// the first step. Nothing where there are none.
bool WorksOutSizes(const ModelInterface& interface);
void EmitWorkOut(const EmitContext& context, CodeWriter& w);

// For each step of kind kSizes `learn_sizes_3(sizes, given, out)`: the symbols that it defines,
// from the elements of its argument if it has one, what follows from them, and whether outputs have
// room.
void EmitLearnSizes(const EmitContext& context, CodeWriter& w);
// The call of it, with expressions for `sizes` and `out`.
std::string CallLearn(const EmitContext& context, size_t step, std::string_view sizes,
                      std::string_view outputs);
// What a step of kind kSetSizes does to members of `sizes` ("dims.").
void EmitSetSizes(const EmitContext& context, const Step& step, std::string_view sizes,
                  CodeWriter& w);

// Whether an output has dims that depend on elements that a run is given.
bool ReportsSizes(const ModelInterface& interface);
// `report_sizes(dims, out)`, which fills them in. Nothing where there are none.
void EmitReportSizes(const EmitContext& context, CodeWriter& w);

// The call of it before the steps, or behind them where sizes come `late`; "" elsewhere.
std::string CallReportSizes(const ModelInterface& interface, std::string_view sizes, bool late);

// The texts of the checks, and the function that finds them; the name of the function for the
// table, that of runtime-lite where the model has no checks.
std::string EmitStatusText(const EmitContext& context, CodeWriter& w);

// `check_run(in, out, dims)`: pointers and dims; fills in the symbols of symbolic models.
void EmitCheckRun(const EmitContext& context, CodeWriter& w);

// The infos of inputs and outputs, and `bind(inputs, outputs, in, out)`, which checks what came
// through the table and fills in the structs of the public header.
void EmitTableBinding(const EmitContext& context, CodeWriter& w);

// The aotc_value_info of an input or output, in braces.
std::string TensorInfo(const EmitContext& context, const TensorPort& port);

// The parameters of the table's run that are values. Where some are no tensors (bundles.h) they are
// taken apart: `inputs` and `outputs` are then those of all tensors.
struct RunValues {
  std::string inputs = "inputs", outputs = "outputs";
};
RunValues RunValuesOf(const EmitContext& context);
// "inputs == nullptr || outputs == nullptr", of those that exist.
std::string NothingGiven(const EmitContext& context);

// How the table's run is written where it tells of its steps: under another name, with who is told,
// whom it gives to the run below. EmitPlainRun adds the one without. Nothing changes elsewhere.
struct ProfiledRun {
  std::string name = "run";
  std::string parameter = {};
  std::string give = {};
};
ProfiledRun ProfiledRunOf(const EmitContext& context);
void EmitPlainRun(const EmitContext& context, CodeWriter& w);

bool HasLateOutputs(const ModelInterface& interface);
// At the end of the table's run, with `end` the status so far: the dims of outputs that are known
// only now.
void DescribeLateOutputs(const ModelInterface& interface, CodeWriter& w);

// What differs between the tables of targets.
struct TableRows {
  std::string arena_bytes = {};
  std::string arena_align = {};
  std::string instance_bytes = "0";
  std::string pool_create = "nullptr";
  std::string pool_destroy = "nullptr";
  std::string set_weights = "nullptr";
};
// The table, and the function that returns it; closes the unnamed namespace of the table's
// functions create, run and destroy.
void EmitTable(const EmitContext& context, const TableRows& rows, CodeWriter& w);

// Steps of kind kCheck.
size_t CheckCount(const Program& program);

// "0x0123456789abcdefu"
std::string HashLiteral(uint64_t hash);

// What `write` writes of a step, under a comment "Step 3: conv1 (Conv), relu1 (Relu)."; that of an
// else stands inside the block that it opens.
absl::Status WriteTitled(const Program& program, size_t index, CodeWriter& w,
                         absl::FunctionRef<absl::Status()> write);

// The bytes that a buffer really has in a run.
std::string ActualBytes(const EmitContext& context, BufferId id);

// The variable parts of a call of a kernel: pointers, then symbols, each followed by ", ".
absl::StatusOr<std::string> KernelArguments(const EmitContext& context, const Step& step);
// The same of its declaration.
std::string KernelParameters(const KernelVariant& variant);

}  // namespace aotc

#endif  // AOTC_COMPILER_EMIT_HOST_PARTS_H_
