// SHA-256 (FIPS 180-4), for the hashes of models, weights and constants.
//
//   Sha256Hex("abc");  // "ba7816bf...15ad"
//
// Our own hundred lines: the alternative is a cryptographic library as a dependency of the
// compiler.
#ifndef AOTC_COMPILER_SUPPORT_SHA256_H_
#define AOTC_COMPILER_SUPPORT_SHA256_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace aotc {

// The hash of bytes that arrive in pieces.
class Sha256 {
 public:
  void Update(std::string_view bytes);
  // 64 hexadecimal digits. Nothing may be added afterwards.
  std::string HexDigest();

 private:
  void AddBlock(const uint8_t* block);

  std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<uint8_t, 64> pending_ = {};  // the first total_bytes_ % 64 are in use
  uint64_t total_bytes_ = 0;
};

std::string Sha256Hex(std::string_view bytes);

}  // namespace aotc

#endif  // AOTC_COMPILER_SUPPORT_SHA256_H_
