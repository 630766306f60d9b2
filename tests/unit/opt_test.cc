#include "compiler/driver/opt.h"

#include "gmock/gmock.h"
#include "tests/unit/pass_case.h"

namespace aotc {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::string_view kGraph = R"air(
  graph @main(%x: f32[2]) -> (%z) {
    %y: f32[2] = Identity(%x)
    %unused: f32[2] = Neg(%x)
    %z: f32[2] = Relu(%y)
  })air";

struct Outcome {
  absl::StatusOr<std::vector<AirModule>> modules = absl::UnknownError("not run");
  std::string log = {};
};

Outcome Watch(std::string_view text, std::vector<Pass> passes, OptOptions options) {
  Outcome outcome;
  options.log = [&outcome](const std::string& piece) { outcome.log += piece; };
  absl::StatusOr<std::vector<AirModule>> modules = ParseAir(text);
  EXPECT_TRUE(modules.ok()) << modules.status();
  Diagnostics diagnostics;
  if (modules.ok()) outcome.modules = RunOpt(*modules, passes, options, diagnostics);
  return outcome;
}

std::string MessageOf(const Outcome& outcome) {
  EXPECT_FALSE(outcome.modules.ok());
  return std::string(outcome.modules.status().message());
}

TEST(Opt, PrintsBeforeAndAfterThePassesThatAreNamed) {
  const Outcome outcome =
      Watch(kGraph, *PassesByName("eliminate-dead,remove-identities"),
            {.print_before = {"remove-identities"}, .print_after = {"remove-identities"}});
  ASSERT_TRUE(outcome.modules.ok()) << outcome.modules.status();
  EXPECT_THAT(outcome.log, StartsWith("// before remove-identities\ngraph @main"));
  const std::string line = "// after remove-identities\n";
  const size_t after = outcome.log.find(line);
  ASSERT_NE(after, std::string::npos);
  EXPECT_THAT(outcome.log.substr(0, after), HasSubstr("Identity"));
  EXPECT_THAT(outcome.log.substr(0, after), Not(HasSubstr("Neg")));
  EXPECT_EQ(outcome.log.substr(after + line.size()), PrintAir(*outcome.modules));
  EXPECT_THAT(PrintAir(*outcome.modules), Not(HasSubstr("Identity")));
}

TEST(Opt, PrintsAfterAll) {
  const Outcome outcome =
      Watch(kGraph, *PassesByName("remove-identities,eliminate-dead"), {.print_after_all = true});
  EXPECT_THAT(outcome.log, HasSubstr("// after remove-identities\ngraph"));
  EXPECT_THAT(outcome.log, HasSubstr("// after eliminate-dead\ngraph"));
}

TEST(Opt, TimesEachPass) {
  const Outcome outcome =
      Watch(kGraph, *PassesByName("remove-identities,eliminate-dead"), {.time = true});
  EXPECT_THAT(outcome.log, ContainsRegex("^remove-identities +[0-9]+\\.[0-9]+ s\n"
                                         "eliminate-dead +[0-9]+\\.[0-9]+ s\n$"));
}

absl::StatusOr<Graph> BreakNames(const Graph& graph, PassContext& /*context*/) {
  Graph broken = graph;
  broken.values[broken.main_region().inputs[0]].name = "y";  // the name of another value
  return broken;
}

// The graph as it went into the pass that breaks it is what one wants to see then.
TEST(Opt, NamesThePassThatBrokeTheGraph) {
  const std::vector<Pass> passes = {*FindPass("eliminate-dead"),
                                    {"break-names", BreakNames, 0, 0, 0, "a mistake of ours"},
                                    *FindPass("remove-identities")};
  const Outcome outcome = Watch(kGraph, passes, {.print_after_all = true});
  EXPECT_EQ(outcome.modules.status().code(), absl::StatusCode::kInternal);
  EXPECT_THAT(MessageOf(outcome), HasSubstr("after pass break-names"));
  EXPECT_THAT(outcome.log, HasSubstr("// after break-names"));
  EXPECT_THAT(outcome.log, Not(HasSubstr("remove-identities")));
  EXPECT_TRUE(Watch(kGraph, passes, {.verify_each = false}).modules.ok());
}

TEST(Opt, NamesAreChecked) {
  const std::vector<Pass> passes = *PassesByName("eliminate-dead");
  EXPECT_THAT(MessageOf(Watch(kGraph, passes, {.print_before = {"fold-all"}})),
              HasSubstr("unknown pass 'fold-all'; did you mean 'fold-scale'?"));
  EXPECT_THAT(MessageOf(Watch(kGraph, passes, {.print_after = {"fold-scale"}})),
              HasSubstr("pass 'fold-scale' is not among --passes"));
  EXPECT_THAT(MessageOf(Watch(kGraph, passes, {.config = {"a=1"}})), HasSubstr("config key 'a'"));
}

TEST(Opt, PassesRunOnGraphsOnly) {
  constexpr std::string_view kLoops = R"air(
    loops @copy(%x: f32, out %y: f32) tasks 1 {
      for i in 0..4 {
        store %y[i] = %x[i]
      }
    })air";
  EXPECT_TRUE(Watch(kLoops, {}, {}).modules.ok());
  EXPECT_THAT(MessageOf(Watch(kLoops, *PassesByName("eliminate-dead"), {})),
              HasSubstr("graphs only"));
}

}  // namespace
}  // namespace aotc
