#include <utility>

#include "compiler/ir/constant_text.h"
#include "compiler/support/literals.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

std::string DimsText(const std::vector<int64_t>& dims) {
  return StrCat("[", StrJoin(dims, ", "), "]");
}

struct AttributePrinter {
  int constant_limit;

  std::string operator()(int64_t value) const { return StrCat(value); }
  std::string operator()(float value) const { return FloatText(value); }
  std::string operator()(const std::string& value) const { return QuotedText(value); }
  std::string operator()(const std::vector<int64_t>& values) const { return DimsText(values); }
  std::string operator()(const std::vector<float>& values) const {
    if (values.empty()) return "floats[]";
    return StrCat("[", StrJoin(values, ", ", FloatText), "]");
  }
  std::string operator()(const std::vector<std::string>& values) const {
    if (values.empty()) return "strings[]";
    return StrCat("[", StrJoin(values, ", ", [](const auto& text) { return QuotedText(text); }),
                  "]");
  }
  std::string operator()(const Constant& value) const {
    return StrCat(DTypeName(value.dtype()), DimsText(value.dims()), " ",
                  PrintConstantValue(value, constant_limit));
  }
};

bool AtFloat(const Scanner& scanner) {
  size_t sign = scanner.At("-") || scanner.At("+") ? 1 : 0;
  const Token& token = scanner.Peek(sign);
  return token.kind == TokenKind::kFloat || token.text == "inf" || token.text == "nan";
}

absl::StatusOr<std::vector<int64_t>> ParseInts(Scanner& scanner) {
  std::vector<int64_t> values;
  AOTC_RETURN_IF_ERROR(scanner.Expect("["));
  while (!scanner.At("]")) {
    if (!values.empty()) AOTC_RETURN_IF_ERROR(scanner.Expect(","));
    AOTC_ASSIGN_OR_RETURN(int64_t value, scanner.ExpectInteger());
    values.push_back(value);
  }
  AOTC_RETURN_IF_ERROR(scanner.Expect("]"));
  return values;
}

absl::StatusOr<std::vector<float>> ParseFloats(Scanner& scanner) {
  std::vector<float> values;
  AOTC_RETURN_IF_ERROR(scanner.Expect("["));
  while (!scanner.At("]")) {
    if (!values.empty()) AOTC_RETURN_IF_ERROR(scanner.Expect(","));
    AOTC_ASSIGN_OR_RETURN(double value, scanner.ExpectFloat());
    values.push_back(static_cast<float>(value));
  }
  AOTC_RETURN_IF_ERROR(scanner.Expect("]"));
  return values;
}

absl::StatusOr<std::vector<std::string>> ParseTexts(Scanner& scanner) {
  std::vector<std::string> values;
  AOTC_RETURN_IF_ERROR(scanner.Expect("["));
  while (!scanner.At("]")) {
    if (!values.empty()) AOTC_RETURN_IF_ERROR(scanner.Expect(","));
    AOTC_ASSIGN_OR_RETURN(std::string value, scanner.ExpectString());
    values.push_back(std::move(value));
  }
  AOTC_RETURN_IF_ERROR(scanner.Expect("]"));
  return values;
}

absl::StatusOr<AttributeValue> ParseListAttribute(Scanner& scanner) {
  Scanner inside = scanner;
  inside.Take();
  if (inside.Peek().kind == TokenKind::kString) return ParseTexts(scanner);
  if (AtFloat(inside)) return ParseFloats(scanner);
  return ParseInts(scanner);
}

absl::StatusOr<AttributeValue> ParseAttributeValue(Scanner& scanner) {
  if (scanner.At("[")) return ParseListAttribute(scanner);
  if (scanner.TryConsume("floats")) return ParseFloats(scanner);
  if (scanner.TryConsume("strings")) return ParseTexts(scanner);
  if (scanner.Peek().kind == TokenKind::kString) return scanner.ExpectString();
  if (AtFloat(scanner)) {
    AOTC_ASSIGN_OR_RETURN(double value, scanner.ExpectFloat());
    return static_cast<float>(value);
  }
  if (scanner.Peek().kind != TokenKind::kIdentifier) return scanner.ExpectInteger();
  std::optional<DType> dtype = ParseDType(scanner.Peek().text);
  if (!dtype) return scanner.Error("expected the value of an attribute");
  scanner.Take();
  AOTC_ASSIGN_OR_RETURN(std::vector<int64_t> dims, ParseInts(scanner));
  return ParseConstantValue(scanner, *dtype, dims);
}

}  // namespace

std::string PrintAttributes(const Attributes& attributes, int constant_limit) {
  if (attributes.empty()) return "";
  auto print = [&](const auto& entry) {
    return StrCat(entry.first, "=", std::visit(AttributePrinter{constant_limit}, entry.second));
  };
  return StrCat("{", StrJoin(attributes, ", ", print), "}");
}

absl::StatusOr<Attributes> ParseAttributes(Scanner& scanner) {
  Attributes attributes;
  AOTC_RETURN_IF_ERROR(scanner.Expect("{"));
  while (!scanner.At("}")) {
    if (!attributes.empty()) AOTC_RETURN_IF_ERROR(scanner.Expect(","));
    AOTC_ASSIGN_OR_RETURN(std::string name, scanner.ExpectIdentifier());
    if (attributes.Has(name)) return scanner.Error(StrCat("attribute '", name, "' given twice"));
    AOTC_RETURN_IF_ERROR(scanner.Expect("="));
    AOTC_ASSIGN_OR_RETURN(AttributeValue value, ParseAttributeValue(scanner));
    attributes.Set(name, std::move(value));
  }
  AOTC_RETURN_IF_ERROR(scanner.Expect("}"));
  return attributes;
}

}  // namespace aotc
