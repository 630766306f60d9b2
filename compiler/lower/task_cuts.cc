#include "compiler/lower/task_cuts.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "compiler/support/rounding.h"

namespace aotc {
namespace {

// How many leading axes become tasks: the fewest that leave about `points` or less to each.
size_t LeadingTasks(const Nest& nest, int64_t points) {
  std::vector<Expr> inner;
  size_t count = nest.outer.size();
  while (count > 0) {
    Shape shape = {FullExtent(nest.outer[count - 1])};
    for (const Expr& e : inner) shape.push_back(e);
    std::optional<int64_t> total = MaxElements(shape, nest.bounds);
    if (!total || *total > points) break;
    inner.push_back(shape[0]);
    --count;
  }
  // A whole innermost axis stays in the task: it carries the lanes.
  if (count == nest.outer.size() && count > 0) --count;
  return std::min(count, KeptAxes(nest));
}

double MostPoints(const NestAxis& axis, const Bounds& bounds) {
  return static_cast<double>(RangeOf(FullExtent(axis), bounds).max);
}

// Elements that the longest reduction of a point takes in.
double WorkOfPoint(const Nest& nest) {
  double most = 1;
  for (const FlatStage& stage : nest.stages) {
    double work = 1;
    for (const Axis& axis : stage.reduce) {
      work *= static_cast<double>(RangeOf(axis.extent, nest.bounds).max);
    }
    most = std::max(most, work);
  }
  return most;
}

// A layout in blocks of channels, [.., c_o, rows, c_i], is cut along its rows first, as it is where
// a contraction computes it: a worker then reads what it wrote itself.
std::optional<std::vector<Cut>> RowCuts(const Nest& nest, double work) {
  if (nest.outer.size() < 3 || nest.HasStatistics()) return std::nullopt;
  const size_t leading = nest.outer.size() - 3;
  const NestAxis &blocks = nest.outer[leading], &rows = nest.outer[leading + 1],
                 &lanes = nest.outer[leading + 2];
  const bool is_blocked =
      blocks.name.ends_with("_o") && lanes.name.ends_with("_i") &&
      blocks.name.substr(0, blocks.name.size() - 2) == lanes.name.substr(0, lanes.name.size() - 2);
  if (!is_blocked || HasHalo(blocks) || HasHalo(rows)) return std::nullopt;
  constexpr double kPieces = 4;  // of rows at least, where there are so many
  const double row = MostPoints(lanes, nest.bounds) * work, all = MostPoints(rows, nest.bounds);
  if (row * all * MostPoints(blocks, nest.bounds) <= kTaskPoints) return std::nullopt;
  const double piece =
      std::max(std::floor(std::min(kTaskPoints / row, std::ceil(all / kPieces))), 1.0);
  std::vector<Cut> cuts;
  for (size_t i = 0; i < leading; ++i) cuts.push_back({nest.outer[i].walks, 1});
  cuts.push_back({rows.walks, static_cast<int64_t>(piece)});
  const auto more = static_cast<int64_t>(kTaskPoints / std::max(piece * row, 1.0));
  if (static_cast<double>(more) < MostPoints(blocks, nest.bounds))
    cuts.push_back({blocks.walks, std::max<int64_t>(more, 1)});
  return cuts;
}

}  // namespace

std::vector<Cut> PointCuts(const Nest& nest) {
  const double work = WorkOfPoint(nest);
  if (std::optional<std::vector<Cut>> cuts = RowCuts(nest, work)) return *std::move(cuts);
  const size_t count =
      LeadingTasks(nest, std::max<int64_t>(static_cast<int64_t>(kTaskPoints / work), 1));
  std::vector<Cut> cuts;
  for (size_t i = 0; i < count; ++i) cuts.push_back({nest.outer[i].walks, 1});
  if (nest.HasStatistics()) return cuts;
  double points = 1;
  for (size_t i = count; i < nest.outer.size(); ++i) {
    points *= MostPoints(nest.outer[i], nest.bounds);
  }
  const auto more = static_cast<int64_t>(kTaskPoints / std::max(points * work, 1.0));
  if (count > 0 && more > 1 && !HasHalo(nest.outer[count - 1])) {
    cuts.back().block = more;
  } else if (count < nest.outer.size() && points > kTaskPoints && !HasHalo(nest.outer.back())) {
    constexpr int64_t kLeast = 64;  // whole vectors of every instruction set
    const auto piece = static_cast<int64_t>(kTaskPoints / work);
    cuts.push_back({nest.outer.back().walks, RoundUp(std::max<int64_t>(piece, 1), kLeast)});
  }
  return cuts;
}

}  // namespace aotc
