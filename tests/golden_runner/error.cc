#include "compiler/ir/air_text.h"
#include "compiler/support/strings.h"
#include "tests/golden_runner/subtest.h"

namespace aotc {

SubtestResult RunError(const GoldenCase& golden, const SubtestLine&) {
  std::string messages;
  for (const std::string& piece : golden.Pieces()) {
    const absl::StatusOr<std::vector<AirModule>> modules = ParseAir(piece, golden.place);
    const absl::Status status = modules.ok() ? VerifyAir(modules->front()) : modules.status();
    if (status.ok()) return absl::InternalError(StrCat("parses and verifies:\n", piece));
    StrAppend(&messages, status.message(), "\n");
  }
  return messages;
}

}  // namespace aotc
