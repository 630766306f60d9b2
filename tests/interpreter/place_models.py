"""Small models whose Concat, Split and Slice can be places in a larger value, and some that cannot.

Each of MODELS is a function of a `Net`; what it returns are the outputs. DIMS are those whose dims
vary.
"""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Net:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.nodes, self.weights, self.inputs, self.shapes = [], [], [], {}

    def input(self, name, shape):
        self.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
        return name

    def weight(self, array):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def op(self, op, inputs, count=1, **attributes):
        names = [f"{op.lower()}{len(self.nodes)}_{i}" for i in range(count)]
        self.nodes.append(helper.make_node(op, inputs, names, name=f"n{len(self.nodes)}",
                                           **attributes))
        return names[0] if count == 1 else names

    def conv(self, x, channels, out, size=1, **attributes):
        scale = 1 / np.sqrt(channels * size * size)
        w = self.rng.standard_normal((out, channels, size, size)).astype(np.float32) * scale
        return self.op("Conv", [x, self.weight(w.astype(np.float32))],
                       pads=[size // 2] * 4, **attributes)

    def relu(self, x):
        return self.op("Relu", [x])

    def concat(self, *parts, axis=1):
        return self.op("Concat", list(parts), axis=axis)

    def shuffle(self, x, groups, each, height, width):
        """Channel group * each + c becomes c * groups + group."""
        x = self.op("Reshape", [x, self.ints(-1, groups, each, height, width)])
        x = self.op("Transpose", [x], perm=[0, 2, 1, 3, 4])
        return self.op("Reshape", [x, self.ints(-1, groups * each, height, width)])

    def ints(self, *values):
        return self.weight(np.array(values, np.int64))

    def model(self, outputs):
        results = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None)
                   for name in outputs]
        graph = helper.make_graph(self.nodes, "main", self.inputs, results, self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
        model.ir_version = 8
        return onnx.shape_inference.infer_shapes(model)


def two_convolutions(g, n=1):
    """The result is read with a border, its parts are not."""
    x = g.input("x", [n, 16, 9, 7])
    y = g.concat(g.relu(g.conv(x, 16, 32)), g.conv(x, 16, 16, 3))
    return [g.conv(y, 48, 16, 3)]


def part_with_border(g, n=1):
    """A part is read with a border of its own."""
    x = g.input("x", [n, 16, 9, 7])
    a = g.relu(g.conv(x, 16, 32))
    b = g.relu(g.conv(a, 32, 16, 3))
    return [g.conv(g.concat(a, b), 48, 16)]


def dense_block(g, n=1):
    """Each result of a Concat is the beginning of the next one."""
    x = g.input("x", [n, 16, 8, 8])
    features, channels = g.conv(x, 16, 32), 32
    for _ in range(3):
        new = g.conv(g.relu(g.conv(g.relu(features), channels, 16)), 16, 16, 3)
        features, channels = g.concat(features, new), channels + 16
    return [g.conv(g.relu(features), channels, 16)]


def dense_list(g, n=1):
    """All features so far are joined anew each time."""
    x = g.input("x", [n, 16, 8, 8])
    features, channels = [g.conv(x, 16, 32)], 32
    for _ in range(3):
        joined = g.concat(*features) if len(features) > 1 else features[0]
        features.append(g.conv(g.relu(g.conv(joined, channels, 16)), 16, 16, 3))
        channels += 16
    return [g.conv(g.relu(g.concat(*features)), channels, 16)]


def branches(g, n=1):
    """An Inception block, with a pool among the branches, read by several."""
    x = g.relu(g.conv(g.input("x", [n, 8, 9, 9]), 8, 32))
    a = g.relu(g.conv(x, 32, 16))
    b = g.relu(g.conv(g.relu(g.conv(x, 32, 16)), 16, 32, 7))
    c = g.relu(g.conv(g.relu(g.conv(x, 32, 16)), 16, 16, 5))
    d = g.op("MaxPool", [x], kernel_shape=[3, 3], pads=[1] * 4)
    y = g.concat(a, b, c, d)
    p = g.op("MaxPool", [y], kernel_shape=[3, 3], strides=[2, 2])
    return [g.conv(y, 96, 16), g.conv(p, 96, 16)]


def result_is_output(g, n=1):
    x = g.input("x", [n, 16, 5, 5])
    return [g.concat(g.conv(x, 16, 16), g.conv(x, 16, 20, 3))]


def odd_channels(g, n=1):
    """Parts begin within blocks."""
    x = g.input("x", [n, 16, 6, 6])
    y = g.concat(g.relu(g.conv(x, 16, 20)), g.conv(x, 16, 13, 3), g.conv(x, 16, 17))
    return [g.conv(y, 50, 16, 3)]


def odd_end(g, n=1):
    """The last part ends within a block."""
    x = g.input("x", [n, 16, 6, 6])
    y = g.concat(g.relu(g.conv(x, 16, 32)), g.conv(x, 16, 13, 3))
    return [g.conv(y, 45, 16, 3)]


def part_is_output(g, n=1):
    x = g.input("x", [n, 16, 6, 6])
    a = g.relu(g.conv(x, 16, 16))
    return [a, g.conv(g.concat(a, g.conv(x, 16, 16)), 32, 16)]


def twice(g, n=1):
    """One value in two results, and twice in one."""
    x = g.input("x", [n, 16, 6, 6])
    a, b = g.relu(g.conv(x, 16, 16)), g.relu(g.conv(x, 16, 16, 3))
    left, right = g.concat(a, b), g.concat(b, a)
    both = g.concat(a, a)
    return [g.conv(left, 32, 16, 3), g.conv(right, 32, 16), g.conv(both, 32, 16)]


def other_axes(g, n=1):
    x = g.input("x", [n, 16, 6, 6])
    a, b = g.relu(g.conv(x, 16, 16)), g.conv(x, 16, 16, 3)
    return [g.conv(g.concat(a, b, axis=2), 16, 16, 3), g.concat(b, a, axis=3)]


def rows(g, n=1):
    """Products beside one another along the last axis, and below along the first."""
    x = g.input("x", [n, 12, 24])
    w = [g.weight(g.rng.standard_normal((24, k)).astype(np.float32)) for k in (24, 17)]
    a, b = g.op("MatMul", [x, w[0]]), g.op("MatMul", [x, w[1]])
    y = g.concat(a, b, axis=2)
    return [g.op("Softmax", [y], axis=-1), g.op("ReduceSum", [g.concat(a, x), g.ints(2)])]


def skip(g, n=1):
    """What a deeper level gives is enlarged and joined to what the level began with."""
    x = g.input("x", [n, 16, 8, 8])
    a = g.relu(g.conv(x, 16, 16, 3))
    b = g.relu(g.conv(g.op("MaxPool", [a], kernel_shape=[2, 2], strides=[2, 2]), 16, 32, 3))
    w = g.weight((g.rng.standard_normal((32, 16, 2, 2)) / 6).astype(np.float32))
    up = g.op("ConvTranspose", [b, w], strides=[2, 2])
    return [g.conv(g.concat(up, a), 32, 16, 3)]


def phases(g, n=1):
    """Transposed convolutions whose phases differ in their taps, one with an odd end."""
    x = g.input("x", [n, 16, 5, 6])
    weights = [g.weight((g.rng.standard_normal((16, 32, k, k)) / 12).astype(np.float32))
               for k in (3, 4, 3)]
    a = g.op("ConvTranspose", [x, weights[0]], strides=[2, 2], pads=[1] * 4,
             output_padding=[1, 1])
    b = g.op("ConvTranspose", [x, weights[1]], strides=[2, 2], pads=[1] * 4)
    c = g.op("ConvTranspose", [g.relu(x), weights[2]], strides=[2, 3])
    return [g.conv(g.concat(g.relu(a), b), 64, 16, 3), g.conv(c, 32, 16)]


def enlarged(g, n=1):
    """A feature pyramid: what a level gives is repeated and joined, and goes on by itself.

    As in real ones most memory is needed before, so that the result may lie there from its first
    part on.
    """
    wide = g.relu(g.conv(g.input("x", [n, 16, 8, 8]), 16, 128))
    x = g.relu(g.conv(g.relu(g.conv(wide, 128, 128)), 128, 32))
    deep = g.relu(g.conv(x, 32, 32, 3, strides=[2, 2]))
    scales = g.weight(np.array([1, 1, 2, 2], np.float32))
    up = g.op("Resize", [deep, "", scales], mode="nearest", nearest_mode="floor",
              coordinate_transformation_mode="asymmetric")
    return [g.conv(g.concat(up, x), 64, 16), g.conv(deep, 32, 16)]


def enlarged_alone(g, n=1):
    """Nothing else reads what is repeated, along one axis three times; a border is read of it."""
    x = g.relu(g.conv(g.input("x", [n, 16, 4, 4]), 16, 32, 3))
    scales = g.weight(np.array([1, 1, 3, 2], np.float32))
    up = g.op("Resize", [x, "", scales], mode="nearest", nearest_mode="floor",
              coordinate_transformation_mode="asymmetric")
    return [g.op("MaxPool", [up], kernel_shape=[2, 2], strides=[2, 2])]


def halves(g, n=1):
    """YOLO's C2f: halves of a result go on by themselves and into the Concat."""
    x = g.input("x", [n, 16, 8, 8])
    a, b = g.op("Split", [g.relu(g.conv(x, 16, 64)), g.ints(32, 32)], count=2, axis=1)
    c = g.relu(g.conv(g.relu(g.conv(b, 32, 32, 3)), 32, 32, 3))
    return [g.conv(g.concat(a, b, c), 96, 16)]


def distances(g, n=1):
    """A detector's: of 16 channels together, joined from two levels, the mean by their softmax."""
    x = g.input("x", [n, 16, 6, 6])
    levels = []
    for stride in (1, 2):
        level = g.conv(x, 16, 64, 3, strides=[stride, stride])
        levels.append(g.op("Reshape", [level, g.ints(0, 64, -1)]))
    y = g.op("Reshape", [g.concat(*levels, axis=2), g.ints(0, 4, 16, -1)])
    y = g.op("Softmax", [g.op("Transpose", [y], perm=[0, 2, 1, 3])], axis=1)
    return [g.conv(y, 16, 1)]


def turned(g, n=1):
    """Rotary embedding, whose result is an output under another shape: no box of that."""
    x = g.op("Reshape", [g.input("x", [n, 3, 32]), g.ints(0, 0, 4, 8)])
    angles = g.input("angles", [n, 3, 1, 4])
    cos, sin = g.op("Cos", [angles]), g.op("Sin", [angles])
    a, b = g.op("Split", [x, g.ints(4, 4)], count=2, axis=3)
    real = g.op("Sub", [g.op("Mul", [cos, a]), g.op("Mul", [sin, b])])
    imaginary = g.op("Add", [g.op("Mul", [sin, a]), g.op("Mul", [cos, b])])
    return [g.op("Reshape", [g.concat(real, imaginary, axis=3), g.ints(0, 0, 32)])]


def idle(g, n=1):
    """The first part is there long before the second, and what is large lies between."""
    x = g.input("x", [n, 16, 8, 8])
    a = g.relu(g.conv(x, 16, 16))
    b = a
    for _ in range(3):
        b = g.relu(g.conv(b, 128 if b != a else 16, 128))
    return [g.conv(g.concat(a, g.relu(g.conv(b, 128, 64))), 80, 16)]


# Functions and batches whose result would keep too much memory.
REFUSED = {(idle, 1), (idle, "n")}

# Functions whose rows want blocks of channels.
MOVED_ON_CUDA = {distances}

# Functions and whether they can do without moving anything.
def long_rows(g, n=1):
    """The softmax of a joined value, whose rows are too long to be kept by one thread."""
    x = g.input("x", [n, 4, 84, 100])
    joined = g.concat(g.conv(x, 4, 32), g.relu(g.conv(x, 4, 32)))
    return [g.op("Softmax", [g.op("Reshape", [joined, g.ints(-1, 4, 16, 8400)])], axis=2)]


def shuffled_groups(g, n=1):
    """A unit of ShuffleNet: parts begin within blocks, those of the last rows gather channels."""
    x = g.input("x", [n, 40, 6, 5])
    a = g.relu(g.conv(x, 10, 20, group=4))
    b = g.conv(g.shuffle(a, 4, 5, 6, 5), 1, 20, 3, group=20)
    c = g.conv(b, 5, 40, group=4)
    return [g.conv(g.relu(g.op("Add", [c, x])), 40, 16, 3)]


def shuffled_pool(g, n=1):
    """The same with a step of 2, beside what is pooled: 24 channels join 36."""
    x = g.conv(g.input("x", [n, 3, 9, 7]), 3, 24)
    a = g.shuffle(g.relu(g.conv(x, 12, 18, group=2)), 2, 9, 9, 7)
    b = g.conv(g.conv(a, 1, 18, 3, group=18, strides=[2, 2]), 9, 36, group=2)
    pool = g.op("AveragePool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    return [g.relu(g.concat(pool, b))]


def shuffled_halves(g, n=1):
    """A unit of ShuffleNetV2, where the shuffle has two readers: one of them is a copy."""
    x = g.relu(g.conv(g.input("x", [n, 16, 6, 5]), 16, 44))
    kept, other = g.op("Split", [g.shuffle(x, 2, 22, 6, 5)], count=2, axis=1, num_outputs=2)
    a = g.relu(g.conv(other, 22, 22))
    b = g.conv(g.conv(a, 1, 22, 3, group=22), 22, 22)
    return [g.conv(g.concat(kept, g.relu(b)), 44, 16)]


MODELS = {
    two_convolutions: True, part_with_border: True, dense_block: True, dense_list: True,
    branches: True, odd_end: True, skip: True, phases: True, enlarged: True,
    enlarged_alone: True, odd_channels: True, part_is_output: False,
    twice: False, other_axes: False, rows: False, result_is_output: False, halves: True,
    idle: False, distances: True, turned: False, shuffled_groups: True, shuffled_pool: True,
    shuffled_halves: False, long_rows: False,
}
