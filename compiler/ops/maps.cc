// Maps, of ai.onnx.ml (opset 1): ZipMap, DictVectorizer and CastMap. Their operands and results
// are the parts of maps (ir/bundle.h), which import/map_values.cc makes of what a model has: keys,
// and behind them the values; strings are three operands (strings.h).
//
// The keys of a map differ from one another; their order is any. Of equal ones, which the table
// does not let in, the last counts for DictVectorizer.
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ops/expansion.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/ops/strings.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// x: f32 [N, labels], or [labels] for one map -> the values of N maps, [N, labels]. Their keys are
// the labels, constants of which only the number is looked at here.
absl::Status ZipMap(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor x, TypedInput(op, 0, DType::kF32, 1, 2));
  const size_t labels = op.attributes().Ints("classlabels_int64s").size() +
                        op.attributes().Strings("classlabels_strings").size();
  AOTC_RETURN_IF_ERROR(op.RequireEqual(
      x.dim(-1), static_cast<int64_t>(labels),
      StrCat("its rows have not ", labels, " elements, one for ", "each of its labels")));
  const bool one = x.rank() == 1;
  op.SetOutput(0, op.b().Compute(DType::kF32, {one ? Expr(1) : x.dim(0), x.dim(-1)},
                                 [&](const Indices& i) { return one ? x({i[1]}) : x(i); }));
  return absl::OkStatus();
}

// Ours: the values of a map as a row. keys: i64 [entries], values [entries], wanted: i64 [count] ->
// [1, count]: the value of the last entry that has the key, else `fallback`. Where `wanted` is
// absent it is 0, 1 and so on: attribute `count` of them, or as many as entries.
absl::Status EntryValues(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor keys, TypedInput(op, 0, DType::kI64, 1));
  AOTC_ASSIGN_OR_RETURN(const Tensor values, op.Input(1));
  AOTC_RETURN_IF_ERROR(RequireRank(values, 1, 1));
  AOTC_RETURN_IF_ERROR(
      op.RequireEqual(keys.dim(0), values.dim(0), "its map has not one value for each key"));
  const Expr& entries = keys.dim(0);
  Expr count = op.attributes().Has("count") ? Expr(op.attributes().Int("count")) : entries;
  Tensor wanted;
  if (op.HasInput(2)) {
    AOTC_ASSIGN_OR_RETURN(wanted, TypedInput(op, 2, DType::kI64, 1));
    count = wanted.dim(0);
  }
  const Tensor entry = op.b().Reduce("max", DType::kI64, {count}, {entries},
                                     [&](const Indices& i, const Indices& r) {
                                       const Expr key = wanted.valid() ? wanted(i) : i[0];
                                       return Select(Eq(keys(r), key), r[0], Expr(-1));
                                     });
  const auto fallback = static_cast<double>(op.attributes().Int("fallback"));
  op.SetOutput(0, op.b().Compute(values.dtype(), {1, count}, [&](const Indices& i) {
    const Expr found = entry({i[1]});
    const Expr value = values({Clamp(found, 0, entries - 1)});
    return Select(Le(0, found), value, Number(fallback, value));
  }));
  return absl::OkStatus();
}

// Ours: keys, i64 [entries] -> how many keys are below each.
absl::Status KeyRanks(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor keys, TypedInput(op, 0, DType::kI64, 1));
  const Shape& entries = keys.shape();
  op.SetOutput(0, op.b().Reduce("sum", DType::kI64, entries, entries,
                                [&](const Indices& i, const Indices& r) {
                                  return Select(Lt(keys(r), keys(i)), Expr(1), Expr(0));
                                }));
  return absl::OkStatus();
}

// A list of strings without repetitions, and where each of the list is among them.
struct Distinct {
  std::vector<std::string> strings;
  std::vector<int64_t> places;
};

Distinct DistinctOf(const std::vector<std::string>& list) {
  Distinct result;
  std::map<std::string, int64_t> seen;
  for (const std::string& text : list) {
    const auto [found, is_new] = seen.emplace(text, static_cast<int64_t>(result.strings.size()));
    if (is_new) result.strings.push_back(text);
    result.places.push_back(found->second);
  }
  return result;
}

// How the values of a map become a row: EntryValues, or an op that is like it, of these keys.
struct Placing {
  std::string_view op = "EntryValues";
  ValueId keys = {};
  ValueId wanted = {};
  std::optional<int64_t> count = {};
};

ValueId Placed(Expansion& e, const Placing& how, ValueId values, size_t fallback = 0) {
  std::vector<ValueId> inputs = {how.keys, values};
  if (how.wanted.valid()) inputs.push_back(how.wanted);
  Expansion::NamedValues attributes = {{"fallback", static_cast<int64_t>(fallback)}};
  if (how.count) attributes.emplace_back("count", *how.count);
  return e.Emit(how.op, inputs, attributes);
}

// Output 0, of strings: those of a map, and `fallback` where it has none.
void SetPlacedStrings(Expansion& e, const Placing& how, StringValues values,
                      const std::string& fallback) {
  if (!fallback.empty()) {  // its bytes lead the pool
    const StringConstants parts = SplitStrings({fallback}, {1});
    const auto bytes = static_cast<double>(fallback.size());
    values.pool =
        e.Emit("Concat", {e.Add("fallback", parts.pool), values.pool}, {{"axis", int64_t{0}}});
    values.starts = e.Emit("Add", {values.starts, e.Number("bytes", DType::kI64, bytes)});
  }
  SetStringOutput(
      e, 0,
      {Placed(e, how, values.starts), Placed(e, how, values.sizes, fallback.size()), values.pool});
}

// Of the operands from `first` on, the values of a map.
bool HasStrings(const Expansion& e, size_t first) { return e.HasInput(first + 2); }

// The value of each word of the vocabulary, [1, words]; 0, or no text, of words that the map has
// not. What the vocabulary has not is left out, as by onnxruntime.
absl::Status DictVectorizer(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0, 1}));
  const std::vector<std::string> words = e.attributes().Strings("string_vocabulary");
  const size_t first_value = words.empty() ? 1 : kStringParts;
  AOTC_RETURN_IF_ERROR(e.RequireInputs({first_value}));
  Placing how = {.keys = e.Input(0)};
  if (words.empty()) {
    how.wanted = e.Ints("vocabulary", e.attributes().Ints("int64_vocabulary"));
  } else {
    const Distinct distinct = DistinctOf(words);
    const auto count = static_cast<int64_t>(distinct.strings.size());
    std::vector<int64_t> numbers(distinct.strings.size());
    std::iota(numbers.begin(), numbers.end(), 0);
    how.keys = e.Emit(
        "ai.onnx.ml.LabelEncoder", {e.Input(0), e.Input(1), e.Input(2)},
        {{"keys_strings", distinct.strings}, {"values_int64s", numbers}, {"default_int64", count}});
    how.wanted = e.Ints("words", distinct.places);
  }
  if (HasStrings(e, first_value)) {
    SetPlacedStrings(e, how, StringInput(e, first_value), "");
  } else {
    e.SetOutput(0, Placed(e, how, e.Input(first_value)));
  }
  return absl::OkStatus();
}

// The row of a CastMap: DENSE has its entries by ascending keys, SPARSE that of key k at place k,
// where a negative key is an error of the run; keys beyond the row are left out, as by onnxruntime.
absl::StatusOr<Placing> PlacingOf(Expansion& e) {
  const ValueId keys = e.Input(0);
  const std::string form = e.attributes().String("map_form", "DENSE");
  if (form == "DENSE") return Placing{.keys = e.Emit("KeyRanks", {keys})};
  if (form != "SPARSE") {
    return AOTC_REFUSAL(InvalidArgument, StrCat("unknown map_form '", form, "'"));
  }
  const int64_t count = e.attributes().Int("max_map", 1);
  if (count < 1) {
    return AOTC_REFUSAL(InvalidArgument, StrCat("its max_map is ", count, ", and less than 1"));
  }
  const ValueId most = e.Ints("most", {count});
  return Placing{.op = "SparseEntries", .keys = e.Emit("Min", {keys, most}), .count = count};
}

// [1, entries] or [1, max_map]. Absent entries are 0, and of strings "0.f", as onnxruntime has it.
absl::Status CastMap(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0, 1}));
  const std::string to = e.attributes().String("cast_to", "TO_FLOAT");
  if (to != "TO_FLOAT" && to != "TO_INT64" && to != "TO_STRING") {
    return AOTC_REFUSAL(InvalidArgument, StrCat("unknown cast_to '", to, "'"));
  }
  const bool has_strings = HasStrings(e, 1);
  if (has_strings != (to == "TO_STRING")) {
    return AOTC_REFUSAL(Unimplemented,
                        StrCat("makes ", has_strings ? "numbers of strings" : "strings of numbers",
                               ", which is not supported; hint: let the map have values of the ",
                               "type that cast_to names"));
  }
  AOTC_ASSIGN_OR_RETURN(const Placing how, PlacingOf(e));
  if (has_strings) {
    SetPlacedStrings(e, how, StringInput(e, 1), "0.f");
    return absl::OkStatus();
  }
  const DType type = to == "TO_INT64" ? DType::kI64 : DType::kF32;
  const ValueId values = e.Emit("Cast", {e.Input(1)}, {{"to", static_cast<int64_t>(type)}});
  e.SetOutput(0, Placed(e, how, values));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "EntryValues",
     .compute = EntryValues,
     .summary = "a map's values of the keys asked for",
     .traits = kOwn},
    {.name = "KeyRanks",
     .compute = KeyRanks,
     .summary = "how many keys of a map are below each",
     .traits = kOwn},
    {.name = "SparseEntries",
     .compute = EntryValues,
     .summary = "a map's values at the places that its keys are",
     .traits = kOwn,
     .indices = IndexOperand{.input = 0, .from_end = false, .flat = true, .inclusive = true}},
    {.name = "ai.onnx.ml.CastMap", .expand = CastMap, .summary = "a map's values by its keys"},
    {.name = "ai.onnx.ml.DictVectorizer",
     .expand = DictVectorizer,
     .summary = "a map's value for each word of a vocabulary"},
    {.name = "ai.onnx.ml.ZipMap", .compute = ZipMap, .summary = "a map from labels for each row"},
};

}  // namespace

std::span<const OpDef> MapOps() { return kOps; }

}  // namespace aotc
