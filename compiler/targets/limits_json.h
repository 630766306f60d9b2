// Limits of machines as JSON: what --limits takes and `aotc limits` gives. One object for each
// target that a file speaks of; each target has a table of the numbers that it knows:
//
//   {"cpu": {"cores": 2, "l1_bytes": 49152, ..., "fma_per_second": {"x86-64-v3": 7.2e10}}}
//
//   const LimitField<Limits> kFields[] = {{"cores", &Limits::cores, 1, 4096}};
//   AOTC_RETURN_IF_ERROR(ReadFields(json, "cpu", kFields, limits));
#ifndef AOTC_COMPILER_TARGETS_LIMITS_JSON_H_
#define AOTC_COMPILER_TARGETS_LIMITS_JSON_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/support/status.h"

namespace aotc {

using LimitsJson = nlohmann::ordered_json;

// What a limits file says of one target; nothing where it says nothing. "" is a file that says
// nothing of any. Error: no JSON object.
absl::StatusOr<std::optional<LimitsJson>> LimitsOf(const std::string& text,
                                                   std::string_view target);
// Error: no JSON object, nothing in it about `target`, or what is no target of `known`.
absl::Status CheckLimitsFile(const std::string& text, const std::vector<std::string>& known,
                             std::string_view target);

// A number with its name and range.
template <typename Limits>
struct LimitField {
  std::string_view name;
  std::variant<int64_t Limits::*, double Limits::*> member;
  double least, most;
};

// `place` is where the value stands: "cpu.l1_bytes". Error: no number, no whole one, out of range.
absl::StatusOr<double> ReadLimit(const LimitsJson& value, std::string_view place, bool whole,
                                 double least, double most);
// Error: `json` is no object, or has a key that is none of `known`.
absl::Status CheckKeys(const LimitsJson& json, std::string_view place,
                       const std::vector<std::string>& known);

// Members that the object names; others stay. Keys that are no fields are not looked at.
template <typename Limits>
absl::Status ReadFields(const LimitsJson& json, std::string_view place,
                        std::span<const LimitField<Limits>> fields, Limits& limits) {
  for (const LimitField<Limits>& field : fields) {
    const auto found = json.find(std::string(field.name));
    if (found == json.end()) continue;
    const std::string at = std::string(place) + "." + std::string(field.name);
    const auto* whole = std::get_if<int64_t Limits::*>(&field.member);
    AOTC_ASSIGN_OR_RETURN(const double value,
                          ReadLimit(*found, at, whole != nullptr, field.least, field.most));
    if (whole != nullptr) {
      limits.** whole = static_cast<int64_t>(value);
    } else {
      limits.*std::get<double Limits::*>(field.member) = value;
    }
  }
  return absl::OkStatus();
}

template <typename Limits>
LimitsJson WriteFields(std::span<const LimitField<Limits>> fields, const Limits& limits) {
  LimitsJson json = LimitsJson::object();
  for (const LimitField<Limits>& field : fields) {
    std::visit([&](auto member) { json[std::string(field.name)] = limits.*member; }, field.member);
  }
  return json;
}

template <typename Limits>
std::vector<std::string> FieldNames(std::span<const LimitField<Limits>> fields) {
  std::vector<std::string> names;
  for (const LimitField<Limits>& field : fields) names.emplace_back(field.name);
  return names;
}

}  // namespace aotc

#endif  // AOTC_COMPILER_TARGETS_LIMITS_JSON_H_
