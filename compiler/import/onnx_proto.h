// The ONNX schema, and what it leaves to us.
#ifndef AOTC_COMPILER_IMPORT_ONNX_PROTO_H_
#define AOTC_COMPILER_IMPORT_ONNX_PROTO_H_

#include <google/protobuf/unknown_field_set.h>
#include <onnx/onnx_pb.h>

#include <string>
#include <string_view>
#include <vector>

namespace aotc {

namespace pb = ONNX_NAMESPACE;

// Contents of the length-delimited fields with a number that the installed schema does not know
// yet, out of a message's unknown_fields().
std::vector<std::string> UnknownFields(const google::protobuf::UnknownFieldSet& fields, int number);

// The first of them, or "".
std::string UnknownText(const google::protobuf::UnknownFieldSet& fields, int number);

// A name fit for messages, comments and JSON: control characters and bytes that are not UTF-8 made
// `_`.
std::string DisplayName(std::string_view name);

// The stated kind, or the kind of the field that is set: old exporters do not state it.
pb::AttributeProto::AttributeType KindOf(const pb::AttributeProto& attribute);

// "Conv" in the domains "" and "ai.onnx", else "com.microsoft.Gelu".
std::string QualifiedOp(const std::string& domain, const std::string& op);
// "" for "ai.onnx", else the domain itself.
std::string CanonicalDomain(const std::string& domain);

}  // namespace aotc

#endif  // AOTC_COMPILER_IMPORT_ONNX_PROTO_H_
