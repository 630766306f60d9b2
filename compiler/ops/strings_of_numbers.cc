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

Element ElementsOf(const Tensor& x) {
  return [x](const Indices& i) { return x(i); };
}

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

// How the text of each number is laid out. Behind the sign:
//   digits                                      integers
//   digits . digits                             floats whose exponent is 0 to 15
//   0 . zeros digits                            -4 to -1
//   digit . digits e sign exponent              others; without a point where there is one digit
class TextLayout {
 public:
  // Inputs `first` on of the node: x, digits, exponents, powers of ten in 64 bits.
  static absl::StatusOr<TextLayout> Read(OpContext& op, size_t first) {
    AOTC_ASSIGN_OR_RETURN(const Tensor x, op.Input(first));
    AOTC_ASSIGN_OR_RETURN(const Tensor digits, TypedInput(op, first + 1, DType::kU64, x.rank()));
    AOTC_ASSIGN_OR_RETURN(const Tensor exponents, TypedInput(op, first + 2, DType::kI64, x.rank()));
    AOTC_ASSIGN_OR_RETURN(const Tensor powers, TypedInput(op, first + 3, DType::kU64, 1));
    return TextLayout(op, x, {ElementsOf(digits), ElementsOf(exponents)}, powers);
  }

  const Shape& dims() const { return x_.shape(); }

  Expr Size(const Indices& i) const {
    const Expr sign = Cast(DType::kI64, HasSign(i)), digits = count_(i);
    if (!parts_) return sign + digits;
    const Expr whole = exponent_(i) + 1;
    const Expr plain =
        Select(Lt(exponent_(i), 0), 1 - exponent_(i) + digits, whole + 1 + Max(digits - whole, 1));
    const Expr scientific = PlaceOfE(i) + 2 + ExponentDigits(i);
    const Expr number = Select(IsPlain(i), plain, scientific);
    return sign + Select(parts_->IsSpecial(i), Expr(kSpecialSize), number);
  }

  // The byte at `place` of a text, i64.
  Expr Byte(const Indices& i, const Expr& place) const {
    const Expr at = place - Cast(DType::kI64, HasSign(i));
    const Expr unsigned_byte = parts_ ? FloatByte(i, at) : Digit(i, at);
    return Select(Lt(at, 0), Expr(int64_t{'-'}), unsigned_byte);
  }

 private:
  TextLayout(OpContext& op, const Tensor& x, Decimal number, const Tensor& powers)
      : x_(x), powers_(powers), number_(std::move(number)) {
    if (const std::optional<FloatLayout> layout = LayoutOfFloat(x.dtype())) {
      parts_ = PartsOf(op, x, *layout);
    }
    const Tensor count = op.b().Reduce(
        "sum", DType::kI64, x.shape(), {powers.dim(0)}, [&](const Indices& i, const Indices& r) {
          return Cast(DType::kI64, Or(Eq(r[0], 0), Le(powers(r), number_.digits(i))));
        });
    count_ = ElementsOf(count);
    exponent_ = Kept(op, DType::kI64, x.shape(),
                     [&](const Indices& i) { return number_.exponent(i) + count_(i) - 1; });
  }

  Expr HasSign(const Indices& i) const {
    if (!parts_) return IsNegative(x_(i));
    return And(parts_->is_negative(i), Not(parts_->IsNan(i)));
  }
  Expr IsPlain(const Indices& i) const {
    return And(Le(kLeastPlain, exponent_(i)), Lt(exponent_(i), kEndOfPlain));
  }
  Expr PlaceOfE(const Indices& i) const { return count_(i) + Cast(DType::kI64, Lt(1, count_(i))); }
  Expr ExponentSize(const Indices& i) const { return Max(exponent_(i), -exponent_(i)); }
  Expr ExponentDigits(const Indices& i) const { return Select(Lt(ExponentSize(i), 100), 2, 3); }

  static Expr LastDigit(const Expr& x) {
    const Expr ten = IntConst(10, x.dtype());
    return Cast(DType::kI64, x - Div(x, ten) * ten) + int64_t{'0'};
  }

  // Digit `at` of all; 0 in front of them and behind.
  Expr Digit(const Indices& i, const Expr& at) const {
    const Expr power = powers_({Clamp(count_(i) - 1 - at, 0, kPowersIn64Bits - 1)});
    return Select(And(Le(0, at), Lt(at, count_(i))), LastDigit(Div(number_.digits(i), power)),
                  Expr(int64_t{'0'}));
  }

  Expr FloatByte(const Indices& i, const Expr& at) const {
    const Expr number = Select(IsPlain(i), PlainByte(i, at), ScientificByte(i, at));
    return Select(parts_->IsSpecial(i), SpecialByte(i, at), number);
  }

  Expr SpecialByte(const Indices& i, const Expr& at) const {
    const auto letter = [&](const char* text) {
      return Select(Eq(at, 0), Expr(int64_t{text[0]}),
                    Select(Eq(at, 1), Expr(int64_t{text[1]}), Expr(int64_t{text[2]})));
    };
    return Select(parts_->IsNan(i), letter("NaN"), letter("INF"));
  }

  Expr PlainByte(const Indices& i, const Expr& at) const {
    const Expr point = Max(exponent_(i), 0) + 1;
    const Expr first = Min(exponent_(i), 0);  // of a number below 1, behind zeros
    const Expr digit = Select(Lt(at, point), at, at - 1) + first;
    return Select(Eq(at, point), Expr(int64_t{'.'}), Digit(i, digit));
  }

  Expr ScientificByte(const Indices& i, const Expr& at) const {
    const Expr behind = at - PlaceOfE(i);  // 0: e, 1: its sign
    const Expr power = Select(Eq(behind - 1, ExponentDigits(i)), 1,
                              Select(Eq(behind, ExponentDigits(i)), 10, 100));
    const Expr exponent = LastDigit(FloorDiv(ExponentSize(i), power));
    const Expr sign = Select(Lt(exponent_(i), 0), Expr(int64_t{'-'}), Expr(int64_t{'+'}));
    const Expr tail =
        Select(Eq(behind, 0), Expr(int64_t{'e'}), Select(Eq(behind, 1), sign, exponent));
    const Expr digit = Digit(i, Select(Eq(at, 0), at, at - 1));
    const Expr head = Select(And(Eq(at, 1), Lt(1, count_(i))), Expr(int64_t{'.'}), digit);
    return Select(Lt(behind, 0), head, tail);
  }

  Tensor x_, powers_;
  Decimal number_;
  std::optional<FloatParts> parts_;  // of floats
  Element count_;                    // of digits
  Element exponent_;                 // of the first digit
};

// x: numbers [dims], their digits and exponents, powers -> i64 [dims]: how many bytes their texts
// have.
absl::Status NumberTextSizes(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const TextLayout text, TextLayout::Read(op, 0));
  op.SetOutput(
      0, op.b().Compute(DType::kI64, text.dims(), [&](const Indices& i) { return text.Size(i); }));
  return absl::OkStatus();
}

// ends: i64 [n], total: i64 [], sizes: i64 [dims], x, its digits and exponents, powers -> u8
// [total], or of one byte: the texts. Attribute `max_string_bytes`.
absl::Status NumberTexts(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor ends, TypedInput(op, 0, DType::kI64, 1));
  AOTC_ASSIGN_OR_RETURN(const Expr count, NewPoolSize(op, 1));
  AOTC_ASSIGN_OR_RETURN(const Tensor sizes, TypedInput(op, 2, DType::kI64, 0, kAnyRank));
  AOTC_ASSIGN_OR_RETURN(const TextLayout text, TextLayout::Read(op, 3));
  const Shape pool = {count};
  const Tensor before = CountAtMost(op, ends, pool, [](const Indices& byte) { return byte[0]; });
  op.SetOutput(0, op.b().Compute(DType::kU8, pool, [&](const Indices& byte) {
    const Expr owner = Clamp(before(byte), 0, ends.dim(0) - 1);
    const Indices at = Unraveled(owner, sizes.shape());
    const Expr place = byte[0] - (ends({owner}) - sizes(at));
    const Expr written = Cast(DType::kU8, text.Byte(at, place));
    return Select(Lt(before(byte), ends.dim(0)), written, IntConst(0, DType::kU8));
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
