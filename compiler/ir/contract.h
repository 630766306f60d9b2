// Contracts: how a target computes the sum of products at the heart of a node, its anchor, and how
// the elements of operand and result lie for that.
//
//   %y = Conv(%x, %w) contract(direct, rows -> 16)
//   %z = WinogradConv(%y, %u) {m=4} contract(winograd(4), 16 -> 16)
//
//   for (const PricedContract& priced : contracts.offers(signature)) ...  // what a target has
//
// The layout phase chooses one for each anchor and writes it on the node.
#ifndef AOTC_COMPILER_IR_CONTRACT_H_
#define AOTC_COMPILER_IR_CONTRACT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/layout.h"

namespace aotc {

class Scanner;  // compiler/support/scanner.h

// The axis that holds the channels of images.
inline constexpr size_t kChannelAxis = 1;

// How a value's elements lie: row-major, in blocks of channels, or with all channels innermost.
struct ValueForm {
  enum class Kind : uint8_t { kRows, kBlocks, kInnermost };
  Kind kind = Kind::kRows;
  int64_t block = 0;  // channels of a block; of rows, elements of the groups that fill them

  bool IsRows() const { return kind == Kind::kRows; }
  friend bool operator==(const ValueForm&, const ValueForm&) = default;
  friend auto operator<=>(const ValueForm&, const ValueForm&) = default;
};

inline ValueForm BlocksOf(int64_t block) { return {ValueForm::Kind::kBlocks, block}; }
inline constexpr ValueForm kRowMajor = {};
inline constexpr ValueForm kInnermost = {ValueForm::Kind::kInnermost, 0};

// The order of storage that the form stands for; no halo.
Layout LayoutOf(const ValueForm& form, size_t rank);

enum class Algorithm : uint8_t {
  kProduct,    // rows times columns
  kDirect,     // a convolution as it is defined
  kDepthwise,  // the same with a filter for each channel
  kWinograd,   // patches of m x m outputs at a time (ir/winograd.h)
};

struct Contract {
  Algorithm algorithm = Algorithm::kProduct;
  int64_t m = 0;  // of Winograd's
  ValueForm operand = {}, result = {};

  friend bool operator==(const Contract&, const Contract&) = default;
};

// "winograd(4), 16 -> 16"; rows(4): rows as long as whole groups of 4 elements.
std::string PrintContract(const Contract& contract);
absl::StatusOr<Contract> ParseContract(Scanner& scanner);

struct PricedContract {
  Contract contract = {};
  double seconds = 0;  // that it should take with one worker
};

// A convolution by the size of its result, at the symbols' maxima; the axes behind the last two
// count as rows.
struct ConvolutionSize {
  int64_t images = 1;
  int64_t inputs = 0, outputs = 0;  // channels
  int64_t height = 0, width = 0;
  int64_t taps = 9;
};

// An anchor, as far as contracts depend on it. Of a product `size` has its rows as pixels.
struct AnchorSignature {
  Algorithm form = Algorithm::kProduct;  // by its index maps; never Winograd's
  ConvolutionSize size = {};
  bool is_integer = false;  // bytes, summed in i32
  // 3x3 taps, a step of 1, sizes and weights known at compile time.
  bool suits_winograd = false;
};

// What a target says of layouts and of the algorithms that read them.
struct TargetContracts {
  // Channels of a block as its tile functions read and write images; 0: row-major tensors are all
  // that it wants, and it offers nothing.
  int64_t channel_block = 0;
  std::function<std::vector<PricedContract>(const AnchorSignature& anchor)> offers = {};
  // Bytes a second that copies into another layout read and write.
  double copy_bandwidth = 1e10;
};

}  // namespace aotc

#endif  // AOTC_COMPILER_IR_CONTRACT_H_
