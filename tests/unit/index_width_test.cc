// Which kernels count in 32 bits: at the limit of what fits, and what becomes of their expressions.
#include "compiler/lower/index_width.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "compiler/ir/expr_evaluate.h"
#include "compiler/ir/expr_text.h"
#include "compiler/ir/loops_text.h"
#include "compiler/support/strings.h"
#include "gtest/gtest.h"
#include "tests/unit/random_expr.h"

namespace aotc {
namespace {

struct Choice {
  std::string why_wide = {};  // "" where the loops are narrow
  std::string text = {};
};

Choice Choose(std::string_view text) {
  absl::StatusOr<LoopFunction> loops = ParseLoops(text);
  if (!loops.ok()) return {std::string(loops.status().message()), ""};
  EXPECT_TRUE(VerifyLoops(*loops).ok()) << VerifyLoops(*loops);
  const std::string before = PrintLoops(*loops);
  Choice choice{.why_wide = UseNarrowIndices(*loops)};
  choice.text = PrintLoops(*loops);
  EXPECT_TRUE(VerifyLoops(*loops).ok()) << VerifyLoops(*loops) << choice.text;
  const absl::StatusOr<LoopFunction> again = ParseLoops(choice.text);
  EXPECT_EQ(again.ok() ? PrintLoops(*again) : again.status().ToString(), choice.text);
  if (!choice.why_wide.empty()) {
    EXPECT_EQ(choice.text, before);
  }
  return choice;
}

// Why the loops with this body have wide indices.
std::string WhyWide(std::string_view header, std::string_view body) {
  return Choose(StrCat("loops @f(%x: f32, %at: i64, out %y: f32, out %n: i64) ", header, " {\n",
                       body, "\n}"))
      .why_wide;
}

// The body as narrow loops have it.
std::string Narrow(std::string_view header, std::string_view body) {
  const Choice choice = Choose(StrCat("loops @f(%x: f32, %at: i64, out %y: f32, out %n: i64) ",
                                      header, " {\n", body, "\n}"));
  EXPECT_EQ(choice.why_wide, "");
  const size_t begin = choice.text.find("{\n") + 2;
  return choice.text.substr(begin, choice.text.rfind('}') - begin);
}

TEST(IndexWidth, TheLargestIndexDecides) {
  EXPECT_EQ(WhyWide("tasks 16777216 threads 128", "store %y[task*128 + thread] = 0.0"), "");
  EXPECT_EQ(WhyWide("tasks 16777216 threads 128", "store %y[task*128 + thread + 1] = 0.0"),
            "task*128 + thread + 1 reaches 2147483648");
  EXPECT_EQ(WhyWide("tasks 16777217 threads 128", "store %y[task*128 + thread] = 0.0"),
            "task*128 + thread reaches 2147483775");
  EXPECT_EQ(WhyWide("tasks 2", "store %y[0] = %x[task*2147483647]"), "");
  EXPECT_EQ(WhyWide("tasks 2", "store %y[0] = %x[task*2147483648]"),
            "task*2147483648 reaches 2147483648");
}

TEST(IndexWidth, TheBoundOfASymbolDecides) {
  EXPECT_EQ(WhyWide("tasks m", "symbol m in 1..32768\nstore %y[task*65535] = 0.0"), "");
  EXPECT_EQ(WhyWide("tasks m", "symbol m in 1..32770\nstore %y[task*65535] = 0.0"),
            "task*65535 reaches 2147516415");
  EXPECT_EQ(WhyWide("tasks 1", "symbol m in 1..2147483647\nstore %y[m] = 0.0"), "");
  EXPECT_EQ(WhyWide("tasks 1", "symbol m in 1..2147483648\nstore %y[0] = 0.0"),
            "m reaches 2147483648");
  EXPECT_EQ(WhyWide("tasks m", "symbol m in 1..2147483647\nstore %y[task] = 0.0"), "");
}

TEST(IndexWidth, PartsOfAnIndexHaveToFit) {
  EXPECT_EQ(WhyWide("tasks 4096", "store %y[task*1048576 / 1048576] = 0.0"),
            "task*1048576 reaches 4293918720");
  EXPECT_EQ(WhyWide("tasks 2048", "store %y[task*1048576 / 1048576] = 0.0"), "");
  EXPECT_EQ(WhyWide("tasks 65536", "store %y[task*40000 - task*39999] = 0.0"),
            "task*40000 reaches 2621400000");
  EXPECT_EQ(WhyWide("tasks 65536", "store %y[0 - task*40000] = 0.0"),
            "0 - task*40000 reaches -2621400000");
  EXPECT_EQ(WhyWide("tasks 65536", "store %y[task*-40000] = 0.0"),
            "task*-40000 reaches -2621400000");
}

TEST(IndexWidth, LoopsHaveToEnd) {
  EXPECT_EQ(WhyWide("tasks 1", "for i in 0..2147483647 { store %y[i] = 0.0 }"), "");
  EXPECT_EQ(WhyWide("tasks 1", "for i in 0..2147483648 { store %y[i - 1] = 0.0 }"),
            "2147483648 reaches 2147483648");
  EXPECT_EQ(WhyWide("tasks 1", "for i in 1..2147483648 { store %y[i - 1] = 0.0 }"),
            "2147483648 reaches 2147483648");
  // A thread ends behind the last element by less than its step.
  const std::string_view dealt = "tasks 1 threads 128";
  EXPECT_EQ(WhyWide(dealt, "thread for i in 0..2147483520 { store %y[i] = 0.0 }"), "");
  EXPECT_EQ(WhyWide(dealt, "thread for i in 0..2147483521 { store %y[i] = 0.0 }"),
            "2147483648 reaches 2147483648");
  const std::string_view grid = "tasks 8192 threads 128";
  EXPECT_EQ(WhyWide(grid, "grid for i in 0..2146435072 { store %y[i] = 0.0 }"), "");
  EXPECT_EQ(WhyWide(grid, "grid for i in 0..2146435073 { store %y[i] = 0.0 }"),
            "2147483648 reaches 2147483648");
}

TEST(IndexWidth, GuardsAreKnownWithinWhatTheyGuard) {
  const std::string_view body =
      "symbol m in 1..4096\nsymbol n in 1..512\n"
      "let point = task*128 + thread\n"
      "if point < m*n {\n"
      "  let i = point / n\n  let j = trunc_mod(point, n)\n"
      "  store %y[i*n*1000 + j*1000] = 0.0\n}";
  EXPECT_EQ(WhyWide("tasks floor_div(m*n + 127, 128) threads 128", body), "");
  // Without the guard, i may be more than m.
  EXPECT_EQ(WhyWide("tasks m*n threads 128", body), "");
  EXPECT_EQ(WhyWide("tasks 1", "for i in 0..65536 { if i < 32768 { store %y[i*65535] = 0.0 } }"),
            "");
  EXPECT_EQ(WhyWide("tasks 1", "for i in 0..65536 { if i < 32770 { store %y[i*65535] = 0.0 } }"),
            "i*65535 reaches 2147516415");
}

TEST(IndexWidth, ElementsOfModelsStayWide) {
  // What a stored i64 is computed of, until it is an index.
  EXPECT_EQ(Narrow("tasks 9", "let i = max(min(%at[task], 99), 0)\nstore %y[i*4] = 0.0"),
            "  let i = i32(max(min(%at[task], i64:99), i64:0))\n  store %y[i*4] = 0.0\n");
  EXPECT_EQ(Narrow("tasks 9", "store %n[task] = %at[task] + task*5000000000"),
            "  store %n[task] = %at[task] + i64(task) * i64:5000000000\n");
  EXPECT_EQ(Narrow("tasks 9", "store %n[task] = task*3 + 1"),
            "  store %n[task] = i64(task*3 + 1)\n");
  EXPECT_EQ(Narrow("tasks 9", "if %at[task] < task*2 { store %y[task] = f32(task + 1) }"),
            "  if %at[task] < i64(task*2) {\n    store %y[task] = f32(task + 1)\n  }\n");
  EXPECT_EQ(Narrow("tasks 9", "declare best = 0\nassign best = best + task\nstore %n[0] = best"),
            "  declare best = i64:0\n  assign best = best + i64(task)\n  store %n[0] = best\n");
  EXPECT_EQ(WhyWide("tasks 9", "store %y[%at[task]] = 0.0"), "nothing bounds %at[task]");
  EXPECT_EQ(WhyWide("tasks 9", "declare i = 0\nassign i = i + 1\nstore %y[i] = 0.0"),
            "nothing bounds i");
}

TEST(IndexWidth, ComparisonsBeyondTheRangeAreWide) {
  EXPECT_EQ(Narrow("tasks 9", "if task*2 < 3000000000 { store %y[task] = 0.0 }"),
            "  if i64(task*2) < i64:3000000000 {\n    store %y[task] = 0.0\n  }\n");
}

TEST(IndexWidth, TileFunctionsTakeWhatFits) {
  const auto tile = [](std::string_view m, std::string_view tasks) {
    return StrCat("loops @f(%x: f32, out %y: f32) tasks ", tasks,
                  " {\n  call tile extents (task*64, 64) {\n"
                  "    object load {\n      operator()(m: ",
                  m,
                  ", v: i64) {\n        return %x[task*64 + m] + f32(v)\n      }\n    },\n"
                  "    &%x[task*64] by (task*64)\n  }\n}\n");
  };
  EXPECT_EQ(Choose(tile("i64", "9")).why_wide, "nothing bounds task*64 + m");
  EXPECT_EQ(Choose(tile("i64 to 99", "9")).text,
            "loops @f(%x: f32, out %y: f32) tasks 9 index i32 {\n"
            "  call tile extents (task*64, 64) {\n    object load {\n"
            "      operator()(m: i32 to 99, v: i64) {\n"
            "        return %x[task*64 + m] + f32(v)\n      }\n    },\n"
            "    &%x[task*64] by (task*64)\n  }\n}\n");
  EXPECT_EQ(Choose(tile("i64 to 1087", "33554416")).why_wide, "");
  EXPECT_EQ(Choose(tile("i64 to 1088", "33554416")).why_wide, "task*64 + m reaches 2147483648");
}

TEST(IndexWidth, VectorsStayWide) {
  EXPECT_EQ(WhyWide("tasks 9", "store %y[0] = broadcast<4>(0.0) first task"), "there are vectors");
}

// Evaluates as the emitted code does: i32 must not overflow anywhere.
std::optional<int64_t> Compute(const Expr& e, const std::map<std::string, int64_t>& values) {
  if (e.IsConst()) return e->int_value;
  if (e.IsVar()) return values.at(e->name);
  std::vector<int64_t> operands;
  for (const Expr& arg : e.args()) {
    const std::optional<int64_t> value = Compute(arg, values);
    if (!value) return std::nullopt;
    operands.push_back(*value);
  }
  const DType operand = e.arg(e.op() == ExprOp::kSelect ? 1 : 0).dtype();
  const auto in_range = [](int64_t value, DType dtype) {
    return dtype != DType::kI32 || WrapInt(value, dtype) == value;
  };
  std::optional<int64_t> result;
  if (e.op() == ExprOp::kSelect) result = operands[operands[0] != 0 ? 1 : 2];
  if (e.op() == ExprOp::kCast) result = operands[0];
  // In i64, which shows what does not fit.
  if (!result)
    result = EvaluateIntOp(e.op(), operand == DType::kBool ? operand : DType::kI64, operands);
  return result && in_range(*result, e.dtype()) ? result : std::nullopt;
}

// Random indices over variables with ranges up to the limits: what is narrow gives the same.
TEST(IndexWidth, NarrowIndicesNeverOverflow) {
  RandomExprs random(7);
  const std::vector<std::string> names = {"x", "y", "z", "n", "m"};
  constexpr int64_t kMost[] = {3, 100, 40000, 70000, 2147483647};
  int narrow = 0;
  for (int round = 0; round < 3000; ++round) {
    LoopFunction function{.name = "f"};
    const TensorId out =
        function.buffers.Add({.name = "out", .dtype = DType::kI64, .written = true});
    function.params = {out};
    std::vector<int64_t> most;
    for (const std::string& name : names) {
      most.push_back(kMost[random.Below(5)]);
      function.symbols.push_back({.name = name, .var = name, .min = 1, .max = most.back()});
    }
    const Expr index = random.Index(3);
    function.body = Block({Store(out, index, index)});
    LoopFunction chosen = function;
    if (!UseNarrowIndices(chosen).empty()) continue;
    ++narrow;
    for (int point = 0; point < 20; ++point) {
      std::map<std::string, int64_t> values;
      for (size_t i = 0; i < names.size(); ++i) {
        const int64_t low = 1 + random.Below(3), high = most[i] - random.Below(3);
        values[names[i]] = std::clamp<int64_t>(random.Below(2) == 0 ? low : high, 1, most[i]);
      }
      const std::optional<int64_t> want = Compute(index, values);
      ASSERT_TRUE(want) << PrintExpr(index);
      EXPECT_EQ(Compute(chosen.body->index, values), want) << PrintExpr(index);
      EXPECT_EQ(Compute(chosen.body->value, values), want) << PrintExpr(index);
    }
  }
  EXPECT_GT(narrow, 300);
}

}  // namespace
}  // namespace aotc
