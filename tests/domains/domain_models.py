"""Families of linear models, preparation of features and labels of ai.onnx.ml."""
import numpy as np
from onnx import numpy_helper

from operator_case import Node

TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO")


def ml_node(op, operands, attributes, **more):
    return Node(op, operands, attributes, domain="ai.onnx.ml", **more)


def floats(draw, count):
    return draw.floats([count]).tolist()


def matrix(draw, features, types=("f4",)):
    return draw.numbers([draw.dim(1, 7), features], types)


def linear_regressor(draw):
    features, targets = draw.dim(1, 6), draw.dim(1, 4)
    attributes = {"coefficients": floats(draw, features * targets), "targets": targets,
                  "post_transform": draw.pick(TRANSFORMS)}
    if draw.chance(0.7):
        attributes["intercepts"] = floats(draw, targets)
    return ml_node("LinearRegressor", [matrix(draw, features)], attributes)


def class_labels(draw, count, ints="classlabels_ints"):
    """Integers, or strings, which may be empty and of several bytes a character."""
    if draw.chance(0.3):
        words = ["cat", "", "größer", "a dog", "x" * 40, "7", "Cat"]
        return {"classlabels_strings": [words[k] for k in draw.rng.permutation(len(words))[:count]]}
    return {ints: draw.rng.permutation(20)[:count].tolist()}


def linear_classifier(draw):
    features, targets = draw.dim(1, 6), draw.dim(1, 4)
    attributes = {"coefficients": floats(draw, features * targets),
                  "intercepts": floats(draw, targets), **class_labels(draw, max(targets, 2)),
                  "post_transform": draw.pick(TRANSFORMS)}
    return ml_node("LinearClassifier", [matrix(draw, features, ("f4", "f8", "i8", "i4"))],
                   attributes, outputs=2)


def scaler(draw):
    features = draw.dim(1, 6)
    count = draw.pick([1, features])
    return ml_node("Scaler", [matrix(draw, features, ("f4", "f8", "i8", "i4"))],
                   {"offset": floats(draw, count), "scale": floats(draw, count)})


def normalizer(draw):
    x = matrix(draw, draw.dim(1, 6), ("f4", "f8", "i8", "i4"))
    if draw.chance(0.3):
        x[0] = 0
    if draw.chance(0.2):
        x = x[0]
    return ml_node("Normalizer", [x], {"norm": draw.pick(["MAX", "L1", "L2"])})


def imputer(draw):
    features = draw.dim(1, 6)
    x = draw.ints(-2, 2, [draw.dim(1, 7), features]).astype(draw.pick(["f4", "f8", "i8"]))
    count = draw.pick([1, features])
    if x.dtype.kind == "i":
        return ml_node("Imputer", [x], {"imputed_value_int64s": draw.ints(5, 9, [count]).tolist(),
                                        "replaced_value_int64": draw.dim(-2, 2)})
    replaced = float(draw.pick([np.nan, 1, -2]))
    if np.isnan(replaced):
        x.flat[draw.dim(0, x.size - 1)] = np.nan
    return ml_node("Imputer", [x], {"imputed_value_floats": floats(draw, count),
                                    "replaced_value_float": replaced})


def binarizer(draw):
    return ml_node("Binarizer", [draw.with_ties(draw.shape(1, 3))],
                   {"threshold": draw.dim(-4, 4) / 2})


def extractor(draw):
    x = draw.numbers(draw.shape(1, 3), ("f4", "f8", "i8", "i4"))
    places = draw.ints(0, x.shape[-1] - 1, [draw.dim(1, 5)])
    return ml_node("ArrayFeatureExtractor", [x, places[None] if draw.chance(0.5) else places], {})


def vectorizer(draw):
    rows, dtype = draw.dim(1, 5), draw.pick(["f4", "f8", "i8", "i4"])
    operands = [draw.numbers([rows, draw.dim(1, 4)], (dtype,)) for _ in range(draw.dim(1, 4))]
    return ml_node("FeatureVectorizer", operands,
                   {"inputdimensions": [max(1, x.shape[1] + draw.pick([0, 0, 1, -1]))
                                        for x in operands]})


def one_hot(draw):
    keys = draw.rng.permutation(9)[:draw.dim(1, 9)] - 4
    zeros = draw.dim(0, 1)
    shape = draw.shape(1, 3)
    x = draw.ints(-5, 5, shape) if zeros else keys[draw.ints(0, len(keys) - 1, shape)]
    return ml_node("OneHotEncoder", [x.astype(draw.pick(["i8", "i4", "f4", "f8"]))],
                   {"cats_int64s": keys.tolist(), "zeros": zeros})


def label_encoder(draw):
    """By lists of opset 2, or by tensors of opset 4."""
    count = draw.dim(1, 12)
    kinds = {"f4": "floats", "i8": "int64s"}
    key, value = draw.pick([("f4", "i8"), ("i8", "f4"), ("i8", "i8"), ("f4", "f4")])
    keys = ((draw.rng.permutation(20)[:count] - 10) / (2 if key == "f4" else 1)).astype(key)
    values = draw.ints(-9, 9, [count]).astype(value)
    x = (draw.ints(-11, 11, draw.shape(1, 3)) / (2 if key == "f4" else 1)).astype(key)
    if draw.chance(0.5):
        if draw.chance(0.5) and key == "f4":  # in opset 2 onnxruntime finds no NaN
            keys[0] = x.flat[0] = np.nan
        tensors = {"keys_tensor": keys, "values_tensor": values,
                   "default_tensor": np.array([draw.dim(-9, 9)], value)}
        return ml_node("LabelEncoder", [x],
                       {name: numpy_helper.from_array(a) for name, a in tensors.items()}, version=4)
    attributes = {f"keys_{kinds[key]}": keys.tolist(), f"values_{kinds[value]}": values.tolist()}
    if draw.chance(0.5):
        attributes[f"default_{kinds[value][:-1]}"] = values.dtype.type(draw.dim(-9, 9)).item()
    return ml_node("LabelEncoder", [x], attributes, version=draw.pick([2, 4]))


def kernel(draw):
    return {"kernel_type": draw.pick(["LINEAR", "POLY", "RBF", "SIGMOID"]),
            "kernel_params": [draw.pick([0.5, 0.2]), draw.pick([0.0, 0.3]),
                              float(draw.dim(1, 3))]}


def svm_regressor(draw):
    features, count = draw.dim(1, 5), draw.dim(1, 8) if draw.chance(0.8) else 0
    attributes = {"coefficients": floats(draw, count or features), "n_supports": count,
                  "rho": floats(draw, 1), "one_class": draw.pick([0, 0, 1])}
    if count:
        attributes.update(support_vectors=floats(draw, count * features), **kernel(draw))
    return ml_node("SVMRegressor", [matrix(draw, features)], attributes, tolerance=1e-3)


def svm_classifier(draw):
    """With probabilities or votes, or linear scores of three classes and more."""
    features, classes = draw.dim(1, 5), draw.dim(2, 4)
    attributes = {**class_labels(draw, classes), "post_transform": draw.pick(TRANSFORMS)}
    x = matrix(draw, features, ("f4", "f8", "i8", "i4"))
    if classes > 2 and draw.chance(0.25):
        attributes.update(coefficients=floats(draw, classes * features), rho=floats(draw, 1))
        return ml_node("SVMClassifier", [x], attributes, outputs=2, tolerance=1e-3)
    counts = [draw.dim(1, 4) for _ in range(classes)]
    pairs = classes * (classes - 1) // 2
    attributes.update(vectors_per_class=counts, rho=floats(draw, pairs),
                      coefficients=floats(draw, (classes - 1) * sum(counts)),
                      support_vectors=floats(draw, sum(counts) * features), **kernel(draw))
    if draw.chance(0.5):
        attributes.update(prob_a=(-abs(draw.floats([pairs]))).tolist(), prob_b=floats(draw, pairs))
    return ml_node("SVMClassifier", [x], attributes, outputs=2, tolerance=1e-3)


FAMILIES = (svm_regressor, svm_classifier, linear_regressor, linear_classifier, scaler, normalizer,
            imputer, binarizer, extractor, vectorizer, one_hot, label_encoder)
