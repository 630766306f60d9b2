"""Random ONNX graphs whose numbers are well conditioned, many of them in one model.

    model = random_graph.make_model(seed=7, count=40)

Graph number g is a component of the model: its values are named "g<number>_...", so that a wrong
output names the graph that it belongs to. Ops that jump (Floor, comparisons, ArgMax) read only
values that are exact, that is the inputs and what data movement makes of them: elsewhere a rounding
error could become any difference. Graphs of odd number have a leading dim "n".
"""
import dataclasses
import math

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from random_integers import INTEGER_OPS
from random_layouts import LAYOUT_OPS
from random_ops import OPS

OPSET = 21
BATCH = "n"
BATCH_BOUNDS = (1, 3)
MOST_ELEMENTS = 3000
ONNX_TYPES = {"f4": TensorProto.FLOAT, "i8": TensorProto.INT64, "?": TensorProto.BOOL}


@dataclasses.dataclass(frozen=True)
class Value:
    name: str
    shape: tuple  # without the leading dim of a batched graph
    exact: bool
    dtype: str = "f4"


class GraphBuilder:
    """Nodes, constants and values of one component."""

    def __init__(self, rng, prefix, batched):
        self.rng, self.prefix, self.lead = rng, prefix, int(batched)
        self.nodes, self.constants, self.inputs, self.values, self.used = [], [], [], [], set()

    # --- Choices ---------------------------------------------------------------------------------
    def pick(self, items):
        return items[int(self.rng.integers(len(items)))]

    def chance(self, share):
        return self.rng.random() < share

    def dim(self, low=1, high=9):
        return int(self.rng.integers(low, high + 1))

    def value(self, accept=lambda v: v.shape):
        """A float value that is accepted (by default one with axes), often one of the newest."""
        found = [v for v in self.values if v.dtype == "f4" and accept(v)]
        if not found:
            return None
        return found[-1 - min(int(self.rng.geometric(0.4)) - 1, len(found) - 1)]

    def integer(self, accept=lambda v: v.shape):
        """An integer value, likewise."""
        found = [v for v in self.values if v.dtype == "i8" and accept(v)]
        return self.pick(found[-3:]) if found else None

    def axis(self, value):
        """An axis as ONNX counts it, from either end, and where it is in value.shape."""
        index = int(self.rng.integers(len(value.shape)))
        rank = len(value.shape) + self.lead
        onnx_axis = index + self.lead
        return (onnx_axis - rank if self.chance(0.3) else onnx_axis), index

    # --- Building --------------------------------------------------------------------------------
    def fresh(self):
        return f"{self.prefix}_{len(self.nodes)}_{len(self.constants)}"

    def constant(self, array):
        name = f"{self.fresh()}_c"
        self.constants.append(numpy_helper.from_array(np.asarray(array, order="C"), name))
        return name

    def weights(self, shape, fan_in=1):
        return self.constant((self.rng.standard_normal(shape) / math.sqrt(fan_in)).astype("f4"))

    def ints(self, *items):
        return self.constant(np.array(items, "i8"))

    def input(self, shape):
        value = Value(f"{self.prefix}_x{len(self.inputs)}", tuple(shape), True)
        self.inputs.append(value)
        self.values.append(value)
        return value

    def add(self, op, inputs, shape, exact=False, dtype="f4", outputs=1, **attributes):
        """Appends a node; its first output."""
        names = [i.name if isinstance(i, Value) else i for i in inputs]
        self.used.update(names)
        base = self.fresh()
        results = [f"{base}_{op}{k or ''}" for k in range(outputs)]
        self.nodes.append(helper.make_node(op, names, results, name=base, **attributes))
        self.values.append(Value(results[0], tuple(int(d) for d in shape), exact, dtype))
        return self.values[-1]

    def add_more(self, shapes, exact):
        """Values of the further outputs of the last node."""
        for name, shape in zip(self.nodes[-1].output[1:], shapes):
            self.values.append(Value(name, tuple(shape), exact))

    def outputs(self):
        return [v for v in self.values if v.name not in self.used]

    def full_shape(self, value):
        return ((BATCH,) if self.lead else ()) + value.shape


def make_graph(rng, number):
    builder = GraphBuilder(rng, f"g{number}", batched=number % 2 == 1)
    rank = builder.pick([1, 2, 3, 3, 3, 4])
    shape = [builder.dim(1, 20 if rank < 3 else 9) for _ in range(rank)]
    if builder.chance(0.3):
        shape[0] = builder.pick([16, 32, 24])  # whole channel blocks
    builder.input(shape)
    if builder.chance(0.4):
        builder.input(shape)
    wanted, tries = builder.dim(3, 14), 0
    while len(builder.nodes) < wanted and tries < 200:
        tries += 1
        before = len(builder.values)
        builder.pick(OPS + INTEGER_OPS + LAYOUT_OPS)(builder)
        too_large = any(math.prod(v.shape) > MOST_ELEMENTS for v in builder.values[before:])
        if too_large:
            break
    return builder


def make_model(seed, count, first=0):
    """One model of graphs first .. first + count - 1; each depends on the seed and its number."""
    graphs = [make_graph(np.random.default_rng([seed, number]), number)
              for number in range(first, first + count)]

    def infos(pairs):
        return [helper.make_tensor_value_info(v.name, ONNX_TYPES[v.dtype], g.full_shape(v))
                for g, v in pairs]

    graph = helper.make_graph(
        [n for g in graphs for n in g.nodes], "random",
        infos((g, v) for g in graphs for v in g.inputs),
        infos((g, v) for g in graphs for v in g.outputs()),
        [c for g in graphs for c in g.constants])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
    onnx.checker.check_model(model)
    return model


def dims_of(path):
    """The bounds of the symbol, where the model of a file has it."""
    inputs = onnx.load(path).graph.input
    named = any(d.dim_param for i in inputs for d in i.type.tensor_type.shape.dim)
    return {BATCH: "{}..{}".format(*BATCH_BOUNDS)} if named else {}
