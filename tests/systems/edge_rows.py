"""Row 64: loops and tiles at sizes of 1, at primes, one off a tile, and beyond what a grid holds.

Each table is one model with an output per row; numpy is the oracle, element by element in f64.
"""
import itertools

import numpy as np
from onnx.helper import np_dtype_to_tensor_dtype

import cases
from build_output import command
from cases import expect, node
from model_list import build_folder

TARGETS = ("cpu", "cuda")
SIZES = (1, 2, 7, 16, 17, 61, 127, 257, 1031)
LARGE = (65537, 1048583)  # more than the rows of a grid; many blocks, the last one short
TOLERANCE = {np.float32: 1e-4, np.float16: 2e-3}


class Table:
    """Nodes of many small graphs, each with inputs and an expected output of its own."""

    def __init__(self, dtype=np.float32):
        self.dtype = dtype
        self.nodes, self.inputs, self.weights, self.expected = [], {}, {}, {}

    def input(self, *dims):
        name = f"x{len(self.inputs)}"
        self.inputs[name] = cases.floats(*dims).astype(self.dtype)
        return name

    def weight(self, *dims):
        name = f"w{len(self.weights)}"
        self.weights[name] = cases.floats(*dims).astype(self.dtype)
        return name

    def value(self, name):
        return (self.inputs | self.weights)[name].astype(np.float64)

    def row(self, op, operands, expected, **attributes):
        name = f"y{len(self.expected)}"
        self.nodes.append(node(op, operands, name, **attributes))
        self.expected[name] = expected

    def results(self):
        """The expected outputs in the model's types: floats, or indices."""
        return {name: array if array.dtype == np.int64 else array.astype(self.dtype)
                for name, array in self.expected.items()}

    def save(self, folder, name):
        inputs, outputs = ([cases.tensor(key, array.shape, np_dtype_to_tensor_dtype(array.dtype))
                            for key, array in arrays.items()]
                           for arrays in (self.inputs, self.results()))
        return cases.save(folder, name, self.nodes, inputs, outputs, self.weights)

    def check(self, path, target, folder):
        model = cases.load(path, target, folder)
        actual = model.run(self.inputs, fill=0xFF)
        model.close()
        self.compare(actual, target)

    def compare(self, actual, target):
        for key, expected in self.expected.items():
            off = np.abs(actual[key].astype(np.float64) - expected).max()
            limit = TOLERANCE[self.dtype] * max(1.0, np.abs(expected).max())
            expect(actual[key].shape == expected.shape and off <= limit,
                   f"{target}: {self.nodes[list(self.expected).index(key)].op_type} of "
                   f"{expected.shape}: off by {off:.3g}")


def contractions():
    table = Table()
    shapes = {shape for s in SIZES for shape in
              ((s, 7, 13), (13, s, 7), (7, 13, s), (s, 1, 1), (1, s, 1), (1, 1, s))}
    for index, (rows, depth, columns) in enumerate(sorted(shapes)):
        x = table.input(rows, depth)
        w = table.weight(depth, columns) if index % 3 else table.input(depth, columns)
        table.row("MatMul", f"{x} {w}", table.value(x) @ table.value(w))
    for batch, size in ((1, 61), (17, 1), (7, 17)):
        x, w = table.input(batch, size, 13), table.input(batch, 13, size)
        table.row("MatMul", f"{x} {w}", table.value(x) @ table.value(w))
    return table


def half_contractions():
    """For tensor cores: from the smallest that they take to some off a tile of every size."""
    table = Table(np.float16)
    sizes = (12, 8, 16), (13, 17, 16), (61, 9, 23), (64, 64, 32), (65, 63, 33), (127, 129, 61)
    for index, (rows, columns, depth) in enumerate(sizes):
        x = table.input(rows, depth)
        w = table.weight(depth, columns) if index % 2 else table.input(depth, columns)
        table.row("MatMul", f"{x} {w}", table.value(x) @ table.value(w))
    x, w = table.input(1, 17, 13, 13), table.weight(31, 17, 3, 3)
    expected = convolve(table.value(x), table.value(w), 2, 1, 1)
    table.row("Conv", f"{x} {w}", expected, pads=[1] * 4, strides=[2] * 2)
    return table


def convolve(x, w, stride, pad, groups):
    """By definition: a sum over channels and taps."""
    x = np.pad(x, [(0, 0), (0, 0), (pad, pad), (pad, pad)])
    parts, channels = w.shape[0] // groups, w.shape[1]
    height, width = (1 + (x.shape[i + 2] - w.shape[i + 2]) // stride for i in range(2))
    y = np.zeros((x.shape[0], w.shape[0], height, width))
    for o, c in itertools.product(range(w.shape[0]), range(channels)):
        plane = x[:, o // parts * channels + c]
        for i, j in itertools.product(range(w.shape[2]), range(w.shape[3])):
            y[:, o] += w[o, c, i, j] * plane[:, i:i + height * stride:stride,
                                             j:j + width * stride:stride][:, :height, :width]
    return y


def convolutions():
    table = Table()
    for channels, filters, size, kernel, stride, pad, groups in (
            (1, 1, 1, 1, 1, 0, 1), (3, 17, 7, 3, 1, 1, 1), (17, 1, 13, 3, 2, 1, 1),
            (16, 16, 17, 3, 1, 1, 1), (31, 33, 5, 1, 1, 0, 1), (7, 7, 61, 5, 3, 2, 7),
            (2, 61, 1, 3, 1, 1, 1), (12, 18, 11, 3, 2, 0, 6), (1, 16, 127, 7, 4, 3, 1),
            (64, 65, 3, 3, 1, 1, 1), (17, 17, 9, 3, 1, 1, 17)):
        x, w = table.input(1, channels, size, size), table.weight(filters, channels // groups,
                                                                  kernel, kernel)
        expected = convolve(table.value(x), table.value(w), stride, pad, groups)
        table.row("Conv", f"{x} {w}", expected, pads=[pad] * 4, strides=[stride] * 2, group=groups)
    return table


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def reductions():
    table = Table()
    shapes = [shape for s in (1, 2, 17, 61, 1031) for shape in ((1, s), (s, 1), (7, s), (s, 7))]
    for rows, columns in [*shapes, (1, LARGE[1]), (LARGE[0], 3)]:
        x = table.input(rows, columns)
        value = table.value(x)
        table.row("ReduceMax", x, value.max(1), axes=[1], keepdims=0)
        table.row("ReduceMean", x, value.mean(0), axes=[0], keepdims=0)
        table.row("Softmax", x, softmax(value))
    for shape in ((3, 17, 5), (1, 1031, 2), (61, 2, 1)):
        x = table.input(*shape)
        table.row("ReduceL1", x, np.abs(table.value(x)).sum(1), axes=[1], keepdims=0)
        table.row("ArgMax", x, table.value(x).argmax(1), axis=1, keepdims=0)
    return table


def elementwise():
    table = Table()
    for size in (*SIZES, *LARGE):
        x, row = table.input(size), table.input(3, 1)
        table.row("Tanh", x, np.tanh(table.value(x)))
        if size < LARGE[0]:
            table.row("Add", f"{row} {x}", table.value(row) + table.value(x))
    for rows, columns in ((1, 1), (1, 257), (61, 17), (127, 64), (33, 1), (LARGE[0], 2)):
        x = table.input(rows, columns)
        table.row("Transpose", x, table.value(x).T, perm=[1, 0])
        table.row("Concat", f"{x} {x}", np.concatenate([table.value(x)] * 2, 1), axis=1)
    return table


def check(make, folder):
    """Compiled for both targets; and the loops of each way of writing them interpreted, where the
    rounding of f16 does not hide what the order of a sum changes.
    """
    table = make()
    path = table.save(folder, make.__name__)
    if table.dtype == np.float32:
        command([build_folder() / "tests/interpret_model", path])
    for target in TARGETS:
        table.check(path, target, folder)


def row64_contractions_of_odd_sizes(folder):
    check(contractions, folder)


def row64_half_contractions_of_odd_sizes(folder):
    check(half_contractions, folder)
    kernels = cases.metadata(folder / "cuda/out")["kernels"]
    found = {kernel["variants"][0]["realisation"] for kernel in kernels}
    expect(found == {"mma_tile"}, f"half contractions on cuda are {found}")


def row64_convolutions_of_odd_sizes(folder):
    check(convolutions, folder)


def row64_reductions_of_odd_sizes(folder):
    check(reductions, folder)


def row64_elementwise_of_odd_sizes(folder):
    check(elementwise, folder)
