"""One drawn operator: its node, its operands, and what onnxruntime makes of them.

    draw = Draw(np.random.default_rng([1, 17]))
    case = make_case(draw.family(), "case17")    # None where onnxruntime refuses it

A family is a function of a Draw that returns a Node.
"""
import dataclasses
import math

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper, reference

import exact_sums

OPSET = 21
MOST_ELEMENTS = 4000


@dataclasses.dataclass
class Node:
    """A node with its operands as arrays (None: left out); `known` numbers are always constants."""
    op: str
    operands: list
    attributes: dict = dataclasses.field(default_factory=dict)
    known: tuple = ()
    outputs: int = 1
    opset: int = OPSET
    tolerance: float = 1e-4  # of floats of 32 bits and more, relative to the largest element
    steps: int = 0           # by which integers may differ: results of rounded floats
    unwanted: tuple = ()     # outputs that are left out
    # (operand, axis) -> suffix of the name of its symbol in form "symbolic"; without any the first
    # axis of the only input has one
    symbols: dict = dataclasses.field(default_factory=dict)
    # What onnxruntime does not run: a node that it does, and what makes an output of that one of
    # this.
    stand_in: tuple = ()
    domain: str = ""
    version: int = 1         # of the domain
    reference: str = "onnxruntime"  # or "onnx", its reference evaluator


@dataclasses.dataclass
class Case:
    name: str
    node: Node
    model: onnx.ModelProto
    inputs: dict
    expected: dict
    dims: dict  # bounds of the symbol, where there is one

    def describe(self):
        shapes = [None if a is None else f"{a.dtype}{list(a.shape)}" for a in self.node.operands]
        known = {i: self.node.operands[i].tolist() for i in self.node.known
                 if i < len(self.node.operands) and self.node.operands[i] is not None
                 and self.node.operands[i].size <= 8}
        return f"{self.node.op}({shapes}, {self.node.attributes}, constants {known})"


class Draw:
    """Random choices."""

    def __init__(self, rng):
        self.rng = rng

    def dim(self, low=1, high=6):
        return int(self.rng.integers(low, high + 1))

    def pick(self, items):
        return items[int(self.rng.integers(len(items)))]

    def chance(self, share):
        return self.rng.random() < share

    def shape(self, least=1, most=4, low=1, high=6):
        return [self.dim(low, high) for _ in range(self.dim(least, most))]

    def axis(self, rank):
        """As ONNX counts it, from either end."""
        return self.dim(-rank, rank - 1)

    def floats(self, shape, dtype="f4"):
        return self.rng.standard_normal(shape).astype(dtype)

    def positive(self, shape, low=0.5, high=1.5):
        return self.rng.uniform(low, high, shape).astype("f4")

    def ints(self, low, high, shape=(), dtype="i8"):
        """From low to high, both included."""
        return self.rng.integers(low, high + 1, shape).astype(dtype)

    def numbers(self, shape, types=("f4", "f4", "i4", "i8", "f8", "u1", "i1", "f2")):
        """Elements of some type; integers are small."""
        dtype = np.dtype(self.pick(types))
        if dtype.kind == "f":
            return self.floats(shape, dtype)
        return self.ints(0 if dtype.kind == "u" else -9, 9, shape, dtype)

    def with_ties(self, shape):
        """Floats of which some are equal."""
        return (self.ints(-6, 6, shape) / 2).astype("f4")

    def subset(self, items, least=0):
        """Some of the items, in any order."""
        order = [items[int(i)] for i in self.rng.permutation(len(items))]
        return order[:self.dim(min(least, len(items)), len(items))]


def vector(*items, dtype="i8"):
    return np.array(items, dtype)


def symbolic_shape(node, name, operand):
    """Dims of an operand in form "symbolic"."""
    shape = list(node.operands[operand].shape)
    for (of, axis), suffix in (node.symbols or {(operand, 0): ""}).items():
        if of == operand:
            shape[axis] = name + suffix
    return shape


def build(node, name, free, symbolic=False):
    """A model of the node; operands with numbers in `free` are its inputs, and have symbols for
    names of dims.
    """
    names = ["" if a is None else f"{name}_x{i}" for i, a in enumerate(node.operands)]
    outputs = ["" if i in node.unwanted else f"{name}_y{i}" for i in range(node.outputs)]
    made = helper.make_node(node.op, names, outputs, name=name, domain=node.domain,
                            **node.attributes)
    operands = list(enumerate(node.operands))
    inputs = [helper.make_tensor_value_info(
        names[i], helper.np_dtype_to_tensor_dtype(a.dtype),
        symbolic_shape(node, name, i) if symbolic else a.shape) for i, a in operands if i in free]
    constants = [numpy_helper.from_array(np.asarray(a, order="C"), names[i])
                 for i, a in operands if a is not None and i not in free]
    graph = helper.make_graph([made], name, inputs,
                              [onnx.ValueInfoProto(name=output) for output in outputs if output],
                              constants)
    opsets = [helper.make_opsetid("", node.opset)]
    if node.domain:
        opsets.append(helper.make_opsetid(node.domain, node.version))
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def run_onnx(model, inputs):
    """Outputs by name, or None where ONNX's evaluator has no result."""
    try:
        evaluator = reference.ReferenceEvaluator(model)
        with np.errstate(all="ignore"):
            results = evaluator.run(None, inputs)
    except Exception:  # pylint: disable=broad-except; it raises what numpy raises
        return None
    return {name: np.asarray(array) for name, array in zip(evaluator.output_names, results)}


def run_reference(model, inputs):
    """Outputs by name, or None where onnxruntime refuses the model."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    try:
        exact = exact_sums.of(onnx.ModelProto.FromString(model.SerializeToString()))
        session = onnxruntime.InferenceSession(exact.SerializeToString(), options,
                                               providers=["CPUExecutionProvider"])
        names = [output.name for output in session.get_outputs()]
        return dict(zip(names, session.run(names, inputs)))
    except Exception:  # pylint: disable=broad-except; each refusal has a class of its own
        return None


def expect(node, name, model, inputs):
    """Outputs by name, or None where the reference refuses the model."""
    if not node.stand_in:
        return (run_onnx if node.reference == "onnx" else run_reference)(model, inputs)
    other, convert = node.stand_in
    results = run_reference(build(other, name, set()), {})
    return results and {output: convert(array) for output, array in results.items()}


def has_symbol(node, free):
    """Whether one operand alone is an input, and has a first dim."""
    shapes = [node.operands[i].shape for i in free]
    return len(shapes) == 1 and len(shapes[0]) > 0 and shapes[0][0] > 0


def choose_symbols(draw, node, name, free):
    """Inputs of form "symbolic", and the bounds of its symbols; None where it has none."""
    if node.symbols:
        free = set(free) | {operand for operand, _ in node.symbols}
        sizes = {name + suffix: node.operands[operand].shape[axis]
                 for (operand, axis), suffix in node.symbols.items()}
        return free, {symbol: f"1..{size + draw.dim(0, 3)}" for symbol, size in sizes.items()}
    if not has_symbol(node, free):
        free = {i for i, a in enumerate(node.operands) if a is not None}
        free = {min(free)} - set(node.known)
        if not has_symbol(node, free):
            return None
    return free, {name: f"1..{node.operands[min(free)].shape[0] + draw.dim(0, 3)}"}


def make_case(draw, node, name, form):
    """The case, or None where there is none. Form "folded" makes constants of all operands, and
    "symbolic" makes a symbol of a dim.
    """
    present = [i for i, a in enumerate(node.operands) if a is not None]
    free = {i for i in present if i not in node.known and not draw.chance(0.15)}
    dims = {}
    if form == "symbolic":
        chosen = choose_symbols(draw, node, name, free)
        if chosen is None:
            return None
        free, dims = chosen
    if any(math.prod(node.operands[i].shape) > MOST_ELEMENTS for i in present):
        return None
    inputs = {f"{name}_x{i}": node.operands[i] for i in free}
    model = build(node, name, free)
    expected = expect(node, name, model, inputs)
    if expected is None or any(a.size > MOST_ELEMENTS for a in expected.values()):
        return None
    if form == "folded":
        model, inputs = build(node, name, set()), {}
    if form == "symbolic":
        model = build(node, name, free, True)
    for value in model.graph.output:
        array = expected[value.name]
        kind = helper.np_dtype_to_tensor_dtype(array.dtype)
        shape = [None] * array.ndim if form == "symbolic" else array.shape
        value.CopyFrom(helper.make_tensor_value_info(value.name, kind, shape))
    return Case(name, node, model, inputs, expected, dims)


def difference(node, actual, expected):
    """What is wrong with an output; None where nothing is."""
    if actual.dtype != expected.dtype or actual.shape != expected.shape:
        return f"{actual.dtype}{actual.shape}, not {expected.dtype}{expected.shape}"
    if not actual.size:
        return None
    if expected.dtype == object:
        wrong = [(x, y) for x, y in zip(actual.flat, expected.flat) if x != y]
        return f"{wrong[0][0]!r}, not {wrong[0][1]!r}" if wrong else None
    a, b = actual.astype("f8"), expected.astype("f8")
    finite = np.isfinite(a) & np.isfinite(b)
    if not np.array_equal(a[~finite], b[~finite], equal_nan=True):
        return f"{a.ravel()[:8]}, not {b.ravel()[:8]}"
    error = np.where(finite, np.abs(np.where(finite, a, 0) - np.where(finite, b, 0)), 0)
    if expected.dtype.kind == "f":
        limit = {2: 2e-3}.get(expected.dtype.itemsize, node.tolerance)
        limit *= max(np.abs(b[finite]).max(initial=0), 1e-3)
    else:
        limit = node.steps
    if error.max() <= limit:
        return None
    at = np.unravel_index(error.argmax(), error.shape)
    return (f"at {[int(i) for i in at]} {actual[at]}, not {expected[at]}; "
            f"{(error > limit).sum()} of {error.size} elements off")
