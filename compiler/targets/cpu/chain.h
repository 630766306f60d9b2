// Two contractions in one kernel on a CPU, in bands of rows: a task computes what the second one
// reads, for some rows, into scratch, and then the second one of them.
//
//   schedule { tasks %y(n:1, h:4)
//              %a, %v @ tasks in scratch by depthwise_tile(7, 1)
//              %b, %y @ tasks in fragment by contract_tile(14, 2, 1) }
//
// A band is of one axis; of the axes before it a task has one iteration, of those behind it all.
// Nothing is computed twice: a row of the second one needs that row of what it reads, whole.
#ifndef AOTC_COMPILER_TARGETS_CPU_CHAIN_H_
#define AOTC_COMPILER_TARGETS_CPU_CHAIN_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/schedule/chain.h"
#include "compiler/schedule/schedule.h"
#include "compiler/targets/cpu/contract_schedule.h"
#include "compiler/targets/cpu/contraction.h"
#include "compiler/targets/cpu/limits.h"

namespace aotc {

// Both contractions in a band of so many rows.
struct ChainBand {
  TiledContraction first = {}, second = {};
  NestBand of_first = {}, of_second = {};
  int64_t elements = 0;  // of the scratch
};

struct Chain {
  Kernel kernel = {};  // with its constants packed
  ChainAnchor anchor = {};
  Kernel head = {}, tail = {};               // as kernels of their own, nothing packed
  TiledContraction first = {}, second = {};  // of these, over all rows
  size_t band = 0;                           // axis of %v of which a task has a band
  std::vector<size_t> single = {};           // those of which it has one iteration
  std::shared_ptr<std::map<int64_t, absl::StatusOr<ChainBand>>> bands = {};  // made so far

  // A band is rows of images, each of them a row of tiles; else its rows are those of tiles.
  bool IsImage() const { return band + 1 < anchor.rows.size() && anchor.rows[band + 1]; }
};

// Error: the reason why tiles do not take the kernel.
absl::StatusOr<Chain> AnalyzeChain(const Kernel& kernel);

// That of so many rows. Error: as above.
const absl::StatusOr<ChainBand>& BandOf(const Chain& chain, int64_t rows);

// What a schedule says to the loops.
struct ChainTiling {
  int64_t rows = 1;  // of a band
  ContractTiling first = {}, second = {};
};

// Whether the schedule is one of chains.
bool IsChain(const Schedule& schedule);
// Error: the reason why the schedule is none of this chain.
absl::StatusOr<ChainTiling> ChainTilingOf(const Chain& chain, const Schedule& schedule, int lanes);

// Error: the reason why bands of no size have tiles.
absl::Status CheckBands(const Chain& chain);
// Bands of several sizes with the tiles that suit them, for the costs of a machine.
std::vector<Schedule> ChainCandidates(const Chain& chain, const Isa& isa, const CpuLimits& limits);

// Whether the chain takes clearly less memory than its two kernels would at the worse time: that of
// what is read, of the result and of the scratch of all workers at once, against what lies between
// and one of the two. Time alone is no reason: what the arena grew by was more (measured: a fifth,
// for a few percent of the time with two workers).
bool HasRoom(const Chain& chain, const Schedule& schedule);

// Error: as above, or stages without vector form.
absl::StatusOr<LoopFunction> ApplyChain(const Chain& chain, const Schedule& schedule, int lanes);

}  // namespace aotc

#endif  // AOTC_COMPILER_TARGETS_CPU_CHAIN_H_
