// Cast of strings to numbers. Integers: a sign, or none, and at most 19 digits. Floats: plain or
// scientific as ONNX's text has it, "3.14", "-.5", "1e-5", INF, +INF, -INF and NaN in letters of
// any case, of at most 19 digits, rounded once to the nearest number of the type, halves to even.
// Any other text is a status of the run.
#include <algorithm>

#include "compiler/ops/decimal.h"
#include "compiler/ops/expansion.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/ops/strings.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// --- Integers -----------------------------------------------------------------------------------

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
    const Expr has_digits = And(Le(1, digits), Le(digits, kPowersIn64Bits - 1));
    return And(And(has_digits, are_digits(i)), Le(magnitudes(i), Limit(i)));
  }
};

// Inputs: strings, powers: u64 [20]. Attribute `to`.
absl::StatusOr<DecimalTexts> ReadDecimalTexts(OpContext& op) {
  DecimalTexts texts;
  texts.type = static_cast<DType>(op.attributes().Int("to"));
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
  const Shape places = {Expr(kPowersIn64Bits - 1)};
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

// --- Floats -------------------------------------------------------------------------------------

constexpr int64_t kMostTextBytes = 64;
constexpr int64_t kMostDigits = kPowersIn64Bits - 1;  // from the first that is not 0 to the last
constexpr int64_t kFarExponent = 100000;              // beyond those of all types

constexpr const char kRealPattern[] =
    "[+-]?(([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?|[iI][nN][fF]|[nN][aA][nN])";

// Texts that match the pattern, taken apart.
class RealTexts {
 public:
  RealTexts(OpContext& op, const StringTensors& strings, const Tensor& powers)
      : op_(op), strings_(strings), dims_(strings_.sizes.shape()), powers_(powers) {
    mark_ = Place("min", [&](const Indices& i, const Expr& at) {
      return And(Lt(at, strings_.Size(i)), Eq(Letter(i, at), int64_t{'e'}));
    });
    end_ = Keep([&](const Indices& i) { return Min(mark_(i), strings_.Size(i)); });
    const Element point = Place("min", [&](const Indices& i, const Expr& at) {
      return And(Lt(at, end_(i)), Eq(ByteAt(i, at), int64_t{'.'}));
    });
    point_ = Keep([&](const Indices& i) { return Min(point(i), end_(i)); });
    const auto counts = [&](const Indices& i, const Expr& at) {
      return And(Lt(at, end_(i)), And(IsDigit(i, at), Ne(ByteAt(i, at), int64_t{'0'})));
    };
    first_ = Place("min", counts);
    last_ = Place("max", counts);
  }

  const Shape& dims() const { return dims_; }

  // Whether it has no more bytes and digits than are taken.
  Expr IsShort(const Indices& i) const {
    const Expr digits = last_(i) - first_(i) + 1 - HasPointWithin(i, first_(i));
    return And(Le(strings_.Size(i), kMostTextBytes), Le(digits, kMostDigits));
  }

  // From the first digit that is not 0 to the last, u64; 0 where there is none.
  Tensor Digits() const {
    return Sum(DType::kU64, [&](const Indices& i, const Expr& at) {
      const Expr behind = last_(i) - at - HasPointWithin(i, at);
      const Expr digit = Cast(DType::kU64, Clamp(ByteAt(i, at) - int64_t{'0'}, 0, 9));
      const Expr exists = And(And(Le(first_(i), at), Le(at, last_(i))), Ne(at, point_(i)));
      return Select(exists, digit * powers_({Clamp(behind, 0, kPowersIn64Bits - 1)}), U64(0));
    });
  }

  // The power of ten that the digits are multiplied by.
  Tensor Exponents() const {
    constexpr int64_t kFarPlace = 6;
    const Tensor given = Sum(DType::kI64, [&](const Indices& i, const Expr& at) {
      const Expr exists = And(And(Lt(mark_(i), at), Lt(at, strings_.Size(i))), IsDigit(i, at));
      const Expr power = powers_({Clamp(strings_.Size(i) - 1 - at, 0, kFarPlace)});
      return Select(exists, (ByteAt(i, at) - int64_t{'0'}) * Cast(DType::kI64, power), 0);
    });
    return op_.b().Compute(DType::kI64, dims_, [&](const Indices& i) {
      const Expr is_negative = Eq(ByteAt(i, mark_(i) + 1), int64_t{'-'});
      const Expr size = Min(given(i), kFarExponent);
      const Expr own = Select(Lt(last_(i), point_(i)), point_(i) - 1, point_(i)) - last_(i);
      return own + Select(is_negative, -size, size);
    });
  }

  // 0: a number, 1: infinite, 2: not a number; 4 more below 0.
  Tensor Kinds() const {
    return op_.b().Compute(DType::kI64, dims_, [&](const Indices& i) {
      const Expr is_negative = Eq(ByteAt(i, 0), int64_t{'-'});
      const Expr has_sign = Or(is_negative, Eq(ByteAt(i, 0), int64_t{'+'}));
      const Expr letter = Letter(i, Cast(DType::kI64, has_sign));
      const Expr kind = Select(Eq(letter, int64_t{'i'}), 1, Select(Eq(letter, int64_t{'n'}), 2, 0));
      return kind + Select(is_negative, 4, 0);
    });
  }

 private:
  using AtPlace = std::function<Expr(const Indices& i, const Expr& at)>;

  Element Keep(const Element& value) const { return Kept(op_, DType::kI64, dims_, value); }

  Expr ByteAt(const Indices& i, const Expr& at) const {
    return Cast(DType::kI64, strings_.Byte(i, at));
  }
  // In lower case.
  Expr Letter(const Indices& i, const Expr& at) const {
    return Binary(ExprOp::kBitOr, ByteAt(i, at), Expr(int64_t{0x20}));
  }
  Expr IsDigit(const Indices& i, const Expr& at) const {
    return And(Le(int64_t{'0'}, ByteAt(i, at)), Le(ByteAt(i, at), int64_t{'9'}));
  }
  // Whether the point lies between a place and the last digit: 0 or 1.
  Expr HasPointWithin(const Indices& i, const Expr& at) const {
    return Cast(DType::kI64, And(Lt(at, point_(i)), Lt(point_(i), last_(i))));
  }

  // The first place, or the last, of which `is_it` holds; beyond all, or -1, where there is none.
  Element Place(std::string_view combiner, const AtPlace& is_it) const {
    const Expr none = combiner == "min" ? Expr(kMostTextBytes) : Expr(-1);
    const Tensor place = op_.b().Reduce(
        combiner, DType::kI64, dims_, {Expr(kMostTextBytes)},
        [&](const Indices& i, const Indices& r) { return Select(is_it(i, r[0]), r[0], none); });
    return ElementsOf(place);
  }

  Tensor Sum(DType type, const AtPlace& value) const {
    return op_.b().Reduce("sum", type, dims_, {Expr(kMostTextBytes)},
                          [&](const Indices& i, const Indices& r) { return value(i, r[0]); });
  }

  OpContext& op_;
  const StringTensors strings_;
  const Shape dims_;
  const Tensor powers_;
  Element mark_, end_;    // of the e; of what is in front of it
  Element point_;         // or the end
  Element first_, last_;  // digits that are not 0
};

absl::StatusOr<RealTexts> ReadRealTexts(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const StringTensors strings, ReadStrings(op, 0));
  AOTC_ASSIGN_OR_RETURN(const Tensor powers, TypedInput(op, kStringParts, DType::kU64, 1));
  return RealTexts(op, strings, powers);
}

// strings [dims], powers of ten in 64 bits -> digits u64, exponents i64, kinds i64, each [dims].
absl::Status RealParts(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const RealTexts texts, ReadRealTexts(op));
  op.SetOutput(0, texts.Digits());
  op.SetOutput(1, texts.Exponents());
  op.SetOutput(2, texts.Kinds());
  return absl::OkStatus();
}

// The same, and whether each matches, i64 [dims] -> how many are no numbers, i64 [].
absl::Status OddReals(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const RealTexts texts, ReadRealTexts(op));
  AOTC_ASSIGN_OR_RETURN(const Tensor match,
                        TypedInput(op, kStringParts + 1, DType::kI64, 0, kAnyRank));
  const Shape& dims = texts.dims();
  op.SetOutput(0,
               op.b().Reduce("sum", DType::kI64, {}, dims, [&](const Indices&, const Indices& r) {
                 return Cast(DType::kI64, Not(And(Ne(match(r), 0), texts.IsShort(r))));
               }));
  return absl::OkStatus();
}

// digits u64, exponents and kinds i64 of texts, powers of ten in 128 bits, and how many of the
// texts are no numbers, which ends the run -> floats. Attribute `to`.
absl::Status RealNumbers(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor digits, TypedInput(op, 0, DType::kU64, 0, kAnyRank));
  AOTC_ASSIGN_OR_RETURN(const Tensor exponents, TypedInput(op, 1, DType::kI64, digits.rank()));
  AOTC_ASSIGN_OR_RETURN(const Tensor kinds, TypedInput(op, 2, DType::kI64, digits.rank()));
  AOTC_ASSIGN_OR_RETURN(const Tensor table, TypedInput(op, 3, DType::kU64, 2));
  AOTC_ASSIGN_OR_RETURN(const std::vector<Expr> odd, op.IntElements(4));
  if (odd.size() != 1) return absl::InternalError("needs one count");
  const auto type = static_cast<DType>(op.attributes().Int("to"));
  AOTC_RETURN_IF_ERROR(op.Require(
      Le(odd[0], 0), StrCat("a string is no number of type ", TypeName(type), " of at most ",
                            kMostDigits, " digits and ", kMostTextBytes, " bytes")));
  const FloatLayout layout = *LayoutOfFloat(type);
  const Shape& dims = digits.shape();
  const Element bits =
      NearestFloat(op, dims, {ElementsOf(digits), ElementsOf(exponents)}, layout, table);
  const Element signed_bits = Kept(op, DType::kU64, dims, [&](const Indices& i) {
    const Expr infinite = U64(layout.infinity() << layout.fraction_bits);
    const Expr nan = infinite + U64(int64_t{1} << (layout.fraction_bits - 1));
    const Expr kind = Mod(kinds(i), 4);
    const Expr size = Select(Eq(kind, 1), infinite, Select(Eq(kind, 2), nan, bits(i)));
    const Expr sign = Cast(DType::kU64, Le(4, kinds(i)));
    return size + ShiftedLeft(sign, Expr(layout.fraction_bits + layout.exponent_bits));
  });
  op.SetOutput(0, op.b().Compute(type, dims, [&](const Indices& i) {
    return BitCast(type, Cast(layout.bits, signed_bits(i)));
  }));
  return absl::OkStatus();
}

// --- Cast ---------------------------------------------------------------------------------------

absl::Status IntegersOfStrings(Expansion& e, const StringValues& x) {
  const ValueId powers = e.Add("powers", PowersOfTenIn64Bits());
  const Expansion::NamedValues to = {{"to", e.attributes().Int("to")}};
  const ValueId odd = e.Emit("OddTexts", {x.starts, x.sizes, x.pool, powers}, to);
  e.SetOutput(0, e.Emit("DecimalNumbers", {x.starts, x.sizes, x.pool, powers, odd}, to));
  return absl::OkStatus();
}

absl::Status FloatsOfStrings(Expansion& e, const StringValues& x) {
  AOTC_ASSIGN_OR_RETURN(const Automaton automaton, RegexAutomaton(kRealPattern));
  AOTC_ASSIGN_OR_RETURN(const ValueId match, EmitAutomaton(e, x, automaton));
  const ValueId powers = e.Add("powers", PowersOfTenIn64Bits());
  const ValueId odd = e.Emit("OddReals", {x.starts, x.sizes, x.pool, powers, match});
  const std::vector<ValueId> parts =
      e.EmitSeveral("RealParts", {x.starts, x.sizes, x.pool, powers}, 3);
  const ValueId table = e.Add("wide_powers", PowersOfTenIn128Bits());
  e.SetOutput(0, e.Emit("RealNumbers", {parts[0], parts[1], parts[2], table, odd},
                        {{"to", e.attributes().Int("to")}}));
  return absl::OkStatus();
}

// Input: strings. Attribute `to`.
absl::Status NumbersOfStrings(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0, 1, 2}));
  const auto to = static_cast<DType>(e.attributes().Int("to"));
  const StringValues x = StringInput(e, 0);
  if (IsInteger(to)) return IntegersOfStrings(e, x);
  if (LayoutOfFloat(to)) return FloatsOfStrings(e, x);
  return AOTC_REFUSAL(Unimplemented,
                      StrCat("strings as numbers of type ", TypeName(to),
                             " are not supported; hint: as integers or f32 they are"));
}

constexpr OpDef kOps[] = {
    {.name = "DecimalNumbers",
     .compute = DecimalNumbers,
     .summary = "integers of their digits",
     .traits = kOwn},
    {.name = "NumbersOfStrings",
     .expand = NumbersOfStrings,
     .summary = "Cast of strings to numbers",
     .traits = kOwn},
    {.name = "OddReals",
     .compute = OddReals,
     .summary = "how many strings are no floats",
     .traits = kOwn | kCounts},
    {.name = "OddTexts",
     .compute = OddTexts,
     .summary = "how many strings are no integers of a type",
     .traits = kOwn | kCounts},
    {.name = "RealNumbers",
     .compute = RealNumbers,
     .summary = "floats of their digits and exponents",
     .traits = kOwn},
    {.name = "RealParts",
     .compute = RealParts,
     .summary = "digits and exponents of the texts of floats",
     .traits = kOwn},
};

}  // namespace

std::span<const OpDef> NumbersOfStringsOps() { return kOps; }

}  // namespace aotc
