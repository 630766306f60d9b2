// The blocks of one pool while it is being filled, all of them within its bound.
//
//   PoolFill fast(blocks, 4096, 64);
//   if (fast.Add(3)) fast.offsets()[3];     // block 3 has found room
//   fast.members();                         // {3}
#ifndef AOTC_COMPILER_PLAN_POOL_FILL_H_
#define AOTC_COMPILER_PLAN_POOL_FILL_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/plan/assign_pools.h"

namespace aotc {

class PoolFill {
 public:
  // No limit: whatever is added has room, and offsets stay 0.
  PoolFill(const std::vector<PooledBlock>& blocks, PoolLimit limit, int64_t align);

  // Takes a block if room for it is found: in the lowest gap, or by search for a new assignment of
  // all. `work` bounds these searches, and is used up.
  bool Add(int block, int64_t& work);

  const PoolLimit& limit() const { return limit_; }
  const std::vector<int>& members() const { return members_; }
  const std::vector<int64_t>& offsets() const { return offsets_; }  // per block

  // Of a block, rounded up to the alignment.
  int64_t Bytes(int block) const;

 private:
  bool MayFit(int block) const;
  std::optional<int64_t> LowestGap(int block) const;
  bool Repack(int block, int64_t& work);
  void Take(int block);

  const std::vector<PooledBlock>& blocks_;
  const PoolLimit limit_;  // a multiple of the alignment
  const int64_t align_;
  std::vector<int64_t> live_;      // per step: bytes of the members alive there
  std::vector<int> members_ = {};  // by ascending offset
  std::vector<int64_t> offsets_;
};

}  // namespace aotc

#endif  // AOTC_COMPILER_PLAN_POOL_FILL_H_
