// The other case of letters: the simple mappings of Unicode, which take a code point to one.
//
//   CaseTable upper(Case::kUpper);
//   upper.Of(0xE4);              // 0xC4: ä, Ä
//   upper.Of("straße");          // "STRAßE"
//
// They know no locale: i becomes I, in Turkish text too.
#ifndef AOTC_COMPILER_OPS_UNICODE_CASE_H_
#define AOTC_COMPILER_OPS_UNICODE_CASE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace aotc {

enum class Case { kLower, kUpper };

// What to add to a code point c: deltas[kCasePage * pages[c / kCasePage] + c % kCasePage].
inline constexpr int32_t kCasePage = 128;

class CaseTable {
 public:
  explicit CaseTable(Case to);

  int32_t Of(int32_t code) const;
  // Bytes that are no UTF-8 stay.
  std::string Of(std::string_view text) const;

  // For all code points.
  const std::vector<uint8_t>& pages() const { return pages_; }
  const std::vector<int32_t>& deltas() const { return deltas_; }

 private:
  std::vector<uint8_t> pages_;
  std::vector<int32_t> deltas_;
};

// The bytes of a code point.
std::string EncodeUtf8(int32_t code);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPS_UNICODE_CASE_H_
