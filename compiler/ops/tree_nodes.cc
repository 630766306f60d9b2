#include "compiler/ops/tree_nodes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "compiler/support/refusal.h"
#include "compiler/support/status.h"
#include "compiler/support/strings.h"

namespace aotc {
namespace {

using Places = std::map<std::pair<int64_t, int64_t>, int64_t>;  // (tree, node) to a position

absl::Status WrongLength(std::string_view name, size_t count, size_t expected) {
  return AOTC_REFUSAL(InvalidArgument,
                      StrCat("attribute '", name, "' has ", count, " elements, not ", expected));
}

// Floats of the attribute, or of the tensor that stands for it.
struct Floats {
  std::vector<double> values = {};
  bool wide = false;
};

absl::StatusOr<Floats> FloatsOf(const Attributes& attributes, std::string_view name,
                                std::string_view tensor_name) {
  Floats floats;
  const AttributeValue* found = attributes.Find(tensor_name);
  const auto* tensor = found == nullptr ? nullptr : std::get_if<Constant>(found);
  if (tensor == nullptr) {
    for (float value : attributes.Floats(name)) floats.values.push_back(value);
    return floats;
  }
  if (!IsFloat(tensor->dtype())) {
    return AOTC_REFUSAL(InvalidArgument, StrCat("attribute '", tensor_name, "' holds no floats"));
  }
  for (int64_t i = 0; i < tensor->element_count(); ++i) {
    floats.values.push_back(tensor->FloatAt(i));
  }
  floats.wide = tensor->dtype() == DType::kF64;
  return floats;
}

absl::StatusOr<std::vector<int64_t>> IntsOf(const Attributes& attributes, std::string_view name,
                                            size_t count) {
  std::vector<int64_t> values = attributes.Ints(name);
  if (values.size() != count) return WrongLength(name, values.size(), count);
  return values;
}

// One number a node that says whether NaN goes the way of true; absent it never does.
absl::StatusOr<std::vector<int64_t>> MissingOf(const Attributes& attributes, size_t count) {
  const char* const name = "nodes_missing_value_tracks_true";
  if (attributes.Ints(name).empty()) return std::vector<int64_t>(count, 0);
  return IntsOf(attributes, name, count);
}

constexpr int64_t kCasesOfMode[] = {kBelow | kEqual, kBelow, kEqual | kAbove,
                                    kAbove,          kEqual, kBelow | kAbove | kNotANumber};
constexpr const char* kModeNames[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                      "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};
constexpr int64_t kMember = 6;

// The number of steps to the farthest leaf from a node. Error: a cycle.
class Depths {
 public:
  explicit Depths(const std::vector<TreeNode>& nodes) : nodes_(nodes), depths_(nodes.size(), -1) {}

  // Depth first without recursion: trees may be as deep as they have nodes.
  absl::StatusOr<int64_t> From(int64_t root) {
    std::vector<int64_t> path = {root};
    while (!path.empty()) {
      const int64_t at = path.back();
      const TreeNode& node = nodes_[static_cast<size_t>(at)];
      const int64_t open = Depth(node.yes) < 0 && node.yes != at ? node.yes
                           : Depth(node.no) < 0 && node.no != at ? node.no
                                                                 : -1;
      if (open < 0) {
        depths_[static_cast<size_t>(at)] =
            node.yes == at ? 0 : 1 + std::max(Depth(node.yes), Depth(node.no));
        path.pop_back();
        continue;
      }
      if (path.size() > nodes_.size()) {
        return AOTC_REFUSAL(InvalidArgument, "a tree leads back to a node of itself");
      }
      path.push_back(open);
    }
    return Depth(root);
  }

 private:
  int64_t Depth(int64_t node) const { return depths_[static_cast<size_t>(node)]; }

  const std::vector<TreeNode>& nodes_;
  std::vector<int64_t> depths_;
};

// A threshold that is no number is unlike each number, and neither above nor below any: what node
// does the same with one that is a number.
void SettleThreshold(TreeNode& node) {
  constexpr int64_t kUnequal = kBelow | kAbove;
  if (!std::isnan(node.threshold)) return;
  const bool unlike = (node.cases & kUnequal) == kUnequal;
  node.cases = (unlike ? kUnequal | kEqual : 0) | (node.cases & kNotANumber);
  node.threshold = 0;
}

// Fills what follows from nodes, roots and votes; puts the leaves first.
absl::StatusOr<TreeNodes> Finished(TreeNodes trees, const std::vector<int64_t>& leaves) {
  std::vector<int64_t> place(trees.nodes.size(), -1);
  std::vector<TreeNode> ordered;
  auto put = [&](size_t from) {
    place[from] = static_cast<int64_t>(ordered.size());
    ordered.push_back(trees.nodes[from]);
  };
  for (int64_t leaf : leaves) put(static_cast<size_t>(leaf));
  for (size_t i = 0; i < trees.nodes.size(); ++i) {
    if (place[i] < 0) put(i);
  }
  for (TreeNode& node : ordered) {
    node.yes = place[static_cast<size_t>(node.yes)];
    node.no = place[static_cast<size_t>(node.no)];
    SettleThreshold(node);
    if (node.feature < 0) return AOTC_REFUSAL(InvalidArgument, "a node has a negative feature");
    trees.features = std::max(trees.features, node.feature + 1);
  }
  trees.nodes = std::move(ordered);
  for (size_t i = leaves.size(); i < trees.nodes.size(); ++i) {
    const auto self = static_cast<int64_t>(i);
    if (trees.nodes[i].yes == self || trees.nodes[i].no == self) {
      return AOTC_REFUSAL(InvalidArgument, "a node that branches leads to itself");
    }
  }
  if (trees.roots.empty()) return AOTC_REFUSAL(InvalidArgument, "has no trees");
  // A model of 2 GiB has a byte at least for each number of a node.
  AOTC_CHECK(trees.nodes.size() <= std::numeric_limits<int32_t>::max());
  Depths depths(trees.nodes);
  for (int64_t& root : trees.roots) {
    root = place[static_cast<size_t>(root)];
    AOTC_ASSIGN_OR_RETURN(const int64_t depth, depths.From(root));
    trees.depth = std::max(trees.depth, depth);
  }
  return trees;
}

// Reads the lists of nodes; the first node of a tree is its root.
class ListReader {
 public:
  ListReader(const Attributes& attributes, std::string_view votes)
      : attributes_(attributes), votes_(votes) {}

  absl::StatusOr<TreeNodes> Read(int64_t targets) {
    AOTC_RETURN_IF_ERROR(ReadNodes());
    AOTC_RETURN_IF_ERROR(ReadVotes(targets));
    return Finished(std::move(trees_), leaves_);
  }

 private:
  absl::Status ReadNodes() {
    tree_ids_ = attributes_.Ints("nodes_treeids");
    const size_t count = tree_ids_.size();
    AOTC_ASSIGN_OR_RETURN(const auto ids, IntsOf(attributes_, "nodes_nodeids", count));
    AOTC_ASSIGN_OR_RETURN(const auto features, IntsOf(attributes_, "nodes_featureids", count));
    AOTC_ASSIGN_OR_RETURN(const auto missing, MissingOf(attributes_, count));
    AOTC_ASSIGN_OR_RETURN(const Floats thresholds,
                          FloatsOf(attributes_, "nodes_values", "nodes_values_as_tensor"));
    if (thresholds.values.size() != count) {
      return WrongLength("nodes_values", thresholds.values.size(), count);
    }
    trees_.wide = thresholds.wide;
    std::set<int64_t> seen;
    for (size_t i = 0; i < count; ++i) {
      if (seen.insert(tree_ids_[i]).second) trees_.roots.push_back(static_cast<int64_t>(i));
      if (!places_.emplace(std::pair(tree_ids_[i], ids[i]), static_cast<int64_t>(i)).second) {
        return AOTC_REFUSAL(InvalidArgument,
                            StrCat("tree ", tree_ids_[i], " has two nodes ", ids[i]));
      }
      trees_.nodes.push_back({.feature = features[i],
                              .threshold = thresholds.values[i],
                              .cases = missing[i] != 0 ? int64_t{kNotANumber} : 0});
    }
    return ReadBranches();
  }

  absl::Status ReadBranches() {
    const size_t count = trees_.nodes.size();
    AOTC_ASSIGN_OR_RETURN(const auto yes, IntsOf(attributes_, "nodes_truenodeids", count));
    AOTC_ASSIGN_OR_RETURN(const auto no, IntsOf(attributes_, "nodes_falsenodeids", count));
    const std::vector<std::string> modes = attributes_.Strings("nodes_modes");
    if (modes.size() != count) return WrongLength("nodes_modes", modes.size(), count);
    leaf_.assign(count, -1);
    for (size_t i = 0; i < count; ++i) {
      TreeNode& node = trees_.nodes[i];
      if (modes[i] == "LEAF") {
        leaf_[i] = static_cast<int64_t>(leaves_.size());
        leaves_.push_back(static_cast<int64_t>(i));
        node = {.yes = static_cast<int64_t>(i), .no = static_cast<int64_t>(i)};
        continue;
      }
      const auto* mode = std::ranges::find(kModeNames, modes[i]);
      if (mode == std::end(kModeNames)) {
        return AOTC_REFUSAL(InvalidArgument, StrCat("unknown mode '", modes[i], "' of a node"));
      }
      node.cases |= kCasesOfMode[mode - kModeNames];
      AOTC_ASSIGN_OR_RETURN(node.yes, Place(tree_ids_[i], yes[i]));
      AOTC_ASSIGN_OR_RETURN(node.no, Place(tree_ids_[i], no[i]));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<int64_t> Place(int64_t tree, int64_t node) const {
    const auto found = places_.find({tree, node});
    if (found != places_.end()) return found->second;
    return AOTC_REFUSAL(InvalidArgument, StrCat("tree ", tree, " has no node ", node));
  }

  std::string Name(std::string_view suffix) const { return StrCat(votes_, suffix); }

  absl::Status ReadVotes(int64_t targets) {
    const std::vector<int64_t> ids = attributes_.Ints(Name("_ids"));
    AOTC_ASSIGN_OR_RETURN(const auto tree_ids, IntsOf(attributes_, Name("_treeids"), ids.size()));
    AOTC_ASSIGN_OR_RETURN(const auto nodes, IntsOf(attributes_, Name("_nodeids"), ids.size()));
    AOTC_ASSIGN_OR_RETURN(const Floats weights,
                          FloatsOf(attributes_, Name("_weights"), Name("_weights_as_tensor")));
    if (weights.values.size() != ids.size()) {
      return WrongLength(Name("_weights"), weights.values.size(), ids.size());
    }
    trees_.wide |= weights.wide;
    trees_.votes.resize(leaves_.size());
    for (size_t i = 0; i < ids.size(); ++i) {
      if (ids[i] < 0 || ids[i] >= targets) {
        return AOTC_REFUSAL(InvalidArgument,
                            StrCat("a weight is for target ", ids[i], " of ", targets));
      }
      AOTC_ASSIGN_OR_RETURN(const int64_t place, Place(tree_ids[i], nodes[i]));
      const int64_t leaf = leaf_[static_cast<size_t>(place)];
      if (leaf < 0) continue;  // of a node that branches: never reached, as in onnxruntime
      trees_.votes[static_cast<size_t>(leaf)].push_back({ids[i], weights.values[i]});
    }
    return absl::OkStatus();
  }

  const Attributes& attributes_;
  const std::string_view votes_;
  TreeNodes trees_;
  Places places_;
  std::vector<int64_t> tree_ids_;
  std::vector<int64_t> leaf_;    // of each node: its number among the leaves, or -1
  std::vector<int64_t> leaves_;  // nodes
};

// Reads the attributes of TreeEnsemble: node i of them becomes node leaves + i here.
class EnsembleReader {
 public:
  explicit EnsembleReader(const Attributes& attributes) : attributes_(attributes) {}

  absl::StatusOr<TreeNodes> Read() {
    AOTC_RETURN_IF_ERROR(ReadLeaves());
    AOTC_RETURN_IF_ERROR(ReadNodes());
    trees_.roots = attributes_.Ints("tree_roots");
    for (int64_t& root : trees_.roots) {
      if (root < 0 || root >= count_) return AOTC_REFUSAL(InvalidArgument, "a root is no node");
      root += leaves_;
    }
    std::vector<int64_t> leaves;
    for (int64_t i = 0; i < leaves_; ++i) leaves.push_back(i);
    return Finished(std::move(trees_), leaves);
  }

 private:
  absl::Status ReadLeaves() {
    const std::vector<int64_t> targets = attributes_.Ints("leaf_targetids");
    AOTC_ASSIGN_OR_RETURN(const Floats weights, FloatsOf(attributes_, "", "leaf_weights"));
    if (weights.values.size() != targets.size()) {
      return WrongLength("leaf_weights", weights.values.size(), targets.size());
    }
    trees_.wide = weights.wide;
    leaves_ = static_cast<int64_t>(targets.size());
    for (size_t i = 0; i < targets.size(); ++i) {
      if (targets[i] < 0 || targets[i] >= attributes_.Int("n_targets", 1)) {
        return AOTC_REFUSAL(InvalidArgument, StrCat("a leaf is for target ", targets[i]));
      }
      trees_.votes.push_back({{targets[i], weights.values[i]}});
      const auto self = static_cast<int64_t>(i);
      trees_.nodes.push_back({.yes = self, .no = self});
    }
    return absl::OkStatus();
  }

  absl::Status ReadNodes() {
    const std::vector<int64_t> features = attributes_.Ints("nodes_featureids");
    const size_t count = features.size();
    count_ = static_cast<int64_t>(count);
    AOTC_ASSIGN_OR_RETURN(const auto yes, IntsOf(attributes_, "nodes_truenodeids", count));
    AOTC_ASSIGN_OR_RETURN(const auto no, IntsOf(attributes_, "nodes_falsenodeids", count));
    AOTC_ASSIGN_OR_RETURN(const auto yes_leaf, IntsOf(attributes_, "nodes_trueleafs", count));
    AOTC_ASSIGN_OR_RETURN(const auto no_leaf, IntsOf(attributes_, "nodes_falseleafs", count));
    AOTC_ASSIGN_OR_RETURN(const auto missing, MissingOf(attributes_, count));
    AOTC_ASSIGN_OR_RETURN(const Floats splits, FloatsOf(attributes_, "", "nodes_splits"));
    if (splits.values.size() != count) {
      return WrongLength("nodes_splits", splits.values.size(), count);
    }
    const AttributeValue* found = attributes_.Find("nodes_modes");
    const auto* modes = found == nullptr ? nullptr : std::get_if<Constant>(found);
    if (modes == nullptr || modes->element_count() != count_) {
      return WrongLength("nodes_modes", 0, count);
    }
    AOTC_ASSIGN_OR_RETURN(members_, FloatsOf(attributes_, "", "membership_values"));
    for (size_t i = 0; i < count; ++i) {
      TreeNode node = {.feature = features[i], .threshold = splits.values[i]};
      AOTC_ASSIGN_OR_RETURN(node.yes, Place(yes[i], yes_leaf[i]));
      AOTC_ASSIGN_OR_RETURN(node.no, Place(no[i], no_leaf[i]));
      trees_.nodes.push_back(node);
    }
    for (size_t i = 0; i < count; ++i) {
      AOTC_RETURN_IF_ERROR(SetCases(i, modes->IntAt(static_cast<int64_t>(i)), missing[i] != 0));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<int64_t> Place(int64_t index, int64_t is_leaf) const {
    if (index < 0 || index >= (is_leaf != 0 ? leaves_ : count_)) {
      return AOTC_REFUSAL(InvalidArgument,
                          StrCat("a branch leads to node or leaf ", index, ", which is not there"));
    }
    return is_leaf != 0 ? index : leaves_ + index;
  }

  absl::Status SetCases(size_t index, int64_t mode, bool missing) {
    const int64_t nan = missing ? int64_t{kNotANumber} : 0;
    TreeNode& node = trees_.nodes[static_cast<size_t>(leaves_) + index];
    if (mode != kMember) {
      if (mode < 0 || mode > kMember) {
        return AOTC_REFUSAL(InvalidArgument, StrCat("unknown mode ", mode, " of a node"));
      }
      node.cases = kCasesOfMode[mode] | nan;
      return absl::OkStatus();
    }
    return SetMembers(static_cast<size_t>(leaves_) + index, nan);
  }

  // Equal to the first member, else to the second, and so on: each but the first is a new node. An
  // empty set is equal to nothing.
  absl::Status SetMembers(size_t at, int64_t nan) {
    const std::vector<double>& values = members_.values;
    const TreeNode first = trees_.nodes[at];
    trees_.nodes[at].cases = nan;
    for (bool more = false; next_ < values.size() && !std::isnan(values[next_]); ++next_) {
      if (more) {
        trees_.nodes[at].no = static_cast<int64_t>(trees_.nodes.size());
        at = trees_.nodes.size();
        trees_.nodes.push_back(first);
      }
      trees_.nodes[at].threshold = values[next_];
      trees_.nodes[at].cases = kEqual | nan;
      more = true;
    }
    if (next_ == values.size()) {
      return AOTC_REFUSAL(InvalidArgument, "membership_values has fewer sets than nodes ask for");
    }
    ++next_;
    return absl::OkStatus();
  }

  const Attributes& attributes_;
  TreeNodes trees_;
  Floats members_;
  size_t next_ = 0;  // of members_
  int64_t leaves_ = 0;
  int64_t count_ = 0;
};

}  // namespace

absl::StatusOr<TreeNodes> TreesOfLists(const Attributes& attributes, std::string_view votes,
                                       int64_t targets) {
  return ListReader(attributes, votes).Read(targets);
}

absl::StatusOr<TreeNodes> TreesOfEnsemble(const Attributes& attributes) {
  return EnsembleReader(attributes).Read();
}

}  // namespace aotc
