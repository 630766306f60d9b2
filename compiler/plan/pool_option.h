// The flag that makes the arena of several memories.
//
//   *ParsePoolOption("fast=65536");    // {"fast", 65536}
//   *ParsePoolOption("fast=64K");      // the same
//   *ParsePoolOption("slow");          // {"slow", none}: the last one may be without a limit
#ifndef AOTC_COMPILER_PLAN_POOL_OPTION_H_
#define AOTC_COMPILER_PLAN_POOL_OPTION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace aotc {

struct PoolOption {
  std::string name = {};
  std::optional<int64_t> limit = {};  // in bytes
};

// The error names the flag and its grammar.
absl::StatusOr<PoolOption> ParsePoolOption(std::string_view text);

// Error: a name that is no plain identifier of C, or like an earlier one but for its case; a limit
// of no bytes; a pool behind one without a limit.
absl::Status CheckPoolOptions(const std::vector<PoolOption>& pools);

}  // namespace aotc

#endif  // AOTC_COMPILER_PLAN_POOL_OPTION_H_
