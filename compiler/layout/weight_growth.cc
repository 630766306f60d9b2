#include "compiler/layout/weight_growth.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace aotc {
namespace {

const PricedContract& OfferOf(const ContractOffers& offers, const Node& node,
                              const Contract& contract) {
  return *std::ranges::find(offers.at(&node), contract, &PricedContract::contract);
}

// A contract that could take the place of the one that its node has.
struct Growth {
  const Node* node = nullptr;
  const PricedContract* to = nullptr;
  double saved_per_byte = 0;
};

std::vector<Growth> GrowthsOf(const Graph& graph, const ContractOffers& offers,
                              const ContractChoice& choice) {
  std::vector<Growth> growths;
  for (const Node& node : graph.nodes) {
    const auto chosen = choice.contracts.find(&node);
    if (chosen == choice.contracts.end()) continue;
    const PricedContract& now = OfferOf(offers, node, chosen->second);
    for (const PricedContract& to : offers.at(&node)) {
      const int64_t bytes = to.more_bytes - now.more_bytes;
      const bool same_forms =
          to.contract.operand == now.contract.operand && to.contract.result == now.contract.result;
      if (!same_forms || bytes <= 0) continue;
      growths.push_back({&node, &to, (now.seconds - to.seconds) / static_cast<double>(bytes)});
    }
  }
  std::ranges::stable_sort(growths, std::ranges::greater(), &Growth::saved_per_byte);
  return growths;
}

}  // namespace

PricedChoice GrowWithin(int64_t most, const std::function<PricedChoice(double price)>& solve) {
  constexpr double kLeast = 1e-15, kMost = 1e3, kStep = 16, kClose = 1.01;
  PricedChoice within = solve(0);
  if (within.more_bytes <= most) return within;
  double low = kLeast, high = kLeast;
  for (within = solve(high); within.more_bytes > most && high < kMost; within = solve(high)) {
    low = high;
    high *= kStep;
  }
  while (high > low * kClose) {
    const double middle = std::sqrt(low * high);
    PricedChoice at_middle = solve(middle);
    const bool fits = at_middle.more_bytes <= most;
    (fits ? high : low) = middle;
    if (fits) within = std::move(at_middle);
  }
  return within;
}

void FillUp(const Graph& graph, const ContractOffers& offers, int64_t most, PricedChoice& priced) {
  for (const auto& [node, to, saved] : GrowthsOf(graph, offers, priced.choice)) {
    Contract& chosen = priced.choice.contracts.at(node);
    const PricedContract& now = OfferOf(offers, *node, chosen);
    const int64_t bytes = priced.more_bytes + to->more_bytes - now.more_bytes;
    if (to->seconds >= now.seconds || bytes > most) continue;
    chosen = to->contract;
    priced.more_bytes = bytes;
  }
}

}  // namespace aotc
