// Speed of the contraction tile against the multiply-add peak measured in the same run.
//
//   contract_tile_bench [least ratio at the widest ISA]     exit status 1 where it is missed
//
// Best of many short runs, peak and kernels in turn, so that clock changes touch both.
#include "tests/bench/contract_tile_bench.h"

#include <stdio.h>
#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <vector>

#include "tests/templates/isa.h"

AOTC_TEST_TABLES(bench, BenchKernels)

namespace {

double SecondsOf(const std::function<void()>& run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct Data {
  std::vector<float> a, packed, bias, residual, y;
  std::vector<uint8_t> a8, y8;
  std::vector<int8_t> packed8;
  Data()
      : a(kBenchRows * kBenchDepth, 0.5f),
        packed(kBenchColumns * kBenchDepth, 0.25f),
        bias(kBenchColumns, 1.0f),
        residual(kBenchRows * kBenchColumns, 2.0f),
        y(kBenchRows * kBenchColumns),
        a8(kBenchRows * kBenchDepth, 3),
        y8(kBenchRows * kBenchColumns),
        packed8(kBenchColumns * kBenchDepth, 2) {}
};

struct Rates {
  double peak = 0, matmul = 0, gemv = 0, int8 = 0;  // operations per second
};

Rates Measure(const BenchKernels& kernels, Data& data) {
  constexpr int kTrials = 200;
  constexpr double kMatmulFlops = 2.0 * kBenchRows * kBenchColumns * kBenchDepth;
  constexpr double kGemvFlops = 2.0 * kBenchColumns * kBenchDepth;
  Rates best;
  float sink = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    int64_t flops = 0;
    double seconds = SecondsOf([&] { flops = kernels.peak(20000, &sink); });
    best.peak = std::max(best.peak, static_cast<double>(flops) / seconds);
    seconds = SecondsOf([&] {
      kernels.matmul(data.a.data(), data.packed.data(), data.bias.data(), data.residual.data(),
                     data.y.data());
    });
    best.matmul = std::max(best.matmul, kMatmulFlops / seconds);
    seconds = SecondsOf([&] {
      kernels.gemv(data.a.data(), data.packed.data(), data.bias.data(), data.residual.data(),
                   data.y.data());
    });
    best.gemv = std::max(best.gemv, kGemvFlops / seconds);
    seconds = SecondsOf([&] {
      kernels.matmul_int8(data.a8.data(), data.packed8.data(), data.bias.data(), data.y8.data());
    });
    best.int8 = std::max(best.int8, kMatmulFlops / seconds);
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  const double least = argc > 1 ? atof(argv[1]) : 0.0;
  Data data;
  double ratio = 0;
  printf("m %d, n %d, k %d, bias + residual + ReLU; Gop/s, share of the f32 peak\n", kBenchRows,
         kBenchColumns, kBenchDepth);
  for (const auto& isa : bench_tables) {
    const Rates rates = Measure(*isa.kernels, data);
    ratio = rates.matmul / rates.peak;
    printf("%-8s peak %6.1f  matmul %6.1f (%4.2f)  gemv %6.1f (%4.2f)  int8 %7.1f (%4.2f)\n",
           isa.name, rates.peak * 1e-9, rates.matmul * 1e-9, ratio, rates.gemv * 1e-9,
           rates.gemv / rates.peak, rates.int8 * 1e-9, rates.int8 / rates.peak);
  }
  return ratio >= least ? 0 : 1;
}
