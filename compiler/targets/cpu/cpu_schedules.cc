#include "compiler/targets/cpu/cpu_schedules.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "compiler/lower/block_constants.h"
#include "compiler/lower/lower_loops.h"
#include "compiler/lower/tidy_loops.h"
#include "compiler/schedule/nest_form.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/targets/cpu/contract_schedule.h"
#include "compiler/targets/cpu/ranks.h"
#include "compiler/targets/cpu/row_products.h"
#include "compiler/targets/cpu/tiles.h"

namespace aotc {
namespace {

bool IsByte(const Expr& e) { return e.dtype() == DType::kU8 || e.dtype() == DType::kI8; }

// There is something to compute for vectors: on f32, or a reduction of bytes.
bool HasVectorMath(const Kernel& kernel) {
  return std::ranges::any_of(kernel.stages, [](const Stage& stage) {
    return std::ranges::any_of(stage.body, [&](const Expr& e) {
      if (ComputeType(e.dtype()) == DType::kF32) return true;
      return stage.IsReduction() && (IsByte(e) || std::ranges::any_of(LoadsOf(e), IsByte));
    });
  });
}

absl::Status Refuse(std::string_view reason) { return absl::FailedPreconditionError(View(reason)); }

absl::Status CheckAllowed(std::string_view name, const CpuOptions& options) {
  if (!options.templates) return Refuse("templates are off");
  if (!options.disabled.contains(std::string(name))) return absl::OkStatus();
  return Refuse(StrCat(name, " is disabled"));
}

// Of weights with scales the tile knows what to do.
bool SharesBytes(const TiledContraction& c) {
  return std::ranges::any_of(c.kernel.params, [&](TensorId id) {
    return IsSubByte(c.kernel.tensors[id].dtype) && !(id == c.weights && c.scales.valid());
  });
}

// The kernel as a matrix or a depthwise tile sees it; of two refusals the first.
absl::StatusOr<TiledContraction> ReadTiled(const Kernel& kernel, const CpuOptions& options) {
  if (!options.templates) return Refuse("templates are off");
  absl::StatusOr<TiledContraction> tiled = AnalyzeContraction(kernel);
  if (!tiled.ok()) {
    absl::StatusOr<TiledContraction> pixels = AnalyzeDepthwise(kernel);
    if (pixels.ok()) tiled = std::move(pixels);
  }
  AOTC_RETURN_IF_ERROR(tiled.status());
  AOTC_RETURN_IF_ERROR(CheckAllowed(TileOf(*tiled), options));
  if (SharesBytes(*tiled)) return Refuse("elements share bytes");
  return tiled;
}

absl::StatusOr<WinogradContraction> ReadByWinograd(const Kernel& kernel,
                                                   const CpuOptions& options) {
  AOTC_RETURN_IF_ERROR(CheckAllowed("winograd", options));
  AOTC_RETURN_IF_ERROR(CheckAllowed("contract_tile", options));
  return AnalyzeWinograd(kernel);
}

absl::StatusOr<Chain> ReadInBands(const Kernel& kernel, const CpuOptions& options) {
  AOTC_RETURN_IF_ERROR(CheckAllowed("chain", options));
  AOTC_ASSIGN_OR_RETURN(Chain chain, AnalyzeChain(kernel));
  AOTC_RETURN_IF_ERROR(CheckBands(chain));
  for (const TiledContraction* part : {&chain.first, &chain.second}) {
    AOTC_RETURN_IF_ERROR(CheckAllowed(TileOf(*part), options));
  }
  return chain;
}

int LanesOf(const CpuReading& reading, const Isa& isa) {
  return HasVectorMath(reading.stored()) ? isa.lanes : 1;
}

void AddNew(std::vector<Schedule>& schedules, std::vector<Schedule> others) {
  for (Schedule& schedule : others) {
    if (std::ranges::count(schedules, schedule) > 0) continue;
    schedules.push_back(std::move(schedule));
  }
}

// The one of the least score; of those that differ by less than is known the first.
Schedule Best(const CpuReading& reading, std::vector<Schedule> schedules, const Isa& isa,
              const CpuLimits& limits) {
  constexpr double kAsGood = 1.03;
  std::vector<double> scores;
  for (const Schedule& schedule : schedules) {
    scores.push_back(CpuScore(reading, schedule, isa, limits));
  }
  const double least = *std::ranges::min_element(scores);
  const auto best =
      std::ranges::find_if(scores, [&](double score) { return score <= least * kAsGood; });
  return std::move(schedules[static_cast<size_t>(best - scores.begin())]);
}

// The best of those that can be applied.
std::optional<Schedule> BestOfAttention(const CpuReading& reading, const Isa& isa,
                                        const CpuLimits& limits) {
  const Attention& attention = *reading.attention();
  std::vector<Schedule> schedules = AttentionCandidates(attention, isa);
  while (!schedules.empty()) {
    Schedule best = Best(reading, schedules, isa, limits);
    if (ApplyAttention(attention, best, isa.lanes).ok()) return best;
    std::erase(schedules, best);
  }
  return std::nullopt;
}

// Blocks of rows by blocks of keys: stages that have no vector form allow none.
std::vector<Schedule> AppliedToAttention(const Attention& attention, const Isa& isa) {
  std::vector<Schedule> schedules = AttentionCandidates(attention, isa);
  std::erase_if(schedules, [&](const Schedule& schedule) {
    return !ApplyAttention(attention, schedule, isa.lanes).ok();
  });
  return schedules;
}

// A source file is of one instruction set, whose vectors it names without their lanes.
absl::Status CheckLanes(const Schedule& schedule, const Isa& isa) {
  for (const SchedulePart& part : schedule.parts) {
    if (part.by != "loops" || part.params[0] == 1 || part.params[0] == isa.lanes) continue;
    return absl::FailedPreconditionError(StrCat("loops(", part.params[0], "): vectors of ",
                                                isa.name, " have ", isa.lanes, " lanes"));
  }
  return absl::OkStatus();
}

}  // namespace

CpuReading::CpuReading(const Kernel& kernel, const CpuOptions& options)
    : kernel_(&kernel),
      contraction_(ReadTiled(kernel, options)),
      winograd_(ReadByWinograd(kernel, options)),
      chain_(ReadInBands(kernel, options)),
      attention_allowed_(CheckAllowed("attention", options)),
      rows_allowed_(CheckAllowed("row_products", options)),
      ranks_allowed_(CheckAllowed("rank_tile", options)),
      transpose_allowed_(CheckAllowed(kTransposeTile, options)) {
  if (!options.isas.empty()) widest_ = options.limits.For(options.isas.back());
}

const Kernel& CpuReading::stored() const {
  if (contraction_.ok()) return contraction_->kernel;
  if (winograd_.ok()) return winograd_->kernel;
  if (chain_.ok()) return chain_->kernel;
  if (!blocked_) {
    blocked_ = *kernel_;
    BlockConstants(*blocked_);
  }
  return *blocked_;
}

CpuReading CpuReading::Under(const Expr& fact) const {
  CpuReading reading = *this;
  reading.contraction_ = UnderFact(*contraction_, fact);
  reading.loops_.reset();
  return reading;
}

CpuReading CpuReading::WithoutTile(absl::Status why) const {
  CpuReading reading = *this;
  reading.contraction_ = why;
  reading.winograd_ = why;
  reading.chain_ = std::move(why);
  reading.rows_.reset();
  reading.loops_.reset();
  return reading;
}

std::string CpuReading::WhyNoTile() const {
  if (HasTile()) return "";
  if (ReadWinograd(*kernel_)) return std::string(winograd_.status().message());
  if (ReadChain(*kernel_)) return std::string(chain_.status().message());
  return std::string(contraction_.status().message());
}

absl::Status CpuReading::CheckRealisable() const {
  return HasTile() || rows().ok() ? absl::OkStatus() : loops().status();
}

const absl::StatusOr<Attention>& CpuReading::attention() const {
  if (!attention_ && !attention_allowed_.ok()) attention_ = attention_allowed_;
  if (!attention_ && HasTile()) attention_ = Refuse("a tile takes it");
  if (!attention_) attention_ = AnalyzeAttention(*kernel_);
  if (attention_->ok()) {
    if (const absl::Status status = CheckRowAttention(**attention_); !status.ok())
      attention_ = status;
  }
  return *attention_;
}

const absl::StatusOr<Nest>& CpuReading::rows() const {
  if (!rows_ && !rows_allowed_.ok()) rows_ = rows_allowed_;
  if (!rows_) rows_ = HasTile() ? Refuse("a tile takes it") : RowProductNest(stored());
  return *rows_;
}

const absl::StatusOr<Nest>& CpuReading::ranks() const {
  if (!ranks_ && !ranks_allowed_.ok()) ranks_ = ranks_allowed_;
  if (!ranks_) ranks_ = HasTile() ? Refuse("a tile takes it") : RankNest(stored());
  return *ranks_;
}

const absl::StatusOr<Transpose>& CpuReading::transpose() const {
  if (!transpose_) {
    transpose_ = !transpose_allowed_.ok() ? absl::StatusOr<Transpose>(transpose_allowed_)
                 : loops().ok()           ? ReadTranspose(*loops())
                                          : absl::StatusOr<Transpose>(loops().status());
  }
  return *transpose_;
}

const absl::StatusOr<Nest>& CpuReading::loops() const {
  if (!loops_) {
    // Loops over rows are those of row products, too.
    const bool are_rows = rows_allowed_.ok() && !HasTile() && !IsPointNest(stored());
    loops_ = are_rows ? rows() : LoopNest(stored());
  }
  return *loops_;
}

CpuReading ReadingOf(const Kernel& kernel, const KernelVariant& variant,
                     const CpuOptions& options) {
  CpuReading reading(kernel, options);
  if (reading.contraction().ok() && !IsTileOf(*reading.contraction(), variant.realisation)) {
    return reading.WithoutTile(absl::FailedPreconditionError(variant.reason));
  }
  return variant.guard.IsInt(1) ? reading : reading.Under(variant.guard);
}

Schedule ChooseOnCpu(const CpuReading& reading, const Isa& isa, const CpuLimits& limits) {
  if (reading.contraction().ok()) {
    return Best(reading, ContractCandidates(*reading.contraction(), isa), isa, limits);
  }
  if (reading.winograd().ok())
    return ChooseWinogradSchedule(*reading.winograd(), isa, reading.LimitsOfTasks(limits));
  if (reading.chain().ok()) {
    const Chain& chain = *reading.chain();
    std::vector<Schedule> all = ChainCandidates(chain, isa, limits), small;
    std::ranges::copy_if(all, std::back_inserter(small),
                         [&](const Schedule& schedule) { return HasRoom(chain, schedule); });
    return Best(reading, small.empty() ? std::move(all) : std::move(small), isa, limits);
  }
  if (reading.attention().ok()) {
    std::optional<Schedule> blocks = BestOfAttention(reading, isa, limits);
    if (blocks) return *std::move(blocks);
  }
  if (reading.rows().ok()) {
    absl::StatusOr<Schedule> rows = ChooseRowProducts(reading.stored(), *reading.rows(), isa);
    if (rows.ok()) return *std::move(rows);
  }
  if (reading.ranks().ok()) {
    return ScheduleRanks(reading.stored(), *reading.ranks(), LanesOf(reading, isa));
  }
  if (reading.transpose().ok()) {
    return Best(reading, TransposeCandidates(reading.stored(), *reading.transpose()), isa, limits);
  }
  if (!reading.loops().ok()) return {};
  return ScheduleLoops(reading.stored(), *reading.loops(), LanesOf(reading, isa));
}

std::vector<Schedule> CpuCandidates(const CpuReading& reading, const Isa& isa,
                                    const CpuLimits& limits) {
  std::vector<Schedule> schedules = {ChooseOnCpu(reading, isa, limits)};
  if (reading.contraction().ok())
    AddNew(schedules, ContractCandidates(*reading.contraction(), isa));
  if (reading.winograd().ok()) {
    AddNew(schedules, WinogradCandidates(*reading.winograd(), isa));
    return schedules;
  }
  if (reading.chain().ok()) {
    AddNew(schedules, ChainCandidates(*reading.chain(), isa, limits));
    return schedules;
  }
  if (reading.attention().ok()) AddNew(schedules, AppliedToAttention(*reading.attention(), isa));
  if (reading.rows().ok()) {
    AddNew(schedules, RowProductCandidates(reading.stored(), *reading.rows(), isa));
  }
  if (reading.transpose().ok()) {
    AddNew(schedules, TransposeCandidates(reading.stored(), *reading.transpose()));
  }
  if (!reading.loops().ok()) return schedules;
  for (const int lanes : {LanesOf(reading, isa), 1}) {
    AddNew(schedules, LoopCandidates(reading.stored(), *reading.loops(), lanes));
  }
  return schedules;
}

absl::StatusOr<LoopFunction> ApplyOnCpu(const CpuReading& reading, const Schedule& schedule,
                                        const Isa& isa) {
  AOTC_RETURN_IF_ERROR(VerifySchedule(reading.stored(), schedule, CpuTiles()));
  AOTC_RETURN_IF_ERROR(CheckLanes(schedule, isa));
  const std::string& by = HeartOf(schedule).by;
  absl::StatusOr<LoopFunction> loops;
  if (by == "loops") {
    AOTC_RETURN_IF_ERROR(reading.loops().status());
    loops = LowerToLoops(reading.stored(), *reading.loops(), schedule);
  } else if (IsRankTile(by)) {
    AOTC_RETURN_IF_ERROR(reading.ranks().status());
    loops = ApplyRanks(reading.stored(), *reading.ranks(), schedule);
  } else if (by == kTransposeTile) {
    AOTC_RETURN_IF_ERROR(reading.transpose().status());
    loops = ApplyTranspose(reading.stored(), *reading.transpose(), schedule);
  } else if (reading.contraction().ok()) {
    loops = ApplyContractSchedule(*reading.contraction(), schedule, isa.lanes);
  } else if (reading.chain().ok()) {
    loops = ApplyChain(*reading.chain(), schedule, isa.lanes);
  } else if (IsAttention(schedule)) {
    AOTC_RETURN_IF_ERROR(reading.attention().status());
    loops = ApplyAttention(*reading.attention(), schedule, isa.lanes);
  } else if (reading.winograd().ok()) {
    loops = ApplyWinogradSchedule(*reading.winograd(), schedule, isa.lanes);
  } else {
    AOTC_RETURN_IF_ERROR(reading.rows().status());
    loops = ApplyRowProducts(reading.stored(), *reading.rows(), schedule);
  }
  AOTC_RETURN_IF_ERROR(loops.status());
  TidyLoops(*loops);
  return loops;
}

}  // namespace aotc
