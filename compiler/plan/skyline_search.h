// Whether blocks of memory fit below a capacity, decided by search.
//
//   SkylineSearch search(blocks, capacity, {.work = 1'000'000});
//   search.Run();                           // section_search.h has the results
//
// Time is cut into sections (search_arena.h). The tops of the blocks placed so far are a skyline
// over them, and its valleys are filled from below: at the first section of a valley, the next
// block either stands on the ground there, and then begins there and is no wider than the valley,
// or it stands on something higher beside it, and leaves a gap. So every branch settles what lies
// on one section. States that have failed are remembered. That only assignments pushed down matter,
// and that each section must have room for what is left, are ideas of MiniMalloc (Moffitt, ASPLOS
// 2023).
#ifndef AOTC_COMPILER_PLAN_SKYLINE_SEARCH_H_
#define AOTC_COMPILER_PLAN_SKYLINE_SEARCH_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "compiler/plan/section_search.h"

namespace aotc {

struct SkylineOptions {
  int64_t work = 0;           // sections and blocks that may be touched
  bool lowest_first = false;  // settles the lowest valley first, not that with the fewest choices
};

class SkylineSearch final : public SectionSearch {
 public:
  // `blocks` in the order in which those that begin at one section are tried; every section is
  // covered by one.
  SkylineSearch(std::vector<SectionBlock> blocks, int64_t capacity, const SkylineOptions& options);

 private:
  // Sections first to last of equal height, between higher ones or ends of a part.
  struct Valley {
    int first = 0;
    int last = -1;
    int64_t gap = 0;       // height of the first section if no block stands on the ground there
    bool may_gap = false;  // the section has room for that gap
    int choices = 0;
  };
  struct Change {
    int block = -1;      // placed; or -1: the height of a section has changed
    int section = 0;     // whose height has changed
    int64_t height = 0;  // before
    int top = -1;        // before
  };
  using State = std::pair<uint64_t, uint64_t>;

  bool SolvePart(int first, int last) override;
  bool Branch(const Valley& valley, int first, int last);
  Valley BestValley(int first, int last) const;
  bool IsBetter(const Valley& valley, const Valley& best) const;
  void Measure(Valley& valley, int first, int last) const;
  bool FloorsFit(int first, int last);
  bool MayStand(int block, const Valley& valley) const;
  bool Place(int block, int64_t height);
  void Lift(int section, int64_t height, int top);
  size_t Mark() const override { return changes_.size(); }
  void TakeBack(size_t mark) override;
  State StateOf(int first, int last) const;

  const bool lowest_first_;
  std::vector<int> twin_;             // per block: the equal one before it, or -1
  std::vector<int64_t> height_;       // per section: of the skyline
  std::vector<int> top_;              // per section: block on top, or -1
  std::vector<uint64_t> rest_;        // per section: hash of the blocks to place there
  std::vector<int64_t> lowest_;       // per section, of FloorsFit
  std::vector<Change> changes_ = {};  // to be taken back
  absl::flat_hash_set<State> failed_ = {};
};

}  // namespace aotc

#endif  // AOTC_COMPILER_PLAN_SKYLINE_SEARCH_H_
