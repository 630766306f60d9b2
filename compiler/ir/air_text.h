// Text of any IR: what a file ending in .air holds.
//
//   AOTC_ASSIGN_OR_RETURN(std::vector<AirModule> modules, ParseAir(text, "case.air"));
//   AOTC_RETURN_IF_ERROR(VerifyAir(modules[0]));
//   PrintAir(modules);
//
// The first word says which IR it is: graph, kernel, loops or program. A text holds one or several,
// such as the kernels after fusion.
#ifndef AOTC_COMPILER_IR_AIR_TEXT_H_
#define AOTC_COMPILER_IR_AIR_TEXT_H_

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/kernel.h"
#include "compiler/ir/loops.h"
#include "compiler/ir/program.h"

namespace aotc {

using AirModule = std::variant<Graph, Kernel, LoopFunction, Program>;

// The whole text; errors carry `place`, line and column.
absl::StatusOr<std::vector<AirModule>> ParseAir(std::string_view text, std::string_view place = "");
// With an empty line between two.
std::string PrintAir(const std::vector<AirModule>& modules);
std::string PrintAir(const AirModule& module);
// Structure alone of a graph, whose types may not be inferred yet; all of the others.
absl::Status VerifyAir(const AirModule& module);

}  // namespace aotc

#endif  // AOTC_COMPILER_IR_AIR_TEXT_H_
