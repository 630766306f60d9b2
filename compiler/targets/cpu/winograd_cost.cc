// What a convolution by Winograd's algorithm should take: cycles of its four parts, and weights
// that each task reads again.
#include <algorithm>
#include <cmath>

#include "compiler/ir/winograd.h"
#include "compiler/targets/cpu/winograd.h"

namespace aotc {
namespace {

constexpr int64_t kPanel = 32;  // columns of the weights, about

double Of(int64_t x) { return static_cast<double>(x); }

int64_t NonZeros(const Matrix& matrix) {
  int64_t count = 0;
  for (const std::vector<double>& row : matrix) {
    count += std::ranges::count_if(row, [](double x) { return x != 0; });
  }
  return count;
}

// Cycles of a vector's transform: two operations a cycle, one load or store.
double TransformCycles(int64_t operations, int64_t moves) {
  constexpr double kCall = 15, kPerCycle = 2, kOfLatency = 1.4;
  return kCall + kOfLatency * Of(operations) / kPerCycle + Of(moves);
}

class WinogradCycles {
 public:
  WinogradCycles(const ConvolutionSize& size, int64_t m, const WinogradTiling& tiling,
                 const Isa& isa, const CpuLimits& limits)
      : size_(size), m_(m), patch_(m + 2), tiling_(tiling), isa_(isa), limits_(limits) {
    blocks_ = Of(tiling.Blocks(size, m) * size.images);
    patches_ = blocks_ * Of(tiling.Patches());
    panels_ = Of(CeilOf(size.outputs, kPanel));
  }

  double All() const {
    const double operands = Weights() + Patches();
    return Input() + Output() + Spread() + std::max(Products(), operands);
  }

 private:
  double Places() const { return Of(patch_ * patch_); }

  // Each part of the weights transforms the patches again.
  double Input() const {
    const int64_t operations = 2 * patch_ * NonZeros(WinogradMatricesOf(m_).bt);
    const double parts = std::ceil(panels_ / Of(tiling_.panels));
    return TransformCycles(operations, 2 * patch_ * patch_) * patches_ *
           Of(CeilOf(size_.inputs, isa_.lanes)) * parts;
  }

  double Output() const {
    const int64_t operations = (patch_ + m_) * NonZeros(WinogradMatricesOf(m_).at);
    return TransformCycles(operations, patch_ * patch_ + m_ * m_) * patches_ *
           Of(CeilOf(size_.outputs, isa_.lanes));
  }

  // Each block makes the weights of all places again: along rows three vectors for every row of a
  // patch, along columns those that are not kept. A vector has three products.
  double Spread() const {
    constexpr double kOfLoadsAndStores = 2.4;
    const double rate = limits_.fma_per_second / limits_.clock_hz;
    const int64_t made = kWinogradTaps * patch_ + patch_ * (patch_ - kWinogradTaps);
    const double products = Of(kWinogradTaps * made * size_.inputs) * panels_ * Of(kPanel);
    return blocks_ * products / rate * kOfLoadsAndStores;
  }

  // Steps of register tiles take as long as their products, or as their loads, two a cycle.
  double Products() const {
    constexpr double kOfPeak = 0.85;
    const double rate = limits_.fma_per_second / limits_.clock_hz;
    const double accumulators = Of(tiling_.tile_rows * tiling_.tile_vectors);
    const double loads = Of(tiling_.tile_rows + tiling_.tile_vectors) / 2;
    const double slowness = std::max(1.0, loads * rate / Of(isa_.lanes) / accumulators);
    return Places() * Of(size_.inputs * size_.outputs) * patches_ / (rate * kOfPeak) * slowness;
  }

  // The first block of patches fetches the weights from memory; the others find them in the third
  // cache where they fit.
  double Weights() const {
    const double bytes = Of(size_.taps * size_.inputs * size_.outputs) * sizeof(float);
    const bool stay = bytes <= Of(limits_.l3_bytes);
    const double again = stay ? limits_.l3_bandwidth : limits_.memory_bandwidth;
    return (bytes / limits_.memory_bandwidth + (blocks_ - 1) * bytes / again) * limits_.clock_hz;
  }

  // Each panel of the weights walks a block's patches.
  double Patches() const {
    const double bytes = Places() * Of(size_.inputs * tiling_.Patches()) * sizeof(float);
    if (bytes <= Of(limits_.l2_bytes)) return 0;
    return blocks_ * panels_ * bytes * limits_.clock_hz / limits_.l3_bandwidth;
  }

  const ConvolutionSize size_;
  const int64_t m_, patch_;
  const WinogradTiling tiling_;
  const Isa& isa_;
  const CpuLimits& limits_;
  double blocks_ = 0, patches_ = 0, panels_ = 0;
};

}  // namespace

double WinogradCost(const ConvolutionSize& size, int64_t m, const WinogradTiling& tiling,
                    const Isa& isa, const CpuLimits& limits) {
  return WinogradCycles(size, m, tiling, isa, limits).All() / limits.clock_hz;
}

}  // namespace aotc
