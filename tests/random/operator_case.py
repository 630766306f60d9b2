"""One drawn operator: its node, its operands, and what onnxruntime makes of them.

    draw = Draw(np.random.default_rng([1, 17]))
    case = make_case(draw, family(draw), "case17", "folded")    # Dropped where there is none

A family is a function of a Draw that returns a Node.
"""
import dataclasses
import math

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper, reference
from onnxruntime.capi.onnxruntime_pybind11_state import NotImplemented as NoKernel

import exact_sums

OPSET = 21
MOST_ELEMENTS = 4000
LONG_DIMS = (31, 37, 61, 64, 67, 97, 127, 257, 509)
MOODS = ("plain",) * 8 + ("empty", "long", "long", "single")  # of shapes
FORMS = ("", "folded", "symbolic", "sized")
SIZED_BY_FLOATS = ("Resize", "Upsample")  # that a run may give


class Dropped(Exception):
    """A node that makes no case; the message is one of few reasons."""


class NoSymbol(Dropped):
    """One that has no case with sizes of the run."""


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
    # Or "onnx", its reference evaluator, or a function from the operands to a list of results.
    reference: object = "onnxruntime"
    # Of results that are random: a function from them to what is wrong, or None. What is expected
    # has their types and shapes only.
    holds: object = None
    each: bool = False       # whether each element is compared by its own size, with a floor
    # Instead of one node: a function from the name and the names of operands and results to the
    # nodes of the case, which is then one of `op` as it is among them.
    nodes: object = None


@dataclasses.dataclass
class Case:
    name: str
    node: Node
    model: onnx.ModelProto
    inputs: dict
    expected: dict
    dims: dict  # bounds of the symbol, where there is one
    form: str = ""

    @property
    def operator(self):
        """As docs/operators.md writes it."""
        return f"{self.node.domain}.{self.node.op}" if self.node.domain else self.node.op

    def bounds(self):
        """(output, axis, most) for sizes that only the run knows: twice what they are here."""
        if self.form != "sized":
            return []
        return [(name, axis, max(2 * size, 1)) for name, array in self.expected.items()
                for axis, size in enumerate(array.shape)]

    def describe(self):
        shapes = [None if a is None else f"{a.dtype}{list(a.shape)}" for a in self.node.operands]
        known = {i: self.node.operands[i].tolist() for i in self.node.known
                 if i < len(self.node.operands) and self.node.operands[i] is not None
                 and self.node.operands[i].size <= 8}
        return f"{self.node.op}({shapes}, {self.node.attributes}, constants {known})"


class Draw:
    """Random choices. The mood is of shapes: with a dim of 0, with a long one, or of ones."""

    def __init__(self, rng, mood="plain"):
        self.rng, self.mood = rng, mood

    def dim(self, low=1, high=6):
        return int(self.rng.integers(low, high + 1))

    def pick(self, items):
        return items[int(self.rng.integers(len(items)))]

    def chance(self, share):
        return self.rng.random() < share

    def shape(self, least=1, most=4, low=1, high=6):
        dims = [self.dim(low, high) for _ in range(self.dim(least, most))]
        if self.mood == "plain" or not dims or low > 2:
            return dims
        at = self.dim(0, len(dims) - 1)
        if self.mood == "long":
            dims = [min(dim, 2) if i != at else self.pick(LONG_DIMS) for i, dim in enumerate(dims)]
        elif low <= 1:
            dims[at] = 0 if self.mood == "empty" else 1
        return dims

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

    def numbers(self, shape, types=("f4", "f4", "i4", "i8", "f8", "u1", "i1", "f2", "u2", "i2",
                                    "u4", "u8", "?")):
        """Elements of some type; integers are small."""
        dtype = np.dtype(self.pick(types))
        if dtype.kind == "f":
            return self.floats(shape, dtype)
        if dtype.kind == "b":
            return self.ints(0, 1, shape, dtype)
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
    made = [helper.make_node(node.op, names, outputs, name=name, domain=node.domain,
                             **node.attributes)] if node.nodes is None else (
        node.nodes(name, names, outputs))
    operands = list(enumerate(node.operands))
    inputs = [helper.make_tensor_value_info(
        names[i], helper.np_dtype_to_tensor_dtype(a.dtype),
        symbolic_shape(node, name, i) if symbolic else a.shape) for i, a in operands if i in free]
    constants = [numpy_helper.from_array(np.asarray(a, order="C"), names[i])
                 for i, a in operands if a is not None and i not in free]
    graph = helper.make_graph(made, name, inputs,
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
    return {name: array if isinstance(array, list) else np.asarray(array)
            for name, array in zip(evaluator.output_names, results)}


def run_reference(model, inputs, otherwise=lambda model, inputs: None):
    """Outputs by name, or None where onnxruntime refuses the model; where it only has no kernel of
    these types, what `otherwise` makes of it.
    """
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    try:
        exact = exact_sums.of(onnx.ModelProto.FromString(model.SerializeToString()))
        session = onnxruntime.InferenceSession(exact.SerializeToString(), options,
                                               providers=["CPUExecutionProvider"])
        names = [output.name for output in session.get_outputs()]
        return dict(zip(names, session.run(names, inputs)))
    except NoKernel:
        return otherwise(model, inputs)
    except Exception:  # pylint: disable=broad-except; each refusal has a class of its own
        return None


def expect(node, name, model, inputs):
    """Outputs by name, or None where the reference refuses the model."""
    if callable(node.reference):
        present = [a for a in node.operands if a is not None]
        return {f"{name}_y{i}": array for i, array in enumerate(node.reference(present))
                if i not in node.unwanted}
    if not node.stand_in:
        if node.reference == "onnx":
            return run_onnx(model, inputs)
        return run_reference(model, inputs, run_onnx)
    other, convert = node.stand_in
    results = run_reference(build(other, name, set()), {})
    return results and {output: convert(array) for output, array in results.items()}


def least_symbol(node):
    """The least first dim that may have a symbol: not 1 beside others, to which it would be
    repeated, as what has a symbol is not, nor where a Squeeze drops it without being told to.
    """
    if node.op == "Squeeze":
        return 1 if len(node.operands) > 1 or node.attributes else 2
    return 2 if len(node.operands) > 1 else 1


def has_symbol(node, free):
    """Whether one operand alone is an input, and has a first dim that may have a symbol."""
    shapes = [node.operands[i].shape for i in free]
    return len(shapes) == 1 and len(shapes[0]) > 0 and shapes[0][0] >= least_symbol(node)


def choose_symbols(draw, node, name, free):
    """Inputs of form "symbolic", and the bounds of its symbols; None where it has none."""
    if node.symbols:
        free = set(free) | {operand for operand, _ in node.symbols}
        sizes = {name + suffix: node.operands[operand].shape[axis]
                 for (operand, axis), suffix in node.symbols.items()}
        return free, {symbol: f"1..{size + draw.dim(0, 3)}" for symbol, size in sizes.items()}
    if not has_symbol(node, free):
        free = {i for i, a in enumerate(node.operands) if a is not None}
        free = {min(free)} - set(node.known) if free else set()
        if not has_symbol(node, free):
            return None
    return free, {name: f"1..{node.operands[min(free)].shape[0] + draw.dim(0, 3)}"}


def sizes_given(node):
    """The operands that a run may be given and that sizes may follow from."""
    kinds = "if" if node.op in SIZED_BY_FLOATS else "i"
    return {i for i in node.known if i < len(node.operands) and node.operands[i] is not None
            and node.operands[i].dtype.kind in kinds}


def choose_inputs(draw, node, name, form):
    """The operands that are inputs of the run, the bounds of symbols, and the form: one of "sized"
    without operands that sizes follow from is "symbolic".
    """
    present = [i for i, a in enumerate(node.operands) if a is not None]
    free = {i for i in present if i not in node.known and not draw.chance(0.15)}
    if form == "sized" and sizes_given(node):
        return free | sizes_given(node), {}, form
    if form not in ("sized", "symbolic"):
        return free, {}, form
    chosen = choose_symbols(draw, node, name, free)
    if chosen is None:
        raise NoSymbol("no dim for a symbol")
    return *chosen, "symbolic"


def declare_outputs(model, expected, is_open):
    """Gives the outputs their types; dims where they are not open."""
    for value in model.graph.output:
        array = expected[value.name]
        kind = helper.np_dtype_to_tensor_dtype(array.dtype)
        shape = [None] * array.ndim if is_open else array.shape
        value.CopyFrom(helper.make_tensor_value_info(value.name, kind, shape))


def make_case(draw, node, name, form):
    """The case; Dropped where there is none. Form "folded" makes constants of all operands,
    "symbolic" makes a symbol of a dim, and "sized" inputs of what sizes follow from.
    """
    free, dims, form = choose_inputs(draw, node, name, form)
    if any(math.prod(a.shape) > MOST_ELEMENTS for a in node.operands if a is not None):
        raise Dropped("many elements")
    inputs = {f"{name}_x{i}": node.operands[i] for i in free}
    model = build(node, name, free)
    expected = expect(node, name, model, inputs)
    if expected is None:
        raise Dropped("refused by the reference")
    if any(a.size > MOST_ELEMENTS for a in expected.values()):
        raise Dropped("many elements")
    if form == "folded":
        model, inputs = build(node, name, set()), {}
    if form == "symbolic":
        model = build(node, name, free, True)
    declare_outputs(model, expected, form in ("symbolic", "sized"))
    # What is left is carried to other processes.
    node = dataclasses.replace(node, stand_in=(), reference="", nodes=None)
    return Case(name, node, model, inputs, expected, dims, form)


LIMITS = {"float16": 2e-3, "bfloat16": 1.2e-2}  # instead of a node's tolerance


def difference(node, actual, expected):
    """What is wrong with an output; None where nothing is."""
    if actual.dtype != expected.dtype or actual.shape != expected.shape:
        return f"{actual.dtype}{actual.shape}, not {expected.dtype}{expected.shape}"
    if node.holds is not None:
        return node.holds(actual)
    if not actual.size:
        return None
    if expected.dtype == object:
        wrong = [(x, y) for x, y in zip(actual.flat, expected.flat) if x != y]
        return f"{wrong[0][0]!r}, not {wrong[0][1]!r}" if wrong else None
    a, b = actual.astype("f8"), expected.astype("f8")
    finite = np.isfinite(a) & np.isfinite(b)
    if not np.array_equal(a[~finite], b[~finite], equal_nan=True):
        return f"{a[~finite][:8]}, not {b[~finite][:8]}"
    error = np.where(finite, np.abs(np.where(finite, a, 0) - np.where(finite, b, 0)), 0)
    if expected.dtype.kind in "fV" and "int" not in expected.dtype.name:
        limit = LIMITS.get(expected.dtype.name, node.tolerance)
        least = 1e-3 * min(limit, 1e-3)
        limit = limit * np.where(finite, np.abs(b), 0) + least if node.each else (
            limit * max(np.abs(b[finite]).max(initial=0), 1e-3))
    else:
        limit = node.steps
    if (error <= limit).all():
        return None
    at = np.unravel_index((error - limit).argmax(), error.shape)
    return (f"at {[int(i) for i in at]} {actual[at]}, not {expected[at]}; "
            f"{(error > limit).sum()} of {error.size} elements off")
