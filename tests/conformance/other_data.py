"""Node tests whose output sizes depend on data, with other data of the same shapes.

    for case in other_data.cases_of(node_cases.read_all(), seed=1): case.load()

What is expected is onnxruntime's, or of ONNX's evaluator where onnxruntime lacks the operator. Data
are drawn again until one of the two takes them, ONNX allows them, the sizes stay within the bounds
of the test (twice its own sizes), and some output is not that of the test.
"""
import dataclasses
import sys
import zlib

import numpy as np
import onnx

import node_cases
from build_output import Failure

sys.path.insert(0, str(node_cases.FOLDER.parent / "random"))

from operator_case import run_onnx, run_reference  # noqa: E402

DRAWS = 40
LEAST_TESTED = 50  # of all node tests


def permuted(rng, array):
    return rng.permutation(array.ravel()).reshape(array.shape)


def drawn_again(rng, array):
    """From its own elements, so that what is an index, an axis or a size stays one."""
    return rng.choice(array.ravel(), array.size).reshape(array.shape)


def is_text(array):
    return array.dtype.kind in "OU"


def with_zeros(rng, array):
    """Strings become empty."""
    zero = "" if is_text(array) else array.dtype.type(0)
    return np.where(rng.random(array.shape) < rng.random(), array, zero).astype(array.dtype)


def moved(rng, array):
    """Integers by 1 at most, floats by little; of strings the order of the letters turns."""
    if is_text(array):
        turned = [text[::-1] for text in array.ravel()]
        return np.array(turned, array.dtype).reshape(array.shape)
    if array.dtype.kind in "iu":
        step = rng.integers(-1 if array.min(initial=0) > 0 or array.dtype.kind == "i" else 0, 2,
                            array.shape)
        # What counts from the end, or is to be derived, goes no further below.
        least = min(array.min(initial=0), 0) if array.dtype.kind == "i" else 0
        moved_by = (array + step.astype(array.dtype)).astype(array.dtype)
        return np.maximum(moved_by, least) if least < 0 else moved_by
    if array.dtype.kind == "b":
        return rng.random(array.shape) < rng.random()
    return (array + 0.3 * rng.standard_normal(array.shape)).astype(array.dtype)


CHANGES = (permuted, drawn_again, with_zeros, moved, lambda rng, array: array)


def changed_value(rng, change, value):
    """Of an array, of the items of a sequence, or of what an optional holds."""
    if isinstance(value, list):
        return [changed_value(rng, change, item) for item in value]
    # Of a scalar NumPy makes no array by itself.
    return np.asarray(change(rng, value)) if value is not None and value.size else value


def other_inputs(rng, inputs, kept=()):
    changed = {}
    for name, array in inputs.items():
        if name in kept:
            changed[name] = array
            continue
        changed[name] = changed_value(rng, CHANGES[rng.integers(len(CHANGES))], array)
    return changed


def depends_on_data(model):
    """Whether a dim of an output is not known from those of the inputs."""
    copy = onnx.ModelProto.FromString(model.SerializeToString())
    for value in (*copy.graph.output, *copy.graph.value_info):
        value.type.tensor_type.ClearField("shape")
    inferred = onnx.shape_inference.infer_shapes(copy, data_prop=True)
    tensors = [value.type.tensor_type for value in inferred.graph.output]
    return any(not t.HasField("shape") or any(not dim.HasField("dim_value") for dim in t.shape.dim)
               for t in tensors)


# (operator, operand) -> what ONNX's text asks of it and neither reference looks at.
ASKED = {("Resize", 2): "positive", ("Upsample", 1): "positive", ("STFT", 1): "positive",
         ("MelWeightMatrix", 0): "positive",
         ("OneHot", 1): "whole"}  # the evaluator rounds it up, which the text has cut off
KEPT = {("DFT", 2)}  # an axis: along another one the transform may have no length
# onnxruntime finds no piece in a string without bytes, Python's split, and so the evaluator, one.
BY_EVALUATOR = {"StringSplit"}


def is_allowed(model, inputs):
    for node in model.graph.node:
        for index, name in enumerate(node.input):
            asked, value = ASKED.get((node.op_type, index)), inputs.get(name)
            if value is None or asked is None:
                continue
            if not (value > 0 if asked == "positive" else value == np.trunc(value)).all():
                return False
    return True


def results_of(model, inputs):
    """Outputs by name, or None where neither reference has them."""
    if any(node.op_type in BY_EVALUATOR for node in model.graph.node):
        return run_onnx(model, inputs)
    return run_reference(model, inputs) or run_onnx(model, inputs)


def arrays_of(value):
    """One of a tensor, and those of the items of a sequence or of an optional."""
    if isinstance(value, list):
        return [array for item in value for array in arrays_of(item)]
    return [] if value is None else [np.asarray(value)]


def fits(results, bounds):
    return all(array.ndim > axis and array.shape[axis] <= most
               for name, axis, most in bounds for array in arrays_of(results[name]))


def is_other(results, expected):
    """Whether types and ranks are those of the test, and a size or an element is not."""
    both = [(arrays_of(results[name]), arrays_of(value)) for name, value in expected.items()]
    if any(len(a) != len(b) for a, b in both):
        return False
    pairs = [pair for a, b in both for pair in zip(a, b)]
    if any(a.dtype != b.dtype or a.ndim != b.ndim for a, b in pairs):
        return False
    return any(a.shape != b.shape or not np.array_equal(a, b) for a, b in pairs)


@dataclasses.dataclass(frozen=True)
class OtherData(node_cases.Case):
    seed: int = 0

    def __str__(self):
        return f"{super().__str__()}@{self.seed}"

    def draw(self):
        """The case as it is loaded; None where no draw is taken."""
        loaded, bounds = super().load(), self.bounds()
        rng = np.random.default_rng([zlib.crc32(self.name.encode()), self.seed])
        kept = {name for node in loaded.model.graph.node for index, name in enumerate(node.input)
                if (node.op_type, index) in KEPT}
        for _ in range(DRAWS):
            inputs = other_inputs(rng, loaded.inputs, kept)
            if not is_allowed(loaded.model, inputs):
                continue
            results = results_of(loaded.model, inputs)
            if results and fits(results, bounds) and is_other(results, loaded.expected):
                return node_cases.Loaded(loaded.model, inputs, results)
        return None

    def load(self):
        drawn = self.draw()
        if drawn is None:
            raise Failure(f"{self}: no data were taken in {DRAWS} draws")
        return drawn


def parse(text):
    """A case of node_cases, or "test_tile:1@7", which has other data by the seed 7."""
    text, _, seed = text.partition("@")
    case = node_cases.parse(text)
    return OtherData(case.name, case.known, case.opsets, int(seed)) if seed else case


def cases_of(cases, seed, count=None):
    """All, or `count` of them, of which data were taken; says how many were not. A failure where
    there are few.
    """
    chosen = [case for case in cases if depends_on_data(case.load().model)]
    if count:
        rng = np.random.default_rng(seed)
        chosen = [chosen[i] for i in sorted(rng.permutation(len(chosen))[:count])]
    made = [OtherData(case.name, case.known, case.opsets, seed) for case in chosen]
    taken = [case for case in made if case.draw() is not None]
    left = sorted({case.name for case in made} - {case.name for case in taken})
    print(f"sizes of {len(made)} tests depend on data; no other data are taken of {left}")
    least = min(len(made) * 3 // 4, LEAST_TESTED) if count or len(cases) > 1000 else 0
    if len(taken) < max(least, 1):
        raise Failure(f"other data for {len(taken)} tests, and not for {least}")
    return taken
