// Equal of strings, StringConcat (opset 20) and RegexFullMatch (opset 20).
#include <algorithm>

#include "compiler/ops/compact.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/ops/strings.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

constexpr int64_t kStepsOfRound = 32;

// equal: bool [dims], round: i64 [], strings that broadcast to these dims, twice -> which of the
// equal ones are so behind the next `steps` bytes. Those that are equal have one size.
absl::Status EqualBytes(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const StringTensors a, ReadStrings(op, 2));
  AOTC_ASSIGN_OR_RETURN(const StringTensors b, ReadStrings(op, 2 + kStringParts));
  const int rank = std::max(a.sizes.rank(), b.sizes.rank());
  AOTC_ASSIGN_OR_RETURN(const Tensor equal, TypedInput(op, 0, DType::kBool, rank));
  AOTC_ASSIGN_OR_RETURN(const Tensor round, TypedInput(op, 1, DType::kI64, 0));
  const int64_t steps = op.attributes().Int("steps", 1);
  const Shape& dims = equal.shape();
  const Shape a_dims = a.sizes.shape(), b_dims = b.sizes.shape();
  auto body = [&](const Indices& i, const Indices& r) {
    const Expr place = round({}) * steps + r[0];
    const Indices in_a = BroadcastIndices(a_dims, i), in_b = BroadcastIndices(b_dims, i);
    const Expr same = Eq(a.Byte(in_a, place), b.Byte(in_b, place));
    return Or(Le(a.Size(in_a), place), same);
  };
  const Tensor alike = op.b().Reduce("and", DType::kBool, dims, {Expr(steps)}, body);
  op.SetOutput(0, op.b().Compute(DType::kBool, dims,
                                 [&](const Indices& i) { return And(equal(i), alike(i)); }));
  return absl::OkStatus();
}

// Inputs: two tensors of strings. bool, as Equal of numbers.
absl::Status StringEqual(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0, 1, 2, 3, 4, 5}));
  const StringValues a = StringInput(e, 0), b = StringInput(e, kStringParts);
  const ValueId rounds = e.Emit("StringRounds", {a.sizes, b.sizes}, {{"steps", kStepsOfRound}});
  const auto compare = [&](ValueId round, ValueId equal) {
    return e.Emit("EqualBytes",
                  {equal, round, a.starts, a.sizes, a.pool, b.starts, b.sizes, b.pool},
                  {{"steps", kStepsOfRound}});
  };
  const ValueId same_size = e.Emit("Equal", {a.sizes, b.sizes});
  AOTC_ASSIGN_OR_RETURN(const ValueId equal, e.EmitLoop(rounds, same_size, compare));
  e.SetOutput(0, equal);
  return absl::OkStatus();
}

// ends: i64 [n], total: i64 [], sizes: i64 [dims] of the result, strings that broadcast to these
// dims, twice -> u8 [total], or of one byte: those of the first string of each pair, then those of
// the second. Attribute `max_string_bytes`.
absl::Status JoinedBytes(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor ends, TypedInput(op, 0, DType::kI64, 1));
  AOTC_ASSIGN_OR_RETURN(const Expr count, NewPoolSize(op, 1));
  AOTC_ASSIGN_OR_RETURN(const StringTensors a, ReadStrings(op, 3));
  AOTC_ASSIGN_OR_RETURN(const StringTensors b, ReadStrings(op, 3 + kStringParts));
  const int rank = std::max(a.sizes.rank(), b.sizes.rank());
  AOTC_ASSIGN_OR_RETURN(const Tensor sizes, TypedInput(op, 2, DType::kI64, rank));
  const Shape& dims = sizes.shape();
  const Shape pool = {count};
  const Tensor before = CountAtMost(op, ends, pool, [](const Indices& byte) { return byte[0]; });
  const Shape a_dims = a.sizes.shape(), b_dims = b.sizes.shape();
  op.SetOutput(0, op.b().Compute(DType::kU8, pool, [&](const Indices& byte) {
    const Expr owner = Clamp(before(byte), 0, ends.dim(0) - 1);
    const Indices at = Unraveled(owner, dims);
    const Indices in_a = BroadcastIndices(a_dims, at), in_b = BroadcastIndices(b_dims, at);
    const Expr place = byte[0] - (ends({owner}) - sizes(at));
    const Expr joined =
        Select(Lt(place, a.Size(in_a)), a.Byte(in_a, place), b.Byte(in_b, place - a.Size(in_a)));
    return Select(Lt(before(byte), ends.dim(0)), joined, IntConst(0, DType::kU8));
  }));
  return absl::OkStatus();
}

absl::Status StringConcat(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0, 1, 2, 3, 4, 5}));
  const StringValues a = StringInput(e, 0), b = StringInput(e, kStringParts);
  const ValueId sizes = e.Emit("Add", {a.sizes, b.sizes});
  const NewStrings made = EmitNewStrings(e, sizes);
  const ValueId pool =
      e.Emit("JoinedBytes",
             {made.ends, made.total, sizes, a.starts, a.sizes, a.pool, b.starts, b.sizes, b.pool},
             {{kMaxStringBytes, e.attributes().Int(kMaxStringBytes)}});
  SetStringOutput(e, 0, {made.starts, sizes, pool});
  return absl::OkStatus();
}

absl::Status RegexFullMatch(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0, 1, 2}));
  AOTC_ASSIGN_OR_RETURN(const Automaton automaton,
                        RegexAutomaton(e.attributes().String("pattern")));
  AOTC_ASSIGN_OR_RETURN(const ValueId matches, EmitAutomaton(e, StringInput(e, 0), automaton));
  e.SetOutput(0, e.Emit("Cast", {matches}, {{"to", static_cast<int64_t>(DType::kBool)}}));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "EqualBytes",
     .compute = EqualBytes,
     .summary = "which strings are equal in their next bytes",
     .traits = kOwn},
    {.name = "JoinedBytes",
     .compute = JoinedBytes,
     .summary = "the bytes of pairs of strings, one after another",
     .traits = kOwn},
    {.name = "RegexFullMatch",
     .expand = RegexFullMatch,
     .summary = "whether strings match a pattern as a whole"},
    {.name = "StringConcat", .expand = StringConcat, .summary = "pairs of strings made one"},
    {.name = "StringEqual",
     .expand = StringEqual,
     .summary = "whether strings are equal",
     .traits = kOwn},
};

}  // namespace

std::span<const OpDef> StringTextOps() { return kOps; }

}  // namespace aotc
