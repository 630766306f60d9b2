// Text form of layouts: the grammar is shown in layout.h.
#include <algorithm>

#include "compiler/ir/layout.h"
#include "compiler/support/literals.h"
#include "compiler/support/scanner.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr int64_t kDefaultAlign = Layout{}.align;

std::string PrintAxis(const StorageAxis& axis) {
  std::string text = StrCat(axis.axis);
  if (axis.divisor != 1) StrAppend(&text, "/", axis.divisor);
  if (axis.modulus != 0) StrAppend(&text, "%", axis.modulus);
  return text;
}

absl::StatusOr<int64_t> ParsePositive(Scanner& scanner) {
  Token token = scanner.Peek();
  AOTC_ASSIGN_OR_RETURN(int64_t value, scanner.ExpectInteger());
  if (value <= 0) return scanner.ErrorAt(token, "expected a positive number");
  return value;
}

absl::StatusOr<int> ParseAxisNumber(Scanner& scanner) {
  constexpr int64_t kMaxRank = 64;
  Token token = scanner.Peek();
  AOTC_ASSIGN_OR_RETURN(int64_t axis, scanner.ExpectInteger());
  if (axis < 0 || axis >= kMaxRank) return scanner.ErrorAt(token, "axis out of range");
  return static_cast<int>(axis);
}

absl::StatusOr<StorageAxis> ParseAxis(Scanner& scanner) {
  StorageAxis axis;
  AOTC_ASSIGN_OR_RETURN(axis.axis, ParseAxisNumber(scanner));
  if (scanner.TryConsume("/")) {
    AOTC_ASSIGN_OR_RETURN(axis.divisor, ParsePositive(scanner));
  }
  if (scanner.AtName('%')) {  // the tokens of 1%16 are 1 and the name %16
    Token token = scanner.Take();
    Scanner digits(token.text);
    absl::StatusOr<int64_t> modulus = ParsePositive(digits);
    if (!modulus.ok() || !digits.AtEnd()) return scanner.ErrorAt(token, "expected a modulus");
    axis.modulus = *modulus;
  }
  return axis;
}

// `2:1+1 3:1+1 fill 0`
absl::Status ParseHalo(Scanner& scanner, Layout& layout) {
  while (scanner.Peek().kind == TokenKind::kInteger) {
    AOTC_ASSIGN_OR_RETURN(int number, ParseAxisNumber(scanner));
    auto axis = static_cast<size_t>(number);
    if (axis >= layout.halo.size()) return scanner.Error("halo of an axis that is not there");
    AOTC_RETURN_IF_ERROR(scanner.Expect(":"));
    AOTC_ASSIGN_OR_RETURN(layout.halo[axis].before, scanner.ExpectInteger());
    AOTC_RETURN_IF_ERROR(scanner.Expect("+"));
    AOTC_ASSIGN_OR_RETURN(layout.halo[axis].after, scanner.ExpectInteger());
  }
  AOTC_RETURN_IF_ERROR(scanner.Expect("fill"));
  AOTC_ASSIGN_OR_RETURN(layout.fill, scanner.ExpectFloat());
  return absl::OkStatus();
}

std::string PrintHalo(const Layout& layout) {
  std::string text = "; halo";
  for (size_t i = 0; i < layout.halo.size(); ++i) {
    const Halo& halo = layout.halo[i];
    if (halo != Halo{}) StrAppend(&text, " ", i, ":", halo.before, "+", halo.after);
  }
  bool whole = layout.fill == static_cast<double>(static_cast<int32_t>(layout.fill));
  std::string fill = whole ? StrCat(static_cast<int32_t>(layout.fill)) : DoubleText(layout.fill);
  return StrCat(text, " fill ", fill);
}

}  // namespace

std::string PrintLayout(const Layout& layout) {
  bool default_align = layout.align == kDefaultAlign;
  if (layout.IsPlain() && default_align) return "";
  std::vector<StorageAxis> axes = layout.axes;
  for (size_t i = 0; layout.axes.empty() && i < layout.halo.size(); ++i) {
    axes.push_back({.axis = static_cast<int>(i)});
  }
  std::string text = StrCat("(", StrJoin(axes, ", ", PrintAxis));
  if (layout.HasHalo()) text += PrintHalo(layout);
  if (!default_align) StrAppend(&text, "; align ", layout.align);
  return StrCat(text, ")");
}

absl::StatusOr<Layout> ParseLayout(Scanner& scanner) {
  Layout layout;
  AOTC_RETURN_IF_ERROR(scanner.Expect("("));
  size_t rank = 0;
  while (scanner.Peek().kind == TokenKind::kInteger) {
    AOTC_ASSIGN_OR_RETURN(StorageAxis axis, ParseAxis(scanner));
    rank = std::max(rank, static_cast<size_t>(axis.axis) + 1);
    layout.axes.push_back(axis);
    if (!scanner.TryConsume(",")) break;
  }
  while (scanner.TryConsume(";")) {
    if (scanner.TryConsume("halo")) {
      layout.halo.resize(rank);
      AOTC_RETURN_IF_ERROR(ParseHalo(scanner, layout));
    } else {
      AOTC_RETURN_IF_ERROR(scanner.Expect("align"));
      AOTC_ASSIGN_OR_RETURN(layout.align, ParsePositive(scanner));
    }
  }
  AOTC_RETURN_IF_ERROR(scanner.Expect(")"));
  if (layout.IsRowMajor()) layout.axes.clear();
  return layout;
}

}  // namespace aotc
