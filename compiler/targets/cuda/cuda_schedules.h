// The CUDA target's schedules of a kernel: rules read it, each says which schedules it has, and
// gives the loops of one.
//
//   AOTC_ASSIGN_OR_RETURN(const CudaWay way, MatmulTileOnCuda(kernel, options));
//   AOTC_ASSIGN_OR_RETURN(LoopFunction loops, way.apply(way.chosen));
#ifndef AOTC_COMPILER_TARGETS_CUDA_CUDA_SCHEDULES_H_
#define AOTC_COMPILER_TARGETS_CUDA_CUDA_SCHEDULES_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/loops.h"
#include "compiler/schedule/schedule.h"
#include "compiler/support/status.h"
#include "compiler/targets/cuda/cuda_target.h"

namespace aotc {

// A kernel as one rule computes it; valid as long as the kernel is.
struct CudaWay {
  std::string realisation = {};
  std::string reason = {};
  Schedule chosen = {};
  std::function<std::vector<Schedule>()> candidates = {};  // the chosen one first
  // Error: the schedule is none of this way, and why.
  std::function<absl::StatusOr<LoopFunction>(const Schedule& schedule)> apply = {};
};

// A schedule rule. Error: why it does not apply.
using CudaRule = absl::StatusOr<CudaWay> (*)(const Kernel& kernel, const CudaOptions& options);

// Elementwise kernels whose threads move 16 bytes at a time.
absl::StatusOr<CudaWay> PackedElementwiseOnCuda(const Kernel& kernel, const CudaOptions& options);
// Elementwise kernels that read along another axis than they write along.
absl::StatusOr<CudaWay> TransposeTileOnCuda(const Kernel& kernel, const CudaOptions& options);
// Rows that attend to keys, in one pass over them.
absl::StatusOr<CudaWay> AttentionOnCuda(const Kernel& kernel, const CudaOptions& options);
// The same where a block is mostly empty.
absl::StatusOr<CudaWay> AttentionOfFewRowsOnCuda(const Kernel& kernel, const CudaOptions& options);
// Reductions, softmax, normalisations: a warp, a part of one or a block to each row.
absl::StatusOr<CudaWay> RowsOnCuda(const Kernel& kernel, const CudaOptions& options);
// Shared-memory tiled contraction, dense or convolution by implicit GEMM.
absl::StatusOr<CudaWay> MatmulTileOnCuda(const Kernel& kernel, const CudaOptions& options);
// Contraction of f16 on tensor cores, for sm_80 and newer.
absl::StatusOr<CudaWay> MmaTileOnCuda(const Kernel& kernel, const CudaOptions& options);
// Matrix times vector: a row of the matrix by a warp or a block.
absl::StatusOr<CudaWay> MatrixVectorOnCuda(const Kernel& kernel, const CudaOptions& options);
// Depthwise convolution with a run of outputs per thread.
absl::StatusOr<CudaWay> DepthwiseTileOnCuda(const Kernel& kernel, const CudaOptions& options);
// Scatters, counts and permutations turned round: each thread looks at all updates for those of the
// elements that it owns.
absl::StatusOr<CudaWay> UpdatesOnCuda(const Kernel& kernel, const CudaOptions& options);
// A thread to each point or row, in plain loops.
absl::StatusOr<CudaWay> ThreadsOnCuda(const Kernel& kernel, const CudaOptions& options);

// Bytes of temps that a thread may have.
inline constexpr int64_t kMostLocalBytes = 128 * 1024;

// What all rules ask of a schedule: that it is the one that they make of its parameters.
absl::Status CheckSchedule(const Schedule& given, const Schedule& due);
// Error: a block has not what a call of the tile with these parameters needs.
absl::Status FitsBlock(std::string_view tile, std::span<const int64_t> params);

// Seconds that the kernel should take on a GPU of these limits, at the symbols' maxima.
double CudaCost(const Kernel& kernel, const Schedule& schedule, const CudaLimits& limits);
// Of one that computes each element by itself, whatever its schedule.
double CudaMoveCost(const Kernel& kernel, const CudaLimits& limits);

// That of a rule that has read its kernel and chosen parameters of its tile:
//
//   Schedule ScheduleOf() const;                             // that of the parameters
//   LoopFunction Loops();                                    // and its loops, or an error
//   std::vector<std::vector<int64_t>> Variations() const;    // other parameters, worth a try
//   absl::Status Set(const std::vector<int64_t>& params);    // error: why they do not fit
template <class Rule>
CudaWay WayOf(std::string_view realisation, std::string_view reason, const Rule& rule) {
  const auto candidates = [rule] {
    std::vector<Schedule> schedules = {rule.ScheduleOf()};
    for (const std::vector<int64_t>& params : rule.Variations()) {
      Rule other = rule;
      if (other.Set(params).ok()) schedules.push_back(other.ScheduleOf());
    }
    return schedules;
  };
  const auto apply = [rule](const Schedule& schedule) -> absl::StatusOr<LoopFunction> {
    const Schedule chosen = rule.ScheduleOf();
    const SchedulePart& part = HeartOf(schedule);
    Rule other = rule;
    if (part.by == HeartOf(chosen).by) AOTC_RETURN_IF_ERROR(other.Set(part.params));
    AOTC_RETURN_IF_ERROR(CheckSchedule(schedule, other.ScheduleOf()));
    return other.Loops();
  };
  return {.realisation = std::string(realisation),
          .reason = std::string(reason),
          .chosen = rule.ScheduleOf(),
          .candidates = candidates,
          .apply = apply};
}

}  // namespace aotc

#endif  // AOTC_COMPILER_TARGETS_CUDA_CUDA_SCHEDULES_H_
