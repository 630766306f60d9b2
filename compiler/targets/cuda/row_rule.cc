// Reductions, softmax and normalisations: each row by a group of threads.
#include <algorithm>
#include <utility>

#include "compiler/lower/lower_loops.h"
#include "compiler/lower/row_groups.h"
#include "compiler/schedule/schedule.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cuda/contraction_operands.h"
#include "compiler/targets/cuda/cuda_schedules.h"

namespace aotc {
namespace {

constexpr int64_t kShortRow = 8;     // rows below are a thread's work where there are many
constexpr int64_t kManyRows = 1024;  // enough threads to hide latency, one to a row
constexpr int64_t kLongestWarpRow = 256;

// Whether neighbouring rows are neighbours in memory, so that a thread per row reads well: the
// innermost row axis moves every load along a row by a few elements.
bool RowsLieTogether(const Nest& nest) {
  if (nest.outer.empty()) return false;
  const std::string& inner = nest.outer.back().name;
  constexpr int64_t kNear = 4;
  for (const FlatStage& stage : nest.stages) {
    if (stage.reduce.empty() && stage.inner.empty()) continue;
    for (const Expr& body : stage.bodies) {
      for (const Expr& load : LoadsOf(body)) {
        if (nest.buffers[load->tensor].place == BufferPlace::kScratch) continue;
        const auto affine = AsAffine(load.arg(0), {inner}, StageBounds(nest, stage));
        if (!affine) continue;
        auto found = affine->coefficients.find(inner);
        const int64_t step =
            found == affine->coefficients.end() ? 0 : found->second.AsInt().value_or(kNear + 1);
        if (step < 0 || step > kNear) return false;
      }
    }
  }
  return true;
}

int64_t PowerOfTwoFrom(int64_t least) {
  int64_t power = 1;
  while (power < least) power *= 2;
  return power;
}

// Threads to a row: a warp or less for a short one, about one for sixteen elements of a long one.
RowGroups Choose(int64_t length, int64_t rows) {
  if (rows == 1 && length <= kLongestWarpRow) return {.group = 32, .threads = 32};
  if (length <= kLongestWarpRow) {
    const int64_t group = std::clamp<int64_t>(PowerOfTwoFrom(length), 4, 32);
    const int64_t all = PowerOfTwoFrom(std::min<int64_t>(rows, 128) * group);
    return {.group = group, .threads = std::clamp<int64_t>(all, 32, 128)};
  }
  const int64_t threads = std::clamp<int64_t>(PowerOfTwoFrom(length / 16), 128, 1024);
  return {.group = threads, .threads = threads};
}

// As many rows to a block as it has groups.
std::vector<Cut> CutsOf(const Nest& nest, const RowGroups& groups) {
  if (nest.outer.empty()) return {};
  return {{WalksOf(nest.outer), groups.threads / groups.group}};
}

class RowRule {
 public:
  RowRule(const Kernel& kernel, Nest nest, const RowGroups& groups)
      : kernel_(kernel), nest_(std::move(nest)), groups_(groups) {}

  Schedule ScheduleOf() const {
    return WholeKernel(kernel_, CutsOf(nest_, groups_), StageMemory::kScratch, "row_groups",
                       {groups_.group, groups_.threads});
  }

  // Groups of many sizes: parts of a warp with one block of threads or another, or whole blocks.
  std::vector<std::vector<int64_t>> Variations() const {
    constexpr int64_t kWarp = 32;
    std::vector<std::vector<int64_t>> variations;
    for (const int64_t threads : {32, 64, 128, 256}) {
      for (const int64_t group : {4, 8, 16, 32}) variations.push_back({group, threads});
      if (threads > kWarp) variations.push_back({threads, threads});
    }
    return variations;
  }

  absl::Status Set(const std::vector<int64_t>& params) {
    groups_ = {.group = params[0], .threads = params[1]};
    return absl::OkStatus();
  }

  absl::StatusOr<LoopFunction> Loops() const { return LowerToRowGroups(kernel_, nest_, groups_); }

 private:
  const Kernel& kernel_;
  Nest nest_;
  RowGroups groups_;
};

}  // namespace

absl::StatusOr<CudaWay> RowsOnCuda(const Kernel& kernel, const CudaOptions& /*options*/) {
  AOTC_ASSIGN_OR_RETURN(Nest nest, BuildNest(kernel));
  if (nest.HasStatistics()) return absl::FailedPreconditionError("statistics of points");
  MergeAxes(nest);
  const int64_t length = LongestDeal(nest);
  const int64_t rows =
      MaxElements({CountOf(nest.outer)}, BoundsOf(kernel.symbols)).value_or(INT64_MAX);
  if (length < kShortRow && rows >= kManyRows)
    return absl::FailedPreconditionError("rows are many and short");
  if (rows >= kManyRows && RowsLieTogether(nest))
    return absl::FailedPreconditionError("rows are many and lie side by side");
  const RowRule rule(kernel, nest, Choose(length, rows));
  AOTC_RETURN_IF_ERROR(rule.Loops().status());
  return WayOf("row_groups", StrCat(rows, rows == 1 ? " row" : " rows", " of up to ", length),
               rule);
}

absl::StatusOr<CudaWay> MatrixVectorOnCuda(const Kernel& kernel, const CudaOptions& options) {
  AOTC_ASSIGN_OR_RETURN(const CudaContraction c, ReadCudaContraction(kernel));
  const bool is_vector = CountOf(c.m).IsInt(1) || CountOf(c.n).IsInt(1);
  const bool by_k = InnermostStep(c, c.a, c.k) == 1 && InnermostStep(c, c.b, c.k) == 1;
  constexpr int64_t kLeastDepth = 64;
  const int64_t depth = RangeOf(CountOf(c.k), c.nest.bounds).max;
  if (!is_vector || !by_k || depth < kLeastDepth)
    return absl::FailedPreconditionError("no long rows of a matrix times a vector");
  AOTC_ASSIGN_OR_RETURN(CudaWay way, RowsOnCuda(kernel, options));
  way.realisation = "matrix_vector_tile";
  way.reason = StrCat("a matrix times a vector, ", way.reason);
  return way;
}

}  // namespace aotc
