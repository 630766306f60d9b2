#include "compiler/optimize/fourier_plan.h"

#include <algorithm>
#include <map>
#include <utility>

namespace aotc {
namespace {

constexpr int64_t kMostFactor = 128;
// What a pass over a number costs beside its products: it is read, turned and written.
constexpr double kPass = 128;
// A matrix that leaves the nearest caches costs what reading it does.
constexpr double kMostCached = 1 << 16, kRead = 8;

// By length and parts, for one part of the results: the last pass alone computes less where less is
// asked for.
class Planner {
 public:
  explicit Planner(double asked) : asked_(asked) {}

  FourierPlan Plan(int64_t length, int64_t parts);

 private:
  FourierPlan Cheapest(int64_t length, int64_t parts);

  double asked_;
  std::map<std::pair<int64_t, int64_t>, FourierPlan> known_;
};

bool HasLargePrime(int64_t length) {
  for (int64_t factor = 2; factor <= kMostFactor; ++factor) {
    while (length % factor == 0) length /= factor;
  }
  return length > 1;
}

// As the convolution, at a length of small factors that has room for it.
FourierPlan Padded(int64_t length) {
  FourierPlan best;
  for (const int64_t odd : {1, 3, 5, 9, 15, 25, 27}) {
    int64_t padded = odd;
    while (padded < 2 * length - 1) padded *= 2;
    const double transform = PlanFourier({.length = padded}).cost;
    const double cost = 2 * transform + 2 * kPass * static_cast<double>(padded);
    if (best.padded == 0 || cost < best.cost) {
      best = {.last = length, .padded = padded, .cost = cost};
    }
  }
  return best;
}

FourierPlan Planner::Plan(int64_t length, int64_t parts) {
  if (const auto it = known_.find({length, parts}); it != known_.end()) return it->second;
  FourierPlan plan = Cheapest(length, parts);
  known_.emplace(std::pair(length, parts), plan);
  return plan;
}

FourierPlan Planner::Cheapest(int64_t length, int64_t parts) {
  const double n = static_cast<double>(length);
  const double matrix = static_cast<double>(parts) * n * 2 * n * asked_;
  const double product = matrix > kMostCached ? matrix * kRead : matrix;
  FourierPlan best = {.last = length, .cost = product + n * kPass / 2};
  for (int64_t factor = 2; factor <= std::min(kMostFactor, length / 2); ++factor) {
    if (length % factor != 0) continue;
    FourierPlan rest = Plan(length / factor, 2);
    const auto r = static_cast<double>(factor);
    rest.cost = rest.cost * r + n * (static_cast<double>(parts) * 2 * r + kPass);
    if (rest.cost >= best.cost) continue;
    rest.factors.insert(rest.factors.begin(), factor);
    best = std::move(rest);
  }
  if (!HasLargePrime(length)) return best;
  FourierPlan padded = Padded(length);
  return padded.cost < best.cost ? padded : best;
}

}  // namespace

FourierPlan PlanFourier(const FourierSize& size) {
  return Planner(size.asked).Plan(size.length, size.parts);
}

}  // namespace aotc
