#include "compiler/import/shape_options.h"

#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "compiler/ir/expr_linear.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// The largest dim that a flag may state: products of a few such dims still fit into 64 bits or are
// found not to.
constexpr int64_t kMaxDim = int64_t{1} << 40;

std::optional<int64_t> ParseCount(const std::string& text) {
  int64_t value = 0;
  bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  if (!digits || !absl::SimpleAtoi(text, &value) || value > kMaxDim) return std::nullopt;
  return value;
}

// A count, or one with a sign: elements of tensors may be negative where sizes are not.
std::optional<int64_t> ParseElement(const std::string& text) {
  if (!text.starts_with('-')) return ParseCount(text);
  const std::optional<int64_t> value = ParseCount(text.substr(1));
  return value ? std::optional(-*value) : std::nullopt;
}

// N, LO..HI, ..HI, LO..HI:STEP
std::optional<DimBound> ParseBound(const std::string& text) {
  size_t dots = text.find("..");
  if (dots == std::string::npos) {
    std::optional<int64_t> value = ParseElement(text);
    if (!value) return std::nullopt;
    return DimBound{*value, *value, 1};
  }
  std::string low = text.substr(0, dots), high = text.substr(dots + 2), step = "1";
  if (size_t colon = high.find(':'); colon != std::string::npos) {
    step = high.substr(colon + 1);
    high.resize(colon);
  }
  std::optional<int64_t> min = low.empty() ? 1 : ParseElement(low);
  std::optional<int64_t> max = ParseElement(high), each = ParseCount(step);
  if (!min || !max || !each || *each < 1) return std::nullopt;
  // The values are multiples of the step.
  DimBound bound{-FloorDivInt(-*min, *each) * *each, FloorDivInt(*max, *each) * *each, *each};
  if (bound.min > bound.max) return std::nullopt;
  return bound;
}

std::optional<std::vector<DimBound>> ParseBounds(const std::string& text) {
  std::vector<DimBound> dims;
  if (text == "scalar") return dims;
  for (const std::string& part : std::vector<std::string>(absl::StrSplit(text, 'x'))) {
    std::optional<DimBound> bound = ParseBound(part);
    if (!bound || bound->min < 0) return std::nullopt;
    dims.push_back(*bound);
  }
  return dims;
}

// Not a number or a range with a slip in it.
bool MayBeName(std::string_view text) {
  return !text.empty() && std::string_view("0123456789.:-+ ").find(text[0]) == text.npos;
}

// Positions where the name may end: the last `=`, else every `:` from the left (the name may
// contain colons, and so may the value, before a step).
std::vector<size_t> Splits(std::string_view text) {
  if (size_t equals = text.rfind('='); equals != std::string_view::npos) return {equals};
  std::vector<size_t> splits;
  for (size_t i = 1; i < text.size(); ++i) {
    if (text[i] == ':') splits.push_back(i);
  }
  return splits;
}

}  // namespace

absl::StatusOr<ShapeOption> ParseShapeOption(std::string_view text) {
  for (size_t split : Splits(text)) {
    auto dims = ParseBounds(std::string(text.substr(split + 1)));
    if (dims && split > 0) return ShapeOption{std::string(text.substr(0, split)), *dims};
  }
  return AOTC_REFUSAL(InvalidArgument,
                      StrCat("--shape ", text,
                             ": expected NAME=DIMxDIM... with dims such as 3, 1..4 or 32..960:32"));
}

absl::StatusOr<DimOption> ParseDimOption(std::string_view text) {
  for (size_t split : Splits(text)) {
    auto bound = ParseBound(std::string(text.substr(split + 1)));
    if (bound && split > 0) return DimOption{std::string(text.substr(0, split)), *bound};
  }
  const size_t equals = text.rfind('=');
  if (equals != std::string_view::npos && equals > 0 && MayBeName(text.substr(equals + 1))) {
    return DimOption{.name = std::string(text.substr(0, equals)),
                     .same_as = std::string(text.substr(equals + 1))};
  }
  return AOTC_REFUSAL(
      InvalidArgument,
      StrCat("--dim ", text, ": expected NAME=8, NAME=1..32, NAME=32..960:32 or NAME=OTHER"));
}

absl::StatusOr<BoundOption> ParseBoundOption(std::string_view text) {
  const size_t equals = text.rfind('='), colon = text.rfind(':', equals);
  if (equals != text.npos && colon != text.npos && colon > 0) {
    const auto axis = ParseCount(std::string(text.substr(colon + 1, equals - colon - 1)));
    const auto most = ParseCount(std::string(text.substr(equals + 1)));
    if (axis && *axis < INT32_MAX && most) {
      return BoundOption{std::string(text.substr(0, colon)), static_cast<int>(*axis), *most};
    }
  }
  return AOTC_REFUSAL(InvalidArgument, StrCat("--bound ", text, ": expected TENSOR:AXIS=N"));
}

std::string PrintDimBound(const DimBound& bound) {
  if (bound.min == bound.max) return StrCat(bound.min);
  std::string range = StrCat(bound.min, "..", bound.max);
  return bound.step == 1 ? range : StrCat(range, ":", bound.step);
}

}  // namespace aotc
