// Text of any IR: what a file ending in .air holds.
//
//   AOTC_ASSIGN_OR_RETURN(AirModule module, ParseAir(text, "case.air"));
//   AOTC_RETURN_IF_ERROR(VerifyAir(module));
//   PrintAir(module);
//
// The first word says which IR it is: graph or kernel.
#ifndef AOTC_COMPILER_IR_AIR_TEXT_H_
#define AOTC_COMPILER_IR_AIR_TEXT_H_

#include <string>
#include <string_view>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/kernel.h"

namespace aotc {

using AirModule = std::variant<Graph, Kernel>;

// The whole text; errors carry `place`, line and column.
absl::StatusOr<AirModule> ParseAir(std::string_view text, std::string_view place = "");
std::string PrintAir(const AirModule& module);
// Structure alone of a graph, whose types may not be inferred yet; all of a kernel.
absl::Status VerifyAir(const AirModule& module);

}  // namespace aotc

#endif  // AOTC_COMPILER_IR_AIR_TEXT_H_
