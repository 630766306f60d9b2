#include "compiler/plan/pool_option.h"

#include <set>

#include "compiler/support/byte_count.h"
#include "compiler/support/names.h"
#include "compiler/support/refusal.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

absl::Status Wrong(const PoolOption& pool, std::string_view what, std::string_view hint) {
  return AOTC_REFUSAL(InvalidArgument, StrCat("--pool ", pool.name, ": ", what, "; hint: ", hint));
}

}  // namespace

absl::StatusOr<PoolOption> ParsePoolOption(std::string_view text) {
  const size_t equals = text.find('=');
  PoolOption pool{.name = std::string(text.substr(0, equals))};
  if (equals == std::string_view::npos) return pool;
  pool.limit = ParseByteCount(text.substr(equals + 1));
  if (!pool.limit) {
    return AOTC_REFUSAL(InvalidArgument,
                        StrCat("--pool ", text,
                               ": expected NAME=BYTES, such as fast=65536 or "
                               "fast=64K, or NAME for a last pool without a limit"));
  }
  return pool;
}

absl::Status CheckPoolOptions(const std::vector<PoolOption>& pools) {
  std::set<std::string> macros;
  for (size_t i = 0; i < pools.size(); ++i) {
    const PoolOption& pool = pools[i];
    if (CleanIdentifier(pool.name) != pool.name) {
      return Wrong(pool, "the name becomes a member of a C struct",
                   "letters, digits and single underscores, and no word of C++, such as "
                   "--pool fast=65536");
    }
    if (!macros.insert(MacroCase(pool.name)).second) {
      return Wrong(pool, "there is a pool of this name",
                   "give names that differ in more than their case");
    }
    if (pool.limit == 0) {
      return Wrong(pool, "a pool of no bytes", "give the bytes of the memory, or leave it out");
    }
    if (!pool.limit && i + 1 < pools.size()) {
      return Wrong(pool, "no pool comes behind one without a limit",
                   StrCat("--pool ", pool.name, "=BYTES, or give it last"));
    }
  }
  return absl::OkStatus();
}

}  // namespace aotc
