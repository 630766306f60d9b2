#include "compiler/targets/cuda/cuda_target.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// Compute capabilities, times ten.
absl::StatusOr<std::vector<int>> ArchNumbers(const std::vector<std::string>& archs) {
  AOTC_CHECK(!archs.empty());
  std::vector<int> numbers;
  for (const std::string& arch : archs) {
    const size_t digits = std::min(arch.find_first_not_of("0123456789"), arch.size());
    const bool suffix = digits + 1 == arch.size() && (arch.back() == 'a' || arch.back() == 'f');
    int value = 0;
    if ((digits != arch.size() && !suffix) ||
        !absl::SimpleAtoi(absl::string_view(arch).substr(0, digits), &value)) {
      return AOTC_REFUSAL(InvalidArgument, StrCat("unknown GPU '", arch,
                                                  "' in --arch; hint: write sm_80 or sm_90a"));
    }
    numbers.push_back(value);
  }
  return numbers;
}

}  // namespace

absl::StatusOr<int> LeastArch(const std::vector<std::string>& archs) {
  AOTC_ASSIGN_OR_RETURN(const std::vector<int> numbers, ArchNumbers(archs));
  return *std::ranges::min_element(numbers);
}

absl::StatusOr<int> MostArch(const std::vector<std::string>& archs) {
  AOTC_ASSIGN_OR_RETURN(const std::vector<int> numbers, ArchNumbers(archs));
  return *std::ranges::max_element(numbers);
}

}  // namespace aotc
