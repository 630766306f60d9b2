// Equal of strings, StringConcat (opset 20), RegexFullMatch (opset 20), and Cast between strings
// and integers, which they spell in decimal digits.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "compiler/ops/compact.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/ops/strings.h"
#include "compiler/support/refusal.h"
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

// 10^k for all k that 64 bits hold.
constexpr int64_t kPowers = 20;
ValueId PowersOfTen(Expansion& e) {
  std::vector<uint8_t> bytes(kPowers * sizeof(uint64_t));
  uint64_t power = 1;
  for (int64_t k = 0; k < kPowers; ++k, power *= 10) {
    StoreIntElement(DType::kI64, bytes.data(), k, static_cast<int64_t>(power));
  }
  return e.Add("powers", Constant::Dense(DType::kU64, {kPowers}, std::move(bytes)));
}

Expr IsNegative(const Expr& x) {
  return IsUnsignedInteger(x.dtype()) ? Bool(false) : Lt(x, IntConst(0, x.dtype()));
}

// |x| as u64.
Expr Magnitude(const Expr& x) {
  const Expr wide = Cast(DType::kU64, x);
  return Select(IsNegative(x), IntConst(0, DType::kU64) - wide, wide);
}

// x: integers [dims], powers: u64 [20] -> i64 [dims]: how many bytes they have in decimal digits,
// with the sign of those below 0.
absl::Status DecimalSizes(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor x, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(const Tensor powers, TypedInput(op, 1, DType::kU64, 1));
  if (!IsInteger(x.dtype())) {
    return AOTC_REFUSAL(Unimplemented, StrCat("numbers of type ", TypeName(x.dtype()),
                                              " as strings are not supported; hint: integers are"));
  }
  const Tensor digits = op.b().Reduce(
      "sum", DType::kI64, x.shape(), {powers.dim(0)}, [&](const Indices& i, const Indices& r) {
        return Cast(DType::kI64, Or(Eq(r[0], 0), Le(powers(r), Magnitude(x(i)))));
      });
  op.SetOutput(0, op.b().Compute(DType::kI64, x.shape(), [&](const Indices& i) {
    return digits(i) + Cast(DType::kI64, IsNegative(x(i)));
  }));
  return absl::OkStatus();
}

// The digit at a power of ten of a number.
Expr DigitAt(const Expr& magnitude, const Expr& power) {
  const Expr quotient = Div(magnitude, power), ten = IntConst(10, DType::kU64);
  return Cast(DType::kI64, quotient - Div(quotient, ten) * ten);
}

// ends: i64 [n], total: i64 [], sizes: i64 [dims], x: integers [dims], powers: u64 [20] -> u8
// [total], or of one byte: the digits, behind a sign. Attribute `max_string_bytes`.
absl::Status DecimalBytes(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor ends, TypedInput(op, 0, DType::kI64, 1));
  AOTC_ASSIGN_OR_RETURN(const Expr count, NewPoolSize(op, 1));
  AOTC_ASSIGN_OR_RETURN(const Tensor sizes, TypedInput(op, 2, DType::kI64, 0, kAnyRank));
  AOTC_ASSIGN_OR_RETURN(const Tensor x, op.Input(3));
  AOTC_ASSIGN_OR_RETURN(const Tensor powers, TypedInput(op, 4, DType::kU64, 1));
  const Shape pool = {count};
  const Tensor before = CountAtMost(op, ends, pool, [](const Indices& byte) { return byte[0]; });
  op.SetOutput(0, op.b().Compute(DType::kU8, pool, [&](const Indices& byte) {
    const Expr owner = Clamp(before(byte), 0, ends.dim(0) - 1);
    const Indices at = Unraveled(owner, sizes.shape());
    const Expr from_end = Clamp(ends({owner}) - 1 - byte[0], 0, powers.dim(0) - 1);
    const Expr digit = DigitAt(Magnitude(x(at)), powers({from_end})) + int64_t{'0'};
    const Expr is_sign = And(IsNegative(x(at)), Eq(byte[0], ends({owner}) - sizes(at)));
    const Expr text = Cast(DType::kU8, Select(is_sign, Expr(int64_t{'-'}), digit));
    return Select(Lt(before(byte), ends.dim(0)), text, IntConst(0, DType::kU8));
  }));
  return absl::OkStatus();
}

// Input: integers. Outputs: strings.
absl::Status StringsOfNumbers(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0}));
  const ValueId powers = PowersOfTen(e);
  const ValueId sizes = e.Emit("DecimalSizes", {e.Input(0), powers});
  const NewStrings made = EmitNewStrings(e, sizes);
  const ValueId pool = e.Emit("DecimalBytes", {made.ends, made.total, sizes, e.Input(0), powers},
                              {{kMaxStringBytes, e.attributes().Int(kMaxStringBytes)}});
  SetStringOutput(e, 0, {made.starts, sizes, pool});
  return absl::OkStatus();
}

// Strings as integers of a type: a sign, or none, and 1 to 19 digits.
struct DecimalTexts {
  StringTensors strings;
  DType type = DType::kI64;
  Tensor magnitudes;  // u64
  Tensor are_digits;  // bool: all bytes but the sign

  Expr First(const Indices& i) const { return Cast(DType::kI64, strings.Byte(i, 0)); }
  Expr IsBelowZero(const Indices& i) const {
    return And(Lt(0, strings.Size(i)), Eq(First(i), int64_t{'-'}));
  }
  Expr SignBytes(const Indices& i) const {
    const Expr has_plus = And(Lt(0, strings.Size(i)), Eq(First(i), int64_t{'+'}));
    return Cast(DType::kI64, Or(IsBelowZero(i), has_plus));
  }
  // The greatest magnitude of the type, one more below 0; none there of an unsigned type.
  Expr Limit(const Indices& i) const {
    const int64_t bits = BitWidth(type);
    const Expr below = IsBelowZero(i);
    if (!IsUnsignedInteger(type)) {
      const int64_t most = static_cast<int64_t>((uint64_t{1} << (bits - 1)) - 1);
      return IntConst(most, DType::kU64) + Cast(DType::kU64, below);
    }
    const uint64_t most = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
    return Select(below, IntConst(0, DType::kU64),
                  IntConst(static_cast<int64_t>(most), DType::kU64));
  }
  Expr IsNumber(const Indices& i) const {
    const Expr digits = strings.Size(i) - SignBytes(i);
    const Expr has_digits = And(Le(1, digits), Le(digits, kPowers - 1));
    return And(And(has_digits, are_digits(i)), Le(magnitudes(i), Limit(i)));
  }
};

// Inputs: strings, powers: u64 [20]. Attribute `to`.
absl::StatusOr<DecimalTexts> ReadDecimalTexts(OpContext& op) {
  DecimalTexts texts;
  texts.type = static_cast<DType>(op.attributes().Int("to"));
  if (!IsInteger(texts.type)) {
    return AOTC_REFUSAL(Unimplemented, StrCat("strings as numbers of type ", TypeName(texts.type),
                                              " are not supported; hint: as integers they are"));
  }
  AOTC_ASSIGN_OR_RETURN(texts.strings, ReadStrings(op, 0));
  AOTC_ASSIGN_OR_RETURN(const Tensor powers, TypedInput(op, kStringParts, DType::kU64, 1));
  const Shape dims = texts.strings.sizes.shape();
  struct Digit {
    Expr exists;
    Expr value;  // i64
  };
  const auto digit = [&](const Indices& i, const Expr& from_end) -> Digit {
    const Expr place = texts.strings.Size(i) - 1 - from_end;
    const Expr byte = Cast(DType::kI64, texts.strings.Byte(i, place));
    return {Le(texts.SignBytes(i), place), byte - int64_t{'0'}};
  };
  const Shape places = {Expr(kPowers - 1)};
  texts.are_digits =
      op.b().Reduce("and", DType::kBool, dims, places, [&](const Indices& i, const Indices& r) {
        const Digit d = digit(i, r[0]);
        return Or(Not(d.exists), And(Le(0, d.value), Le(d.value, 9)));
      });
  texts.magnitudes =
      op.b().Reduce("sum", DType::kU64, dims, places, [&](const Indices& i, const Indices& r) {
        const Digit d = digit(i, r[0]);
        const Expr value = Cast(DType::kU64, Clamp(d.value, 0, 9)) * powers(r);
        return Select(d.exists, value, IntConst(0, DType::kU64));
      });
  return texts;
}

// How many strings are no such numbers: i64 [].
absl::Status OddTexts(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const DecimalTexts texts, ReadDecimalTexts(op));
  const Shape dims = texts.strings.sizes.shape();
  op.SetOutput(0,
               op.b().Reduce("sum", DType::kI64, {}, dims, [&](const Indices&, const Indices& r) {
                 return Cast(DType::kI64, Not(texts.IsNumber(r)));
               }));
  return absl::OkStatus();
}

// The numbers. Input 4: how many of the strings are none, which ends the run.
absl::Status DecimalNumbers(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const DecimalTexts texts, ReadDecimalTexts(op));
  AOTC_ASSIGN_OR_RETURN(const std::vector<Expr> odd, op.IntElements(kStringParts + 1));
  if (odd.size() != 1) return absl::InternalError("needs one count");
  AOTC_RETURN_IF_ERROR(op.Require(
      Le(odd[0], 0),
      StrCat("a string is no integer of type ", TypeName(texts.type), " of at most 19 digits")));
  op.SetOutput(0, op.b().Compute(texts.type, texts.strings.sizes.shape(), [&](const Indices& i) {
    const Expr magnitude = texts.magnitudes(i);
    const Expr negative = IntConst(0, DType::kU64) - magnitude;
    return Cast(texts.type, Select(texts.IsBelowZero(i), negative, magnitude));
  }));
  return absl::OkStatus();
}

// Input: strings. Attribute `to`.
absl::Status NumbersOfStrings(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0, 1, 2}));
  const ValueId powers = PowersOfTen(e);
  const StringValues x = StringInput(e, 0);
  const Expansion::NamedValues to = {{"to", e.attributes().Int("to")}};
  const ValueId odd = e.Emit("OddTexts", {x.starts, x.sizes, x.pool, powers}, to);
  e.SetOutput(0, e.Emit("DecimalNumbers", {x.starts, x.sizes, x.pool, powers, odd}, to));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "DecimalBytes",
     .compute = DecimalBytes,
     .summary = "the digits of integers",
     .traits = kOwn},
    {.name = "DecimalNumbers",
     .compute = DecimalNumbers,
     .summary = "integers of their digits",
     .traits = kOwn},
    {.name = "DecimalSizes",
     .compute = DecimalSizes,
     .summary = "how many digits integers have, with a sign",
     .traits = kOwn},
    {.name = "OddTexts",
     .compute = OddTexts,
     .summary = "how many strings are no integers of a type",
     .traits = kOwn | kCounts},
    {.name = "NumbersOfStrings",
     .expand = NumbersOfStrings,
     .summary = "Cast of strings to integers",
     .traits = kOwn},
    {.name = "StringsOfNumbers",
     .expand = StringsOfNumbers,
     .summary = "Cast of integers to strings",
     .traits = kOwn},
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
