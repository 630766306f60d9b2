// AttributeProto to the values of Attributes and to constants.
#include <cstring>
#include <optional>
#include <utility>

#include "compiler/import/graph_importer.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

Constant FloatsConstant(const std::vector<float>& values, std::vector<int64_t> dims) {
  std::vector<uint8_t> bytes(values.size() * sizeof(float));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return Constant::Dense(DType::kF32, std::move(dims), std::move(bytes));
}

std::optional<Constant> PlainConstant(const std::string& name, const AttributeValue& value) {
  if ((name == "value" || name == "sparse_value") && std::holds_alternative<Constant>(value))
    return std::get<Constant>(value);
  if (name == "value_int" && std::holds_alternative<int64_t>(value)) {
    return Constant::SplatInt(DType::kI64, {}, std::get<int64_t>(value));
  }
  if (name == "value_float" && std::holds_alternative<float>(value)) {
    return FloatsConstant({std::get<float>(value)}, {});
  }
  if (name == "value_string" && std::holds_alternative<std::string>(value)) {
    return Constant::Strings({}, {std::get<std::string>(value)});
  }
  if (const auto* ints = std::get_if<std::vector<int64_t>>(&value); ints && name == "value_ints") {
    return Constant::Ints(*ints);
  }
  const auto* floats = std::get_if<std::vector<float>>(&value);
  if (floats != nullptr && name == "value_floats") {
    return FloatsConstant(*floats, {static_cast<int64_t>(floats->size())});
  }
  const auto* strings = std::get_if<std::vector<std::string>>(&value);
  if (strings != nullptr && name == "value_strings") {
    return Constant::Strings({static_cast<int64_t>(strings->size())}, *strings);
  }
  return std::nullopt;
}

}  // namespace

pb::AttributeProto::AttributeType KindOf(const pb::AttributeProto& attribute) {
  if (attribute.type() != pb::AttributeProto::UNDEFINED) return attribute.type();
  if (attribute.has_f()) return pb::AttributeProto::FLOAT;
  if (attribute.has_i()) return pb::AttributeProto::INT;
  if (attribute.has_s()) return pb::AttributeProto::STRING;
  if (attribute.has_t()) return pb::AttributeProto::TENSOR;
  if (attribute.has_sparse_tensor()) return pb::AttributeProto::SPARSE_TENSOR;
  if (attribute.floats_size() > 0) return pb::AttributeProto::FLOATS;
  if (attribute.ints_size() > 0) return pb::AttributeProto::INTS;
  if (attribute.strings_size() > 0) return pb::AttributeProto::STRINGS;
  return pb::AttributeProto::UNDEFINED;
}

absl::StatusOr<AttributeValue> AttributeOf(const pb::AttributeProto& attribute,
                                           TensorReader& tensors) {
  switch (KindOf(attribute)) {
    case pb::AttributeProto::FLOAT: return attribute.f();
    case pb::AttributeProto::INT: return attribute.i();
    case pb::AttributeProto::STRING: return attribute.s();
    case pb::AttributeProto::TENSOR: {
      AOTC_ASSIGN_OR_RETURN(Constant constant, tensors.Read(attribute.t()));
      return constant;
    }
    case pb::AttributeProto::FLOATS:
      return std::vector<float>(attribute.floats().begin(), attribute.floats().end());
    case pb::AttributeProto::INTS:
      return std::vector<int64_t>(attribute.ints().begin(), attribute.ints().end());
    case pb::AttributeProto::STRINGS:
      return std::vector<std::string>(attribute.strings().begin(), attribute.strings().end());
    case pb::AttributeProto::SPARSE_TENSOR: {
      AOTC_ASSIGN_OR_RETURN(Constant constant, tensors.ReadSparse(attribute.sparse_tensor()));
      return constant;
    }
    default: return AOTC_REFUSAL(Unimplemented, "this kind of attribute is not supported");
  }
}

absl::StatusOr<Constant> ConstantOf(const std::vector<pb::AttributeProto>& attributes,
                                    TensorReader& tensors) {
  std::optional<Constant> constant;
  for (const pb::AttributeProto& attribute : attributes) {
    AOTC_ASSIGN_OR_RETURN(AttributeValue value, AttributeOf(attribute, tensors));
    std::optional<Constant> found = PlainConstant(attribute.name(), value);
    if (!found) {
      return AOTC_REFUSAL(InvalidArgument, StrCat("attribute '", DisplayName(attribute.name()),
                                                  "' is no value of a constant"));
    }
    if (constant) return AOTC_REFUSAL(InvalidArgument, "states two values");
    constant = std::move(found);
  }
  if (!constant) return AOTC_REFUSAL(InvalidArgument, "states no value");
  return *std::move(constant);
}

}  // namespace aotc
