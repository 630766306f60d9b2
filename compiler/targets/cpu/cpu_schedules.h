// The CPU's schedules of a kernel: which there are, what each should cost, which is chosen, and the
// loops that one gives.
//
//   CpuReading reading(kernel);
//   for (const Schedule& schedule : CpuCandidates(reading, isa, limits)) {
//     const double seconds = CpuCost(reading, schedule, isa, limits);
//     LoopFunction loops = *ApplyOnCpu(reading, schedule, isa);
//   }
//
// All schedules of a kernel obey one contract: constants are packed alike for all of them, so that
// every instruction set reads the same weights.
#ifndef AOTC_COMPILER_TARGETS_CPU_CPU_SCHEDULES_H_
#define AOTC_COMPILER_TARGETS_CPU_CPU_SCHEDULES_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/loops.h"
#include "compiler/ir/packing.h"
#include "compiler/lower/nest.h"
#include "compiler/schedule/schedule.h"
#include "compiler/targets/cpu/attention.h"
#include "compiler/targets/cpu/chain.h"
#include "compiler/targets/cpu/contraction.h"
#include "compiler/targets/cpu/cpu_target.h"
#include "compiler/targets/cpu/transpose.h"
#include "compiler/targets/cpu/winograd.h"

namespace aotc {

// What schedules are about, read from a kernel when it is first asked for. The kernel must outlive
// the reading.
class CpuReading {
 public:
  // Of the options only templates, disabled schedules and the limits of the widest vectors matter.
  explicit CpuReading(const Kernel& kernel, const CpuOptions& options = {});

  const Kernel& kernel() const { return *kernel_; }
  // The register tile's view. Error: the reason why no tile takes the kernel.
  const absl::StatusOr<TiledContraction>& contraction() const { return contraction_; }
  // That of Winograd's algorithm. Error: as above.
  const absl::StatusOr<WinogradContraction>& winograd() const { return winograd_; }
  // The limits that decide for all instruction sets how large a task is; those of the only one
  // where the options name none.
  const CpuLimits& LimitsOfTasks(const CpuLimits& own) const { return widest_ ? *widest_ : own; }
  // That of two contractions in bands. Error: as above.
  const absl::StatusOr<Chain>& chain() const { return chain_; }
  bool HasTile() const { return contraction_.ok() || winograd_.ok() || chain_.ok(); }
  // The reason of them that says most; "" where there is a tile.
  std::string WhyNoTile() const;
  // Error: there is no schedule at all, not even plain loops.
  absl::Status CheckRealisable() const;
  // That of attention in one pass. Error: as above.
  const absl::StatusOr<Attention>& attention() const;
  // That of a copy along another axis than it reads along. Error: as above.
  const absl::StatusOr<Transpose>& transpose() const;
  // The nest of rows for products with one matrix, that of rows which are ranked, and that of plain
  // loops.
  const absl::StatusOr<Nest>& rows() const;
  const absl::StatusOr<Nest>& ranks() const;
  const absl::StatusOr<Nest>& loops() const;
  // The kernel with its constants as all schedules read them.
  const Kernel& stored() const;
  // The same where `fact`, a condition on the symbols, holds; a tile must take the kernel.
  CpuReading Under(const Expr& fact) const;
  // The same where no tile takes the kernel after all, and why.
  CpuReading WithoutTile(absl::Status why) const;
  Packing packing() const { return PackingOf(*kernel_, stored()); }

 private:
  const Kernel* kernel_;
  absl::StatusOr<TiledContraction> contraction_;
  absl::StatusOr<WinogradContraction> winograd_;
  absl::StatusOr<Chain> chain_;
  absl::Status attention_allowed_, rows_allowed_, ranks_allowed_, transpose_allowed_;
  std::optional<CpuLimits> widest_ = {};
  mutable std::optional<Kernel> blocked_;
  mutable std::optional<absl::StatusOr<Attention>> attention_;
  mutable std::optional<absl::StatusOr<Transpose>> transpose_;
  mutable std::optional<absl::StatusOr<Nest>> rows_, ranks_, loops_;
};

// The reading that a variant of the kernel came of: under its guard, and without the tile where
// that could not be applied.
CpuReading ReadingOf(const Kernel& kernel, const KernelVariant& variant,
                     const CpuOptions& options = {});

// What is chosen where nothing else is known: of the first way that takes the kernel (tiles,
// Winograd, chains, attention, products of rows, ranks, transposed copies, plain loops) the
// schedule of the least score.
Schedule ChooseOnCpu(const CpuReading& reading, const Isa& isa, const CpuLimits& limits);
// Legal schedules, the chosen one first, each once. Of contractions tiles, blocks and cuts of all
// sizes that fit; plain loops last.
std::vector<Schedule> CpuCandidates(const CpuReading& reading, const Isa& isa,
                                    const CpuLimits& limits);

// The loops. Error: the schedule is none of this kernel, and why.
absl::StatusOr<LoopFunction> ApplyOnCpu(const CpuReading& reading, const Schedule& schedule,
                                        const Isa& isa);

// Estimated seconds of a run with one worker, at the symbols' maxima.
double CpuCost(const CpuReading& reading, const Schedule& schedule, const Isa& isa,
               const CpuLimits& limits);
// What choices go by: those seconds, and what as many workers as the machine has cores take of it
// together, of which some have no task at the end.
double CpuScore(const CpuReading& reading, const Schedule& schedule, const Isa& isa,
                const CpuLimits& limits);
// What fusion goes by: the mean of a run with one worker and of one with as many as there are
// cores, and of that what a kernel costs for being one: a task and half a barrier.
double CpuSeconds(const CpuReading& reading, const Schedule& schedule, const Isa& isa,
                  const CpuLimits& limits);
double CpuLaunchSeconds(const CpuLimits& limits);

// What the two contractions of a chain should take in a kernel each, in the relation to CpuSeconds
// of the chain that their scores have, to which what lies between is added. The reading must have a
// chain, and the schedule be one of it.
double ApartSeconds(const CpuReading& reading, const Schedule& schedule, const Isa& isa,
                    const CpuOptions& options);

}  // namespace aotc

#endif  // AOTC_COMPILER_TARGETS_CPU_CPU_SCHEDULES_H_
