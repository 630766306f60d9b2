#include "compiler/ops/code_points.h"

#include <algorithm>
#include <array>

namespace aotc {
namespace {

constexpr std::array<int32_t, 4> kLastOfLength = {0x7F, 0x7FF, 0xFFFF, kLastCodePoint};
constexpr int kTailBits = 6;  // of a byte behind the first

// The bytes of a code point, each with its six bits, the first with its marks.
std::vector<int32_t> Encode(int32_t code, size_t length) {
  constexpr std::array<int32_t, 4> kMarks = {0, 0xC0, 0xE0, 0xF0};
  std::vector<int32_t> bytes(length);
  for (size_t i = length; i-- > 1;) {
    bytes[i] = 0x80 | (code & 0x3F);
    code >>= kTailBits;
  }
  bytes[0] = kMarks[length - 1] | code;
  return bytes;
}

// Splits a range, whose codes are all of one length, until all but its first bytes that differ run
// through all values.
void AddSequences(CodeRange range, size_t length, std::vector<ByteSequence>& result) {
  for (size_t tail = 1; tail < length; ++tail) {
    const int32_t below = (1 << (kTailBits * static_cast<int>(tail))) - 1;
    if ((range.first & ~below) == (range.last & ~below)) continue;
    if ((range.first & below) != 0) {
      AddSequences({range.first, range.first | below}, length, result);
      AddSequences({(range.first | below) + 1, range.last}, length, result);
      return;
    }
    if ((range.last & below) != below) {
      AddSequences({range.first, (range.last & ~below) - 1}, length, result);
      AddSequences({range.last & ~below, range.last}, length, result);
      return;
    }
  }
  const std::vector<int32_t> first = Encode(range.first, length);
  const std::vector<int32_t> last = Encode(range.last, length);
  ByteSequence sequence;
  for (size_t i = 0; i < length; ++i) sequence.push_back({first[i], last[i]});
  result.push_back(std::move(sequence));
}

}  // namespace

void CodePoints::Add(int32_t first, int32_t last) {
  std::vector<CodeRange> merged;
  for (const CodeRange& range : ranges_) {
    if (range.last + 1 < first || last + 1 < range.first) {
      merged.push_back(range);
      continue;
    }
    first = std::min(first, range.first);
    last = std::max(last, range.last);
  }
  const auto behind = std::ranges::upper_bound(merged, first, {}, &CodeRange::first);
  merged.insert(behind, {first, last});
  ranges_ = std::move(merged);
}

void CodePoints::Add(const CodePoints& other) {
  const std::vector<CodeRange> added = other.ranges_;
  for (const CodeRange& range : added) Add(range.first, range.last);
}

void CodePoints::Negate() {
  std::vector<CodeRange> others;
  int32_t next = 0;
  for (const CodeRange& range : ranges_) {
    if (next < range.first) others.push_back({next, range.first - 1});
    next = range.last + 1;
  }
  if (next <= kLastCodePoint) others.push_back({next, kLastCodePoint});
  ranges_ = std::move(others);
}

bool CodePoints::Contains(int32_t code) const {
  return std::ranges::any_of(
      ranges_, [&](const CodeRange& range) { return range.first <= code && code <= range.last; });
}

std::vector<ByteSequence> Utf8Sequences(const CodePoints& set) {
  std::vector<ByteSequence> result;
  for (CodeRange range : set.ranges()) {
    for (size_t length = 1; length <= kLastOfLength.size(); ++length) {
      const int32_t last = kLastOfLength[length - 1];
      if (range.first > last || range.first > range.last) continue;
      AddSequences({range.first, std::min(range.last, last)}, length, result);
      range.first = last + 1;
    }
  }
  return result;
}

std::optional<int32_t> TakeCodePoint(std::string_view& text) {
  if (text.empty()) return std::nullopt;
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  const size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if ((lead >= 0x80 && lead < 0xC2) || lead > 0xF4 || text.size() < length) return std::nullopt;
  constexpr std::array<int32_t, 4> kValueBits = {0x7F, 0x1F, 0x0F, 0x07};
  int32_t code = lead & kValueBits[length - 1];
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return std::nullopt;
    code = (code << kTailBits) | (byte(i) & 0x3F);
  }
  const bool overlong = length > 1 && code <= kLastOfLength[length - 2];
  if (overlong || code > kLastCodePoint) return std::nullopt;
  text.remove_prefix(length);
  return code;
}

}  // namespace aotc
