// How much the steps read and write of each buffer.
//
//   const IdVector<BufferId, int64_t> traffic = BufferTraffic(program);
//   traffic[conv1];      // three times its bytes: written once, read twice
#ifndef AOTC_COMPILER_PLAN_TRAFFIC_H_
#define AOTC_COMPILER_PLAN_TRAFFIC_H_

#include "compiler/ir/program.h"

namespace aotc {

// Bytes that the steps read and write of each buffer that owns memory, those through views
// included; 0 for views. Scratch counts twice: what is written is read in the same step. Steps of a
// loop count for each of its rounds, up to a thousand; for 16 where only data end the loop.
IdVector<BufferId, int64_t> BufferTraffic(const Program& program);

}  // namespace aotc

#endif  // AOTC_COMPILER_PLAN_TRAFFIC_H_
