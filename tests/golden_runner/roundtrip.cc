#include "compiler/ir/air_text.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "tests/golden_runner/subtest.h"

namespace aotc {

SubtestResult RunRoundtrip(const GoldenCase& golden, const SubtestLine&) {
  AOTC_ASSIGN_OR_RETURN(const std::vector<AirModule> modules, ParseAir(golden.input, golden.place));
  for (const AirModule& module : modules) AOTC_RETURN_IF_ERROR(VerifyAir(module));
  std::string printed = PrintAir(modules);
  AOTC_ASSIGN_OR_RETURN(const std::vector<AirModule> again, ParseAir(printed, "printed text"));
  if (PrintAir(again) != printed)
    return absl::InternalError(StrCat("prints differently after parsing:\n", PrintAir(again)));
  if (WithoutComments(printed) == WithoutComments(golden.input)) return std::nullopt;
  return printed;
}

}  // namespace aotc
