#include "compiler/support/sha256.h"

#include "gtest/gtest.h"

namespace aotc {
namespace {

// Vectors of FIPS 180-4 and its validation suite.
TEST(Sha256, GivesTheStandardsVectors) {
  EXPECT_EQ(Sha256Hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256Hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(Sha256Hex(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesOfAnySizeGiveTheSameHash) {
  for (size_t size : {1, 55, 56, 57, 63, 64, 65, 119, 120, 128, 200}) {
    const std::string text(size, 'x');
    for (size_t piece : {1, 7, 64, 100}) {
      Sha256 hash;
      for (size_t i = 0; i < size; i += piece) hash.Update(text.substr(i, piece));
      EXPECT_EQ(hash.HexDigest(), Sha256Hex(text)) << size << " in pieces of " << piece;
    }
  }
}

}  // namespace
}  // namespace aotc
