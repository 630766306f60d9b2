#!/usr/bin/env python3
"""Writes the nine `light` ImageNet models of the onnx wheel with seeded random weights.

    models/randomize_light_models.py FOLDER [NAME...]    # light_resnet50.onnx, ...; default: all

The models of onnx/backend/test/data/light keep the architecture, but each of their weights is the
same number everywhere: two swapped channels would go unnoticed. Here every weight is drawn:
He-scaled normal numbers for matrices and filters, BatchNormalization's variance near that which its
input is expected to have, so that activations neither vanish nor overflow. Same bytes every time.
"""
import argparse
import math
import os
import pathlib
import zlib

import numpy as np
import onnx
from onnx import helper, numpy_helper

SEED = 1
FLOAT = onnx.TensorProto.FLOAT
LOGIT_POWER = 4.0  # of what Softmax reads: far from one class at 1.0
SAME_MOMENTS = {"Reshape", "Transpose", "Dropout", "LRN", "Softmax"}


def source_folder():
    return pathlib.Path(onnx.__file__).parent / "backend/test/data/light"


def attribute(node, name, default):
    found = [helper.get_attribute_value(a) for a in node.attribute if a.name == name]
    return found[0] if found else default


def relu_moments(mean, variance):
    """Mean and variance of max(x, 0) for a normal x."""
    deviation = math.sqrt(variance)
    density = math.exp(-0.5 * mean * mean / variance) / math.sqrt(2 * math.pi)
    above = 0.5 * (1 + math.erf(mean / deviation / math.sqrt(2)))
    first = mean * above + deviation * density
    second = (mean * mean + variance) * above + mean * deviation * density
    return first, second - first * first


class Randomizer:
    """Replaces the float constants of one model, walking its nodes in order.

    `moments` holds, per tensor, the mean and variance that its elements are expected to have; they
    are taken for normal and independent, which is close enough to choose scales by.
    """

    def __init__(self, model, name):
        self.graph, self.name = model.graph, name
        self.integers = {t.name: numpy_helper.to_array(t) for t in self.graph.initializer
                         if t.data_type != FLOAT}
        self.shapes = constant_shapes(self.graph, self.integers)
        self.maker = {output: node for node in self.graph.node for output in node.output}
        self.readers = {name: node.op_type for node in self.graph.node for name in node.input}
        self.moments, self.made = {}, {}

    def draw(self, name, make):
        """Sets constant `name` to make(rng, shape); the numbers depend on model and name alone."""
        while name not in self.shapes:
            name = self.maker[name].input[0]  # seen through Reshape or Unsqueeze
        if name not in self.made:
            seed = [SEED, zlib.crc32(self.name.encode()), zlib.crc32(name.encode())]
            rng = np.random.default_rng(seed)
            self.made[name] = np.asarray(make(rng, self.shapes[name]), np.float32)

    def normal(self, name, deviation):
        scale = np.float32(deviation)
        self.draw(name, lambda rng, shape: scale * rng.standard_normal(shape, np.float32))

    def near(self, name, centre):
        """Positive numbers around `centre`, a fifth more or less."""
        self.draw(name, lambda rng, shape: centre * rng.uniform(0.8, 1.2, shape))

    def power(self, name):
        """The expected mean square."""
        mean, variance = self.moments[name]
        return mean * mean + variance

    def contraction(self, node):
        """Filters [O, I/group, ...] and matrices: He-scaled, twice the input's power."""
        shape = self.shape_of(node.input[1])
        fan_in = math.prod(shape[1:])
        if node.op_type == "Gemm" and not attribute(node, "transB", 0):
            fan_in = shape[0]
        power = self.power(node.input[0])
        result = LOGIT_POWER if self.readers.get(node.output[0]) == "Softmax" else 2 * power
        self.normal(node.input[1], math.sqrt(result / power / fan_in))
        if len(node.input) > 2:
            self.normal(node.input[2], 0.1 * math.sqrt(result))
        return 0.0, result

    def batch_normalization(self, node):
        data, scale, bias, mean, variance = node.input
        expected_mean, expected_variance = self.moments[data]
        self.near(scale, 1.0)
        self.normal(bias, 0.1)
        shift = 0.1 * math.sqrt(expected_variance)
        self.draw(mean, lambda rng, shape: rng.normal(expected_mean, shift, shape))
        self.near(variance, expected_variance)
        return 0.0, 1.0

    def binary(self, node):
        """Mul by a constant scale, Add of a constant bias, Sum of results."""
        constants = [i for i in node.input if self.is_constant(i)]
        for name in constants:
            self.near(name, 1.0) if node.op_type == "Mul" else self.normal(name, 0.1)
        parts = [self.moments[i] for i in node.input if i not in constants]
        return sum(m for m, _ in parts), sum(v for _, v in parts)

    def is_constant(self, name):
        node = self.maker.get(name)
        return name in self.shapes or (node is not None and node.op_type in ("Unsqueeze", "Reshape")
                                       and self.is_constant(node.input[0]))

    def shape_of(self, name):
        """Of a constant, or of a Reshape of one."""
        known = self.shapes.get(name)
        return self.integers[self.maker[name].input[1]] if known is None else known

    def moments_after(self, node):
        """Draws the weights of `node`; the moments of its results."""
        kind = node.op_type
        if kind in ("Conv", "Gemm"):
            return self.contraction(node)
        if kind == "BatchNormalization":
            return self.batch_normalization(node)
        if kind in ("Mul", "Add", "Sum"):
            return self.binary(node)
        mean, variance = self.moments[node.input[0]]
        if kind == "Relu":
            return relu_moments(mean, variance)
        if kind == "Concat":
            mean = sum(self.moments[i][0] for i in node.input) / len(node.input)
            return mean, sum(self.power(i) for i in node.input) / len(node.input) - mean * mean
        if kind == "MaxPool":  # of about four independent numbers
            return mean + 1.03 * math.sqrt(variance), variance * 0.49
        if kind in ("AveragePool", "GlobalAveragePool"):
            return mean, variance * 0.5
        if kind in SAME_MOMENTS:
            return mean, variance
        raise SystemExit(f"{self.name}: no rule for the weights of {kind}")

    def run(self):
        for value in self.graph.input:
            self.moments[value.name] = 0.0, 1.0
        for node in self.graph.node:
            if node.output[0] in self.shapes or all(self.is_constant(o) for o in node.output):
                continue
            moments = self.moments_after(node)
            self.moments.update((output, moments) for output in node.output)
        read = {i for node in self.graph.node for i in node.input}
        left = sorted((set(self.shapes) & read) - set(self.made))
        if left:
            raise SystemExit(f"{self.name}: constants that no node uses as a weight: {left}")
        self.store()

    def store(self):
        """The drawn constants become initializers; what made them before goes."""
        graph = self.graph
        nodes = [n for n in graph.node if n.output[0] not in self.made]
        used = {i for n in nodes for i in n.input}
        kept = [t for t in graph.initializer if t.name in used and t.name not in self.made]
        tensors = kept + [numpy_helper.from_array(self.made[n], n) for n in sorted(self.made)]
        inputs = [i for i in graph.input if i.name in used]
        fields = (graph.node, nodes), (graph.initializer, tensors), (graph.input, inputs)
        for field, values in fields:
            del field[:]
            field.extend(values)
        declare_initializers(graph)


def declare_initializers(graph):
    """IR version 3 wants each initializer among the inputs as well."""
    declared = {i.name for i in graph.input}
    for tensor in graph.initializer:
        if tensor.name not in declared:
            value = helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims)
            graph.input.append(value)


def constant_shapes(graph, integers):
    """Name to shape of every float constant: initializers, ConstantOfShape and Constant nodes."""
    shapes = {t.name: tuple(t.dims) for t in graph.initializer if t.data_type == FLOAT}
    for node in graph.node:
        value = attribute(node, "value", None)
        if node.op_type == "ConstantOfShape" and (value is None or value.data_type == FLOAT):
            shapes[node.output[0]] = tuple(int(d) for d in integers[node.input[0]])
        elif node.op_type == "Constant" and value.data_type == FLOAT:
            shapes[node.output[0]] = tuple(value.dims)
    return shapes


def write(name, folder):
    """FOLDER/NAME.onnx; returns its path."""
    model = onnx.load(source_folder() / f"{name}.onnx")
    Randomizer(model, name).run()
    onnx.checker.check_model(model)
    path = pathlib.Path(folder) / f"{name}.onnx"
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(f".{os.getpid()}")
    partial.write_bytes(model.SerializeToString(deterministic=True))
    partial.rename(path)
    return path


def names():
    return sorted(p.stem for p in source_folder().glob("light_*.onnx"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("names", nargs="*", metavar="NAME", help="of " + ", ".join(names()))
    arguments = parser.parse_args()
    for name in arguments.names or names():
        if name not in names():
            parser.error(f"no model {name}; there are {', '.join(names())}")
        path = write(name, arguments.folder)
        print(f"{path}  {path.stat().st_size / 1e6:.1f} MB", flush=True)


if __name__ == "__main__":
    main()
