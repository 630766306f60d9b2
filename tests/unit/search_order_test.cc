// The search for an order of the steps, against all orders on small programs.
#include "compiler/plan/search_order.h"

#include <algorithm>
#include <numeric>
#include <random>

#include "compiler/plan/order_steps.h"
#include "gtest/gtest.h"
#include "tests/unit/program_builder.h"

namespace aotc {
namespace {

constexpr int64_t kWork = 20'000'000;

// A random DAG of `count` steps: some in place, some that write a part of a shared buffer.
Program RandomSteps(std::mt19937& random, int count) {
  ProgramBuilderForTests b;
  std::vector<BufferId> values = {b.Add("input", BufferKind::kInput, 640)};
  while (static_cast<int>(b.program.steps.size()) < count) {
    const auto any = [&] { return values[random() % values.size()]; };
    std::vector<BufferId> inputs = {any()};
    if (random() % 2 == 0) inputs.push_back(any());
    const std::string name = absl::StrCat("v", values.size());
    if (random() % 6 == 0 && static_cast<int>(b.program.steps.size()) + 2 <= count) {
      const BufferId whole = b.Add(name, BufferKind::kArena, 640);
      b.Launch({any()}, {b.View(name + "_left", whole, 0, 320)});
      b.Launch({any()}, {b.View(name + "_right", whole, 320, 320)});
      values.push_back(whole);
      continue;
    }
    const bool in_place = random() % 3 == 0;
    const int64_t bytes = in_place ? b.program.buffers[inputs[0]].bytes : 64 * (1 + random() % 20);
    values.push_back(b.Add(name, BufferKind::kArena, bytes));
    Step& step = b.Launch(inputs, {values.back()});
    if (in_place) step.in_place = {{static_cast<int>(inputs.size()), 0}};
  }
  return b.program;
}

// The lowest peak of all orders that keep the dependencies; peaks are those of the planner's alias
// classes, which the search knows nothing of.
class AllOrders {
 public:
  explicit AllOrders(const Program& program)
      : program_(program), before_(StepDependencies(program)), ran_(program.steps.size(), 0) {}

  int64_t LowestPeak() {
    Extend();
    return lowest_;
  }

 private:
  void Extend() {
    if (order_.size() == ran_.size()) {
      Program ordered = program_;
      for (size_t i = 0; i < order_.size(); ++i) ordered.steps[i] = program_.steps[order_[i]];
      lowest_ = std::min(lowest_, PeakBytes(ordered));
      return;
    }
    for (size_t step = 0; step < ran_.size(); ++step) {
      const bool ready =
          !ran_[step] && std::all_of(before_[step].begin(), before_[step].end(),
                                     [&](int earlier) { return ran_[earlier] != 0; });
      if (!ready) continue;
      ran_[step] = 1;
      order_.push_back(step);
      Extend();
      order_.pop_back();
      ran_[step] = 0;
    }
  }

  const Program& program_;
  const std::vector<std::vector<int>> before_;
  std::vector<char> ran_;
  std::vector<size_t> order_ = {};
  int64_t lowest_ = INT64_MAX;
};

std::vector<int> AsGiven(const StepGraph& graph) {
  std::vector<int> order(graph.before.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

TEST(SearchOrder, CountsPeaksAsThePlannerDoes) {
  std::mt19937 random(3);
  for (int round = 0; round < 100; ++round) {
    const Program program = RandomSteps(random, 2 + static_cast<int>(random() % 20));
    const StepGraph graph = StepGraphOf(program);
    EXPECT_EQ(PeakOf(graph, AsGiven(graph)), PeakBytes(program)) << "round " << round;
    std::vector<int> backwards = AsGiven(graph);
    std::ranges::reverse(backwards);
    EXPECT_EQ(PeakOf(Reversed(graph), backwards), PeakBytes(program)) << "round " << round;
  }
}

TEST(SearchOrder, RelayRow14_FindsTheLowestPeakOfAllOrders) {
  std::mt19937 random(5);
  int lowered = 0;
  for (int round = 0; round < 120; ++round) {
    const int steps = round % 12 == 0 ? 9 : 3 + static_cast<int>(random() % 5);
    Program program = RandomSteps(random, steps);
    const int64_t given = PeakBytes(program);
    const int64_t lowest = AllOrders(program).LowestPeak();
    const StepGraph graph = StepGraphOf(program);
    EXPECT_LE(LeastPeak(graph), lowest) << "round " << round;
    const OrderSearch search = SearchOrder(graph, given, kWork);
    EXPECT_TRUE(search.complete) << "round " << round;
    EXPECT_EQ(search.order ? PeakOf(graph, *search.order) : given, lowest) << "round " << round;
    OrderSteps(program);
    EXPECT_EQ(PeakBytes(program), lowest) << "round " << round;
    lowered += lowest < given;
  }
  EXPECT_GT(lowered, 20);
}

TEST(SearchOrder, IsBoundedByWorkAndRepeatable) {
  std::mt19937 random(11);
  for (int round = 0; round < 10; ++round) {
    const Program program = RandomSteps(random, 100);
    const StepGraph graph = StepGraphOf(program);
    const OrderSearch first = SearchOrder(graph, PeakBytes(program), 200'000);
    const OrderSearch second = SearchOrder(graph, PeakBytes(program), 200'000);
    EXPECT_EQ(first.order, second.order) << "round " << round;
    EXPECT_EQ(first.complete, second.complete) << "round " << round;
  }
}

TEST(SearchOrder, IsNeverWorseThanWhatIsGivenHoweverLittleItMayDo) {
  std::mt19937 random(9);
  for (int round = 0; round < 10; ++round) {
    const Program program = RandomSteps(random, 60);
    const StepGraph graph = StepGraphOf(program);
    for (const int64_t work : {1, 1000, 100'000}) {
      const OrderSearch search = SearchOrder(graph, PeakBytes(program), work);
      if (search.order) {
        EXPECT_LT(PeakOf(graph, *search.order), PeakBytes(program));
      }
    }
    Program ordered = program;
    OrderSteps(ordered);
    EXPECT_LE(PeakBytes(ordered), PeakBytes(program)) << "round " << round;
  }
}

// Sixteen chains that meet at the end: breadth first holds all wide buffers at once.
TEST(SearchOrder, ProvesTheOrderOfManyBranches) {
  ProgramBuilderForTests b;
  const BufferId input = b.Add("input", BufferKind::kInput, 64);
  std::vector<BufferId> wide, narrow;
  for (int i = 0; i < 16; ++i) {
    wide.push_back(b.Add(absl::StrCat("wide", i), BufferKind::kArena, 6400));
    narrow.push_back(b.Add(absl::StrCat("narrow", i), BufferKind::kArena, 64));
    b.Launch({input}, {wide.back()});
  }
  for (int i = 0; i < 16; ++i) b.Launch({wide[i]}, {narrow[i]});
  b.Launch(narrow, {b.Add("output", BufferKind::kOutput, 64)});
  const StepGraph graph = StepGraphOf(b.program);
  const OrderSearch search = SearchOrder(graph, PeakBytes(b.program), kWork);
  ASSERT_TRUE(search.order.has_value());
  EXPECT_EQ(PeakOf(graph, *search.order), 6400 + 64 * 16);
  EXPECT_TRUE(search.complete);
}

}  // namespace
}  // namespace aotc
