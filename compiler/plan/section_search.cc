#include "compiler/plan/section_search.h"

#include <algorithm>
#include <utility>

namespace aotc {

SectionSearch::SectionSearch(std::vector<SectionBlock> blocks, int64_t capacity, int64_t work)
    : blocks_(std::move(blocks)), capacity_(capacity), work_(work) {
  int sections = 0;
  for (const SectionBlock& block : blocks_) sections = std::max(sections, block.last + 1);
  offsets_.assign(blocks_.size(), 0);
  placed_.assign(blocks_.size(), 0);
  begins_.resize(sections);
  left_.assign(sections, 0);
  crossing_.assign(sections, 0);
  for (int b = 0; b < static_cast<int>(blocks_.size()); ++b) {
    begins_[blocks_[b].first].push_back(b);
    PutBack(b);
  }
}

bool SectionSearch::Run() {
  for (const int64_t bytes : left_) {
    if (bytes > capacity_) return false;
  }
  return SolveRange(0, section_count() - 1);
}

bool SectionSearch::SolveRange(int first, int last) {
  const size_t mark = Mark();
  for (int begin = first; begin <= last;) {
    int end = begin;
    while (end < last && crossing_[end + 1] > 0) ++end;
    if (left_[begin] > 0 && !SolvePart(begin, end)) {
      TakeBack(mark);
      return false;
    }
    begin = end + 1;
  }
  return true;
}

void SectionSearch::Take(int block) {
  const SectionBlock& it = blocks_[block];
  placed_[block] = 1;
  for (int s = it.first; s <= it.last; ++s) {
    left_[s] -= it.bytes;
    crossing_[s] -= s > it.first;
  }
}

void SectionSearch::PutBack(int block) {
  const SectionBlock& it = blocks_[block];
  placed_[block] = 0;
  for (int s = it.first; s <= it.last; ++s) {
    left_[s] += it.bytes;
    crossing_[s] += s > it.first;
  }
}

}  // namespace aotc
