#include "compiler/targets/cpu/contracts.h"

#include <span>

#include "compiler/ir/winograd.h"
#include "compiler/support/rounding.h"
#include "compiler/targets/cpu/winograd.h"

namespace aotc {
namespace {

// What tiles also read: bytes that lie in blocks for their own kind, and floats made of them.
constexpr int64_t kReadBlocks[] = {kChannelBlock, 32, 48, 64};
constexpr int64_t kIntegerGroup = 4;  // of bytes, that products read at a time

// Channels of bytes that lie together: as many as fit a cache line with the fewest lanes unused.
int64_t ByteBlock(int64_t channels) {
  int64_t best = kChannelBlock;
  for (const int64_t block : kReadBlocks) {
    if (RoundUp(channels, block) <= RoundUp(channels, best)) best = block;
  }
  return best;
}

class CpuOffers {
 public:
  CpuOffers(const AnchorSignature& anchor, const Isa& isa, const CpuLimits& limits,
            bool has_winograd)
      : anchor_(anchor), isa_(isa), limits_(limits), has_winograd_(has_winograd) {}

  std::vector<PricedContract> All() {
    if (anchor_.form == Algorithm::kProduct) {
      const bool in_groups = anchor_.is_integer;
      Offer({.operand = {ValueForm::Kind::kRows, in_groups ? kIntegerGroup : 0}}, Direct());
    } else if (anchor_.is_integer) {
      Integers();
    } else {
      Floats();
    }
    return std::move(offers_);
  }

 private:
  void Offer(const Contract& contract, double seconds) {
    offers_.push_back({contract, seconds});
    offers_.back().contract.algorithm = contract.m > 0 ? Algorithm::kWinograd : anchor_.form;
  }

  double Direct() const { return ConvolutionSeconds(anchor_.size, 0, isa_, limits_); }

  // Tiles read operands in any blocks. They write bytes in the block that suits these best.
  void Integers() {
    const ValueForm result = BlocksOf(ByteBlock(anchor_.size.outputs));
    const bool is_direct = anchor_.form == Algorithm::kDirect;
    const int64_t own = ByteBlock(is_direct ? anchor_.size.inputs : anchor_.size.outputs);
    Offer({.operand = BlocksOf(own), .result = result}, Direct());
    for (const int64_t block : kReadBlocks) {
      if (block != own) Offer({.operand = BlocksOf(block), .result = result}, Direct());
    }
    Offer({.operand = kRowMajor, .result = result}, Direct());
  }

  // Channels that lie innermost share vectors with no others, but rows of them begin anywhere.
  void Floats() {
    constexpr double kUnaligned = 1.08;  // of ResNet-50 on AVX-512
    const ValueForm blocks = BlocksOf(kChannelBlock);
    for (const int64_t block : kReadBlocks)
      Offer({.operand = BlocksOf(block), .result = blocks}, Direct());
    for (const int64_t m : kWinogradTiles) {
      if (has_winograd_ && anchor_.suits_winograd) {
        Offer({.m = m, .operand = blocks, .result = blocks},
              ConvolutionSeconds(anchor_.size, m, isa_, limits_));
      }
    }
    Offer({.operand = kRowMajor, .result = blocks}, Direct());
    // The lanes of a depthwise tile are those of both.
    const bool is_direct = anchor_.form == Algorithm::kDirect;
    if (is_direct) Offer({.operand = kInnermost, .result = blocks}, kUnaligned * Direct());
    if (anchor_.size.outputs == 1) return;  // a column that has no axis of its own
    Offer({.operand = kInnermost, .result = kInnermost}, kUnaligned * Direct());
    if (!is_direct) return;
    Offer({.operand = blocks, .result = kInnermost}, kUnaligned * Direct());
    Offer({.operand = kRowMajor, .result = kInnermost}, kUnaligned * Direct());
  }

  const AnchorSignature& anchor_;
  const Isa& isa_;
  const CpuLimits& limits_;
  const bool has_winograd_;
  std::vector<PricedContract> offers_;
};

}  // namespace

TargetContracts CpuContracts(const CpuOptions& options) {
  if (!options.templates) return {};
  const Isa isa = options.isas.back();
  const CpuLimits limits = options.limits.For(isa);
  const bool has_winograd =
      !options.disabled.contains("winograd") && !options.disabled.contains("contract_tile");
  return {.channel_block = kChannelBlock,
          .offers =
              [isa, limits, has_winograd](const AnchorSignature& anchor) {
                return CpuOffers(anchor, isa, limits, has_winograd).All();
              },
          .copy_bandwidth = limits.memory_bandwidth};
}

}  // namespace aotc
