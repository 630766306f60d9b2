#include "compiler/targets/cuda/cuda_schedules.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/ir/program_access.h"
#include "compiler/lower/index_width.h"
#include "compiler/lower/lower_loops.h"
#include "compiler/lower/nest.h"
#include "compiler/lower/tidy_loops.h"
#include "compiler/lower/updates.h"
#include "compiler/schedule/attention.h"
#include "compiler/schedule/nest_form.h"
#include "compiler/schedule/stage_kinds.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cuda/tiles.h"

namespace aotc {
namespace {

constexpr int kTensorCoreArch = 80;  // the first with mma.sync m16n8k16 and cp.async

// Temps of a thread's row live in its local memory.
absl::Status UseLocalMemory(LoopFunction& function) {
  int64_t bytes = 0;
  for (LoopBuffer& buffer : function.buffers) {
    if (buffer.place != BufferPlace::kScratch) continue;
    buffer.place = BufferPlace::kLocal;
    bytes += buffer.elements * ByteWidth(buffer.dtype);
  }
  function.scratch_bytes = 0;
  if (bytes <= kMostLocalBytes) return absl::OkStatus();
  // Fusion parts what needs so much.
  return absl::InternalError(
      StrCat("kernel ", function.name, " needs ", bytes, " bytes of local memory in each thread"));
}

// Blocks lie in the first dimension of the grid, the only one that holds more than 65535.
absl::Status CheckGrid(const LoopFunction& function) {
  constexpr int64_t kMostBlocks = INT32_MAX;
  const int64_t blocks = RangeOf(function.tasks, BoundsOf(function.symbols)).max;
  if (blocks <= kMostBlocks) return absl::OkStatus();
  return AOTC_REFUSAL(Unimplemented, StrCat("kernel ", function.name, " needs ", blocks,
                                            " blocks, and a grid has at most ", kMostBlocks));
}

absl::Status CheckShared(const LoopFunction& function, const CudaLimits& limits) {
  const int64_t bytes = SharedBytes(function);
  if (bytes <= limits.shared_per_block) return absl::OkStatus();
  return absl::FailedPreconditionError(StrCat("kernel ", function.name, " needs ", bytes,
                                              " bytes of shared memory, and a block has ",
                                              limits.shared_per_block));
}

// What both kinds of variants end with.
absl::Status Finish(KernelVariant& variant, const CudaLimits& limits) {
  AOTC_RETURN_IF_ERROR(CheckGrid(variant.loops));
  AOTC_RETURN_IF_ERROR(CheckShared(variant.loops, limits));
  TidyLoops(variant.loops);
  const std::string wide = UseNarrowIndices(variant.loops);
  if (!wide.empty()) StrAppend(&variant.reason, "; 64-bit indices: ", wide);
  return absl::OkStatus();
}

// A thread to each iteration of the outermost loops that its stages share.
class ThreadsRule {
 public:
  explicit ThreadsRule(const Kernel& kernel) : kernel_(kernel) {}

  Schedule ScheduleOf() const {
    std::vector<Cut> cuts;
    if (const absl::StatusOr<Nest> nest = BuildNest(kernel_); nest.ok() && !nest->outer.empty()) {
      std::vector<NestAxis> axes = nest->outer;
      if (nest->HasStatistics()) axes.resize(axes.size() - nest->stages.back().over.size());
      if (!axes.empty()) cuts.push_back({WalksOf(axes), threads_});
    }
    return WholeKernel(kernel_, std::move(cuts), StageMemory::kScratch, "threads", {threads_});
  }

  std::vector<std::vector<int64_t>> Variations() const { return {{256}, {64}}; }

  absl::Status Set(const std::vector<int64_t>& params) {
    threads_ = params[0];
    return absl::OkStatus();
  }

  absl::StatusOr<LoopFunction> Loops() const {
    AOTC_ASSIGN_OR_RETURN(LoopFunction loops, LowerToThreads(kernel_, threads_));
    AOTC_RETURN_IF_ERROR(UseLocalMemory(loops));
    return loops;
  }

 private:
  const Kernel& kernel_;
  int64_t threads_ = 128;
};

// Row-major outputs without halos, as all but tiles of contractions take for granted.
bool WritesPlainTensors(const Kernel& kernel) {
  return std::all_of(kernel.params.begin(), kernel.params.end(), [&](TensorId id) {
    const KernelTensor& tensor = kernel.tensors[id];
    return tensor.role != TensorRole::kOutput || tensor.layout.IsPlain();
  });
}

// A rule, and the least compute capability whose devices run what it gives, times ten.
struct RuleRow {
  CudaRule rule;
  int arch = 0;
};

// Whether blocks that are mostly empty still take less time than groups of threads.
bool FewRowsSuitBlocks(const Kernel& kernel, const CudaOptions& options) {
  const absl::StatusOr<CudaWay> blocks = AttentionOfFewRowsOnCuda(kernel, options),
                                groups = RowsOnCuda(kernel, options);
  if (!blocks.ok() || !groups.ok()) return blocks.ok();
  return CudaCost(kernel, blocks->chosen, options.limits) <
         CudaCost(kernel, groups->chosen, options.limits);
}

// The rules that may apply, best first.
std::vector<RuleRow> RulesFor(const Kernel& kernel, const CudaOptions& options) {
  if (kernel.stages.empty() || !options.templates) return {};
  const bool plain = WritesPlainTensors(kernel);
  if (HasSubByteTensor(kernel)) {  // tiles and packs move whole bytes
    return HasReduction(kernel) && plain ? std::vector<RuleRow>{{RowsOnCuda}}
                                         : std::vector<RuleRow>{};
  }
  std::vector<RuleRow> rules;
  if (IsContraction(kernel.stages.front())) {
    if (plain) rules = {{DepthwiseTileOnCuda}, {MatrixVectorOnCuda}};
    if (std::max(options.least_arch, options.most_arch) >= kTensorCoreArch) {
      rules.push_back({MmaTileOnCuda, kTensorCoreArch});
    }
    rules.push_back({MatmulTileOnCuda});
  }
  if (HasReduction(kernel) && plain) {
    rules.insert(rules.begin(), {{AttentionOnCuda}, {UpdatesOnCuda}});
    rules.push_back({RowsOnCuda});
    if (ReadAttention(kernel)) {
      const bool is_first = FewRowsSuitBlocks(kernel, options);
      rules.insert(is_first ? rules.end() - 1 : rules.end(), {AttentionOfFewRowsOnCuda});
    }
  }
  if (rules.empty() && plain) rules = {{TransposeTileOnCuda}, {PackedElementwiseOnCuda}};
  return rules;
}

// The variant that the way gives with this schedule; its names and guard are the caller's.
absl::StatusOr<KernelVariant> VariantBy(const CudaWay& way, const Kernel& kernel,
                                        const Schedule& schedule, const CudaOptions& options) {
  AOTC_RETURN_IF_ERROR(VerifySchedule(kernel, schedule, CudaTiles()));
  KernelVariant variant{
      .realisation = way.realisation, .schedule = PrintSchedule(schedule), .reason = way.reason};
  AOTC_ASSIGN_OR_RETURN(variant.loops, way.apply(schedule));
  AOTC_RETURN_IF_ERROR(Finish(variant, options.limits));
  return variant;
}

// What the rule gives, unless it is disabled or no GPU of the list has room for it.
absl::StatusOr<KernelVariant> Tried(const CudaRule rule, const Kernel& kernel,
                                    const CudaOptions& options) {
  AOTC_ASSIGN_OR_RETURN(const CudaWay way, rule(kernel, options));
  if (options.disabled.contains(way.realisation)) {
    return absl::FailedPreconditionError(StrCat(way.realisation, " is disabled"));
  }
  return VariantBy(way, kernel, way.chosen, options);
}

std::string FeatureOf(const RuleRow& row, const CudaOptions& options) {
  return row.arch <= options.least_arch ? "" : StrCat("sm_", row.arch);
}

bool Contains(const std::vector<ScheduleCandidate>& candidates, const std::string& schedule) {
  return std::ranges::count(candidates, schedule, &ScheduleCandidate::schedule) > 0;
}

// The ways that GPUs of the variant have, plain loops last.
std::vector<CudaWay> WaysOf(const Kernel& kernel, const KernelVariant& variant,
                            const CudaOptions& options) {
  std::vector<RuleRow> rows = RulesFor(kernel, options);
  rows.push_back({ThreadsOnCuda});
  std::vector<CudaWay> ways;
  for (const RuleRow& row : rows) {
    const std::string feature = FeatureOf(row, options);
    if (!feature.empty() && feature != variant.feature) continue;
    absl::StatusOr<CudaWay> way = row.rule(kernel, options);
    if (way.ok() && !options.disabled.contains(way->realisation)) ways.push_back(*std::move(way));
  }
  return ways;
}

// What an iteration of its loops has in memory between its stages; of one that could be updates,
// which are a kernel of their own, what that leaves to the others.
int64_t KeptBytes(const Kernel& kernel) {
  if (const std::optional<Nest> updates = UpdateNest(kernel)) {
    return std::max<int64_t>(TempBytes(*updates), 1);  // results are left in memory, too
  }
  const absl::StatusOr<Nest> nest = BuildNest(kernel);
  return nest.ok() ? TempBytes(*nest) : 0;
}

}  // namespace

absl::Status CheckSchedule(const Schedule& given, const Schedule& due) {
  if (given == due) return absl::OkStatus();
  return absl::FailedPreconditionError(StrCat("it should be ", PrintSchedule(due)));
}

absl::Status FitsBlock(std::string_view tile, std::span<const int64_t> params) {
  constexpr int64_t kMostThreads = 1024;
  const TileLimits limits{.shared_bytes = kSharedOfEveryBlock, .threads = kMostThreads};
  return LegalParams(*FindTile(CudaTiles(), tile), params, 1, limits);
}

absl::StatusOr<CudaWay> ThreadsOnCuda(const Kernel& kernel, const CudaOptions& /*options*/) {
  return WayOf("loops", "", ThreadsRule(kernel));
}

absl::StatusOr<ProgramKernel> ScheduleOnCuda(const Kernel& kernel, const CudaOptions& options) {
  ProgramKernel result{.kernel = kernel};
  std::string reason = options.templates ? "no rule for it" : "no templates are wanted";
  for (const RuleRow& row : RulesFor(kernel, options)) {
    absl::StatusOr<KernelVariant> variant = Tried(row.rule, kernel, options);
    if (!variant.ok()) {
      reason = std::string(variant.status().message());
      continue;
    }
    variant->feature = FeatureOf(row, options);
    const bool runs_anywhere = variant->feature.empty();
    if (!runs_anywhere) StrAppend(&variant->loops.name, "_", variant->feature);
    result.variants.push_back(*std::move(variant));
    if (runs_anywhere) return result;
  }
  AOTC_ASSIGN_OR_RETURN(CudaWay threads, ThreadsOnCuda(kernel, options));
  threads.reason = std::move(reason);
  AOTC_ASSIGN_OR_RETURN(KernelVariant variant, VariantBy(threads, kernel, threads.chosen, options));
  result.variants.push_back(std::move(variant));
  return result;
}

absl::StatusOr<KernelVariant> CudaVariantBy(const Kernel& kernel, const KernelVariant& variant,
                                            std::string_view text, const CudaOptions& options) {
  AOTC_ASSIGN_OR_RETURN(const Schedule schedule, ParseSchedule(text));
  absl::StatusOr<KernelVariant> other =
      absl::FailedPreconditionError("no rule has such a schedule");
  for (const CudaWay& way : WaysOf(kernel, variant, options)) {
    if (HeartOf(way.chosen).by != HeartOf(schedule).by) continue;
    other = VariantBy(way, kernel, schedule, options);
    if (other.ok()) break;
  }
  AOTC_RETURN_IF_ERROR(other.status());
  other->guard = variant.guard;
  other->feature = variant.feature;
  other->loops.name = variant.loops.name;
  return other;
}

std::vector<ScheduleCandidate> CudaCandidatesOf(const Kernel& kernel, const KernelVariant& variant,
                                                const CudaOptions& options) {
  std::vector<ScheduleCandidate> candidates;
  for (const CudaWay& way : WaysOf(kernel, variant, options)) {
    for (const Schedule& schedule : way.candidates()) {
      const absl::StatusOr<KernelVariant> other = VariantBy(way, kernel, schedule, options);
      if (!other.ok() || Contains(candidates, other->schedule)) continue;
      candidates.push_back({other->schedule, CudaCost(kernel, schedule, options.limits)});
    }
  }
  return candidates;
}

KernelEstimate EstimateOnCuda(const Kernel& kernel, const CudaOptions& options) {
  std::string why = options.templates ? "no rule for it" : "no templates are wanted";
  KernelEstimate estimate{.launch_seconds = options.limits.launch_seconds};
  if (options.templates && IsPointNest(kernel) && !HasReduction(kernel)) {
    estimate.seconds = CudaMoveCost(kernel, options.limits);
    estimate.realisation = "points";
    return estimate;
  }
  for (const RuleRow& row : RulesFor(kernel, options)) {
    const absl::StatusOr<CudaWay> way = row.rule(kernel, options);
    if (way.ok() && !options.disabled.contains(way->realisation)) {
      estimate.seconds = CudaCost(kernel, way->chosen, options.limits);
      estimate.realisation = way->realisation;
      if (estimate.realisation != "row_groups") return estimate;
      estimate.kept_bytes = KeptBytes(kernel);
      // A tile would read weights once for many rows, groups of threads do so for each.
      estimate.is_plain = MultipliesConstants(kernel);
      estimate.why = estimate.is_plain ? why : "";
      return estimate;
    }
    why = way.ok() ? StrCat(way->realisation, " is disabled") : std::string(way.status().message());
  }
  estimate.why = std::move(why);
  estimate.realisation = "loops";
  estimate.is_plain = true;
  estimate.kept_bytes = KeptBytes(kernel);
  const bool fits = BuildNest(kernel).ok() && estimate.kept_bytes <= kMostLocalBytes;
  const absl::StatusOr<CudaWay> threads = ThreadsOnCuda(kernel, options);
  estimate.seconds = fits && threads.ok() ? CudaCost(kernel, threads->chosen, options.limits)
                                          : std::numeric_limits<double>::infinity();
  return estimate;
}

}  // namespace aotc
