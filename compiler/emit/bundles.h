// The table of a model with inputs or outputs that are no plain tensors (ir/bundle.h): one value
// for the parts of each, and how the host program makes the parts of it and back.
//
//   if (HasBundles(context)) EmitTakeValues(context, "(uint8_t *)arena", w);
#ifndef AOTC_COMPILER_EMIT_BUNDLES_H_
#define AOTC_COMPILER_EMIT_BUNDLES_H_

#include <string>
#include <string_view>
#include <vector>

#include "compiler/emit/parts.h"
#include "compiler/support/code_writer.h"

namespace aotc {

// EmitOutput of output.h for a program of which some inputs, or outputs, are parts of one value.
absl::StatusOr<OutputFiles> EmitOutput(const Program& program, const EmitOptions& options,
                                       const std::vector<Bundle>& bundles);

bool HasBundles(const EmitContext& context);

// Bytes behind the arena in which parts lie during a run through the table, a multiple of 64.
int64_t BytesOfParts(const EmitContext& context);

// How many values the table has, and the name of their infos; "nullptr" where there are none.
struct TableValues {
  size_t count = 0;
  std::string infos = {};
};
TableValues ValuesOf(const EmitContext& context, bool outputs);

// Where there are bundles: the infos of the table's values, and
//   take_values(given, lent, parts, inputs, outputs)   from the table's values to one per tensor
//   give_values(outputs, lent)                         the other way, once a run has ended well
// Error: an output that the table cannot hold.
absl::Status EmitBundles(const EmitContext& context, CodeWriter& w);

// Lines at the begin of the table's run(..., given, lent, ...): `inputs` and `outputs`, the values
// of the tensors. `parts` is the address of the memory for those that are parts.
void EmitTakeValues(const EmitContext& context, std::string_view parts, CodeWriter& w);

}  // namespace aotc

#endif  // AOTC_COMPILER_EMIT_BUNDLES_H_
