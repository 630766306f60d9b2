#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/driver/commands.h"
#include "compiler/driver/options.h"
#include "compiler/driver/outdir.h"
#include "compiler/support/files.h"
#include "compiler/support/subprocess.h"

namespace aotc {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

CommandLine Parse(const std::vector<std::string>& words) {
  ParsedCommandLine parsed = ParseCommandLine(words);
  EXPECT_TRUE(parsed.command_line.has_value()) << parsed.text;
  return parsed.command_line.value_or(CommandLine{});
}

// What is wrong with a command line; exit code 2 is due.
std::string UsageErrorOf(const std::vector<std::string>& words) {
  const ParsedCommandLine parsed = ParseCommandLine(words);
  EXPECT_FALSE(parsed.command_line.has_value());
  EXPECT_EQ(parsed.exit_code, kExitUsage);
  EXPECT_THAT(parsed.text, ::testing::StartsWith("error: "));
  return parsed.text;
}

TEST(CommandLine, CompileIsTheMainJob) {
  const CommandLine line = Parse({"model.onnx", "--target", "cuda", "-o", "out"});
  EXPECT_EQ(line.command, Command::kCompile);
  EXPECT_EQ(line.compile.model_path, "model.onnx");
  EXPECT_EQ(line.compile.target, "cuda");
  EXPECT_EQ(line.outdir, "out");
}

TEST(CommandLine, FlagsThatDecideTheOutputAreKeptInTheOrderOfATable) {
  const CommandLine line =
      Parse({"m.onnx", "--no-templates", "--dim", "n=1..8", "-o", "out", "--quiet", "--dim=k=3",
             "--target=cpu", "--stop-after", "plan", "--shape", "x:0:1x3"});
  EXPECT_THAT(line.compile.flags, ElementsAre("--target=cpu", "--shape=x:0:1x3", "--dim=n=1..8",
                                              "--dim=k=3", "--no-templates"));
  EXPECT_TRUE(line.quiet);
  ASSERT_EQ(line.compile.import.dims.size(), 2u);
  EXPECT_EQ(line.compile.import.dims[0].bound.max, 8);
}

TEST(CommandLine, FastMathIsASettingOfAPassAndOfTheOutput) {
  const CommandLine line = Parse({"m.onnx", "-o", "o", "--math", "fast"});
  EXPECT_EQ(line.compile.passes.config.at("simplify.fast-math"), 1);
  EXPECT_THAT(line.compile.flags, ElementsAre("--math=fast"));
  EXPECT_TRUE(Parse({"m.onnx", "-o", "o", "--math=precise"}).compile.passes.config.empty());
}

TEST(CommandLine, PassFlagsAreCheckedAgainstOneTable) {
  const CommandLine line =
      Parse({"m.onnx", "-o", "o", "-O1", "--enable-pass", "fold-scale", "--disable-pass=fuse",
             "--disable-pass", "layout", "--config", "fold.cap-bytes=9"});
  EXPECT_EQ(line.compile.passes.level, 1);
  EXPECT_THAT(line.compile.passes.enable, ElementsAre("fold-scale"));
  EXPECT_THAT(line.compile.passes.disable, ElementsAre("fuse", "layout"));
  EXPECT_EQ(line.compile.passes.config.at("fold.cap-bytes"), 9);
  EXPECT_THAT(line.compile.flags,
              ElementsAre("-O1", "--enable-pass=fold-scale", "--disable-pass=fuse",
                          "--disable-pass=layout", "--config=fold.cap-bytes=9"));
  // The flags are a command line again: `aotc check` relies on it.
  std::vector<std::string> words = line.compile.flags;
  words.insert(words.end(), {"m.onnx", "-o", "o"});
  EXPECT_EQ(Parse(words).compile.flags, line.compile.flags);
  EXPECT_THAT(UsageErrorOf({"m.onnx", "-o", "o", "--disable-pass=fusion"}),
              HasSubstr("unknown pass or phase 'fusion'; there are import, "));
  EXPECT_THAT(UsageErrorOf({"m.onnx", "-o", "o", "--disable-pass=emit"}),
              HasSubstr("'emit' always runs"));
  EXPECT_THAT(UsageErrorOf({"m.onnx", "-o", "o", "-O4"}), HasSubstr("outside 0..3"));
  EXPECT_THAT(UsageErrorOf({"m.onnx", "-o", "o", "--config=a=1"}), HasSubstr("config key 'a'"));
}

TEST(CommandLine, SlipsAreNamedWithWhatIsMeant) {
  EXPECT_THAT(UsageErrorOf({"m.onnx", "-o", "o", "--taget", "cuda"}),
              HasSubstr("unknown flag '--taget'; did you mean '--target'?; hint: aotc --help"));
  EXPECT_THAT(UsageErrorOf({"m.onnx", "-o", "o", "--max_items=x=3"}),
              HasSubstr("unknown flag '--max_items'; did you mean '--max-items'?"));
  EXPECT_THAT(UsageErrorOf({"m.onnx", "-o", "o", "--nothing"}),
              HasSubstr("unknown flag '--nothing'; hint"));
  EXPECT_THAT(UsageErrorOf({"verify", "m.onnx", "--sanitise"}),
              HasSubstr("unknown flag '--sanitise'; did you mean '--sanitize'?"));
  EXPECT_THAT(UsageErrorOf({"verfy", "m.onnx"}),
              HasSubstr("unknown command 'verfy'; did you mean 'verify'?"));
  EXPECT_THAT(UsageErrorOf({"m.onnx", "n.onnx", "-o", "o"}), HasSubstr("unexpected 'n.onnx'"));
  EXPECT_THAT(UsageErrorOf({"bench", "m.onnx", "--json", "bench.json"}),
              HasSubstr("unexpected 'bench.json'; hint: aotc bench --help"));
  EXPECT_THAT(UsageErrorOf({"m.onnx", "-o", "o", "--weights=aray"}),
              HasSubstr("--weights: unknown value 'aray'; did you mean 'array'?"));
}

TEST(CommandLine, NothingGivenNothingKept) {
  EXPECT_THAT(Parse({"m.onnx", "-o", "out"}).compile.flags, IsEmpty());
}

TEST(CommandLine, ArchitecturesComeWithOrWithoutTheirPrefix) {
  EXPECT_THAT(Parse({"m.onnx", "-o", "o", "--arch", "sm_80,90a"}).compile.cuda_arch,
              ElementsAre("80", "90a"));
}

TEST(CommandLine, CommandsHaveFlagsOfTheirOwn) {
  EXPECT_EQ(Parse({"inspect", "m.onnx", "--json"}).command, Command::kInspect);
  const CommandLine check = Parse({"check", "out", "m.onnx"});
  EXPECT_EQ(check.command, Command::kCheck);
  EXPECT_EQ(check.outdir, "out");
  EXPECT_EQ(check.compile.model_path, "m.onnx");
  EXPECT_THAT(UsageErrorOf({"inspect", "m.onnx", "--weights=array"}), HasSubstr("--weights"));
}

TEST(CommandLine, WrongUsageSaysWhatIsWrong) {
  EXPECT_THAT(UsageErrorOf({"-o", "out"}), HasSubstr("no model"));
  EXPECT_THAT(UsageErrorOf({"m.onnx"}), HasSubstr("-o OUTDIR"));
  EXPECT_THAT(UsageErrorOf({"m.onnx", "-o", "out", "--target", "fpga"}), HasSubstr("fpga"));
  EXPECT_THAT(UsageErrorOf({"m.onnx", "-o", "out", "--dim", "n=8..2"}), HasSubstr("n=8..2"));
  EXPECT_THAT(UsageErrorOf({"m.onnx", "-o", "out", "--dump-after", "nowhere"}),
              HasSubstr("nowhere"));
  EXPECT_THAT(UsageErrorOf({"m.onnx", "-o", "out", "--frobnicate"}), HasSubstr("--frobnicate"));
}

TEST(CommandLine, TheProgramsNameAloneShowsHowToGoOn) {
  const ParsedCommandLine parsed = ParseCommandLine({});
  EXPECT_FALSE(parsed.command_line.has_value());
  EXPECT_EQ(parsed.exit_code, kExitUsage);
  EXPECT_THAT(parsed.text, HasSubstr("Usage: aotc MODEL -o OUTDIR"));
  EXPECT_THAT(parsed.text, HasSubstr("Commands: verify, bench, inspect,"));
  EXPECT_LE(std::ranges::count(parsed.text, '\n'), 6);
}

TEST(CommandLine, WrongUsageIsJsonTooWhereThatIsAskedFor) {
  EXPECT_EQ(ParseCommandLine({"m.onnx", "--taget", "x"}).json, "");
  const Json json = Json::parse(ParseCommandLine({"m.onnx", "--json", "--taget", "x"}).json);
  EXPECT_EQ(json["exit_code"], kExitUsage);
  ASSERT_EQ(json["findings"].size(), 1u);
  EXPECT_EQ(json["findings"][0]["severity"], "error");
  EXPECT_THAT(json["findings"][0]["message"].get<std::string>(), HasSubstr("did you mean"));
}

TEST(CommandLine, HintsNameTheCommandThatWasGiven) {
  EXPECT_THAT(UsageErrorOf({"reduce", "m.onnx"}), HasSubstr("hint: aotc reduce --help"));
}

TEST(CommandLine, DependencyRulesAreReadByMake) {
  EXPECT_EQ(DependencyRule("out/metadata.json", {"net.onnx", "a b.bin", "c#$.npy"}),
            "out/metadata.json: net.onnx a\\ b.bin c\\#$$.npy\n");
}

TEST(CommandLine, BytesMayHaveAUnit) {
  EXPECT_EQ(
      Parse({"m.onnx", "-o", "o", "--max-string-bytes", "2M"}).compile.import.max_string_bytes,
      int64_t{2} << 20);
  EXPECT_EQ(Parse({"m.onnx", "-o", "o", "--config", "fold.cap-bytes=16K"})
                .compile.passes.config.at("fold.cap-bytes"),
            16 << 10);
}

TEST(CommandLine, HintsHaveTheCommandAsAShellTakesIt) {
  EXPECT_EQ(Parse({"my net.onnx", "-o", "it's"}).compile.import.command,
            "aotc 'my net.onnx' -o 'it'\\''s'");
}

TEST(CommandLine, DocumentedFlagsThatAreMissingAreRefusedByName) {
  EXPECT_THAT(UsageErrorOf({"m.onnx", "-o", "out", "--report"}),
              HasSubstr("this version has no '--report'"));
  EXPECT_THAT(UsageErrorOf({"tune", "m.onnx"}), HasSubstr("this version has no 'tune'"));
}

TEST(CommandLine, BoundFilesAreKeptWithoutTheirFolders) {
  const CommandLine line =
      Parse({"m.onnx", "-o", "o", "--bind", "w=/data/a=b/w.npy", "--bind=x.1:0=x.pb"});
  EXPECT_THAT(line.compile.flags, ElementsAre("--bind=w=w.npy", "--bind=x.1:0=x.pb"));
  ASSERT_EQ(line.compile.import.binds.size(), 2u);
  EXPECT_EQ(line.compile.import.binds[0].path, "/data/a=b/w.npy");
  EXPECT_EQ(line.compile.import.binds[1].name, "x.1:0");
  for (const char* text : {"w", "=w.npy", "w="}) {
    EXPECT_THAT(UsageErrorOf({"m.onnx", "-o", "o", "--bind", text}), HasSubstr("NAME=FILE"));
  }
}

TEST(CommandLine, LimitsAreMeasuredByACommandAndReadFromAFile) {
  EXPECT_EQ(Parse({"limits"}).command, Command::kLimits);
  const CommandLine line = Parse({"m.onnx", "-o", "o", "--limits", "folder/limits.json"});
  EXPECT_EQ(line.compile.limits_path, "folder/limits.json");
  EXPECT_THAT(line.compile.flags, IsEmpty());  // outputs state no paths
}

TEST(CommandLine, HelpIsNoError) {
  const ParsedCommandLine parsed = ParseCommandLine({"--help"});
  EXPECT_EQ(parsed.exit_code, kExitDone);
  EXPECT_THAT(parsed.text, HasSubstr("Usage: aotc MODEL -o OUTDIR"));
  EXPECT_THAT(parsed.text, HasSubstr("--dump-after"));
}

TEST(Commands, AMissingModelIsTheUsersError) {
  Diagnostics diagnostics;
  const CommandResult result = RunCommand(Parse({"nowhere.onnx", "-o", "out"}), diagnostics);
  EXPECT_EQ(result.exit_code, kExitModelError);
  EXPECT_THAT(diagnostics.Render(), HasSubstr("nowhere.onnx"));
  EXPECT_EQ(result.json["findings"].size(), 1u);
}

TEST(Commands, ALimitsFileThatIsNoneIsTheUsersError) {
  absl::StatusOr<TemporaryFolder> folder = TemporaryFolder::Create("limits");
  ASSERT_TRUE(folder.ok());
  const std::string path = folder->path() + "/limits.json";
  for (const auto& [text, wanted] :
       {std::pair("fast", "--limits: the file is no JSON object; hint: "),
        std::pair(R"({"cpu": {"core": 2}})", "--limits: unknown key 'cpu.core'; hint: known are "),
        std::pair("", "--limits: the file is empty")}) {
    ASSERT_TRUE(WriteFileIfChanged(path, text).ok());
    Diagnostics diagnostics;
    const CommandResult result =
        RunCommand(Parse({"m.onnx", "-o", "out", "--limits", path}), diagnostics);
    EXPECT_EQ(result.exit_code, kExitModelError);
    EXPECT_THAT(diagnostics.Render(), HasSubstr(wanted));
  }
}

TEST(Commands, LimitsPrintsAFile) {
  Diagnostics diagnostics;
  const CommandResult result = RunCommand(Parse({"limits"}), diagnostics);
  EXPECT_EQ(result.exit_code, kExitDone);
  EXPECT_THAT(result.text, ::testing::StartsWith("{\n  \"cpu\": {\n    \"clock_hz\": "));
  EXPECT_TRUE(result.json["cpu"].contains("fma_per_second"));
}

TEST(Commands, CheckNeedsAFolderOfOurs) {
  absl::StatusOr<TemporaryFolder> folder = TemporaryFolder::Create("check");
  ASSERT_TRUE(folder.ok());
  Diagnostics diagnostics;
  const CommandResult result = RunCommand(Parse({"check", folder->path(), "m.onnx"}), diagnostics);
  EXPECT_EQ(result.exit_code, kExitModelError);
  EXPECT_THAT(diagnostics.Render(), HasSubstr("has no metadata.json"));
}

TEST(Commands, ThePipelineListsItsPhases) {
  Diagnostics diagnostics;
  const CommandResult result = RunCommand(Parse({"--print-pipeline"}), diagnostics);
  EXPECT_EQ(result.exit_code, kExitDone);
  EXPECT_THAT(result.text, ::testing::StartsWith("import  "));
  EXPECT_THAT(result.text, ::testing::ContainsRegex("\nfold-scale +-O1 .*\n(.*\n)*fuse +-O1 "));
  EXPECT_THAT(result.text, HasSubstr("--config fold.cap-bytes=16777216"));
  EXPECT_EQ(result.json["pipeline"].back()["name"], "emit");
}

}  // namespace
}  // namespace aotc
