// Cast of numbers to strings: integers by their decimal digits; floats by the fewest digits that
// tell them from their neighbours, as Schubfach finds them (Giulietti, "The Schubfach way to render
// doubles"), written as Python does: 1.0, 0.0001, 1e-05, 1.5e+16, and INF, -INF and NaN, which
// ONNX's text names. What ONNX leaves open, its evaluator decides: the fewest digits, a point.
#include "compiler/ops/compact.h"
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

// Without zeros at the end; 0 is 0 * 10^0.
Decimal WithoutZeros(OpContext& op, const Shape& dims, const Decimal& x, const Tensor& powers) {
  const Tensor zeros = op.b().Reduce(
      "max", DType::kI64, dims, {powers.dim(0)}, [&](const Indices& i, const Indices& r) {
        const Expr rest = x.digits(i) - Div(x.digits(i), powers(r)) * powers(r);
        return Select(Eq(rest, U64(0)), r[0], 0);
      });
  const auto digits = [&](const Indices& i) {
    return Div(x.digits(i), powers({Clamp(zeros(i), 0, kPowersIn64Bits - 1)}));
  };
  const auto exponent = [&](const Indices& i) {
    return Select(Eq(x.digits(i), U64(0)), 0, x.exponent(i) + zeros(i));
  };
  return {Kept(op, DType::kU64, dims, digits), Kept(op, DType::kI64, dims, exponent)};
}

Expr IsNegative(const Expr& x) {
  return IsUnsignedInteger(x.dtype()) ? Bool(false) : Lt(x, IntConst(0, x.dtype()));
}

// |x| as u64.
Expr Magnitude(const Expr& x) {
  const Expr wide = Cast(DType::kU64, x);
  return Select(IsNegative(x), U64(0) - wide, wide);
}

// x: numbers [dims], powers of ten in 64 and in 128 bits -> digits u64 [dims] and exponents
// i64 [dims]: |x| = digits * 10^exponent, or the shortest number that is x when it is read.
absl::Status NumberDigits(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor x, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(const Tensor powers, TypedInput(op, 1, DType::kU64, 1));
  AOTC_ASSIGN_OR_RETURN(const Tensor table, TypedInput(op, 2, DType::kU64, 2));
  const std::optional<FloatLayout> layout = LayoutOfFloat(x.dtype());
  if (!layout && !IsInteger(x.dtype())) {
    return AOTC_REFUSAL(Unimplemented,
                        StrCat("numbers of type ", TypeName(x.dtype()),
                               " as strings are not supported; hint: integers and f32 are"));
  }
  if (!layout) {
    op.SetOutput(0, op.b().Compute(DType::kU64, x.shape(),
                                   [&](const Indices& i) { return Magnitude(x(i)); }));
    op.SetOutput(1, op.b().Compute(DType::kI64, x.shape(), [](const Indices&) { return Expr(0); }));
    return absl::OkStatus();
  }
  const FloatParts parts = PartsOf(op, x, *layout);
  const Decimal shortest = ShortestDecimal(op, x.shape(), parts, table);
  const auto digits = [&](const Indices& i) {
    const Expr is_zero = And(Eq(parts.exponent(i), U64(0)), Eq(parts.fraction(i), U64(0)));
    return Select(is_zero, U64(0), shortest.digits(i));
  };
  const Decimal number = WithoutZeros(
      op, x.shape(), {Kept(op, DType::kU64, x.shape(), digits), shortest.exponent}, powers);
  op.SetOutput(0, op.b().Compute(DType::kU64, x.shape(), number.digits));
  op.SetOutput(1, op.b().Compute(DType::kI64, x.shape(), number.exponent));
  return absl::OkStatus();
}

// --- Texts --------------------------------------------------------------------------------------

constexpr int64_t kLeastPlain = -4, kEndOfPlain = 16;  // exponents that are written out, in Python
constexpr int64_t kSpecialSize = 3;                    // INF, NaN

// The text of each number. Behind the sign:
//   digits                                      integers
//   digits . digits                             floats whose exponent is 0 to 15
//   0 . zeros digits                            -4 to -1
//   digit . digits e sign exponent              others; without a point where there is one digit
struct NumberText {
  Tensor powers = {};  // of ten, in 64 bits
  bool is_float = false;
  Element digits = {};      // u64
  Element count = {};       // of digits
  Element exponent = {};    // of the first digit
  Element has_sign = {};    // bool, and so are those of floats
  Element is_special = {};  // INF or NaN
  Element is_nan = {};

  Expr IsPlain(const Indices& i) const {
    return And(Le(kLeastPlain, exponent(i)), Lt(exponent(i), kEndOfPlain));
  }
  Expr PlaceOfE(const Indices& i) const { return count(i) + Cast(DType::kI64, Lt(1, count(i))); }
  Expr ExponentSize(const Indices& i) const { return Max(exponent(i), -exponent(i)); }
  Expr ExponentDigits(const Indices& i) const { return Select(Lt(ExponentSize(i), 100), 2, 3); }
};

// Inputs `first` on of the node: x, digits, exponents, powers of ten in 64 bits.
absl::StatusOr<NumberText> ReadNumberText(OpContext& op, size_t first) {
  AOTC_ASSIGN_OR_RETURN(const Tensor x, op.Input(first));
  AOTC_ASSIGN_OR_RETURN(const Tensor digits, TypedInput(op, first + 1, DType::kU64, x.rank()));
  AOTC_ASSIGN_OR_RETURN(const Tensor exponents, TypedInput(op, first + 2, DType::kI64, x.rank()));
  NumberText text = {.digits = ElementsOf(digits)};
  AOTC_ASSIGN_OR_RETURN(text.powers, TypedInput(op, first + 3, DType::kU64, 1));
  const Shape& dims = x.shape();
  const Tensor count = op.b().Reduce(
      "sum", DType::kI64, dims, {text.powers.dim(0)}, [&](const Indices& i, const Indices& r) {
        return Cast(DType::kI64, Or(Eq(r[0], 0), Le(text.powers(r), digits(i))));
      });
  text.count = ElementsOf(count);
  text.exponent =
      Kept(op, DType::kI64, dims, [&](const Indices& i) { return exponents(i) + count(i) - 1; });
  const auto keep = [&](const Element& value) { return Kept(op, DType::kBool, dims, value); };
  const std::optional<FloatLayout> layout = LayoutOfFloat(x.dtype());
  text.is_float = layout.has_value();
  if (!layout) {
    text.has_sign = keep([&](const Indices& i) { return IsNegative(x(i)); });
    return text;
  }
  const FloatParts parts = PartsOf(op, x, *layout);
  text.is_special = keep([&](const Indices& i) { return parts.IsSpecial(i); });
  text.is_nan = keep([&](const Indices& i) { return parts.IsNan(i); });
  text.has_sign =
      keep([&](const Indices& i) { return And(parts.is_negative(i), Not(text.is_nan(i))); });
  return text;
}

// The texts at other indices, over `dims`, where there is one; else something.
NumberText Gathered(OpContext& op, const Shape& dims, const NumberText& from,
                    const std::function<Expr(const Indices&, const Element&)>& gather) {
  NumberText text = from;
  const auto replace = [&](DType type, Element& element) {
    if (!element) return;
    const Element whole = element;
    element = Kept(op, type, dims, [&](const Indices& i) { return gather(i, whole); });
  };
  replace(DType::kU64, text.digits);
  replace(DType::kI64, text.count);
  replace(DType::kI64, text.exponent);
  for (Element* flag : {&text.has_sign, &text.is_special, &text.is_nan}) {
    replace(DType::kBool, *flag);
  }
  return text;
}

Expr SizeOf(const NumberText& text, const Indices& i) {
  const Expr sign = Cast(DType::kI64, text.has_sign(i)), digits = text.count(i);
  if (!text.is_float) return sign + digits;
  const Expr exponent = text.exponent(i), whole = exponent + 1;
  const Expr plain =
      Select(Lt(exponent, 0), 1 - exponent + digits, whole + 1 + Max(digits - whole, 1));
  const Expr scientific = text.PlaceOfE(i) + 2 + text.ExponentDigits(i);
  const Expr number = Select(text.IsPlain(i), plain, scientific);
  return sign + Select(text.is_special(i), Expr(kSpecialSize), number);
}

// What stands at each place of texts: one place, `at` behind the sign, of one number at each index.
class TextBytes {
 public:
  TextBytes(OpContext& op, const Shape& dims, const NumberText& text, const Element& place)
      : op_(op), dims_(dims), text_(text) {
    at_ = Keep([&](const Indices& i) { return place(i) - Cast(DType::kI64, text_.has_sign(i)); });
  }

  // i64.
  Element Bytes() const {
    const Element body = text_.is_float ? FloatBytes() : Digits(at_);
    return Keep(
        [&](const Indices& i) { return Select(Lt(at_(i), 0), Expr(int64_t{'-'}), body(i)); });
  }

 private:
  Element Keep(const Element& value) const { return Kept(op_, DType::kI64, dims_, value); }

  static Expr LastDigit(const Expr& x) {
    const Expr ten = IntConst(10, x.dtype());
    return Cast(DType::kI64, x - Div(x, ten) * ten) + int64_t{'0'};
  }

  // Digit `number` of all; 0 in front of them and behind.
  Element Digits(const Element& number) const {
    return Keep([&](const Indices& i) {
      const Expr behind = text_.count(i) - 1 - number(i);
      const Expr power = text_.powers({Clamp(behind, 0, kPowersIn64Bits - 1)});
      const Expr exists = And(Le(0, number(i)), Le(0, behind));
      return Select(exists, LastDigit(Div(text_.digits(i), power)), Expr(int64_t{'0'}));
    });
  }

  Element FloatBytes() const {
    const Element plain = Plain(), scientific = Scientific();
    return Keep([&](const Indices& i) {
      const Expr number = Select(text_.IsPlain(i), plain(i), scientific(i));
      return Select(text_.is_special(i), Special(i), number);
    });
  }

  Expr Special(const Indices& i) const {
    const auto letter = [&](const char* text) {
      return Select(Eq(at_(i), 0), Expr(int64_t{text[0]}),
                    Select(Eq(at_(i), 1), Expr(int64_t{text[1]}), Expr(int64_t{text[2]})));
    };
    return Select(text_.is_nan(i), letter("NaN"), letter("INF"));
  }

  Element Plain() const {
    const Element point = Keep([&](const Indices& i) { return Max(text_.exponent(i), 0) + 1; });
    const Element digit = Digits([&](const Indices& i) {
      const Expr first = Min(text_.exponent(i), 0);  // of a number below 1, behind zeros
      return at_(i) - Cast(DType::kI64, Le(point(i), at_(i))) + first;
    });
    return Keep([&](const Indices& i) {
      return Select(Eq(at_(i), point(i)), Expr(int64_t{'.'}), digit(i));
    });
  }

  Element Scientific() const {
    const Element behind = Keep([&](const Indices& i) { return at_(i) - text_.PlaceOfE(i); });
    const Element power = Keep([&](const Indices& i) {  // of the exponent's digit behind e and sign
      const Expr digits = text_.ExponentDigits(i);
      return Select(Eq(behind(i) - 1, digits), 1, Select(Eq(behind(i), digits), 10, 100));
    });
    const Element tail = Keep([&](const Indices& i) {
      const Expr digit = LastDigit(FloorDiv(text_.ExponentSize(i), power(i)));
      const Expr sign = Select(Lt(text_.exponent(i), 0), Expr(int64_t{'-'}), Expr(int64_t{'+'}));
      return Select(Eq(behind(i), 0), Expr(int64_t{'e'}), Select(Eq(behind(i), 1), sign, digit));
    });
    const Element digit = Digits([&](const Indices& i) { return Max(at_(i) - 1, 0); });
    return Keep([&](const Indices& i) {
      const Expr is_point = And(Eq(at_(i), 1), Lt(1, text_.count(i)));
      return Select(Lt(behind(i), 0), Select(is_point, Expr(int64_t{'.'}), digit(i)), tail(i));
    });
  }

  OpContext& op_;
  const Shape dims_;
  const NumberText& text_;
  Element at_;
};

// x: numbers [dims], their digits and exponents, powers -> i64 [dims]: how many bytes their texts
// have.
absl::Status NumberTextSizes(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor x, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(const NumberText text, ReadNumberText(op, 0));
  op.SetOutput(
      0, op.b().Compute(DType::kI64, x.shape(), [&](const Indices& i) { return SizeOf(text, i); }));
  return absl::OkStatus();
}

// ends: i64 [n], total: i64 [], sizes: i64 [dims], x, its digits and exponents, powers -> u8
// [total], or of one byte: the texts. Attribute `max_string_bytes`.
absl::Status NumberTexts(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor ends, TypedInput(op, 0, DType::kI64, 1));
  AOTC_ASSIGN_OR_RETURN(const Expr count, NewPoolSize(op, 1));
  AOTC_ASSIGN_OR_RETURN(const Tensor sizes, TypedInput(op, 2, DType::kI64, 0, kAnyRank));
  AOTC_ASSIGN_OR_RETURN(const NumberText texts, ReadNumberText(op, 3));
  const Shape pool = {count};
  const Tensor before = CountAtMost(op, ends, pool, [](const Indices& byte) { return byte[0]; });
  const Element owner = Kept(op, DType::kI64, pool, [&](const Indices& byte) {
    return Clamp(before(byte), 0, ends.dim(0) - 1);
  });
  const auto of_owner = [&](const Indices& byte, const Element& element) {
    const Expr value = element(Unraveled(owner(byte), sizes.shape()));
    return Select(Lt(before(byte), ends.dim(0)), value, NumberConst(0, value.dtype()));
  };
  const NumberText text = Gathered(op, pool, texts, of_owner);
  const auto place = [&](const Indices& byte) {
    const Expr end = Select(Lt(before(byte), ends.dim(0)), ends({owner(byte)}), 0);
    return byte[0] - (end - of_owner(byte, ElementsOf(sizes)));
  };
  const Element written = TextBytes(op, pool, text, place).Bytes();
  op.SetOutput(0, op.b().Compute(DType::kU8, pool, [&](const Indices& byte) {
    return Select(Lt(before(byte), ends.dim(0)), Cast(DType::kU8, written(byte)),
                  IntConst(0, DType::kU8));
  }));
  return absl::OkStatus();
}

// Input: numbers. Outputs: strings.
absl::Status StringsOfNumbers(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0}));
  const ValueId x = e.Input(0), powers = e.Add("powers", PowersOfTenIn64Bits());
  const std::vector<ValueId> number =
      e.EmitSeveral("NumberDigits", {x, powers, e.Add("wide_powers", PowersOfTenIn128Bits())}, 2);
  const ValueId sizes = e.Emit("NumberTextSizes", {x, number[0], number[1], powers});
  const NewStrings made = EmitNewStrings(e, sizes);
  const ValueId pool =
      e.Emit("NumberTexts", {made.ends, made.total, sizes, x, number[0], number[1], powers},
             {{kMaxStringBytes, e.attributes().Int(kMaxStringBytes)}});
  SetStringOutput(e, 0, {made.starts, sizes, pool});
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "NumberDigits",
     .compute = NumberDigits,
     .summary = "decimal digits and exponents of numbers",
     .traits = kOwn},
    {.name = "NumberTextSizes",
     .compute = NumberTextSizes,
     .summary = "how many bytes the texts of numbers have",
     .traits = kOwn},
    {.name = "NumberTexts",
     .compute = NumberTexts,
     .summary = "the texts of numbers",
     .traits = kOwn},
    {.name = "StringsOfNumbers",
     .expand = StringsOfNumbers,
     .summary = "Cast of numbers to strings",
     .traits = kOwn},
};

}  // namespace

std::span<const OpDef> StringsOfNumbersOps() { return kOps; }

}  // namespace aotc
