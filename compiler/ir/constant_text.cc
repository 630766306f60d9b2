#include "compiler/ir/constant_text.h"

#include <charconv>
#include <system_error>
#include <utility>

#include "absl/strings/str_format.h"
#include "compiler/support/literals.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

bool IsComplex(DType dtype) { return dtype == DType::kC64 || dtype == DType::kC128; }

std::string ElementText(const Constant& constant, int64_t index) {
  DType dtype = constant.dtype();
  if (dtype == DType::kString) return QuotedText(constant.strings()[static_cast<size_t>(index)]);
  if (dtype == DType::kF64) return DoubleText(constant.FloatAt(index));
  if (IsFloat(dtype)) return FloatText(static_cast<float>(constant.FloatAt(index)));
  if (dtype == DType::kBool) return constant.IntAt(index) != 0 ? "true" : "false";
  if (dtype == DType::kU64) return StrCat(static_cast<uint64_t>(constant.IntAt(index)));
  return StrCat(constant.IntAt(index));
}

// Product of the dims, each of which is at most the largest constant that texts may state.
absl::StatusOr<int64_t> CheckedCount(Scanner& scanner, const std::vector<int64_t>& dims) {
  constexpr int64_t kMaxElements = int64_t{1} << 32;
  int64_t count = 1;
  for (int64_t dim : dims) {
    if (dim < 0 || __builtin_mul_overflow(count, dim, &count) || count > kMaxElements) {
      return scanner.Error("constant with impossible dims");
    }
  }
  return count;
}

// Appends one element's bytes; sub-byte types are stored one at a time by the caller's buffer.
absl::Status ParseElement(Scanner& scanner, DType dtype, uint8_t* bytes, int64_t index) {
  if (dtype == DType::kBool) {
    bool value = scanner.TryConsume("true");
    if (!value) AOTC_RETURN_IF_ERROR(scanner.Expect("false"));
    StoreIntElement(dtype, bytes, index, value ? 1 : 0);
    return absl::OkStatus();
  }
  if (IsFloat(dtype)) {
    AOTC_ASSIGN_OR_RETURN(double value, scanner.ExpectFloat());
    StoreElement(dtype, bytes, index, value);
    return absl::OkStatus();
  }
  // Unsigned 64-bit values above the signed range do not pass through ExpectInteger.
  uint64_t bits = 0;
  if (dtype == DType::kU64 && absl::SimpleAtoi(scanner.Peek().text, &bits)) {
    scanner.Take();
    StoreIntElement(dtype, bytes, index, static_cast<int64_t>(bits));
    return absl::OkStatus();
  }
  const Token token = scanner.Peek();
  AOTC_ASSIGN_OR_RETURN(int64_t value, scanner.ExpectInteger());
  const auto [min, max] = IntegerRange(dtype);
  if (value < min || value > max) {
    return scanner.ErrorAt(token, StrCat(DTypeName(dtype), " does not hold ", value));
  }
  StoreIntElement(dtype, bytes, index, value);
  return absl::OkStatus();
}

absl::StatusOr<Constant> ParseStrings(Scanner& scanner, const std::vector<int64_t>& dims,
                                      int64_t count) {
  std::vector<std::string> strings;
  AOTC_RETURN_IF_ERROR(scanner.Expect("["));
  for (int64_t i = 0; i < count; ++i) {
    if (i > 0) AOTC_RETURN_IF_ERROR(scanner.Expect(","));
    AOTC_ASSIGN_OR_RETURN(std::string text, scanner.ExpectString());
    strings.push_back(std::move(text));
  }
  AOTC_RETURN_IF_ERROR(scanner.Expect("]"));
  return Constant::Strings(dims, std::move(strings));
}

absl::StatusOr<Constant> ParseList(Scanner& scanner, DType dtype, const std::vector<int64_t>& dims,
                                   int64_t count) {
  std::vector<uint8_t> bytes(static_cast<size_t>(StorageBytes(dtype, count)));
  AOTC_RETURN_IF_ERROR(scanner.Expect("["));
  for (int64_t i = 0; i < count; ++i) {
    if (i > 0) AOTC_RETURN_IF_ERROR(scanner.Expect(","));
    AOTC_RETURN_IF_ERROR(ParseElement(scanner, dtype, bytes.data(), i));
  }
  AOTC_RETURN_IF_ERROR(scanner.Expect("]"));
  return Constant::Dense(dtype, dims, std::move(bytes));
}

absl::StatusOr<Constant> ParseRandom(Scanner& scanner, DType dtype,
                                     const std::vector<int64_t>& dims) {
  AOTC_RETURN_IF_ERROR(scanner.Expect("("));
  AOTC_RETURN_IF_ERROR(scanner.Expect("seed"));
  AOTC_RETURN_IF_ERROR(scanner.Expect("="));
  AOTC_ASSIGN_OR_RETURN(int64_t seed, scanner.ExpectInteger());
  AOTC_RETURN_IF_ERROR(scanner.Expect(")"));
  return Constant::Random(dtype, dims, static_cast<uint64_t>(seed));
}

absl::StatusOr<Constant> ParseSplat(Scanner& scanner, DType dtype,
                                    const std::vector<int64_t>& dims) {
  std::vector<uint8_t> element(static_cast<size_t>(StorageBytes(dtype, 1)));
  AOTC_RETURN_IF_ERROR(scanner.Expect("("));
  AOTC_RETURN_IF_ERROR(ParseElement(scanner, dtype, element.data(), 0));
  AOTC_RETURN_IF_ERROR(scanner.Expect(")"));
  return Constant::SplatBytes(dtype, dims, std::move(element));
}

// 0123456789abcdef after the #. The scanner sees it as numbers and words side by side.
absl::StatusOr<Constant> ParseStandIn(Scanner& scanner, DType dtype,
                                      const std::vector<int64_t>& dims) {
  constexpr size_t kDigits = 16;
  const Token first = scanner.Peek();
  std::string digits;
  while (digits.size() < kDigits && !scanner.AtEnd()) digits += scanner.Take().text;
  uint64_t hash = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, hash, 16);
  if (digits.size() != kDigits || stop != end || error != std::errc()) {
    return scanner.ErrorAt(first, "expected a hash of 16 hexadecimal digits");
  }
  return Constant::StandIn(dtype, dims, hash);
}

}  // namespace

std::string PrintConstantValue(const Constant& constant, int limit) {
  int64_t count = constant.element_count();
  bool spelled = !IsComplex(constant.dtype());
  if (spelled && constant.is_splat()) return StrCat("splat(", ElementText(constant, 0), ")");
  if (!spelled || count > limit) return absl::StrFormat("#%016x", constant.ContentHash());
  std::string text = "[";
  for (int64_t i = 0; i < count; ++i) StrAppend(&text, i > 0 ? ", " : "", ElementText(constant, i));
  return text + "]";
}

absl::StatusOr<Constant> ParseConstantValue(Scanner& scanner, DType dtype,
                                            const std::vector<int64_t>& dims) {
  AOTC_ASSIGN_OR_RETURN(int64_t count, CheckedCount(scanner, dims));
  if (scanner.TryConsume("#")) return ParseStandIn(scanner, dtype, dims);
  if (dtype == DType::kString) return ParseStrings(scanner, dims, count);
  if (IsComplex(dtype)) return scanner.Error("complex constants have no text form");
  if (scanner.TryConsume("random")) return ParseRandom(scanner, dtype, dims);
  if (scanner.TryConsume("splat")) return ParseSplat(scanner, dtype, dims);
  return ParseList(scanner, dtype, dims, count);
}

}  // namespace aotc
