#include "compiler/import/onnx_functions.h"

#include <set>
#include <utility>

#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// Numbers of fields that ONNX 1.12 does not know yet.
constexpr int kNodeOverload = 8;
constexpr int kFunctionOverload = 13;
constexpr int kFunctionAttributeProto = 11;

std::string Key(const std::string& domain, const std::string& name, const std::string& overload) {
  return StrCat(CanonicalDomain(domain), "\n", name, "\n", overload);
}

}  // namespace

FunctionTable::FunctionTable(const pb::ModelProto& model) {
  for (const pb::FunctionProto& function : model.functions()) {
    std::string overload = UnknownText(function.unknown_fields(), kFunctionOverload);
    std::string key = Key(function.domain(), function.name(), overload);
    if (!functions_.emplace(key, &function).second) {
      duplicates_.push_back(QualifiedOp(function.domain(), function.name()));
    }
  }
}

const pb::FunctionProto* FunctionTable::Find(const pb::NodeProto& node) const {
  if (functions_.empty()) return nullptr;
  std::string overload = UnknownText(node.unknown_fields(), kNodeOverload);
  auto found = functions_.find(Key(node.domain(), node.op_type(), overload));
  return found == functions_.end() ? nullptr : found->second;
}

absl::StatusOr<AttributeScope> FunctionTable::Bind(const pb::FunctionProto& function,
                                                   const pb::NodeProto& node,
                                                   const AttributeScope& outer) {
  AttributeScope scope;
  for (const std::string& text :
       UnknownFields(function.unknown_fields(), kFunctionAttributeProto)) {
    pb::AttributeProto with_default;
    if (!with_default.ParseFromString(text)) {
      return AOTC_REFUSAL(InvalidArgument, "a default of an attribute of the function is damaged");
    }
    std::string name = with_default.name();
    scope[name] = std::move(with_default);
  }
  AOTC_ASSIGN_OR_RETURN(std::vector<pb::AttributeProto> given, ResolveAttributes(node, outer));
  for (pb::AttributeProto& attribute : given) {
    std::string name = attribute.name();
    scope[name] = std::move(attribute);
  }
  return scope;
}

absl::StatusOr<std::vector<pb::AttributeProto>> ResolveAttributes(const pb::NodeProto& node,
                                                                  const AttributeScope& scope) {
  std::vector<pb::AttributeProto> resolved;
  std::set<std::string> names;
  for (const pb::AttributeProto& attribute : node.attribute()) {
    if (!names.insert(attribute.name()).second) {
      return AOTC_REFUSAL(InvalidArgument,
                          StrCat("attribute '", DisplayName(attribute.name()), "' is given twice"));
    }
    if (attribute.ref_attr_name().empty()) {
      resolved.push_back(attribute);
      continue;
    }
    auto found = scope.find(attribute.ref_attr_name());
    if (found == scope.end()) continue;
    resolved.push_back(found->second);
    resolved.back().set_name(attribute.name());
    resolved.back().clear_ref_attr_name();
  }
  return resolved;
}

}  // namespace aotc
