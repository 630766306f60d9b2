// Whether blocks of memory fit below a capacity, decided by search over the order of their offsets.
//
//   RisingSearch search(blocks, capacity, 1'000'000);
//   if (search.Run()) search.offsets();     // one per block
//   else search.complete();                 // true: they do not fit; false: the work ran out
//
// Blocks are placed in the order of their offsets, each on the highest block below it. A block that
// leaves room below it for one still to come is not tried: that one could move there. Parts of time
// that no remaining block links are solved apart. These are ideas of MiniMalloc (Moffitt, ASPLOS
// 2023). Where memory is not nearly full at all times this finds answers that the other search
// (skyline_search.h) does not, and the other way round.
#ifndef AOTC_COMPILER_PLAN_RISING_SEARCH_H_
#define AOTC_COMPILER_PLAN_RISING_SEARCH_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "compiler/plan/skyline_search.h"

namespace aotc {

class RisingSearch {
 public:
  // Of blocks that may stand equally low, the first in `blocks` is tried first. `work` bounds the
  // sections and blocks that may be touched.
  RisingSearch(std::vector<SectionBlock> blocks, int64_t capacity, int64_t work);

  // True if offsets were found.
  bool Run();
  bool complete() const { return work_ > 0; }
  int64_t work_left() const { return work_; }
  const std::vector<SectionBlock>& blocks() const { return blocks_; }
  const std::vector<int64_t>& offsets() const { return offsets_; }

 private:
  // The block placed last; those that follow stand higher, or as high and have a higher number.
  struct Rank {
    int64_t offset = 0;
    int block = -1;
  };
  enum class What { kOffset, kHeight, kPlaced };
  struct Change {
    What what = What::kPlaced;
    int index = 0;       // of a block or section
    int64_t before = 0;  // its offset or height
  };

  bool SolveRange(int first, int last, Rank placed);
  bool SolvePart(int first, int last, Rank placed);
  std::vector<int> ToPlace(int first, int last) const;
  bool FloorsFit(const std::vector<int>& blocks, int64_t least);
  bool Place(int block);
  void TakeBack(size_t mark);

  const std::vector<SectionBlock> blocks_;
  const int64_t capacity_;
  int64_t work_;
  std::vector<int64_t> offsets_ = {};             // per block; the lowest possible if not placed
  std::vector<char> placed_ = {};                 // per block
  std::vector<std::vector<int>> begins_ = {};     // per section: the blocks that begin there
  std::vector<std::vector<int>> blocks_at_ = {};  // per section: the blocks that cover it
  std::vector<int64_t> height_ = {};              // per section: of what is placed
  std::vector<int64_t> left_ = {};                // per section: bytes still to place
  std::vector<int> crossing_ = {};    // per section: blocks to place that began before it
  std::vector<int64_t> top_ = {};     // per section, of FloorsFit
  std::vector<Change> changes_ = {};  // to be taken back
};

}  // namespace aotc

#endif  // AOTC_COMPILER_PLAN_RISING_SEARCH_H_
