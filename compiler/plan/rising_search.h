// Whether blocks of memory fit below a capacity, decided by search over the order of their offsets.
//
//   RisingSearch search(blocks, capacity, 1'000'000);
//   search.Run();                           // section_search.h has the results
//
// Blocks are placed in the order of their offsets, each on the highest block below it. A block that
// leaves room below it for one still to come is not tried: that one could move there. These are
// ideas of MiniMalloc (Moffitt, ASPLOS 2023). Where memory is not nearly full at all times this
// finds answers that the other search (skyline_search.h) does not, and the other way round.
#ifndef AOTC_COMPILER_PLAN_RISING_SEARCH_H_
#define AOTC_COMPILER_PLAN_RISING_SEARCH_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "compiler/plan/section_search.h"

namespace aotc {

class RisingSearch final : public SectionSearch {
 public:
  // Of blocks that may stand equally low, the first in `blocks` is tried first.
  RisingSearch(std::vector<SectionBlock> blocks, int64_t capacity, int64_t work);

 private:
  // The block placed last; those that follow stand higher, or as high and have a higher number.
  struct Rank {
    int64_t offset = 0;
    int block = -1;
  };
  struct Change {
    int block = -1;
    bool is_placed = false;  // or: raised
    int64_t offset = 0;      // before it was raised
  };

  bool SolvePart(int first, int last) override;
  std::vector<int> ToPlace(int first, int last) const;
  bool FloorsFit(const std::vector<int>& blocks);
  bool Place(int block);
  size_t Mark() const override { return changes_.size(); }
  void TakeBack(size_t mark) override;

  // offsets_: of a block that is not placed, the lowest possible.
  Rank placed_last_ = {};
  std::vector<std::vector<int>> blocks_at_;  // per section: the blocks that cover it
  std::vector<int64_t> top_;                 // per section, of FloorsFit
  std::vector<Change> changes_ = {};         // to be taken back
};

}  // namespace aotc

#endif  // AOTC_COMPILER_PLAN_RISING_SEARCH_H_
