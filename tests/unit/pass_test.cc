#include "compiler/pass/pass.h"

#include "gmock/gmock.h"
#include "tests/unit/pass_case.h"

namespace aotc {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;

std::string Message(const absl::Status& status) { return std::string(status.message()); }

constexpr std::string_view kGraph = R"air(
  graph @main(%x: f32[2]) -> (%z) {
    %y: f32[2] = Identity(%x)
    %unused: f32[2] = Neg(%x)
    %z: f32[2] = Relu(%y)
  })air";

std::vector<std::string> Ran(PassOptions options) {
  Diagnostics diagnostics;
  PassContext context(std::move(options), diagnostics);
  std::vector<std::string> names;
  context.AddInstrument(TimeInstrument([&](std::string_view pass, double seconds) {
    names.emplace_back(pass);
    EXPECT_GE(seconds, 0);
  }));
  EXPECT_TRUE(RunPasses(ParseCase(kGraph), AllPasses(), context).ok());
  return names;
}

TEST(RunPasses, LevelEnableAndDisable) {
  EXPECT_THAT(Ran({.level = 0}), ElementsAre("expand-ops", "limit-operands", "infer-and-fold"));
  EXPECT_THAT(Ran({.level = 0, .enable = {"fold-scale"}}),
              ElementsAre("expand-ops", "limit-operands", "infer-and-fold", "fold-scale"));
  EXPECT_THAT(Ran({.level = 1, .disable = {"eliminate-dead"}}),
              ElementsAre("expand-ops", "limit-operands", "infer-and-fold", "split-transforms",
                          "integer-contractions", "remove-identities", "simplify", "fold-scale",
                          "split-phases", "slices-of-splits", "reshaped-convolutions", "layout"));
  EXPECT_THAT(Ran({.enable = {"fold-scale"}, .disable = {"fold-scale"}}),
              Not(Contains("fold-scale")));
}

TEST(RunPasses, EachLevelRunsWhatTheOneBelowRuns) {
  for (int level = 1; level <= 3; ++level) {
    EXPECT_THAT(Ran({.level = level}), IsSupersetOf(Ran({.level = level - 1})));
  }
}

TEST(RunPasses, StopsAfterThePassNamed) {
  EXPECT_THAT(Ran({.stop_after = "infer-and-fold"}),
              ElementsAre("expand-ops", "limit-operands", "infer-and-fold"));
  // Also where that one is disabled.
  EXPECT_THAT(Ran({.disable = {"infer-and-fold"}, .stop_after = "infer-and-fold"}),
              ElementsAre("expand-ops", "limit-operands"));
}

TEST(RunPasses, InstrumentsSeeEachPass) {
  Diagnostics diagnostics;
  PassContext context({.stop_after = "remove-identities"}, diagnostics);
  std::vector<std::string> dumps;
  context.AddInstrument(DumpInstrument([&](std::string_view pass, const std::string& text) {
    dumps.push_back(std::string(pass) + ": " + text);
  }));
  ASSERT_TRUE(RunPasses(ParseCase(kGraph), AllPasses(), context).ok());
  ASSERT_EQ(dumps.size(), 6u);
  EXPECT_THAT(dumps[2], HasSubstr("infer-and-fold: graph @main"));
  EXPECT_THAT(dumps[2], HasSubstr("Identity"));
  EXPECT_THAT(dumps[5], Not(HasSubstr("Identity")));
}

TEST(RunPasses, ChecksWhatAPassNeeds) {
  PassResult result = RunCase(ParseCase(kGraph), "remove-identities");
  EXPECT_THAT(Message(result.graph.status()), HasSubstr("pass remove-identities needs types"));
}

TEST(RunPasses, VerifiesAfterEachPass) {
  auto breaks = [](const Graph& graph, PassContext&) -> absl::StatusOr<Graph> {
    Graph broken = graph;
    broken.values[broken.main_region().inputs[0]].name = "y";  // the name of another value
    return broken;
  };
  const Pass pass = {"break-names", breaks, 0, 0, 0, "a mistake of ours"};
  Diagnostics diagnostics;
  PassContext context({}, diagnostics);
  absl::Status status = RunPasses(ParseCase(kGraph), {&pass, 1}, context).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(Message(status), HasSubstr("after pass break-names"));
}

TEST(PassOptions, NamesAndValuesAreChecked) {
  PassOptions options;
  EXPECT_TRUE(SetConfig("fold.cap-bytes=100", options).ok());
  EXPECT_EQ(options.config["fold.cap-bytes"], 100);
  EXPECT_THAT(Message(SetConfig("fold.cap=1", options)),
              HasSubstr("unknown config key 'fold.cap'; did you mean 'fold.cap-bytes'?"));
  EXPECT_THAT(Message(SetConfig("fold.cap-bytes", options)), HasSubstr("key=value"));
  EXPECT_THAT(Message(SetConfig("fold.cap-bytes=many", options)), HasSubstr("needs a number"));
  EXPECT_THAT(Message(SetConfig("fold.cap-bytes=-1", options)), HasSubstr("outside 0.."));
  EXPECT_TRUE(CheckPassOptions(options).ok());
  options.disable = {"fold-everything", "plan"};
  options.stop_after = "nowhere";
  options.level = 4;
  const std::string text = Message(CheckPassOptions(options));
  EXPECT_THAT(text,
              HasSubstr("unknown pass or phase 'fold-everything'; there are import, expand-"));
  EXPECT_THAT(text, HasSubstr("'plan' always runs"));
  EXPECT_THAT(text, HasSubstr("unknown pass or phase 'nowhere'"));
  EXPECT_THAT(text, HasSubstr("level 4 is outside 0..3"));
  EXPECT_TRUE(CheckPassOptions({.disable = {"fuse"}, .stop_after = "plan"}).ok());
  EXPECT_FALSE(PassesByName("expand-ops,nonsense").ok());
}

TEST(PassTable, NamesAreUniqueAndSummariesGiven) {
  std::set<std::string_view> names;
  GraphProperties held = 0;
  for (const Pass& pass : AllPasses()) {
    EXPECT_TRUE(names.insert(pass.name).second) << pass.name;
    EXPECT_FALSE(pass.summary.empty());
    EXPECT_EQ(pass.needs & ~held, 0u) << pass.name;
    if (pass.level == 0) held |= pass.ensures;  // others may not have run
  }
}

}  // namespace
}  // namespace aotc
