#include "compiler/import/onnx_types.h"

#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "compiler/import/onnx_tensor.h"
#include "compiler/import/sequence_ops.h"
#include "compiler/import/size_inputs.h"
#include "compiler/import/size_limits.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"
#include "compiler/support/suggestion.h"

namespace aotc {
namespace {

using Dimension = pb::TensorShapeProto::Dimension;

class InputTypes {
 public:
  InputTypes(const MainInputs& main, const ImportOptions& options, SymbolTable& symbols,
             Diagnostics& diagnostics)
      : inputs_(main.inputs),
        bound_(main.bound),
        options_(options),
        symbols_(symbols),
        diagnostics_(diagnostics) {}

  std::vector<InputValue> Run() {
    for (const auto* input : inputs_) CollectNames(*input);
    for (const auto* input : inputs_) sizes_.Add(*input);
    for (const BoundInput& bound : bound_) CollectNames(*bound.input);
    for (const DimOption& option : options_.dims) Equate(option);
    for (const DimOption& option : options_.dims) ApplyDim(option);
    for (const ShapeOption& option : options_.shapes) ApplyShape(option);
    for (const BoundInput& bound : bound_) ApplyBound(bound);
    std::vector<InputValue> values;
    for (const auto* input : inputs_) values.push_back(ValueOf(*input));
    for (size_t i = 0; i < inputs_.size(); ++i)
      values[i].elements = sizes_.ElementsOf(*inputs_[i], symbols_);
    return values;
  }

 private:
  using AxisKey = std::pair<std::string, int>;  // input and axis

  void Error(const absl::Status& refusal, const std::string& hint = "") {
    diagnostics_.Error({}, refusal, hint);
  }

  // Of a sequence or an optional that of an item.
  static const pb::TensorShapeProto* ShapeOf(const pb::ValueInfoProto& info) {
    if (!info.has_type()) return nullptr;
    const pb::TypeProto::Tensor* tensor = &info.type().tensor_type();
    if (!info.type().has_tensor_type()) {
      const auto type = CompositeTypeOf(info.type());
      if (!type.ok() || !*type || MapFormOf((*type)->kind)) return nullptr;
      tensor = (*type)->item;
    }
    return tensor->has_shape() ? &tensor->shape() : nullptr;
  }

  const pb::ValueInfoProto* FindInput(const std::string& name) const {
    for (const auto* input : inputs_) {
      if (input->name() == name) return input;
    }
    return nullptr;
  }

  // What may have been meant by a name that is no input's.
  std::string InputHint(const std::string& meant) const {
    std::vector<std::string> names;
    for (const auto* input : inputs_) names.push_back(DisplayName(input->name()));
    return MeantOrListed(meant, names, "inputs");
  }

  void CollectNames(const pb::ValueInfoProto& input) {
    const pb::TensorShapeProto* shape = ShapeOf(input);
    if (shape == nullptr) return;
    for (const Dimension& dim : shape->dim()) {
      if (!DimText(dim).empty()) symbols_.AddKnownName(DimText(dim));
    }
    for (int axis = 0; axis < shape->dim_size(); ++axis) {
      const Dimension& dim = shape->dim(axis);
      if (!DimText(dim).empty()) names_.merge(symbols_.NamesOf(DimText(dim)));
      if (DimText(dim).empty() && !NumberOf(dim)) unnamed_.insert(AxisName(input.name(), axis));
    }
  }

  // What may have been meant by a name that is no symbol's.
  std::string SymbolHint(const std::string& meant) const {
    std::set<std::string> all = names_;
    all.insert(unnamed_.begin(), unnamed_.end());
    for (const std::string& name : sizes_.Names()) all.insert(name);
    if (all.empty()) return "the inputs have no symbolic dims";
    std::vector<std::string> shown;
    for (const std::string& name : all) shown.push_back(DisplayName(name));
    return MeantOrListed(meant, shown, "symbols");
  }

  void BindSymbol(const std::string& name, const DimBound& bound) {
    if (absl::Status status = symbols_.Bind(name, bound); !status.ok()) {
      diagnostics_.AddStatus(status);
    }
  }

  void NoSuchSymbol(const std::string& name) {
    if (options_.partial) return;
    Error(AOTC_REFUSAL(InvalidArgument, StrCat("--dim ", DisplayName(name), ": no such symbol")),
          SymbolHint(name));
  }

  // --dim NAME=OTHER, where either may be INPUT:AXIS.
  void Equate(const DimOption& option) {
    if (option.same_as.empty()) return;
    for (const std::string& name : {option.name, option.same_as}) {
      if (!names_.contains(name) && !unnamed_.contains(name)) return NoSuchSymbol(name);
    }
    symbols_.Equate(option.name, option.same_as);
  }

  // --dim NAME=..., INPUT:AXIS=... or INPUT[INDEX]=...
  void ApplyDim(const DimOption& option) {
    if (!option.same_as.empty()) return;
    const bool is_dim = names_.contains(option.name);
    if (!is_dim && sizes_.Use(option.name)) return BindSymbol(option.name, option.bound);
    if (option.bound.min < 0) {
      return Error(AOTC_REFUSAL(InvalidArgument, StrCat("--dim ", DisplayName(option.name),
                                                        ": a dim is not negative")),
                   "its least value is 0");
    }
    if (is_dim) return BindSymbol(option.name, option.bound);
    size_t colon = option.name.rfind(':');
    int axis = 0;
    bool has_axis = colon != std::string::npos &&
                    absl::SimpleAtoi(option.name.substr(colon + 1), &axis) && axis >= 0;
    const pb::ValueInfoProto* input = has_axis ? FindInput(option.name.substr(0, colon)) : nullptr;
    if (input == nullptr) {
      return NoSuchSymbol(option.name);
    }
    const pb::TensorShapeProto* shape = ShapeOf(*input);
    if (shape == nullptr || axis >= shape->dim_size()) {
      return Error(AOTC_REFUSAL(InvalidArgument, StrCat("--dim ", DisplayName(option.name),
                                                        ": the input has no axis ", axis)),
                   shape == nullptr
                       ? StrCat("--shape ", DisplayName(input->name()), "=1x3 states all")
                       : DimsHint(*shape));
    }
    ApplyAxis(*input, axis, option.bound);
  }

  void ApplyShape(const ShapeOption& option) {
    const pb::ValueInfoProto* input = FindInput(option.input);
    if (input == nullptr) {
      if (options_.partial) return;
      return Error(AOTC_REFUSAL(InvalidArgument,
                                StrCat("--shape ", DisplayName(option.input), ": no such input")),
                   InputHint(option.input));
    }
    const pb::TensorShapeProto* shape = ShapeOf(*input);
    if (shape == nullptr) {
      unranked_[option.input] = option.dims;
      return;
    }
    if (shape->dim_size() != static_cast<int>(option.dims.size())) {
      return Error(AOTC_REFUSAL(InvalidArgument, StrCat("--shape ", DisplayName(option.input),
                                                        ": the input has rank ", shape->dim_size(),
                                                        ", not ", option.dims.size())),
                   DimsHint(*shape));
    }
    for (int axis = 0; axis < shape->dim_size(); ++axis) {
      ApplyAxis(*input, axis, option.dims[static_cast<size_t>(axis)]);
    }
  }

  // The dims of a value that is bound to an input must be those that the model states, and pin the
  // symbols among them.
  void ApplyBound(const BoundInput& bound) {
    const std::string place = StrCat("--bind ", DisplayName(bound.input->name()));
    const pb::TensorShapeProto* shape = ShapeOf(*bound.input);
    if (shape == nullptr) return;
    if (shape->dim_size() != static_cast<int>(bound.dims.size())) {
      return Error(
          AOTC_REFUSAL(InvalidArgument, StrCat(place, ": the file has rank ", bound.dims.size(),
                                               ", the input rank ", shape->dim_size())),
          "reshape the array to the input's rank");
    }
    for (int axis = 0; axis < shape->dim_size(); ++axis) {
      const int64_t value = bound.dims[static_cast<size_t>(axis)];
      const std::string text = DimText(shape->dim(axis)), at = StrCat(place, ", axis ", axis);
      const std::optional<int64_t> number = NumberOf(shape->dim(axis));
      if (number && *number != value) {
        Error(AOTC_REFUSAL(InvalidArgument,
                           StrCat(at, ": the file has ", value, ", the model ", *number)),
              "bind an array of the input's shape");
      } else if (!text.empty() && symbols_.NamesOf(text).contains(text)) {
        const absl::Status status = symbols_.Bind(text, {value, value, 1});
        if (!status.ok()) Error(About(at, status), "bound inputs pin their dims");
      } else if (!text.empty()) {
        expected_.push_back({at, text, {value, value, 1}});
      }
    }
  }

  void ApplyAxis(const pb::ValueInfoProto& input, int axis, const DimBound& bound) {
    const Dimension& dim = ShapeOf(input)->dim(axis);
    std::string text = DimText(dim);
    std::string place = StrCat("input '", DisplayName(input.name()), "', axis ", axis);
    if (std::optional<int64_t> number = NumberOf(dim)) {
      if (bound.min == *number && bound.max == *number) return;
      diagnostics_.Warning({}, StrCat(place, ": the model says ", *number, ", the flag ",
                                      PrintDimBound(bound), ", which is taken"));
      overrides_[{input.name(), axis}] = bound;
    } else if (text.empty()) {
      BindSymbol(AxisName(input.name(), axis), bound);
    } else if (symbols_.NamesOf(text).contains(text)) {
      BindSymbol(text, bound);
    } else {
      expected_.push_back({place, text, bound});
    }
  }

  // How flags name an axis whose dim has no name.
  static std::string AxisName(const std::string& input, int axis) {
    return StrCat(input, ":", axis);
  }

  Expr FromBound(const std::string& name, const DimBound& bound) {
    BindSymbol(name, bound);
    return symbols_.Symbol(name);
  }

  Expr AxisDim(const pb::ValueInfoProto& input, const Dimension& dim, int axis) {
    auto found = overrides_.find({input.name(), axis});
    if (found != overrides_.end()) return FromBound(AxisName(input.name(), axis), found->second);
    if (std::optional<int64_t> number = NumberOf(dim)) return Expr(*number);
    std::string text = DimText(dim);
    return text.empty() ? symbols_.Symbol(AxisName(input.name(), axis)) : symbols_.Dim(text);
  }

  InputValue ValueOf(const pb::ValueInfoProto& input) {
    const auto type = CompositeTypeOf(input.type());
    if (type.ok() && !*type) return {.type = InputType(input)};
    absl::StatusOr<CompositeInput> parts =
        type.ok() ? PartsOf(input, **type) : absl::StatusOr<CompositeInput>(type.status());
    if (parts.ok()) return {.type = UnknownType(), .composite = *std::move(parts)};
    Error(About(StrCat("input '", DisplayName(input.name()), "'"), parts.status()));
    return {.type = UnknownType()};
  }

  absl::StatusOr<CompositeInput> PartsOf(const pb::ValueInfoProto& input,
                                         const CompositeType& type) {
    CompositeInput parts = {.kind = type.kind};
    AOTC_ASSIGN_OR_RETURN(parts.dtype, DTypeFromOnnx(type.item->elem_type()));
    const auto given = options_.max_items_of.find(input.name());
    parts.room = given == options_.max_items_of.end() ? options_.max_items : given->second;
    if (const std::optional<MapForm> map = MapFormOf(type.kind)) {
      if (!map->is_sequence && !unranked_.contains(input.name())) return parts;
      return AOTC_REFUSAL(Unimplemented,
                          "sequences of maps are not supported as inputs, and a "
                          "map has no --shape; hint: --max-items bounds its entries");
    }
    if (type.kind == BundleKind::kOptional) parts.room = 1;
    AOTC_ASSIGN_OR_RETURN(const std::vector<DimBound> bounds, ItemBounds(input));
    if (bounds.size() >= kMaxRank) {
      return AOTC_REFUSAL(Unimplemented, StrCat("its items have rank ", bounds.size(),
                                                "; less than ", kMaxRank, " is supported"));
    }
    for (const DimBound& bound : bounds) {
      parts.most.push_back(bound.max);
      parts.varies |= bound.min != bound.max;
    }
    return parts;
  }

  // What each dim of an item may be. Error: no flag and no declaration says.
  absl::StatusOr<std::vector<DimBound>> ItemBounds(const pb::ValueInfoProto& input) {
    const pb::TensorShapeProto* shape = ShapeOf(input);
    const std::string name = DisplayName(input.name());
    if (shape == nullptr) {
      if (unranked_.contains(input.name())) return unranked_.at(input.name());
      if (options_.lenient) return std::vector<DimBound>();
      return AOTC_REFUSAL(
          InvalidArgument,
          StrCat("its items have no shape; hint: give the largest one, such as --shape ", name,
                 "=0..3x0..224x0..224"));
    }
    std::vector<DimBound> bounds;
    for (int axis = 0; axis < shape->dim_size(); ++axis) {
      std::optional<DimBound> bound = ItemBound(input, axis, shape->dim(axis));
      if (!bound && options_.lenient) bound = DimBound{0, SymbolTable::kUnboundMax, 1};
      if (!bound) {
        const std::string text = DimText(shape->dim(axis));
        const std::string dim = text.empty() ? AxisName(name, axis) : DisplayName(text);
        return AOTC_REFUSAL(InvalidArgument,
                            StrCat("axis ", axis, " of its items has no maximum; hint: give ",
                                   "its range, such as --dim ", dim, "=0..8"));
      }
      bounds.push_back(*bound);
    }
    return bounds;
  }

  std::optional<DimBound> ItemBound(const pb::ValueInfoProto& input, int axis,
                                    const Dimension& dim) const {
    const auto found = overrides_.find({input.name(), axis});
    if (found != overrides_.end()) return found->second;
    if (const std::optional<int64_t> number = NumberOf(dim)) return DimBound{*number, *number, 1};
    return symbols_.BoundOf(DimText(dim).empty() ? AxisName(input.name(), axis) : DimText(dim));
  }

  ValueType InputType(const pb::ValueInfoProto& input) {
    std::string place = StrCat("input '", DisplayName(input.name()), "'");
    absl::StatusOr<ValueType> type = TypeOf(input);
    if (!type.ok()) {
      Error(About(place, type.status()));
      return UnknownType();
    }
    if (!type->ranked && !options_.lenient) {
      Error(AOTC_REFUSAL(InvalidArgument, StrCat(place, " has no shape")),
            StrCat("give --shape ", DisplayName(input.name()), "=1x3x224x224"));
    }
    CheckDims(place, *type, symbols_, diagnostics_);
    return *std::move(type);
  }

  absl::StatusOr<ValueType> TypeOf(const pb::ValueInfoProto& input) {
    if (!input.type().has_tensor_type()) {
      return AOTC_REFUSAL(InvalidArgument, "has no type, or one that is not supported");
    }
    const pb::TypeProto::Tensor& tensor = input.type().tensor_type();
    AOTC_ASSIGN_OR_RETURN(DType dtype, DTypeFromOnnx(tensor.elem_type()));
    ValueType type = TensorType(dtype, {});
    type.ranked = tensor.has_shape();
    for (int axis = 0; axis < tensor.shape().dim_size(); ++axis) {
      type.dims.push_back(AxisDim(input, tensor.shape().dim(axis), axis));
    }
    auto given = unranked_.find(input.name());
    if (type.ranked || given == unranked_.end()) return type;
    type.ranked = true;
    for (size_t axis = 0; axis < given->second.size(); ++axis) {
      std::string name = AxisName(input.name(), static_cast<int>(axis));
      type.dims.push_back(FromBound(name, given->second[axis]));
    }
    return type;
  }

 public:
  // A flag that pins a dim like "4*batch" must agree with what its symbols make of it; where those
  // are in no input that is left there is nothing to compare.
  void CheckExpected() {
    for (const Expected& expected : expected_) {
      const std::optional<Expr> dim = symbols_.ExistingDim(expected.text);
      if (!dim) continue;
      const Interval range = RangeOf(*dim, BoundsOf(symbols_.Symbols()));
      if (range.min == expected.bound.min && range.max == expected.bound.max) continue;
      Error(AOTC_REFUSAL(InvalidArgument, StrCat(expected.place, ": what is given is ",
                                                 PrintDimBound(expected.bound), ", but its dim is ",
                                                 DisplayName(expected.text))),
            "bound its symbols with --dim");
    }
  }

 private:
  struct Expected {
    std::string place;
    std::string text;
    DimBound bound;
  };

  const std::vector<const pb::ValueInfoProto*>& inputs_;
  const std::vector<BoundInput>& bound_;
  const ImportOptions& options_;
  SymbolTable& symbols_;
  Diagnostics& diagnostics_;
  std::set<std::string> names_;    // of dims
  std::set<std::string> unnamed_;  // axes, as flags name them
  SizeInputs sizes_;
  std::map<AxisKey, DimBound> overrides_;                  // of dims that the model states
  std::map<std::string, std::vector<DimBound>> unranked_;  // shapes of inputs that have none
  std::vector<Expected> expected_;
};

}  // namespace

std::vector<InputValue> ImportInputValues(const MainInputs& main, const ImportOptions& options,
                                          SymbolTable& symbols, Diagnostics& diagnostics) {
  InputTypes types(main, options, symbols, diagnostics);
  std::vector<InputValue> result = types.Run();
  types.CheckExpected();
  return result;
}

}  // namespace aotc
