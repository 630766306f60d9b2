#include "compiler/reduce/failure.h"

#include <algorithm>
#include <regex>

#include "compiler/support/strings.h"

namespace aotc {

std::string WithoutNumbers(std::string_view text) {
  static const std::regex kNames("'[^']*'|%[A-Za-z0-9_.]+");
  static const std::regex kPaths("[^ ']*/[^ ]*");
  static const std::regex kLists("''(, '')+( and #+ more)?");
  static const std::regex kDims("\\[[^\\]]*\\]");
  static const std::regex kNumbers("-?[0-9]+(\\.[0-9]+)?(e[-+]?[0-9]+)?");
  std::string result = std::regex_replace(std::string(text), kNames, "''");
  result = std::regex_replace(result, kPaths, "/");
  result = std::regex_replace(result, kDims, "[]");
  result = std::regex_replace(result, kNumbers, "#");
  result = std::regex_replace(result, kLists, "''");
  return std::regex_replace(result, std::regex("nodes"), "node");
}

bool Failure::IsSameAs(const Failure& original) const {
  return !original.first.empty() && all.contains(original.first) &&
         std::ranges::includes(original.all, all);
}

Failure FailureOf(const std::vector<Diagnostic>& findings) {
  Failure failure;
  for (const Diagnostic& finding : findings) {
    if (finding.severity != Severity::kError) continue;
    Diagnostic bare = finding;
    bare.hint = "";
    const std::string text = WithoutNumbers(bare.Text());
    if (failure.first.empty()) {
      failure.first = text;
      failure.example = finding.Text();
    }
    failure.all.insert(text);
  }
  return failure;
}

Failure FailureOf(std::string_view text) {
  const std::string bare = WithoutNumbers(text);
  return {.first = bare, .all = {bare}, .example = std::string(text)};
}

}  // namespace aotc
