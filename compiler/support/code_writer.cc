#include "compiler/support/code_writer.h"

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr size_t kIndentWidth = 2;

std::vector<std::string_view> SplitLines(std::string_view text) {
  std::vector<std::string_view> lines;
  size_t start = 0;
  for (size_t end; (end = text.find('\n', start)) != std::string_view::npos; start = end + 1) {
    lines.push_back(text.substr(start, end - start));
  }
  lines.push_back(text.substr(start));
  return lines;
}

bool IsBlank(std::string_view line) {
  return std::all_of(line.begin(), line.end(), [](char c) { return absl::ascii_isspace(c); });
}

size_t IndentOf(std::string_view line) {
  const size_t first = line.find_first_not_of(' ');
  return first == std::string_view::npos ? line.size() : first;
}

// The lines of a raw string as meant: without its frame and its common indentation.
std::vector<std::string_view> SnippetLines(std::string_view snippet) {
  std::vector<std::string_view> lines = SplitLines(snippet);
  if (lines.size() > 1 && lines.front().empty()) lines.erase(lines.begin());
  if (lines.size() > 1 && IsBlank(lines.back())) lines.pop_back();
  size_t common = std::string_view::npos;
  for (std::string_view line : lines) {
    if (!IsBlank(line)) common = std::min(common, IndentOf(line));
  }
  for (std::string_view& line : lines) line.remove_prefix(std::min(common, line.size()));
  return lines;
}

std::string_view Lookup(std::string_view name, CodeWriter::Values values) {
  for (const auto& [key, value] : values) {
    if (key == name) return value;
  }
  AOTC_CHECK(false) << "no value for $" << name << "$";
  return "";
}

// `value` with `indent` blanks in front of its lines after the first; its last newline dropped.
void AppendValue(std::string_view value, size_t indent, std::string& line) {
  if (!value.empty() && value.back() == '\n') value.remove_suffix(1);
  const std::vector<std::string_view> lines = SplitLines(value);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) line += '\n';
    if (i > 0 && !lines[i].empty()) line.append(indent, ' ');
    line += lines[i];
  }
}

// Replaces the placeholders of one line. False where nothing is left of a line that had some.
bool Substitute(std::string_view line, CodeWriter::Values values, std::string& result) {
  const size_t indent = IndentOf(line);
  bool replaced = false;
  while (true) {
    const size_t start = line.find('$');
    result += line.substr(0, start);
    if (start == std::string_view::npos) return !replaced || !IsBlank(result);
    const size_t end = line.find('$', start + 1);
    AOTC_CHECK(end != std::string_view::npos) << "placeholder without end in: " << line;
    const std::string_view name = line.substr(start + 1, end - start - 1);
    if (name.empty()) {
      result += '$';
    } else {
      AppendValue(Lookup(name, values), indent, result);
      replaced = true;
    }
    line.remove_prefix(end + 1);
  }
}

// U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069 in UTF-8: they make text look like other text.
bool IsBidirectionalControl(std::string_view text) {
  if (text.size() < 3 || text[0] != '\xe2') return false;
  const auto last = static_cast<unsigned char>(text[2]);
  if (text[1] == '\x80') return last == 0x8e || last == 0x8f || (last >= 0xaa && last <= 0xae);
  return text[1] == '\x81' && last >= 0xa6 && last <= 0xa9;
}

}  // namespace

std::string CommentText(std::string_view line) {
  std::string result;
  for (size_t i = 0; i < line.size(); ++i) {
    char c = line[i];
    if (IsBidirectionalControl(line.substr(i))) {
      c = '?';
      i += 2;
    }
    if (absl::ascii_iscntrl(c)) c = ' ';
    const char previous = result.empty() ? '\0' : result.back();
    if ((previous == '*' && c == '/') || (previous == '/' && c == '*')) result += ' ';
    if (previous == '?' && c == '?') result += ' ';  // "??/" is a backslash where trigraphs live
    result += c;
  }
  while (!result.empty() && (result.back() == '\\' || result.back() == ' ')) result.pop_back();
  return result;
}

void CodeWriter::Emit(std::string_view snippet, Values values) {
  for (std::string_view line : SnippetLines(snippet)) {
    std::string text;
    if (!Substitute(line, values, text)) continue;
    for (std::string_view part : SplitLines(text)) Line(part);
  }
}

void CodeWriter::Line(std::string_view line) {
  if (!IsBlank(line)) text_.append(depth_ * kIndentWidth, ' ').append(line);
  text_ += '\n';
}

void CodeWriter::Comment(std::string_view text) {
  for (std::string_view line : SplitLines(text)) {
    const std::string safe = CommentText(line);
    Line(safe.empty() ? "//" : StrCat("// ", safe));
  }
}

CodeWriter::Scope CodeWriter::Block(std::string_view open, std::string_view close) {
  Line(open);
  return Scope(*this, close);
}

}  // namespace aotc
