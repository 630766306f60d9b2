#include "compiler/ir/air_text.h"

#include "compiler/ir/graph_text.h"
#include "compiler/ir/kernel_text.h"
#include "compiler/ir/loops_text.h"
#include "compiler/ir/program_text.h"
#include "compiler/support/scanner.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

absl::StatusOr<AirModule> ParseModule(Scanner& scanner) {
  if (scanner.At("graph")) return ParseGraph(scanner);
  if (scanner.At("kernel")) return ParseKernel(scanner);
  if (scanner.At("loops")) return ParseLoops(scanner);
  if (scanner.At("program")) return ParseProgram(scanner);
  return scanner.Error("expected 'graph', 'kernel', 'loops' or 'program'");
}

struct PrintIt {
  std::string operator()(const Graph& graph) const { return PrintGraph(graph); }
  std::string operator()(const Kernel& kernel) const { return PrintKernel(kernel); }
  std::string operator()(const LoopFunction& function) const { return PrintLoops(function); }
  std::string operator()(const Program& program) const { return PrintProgram(program); }
};

struct VerifyIt {
  absl::Status operator()(const Graph& graph) const { return VerifyStructure(graph); }
  absl::Status operator()(const Kernel& kernel) const { return VerifyKernel(kernel); }
  absl::Status operator()(const LoopFunction& function) const { return VerifyLoops(function); }
  absl::Status operator()(const Program& program) const {
    AOTC_RETURN_IF_ERROR(VerifyVariants(program));
    return VerifyProgram(program);
  }
};

}  // namespace

absl::StatusOr<std::vector<AirModule>> ParseAir(std::string_view text, std::string_view place) {
  Scanner scanner(text, place);
  std::vector<AirModule> modules;
  do {
    AOTC_ASSIGN_OR_RETURN(AirModule module, ParseModule(scanner));
    modules.push_back(std::move(module));
  } while (!scanner.AtEnd());
  return modules;
}

std::string PrintAir(const std::vector<AirModule>& modules) {
  return StrJoin(modules, "\n", [](const AirModule& module) { return PrintAir(module); });
}

std::string PrintAir(const AirModule& module) { return std::visit(PrintIt(), module); }

absl::Status VerifyAir(const AirModule& module) { return std::visit(VerifyIt(), module); }

}  // namespace aotc
