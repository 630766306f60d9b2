// Contracts that make weights larger, where these may not grow by more than so much in all.
//
//   PricedChoice within = GrowWithin(most, [&](double price) { return chooser.SolveAt(price); });
//   FillUp(graph, offers, most, within);
//
// A byte has a price in seconds: of what saves most for its size there is as much as has room (a
// knapsack by its relaxation, Dantzig, "Discrete-Variable Extremum Problems", 1957).
#ifndef AOTC_COMPILER_LAYOUT_WEIGHT_GROWTH_H_
#define AOTC_COMPILER_LAYOUT_WEIGHT_GROWTH_H_

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "compiler/layout/choose_contracts.h"

namespace aotc {

using ContractOffers = std::map<const Node*, std::vector<PricedContract>>;

struct PricedChoice {
  ContractChoice choice = {};
  int64_t more_bytes = 0;  // by which weights grow
};

// What `solve` chooses at the least price, within a hundredth, at which weights grow by `most`
// bytes or less; at a prohibitive one where they always grow by more.
PricedChoice GrowWithin(int64_t most, const std::function<PricedChoice(double price)>& solve);

// Equal anchors change at the same price, all or none: gives what is left to some of them, where no
// form has to change for that.
void FillUp(const Graph& graph, const ContractOffers& offers, int64_t most, PricedChoice& priced);

}  // namespace aotc

#endif  // AOTC_COMPILER_LAYOUT_WEIGHT_GROWTH_H_
