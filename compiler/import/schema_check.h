// Checks nodes against the operator schemas of the installed ONNX library, as far as it knows them.
#ifndef AOTC_COMPILER_IMPORT_SCHEMA_CHECK_H_
#define AOTC_COMPILER_IMPORT_SCHEMA_CHECK_H_

#include <vector>

#include "absl/status/status.h"
#include "compiler/import/onnx_proto.h"

namespace aotc {

// Error: no op type, or the name of an op that only the compiler itself makes.
absl::Status CheckName(const pb::NodeProto& node);

// Error: an attribute of another kind than the op has, one that is missing, too few or too many
// inputs or outputs. Ops and opsets that the library does not know pass, and so do attributes it
// has not heard of.
absl::Status CheckAgainstSchema(const pb::NodeProto& node,
                                const std::vector<pb::AttributeProto>& attributes, int opset);

// Whether a node of this kind is none without the attribute: a subgraph, the value of a Constant,
// what the newest known schema requires.
bool NeedsAttribute(const pb::NodeProto& node, const pb::AttributeProto& attribute);

}  // namespace aotc

#endif  // AOTC_COMPILER_IMPORT_SCHEMA_CHECK_H_
