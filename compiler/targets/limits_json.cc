#include "compiler/targets/limits_json.h"

#include <algorithm>
#include <cmath>

#include "compiler/support/refusal.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr std::string_view kHint = "; hint: `aotc limits` prints a file for this machine";

absl::StatusOr<LimitsJson> Parsed(const std::string& text) {
  LimitsJson json = LimitsJson::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_object()) return json;
  return AOTC_REFUSAL(InvalidArgument, StrCat("--limits: ", "the file is no JSON object", kHint));
}

// "3" or "2.5e+10".
std::string Shown(double value) { return LimitsJson(value).dump(); }

}  // namespace

absl::StatusOr<std::optional<LimitsJson>> LimitsOf(const std::string& text,
                                                   std::string_view target) {
  if (text.empty()) return std::nullopt;
  AOTC_ASSIGN_OR_RETURN(const LimitsJson json, Parsed(text));
  const auto found = json.find(std::string(target));
  if (found == json.end()) return std::nullopt;
  return *found;
}

absl::Status CheckLimitsFile(const std::string& text, const std::vector<std::string>& known,
                             std::string_view target) {
  AOTC_ASSIGN_OR_RETURN(const LimitsJson json, Parsed(text));
  AOTC_RETURN_IF_ERROR(CheckKeys(json, "", known));
  if (json.contains(std::string(target))) return absl::OkStatus();
  return AOTC_REFUSAL(InvalidArgument,
                      StrCat("--limits: ", "the file says nothing of target ", target, kHint));
}

absl::StatusOr<double> ReadLimit(const LimitsJson& value, std::string_view place, bool whole,
                                 double least, double most) {
  const std::string range = StrCat("from ", Shown(least), " to ", Shown(most));
  const std::string wanted = StrCat(whole ? "a whole number " : "a number ", range);
  if (!value.is_number()) {
    return AOTC_REFUSAL(InvalidArgument, StrCat("--limits: ", place, " is ", value.dump(),
                                                "; hint: write ", wanted));
  }
  const double number = value.get<double>();
  const bool fits = number >= least && number <= most && (!whole || number == std::floor(number));
  if (fits) return number;
  return AOTC_REFUSAL(InvalidArgument,
                      StrCat("--limits: ", place, " is ", value.dump(), "; hint: write ", wanted));
}

absl::Status CheckKeys(const LimitsJson& json, std::string_view place,
                       const std::vector<std::string>& known) {
  if (!json.is_object())
    return AOTC_REFUSAL(InvalidArgument, StrCat("--limits: ", place, " is no JSON object", kHint));
  for (const auto& [key, value] : json.items()) {
    if (std::ranges::count(known, key) > 0) continue;
    return AOTC_REFUSAL(InvalidArgument,
                        StrCat("--limits: ", "unknown key '", place, place.empty() ? "" : ".", key,
                               "'; hint: known are ", StrJoin(known, ", ")));
  }
  return absl::OkStatus();
}

}  // namespace aotc
