#include "compiler/targets/cuda/cuda_target.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "compiler/fuse/split_kernels.h"
#include "compiler/lower/index_width.h"
#include "compiler/lower/lower_loops.h"
#include "compiler/lower/nest.h"
#include "compiler/lower/tidy_loops.h"
#include "compiler/schedule/stage_kinds.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr int64_t kThreads = 128;
constexpr int kTensorCoreArch = 80;  // the first with mma.sync m16n8k16 and cp.async

constexpr int64_t kMostLocalBytes = 128 * 1024;

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
  return absl::UnimplementedError(
      StrCat("kernel ", function.name, " needs ", bytes, " bytes of local memory in each thread"));
}

// Blocks lie in the first dimension of the grid, the only one that holds more than 65535.
absl::Status CheckGrid(const LoopFunction& function) {
  constexpr int64_t kMostBlocks = INT32_MAX;
  const int64_t blocks = RangeOf(function.tasks, BoundsOf(function.symbols)).max;
  if (blocks <= kMostBlocks) return absl::OkStatus();
  return absl::UnimplementedError(StrCat("kernel ", function.name, " needs ", blocks,
                                         " blocks, and a grid has at most ", kMostBlocks));
}

absl::Status CheckShared(const LoopFunction& function, const CudaLimits& limits) {
  const int64_t bytes = SharedBytes(function);
  if (bytes <= limits.shared_per_block) return absl::OkStatus();
  return absl::UnimplementedError(StrCat("kernel ", function.name, " needs ", bytes,
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
std::string ThreadsText(const Kernel& kernel) {
  std::vector<Cut> cuts;
  if (const absl::StatusOr<Nest> nest = BuildNest(kernel); nest.ok() && !nest->outer.empty()) {
    std::vector<NestAxis> axes = nest->outer;
    if (nest->HasStatistics()) axes.resize(axes.size() - nest->stages.back().over.size());
    if (!axes.empty()) cuts.push_back({WalksOf(axes), kThreads});
  }
  return PrintSchedule(
      WholeKernel(kernel, std::move(cuts), StageMemory::kScratch, "threads", {kThreads}));
}

absl::StatusOr<KernelVariant> ThreadsOnCuda(const Kernel& kernel, std::string reason,
                                            const CudaLimits& limits) {
  KernelVariant variant{
      .realisation = "loops", .schedule = ThreadsText(kernel), .reason = std::move(reason)};
  AOTC_ASSIGN_OR_RETURN(variant.loops, LowerToThreads(kernel, kThreads));
  AOTC_RETURN_IF_ERROR(UseLocalMemory(variant.loops));
  AOTC_RETURN_IF_ERROR(Finish(variant, limits));
  return variant;
}

// The first tile that can compute the kernel's contraction; of the refusals the last.
absl::StatusOr<KernelVariant> TileOnCuda(const Kernel& kernel, const CudaOptions& options) {
  if (kernel.stages.empty() || !IsContraction(kernel.stages.front())) {
    return absl::FailedPreconditionError("no contraction");
  }
  if (HasSubByteTensor(kernel)) return absl::FailedPreconditionError("elements share bytes");
  absl::StatusOr<KernelVariant> depthwise = DepthwiseTileOnCuda(kernel, options);
  return depthwise.ok() ? depthwise : MatmulTileOnCuda(kernel, options);
}

// Row-major outputs without halos, as all but tiles of contractions take for granted.
bool WritesPlainTensors(const Kernel& kernel) {
  return std::all_of(kernel.params.begin(), kernel.params.end(), [&](TensorId id) {
    const KernelTensor& tensor = kernel.tensors[id];
    return tensor.role != TensorRole::kOutput || tensor.layout.IsPlain();
  });
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

// A rule, and the least compute capability whose devices run what it gives, times ten.
struct RuleRow {
  CudaRule rule;
  int arch = 0;
};

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
    rules.insert(rules.begin(), {AttentionOnCuda});
    rules.push_back({RowsOnCuda});
  }
  if (rules.empty() && plain) rules = {{TransposeTileOnCuda}, {PackedElementwiseOnCuda}};
  return rules;
}

// What the rule gives, unless it is disabled or no GPU of the list has room for it.
absl::StatusOr<KernelVariant> Tried(const CudaRule rule, const Kernel& kernel,
                                    const CudaOptions& options) {
  AOTC_ASSIGN_OR_RETURN(KernelVariant variant, rule(kernel, options));
  if (options.disabled.contains(variant.realisation)) {
    return absl::FailedPreconditionError(StrCat(variant.realisation, " is disabled"));
  }
  AOTC_RETURN_IF_ERROR(Finish(variant, options.limits));
  return variant;
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
  const absl::StatusOr<KernelVariant> tiled = TileOnCuda(merged, options);
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

absl::StatusOr<ProgramKernel> ScheduleOnCuda(const Kernel& kernel, const CudaOptions& options) {
  ProgramKernel result{.kernel = kernel};
  std::string reason = options.templates ? "no rule for it" : "no templates are wanted";
  for (const RuleRow& row : RulesFor(kernel, options)) {
    absl::StatusOr<KernelVariant> variant = Tried(row.rule, kernel, options);
    if (!variant.ok()) {
      reason = std::string(variant.status().message());
      continue;
    }
    const bool runs_anywhere = row.arch <= options.least_arch;
    if (!runs_anywhere) {
      variant->feature = StrCat("sm_", row.arch);
      StrAppend(&variant->loops.name, "_sm_", row.arch);
    }
    result.variants.push_back(*std::move(variant));
    if (runs_anywhere) return result;
  }
  AOTC_ASSIGN_OR_RETURN(KernelVariant variant,
                        ThreadsOnCuda(kernel, std::move(reason), options.limits));
  result.variants.push_back(std::move(variant));
  return result;
}

bool IsOnePassOnCuda(const Kernel& kernel, const CudaOptions& options) {
  return options.templates && WritesPlainTensors(kernel) && !HasSubByteTensor(kernel) &&
         Tried(AttentionOnCuda, kernel, options).ok();
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
