#include "compiler/import/bind_option.h"

#include "compiler/support/refusal.h"
#include "compiler/support/strings.h"

namespace aotc {

absl::StatusOr<BindOption> ParseBindOption(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == text.size()) {
    return AOTC_REFUSAL(
        InvalidArgument,
        StrCat("--bind ", text, ": expected NAME=FILE, with a file of numpy (.npy) or a .pb"));
  }
  return BindOption{std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

std::string WithoutFolder(const BindOption& option) {
  return StrCat(option.name, "=", option.path.substr(option.path.find_last_of('/') + 1));
}

}  // namespace aotc
