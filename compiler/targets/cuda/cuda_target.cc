#include "compiler/targets/cuda/cuda_target.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "compiler/fuse/split_kernels.h"
#include "compiler/lower/nest.h"
#include "compiler/schedule/stage_kinds.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cuda/cuda_schedules.h"

namespace aotc {
namespace {

// The first tile that can compute the kernel's contraction; of the refusals the last.
absl::StatusOr<CudaWay> TileOnCuda(const Kernel& kernel, const CudaOptions& options) {
  if (kernel.stages.empty() || !IsContraction(kernel.stages.front())) {
    return absl::FailedPreconditionError("no contraction");
  }
  if (HasSubByteTensor(kernel)) return absl::FailedPreconditionError("elements share bytes");
  for (const CudaRule rule : {DepthwiseTileOnCuda, MmaTileOnCuda}) {
    if (absl::StatusOr<CudaWay> way = rule(kernel, options); way.ok()) return way;
  }
  return MatmulTileOnCuda(kernel, options);
}

bool ReadsConstants(const Kernel& kernel, const Stage& stage) {
  const std::vector<Expr> loads = LoadsOf(stage.body[0]);
  return std::any_of(loads.begin(), loads.end(), [&](const Expr& load) {
    return kernel.tensors[load->tensor].role == TensorRole::kConstant;
  });
}

// Bytes that one iteration reads of params in loops of its own.
int64_t RowBytes(const Nest& nest) {
  int64_t bytes = 0;
  for (const FlatStage& stage : nest.stages) {
    Shape walked;
    for (const Axis& axis : stage.inner) walked.push_back(axis.extent);
    for (const Axis& axis : stage.reduce) walked.push_back(axis.extent);
    const int64_t elements = MaxElements(walked, nest.bounds).value_or(INT32_MAX);
    for (const Expr& body : stage.bodies) {
      for (const Expr& load : LoadsOf(body)) {
        const LoopBuffer& buffer = nest.buffers[load->tensor];
        if (buffer.place == BufferPlace::kParam) bytes += elements * ByteWidth(buffer.dtype);
      }
    }
  }
  return bytes;
}

// Its contractions are products of two activations, and what a row reads of the one that all rows
// share stays in the cache of a multiprocessor: rows that read it one after another cost little
// more than a tile would.
bool RowsStayInCache(const Kernel& kernel) {
  constexpr int64_t kMostBytes = 96 * 1024;  // of the 128 KiB that the smallest have
  const bool weights = std::any_of(
      kernel.stages.begin(), kernel.stages.end(),
      [&](const Stage& stage) { return IsContraction(stage) && ReadsConstants(kernel, stage); });
  constexpr double kMostFlops = 64e6;  // beyond, a tile wins back the launches that it costs
  const absl::StatusOr<Nest> nest = BuildNest(kernel);
  return !weights && KernelFlops(kernel) <= kMostFlops && nest.ok() &&
         RowBytes(*nest) <= kMostBytes;
}

std::string Veto(const Kernel& producer, const Kernel& consumer, const Kernel& merged,
                 const CudaOptions& options) {
  if (IsOnePassOnCuda(merged, options)) return "";
  if (IsOnePassOnCuda(producer, options) || IsOnePassOnCuda(consumer, options))
    return "attention would no longer be computed in one pass";
  std::string rows;  // why no group of threads can compute a row of it
  if (!IsPointNest(merged)) {
    rows = std::string(RowsOnCuda(merged, options).status().message());
    const bool had_rows = IsPointNest(producer)
                              ? IsPointNest(consumer) || RowsOnCuda(consumer, options).ok()
                              : RowsOnCuda(producer, options).ok();
    if (!rows.empty() && had_rows) return rows;
    if (rows.empty() && RowsStayInCache(merged)) return "";
  }
  const absl::StatusOr<CudaWay> tiled = TileOnCuda(merged, options);
  if (tiled.ok() || (!TileOnCuda(producer, options).ok() && !TileOnCuda(consumer, options).ok()))
    return "";
  return StrCat("the contraction would lose its tile: ", std::string(tiled.status().message()));
}

// Compute capabilities, times ten.
absl::StatusOr<std::vector<int>> ArchNumbers(const std::vector<std::string>& archs) {
  AOTC_CHECK(!archs.empty());
  std::vector<int> numbers;
  for (const std::string& arch : archs) {
    const size_t digits = std::min(arch.find_first_not_of("0123456789"), arch.size());
    const bool suffix = digits + 1 == arch.size() && (arch.back() == 'a' || arch.back() == 'f');
    int value = 0;
    if ((digits != arch.size() && !suffix) ||
        !absl::SimpleAtoi(absl::string_view(arch).substr(0, digits), &value)) {
      return absl::InvalidArgumentError(
          StrCat("unknown GPU '", arch, "' in --arch; hint: write sm_80 or sm_90a"));
    }
    numbers.push_back(value);
  }
  return numbers;
}

}  // namespace

absl::StatusOr<int> LeastArch(const std::vector<std::string>& archs) {
  AOTC_ASSIGN_OR_RETURN(const std::vector<int> numbers, ArchNumbers(archs));
  return *std::ranges::min_element(numbers);
}

absl::StatusOr<int> MostArch(const std::vector<std::string>& archs) {
  AOTC_ASSIGN_OR_RETURN(const std::vector<int> numbers, ArchNumbers(archs));
  return *std::ranges::max_element(numbers);
}

bool CudaHolds(const Kernel& kernel, const CudaOptions& options) {
  if (TempBytes(kernel) <= kMostLocalBytes || IsPointNest(kernel)) return true;
  return ScheduleOnCuda(kernel, options).ok();
}

std::string CudaFusionVeto(const Kernel& producer, const Kernel& consumer, const Kernel& merged) {
  return Veto(producer, consumer, merged, {});
}

FusionVeto CudaFusionVetoFor(const CudaOptions& options) {
  return [options](const Kernel& producer, const Kernel& consumer, const Kernel& merged) {
    return Veto(producer, consumer, merged, options);
  };
}

}  // namespace aotc
