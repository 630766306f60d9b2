"""Synthetic ONNX models of any number of nodes, for checks of how the compiler's time grows.

    synthetic.build("residual", 1000)   # onnx.ModelProto of 1000 nodes
"""

import numpy as np
from onnx import TensorProto, helper, numpy_helper


class Net:
    """Nodes and weights under way."""

    def __init__(self):
        self.nodes, self.weights, self.count = [], [], 0
        self.random = np.random.default_rng(0)

    def add(self, op, inputs, **attributes):
        name = f"v{self.count}"
        self.count += 1
        self.nodes.append(helper.make_node(op, inputs, [name], f"{op}_{self.count}", **attributes))
        return name

    def weight(self, *shape):
        """A new initializer, scaled so that values neither vanish nor explode along a chain."""
        fan_in = int(np.prod(shape[1:])) if len(shape) == 4 else shape[0]
        value = self.random.standard_normal(shape) / np.sqrt(max(1, fan_in))
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(value.astype(np.float32), name))
        return name

    def integers(self, values):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(values, np.int64), name))
        return name

    def conv(self, value, channels=8):
        return self.add("Conv", [value, self.weight(channels, channels, 3, 3)], pads=[1, 1, 1, 1])


def elementwise(net, value, nodes):
    ops = ["Relu", "Tanh", "Sigmoid", "Neg", "Abs"]
    for i in range(nodes):
        value = net.add(ops[i % len(ops)], [value])
    return value


def gate(net, value, kind):
    """x times a function of x, in one of several forms: each reads x twice."""
    if kind % 3 == 0:
        return net.add("HardSwish", [value])
    if kind % 3 == 1:
        return net.add("Mul", [value, net.add("Sigmoid", [value])])
    return net.add("Max", [value, net.add("Neg", [value])])


def gates(net, value, nodes):
    """Elementwise, and each value is read more than once."""
    while net.count + 2 <= nodes:
        value = gate(net, value, net.count)
    return value


def moved_gates(net, value, nodes):
    """Gates with copies between them, which read at other indices than their own."""
    start, middle, end, axis = (net.integers([n]) for n in (0, 1, 1 << 30, 0))
    while net.count + 5 <= nodes:
        value = gate(net, value, net.count)
        parts = [net.add("Slice", [value, a, b, axis]) for a, b in ((middle, end), (start, middle))]
        value = net.add("Concat", parts, axis=0)
    return value


def row_gates(net, value, nodes):
    """Softmax over what a few gates give."""
    while net.count + 9 <= nodes:
        for kind in range(4):
            value = gate(net, value, kind)
        value = net.add("Softmax", [value], axis=-1)
    return value


def places(net, value, nodes):
    """A walk of indices through a table, which each step reads at what the last one found."""
    value = net.add("Cast", [value], to=TensorProto.INT64)
    table = net.integers(np.roll(np.arange(50), 7))
    while net.count + 2 <= nodes:
        value = net.add("Gather", [table, value])
    return net.add("Cast", [value], to=TensorProto.FLOAT)


def conv(net, value, nodes):
    while net.count + 2 <= nodes:
        value = net.add("Relu", [net.conv(value)])
    return value


def matmul(net, value, nodes):
    while net.count + 3 <= nodes:
        product = net.add("MatMul", [value, net.weight(16, 16)])
        value = net.add("Tanh", [net.add("Add", [product, net.weight(16)])])
    return value


def residual(net, value, nodes):
    while net.count + 5 <= nodes:
        branch = net.conv(net.add("Relu", [net.conv(value)]))
        value = net.add("Relu", [net.add("Add", [value, branch])])
    return value


def varied(net, value, nodes):
    """Dense layers of 40 pairs of widths: more kernels than real nets of this size have."""
    width = 16
    while net.count + 3 <= nodes:
        wanted = 16 if net.count + 6 > nodes else 8 + 7 * (net.count // 3 % 40)
        product = net.add("MatMul", [value, net.weight(width, wanted)])
        value = net.add("Tanh", [net.add("Add", [product, net.weight(wanted)])])
        width = wanted
    return value


def wide(net, value, nodes):
    """One input read by the heads of many chains; a tree of sums joins their ends."""
    ends = []
    while net.count + 11 <= nodes:
        end = value
        for _ in range(5):
            end = net.add("Relu", [net.conv(end)])
        ends.append(end)
    while len(ends) > 1:
        ends = [net.add("Sum", ends[i : i + 8]) if len(ends[i : i + 8]) > 1 else ends[i]
                for i in range(0, len(ends), 8)]
    return ends[0]


FAMILIES = {
    "elementwise": (elementwise, [4, 64]),
    "gates": (gates, [4, 64]),
    "moved_gates": (moved_gates, [40, 8]),
    "row_gates": (row_gates, [32, 40]),
    "places": (places, [40]),
    "conv": (conv, [1, 8, 6, 6]),
    "matmul": (matmul, [4, 16]),
    "varied": (varied, [4, 16]),
    "residual": (residual, [1, 8, 6, 6]),
    "wide": (wide, [1, 8, 6, 6]),
}


def build(family, nodes):
    """A model of about `nodes` nodes of one of FAMILIES, input x, output y."""
    make, shape = FAMILIES[family]
    net = Net()
    last = make(net, "x", nodes)
    net.nodes.append(helper.make_node("Identity", [last], ["y"]))
    graph = helper.make_graph(
        net.nodes, family,
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)], net.weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
