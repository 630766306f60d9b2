// Numbers of bytes as people write them on a command line.
//
//   *ParseByteCount("65536");  // 65536
//   *ParseByteCount("64K");    // the same: K, M and G are powers of 1024
#ifndef AOTC_COMPILER_SUPPORT_BYTE_COUNT_H_
#define AOTC_COMPILER_SUPPORT_BYTE_COUNT_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace aotc {

// None: no such text, a negative number, or one that no int64_t holds.
std::optional<int64_t> ParseByteCount(std::string_view text);

}  // namespace aotc

#endif  // AOTC_COMPILER_SUPPORT_BYTE_COUNT_H_
