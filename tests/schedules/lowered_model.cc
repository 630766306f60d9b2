#include "tests/schedules/lowered_model.h"

#include <vector>

#include "absl/strings/str_split.h"
#include "compiler/import/shape_options.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {

absl::StatusOr<CompileResult> CompileToKernels(const std::string& argument, CompileOptions options,
                                               const PhaseHook& hook) {
  const std::vector<std::string> words = absl::StrSplit(argument, ',');
  options.model_path = words[0];
  options.passes.stop_after = "lower";
  for (size_t i = 1; i < words.size(); ++i) {
    AOTC_ASSIGN_OR_RETURN(const DimOption dim, ParseDimOption(words[i]));
    options.import.dims.push_back(dim);
  }
  Diagnostics diagnostics;
  absl::StatusOr<CompileResult> result = Compile(options, diagnostics, hook);
  if (result.ok()) return result;
  return absl::InternalError(StrCat(argument, ": ", result.status().message()));
}

std::string NameOfModel(const std::string& argument) {
  const std::string file = argument.substr(0, argument.find(','));
  return file.substr(file.rfind('/') + 1);
}

}  // namespace aotc
