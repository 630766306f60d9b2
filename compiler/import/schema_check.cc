#include "compiler/import/schema_check.h"

#include <onnx/defs/schema.h>

#include <algorithm>

#include "compiler/import/opset.h"
#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

// Debian's ONNX 1.12 has the schemas up to here; later ones may take more inputs and fewer
// attributes.
constexpr int kNewestSchema = 17;

absl::Status CheckCount(std::string_view what, int count, int min, int max) {
  if (count >= min && count <= max) return absl::OkStatus();
  return AOTC_REFUSAL(InvalidArgument, StrCat("has ", count, " ", what, ", the op takes ", min,
                                              min == max   ? ""
                                              : max > 1000 ? " or more"
                                                           : StrCat(" to ", max)));
}

absl::Status CheckAttributes(const pb::OpSchema& schema,
                             const std::vector<pb::AttributeProto>& attributes, bool all_known) {
  for (const pb::AttributeProto& attribute : attributes) {
    auto known = schema.attributes().find(attribute.name());
    if (known == schema.attributes().end()) continue;
    const pb::AttributeProto::AttributeType kind = KindOf(attribute);
    if (kind != pb::AttributeProto::UNDEFINED && kind != known->second.type) {
      return AOTC_REFUSAL(InvalidArgument,
                          StrCat("attribute '", attribute.name(), "' is of kind ",
                                 pb::AttributeProto::AttributeType_Name(kind), ", not ",
                                 pb::AttributeProto::AttributeType_Name(known->second.type)));
    }
  }
  for (const auto& [name, known] : schema.attributes()) {
    bool given = std::any_of(attributes.begin(), attributes.end(),
                             [&](const auto& attribute) { return attribute.name() == name; });
    if (known.required && all_known && !given) {
      return AOTC_REFUSAL(InvalidArgument, StrCat("needs the attribute '", name, "'"));
    }
  }
  return absl::OkStatus();
}

const pb::GraphProto* FindGraph(const std::vector<pb::AttributeProto>& attributes,
                                std::string_view name) {
  for (const pb::AttributeProto& attribute : attributes) {
    if (attribute.name() == name && attribute.has_g()) return &attribute.g();
  }
  return nullptr;
}

absl::Status CheckArity(const std::vector<pb::AttributeProto>& attributes, const char* name,
                        int inputs, int outputs) {
  const pb::GraphProto* graph = FindGraph(attributes, name);
  if (graph == nullptr) {
    return AOTC_REFUSAL(InvalidArgument, StrCat("needs the attribute '", name, "', a graph"));
  }
  if (graph->input_size() == inputs && graph->output_size() == outputs) return absl::OkStatus();
  return AOTC_REFUSAL(InvalidArgument,
                      StrCat("its '", name, "' takes ", graph->input_size(), " inputs and gives ",
                             graph->output_size(), " outputs, not ", inputs, " and ", outputs));
}

// What a node hands to its subgraphs and takes from them. If: no inputs, the node's outputs. Loop:
// iteration, condition and state; condition, state and scan outputs. Scan: state
// and elements in both directions; before opset 9 the node had the lengths of sequences in front.
absl::Status CheckSubgraphs(const pb::NodeProto& node,
                            const std::vector<pb::AttributeProto>& attributes, int opset) {
  constexpr int kScanWithoutBatch = 9;
  const std::string& op = node.op_type();
  if (op == "If") {
    if (node.input_size() != 1 || node.input(0).empty()) {
      return AOTC_REFUSAL(InvalidArgument, "needs one input, the condition");
    }
    AOTC_RETURN_IF_ERROR(CheckArity(attributes, "then_branch", 0, node.output_size()));
    return CheckArity(attributes, "else_branch", 0, node.output_size());
  }
  if (op == "Loop") {
    return CheckArity(attributes, "body", std::max(2, node.input_size()), node.output_size() + 1);
  }
  if (op != "Scan") return absl::OkStatus();
  const int lengths = opset >= kScanWithoutBatch ? 0 : 1;
  return CheckArity(attributes, "body", node.input_size() - lengths, node.output_size());
}

}  // namespace

absl::Status CheckAgainstSchema(const pb::NodeProto& node,
                                const std::vector<pb::AttributeProto>& attributes, int opset) {
  std::string domain = CanonicalDomain(node.domain());
  if (!domain.empty()) return absl::OkStatus();
  const pb::OpSchema* schema = pb::OpSchemaRegistry::Schema(node.op_type(), opset, domain);
  if (schema == nullptr || schema->Deprecated()) return CheckSubgraphs(node, attributes, opset);
  bool exact = opset <= kNewestSchema;
  AOTC_RETURN_IF_ERROR(CheckAttributes(*schema, attributes, exact));
  AOTC_RETURN_IF_ERROR(CheckSubgraphs(node, attributes, opset));
  if (!exact) return absl::OkStatus();
  AOTC_RETURN_IF_ERROR(
      CheckCount("inputs", node.input_size(), schema->min_input(), schema->max_input()));
  return CheckCount("outputs", node.output_size(), schema->min_output(), schema->max_output());
}

bool NeedsAttribute(const pb::NodeProto& node, const pb::AttributeProto& attribute) {
  const std::string domain = CanonicalDomain(node.domain());
  if (attribute.has_g() || (domain.empty() && node.op_type() == "Constant")) return true;
  const pb::OpSchema* schema = pb::OpSchemaRegistry::Schema(node.op_type(), domain);
  if (schema == nullptr) return false;
  const auto known = schema->attributes().find(attribute.name());
  return known != schema->attributes().end() && known->second.required;
}

}  // namespace aotc
