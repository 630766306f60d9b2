#include "compiler/support/diagnostics.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// Between a message and its hint, also where both come as one text in a status.
constexpr std::string_view kHint = "; hint: ";

std::string_view SeverityName(Severity severity) {
  switch (severity) {
    case Severity::kError: return "error";
    case Severity::kWarning: return "warning";
    case Severity::kNote: return "note";
  }
  return "";
}

// "place: message; hint: what to do"
std::string Body(const Diagnostic& diagnostic) {
  std::string text = diagnostic.place.Text();
  if (!text.empty()) text += ": ";
  text += diagnostic.message;
  if (!diagnostic.hint.empty()) StrAppend(&text, kHint, diagnostic.hint);
  for (char& c : text) {
    if (absl::ascii_iscntrl(c)) c = ' ';
  }
  return text;
}

}  // namespace

std::string Place::Text() const {
  if (!node.empty() || !op.empty()) {
    const std::string version = opset > 0 ? StrCat(", opset ", opset) : "";
    return StrCat("node '", node, "'", op.empty() ? "" : StrCat(" (", op, version, ")"));
  }
  std::string text = file;
  if (line > 0) StrAppend(&text, ":", line);
  if (line > 0 && column > 0) StrAppend(&text, ":", column);
  return text;
}

Place NodePlace(std::string_view node, std::string_view op, int opset) {
  return {.node = std::string(node), .op = std::string(op), .opset = opset};
}

Place FilePlace(std::string_view file, int line, int column) {
  return {.file = std::string(file), .line = line, .column = column};
}

absl::Status About(std::string_view what, const absl::Status& status) {
  return absl::Status(status.code(), StrCat(what, ": ", status.message()));
}

std::string Diagnostic::Text() const { return StrCat(SeverityName(severity), ": ", Body(*this)); }

void Diagnostics::Add(Diagnostic diagnostic) {
  if (const size_t at = diagnostic.message.find(kHint); at != std::string::npos) {
    const std::string hint = diagnostic.message.substr(at + kHint.size());
    if (diagnostic.hint.empty()) diagnostic.hint = hint;
    diagnostic.message.resize(at);
  }
  if (std::find(items_.begin(), items_.end(), diagnostic) != items_.end()) return;
  items_.push_back(std::move(diagnostic));
}

void Diagnostics::Error(Place place, const absl::Status& refusal, std::string_view hint) {
  Add({Severity::kError, std::move(place), StrCat(refusal.message()), std::string(hint),
       refusal.code()});
}

void Diagnostics::Fault(Place place, std::string_view message, std::string_view hint) {
  Add({Severity::kError, std::move(place), std::string(message), std::string(hint)});
}

void Diagnostics::Warning(Place place, std::string_view message, std::string_view hint) {
  Add({Severity::kWarning, std::move(place), std::string(message), std::string(hint)});
}

void Diagnostics::Note(Place place, std::string_view message, std::string_view hint) {
  Add({Severity::kNote, std::move(place), std::string(message), std::string(hint)});
}

void Diagnostics::AddStatus(const absl::Status& status, Place place) {
  if (!status.ok()) Error(std::move(place), status);
}

std::vector<Diagnostic> Diagnostics::Sorted() const {
  std::vector<Diagnostic> sorted = items_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return a.severity < b.severity;
  });
  return sorted;
}

std::string Diagnostics::Render() const {
  std::string text;
  for (const Diagnostic& diagnostic : Sorted()) StrAppend(&text, diagnostic.Text(), "\n");
  return text;
}

absl::Status Diagnostics::ToStatus() const {
  std::vector<std::string> lines;
  for (const Diagnostic& diagnostic : items_) {
    if (diagnostic.severity == Severity::kError) lines.push_back(Body(diagnostic));
  }
  if (lines.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(StrJoin(lines, "\n"));
}

int Diagnostics::Count(Severity severity) const {
  return static_cast<int>(
      std::count_if(items_.begin(), items_.end(),
                    [severity](const Diagnostic& item) { return item.severity == severity; }));
}

}  // namespace aotc
