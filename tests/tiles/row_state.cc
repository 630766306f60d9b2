#include "tests/tiles/row_state.h"

#include <utility>

#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr int64_t kWarp = 32;

struct Combination {
  Combiner combiner = {};
  std::vector<Expr> lifts = {};  // of "mine"; the last accumulator is what is stored
};

Expr Number(double value) { return FloatConst(value, DType::kF32); }
Expr Float(const std::string& name) { return Var(name, DType::kF32); }

// Functions s * x + t, one after the other: a state of two, for which the order matters.
Combination Composition() {
  const Expr x = Float("mine");
  const Expr sign = Select(Lt(x, Number(0)), Number(-1), Number(1));
  return {
      .combiner = {.identity = {Number(1), Number(0)},
                   .combine = {Float("a0") * Float("b0"), Float("a1") * Float("b0") + Float("b1")}},
      .lifts = {sign, x}};
}

// The number of elements, their sum, and the sum of the squares.
Combination Statistics() {
  const Expr x = Float("mine");
  Combination statistics{.lifts = {Number(1), x, x * x}};
  for (int i = 0; i < 3; ++i) {
    statistics.combiner.identity.push_back(Number(0));
    statistics.combiner.combine.push_back(Float(StrCat("a", i)) + Float(StrCat("b", i)));
  }
  return statistics;
}

Combination Drawn(Random& random) {
  switch (random() % 4) {
    case 0: return Composition();
    case 1: return Statistics();
    case 2: return {StockCombiner("max", DType::kF32), {Float("mine")}};
    default: return {StockCombiner("sum", DType::kF32), {Float("mine")}};
  }
}

}  // namespace

bool CombinesState(const TileRow& row) { return row.call.find("$state") != std::string_view::npos; }

int64_t ThreadsOf(const RowCase& of) {
  if (of.row->needs != nullptr) return of.row->needs(of.params, of.lanes).threads;
  return CombinesState(*of.row) ? kWarp : 1;
}

void DrawCombiner(RowCase& of, Random& random) {
  Kernel& text = of.text;
  AOTC_CHECK(text.stages.size() == 1 && text.stages[0].IsReduction()) << of.row->name;
  const TensorId x = text.params[0], y = text.params[1];
  const Expr group = text.tensors[x].shape[0];
  const int64_t parts = ThreadsOf(of) / *EvaluateInt(group, of.TextSymbols({}));
  Combination drawn = Drawn(random);
  text.tensors[x].shape = text.tensors[y].shape = {parts, group};
  Stage& reduce = text.stages[0];
  const Expr element = Load(x, {Var("part"), Var(reduce.reduce_axes[0].name)}, DType::kF32);
  reduce.axes = {{"part", parts}};
  reduce.combiner = drawn.combiner;
  reduce.results.clear();
  reduce.body.clear();
  for (const Expr& lift : drawn.lifts) {
    const TensorId total = text.tensors.Add(
        {.name = StrCat("s", reduce.results.size()), .shape = {parts}, .role = TensorRole::kTemp});
    reduce.results.push_back({total, 1});
    reduce.body.push_back(Substitute(lift, {{"mine", element}}));
  }
  const TensorId shown = reduce.results.back().tensor;
  text.stages.push_back({.results = {{y, 2}},
                         .axes = {{"part", parts}, {"thread", group}},
                         .body = {Load(shown, {Var("part")}, DType::kF32)}});
  of.lifts = std::move(drawn.lifts);
  of.combiner = {.name = "drawn", .combiner = std::move(drawn.combiner)};
}

}  // namespace aotc
