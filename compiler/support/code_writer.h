// The writer of all emitted text: raw-string snippets with `$name$` substitution.
//
//   CodeWriter w;
//   w.Emit(R"(
//     static void $name$(float *y) {
//       $body$
//     })", {{"name", "relu"}, {"body", lines}});
//   auto loop = w.Block("for (int i = 0; i < n; ++i) {");   // closes with "}" at its end
//   w.Line("y[i] = 0;");
//
// A snippet loses its first newline, its common indentation, and what follows its last newline if
// that is blank. `$$` is a dollar sign. A value of several lines keeps the indentation of the line
// that its placeholder stands on; a line of nothing but placeholders that are all empty is dropped.
#ifndef AOTC_COMPILER_SUPPORT_CODE_WRITER_H_
#define AOTC_COMPILER_SUPPORT_CODE_WRITER_H_

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace aotc {

// Text made safe inside a comment of either kind: `*/` and `/*` are broken up, control characters
// become blanks, and a backslash at the end is dropped, so that no name in a model ends the
// comment.
std::string CommentText(std::string_view line);

class CodeWriter {
 public:
  using Values = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  // Appends a snippet and ends its last line. Every placeholder must have a value.
  void Emit(std::string_view snippet, Values values = {});
  // Appends one line at the present indentation as it is; an empty one without blanks.
  void Line(std::string_view line = "");
  // Appends `// ` lines, made safe, one for each line of the text.
  void Comment(std::string_view text);

  // Indents what is written during its life, and closes it.
  class [[nodiscard]] Scope {
   public:
    Scope(CodeWriter& writer, std::string_view close) : writer_(writer), close_(close) {
      ++writer_.depth_;
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope() {
      --writer_.depth_;
      if (!close_.empty()) writer_.Line(close_);
    }

   private:
    CodeWriter& writer_;
    std::string close_;
  };
  Scope Block(std::string_view open, std::string_view close = "}");

  const std::string& text() const { return text_; }
  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
  size_t depth_ = 0;
};

}  // namespace aotc

#endif  // AOTC_COMPILER_SUPPORT_CODE_WRITER_H_
