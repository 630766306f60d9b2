// Cases on disk: a folder with model.onnx and folders of data, as in ONNX's backend tests.
#ifndef AOTC_TESTS_IMPORT_MODEL_CASE_H_
#define AOTC_TESTS_IMPORT_MODEL_CASE_H_

#include <cstddef>
#include <filesystem>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"

namespace aotc {

// By name.
std::vector<std::filesystem::path> FoldersIn(const std::filesystem::path& folder);

// KIND_0.pb to KIND_(count - 1).pb of a folder of data; `kind` is input or output.
absl::StatusOr<std::vector<Constant>> ReadTensors(const std::filesystem::path& folder,
                                                  std::string_view kind, size_t count);

// Error: the text form of the graph is not what is read from it and printed.
absl::Status CheckTextForm(const Graph& graph);

}  // namespace aotc

#endif  // AOTC_TESTS_IMPORT_MODEL_CASE_H_
