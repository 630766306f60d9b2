// Exact texts of numbers and strings, for C sources and for our text IRs.
//
//   FloatLiteral(0.1f)     // 0.1f
//   DoubleText(-INFINITY)  // -inf
//   StringLiteral("a\"b")  // "a\"b"
//
// Numbers are the shortest decimal texts that read back as the same bits. A negative number begins
// with a bare minus sign.
#ifndef AOTC_COMPILER_SUPPORT_LITERALS_H_
#define AOTC_COMPILER_SUPPORT_LITERALS_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace aotc {

// For the text IRs, as Scanner::ExpectFloat reads it: always with a point or an exponent; inf, nan.
std::string FloatText(float value);
std::string DoubleText(double value);

// For C, C++ and CUDA. What is not finite is spelled by the macros INFINITY and NAN of <math.h>.
std::string FloatLiteral(float value);    // 1.5f, -INFINITY
std::string DoubleLiteral(double value);  // 1.5, (double)NAN

// An integer constant whose type holds the value: -7, 3000000000LL, INT64_MIN; 7u, 10000000000ULL.
std::string IntegerLiteral(int64_t value);
std::string UnsignedLiteral(uint64_t value);

// A C string literal with its quotes: pure ASCII, safe against trigraphs and greedy hex escapes.
std::string StringLiteral(std::string_view text);

// A string of the text IRs with its quotes, as Scanner::ExpectString reads it. Bytes above 127
// (UTF-8) stay as they are.
std::string QuotedText(std::string_view text);

}  // namespace aotc

#endif  // AOTC_COMPILER_SUPPORT_LITERALS_H_
