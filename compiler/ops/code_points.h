// Sets of Unicode code points, and the UTF-8 byte sequences that spell them.
//
//   CodePoints digits;
//   digits.Add('0', '9');
//   digits.Negate();                            // all others
//   for (const ByteSequence& bytes : Utf8Sequences(digits)) ...
#ifndef AOTC_COMPILER_OPS_CODE_POINTS_H_
#define AOTC_COMPILER_OPS_CODE_POINTS_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace aotc {

inline constexpr int32_t kLastCodePoint = 0x10FFFF;

// From `first` to `last`, both included.
struct CodeRange {
  int32_t first = 0, last = 0;
  friend bool operator==(const CodeRange&, const CodeRange&) = default;
};

class CodePoints {
 public:
  void Add(int32_t first, int32_t last);
  void Add(const CodePoints& other);
  // All that it has not, of 0 to kLastCodePoint.
  void Negate();
  // Disjoint, ascending, with a gap between any two.
  const std::vector<CodeRange>& ranges() const { return ranges_; }
  bool Contains(int32_t code) const;

 private:
  std::vector<CodeRange> ranges_;
};

// One range of values for each byte of one to four.
using ByteSequence = std::vector<CodeRange>;

// Sequences whose products are the encodings of exactly these code points; none of them twice.
std::vector<ByteSequence> Utf8Sequences(const CodePoints& set);

// The code point at the front of `text`, which loses its bytes. Nothing where these are no UTF-8:
// cut short, overlong, or beyond the last code point.
std::optional<int32_t> TakeCodePoint(std::string_view& text);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPS_CODE_POINTS_H_
