#include "compiler/import/schema_check.h"

#include <onnx/defs/schema.h>

#include <algorithm>

#include "compiler/import/opset.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// Debian's ONNX 1.12 has the schemas up to here; later ones may take more inputs and fewer
// attributes.
constexpr int kNewestSchema = 17;

absl::Status CheckCount(std::string_view what, int count, int min, int max) {
  if (count >= min && count <= max) return absl::OkStatus();
  return absl::InvalidArgumentError(StrCat("has ", count, " ", what, ", the op takes ", min,
                                           min == max   ? ""
                                           : max > 1000 ? " or more"
                                                        : StrCat(" to ", max)));
}

absl::Status CheckAttributes(const pb::OpSchema& schema,
                             const std::vector<pb::AttributeProto>& attributes, bool all_known) {
  for (const pb::AttributeProto& attribute : attributes) {
    auto known = schema.attributes().find(attribute.name());
    if (known == schema.attributes().end()) continue;
    bool stated = attribute.type() != pb::AttributeProto::UNDEFINED;
    if (stated && attribute.type() != known->second.type) {
      return absl::InvalidArgumentError(
          StrCat("attribute '", attribute.name(), "' is of kind ",
                 pb::AttributeProto::AttributeType_Name(attribute.type()), ", not ",
                 pb::AttributeProto::AttributeType_Name(known->second.type)));
    }
  }
  for (const auto& [name, known] : schema.attributes()) {
    bool given = std::any_of(attributes.begin(), attributes.end(),
                             [&](const auto& attribute) { return attribute.name() == name; });
    if (known.required && all_known && !given) {
      return absl::InvalidArgumentError(StrCat("needs the attribute '", name, "'"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckAgainstSchema(const pb::NodeProto& node,
                                const std::vector<pb::AttributeProto>& attributes, int opset) {
  std::string domain = CanonicalDomain(node.domain());
  if (!domain.empty()) return absl::OkStatus();
  const pb::OpSchema* schema = pb::OpSchemaRegistry::Schema(node.op_type(), opset, domain);
  if (schema == nullptr || schema->Deprecated()) return absl::OkStatus();
  bool exact = opset <= kNewestSchema;
  AOTC_RETURN_IF_ERROR(CheckAttributes(*schema, attributes, exact));
  if (!exact) return absl::OkStatus();
  AOTC_RETURN_IF_ERROR(
      CheckCount("inputs", node.input_size(), schema->min_input(), schema->max_input()));
  return CheckCount("outputs", node.output_size(), schema->min_output(), schema->max_output());
}

}  // namespace aotc
