// An ONNX model that can be cut to pieces and written again: for those who look for the smallest
// model with some property, without a need to know ONNX's messages.
//
//   AOTC_ASSIGN_OR_RETURN(EditableModel model, EditableModel::Read("model.onnx"));
//   WriteFileIfChanged("small.onnx", model.KeepNodes({3, 4}, facts).Bytes());
//
// Every edit gives a new model, which may make no sense: whoever asked for it finds out.
#ifndef AOTC_COMPILER_IMPORT_EDITABLE_MODEL_H_
#define AOTC_COMPILER_IMPORT_EDITABLE_MODEL_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/constant.h"

namespace aotc {

// What is known of a value between two nodes: what an input must state that takes its place.
struct ValueFact {
  DType dtype = DType::kF32;
  std::optional<std::vector<std::string>> dims = {};  // "3", "batch", "4*batch"; rank unknown: none
  std::optional<Constant> constant = {};
};
using ValueFacts = std::map<std::string, ValueFact>;

class EditableModel {
 public:
  // With external data read into the model and Constant nodes made initializers. Error: no such
  // model, data that cannot be read.
  static absl::StatusOr<EditableModel> Read(const std::string& path);

  // The file.
  std::string Bytes() const;

  int NodeCount() const;
  // The nodes of these indices, ascending. What they read from others becomes an input of the
  // graph, or an initializer where its value is known; what others read from them an output.
  // Inputs, initializers, outputs and functions that are of no use any more go, and the types of
  // values in between.
  EditableModel KeepNodes(const std::vector<int>& nodes, const ValueFacts& facts) const;

  // Attributes of nodes, outputs that are not the last one, texts that are for people: all that may
  // be left out one by one.
  int PartCount() const;
  EditableModel WithoutPart(int part) const;

  // Ways to be rid of a subgraph of a node: the nodes of a branch of an If stand in its place, or
  // the subgraph gives zeros and computes nothing.
  int SubgraphEditCount() const;
  EditableModel WithSubgraphEdit(int edit) const;

  // The numbers above 1 among the dims of inputs and initializers.
  std::set<int64_t> Sizes() const;
  // Writes `to` for `from` in the dims of inputs, outputs and initializers, which keep their
  // leading elements, and in the integers of attributes and of small initializers.
  EditableModel WithSize(int64_t from, int64_t to) const;

  int InitializerCount() const;
  // All elements of an initializer made equal to its first; nothing where they are, or are strings.
  std::optional<EditableModel> WithSplat(int initializer) const;

 private:
  struct Proto;
  explicit EditableModel(std::shared_ptr<const Proto> proto) : proto_(std::move(proto)) {}

  std::shared_ptr<const Proto> proto_;
};

}  // namespace aotc

#endif  // AOTC_COMPILER_IMPORT_EDITABLE_MODEL_H_
