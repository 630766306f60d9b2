// What schedules should take on a CPU, from the limits of a machine: cycles of tiles, bytes that
// leave the inner caches, what calls and tasks cost besides.
//
//   const CpuCore core(limits, isa.lanes);
//   const CpuEstimate estimate = EstimateContraction(contraction, tiling, core);
//   estimate.cycles / limits.clock_hz     // seconds with one worker
#ifndef AOTC_COMPILER_TARGETS_CPU_ESTIMATE_H_
#define AOTC_COMPILER_TARGETS_CPU_ESTIMATE_H_

#include <cstdint>

#include "compiler/ir/expr_simplify.h"
#include "compiler/lower/nest.h"
#include "compiler/schedule/schedule.h"
#include "compiler/targets/cpu/attention.h"
#include "compiler/targets/cpu/chain.h"
#include "compiler/targets/cpu/contract_schedule.h"
#include "compiler/targets/cpu/contraction.h"
#include "compiler/targets/cpu/limits.h"
#include "compiler/targets/cpu/transpose.h"

namespace aotc {

// A core's limits in cycles.
struct CpuCore {
  CpuCore(const CpuLimits& limits, int lanes);

  double lanes;
  double multiply_adds;  // of vectors, a cycle
  double l1_bytes, l2_bytes, l3_bytes;
  double l2_rate, l3_rate, memory_rate;  // bytes a cycle
  double loads;                          // of vectors, a cycle
  double cores;
  double latency = 4;  // of a multiply-add, in cycles
  double call = 20;    // cycles of a call, its prologue and its first misses
  double task = 100;   // cycles of dealing out a task

  // Cycles of one step of a register tile that loads as many vectors, and elements for all lanes.
  double TileStep(double accumulators, double vectors, double elements, double split) const;
  // Bytes a cycle that come again and again of as many: from the innermost cache that holds them.
  double RateOf(double bytes) const;
};

struct CpuEstimate {
  double cycles = 0;  // with one worker
  double tasks = 1;
  double whole_tasks = tasks;  // as many of the largest have all of the work
  double handed_cycles = 0;    // in which workers read what others wrote, all of them together
};

// The largest value that an extent has; of one without a bound a guess.
double MostOf(const Expr& extent, const Bounds& bounds);

// Of so many bands that have a contraction each.
CpuEstimate EstimateContraction(const TiledContraction& contraction, const ContractTiling& tiling,
                                const CpuCore& core, double bands = 1);
// Of the nest that the schedule's loops, or its products of rows, are about.
CpuEstimate EstimateNest(const Kernel& kernel, const Nest& nest, const Schedule& schedule,
                         const CpuCore& core);
CpuEstimate EstimateChain(const Chain& chain, const ChainTiling& tiling, const CpuCore& core);
// Cycles in which what lies between goes to memory and comes back, where another kernel reads it.
// They pass while the two kernels compute (measured: up to 8 MB, writing it and reading it in
// order cost nothing beside their products), so only what is more than that counts.
double HandoverCycles(const Chain& chain, const CpuCore& core);
CpuEstimate EstimateAttention(const Attention& attention, const AttentionTiling& tiling,
                              const CpuCore& core);
CpuEstimate EstimateTranspose(const Transpose& transpose, const TransposeTiling& tiling,
                              const CpuCore& core);

}  // namespace aotc

#endif  // AOTC_COMPILER_TARGETS_CPU_ESTIMATE_H_
