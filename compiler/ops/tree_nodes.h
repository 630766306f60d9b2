// Ensembles of decision trees in one form, whichever attributes said them: those of
// TreeEnsembleRegressor and TreeEnsembleClassifier (ai.onnx.ml 1 and 3) or of TreeEnsemble (5).
//
//   AOTC_ASSIGN_OR_RETURN(const TreeNodes trees, TreesOfLists(node.attributes, "target", 1));
//   trees.votes[leaf];   // what a leaf gives: (target, weight)
#ifndef AOTC_COMPILER_OPS_TREE_NODES_H_
#define AOTC_COMPILER_OPS_TREE_NODES_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/attributes.h"

namespace aotc {

// How an element relates to the threshold of a node: a node takes its true branch in some of these
// cases. NaN is a case of its own.
enum TreeCase : int64_t { kBelow = 1, kEqual = 2, kAbove = 4, kNotANumber = 8 };

struct TreeNode {
  int64_t feature = 0;
  double threshold = 0;  // a number
  int64_t cases = 0;     // of TreeCase
  int64_t yes = 0;       // nodes that follow; a leaf follows itself
  int64_t no = 0;
};

struct TreeVote {
  int64_t target = 0;
  double weight = 0;
};

struct TreeNodes {
  std::vector<TreeNode> nodes;               // the leaves first
  std::vector<std::vector<TreeVote>> votes;  // of each leaf
  std::vector<int64_t> roots;                // one a tree
  int64_t depth = 0;                         // steps from a root to the farthest leaf
  int64_t features = 0;                      // one more than the last feature that is read
  bool wide = false;                         // thresholds and weights are f64
};

// From nodes_* and <votes>_* lists ("target" or "class"). Error: lists of different lengths, nodes
// that are not there, a tree with a cycle, votes for a target that is not below `targets`.
absl::StatusOr<TreeNodes> TreesOfLists(const Attributes& attributes, std::string_view votes,
                                       int64_t targets);
// From the attributes of TreeEnsemble. A test of membership becomes one node for each member.
absl::StatusOr<TreeNodes> TreesOfEnsemble(const Attributes& attributes);

}  // namespace aotc

#endif  // AOTC_COMPILER_OPS_TREE_NODES_H_
