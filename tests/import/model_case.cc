#include "tests/import/model_case.h"

#include <algorithm>
#include <string>

#include "compiler/import/tensor_file.h"
#include "compiler/ir/graph_text.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {

namespace fs = std::filesystem;

std::vector<fs::path> FoldersIn(const fs::path& folder) {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_directory()) folders.push_back(entry.path());
  }
  std::ranges::sort(folders);
  return folders;
}

absl::StatusOr<std::vector<Constant>> ReadTensors(const fs::path& folder, std::string_view kind,
                                                  size_t count) {
  std::vector<Constant> tensors;
  for (size_t i = 0; i < count; ++i) {
    AOTC_ASSIGN_OR_RETURN(tensors.emplace_back(),
                          ReadTensorFile((folder / StrCat(kind, "_", i, ".pb")).string()));
  }
  return tensors;
}

absl::Status CheckTextForm(const Graph& graph) {
  const std::string text = PrintGraph(graph, 1 << 30);
  AOTC_ASSIGN_OR_RETURN(const Graph parsed, ParseGraph(text));
  if (PrintGraph(parsed, 1 << 30) == text) return absl::OkStatus();
  return absl::InternalError("the text form changes when it is read and printed");
}

}  // namespace aotc
