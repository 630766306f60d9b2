#include "compiler/ir/graph.h"
#include "absl/status/statusor.h"
namespace aotc { absl::StatusOr<Graph> QuickImport(const std::string& path, const std::map<std::string, std::pair<int64_t,int64_t>>& dims); }
