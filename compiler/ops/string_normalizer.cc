// StringNormalizer, opset 10: stop words go, letters are put in one case.
//
// Which case a letter has follows from Unicode alone; the locale is not looked at. A letter may
// take another number of bytes in its other case: the whole pool is written anew, and starts and
// sizes follow from how many bytes come before each byte of it.
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ops/compact.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/ops/strings.h"
#include "compiler/ops/unicode_case.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"

namespace aotc {
namespace {

// The letters of a pool in another case: inputs pool, pages and deltas (CaseTable).
struct CaseMap {
  Tensor pool = {}, pages = {}, deltas = {};

  static absl::StatusOr<CaseMap> Read(OpContext& op, size_t first) {
    CaseMap map;
    AOTC_ASSIGN_OR_RETURN(map.pool, TypedInput(op, 0, DType::kU8, 1));
    AOTC_ASSIGN_OR_RETURN(map.pages, TypedInput(op, first, DType::kU8, 1));
    AOTC_ASSIGN_OR_RETURN(map.deltas, TypedInput(op, first + 1, DType::kI64, 1));
    return map;
  }

  // As an i64.
  Expr Byte(const Expr& at) const {
    return Cast(DType::kI64, pool({Clamp(at, 0, pool.dim(0) - 1)}));
  }

  // How many bytes the character takes that begins at a byte; 0 where none begins.
  Expr Length(const Expr& at) const {
    const Expr lead = Byte(at);
    const Expr more = Select(Lt(lead, 0xE0), Expr(2), Select(Lt(lead, 0xF0), Expr(3), Expr(4)));
    return Select(Lt(lead, 0x80), Expr(1), Select(Lt(lead, 0xC0), Expr(0), more));
  }

  // The code point of the character that begins there.
  Expr Code(const Expr& at) const {
    const Expr lead = Byte(at), length = Length(at);
    const auto tail = [&](int64_t k) { return Mod(Byte(at + k), 64); };
    const Expr two = Mod(lead, 32) * 64 + tail(1);
    const Expr three = (Mod(lead, 16) * 64 + tail(1)) * 64 + tail(2);
    const Expr four = ((Mod(lead, 8) * 64 + tail(1)) * 64 + tail(2)) * 64 + tail(3);
    return Select(Le(length, 1), lead,
                  Select(Eq(length, 2), two, Select(Eq(length, 3), three, four)));
  }

  // In the other case.
  Expr Mapped(const Expr& code) const {
    const Expr number = Clamp(FloorDiv(code, kCasePage), 0, pages.dim(0) - 1);
    const Expr page = Cast(DType::kI64, pages({number}));
    const Expr place = Clamp(page * kCasePage + Mod(code, kCasePage), 0, deltas.dim(0) - 1);
    return code + Cast(DType::kI64, deltas({place}));
  }
};

// How many bytes UTF-8 takes for a code point.
Expr EncodedLength(const Expr& code) {
  const Expr more = Select(Lt(code, 0x800), Expr(2), Select(Lt(code, 0x10000), Expr(3), Expr(4)));
  return Select(Lt(code, 0x80), Expr(1), more);
}

// pool, pages, deltas -> codes i64 [bytes], of the character that begins at each byte in the other
// case, and the bytes that it takes then, 0 where none begins.
absl::Status CaseCodes(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const CaseMap map, CaseMap::Read(op, 1));
  const Shape all = map.pool.shape();
  const Tensor codes = op.b().Compute(DType::kI64, all,
                                      [&](const Indices& i) { return map.Mapped(map.Code(i[0])); });
  op.SetOutput(0, codes);
  op.SetOutput(1, op.b().Compute(DType::kI64, all, [&](const Indices& i) {
    return Select(Eq(map.Length(i[0]), 0), Expr(0), EncodedLength(codes(i)));
  }));
  return absl::OkStatus();
}

// codes, lengths, ends: i64 [bytes], total: i64 [] -> the pool of these characters.
absl::Status EncodedBytes(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor codes, TypedInput(op, 0, DType::kI64, 1));
  AOTC_ASSIGN_OR_RETURN(const Tensor lengths, TypedInput(op, 1, DType::kI64, 1));
  AOTC_ASSIGN_OR_RETURN(const Tensor ends, TypedInput(op, 2, DType::kI64, 1));
  AOTC_ASSIGN_OR_RETURN(const Expr size, NewPoolSize(op, 3));
  const Shape pool = {size};
  const Tensor before = CountAtMost(op, ends, pool, [](const Indices& i) { return i[0]; });
  op.SetOutput(0, op.b().Compute(DType::kU8, pool, [&](const Indices& i) {
    const Expr at = Clamp(before(i), 0, ends.dim(0) - 1);
    const Expr code = codes({at}), length = lengths({at});
    const Expr left = Clamp(ends({at}) - 1 - i[0], 0, 3);  // bytes of the character behind it
    const Expr shift = Select(
        Eq(left, 0), Expr(1),
        Select(Eq(left, 1), Expr(64), Select(Eq(left, 2), Expr(64 * 64), Expr(64 * 64 * 64))));
    const Expr bits = FloorDiv(code, shift);
    const Expr mark =
        Select(Eq(length, 2), Expr(0xC0), Select(Eq(length, 3), Expr(0xE0), Expr(0xF0)));
    const Expr is_first = Eq(left, length - 1);
    const Expr byte = Select(is_first, mark + bits, Mod(bits, 64) + 0x80);
    return Cast(DType::kU8, Select(Eq(length, 1), code, byte));
  }));
  return absl::OkStatus();
}

// ends: i64 [bytes] of what each byte of a pool became, starts and sizes: i64 [dims] in the old
// pool -> both in the new one.
absl::Status MovedStrings(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor ends, TypedInput(op, 0, DType::kI64, 1));
  AOTC_ASSIGN_OR_RETURN(const Tensor sizes, TypedInput(op, 2, DType::kI64, 0, kAnyRank));
  AOTC_ASSIGN_OR_RETURN(const Tensor starts, TypedInput(op, 1, DType::kI64, sizes.rank()));
  const auto moved = [&](const Expr& at) {
    return Select(Le(at, 0), Expr(0), ends({Clamp(at - 1, 0, ends.dim(0) - 1)}));
  };
  const Shape& dims = starts.shape();
  op.SetOutput(
      0, op.b().Compute(DType::kI64, dims, [&](const Indices& i) { return moved(starts(i)); }));
  op.SetOutput(1, op.b().Compute(DType::kI64, dims, [&](const Indices& i) {
    return moved(starts(i) + sizes(i)) - moved(starts(i));
  }));
  return absl::OkStatus();
}

StringValues EmitCase(Expansion& e, const StringValues& x, const CaseTable& table) {
  const auto pages = static_cast<int64_t>(table.pages().size());
  const std::vector<int64_t> wide(table.deltas().begin(), table.deltas().end());
  const ValueId page_list = e.Add("pages", Constant::Dense(DType::kU8, {pages}, table.pages()));
  const std::vector<ValueId> mapped =
      e.EmitSeveral("CaseCodes", {x.pool, page_list, e.Ints("deltas", wide)}, 2);
  const NewStrings made = EmitNewStrings(e, mapped[1]);
  const ValueId pool = e.Emit("EncodedBytes", {mapped[0], mapped[1], made.ends, made.total},
                              {{kMaxStringBytes, e.attributes().Int(kMaxStringBytes)}});
  const std::vector<ValueId> moved =
      e.EmitSeveral("MovedStrings", {made.ends, x.starts, x.sizes}, 2);
  return {moved[0], moved[1], pool};
}

// flags: bool [n] -> bool [n + 1]: with one more, which is set where no other is.
ValueId WithFallback(Expansion& e, ValueId flags) {
  const ValueId axes = e.Ints("count_axis", {0});
  const ValueId count = e.Emit("Reshape", {e.Emit("CountTrue", {flags}), e.Ints("one", {1})});
  const ValueId none = e.Emit("Equal", {count, axes});
  return e.Emit("Concat", {flags, none}, {{"axis", int64_t{0}}});
}

// The strings that are none of the stop words, which `compared` are looked for; where none is left
// one without bytes. x is [c] or [1, c].
absl::StatusOr<StringValues> EmitWithoutStopWords(Expansion& e, const StringValues& compared,
                                                  const StringValues& x,
                                                  const std::vector<std::string>& words) {
  AOTC_ASSIGN_OR_RETURN(const Automaton automaton, DictionaryAutomaton(words));
  AOTC_ASSIGN_OR_RETURN(const ValueId place, EmitAutomaton(e, compared, automaton));
  const ValueId none = e.Number("no_word", DType::kI64, static_cast<double>(words.size()));
  const auto flat = [&](ValueId of) { return e.Emit("Reshape", {of, e.Ints("flat", {-1})}); };
  const ValueId kept = flat(e.Emit("Equal", {place, none}));
  const ValueId places = EmitTruePlaces(e, WithFallback(e, kept));
  const ValueId front =
      e.Emit("Slice", {e.Emit("Shape", {x.sizes}), e.Ints("from", {0}), e.Ints("to", {-1})});
  const ValueId dims = e.Emit("Concat", {front, e.Ints("rest", {-1})}, {{"axis", int64_t{0}}});
  const auto chosen = [&](ValueId part) {
    const ValueId with_empty =
        e.Emit("Concat", {flat(part), e.Ints("empty", {0})}, {{"axis", int64_t{0}}});
    return e.Emit("Reshape", {EmitPicked(e, with_empty, places), dims});
  };
  return StringValues{chosen(x.starts), chosen(x.sizes), x.pool};
}

absl::Status StringNormalizer(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0, 1, 2}));
  const StringValues x = StringInput(e, 0);
  const std::string action = e.attributes().String("case_change_action", "NONE");
  if (action != "NONE" && action != "LOWER" && action != "UPPER") {
    return AOTC_REFUSAL(InvalidArgument, "case_change_action is not NONE, LOWER or UPPER");
  }
  std::vector<std::string> words = e.attributes().Strings("stopwords");
  const bool by_case = e.attributes().Int("is_case_sensitive") != 0;
  const bool changes = action != "NONE";
  const CaseTable table(action == "UPPER" ? Case::kUpper : Case::kLower);
  const bool needs_case = changes || (!by_case && !words.empty());
  const StringValues in_case = needs_case ? EmitCase(e, x, table) : x;
  StringValues result = changes ? in_case : x;
  if (!words.empty()) {
    for (std::string& word : words) word = by_case ? word : table.Of(word);
    AOTC_ASSIGN_OR_RETURN(result, EmitWithoutStopWords(e, by_case ? x : in_case, result, words));
  }
  SetStringOutput(e, 0, result);
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "CaseCodes",
     .compute = CaseCodes,
     .summary = "the characters of strings in the other case",
     .traits = kOwn},
    {.name = "EncodedBytes",
     .compute = EncodedBytes,
     .summary = "characters as bytes of UTF-8",
     .traits = kOwn},
    {.name = "MovedStrings",
     .compute = MovedStrings,
     .summary = "where strings are once each of their bytes has become some",
     .traits = kOwn},
    {.name = "StringNormalizer",
     .expand = StringNormalizer,
     .summary = "strings without stop words, in one case"},
};

}  // namespace

std::span<const OpDef> StringNormalizerOps() { return kOps; }

}  // namespace aotc
