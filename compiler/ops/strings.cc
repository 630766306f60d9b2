#include "compiler/ops/strings.h"

#include <algorithm>

#include "compiler/ops/compact.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

Constant IntsOf(const std::vector<int64_t>& values, const std::vector<int64_t>& dims) {
  return Constant::Ints(values).Reshaped(dims);
}

// sizes: i64 [dims] of one operand or more -> i64 []: how many rounds of `steps` bytes it takes to
// look at all bytes of the longest string; of several operands, of the one that takes the fewest.
absl::Status StringRounds(OpContext& op) {
  const int64_t steps = op.attributes().Int("steps", 1);
  Tensor rounds;
  for (size_t k = 0; k < op.InputCount(); ++k) {
    AOTC_ASSIGN_OR_RETURN(const Tensor sizes, TypedInput(op, k, DType::kI64, 0, kAnyRank));
    Shape dims = sizes.shape();
    if (dims.empty()) dims = {Expr(1)};
    const bool scalar = sizes.rank() == 0;
    const Tensor longest = op.b().Reduce(
        "max", DType::kI64, {}, dims,
        [&](const Indices&, const Indices& r) { return Max(scalar ? sizes({}) : sizes(r), 0); });
    const Tensor before = rounds;
    rounds = op.b().Compute(DType::kI64, {}, [&](const Indices&) {
      const Expr own = CeilDiv(Max(longest({}), 0), steps);
      return before.valid() ? Min(before({}), own) : own;
    });
  }
  if (!rounds.valid()) return absl::InternalError("needs the sizes of strings");
  op.SetOutput(0, rounds);
  return absl::OkStatus();
}

// sizes: i64 [n] -> i64 []: how many bytes all strings have together.
absl::Status StringBytes(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor sizes, TypedInput(op, 0, DType::kI64, 1));
  const Shape& all = sizes.shape();
  op.SetOutput(0, op.b().Reduce("sum", DType::kI64, {}, all,
                                [&](const Indices&, const Indices& r) { return sizes(r); }));
  return absl::OkStatus();
}

// state: i64 [dims], round: i64 [], strings [dims], classes: u8 [256], next: i32 [states, classes]
// -> the states behind the next `steps` bytes of each string, or as many as it has.
absl::Status WalkStrings(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const StringTensors strings, ReadStrings(op, 2));
  AOTC_ASSIGN_OR_RETURN(Tensor state, TypedInput(op, 0, DType::kI64, strings.sizes.rank()));
  AOTC_ASSIGN_OR_RETURN(const Tensor round, TypedInput(op, 1, DType::kI64, 0));
  AOTC_ASSIGN_OR_RETURN(const Tensor classes, TypedInput(op, 5, DType::kU8, 1));
  AOTC_ASSIGN_OR_RETURN(const Tensor next, TypedInput(op, 6, DType::kI32, 2));
  const int64_t steps = op.attributes().Int("steps", 1);
  const Expr &states = next.dim(0), &class_count = next.dim(1);
  const Shape dims = strings.sizes.shape();
  for (int64_t step = 0; step < steps; ++step) {
    const Tensor before = state;
    state = op.b().Compute(DType::kI64, dims, [&](const Indices& i) {
      const Expr place = round({}) * steps + step;
      const Expr byte = Cast(DType::kI64, strings.Byte(i, place));
      const Expr column = Clamp(Cast(DType::kI64, classes({byte})), 0, class_count - 1);
      const Expr row = Clamp(before(i), 0, states - 1);
      return Select(Lt(place, strings.Size(i)), Cast(DType::kI64, next({row, column})), before(i));
    });
  }
  op.SetOutput(0, state);
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "StringBytes",
     .compute = StringBytes,
     .summary = "how many bytes strings have together",
     .traits = kOwn | kCounts},
    {.name = "StringRounds",
     .compute = StringRounds,
     .summary = "how many steps of bytes the longest string takes",
     .traits = kOwn},
    {.name = "WalkStrings",
     .compute = WalkStrings,
     .summary = "an automaton's states behind the next bytes of strings",
     .traits = kOwn},
};

// Longer walks are loops of rounds of `kStepsOfRound` bytes.
constexpr int64_t kMostSteps = 16, kStepsOfRound = 8;

Constant TableOf(const Automaton& automaton) {
  std::vector<uint8_t> bytes(automaton.next.size() * sizeof(int32_t));
  for (size_t i = 0; i < automaton.next.size(); ++i) {
    StoreIntElement(DType::kI32, bytes.data(), static_cast<int64_t>(i), automaton.next[i]);
  }
  return Constant::Dense(DType::kI32, {automaton.state_count(), automaton.class_count},
                         std::move(bytes));
}

}  // namespace

std::span<const OpDef> StringOps() { return kOps; }

StringValues StringInput(const Expansion& e, size_t first) {
  return {e.Input(first), e.Input(first + 1), e.Input(first + 2)};
}

void SetStringOutput(Expansion& e, size_t first, const StringValues& strings) {
  e.SetOutput(first, strings.starts);
  e.SetOutput(first + 1, strings.sizes);
  e.SetOutput(first + 2, strings.pool);
}

StringConstants SplitStrings(const std::vector<std::string>& strings,
                             const std::vector<int64_t>& dims) {
  std::vector<int64_t> starts, sizes;
  std::vector<uint8_t> bytes;
  for (const std::string& text : strings) {
    starts.push_back(static_cast<int64_t>(bytes.size()));
    sizes.push_back(static_cast<int64_t>(text.size()));
    bytes.insert(bytes.end(), text.begin(), text.end());
  }
  if (bytes.empty()) bytes.push_back(0);
  const auto count = static_cast<int64_t>(bytes.size());
  return {IntsOf(starts, dims), IntsOf(sizes, dims),
          Constant::Dense(DType::kU8, {count}, std::move(bytes))};
}

StringValues AddStrings(Expansion& e, std::string_view name,
                        const std::vector<std::string>& strings, const std::vector<int64_t>& dims) {
  StringConstants parts = SplitStrings(strings, dims);
  return {e.Add(StrCat(name, "_starts"), std::move(parts.starts)),
          e.Add(StrCat(name, "_sizes"), std::move(parts.sizes)),
          e.Add(StrCat(name, "_pool"), std::move(parts.pool))};
}

Expr StringTensors::Byte(const Indices& i, const Expr& place) const {
  return pool({Clamp(starts(i) + place, 0, pool.dim(0) - 1)});
}

absl::StatusOr<StringTensors> ReadStrings(OpContext& op, size_t first) {
  StringTensors strings;
  AOTC_ASSIGN_OR_RETURN(strings.sizes, TypedInput(op, first + 1, DType::kI64, 0, kAnyRank));
  AOTC_ASSIGN_OR_RETURN(strings.starts, TypedInput(op, first, DType::kI64, strings.sizes.rank()));
  AOTC_ASSIGN_OR_RETURN(strings.pool, TypedInput(op, first + 2, DType::kU8, 1));
  return strings;
}

absl::StatusOr<Expr> NewPoolSize(OpContext& op, size_t total) {
  AOTC_ASSIGN_OR_RETURN(const std::vector<Expr> bytes, op.IntElements(total));
  if (bytes.size() != 1) return absl::InternalError("needs one number of bytes");
  const int64_t most = op.attributes().Int(kMaxStringBytes, kMostStringBytes);
  AOTC_RETURN_IF_ERROR(op.Require(
      Le(bytes[0], most), StrCat("its strings have more than ", most,
                                 " bytes together; hint: --max-string-bytes gives another bound")));
  return op.Size(Max(bytes[0], 1), 0, 0, most);
}

absl::StatusOr<ValueId> EmitAutomaton(Expansion& e, const StringValues& strings,
                                      const Automaton& automaton) {
  const ValueId classes = e.Add(
      "classes",
      Constant::Dense(DType::kU8, {256}, {automaton.classes.begin(), automaton.classes.end()}));
  const ValueId next = e.Add("next", TableOf(automaton));
  const ValueId start = e.Number("start", DType::kI64, automaton.start);
  ValueId state = e.Emit("Expand", {start, e.Emit("Shape", {strings.sizes})});
  const auto walk = [&](ValueId round, ValueId before, int64_t steps) {
    return e.Emit("WalkStrings",
                  {before, round, strings.starts, strings.sizes, strings.pool, classes, next},
                  {{"steps", steps}});
  };
  // A step beyond the depth tells strings that are too long.
  if (automaton.depth >= 0 && automaton.depth < kMostSteps) {
    state = walk(e.Number("first", DType::kI64, 0), state, automaton.depth + 1);
  } else {
    ValueId rounds = e.Emit("StringRounds", {strings.sizes}, {{"steps", kStepsOfRound}});
    if (automaton.depth >= 0) {
      const int64_t enough = automaton.depth / kStepsOfRound + 1;
      const auto limit = static_cast<double>(enough);
      rounds = e.Emit("Min", {rounds, e.Number("enough", DType::kI64, limit)});
    }
    AOTC_ASSIGN_OR_RETURN(state, e.EmitLoop(rounds, state, [&](ValueId round, ValueId before) {
      return walk(round, before, kStepsOfRound);
    }));
  }
  return EmitPicked(e, e.Ints("results", automaton.result), state);
}

NewStrings EmitNewStrings(Expansion& e, ValueId sizes) {
  const ValueId flat = e.Emit("Reshape", {sizes, e.Ints("flat", {-1})});
  NewStrings made;
  made.ends = e.Emit("CumSum", {flat, e.Number("axis", DType::kI64, 0)});
  made.starts = e.Emit("Reshape", {e.Emit("Sub", {made.ends, flat}), e.Emit("Shape", {sizes})},
                       {{"allowzero", int64_t{1}}});
  made.total = e.Emit("StringBytes", {flat});
  return made;
}

}  // namespace aotc
