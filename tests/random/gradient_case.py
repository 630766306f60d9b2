"""One graph with nodes that differentiate it, and what central differences make of it.

    case = Case("mul", np.random.default_rng(1))
    x = case.input([2, 3])
    case.differentiate(case.op("Mul", x, x), [x])
    case.expected()          # output -> gradient, by ONNX's reference evaluator in f64

The graph is that of ONNX in f64 for the evaluator, and in the element type that a compile is to
have; its names begin with that of the case, so that many make one model.
"""
import dataclasses
import functools
import math

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

OPSET = 21
TRAINING = "ai.onnx.preview.training"
STEP = 1e-5         # of central differences of f64: what they leave out is of the order 1e-10
SECOND_STEP = 1e-3  # of differences of differences


class Erf(OpRun):
    """In f64: that of the evaluator has 24 bits."""
    def _run(self, x):
        return (np.vectorize(math.erf, otypes=[float])(x),)


class Gelu(OpRun):
    """As ONNX's text has it; that of the evaluator is made of its Erf."""
    def _run(self, x, approximate="none"):
        if approximate == "tanh":
            inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)
            return (0.5 * x * (1 + np.tanh(inner)),)
        return (0.5 * x * (1 + np.vectorize(math.erf, otypes=[float])(x / math.sqrt(2))),)


class MaxPool(OpRun):
    """By onnxruntime in f64: that of the evaluator fails with some pads and strides."""
    def _run(self, x, kernel_shape=None, strides=None, pads=None, **_):
        return (pool_session(x.ndim, tuple(kernel_shape), tuple(strides), tuple(pads)).run(
            None, {"x": x})[0],)


@functools.cache
def pool_session(rank, kernel_shape, strides, pads):
    node = helper.make_node("MaxPool", ["x"], ["y"], kernel_shape=kernel_shape, strides=strides,
                            pads=pads)
    infos = [helper.make_tensor_value_info(name, onnx.TensorProto.DOUBLE, [None] * rank)
             for name in "xy"]
    model = helper.make_model(helper.make_graph([node], "g", infos[:1], infos[1:]), ir_version=10,
                              opset_imports=[helper.make_opsetid("", OPSET)])
    return onnxruntime.InferenceSession(model.SerializeToString(),
                                        providers=["CPUExecutionProvider"])


@dataclasses.dataclass
class Derivative:
    y: str
    xs: list
    zs: list
    given: dict    # x or z -> the input whose value it has here
    outputs: list  # one of each x


class Case:
    def __init__(self, name, rng):
        self.name, self.rng = name, rng
        self.nodes = []        # (op, inputs, outputs, attributes)
        self.floats = {}       # inputs and initializers -> f64
        self.constants = {}    # integers and bools
        self.weights = set()   # of floats, those that are initializers
        self.symbols = {}      # input -> {axis: symbol}
        self.derivatives = []
        self.count = 0
        self.second_of = None  # a Derivative whose gradient is differentiated again
        self.found = None      # by expected()

    def fresh(self, what="v"):
        self.count += 1
        return f"{self.name}_{what}{self.count}"

    def draw(self, shape, low=-1.5, high=1.5):
        """Numbers apart from each other and from 0, where functions have kinks."""
        count = int(np.prod(shape))
        steps = np.linspace(low, high, count + 1)[:-1] + (high - low) / (2 * count or 1)
        steps = np.where(np.abs(steps) < 0.02, 0.03, steps)
        return self.rng.permutation(steps).reshape(shape)

    def input(self, shape, low=-1.5, high=1.5, symbols=None):
        name = self.fresh("x")
        self.floats[name] = self.draw(shape, low, high)
        self.symbols[name] = {axis: f"{self.name}_{symbol}"
                              for axis, symbol in (symbols or {}).items()}
        return name

    def weight(self, shape, low=-1.5, high=1.5):
        name = self.input(shape, low, high)
        self.weights.add(name)
        return name

    def number(self, value):
        """A float that nothing differentiates by."""
        name = self.weight([])
        self.floats[name] = np.array(value, float)
        return name

    def constant(self, values, dtype=np.int64):
        name = self.fresh("c")
        self.constants[name] = np.array(values, dtype)
        return name

    def ops(self, op, inputs, count, **attributes):
        outputs = [self.fresh(op.lower()) for _ in range(count)]
        self.nodes.append((op, list(inputs), outputs, attributes))
        return outputs

    def op(self, op, *inputs, **attributes):
        return self.ops(op, inputs, 1, **attributes)[0]

    def differentiate(self, y, xs, zs=(), given=None):
        outputs = [self.fresh("d") for _ in xs]
        self.derivatives.append(Derivative(y, list(xs), list(zs), given or {}, outputs))
        return outputs

    def shape_of(self, name):
        return self.evaluate([name])[name].shape

    def proto_nodes(self, dtype):
        """The nodes of ONNX; attribute `to` of "float" is the type of the case."""
        made = []
        for op, inputs, outputs, attributes in self.nodes:
            kept = {key: (helper.np_dtype_to_tensor_dtype(np.dtype(dtype)) if value == "float"
                          else value) for key, value in attributes.items()}
            made.append(helper.make_node(op, inputs, outputs, name=outputs[0], **kept))
        return made

    def gradient_nodes(self):
        made = []
        for derivative in self.derivatives:
            names = [*derivative.xs, *derivative.zs]
            more = {"zs": derivative.zs} if derivative.zs else {}
            made.append(helper.make_node(
                "Gradient", [derivative.given.get(name, name) for name in names],
                derivative.outputs, name=derivative.outputs[0], domain=TRAINING,
                xs=derivative.xs, y=derivative.y, **more))
        return made

    def evaluator(self, outputs, replaced):
        """A function from values for some inputs to the outputs, by ONNX's evaluator in f64; where
        names are `replaced`, they have those values and nothing computes them.
        """
        nodes = [node for node in self.proto_nodes(np.float64)
                 if not set(node.output) & replaced.keys()]
        feeds = {**self.floats, **replaced}
        inputs = [helper.make_tensor_value_info(name, onnx.TensorProto.DOUBLE, array.shape)
                  for name, array in feeds.items()]
        constants = [numpy_helper.from_array(array, name)
                     for name, array in self.constants.items()]
        results = [helper.make_tensor_value_info(name, onnx.TensorProto.DOUBLE, None)
                   for name in outputs]
        model = helper.make_model(helper.make_graph(nodes, "g", inputs, results, constants),
                                  opset_imports=[helper.make_opsetid("", OPSET)])
        evaluator = ReferenceEvaluator(model, new_ops=[Erf, Gelu, MaxPool])
        return lambda values: evaluator.run(None, {**feeds, **values})

    def evaluate(self, outputs):
        return dict(zip(outputs, self.evaluator(outputs, {})({})))

    def evaluator_of(self, y, replaced):
        """A function from values for `replaced` names to the sum of y."""
        function = self.evaluator([y], replaced)
        return lambda values: float(np.sum(function(values)[0]))

    def values_of(self, derivative):
        """The values at which the graph is differentiated."""
        names = [*derivative.xs, *derivative.zs]
        computed = self.evaluate([derivative.given.get(name, name) for name in names])
        return {name: computed[derivative.given.get(name, name)] for name in names}

    def expected(self):
        """Output -> (gradient, how much half the step changes it)."""
        self.found = self.found or dict(self.by_differences())
        return self.found

    def by_differences(self):
        for derivative in self.derivatives:
            values = self.values_of(derivative)
            inner = self.second_of
            if inner is not None and derivative.y in inner.outputs:
                yield from self.second_differences(derivative, values)
                continue
            if derivative is inner:  # its numbers are those of the outer one's steps
                continue
            function = self.evaluator_of(derivative.y, values)
            for x, output in zip(derivative.xs, derivative.outputs):
                yield output, differences(function, values, x, STEP)

    def second_differences(self, derivative, values):
        """Of the sum of a gradient: the inner one by the steps of the outer one."""
        inner = self.second_of
        by = inner.xs[inner.outputs.index(derivative.y)]
        function = self.evaluator_of(inner.y, values)

        def total(changed):
            gradient, _ = differences(lambda moved: function({**changed, **moved}),
                                      {**values, **changed}, by, SECOND_STEP)
            return float(gradient.sum())
        for x, output in zip(derivative.xs, derivative.outputs):
            yield output, differences(total, values, x, SECOND_STEP)


def differences(function, values, x, step):
    """The gradient of a function by values[x], and the greatest change with half the step."""
    array = np.array(values[x], float)
    gradient, halved = np.zeros(array.shape), np.zeros(array.shape)
    for index in np.ndindex(array.shape):
        for size, into in ((step, gradient), (step / 2, halved)):
            ends = []
            for sign in (1, -1):
                moved = array.copy()
                moved[index] += sign * size
                ends.append(function({x: moved}))
            into[index] = (ends[0] - ends[1]) / (2 * size)
    return halved, np.abs(gradient - halved)
