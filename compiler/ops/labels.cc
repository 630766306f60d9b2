// Encoders of labels, of ai.onnx.ml: LabelEncoder (opset 1 to 4), CategoryMapper and OneHotEncoder
// (opset 1). Strings are three operands or results each (strings.h).
//
// Keys that are numbers are found by bisection: for K keys one stage for each bit of K, each a read
// of a key. Those that are strings are found by an automaton.
#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>

#include "compiler/ops/compact.h"
#include "compiler/ops/expansion.h"
#include "compiler/ops/helpers.h"
#include "compiler/ops/registry.h"
#include "compiler/ops/strings.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// Ours: the place of each element of input 0 among the keys, input 1, which ascend, i64; the number
// of keys where it is not among them. Attribute `nan` is the place of NaN.
absl::Status SortedPlaces(OpContext& op) {
  AOTC_ASSIGN_OR_RETURN(const Tensor x, op.Input(0));
  AOTC_ASSIGN_OR_RETURN(const Tensor keys, op.Input(1));
  AOTC_RETURN_IF_ERROR(RequireNumber(x));
  AOTC_RETURN_IF_ERROR(RequireSameType({x, keys}));
  AOTC_RETURN_IF_ERROR(RequireRank(keys, 1, 1));
  const std::optional<int64_t> count = keys.dim(0).AsInt();
  if (count.value_or(0) < 1) return absl::InternalError("needs keys, of known number");
  const Expr last = *count - 1;
  Tensor place = op.b().Compute(DType::kI64, x.shape(), [](const Indices&) { return Expr(0); });
  for (auto step = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(*count))); step > 0;
       step /= 2) {
    place = op.b().Compute(DType::kI64, x.shape(), [&](const Indices& i) {
      const Expr next = place(i) + step;
      const Expr reached = And(Le(next, last), Le(keys({Clamp(next, 0, last)}), x(i)));
      return Select(reached, next, place(i));
    });
  }
  op.SetOutput(0, op.b().Compute(DType::kI64, x.shape(), [&](const Indices& i) {
    const Expr found = Eq(keys({Clamp(place(i), 0, last)}), x(i));
    Expr result = Select(found, place(i), Expr(*count));
    if (!IsFloat(x.dtype()) || !op.attributes().Has("nan")) return result;
    return Select(Unary(ExprOp::kIsNan, x(i)), Expr(op.attributes().Int("nan")), result);
  }));
  return absl::OkStatus();
}

Constant ListOf(const std::vector<float>& values) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
  return Constant::Dense(DType::kF32, {static_cast<int64_t>(values.size())},
                         {bytes, bytes + values.size() * sizeof(float)});
}

const Constant* TensorAttribute(const Attributes& attributes, std::string_view name) {
  const AttributeValue* found = attributes.Find(name);
  return found == nullptr ? nullptr : std::get_if<Constant>(found);
}

Constant ListOf(const std::vector<std::string>& values) {
  return Constant::Strings({static_cast<int64_t>(values.size())}, values);
}

// <what>_int64s, <what>_floats, <what>_strings or <what>_tensor.
absl::StatusOr<Constant> ListAttribute(const Attributes& attributes, std::string_view what) {
  if (const Constant* tensor = TensorAttribute(attributes, StrCat(what, "_tensor"))) {
    if (tensor->dtype() == DType::kString) return ListOf(tensor->strings());
    return tensor->Reshaped({tensor->element_count()});
  }
  if (attributes.Has(StrCat(what, "_strings"))) {
    return ListOf(attributes.Strings(StrCat(what, "_strings")));
  }
  if (attributes.Has(StrCat(what, "_floats"))) {
    return ListOf(attributes.Floats(StrCat(what, "_floats")));
  }
  if (attributes.Has(StrCat(what, "_int64s"))) {
    return Constant::Ints(attributes.Ints(StrCat(what, "_int64s")));
  }
  return AOTC_REFUSAL(InvalidArgument, StrCat("has no ", what));
}

// What an element without a key becomes, in the type of the values.
absl::StatusOr<Constant> DefaultOf(const Attributes& attributes, DType type) {
  const Constant* tensor = TensorAttribute(attributes, "default_tensor");
  if (tensor != nullptr && tensor->dtype() == type && tensor->element_count() == 1) {
    return type == DType::kString ? ListOf(tensor->strings()) : tensor->Reshaped({1});
  }
  if (tensor != nullptr) {
    return AOTC_REFUSAL(InvalidArgument,
                        "default_tensor is not one element of the type of the values");
  }
  if (type == DType::kString) {
    return ListOf(std::vector{attributes.String("default_string", "_Unused")});
  }
  if (!IsFloat(type)) return Constant::SplatInt(type, {1}, attributes.Int("default_int64", -1));
  return Constant::Splat(type, {1}, attributes.Float("default_float", -0.0F));
}

absl::Status RepeatedKey() {
  return AOTC_REFUSAL(
      Unimplemented,
      "a key is repeated: the standard takes its last value and onnxruntime its first");
}

struct Keys {
  Constant sorted;             // without NaN
  std::vector<int64_t> order;  // the place of each in the list of keys
  std::optional<int64_t> nan;  // its place there
  bool repeated = false;
};

// Of equal keys the last one counts.
Keys SortKeys(const Constant& keys) {
  Keys result;
  const bool floats = IsFloat(keys.dtype());
  std::vector<int64_t> order;
  for (int64_t i = 0; i < keys.element_count(); ++i) {
    const bool is_nan = floats && std::isnan(keys.FloatAt(i));
    if (!is_nan) order.push_back(i);
    if (!is_nan) continue;
    result.repeated |= result.nan.has_value();
    result.nan = i;
  }
  auto below = [&](int64_t a, int64_t b) {
    return floats ? keys.FloatAt(a) < keys.FloatAt(b) : keys.IntAt(a) < keys.IntAt(b);
  };
  std::ranges::stable_sort(order, below);
  for (int64_t i : order) {
    const bool again = !result.order.empty() && !below(result.order.back(), i);
    if (!again) result.order.push_back(i);
    if (again) result.order.back() = i;
    result.repeated |= again;
  }
  std::vector<uint8_t> bytes;
  const Constant dense = keys.Expanded();
  const auto width = static_cast<size_t>(ByteWidth(keys.dtype()));
  for (int64_t i : result.order) {
    const auto from = dense.bytes().begin() + static_cast<int64_t>(width) * i;
    bytes.insert(bytes.end(), from, from + static_cast<int64_t>(width));
  }
  result.sorted = Constant::Dense(keys.dtype(), {static_cast<int64_t>(result.order.size())}, bytes);
  return result;
}

// The place of each number in the list of keys, and the number of keys where it is not there.
ValueId NumberPlaces(Expansion& e, const Constant& keys, const Keys& sorted, ValueId x) {
  std::vector<int64_t> order = sorted.order;
  Constant ascending = sorted.sorted;
  if (order.empty()) {  // no key but NaN: one that stands for none
    order.push_back(keys.element_count());
    ascending = Constant::Splat(keys.dtype(), {1}, 0).Expanded();
  }
  const auto count = static_cast<int64_t>(order.size());
  order.push_back(keys.element_count());
  order.push_back(sorted.nan.value_or(keys.element_count()));
  const ValueId place = e.Emit("SortedPlaces", {x, e.Add("keys", ascending)}, {{"nan", count + 1}});
  return e.Emit("Gather", {e.Ints("order", order), place});
}

absl::Status RequireDistinct(const std::vector<std::string>& keys) {
  std::set<std::string> seen;
  for (const std::string& key : keys) {
    if (!seen.insert(key).second) return RepeatedKey();
  }
  return absl::OkStatus();
}

// The place of each element of input 0 in the list of keys; the number of keys where it is not
// there.
absl::StatusOr<ValueId> Places(Expansion& e, const Constant& keys) {
  if (keys.dtype() == DType::kString) {
    AOTC_RETURN_IF_ERROR(e.RequireInputs({0, 1, 2}));
    AOTC_RETURN_IF_ERROR(RequireDistinct(keys.strings()));
    AOTC_ASSIGN_OR_RETURN(const Automaton automaton, DictionaryAutomaton(keys.strings()));
    return EmitAutomaton(e, StringInput(e, 0), automaton);
  }
  const Keys sorted = SortKeys(keys);
  if (sorted.repeated) return RepeatedKey();
  return NumberPlaces(e, keys, sorted, e.Input(0));
}

// The elements of `values`, and `fallback` behind them, at these places.
void SetValues(Expansion& e, const Constant& values, const Constant& fallback, ValueId places) {
  if (values.dtype() == DType::kString) {
    std::vector<std::string> all = values.strings();
    all.push_back(fallback.strings()[0]);
    const StringValues list = AddStrings(e, "values", all, {static_cast<int64_t>(all.size())});
    const ValueId starts = EmitPicked(e, list.starts, places);
    SetStringOutput(e, 0, {starts, EmitPicked(e, list.sizes, places), list.pool});
    return;
  }
  const ValueId table = e.Emit("Concat", {e.Add("values", values), e.Add("default", fallback)},
                               {{"axis", int64_t{0}}});
  e.SetOutput(0, e.Emit("Gather", {table, places}));
}

absl::Status Encode(Expansion& e, const Constant& keys, const Constant& values) {
  if (keys.element_count() != values.element_count()) {
    return AOTC_REFUSAL(InvalidArgument, StrCat("has ", keys.element_count(), " keys and ",
                                                values.element_count(), " values"));
  }
  AOTC_ASSIGN_OR_RETURN(const Constant fallback, DefaultOf(e.attributes(), values.dtype()));
  AOTC_ASSIGN_OR_RETURN(const ValueId places, Places(e, keys));
  SetValues(e, values, fallback, places);
  return absl::OkStatus();
}

Constant Numbered(int64_t count) {
  std::vector<int64_t> numbers(static_cast<size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return Constant::Ints(numbers);
}

absl::Status LabelEncoder(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0}));
  // Of opset 1: strings and their places, either way.
  if (e.attributes().Has("classes_strings")) {
    const Constant strings = ListOf(e.attributes().Strings("classes_strings"));
    const Constant numbers = Numbered(strings.element_count());
    return e.HasInput(1) ? Encode(e, strings, numbers) : Encode(e, numbers, strings);
  }
  AOTC_ASSIGN_OR_RETURN(const Constant keys, ListAttribute(e.attributes(), "keys"));
  AOTC_ASSIGN_OR_RETURN(const Constant values, ListAttribute(e.attributes(), "values"));
  return Encode(e, keys, values);
}

// Between strings and integers, from whichever the input is.
absl::Status CategoryMapper(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0}));
  if (!e.attributes().Has("cats_strings")) {
    return AOTC_REFUSAL(InvalidArgument, "has no cats_strings");
  }
  const Constant names = ListOf(e.attributes().Strings("cats_strings"));
  const Constant numbers = Constant::Ints(e.attributes().Ints("cats_int64s"));
  return e.HasInput(1) ? Encode(e, names, numbers) : Encode(e, numbers, names);
}

// f32 [..., categories]. Without attribute `zeros` an element has to be of a category: its place is
// then an index, which the run checks.
absl::Status OneHotEncoder(Rebuilder& rebuilder, const Node& node) {
  Expansion e(rebuilder, node);
  AOTC_RETURN_IF_ERROR(e.RequireInputs({0}));
  const std::vector<int64_t> categories = e.attributes().Ints("cats_int64s");
  const std::vector<std::string> names = e.attributes().Strings("cats_strings");
  ValueId places;
  auto count = static_cast<int64_t>(categories.size());
  if (!names.empty()) {
    count = static_cast<int64_t>(names.size());
    AOTC_ASSIGN_OR_RETURN(places, Places(e, ListOf(names)));
  } else if (!categories.empty()) {
    const ValueId x = e.Emit("Cast", {e.Input(0)}, {{"to", static_cast<int64_t>(DType::kI64)}});
    const Constant keys = Constant::Ints(categories);
    places = NumberPlaces(e, keys, SortKeys(keys), x);
  } else {
    return AOTC_REFUSAL(InvalidArgument, "has no categories");
  }
  if (e.attributes().Int("zeros", 1) == 0) {
    places = e.Emit("Gather", {e.Add("numbers", Numbered(count)), places});
  }
  e.SetOutput(0, e.Emit("OneHot", {places, e.Ints("count", {count}),
                                   e.Numbers("off_on", DType::kF32, {2}, {0, 1})}));
  return absl::OkStatus();
}

constexpr OpDef kOps[] = {
    {.name = "ai.onnx.ml.CategoryMapper",
     .expand = CategoryMapper,
     .summary = "integers for strings, or strings for integers"},
    {.name = "SortedPlaces",
     .compute = SortedPlaces,
     .summary = "where elements are among keys that ascend",
     .traits = kOwn},
    {.name = "ai.onnx.ml.LabelEncoder", .expand = LabelEncoder, .summary = "a value for each key"},
    {.name = "ai.onnx.ml.OneHotEncoder",
     .expand = OneHotEncoder,
     .summary = "1 at the place of the category, else 0"},
};

}  // namespace

std::span<const OpDef> LabelOps() { return kOps; }

}  // namespace aotc
