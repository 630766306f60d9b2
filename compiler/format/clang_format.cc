#include "compiler/format/clang_format.h"

#include <clang/Format/Format.h>

#include <algorithm>

#include "compiler/support/strings.h"

namespace aotc {
namespace {

using clang::format::FormatStyle;

FormatStyle OutputStyle(SourceKind kind) {
  FormatStyle style = clang::format::getGoogleStyle(FormatStyle::LK_Cpp);
  style.ColumnLimit = 100;
  style.Standard = kind == SourceKind::kC ? FormatStyle::LS_Cpp03 : FormatStyle::LS_Cpp17;
  style.DerivePointerAlignment = false;
  style.PointerAlignment = FormatStyle::PAS_Right;
  style.SortIncludes = FormatStyle::SI_Never;
  style.IncludeStyle.IncludeBlocks = clang::tooling::IncludeStyle::IBS_Preserve;
  style.InsertNewlineAtEOF = true;
  style.MaxEmptyLinesToKeep = 1;
  style.AllowShortFunctionsOnASingleLine = FormatStyle::SFS_All;
  // Comments carry kernel texts, one stage a line: they are not filled.
  style.ReflowComments = false;
  return style;
}

// clang-format chooses by it between C, C++ and what follows CUDA's `<<<`.
llvm::StringRef FileName(SourceKind kind) {
  switch (kind) {
    case SourceKind::kC: return "model.h";
    case SourceKind::kCpp: return "model.cpp";
    case SourceKind::kCuda: return "model.cu";
  }
  return "model.cpp";
}

// Whether a line is so long that the search for the best breaks, whose states grow with the nesting
// of parentheses, would not come to an end.
bool HasEndlessLine(const std::string& code) {
  constexpr size_t kLongestLine = 16 * 1024;
  for (size_t line = 0; line < code.size();) {
    const size_t end = std::min(code.find('\n', line), code.size());
    if (end - line > kLongestLine) return true;
    line = end + 1;
  }
  return false;
}

// Whether parentheses nest so deep that clang-format leaves their line as it was written.
bool NestsDeep(const std::string& code) {
  constexpr int kDeepest = 50;
  int depth = 0;
  for (const char c : code) {
    depth = c == ';' ? 0 : depth + int{c == '('} - int{c == ')'};
    if (depth > kDeepest) return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<std::string> FormatSource(std::string_view text, SourceKind kind) {
  std::string code(text);
  if (HasEndlessLine(code)) return code;
  const clang::tooling::Range everything(0, static_cast<unsigned>(code.size()));
  clang::format::FormattingAttemptStatus attempt;
  const clang::tooling::Replacements edits =
      clang::format::reformat(OutputStyle(kind), code, {everything}, FileName(kind), &attempt);
  if (!attempt.FormatComplete && !NestsDeep(code))
    return absl::InternalError(StrCat("clang-format gave up at line ", attempt.Line));
  llvm::Expected<std::string> result = clang::tooling::applyAllReplacements(code, edits);
  if (!result) return absl::InternalError(llvm::toString(result.takeError()));
  return *std::move(result);
}

}  // namespace aotc
