// Folders that aotc has written: what their metadata.json says, and whether they are current.
//
//   std::vector<std::string> differences = *CheckOutput("outdir", "model.onnx", {}, diagnostics);
//   // {"changed: model.cpp", "stale: model_kernels_2.cpp"}; empty where nothing differs
#ifndef AOTC_COMPILER_DRIVER_OUTDIR_H_
#define AOTC_COMPILER_DRIVER_OUTDIR_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/emit/output.h"
#include "compiler/import/bind_option.h"
#include "compiler/support/diagnostics.h"

namespace aotc {

inline constexpr std::string_view kListFile = "metadata.json";

// Writes the files of a compile into the folder. Errors, after which nothing has changed: files of
// an earlier compile that somebody changed since, or a folder that holds another model, each
// overwritten with `force`; files in the way that aotc did not write.
absl::Status WriteOutdir(const std::string& outdir, const OutputFiles& files, bool force);

// "out/metadata.json: net.onnx my\ weights.bin" and an end of line: that the file depends on the
// others, as make and ninja read it.
std::string DependencyRule(std::string_view file, const std::vector<std::string>& read);

// Compiles the model with the flags that the folder was made with, and lists the files of ours that
// are not as this version writes them: changed, missing, stale, or left by a compile that was cut
// short. Files of others do not count. A file that was bound to a name is the one of `binds`, else
// the one of its name beside the model.
// Error: no metadata.json of ours, or the model does not compile.
absl::StatusOr<std::vector<std::string>> CheckOutput(const std::string& outdir,
                                                     const std::string& model,
                                                     const std::vector<BindOption>& binds,
                                                     Diagnostics& diagnostics);

}  // namespace aotc

#endif  // AOTC_COMPILER_DRIVER_OUTDIR_H_
