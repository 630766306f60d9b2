// What the searches for offsets below a capacity have in common (skyline_search.h,
// rising_search.h): blocks over sections of time, what of them is placed, and a budget of work.
//
//   SkylineSearch search(blocks, capacity, {.work = 1'000'000});
//   if (search.Run()) search.offsets();     // one per block
//   else search.complete();                 // true: they do not fit; false: the work ran out
//
// Parts of time that no remaining block links are solved apart.
#ifndef AOTC_COMPILER_PLAN_SECTION_SEARCH_H_
#define AOTC_COMPILER_PLAN_SECTION_SEARCH_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace aotc {

// A block over sections of time.
struct SectionBlock {
  int64_t bytes = 0;  // at least 1
  int first = 0;      // section, inclusive
  int last = 0;       // section, inclusive
  int index = 0;      // in the caller's blocks
};

class SectionSearch {
 public:
  SectionSearch(const SectionSearch&) = delete;
  SectionSearch& operator=(const SectionSearch&) = delete;
  virtual ~SectionSearch() = default;

  // True if offsets were found.
  bool Run();
  bool complete() const { return work_ > 0; }
  int64_t work_left() const { return work_; }
  const std::vector<SectionBlock>& blocks() const { return blocks_; }
  const std::vector<int64_t>& offsets() const { return offsets_; }

 protected:
  // `work` bounds the sections and blocks that may be touched.
  SectionSearch(std::vector<SectionBlock> blocks, int64_t capacity, int64_t work);

  int section_count() const { return static_cast<int>(left_.size()); }
  // Solves the parts of a range that no block links; all or none are placed.
  bool SolveRange(int first, int last);
  // Takes a block from what is left at its sections, and puts it back.
  void Take(int block);
  void PutBack(int block);

  const std::vector<SectionBlock> blocks_;
  const int64_t capacity_;
  int64_t work_;
  std::vector<int64_t> offsets_ = {};          // per block
  std::vector<char> placed_ = {};              // per block
  std::vector<std::vector<int>> begins_ = {};  // per section: the blocks that begin there
  std::vector<int64_t> left_ = {};             // per section: bytes still to place

 private:
  // Sections that blocks link; on failure nothing of them is placed.
  virtual bool SolvePart(int first, int last) = 0;
  // The number of changes so far, and the way back to it.
  virtual size_t Mark() const = 0;
  virtual void TakeBack(size_t mark) = 0;

  std::vector<int> crossing_ = {};  // per section: blocks to place that began before it
};

}  // namespace aotc

#endif  // AOTC_COMPILER_PLAN_SECTION_SEARCH_H_
