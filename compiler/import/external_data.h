// External data of initializers, confined to the folder of the model.
#ifndef AOTC_COMPILER_IMPORT_EXTERNAL_DATA_H_
#define AOTC_COMPILER_IMPORT_EXTERNAL_DATA_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace aotc {

struct ExternalRange {
  std::string location = {};  // as the model states it: relative, with forward slashes
  int64_t offset = 0;         // bytes
  std::optional<int64_t> length = {};
};

// The `bytes` bytes of the range. Errors: an absolute location, one with `..`, one that leaves the
// folder through a symbolic link, no such regular file, a range beyond its end, a length that is
// not `bytes`.
absl::StatusOr<std::vector<uint8_t>> ReadExternalData(const std::string& folder,
                                                      const ExternalRange& range, int64_t bytes);

}  // namespace aotc

#endif  // AOTC_COMPILER_IMPORT_EXTERNAL_DATA_H_
