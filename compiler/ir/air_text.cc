#include "compiler/ir/air_text.h"

#include "compiler/ir/graph_text.h"
#include "compiler/ir/kernel_text.h"
#include "compiler/support/scanner.h"
#include "compiler/support/status.h"

namespace aotc {
namespace {

absl::StatusOr<AirModule> ParseModule(Scanner& scanner) {
  if (scanner.At("graph")) return ParseGraph(scanner);
  if (scanner.At("kernel")) return ParseKernel(scanner);
  return scanner.Error("expected 'graph' or 'kernel' at the beginning");
}

}  // namespace

absl::StatusOr<AirModule> ParseAir(std::string_view text, std::string_view place) {
  Scanner scanner(text, place);
  AOTC_ASSIGN_OR_RETURN(AirModule module, ParseModule(scanner));
  AOTC_RETURN_IF_ERROR(scanner.ExpectEnd());
  return module;
}

std::string PrintAir(const AirModule& module) {
  if (const auto* graph = std::get_if<Graph>(&module)) return PrintGraph(*graph);
  return PrintKernel(std::get<Kernel>(module));
}

absl::Status VerifyAir(const AirModule& module) {
  if (const auto* graph = std::get_if<Graph>(&module)) return VerifyStructure(*graph);
  return VerifyKernel(std::get<Kernel>(module));
}

}  // namespace aotc
