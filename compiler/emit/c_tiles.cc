#include "compiler/emit/c_tiles.h"

#include <cctype>
#include <optional>
#include <variant>

#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

class Speller {
 public:
  Speller(const TileRow& row, const TileCall& call, const TileText& text)
      : row_(row), call_(call), text_(text), kernel_(KernelOfTile(row)) {}

  // The pattern with everything in it written out.
  std::string Spell(std::string_view pattern) const {
    std::string result;
    while (!pattern.empty()) {
      const char mark = pattern.front();
      if (mark == '[') {
        StrAppend(&result, Choice(pattern));
      } else if (mark == '$' || mark == '#' || mark == '@') {
        pattern.remove_prefix(1);
        StrAppend(&result, Named(mark, pattern));
      } else {
        result += mark;
        pattern.remove_prefix(1);
      }
    }
    return result;
  }

 private:
  static std::string_view TakeWord(std::string_view& pattern) {
    size_t end = 0;
    while (end < pattern.size() &&
           (std::isalnum(static_cast<unsigned char>(pattern[end])) != 0 || pattern[end] == '_')) {
      ++end;
    }
    const std::string_view word = pattern.substr(0, end);
    pattern.remove_prefix(end);
    return word;
  }

  // At "[name?A|B]", or "[name.axis?A|B]".
  std::string Choice(std::string_view& pattern) const {
    const size_t question = pattern.find('?'), bar = pattern.find('|'), end = pattern.find(']');
    AOTC_CHECK(question < bar && bar < end && end != std::string_view::npos) << row_.name;
    std::string_view condition = pattern.substr(1, question - 1);
    const std::string_view yes = pattern.substr(question + 1, bar - question - 1);
    const std::string_view no = pattern.substr(bar + 1, end - bar - 1);
    pattern.remove_prefix(end + 1);
    const Expr value = ValueOf(condition);
    const std::optional<size_t> param = ParamOf(condition);
    const bool holds = param ? call_.params[*param] > 1 : value.IsConst();
    return Spell(holds ? yes : no);
  }

  std::string Named(char mark, std::string_view& pattern) const {
    const std::string_view name = TakeWord(pattern);
    if (name == "I") return text_.index;
    if (name == "state") return text_.state;
    if (mark == '@') return text_.objects[name == "combiner" ? 0 : *OperandOf(name)];
    const std::optional<size_t> operand = OperandOf(name);
    if (!operand) {
      const Expr value = ValueOf(name);
      return text_.value(mark == '#' && !value.IsConst() ? Expr(0) : value);
    }
    const auto* view = std::get_if<TileView>(&call_.operands[*operand]);
    AOTC_CHECK(view != nullptr) << row_.name << ": " << std::string(name);
    if (pattern.substr(0, 2) == ":T") {
      pattern.remove_prefix(2);
      return text_.element(view->buffer);
    }
    if (pattern.empty() || pattern[0] != '.') return text_.pointer(view->buffer, view->offset);
    pattern.remove_prefix(1);
    return text_.value(Stride(*view, TakeWord(pattern)));
  }

  Expr Stride(const TileView& view, std::string_view axis) const {
    const size_t index = static_cast<size_t>(axis[0] - '0');
    AOTC_CHECK(axis.size() == 1 && index < view.strides.size()) << row_.name;
    return view.strides[index];
  }

  std::optional<size_t> ParamOf(std::string_view name) const {
    for (size_t i = 0; i < row_.params.size(); ++i) {
      if (row_.params[i].name == name) return i;
    }
    return std::nullopt;
  }

  std::optional<size_t> OperandOf(std::string_view name) const {
    for (size_t i = 0; i < kernel_.params.size(); ++i) {
      if (kernel_.tensors[kernel_.params[i]].name == name) return i;
    }
    return std::nullopt;
  }

  // Of a parameter, an extent or, as "a.0", a stride.
  Expr ValueOf(std::string_view name) const {
    if (const size_t dot = name.find('.'); dot != std::string_view::npos) {
      const std::optional<size_t> operand = OperandOf(name.substr(0, dot));
      AOTC_CHECK(operand.has_value()) << row_.name << ": " << std::string(name);
      return Stride(std::get<TileView>(call_.operands[*operand]), name.substr(dot + 1));
    }
    if (const std::optional<size_t> param = ParamOf(name)) return call_.params[*param];
    for (size_t i = 0; i < row_.extents.size(); ++i) {
      if (row_.extents[i] == name) return call_.extents[i];
    }
    AOTC_CHECK(false) << row_.name << " has no " << std::string(name);
    return {};
  }

  const TileRow& row_;
  const TileCall& call_;
  const TileText& text_;
  const Kernel kernel_;
};

}  // namespace

std::string SpellTile(const TileRow& row, const TileCall& call, const TileText& text) {
  const absl::Status status = CheckTileCall(row, call);
  AOTC_CHECK(status.ok()) << status.ToString();
  return Speller(row, call, text).Spell(row.call);
}

std::string SpellEnter(const TileRow& row, const TileCall& call, const TileText& text) {
  return row.enter.empty() ? "" : Speller(row, call, text).Spell(row.enter);
}

}  // namespace aotc
