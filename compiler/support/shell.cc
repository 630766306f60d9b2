#include "compiler/support/shell.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// What no shell takes for more than itself, wherever it stands.
bool IsPlain(char c) {
  return absl::ascii_isalnum(c) || std::string_view("_-+=:,./@%").find(c) != std::string_view::npos;
}

}  // namespace

std::string ShellWord(std::string_view text) {
  if (!text.empty() && std::ranges::all_of(text, IsPlain)) return std::string(text);
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? "'\\''" : std::string(1, c);
  return word + "'";
}

std::string ShellCommand(const std::vector<std::string>& words) {
  return StrJoin(words, " ", [](const std::string& word) { return ShellWord(word); });
}

}  // namespace aotc
