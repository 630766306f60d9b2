"""Families of ensembles of decision trees of ai.onnx.ml."""
import numpy as np
from onnx import numpy_helper

from domain_models import class_labels
from operator_case import Node

MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")
TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")
MEMBER = 6


def thresholds(draw, shape=()):
    """Few values, so that elements are equal to some."""
    return draw.ints(-4, 4, shape) / 2


def threshold(draw):
    """Of one node; seldom no number."""
    return float("nan") if draw.chance(0.05) else float(thresholds(draw))


def samples(draw, features, types=("f4", "f4", "f8", "i8", "i4")):
    dtype = np.dtype(draw.pick(types))
    x = thresholds(draw, [draw.dim(1, 7), features]).astype(dtype)
    if dtype.kind == "f" and draw.chance(0.5):
        x.flat[draw.dim(0, x.size - 1)] = np.nan
    return x


def tree(draw, depth):
    """A leaf is None, a branch (yes, no)."""
    if depth == 0 or draw.chance(0.2):
        return None
    return tree(draw, depth - 1), tree(draw, depth - 1)


def listed(draw, roots, features, modes):
    """The nodes_* lists, and (tree, node) of each leaf."""
    lists = {name: [] for name in ("treeids", "nodeids", "featureids", "values", "modes",
                                   "truenodeids", "falsenodeids", "missing_value_tracks_true")}
    leaves = []

    def put(number, node):
        """Parents stand before their children."""
        place = sum(t == number for t in lists["treeids"])
        row = len(lists["treeids"])
        for name, value in (("treeids", number), ("nodeids", place), ("truenodeids", 0),
                            ("featureids", draw.dim(0, features - 1)), ("falsenodeids", 0),
                            ("values", threshold(draw)),
                            ("missing_value_tracks_true", draw.dim(0, 1))):
            lists[name].append(value)
        lists["modes"].append(draw.pick(modes) if node else "LEAF")
        if node is None:
            leaves.append((number, place))
        else:
            lists["truenodeids"][row] = put(number, node[0])
            lists["falsenodeids"][row] = put(number, node[1])
        return place

    for number, root in enumerate(roots):
        put(number, root)
    if draw.chance(0.3):
        del lists["missing_value_tracks_true"]
    return {f"nodes_{name}": values for name, values in lists.items()}, leaves


def lists_of(draw, features):
    modes = draw.pick([MODES[:1], MODES[1:2], draw.subset(MODES, 2)])
    depth = draw.dim(0, 5)
    return listed(draw, [tree(draw, depth) for _ in range(draw.dim(1, 6))], features, modes)


def votes(draw, prefix, leaves, targets, least, every=False):
    """One target a leaf, or several, or all; multiples of 1/4, of which sums are exact."""
    several = draw.chance(0.4)

    def of_leaf():
        if every:
            return range(targets)
        return sorted(draw.subset(range(targets), 1)) if several else [draw.dim(0, targets - 1)]

    rows = [(t, n, i) for t, n in leaves for i in of_leaf()]
    return {f"{prefix}_treeids": [r[0] for r in rows], f"{prefix}_nodeids": [r[1] for r in rows],
            f"{prefix}_ids": [r[2] for r in rows],
            f"{prefix}_weights": (draw.ints(least, 6, [len(rows)]) / 4).tolist()}


def is_tensor(attributes, names):
    """Doubles instead of floats, which opset 3 has."""
    for name in names:
        values = attributes.pop(name, None)
        if values is not None:
            attributes[f"{name}_as_tensor"] = numpy_helper.from_array(np.array(values, "f8"))


def tree_regressor(draw):
    features, targets = draw.dim(1, 5), draw.dim(1, 3)
    nodes, leaves = lists_of(draw, features)
    # onnxruntime adds no base value where no leaf gives anything to a target; the standard does.
    has_base = draw.chance(0.4)
    attributes = {**nodes, **votes(draw, "target", leaves, targets, -6, has_base),
                  "n_targets": targets,
                  "aggregate_function": draw.pick(["SUM", "SUM", "AVERAGE", "MIN", "MAX"]),
                  "post_transform": draw.pick(TRANSFORMS[:4] + TRANSFORMS[:1] * 4)}
    if has_base:
        attributes["base_values"] = thresholds(draw, [targets]).tolist()
    x = samples(draw, features, ("f4", "f8"))
    wide = x.dtype == np.float64
    if wide:
        is_tensor(attributes, ("nodes_values", "target_weights", "base_values"))
    return Node("TreeEnsembleRegressor", [x], attributes, domain="ai.onnx.ml",
                version=3 if wide else draw.pick([1, 3]))


def tree_classifier(draw):
    """Three classes and more, or two with votes for the first one only."""
    features = draw.dim(1, 5)
    nodes, leaves = lists_of(draw, features)
    classes = draw.pick([2, 3, 4])
    attributes = {**nodes, **class_labels(draw, classes, "classlabels_int64s"),
                  **votes(draw, "class", leaves, classes if classes > 2 else 1,
                          draw.pick([-6, 0])),
                  "post_transform": draw.pick(TRANSFORMS[:3 if classes == 2 else 4])}
    if draw.chance(0.4):
        attributes["base_values"] = thresholds(draw, [classes if classes > 2 else 1]).tolist()
    x = samples(draw, features)
    wide = x.dtype == np.float64
    if wide:
        is_tensor(attributes, ("nodes_values", "class_weights", "base_values"))
    return Node("TreeEnsembleClassifier", [x], attributes, outputs=2, domain="ai.onnx.ml",
                version=3 if wide else draw.pick([1, 3]))


def tree_ensemble(draw):
    """Opset 5, with tests of membership. Of the numbers of post_transform onnxruntime takes 1 for
    LOGISTIC and 2 for SOFTMAX; the standard says the reverse.
    """
    features, targets = draw.dim(1, 4), draw.dim(1, 3)
    dtype = draw.pick(["f4", "f8"])
    lists = {name: [] for name in ("featureids", "splits", "modes", "truenodeids", "falsenodeids",
                                   "trueleafs", "falseleafs", "missing_value_tracks_true")}
    leaf_targets, members = [], []
    modes = draw.pick([[0], [1, 3], list(range(6)), list(range(7))])

    def put(node):
        """(place, whether it is a leaf)"""
        if node is None:
            leaf_targets.append(draw.dim(0, targets - 1))
            return len(leaf_targets) - 1, 1
        row, mode = len(lists["modes"]), draw.pick(modes)
        for name, value in (("featureids", draw.dim(0, features - 1)), ("modes", mode),
                            ("splits", threshold(draw)),
                            ("missing_value_tracks_true", draw.dim(0, 1))):
            lists[name].append(value)
        for name in ("truenodeids", "falsenodeids", "trueleafs", "falseleafs"):
            lists[name].append(0)
        if mode == MEMBER:
            members.extend(sorted({draw.dim(-2, 2) for _ in range(draw.dim(1, 4))}))
            members.append(np.nan)
        lists["truenodeids"][row], lists["trueleafs"][row] = put(node[0])
        lists["falsenodeids"][row], lists["falseleafs"][row] = put(node[1])
        return row, 0

    roots = [put((tree(draw, 4), tree(draw, 4)))[0] for _ in range(draw.dim(1, 5))]
    attributes = {f"nodes_{name}": values for name, values in lists.items()}
    for name, kind in (("nodes_splits", dtype), ("nodes_modes", "u1")):
        attributes[name] = numpy_helper.from_array(np.array(attributes[name], kind))
    if members:
        attributes["membership_values"] = numpy_helper.from_array(np.array(members, dtype))
    weights = draw.ints(-6, 6, [len(leaf_targets)]) / 4
    attributes.update(
        tree_roots=roots, n_targets=targets, leaf_targetids=leaf_targets,
        leaf_weights=numpy_helper.from_array(weights.astype(dtype)),
        aggregate_function=draw.dim(0, 3), post_transform=draw.pick([0, 0, 3]))
    x = samples(draw, features, (dtype,))
    # Where onnxruntime keeps small members as bits it takes 1.5 for 1.
    x = np.trunc(x) if MEMBER in lists["modes"] else x
    return Node("TreeEnsemble", [x], attributes,
                domain="ai.onnx.ml", version=5)


FAMILIES = (tree_regressor, tree_classifier, tree_ensemble)
