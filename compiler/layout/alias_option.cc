#include "compiler/layout/alias_option.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

absl::Status Wrong(std::string_view text) {
  return AOTC_REFUSAL(InvalidArgument,
                      StrCat("--alias ", text,
                             ": expected OUTPUT=INPUT or OUTPUT=INPUT:AXIS=CAPACITY, with one * "
                             "on both sides or on none"));
}

// Splits ":2=1024" off the end of the text. False: the numbers do not fit.
bool TakeCapacity(std::string_view& text, AliasOption& option) {
  const size_t colon = text.rfind(':');
  const size_t equals = text.rfind('=');
  if (colon == std::string_view::npos || equals == std::string_view::npos || equals < colon) {
    return true;
  }
  const std::string_view axis = text.substr(colon + 1, equals - colon - 1);
  const auto is_digit = [](char c) { return '0' <= c && c <= '9'; };
  // A colon of a name: "a=b" has no number on either side.
  if (axis.empty() || !std::ranges::all_of(axis, is_digit)) return true;
  if (text.find('=') == equals) return true;
  constexpr int64_t kMostRank = 64;
  const bool fits =
      absl::SimpleAtoi(View(axis), &option.axis.emplace()) && *option.axis < kMostRank &&
      absl::SimpleAtoi(View(text.substr(equals + 1)), &option.capacity) && option.capacity > 0;
  text = text.substr(0, colon);
  return fits;
}

}  // namespace

std::string AliasOption::Text() const {
  return StrCat(output, "=", input, axis ? StrCat(":", *axis, "=", capacity) : "");
}

std::optional<std::string> AliasOption::InputOf(std::string_view name) const {
  if (!IsPattern()) return name == output ? std::optional(input) : std::nullopt;
  const size_t star = output.find('*');
  const std::string_view before = std::string_view(output).substr(0, star);
  const std::string_view after = std::string_view(output).substr(star + 1);
  const bool matches = name.size() >= before.size() + after.size() && name.starts_with(before) &&
                       name.ends_with(after);
  if (!matches) return std::nullopt;
  std::string found = input;
  const size_t length = name.size() - before.size() - after.size();
  return found.replace(found.find('*'), 1, name.substr(before.size(), length));
}

absl::StatusOr<AliasOption> ParseAliasOption(std::string_view text) {
  AliasOption option;
  std::string_view names = text;
  if (!TakeCapacity(names, option)) return Wrong(text);
  const size_t equals = names.rfind('=');
  if (equals == std::string_view::npos) return Wrong(text);
  option.output = std::string(names.substr(0, equals));
  option.input = std::string(names.substr(equals + 1));
  const auto stars = std::ranges::count(option.output, '*');
  const bool is_whole = !option.output.empty() && !option.input.empty();
  if (!is_whole || stars > 1 || stars != std::ranges::count(option.input, '*')) return Wrong(text);
  return option;
}

}  // namespace aotc
