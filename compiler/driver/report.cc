#include "compiler/driver/report.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/str_format.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

std::string_view Name(Severity severity) {
  switch (severity) {
    case Severity::kError: return "error";
    case Severity::kWarning: return "warning";
    case Severity::kNote: return "note";
  }
  return "";
}

std::string_view Color(Severity severity) {
  switch (severity) {
    case Severity::kError: return "\033[1;31m";
    case Severity::kWarning: return "\033[1;35m";
    case Severity::kNote: return "\033[1;36m";
  }
  return "";
}

}  // namespace

std::string RenderFindings(const Diagnostics& diagnostics, bool color) {
  if (!color) return diagnostics.Render();
  std::string text;
  for (const Diagnostic& finding : diagnostics.Sorted()) {
    std::string line = finding.Text();
    size_t length = std::min(Name(finding.severity).size() + 1, line.size());
    StrAppend(&text, Color(finding.severity), line.substr(0, length), "\033[0m",
              line.substr(length), "\n");
  }
  return text;
}

Json FindingsToJson(const Diagnostics& diagnostics) {
  Json list = Json::array();
  for (const Diagnostic& finding : diagnostics.Sorted()) {
    list.push_back({{"severity", std::string(Name(finding.severity))},
                    {"place", finding.place.Text()},
                    {"message", finding.message},
                    {"hint", finding.hint}});
  }
  return list;
}

std::string WithPrefix(double value, const std::string& unit) {
  constexpr std::string_view kPrefixes[] = {"", "k", "M", "G", "T", "P"};
  size_t prefix = 0;
  for (; value >= 1000 && prefix + 1 < std::size(kPrefixes); ++prefix) value /= 1000;
  int decimals = prefix == 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return absl::StrFormat("%.*f %s%s", decimals, value, kPrefixes[prefix], unit);
}

std::string JsonText(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace aotc
