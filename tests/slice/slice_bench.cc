// Speed of what the compiler writes for the slice's kernel, with its epilogue, statistic and
// blocked output, against the multiply-add peak measured in the same run.
//
//   slice_bench [least share of the peak]     exit status 1 where it is missed
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "tests/bench/contract_tile_bench.h"
#include "tests/slice/slice_data.h"
#include "tests/templates/isa.h"

AOTC_TEST_TABLES(bench, BenchKernels)

namespace aotc {
namespace {

constexpr int64_t kRows = 200, kColumns = 512, kDepth = 512;
constexpr double kFlops = 2.0 * kRows * kColumns * kDepth;

double PeakRate(const BenchKernels& kernels) {
  float sink = 0;
  const auto start = std::chrono::steady_clock::now();
  const auto flops = static_cast<double>(kernels.peak(20000, &sink));
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  return flops / time.count();
}

const BenchKernels* WidestKernels() {
  const BenchKernels* widest = nullptr;
  for (const auto& isa : bench_tables) {
    if (std::string(isa.name) == "v4" && aotc_test::CanRun("v4")) widest = isa.kernels;
  }
  return widest;
}

// Peak and kernel in turn, so that clock changes touch both.
double Share(const SliceModel& model, const SliceOptions& options, const BenchKernels& kernels) {
  double peak = 0, rate = 0;
  constexpr int kTrials = 40;
  for (int trial = 0; trial < kTrials; ++trial) {
    for (int i = 0; i < 5; ++i) peak = std::max(peak, PeakRate(kernels));
    double seconds = 0;
    const SliceRun run{
        .inputs = DenseInputs(options.kernel, kRows), .repeats = 20, .best_seconds = &seconds};
    if (!model.Run(run).ok()) return 0;
    rate = std::max(rate, kFlops / seconds);
  }
  printf("m %d, n %d, k %d at AVX-512: %.1f of %.1f GFLOP/s, %.3f of the peak\n",
         static_cast<int>(kRows), static_cast<int>(kColumns), static_cast<int>(kDepth), rate * 1e-9,
         peak * 1e-9, rate / peak);
  return rate / peak;
}

int Main(double least) {
  const BenchKernels* kernels = WidestKernels();
  if (kernels == nullptr) {
    puts("not run: this machine has no AVX-512");
    return 77;
  }
  const absl::StatusOr<Kernel> kernel =
      DenseKernel(SliceTypes::kFloat, {.columns = kColumns, .depth = kDepth});
  if (!kernel.ok()) return 1;
  SliceOptions options = DenseOptions(*kernel);
  options.cpu = "x86-64-v4";
  const absl::StatusOr<SliceModel> model = SliceModel::Build(options);
  if (!model.ok()) {
    puts(std::string(model.status().message()).c_str());
    return 1;
  }
  const std::string wrong = CheckDense(*model, options, kRows);
  if (!wrong.empty()) puts(wrong.c_str());
  return wrong.empty() && Share(*model, options, *kernels) >= least ? 0 : 1;
}

}  // namespace
}  // namespace aotc

int main(int argc, char** argv) { return aotc::Main(argc > 1 ? atof(argv[1]) : 0.0); }
