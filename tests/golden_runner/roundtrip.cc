#include "compiler/ir/air_text.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "tests/golden_runner/subtest.h"

namespace aotc {

SubtestResult RunRoundtrip(const GoldenCase& golden, const SubtestLine&) {
  AOTC_ASSIGN_OR_RETURN(const AirModule module, ParseAir(golden.input, golden.place));
  AOTC_RETURN_IF_ERROR(VerifyAir(module));
  std::string printed = PrintAir(module);
  AOTC_ASSIGN_OR_RETURN(const AirModule again, ParseAir(printed, "printed text"));
  if (PrintAir(again) != printed)
    return absl::InternalError(StrCat("prints differently after parsing:\n", PrintAir(again)));
  if (printed == golden.InputWithoutComments()) return std::nullopt;
  return printed;
}

}  // namespace aotc
