#!/usr/bin/env python3
"""Trains a small network on scikit-learn's handwritten digits and writes it as ONNX.

    models/train_digits.py digits.onnx

Input: image f32[1, 64], ink from 0 to 1. Output: probabilities f32[1, 10].
"""
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits
from sklearn.neural_network import MLPClassifier

TRAINED = 1500  # of 1,797 pictures; the rest are held out


def pictures():
    """Pictures [n, 64] with ink from 0 to 1, and their digits."""
    data = load_digits()
    return (data.data / 16.0).astype(np.float32), data.target


def train():
    images, digits = pictures()
    model = MLPClassifier(hidden_layer_sizes=(64, 32), max_iter=200, random_state=0)
    return model.fit(images[:TRAINED], digits[:TRAINED])


def to_onnx(model):
    """Gemm and Relu for each layer, then Softmax."""
    nodes, tensors, value = [], [], "image"
    layers = list(zip(model.coefs_, model.intercepts_))
    for i, (weight, bias) in enumerate(layers):
        for name, array in ((f"weight{i}", weight), (f"bias{i}", bias)):
            tensors.append(numpy_helper.from_array(array.astype(np.float32), name))
        nodes.append(helper.make_node("Gemm", [value, f"weight{i}", f"bias{i}"], [f"dense{i}"],
                                      name=f"dense{i}"))
        value = f"dense{i}"
        if i + 1 < len(layers):
            nodes.append(helper.make_node("Relu", [value], [f"relu{i}"], name=f"relu{i}"))
            value = f"relu{i}"
    nodes.append(helper.make_node("Softmax", [value], ["probabilities"], name="softmax"))
    graph = helper.make_graph(
        nodes, "digits",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 64])],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, [1, 10])], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


if __name__ == "__main__":
    onnx.save(to_onnx(train()), sys.argv[1])
