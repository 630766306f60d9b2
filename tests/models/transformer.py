"""A BERT-like encoder as PyTorch exports it: normalisations and gelu in parts, heads by reshapes.

    transformer.build(layers=2)     # onnx.ModelProto; input x[batch, length, width] and a mask
"""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

WIDTH, HEADS, HIDDEN = 32, 2, 64


class Encoder:
    def __init__(self, seed=0):
        self.nodes, self.constants = [], []
        self.random = np.random.default_rng(seed)

    def node(self, op, *inputs, **attributes):
        name = f"{op}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [f"v_{name}"], name, **attributes))
        return f"v_{name}"

    def constant(self, value, dtype=np.float32):
        name = f"c_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value, dtype), name))
        return name

    def dense(self, x, inputs, outputs):
        weight = self.constant(self.random.standard_normal((inputs, outputs)) / inputs**0.5)
        bias = self.constant(self.random.standard_normal(outputs))
        return self.node("Add", self.node("MatMul", x, weight), bias)

    def layer_norm(self, x):
        center = self.node("Sub", x, self.node("ReduceMean", x, axes=[-1]))
        square = self.node("Pow", center, self.constant(2.0))
        variance = self.node("ReduceMean", square, axes=[-1])
        deviation = self.node("Sqrt", self.node("Add", variance, self.constant(1e-5)))
        scaled = self.node("Mul", self.node("Div", center, deviation),
                           self.constant(self.random.standard_normal(WIDTH)))
        return self.node("Add", scaled, self.constant(self.random.standard_normal(WIDTH)))

    def gelu(self, x):
        half = self.node("Add", self.node("Erf", self.node("Div", x, self.constant(2**0.5))),
                         self.constant(1.0))
        return self.node("Mul", self.node("Mul", x, half), self.constant(0.5))

    def heads(self, x, order):
        shape = self.constant([0, 0, HEADS, WIDTH // HEADS], np.int64)
        return self.node("Transpose", self.node("Reshape", x, shape), perm=order)

    def attention(self, x, mask):
        query = self.heads(self.dense(x, WIDTH, WIDTH), [0, 2, 1, 3])
        key = self.heads(self.dense(x, WIDTH, WIDTH), [0, 2, 3, 1])
        value = self.heads(self.dense(x, WIDTH, WIDTH), [0, 2, 1, 3])
        scores = self.node("Div", self.node("MatMul", query, key),
                           self.constant((WIDTH // HEADS)**0.5))
        weights = self.node("Softmax", self.node("Add", scores, mask), axis=-1)
        sums = self.node("Transpose", self.node("MatMul", weights, value), perm=[0, 2, 1, 3])
        joined = self.node("Reshape", sums, self.constant([0, 0, WIDTH], np.int64))
        return self.dense(joined, WIDTH, WIDTH)

    def layer(self, x, mask):
        x = self.layer_norm(self.node("Add", self.attention(x, mask), x))
        hidden = self.gelu(self.dense(x, WIDTH, HIDDEN))
        return self.layer_norm(self.node("Add", self.dense(hidden, HIDDEN, WIDTH), x))


def build(layers, seed=0):
    encoder = Encoder(seed)
    x = "x"
    for _ in range(layers):
        x = encoder.layer(x, "mask")
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", "length", WIDTH]),
              helper.make_tensor_value_info("mask", TensorProto.FLOAT, ["batch", 1, 1, "length"])]
    output = helper.make_tensor_value_info(x, TensorProto.FLOAT, ["batch", "length", WIDTH])
    graph = helper.make_graph(encoder.nodes, "encoder", inputs, [output], encoder.constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
