#include "compiler/support/byte_count.h"

#include <algorithm>
#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr std::string_view kUnits = "KMG";

}  // namespace

std::optional<int64_t> ParseByteCount(std::string_view text) {
  int64_t unit = 1, count = 0;
  if (!text.empty()) {
    const size_t found = kUnits.find(text.back());
    if (found != std::string_view::npos) {
      unit = int64_t{1} << (10 * (found + 1));
      text.remove_suffix(1);
    }
  }
  if (!std::ranges::all_of(text, absl::ascii_isdigit)) return std::nullopt;
  if (!absl::SimpleAtoi(View(text), &count)) return std::nullopt;
  if (count > std::numeric_limits<int64_t>::max() / unit) return std::nullopt;
  return count * unit;
}

}  // namespace aotc
