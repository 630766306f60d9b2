// What editing a model is made of: tensors to messages, the parts of a graph that nodes need.
#ifndef AOTC_COMPILER_IMPORT_MODEL_PARTS_H_
#define AOTC_COMPILER_IMPORT_MODEL_PARTS_H_

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "compiler/import/editable_model.h"
#include "compiler/import/onnx_proto.h"

namespace aotc {

// The same tensor with raw values.
pb::TensorProto ProtoOf(const std::string& name, const Constant& constant);

// All tensors of a model, those of subgraphs, attributes and functions too.
void ForEachTensor(pb::ModelProto& model, const std::function<void(pb::TensorProto&)>& visit);

// The graph of some of the nodes; see EditableModel::KeepNodes.
pb::GraphProto CutGraph(const pb::GraphProto& graph, const std::vector<int>& nodes,
                        const ValueFacts& facts);

// Puts the nodes of a branch in the place of an If, which is the node of this index.
void InlineBranch(pb::GraphProto& graph, int node, const pb::GraphProto& branch);

// Makes the outputs of a subgraph zeros of their types, and drops its nodes.
void StubGraph(pb::GraphProto& graph);

// Drops the functions that no node calls, directly or through others.
void DropUnusedFunctions(pb::ModelProto& model);

}  // namespace aotc

#endif  // AOTC_COMPILER_IMPORT_MODEL_PARTS_H_
