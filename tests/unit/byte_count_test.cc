#include "compiler/support/byte_count.h"

#include "gtest/gtest.h"

namespace aotc {
namespace {

TEST(ByteCount, UnitsArePowersOf1024) {
  EXPECT_EQ(ParseByteCount("0"), 0);
  EXPECT_EQ(ParseByteCount("65536"), 65536);
  EXPECT_EQ(ParseByteCount("64K"), 65536);
  EXPECT_EQ(ParseByteCount("2M"), 2 << 20);
  EXPECT_EQ(ParseByteCount("3G"), int64_t{3} << 30);
  EXPECT_EQ(ParseByteCount("8589934591G"), 8589934591 * (int64_t{1} << 30));
}

TEST(ByteCount, WhatIsNoneIsNotGuessed) {
  for (const char* text : {"", "K", "-1", "-1K", "1.5K", "1k", "1KB", "1T", "K1", "1 K", "0x10",
                           "8589934592G", "9223372036854775808"}) {
    EXPECT_EQ(ParseByteCount(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace aotc
