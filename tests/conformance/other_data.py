"""Tests whose output sizes depend on data, with other data of the same shapes.

    for case in other_data.cases_of(other_data.kept_of(suite.read_all()), seed=1): case.load()

What is expected is what onnxruntime gives, or ONNX's evaluator where onnxruntime does not give the
results of the test for the data of the test; of images it is what was encoded. Data are drawn again
until that one takes them, ONNX allows them, and some output is not that of the test. Tests of which
no draw is taken are lines of other_data.txt, each with its reason.
"""
import dataclasses
import functools
import re
import sys
import zlib

import numpy as np
import onnx

import other_images
import suite
from build_output import Failure
from compare_outputs import difference

sys.path.insert(0, str(suite.FOLDER.parent / "random"))

from operator_case import run_onnx, run_reference  # noqa: E402

DRAWS = 200
MOST_ELEMENTS = 100000  # of an output
EXPANDED = "_expanded"
IMAGE = re.compile(f"test_image_decoder_decode_({'|'.join(other_images.FORMATS)})_rgb")


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


# (operator, operand) -> what ONNX's text asks of it and neither reference looks at, or how it has
# to be for the evaluator to go by the text.
ASKED = {("Resize", 2): "positive", ("Upsample", 1): "positive", ("STFT", 1): "positive",
         ("MelWeightMatrix", 0): "positive",
         ("OneHot", 1): "whole",  # the evaluator rounds it up, which the text has cut off
         ("StringNormalizer", 0): "not empty"}  # the evaluator drops such strings, too
ALLOWS = {"positive": lambda value: value > 0, "whole": lambda value: value == np.trunc(value),
          "not empty": lambda value: value != ""}
KEPT = {("DFT", 2)}  # an axis: along another one the transform may have no length
# onnxruntime finds no piece in a string without bytes, Python's split, and so the evaluator, one.
BY_EVALUATOR = {"StringSplit"}


def is_allowed(model, inputs):
    for node in model.graph.node:
        for index, name in enumerate(node.input):
            asked, value = ASKED.get((node.op_type, index)), inputs.get(name)
            if value is None or asked is None:
                continue
            if not ALLOWS[asked](value).all():
                return False
    return True


def with_text(value):
    """Strings as objects, which numpy may hold otherwise."""
    if isinstance(value, list):
        return [with_text(item) for item in value]
    return value.astype(object) if isinstance(value, np.ndarray) and is_text(value) else value


def results_of(model, inputs, references=(run_reference, run_onnx)):
    """Outputs by name of the first reference that has them, or None."""
    if any(node.op_type in BY_EVALUATOR for node in model.graph.node):
        references = (run_onnx,)
    found = next(filter(None, (run(model, inputs) for run in references)), None)
    return found and {name: with_text(value) for name, value in found.items()}


def models_of(case):
    """That of the test and, where it is a function's expansion, that of the function."""
    loaded = suite.Case.load(case)
    yield loaded
    if case.name.endswith(EXPANDED):
        plain = suite.parse(case.name.removesuffix(EXPANDED)).load()
        if all(list(a) == list(b) for a, b in zip(plain[1:], loaded[1:])):  # names
            yield plain


def oracle_of(case):
    """A function from inputs to outputs, or to None: of onnxruntime, or of ONNX's evaluator, the
    first that gives what the test expects. None where neither does.
    """
    for loaded in models_of(case):
        for run in (run_reference, run_onnx):
            results = results_of(loaded.model, loaded.inputs, (run,))
            if results and not any(difference(results[name], value, *case.tolerances())
                                   for name, value in loaded.expected.items()):
                return functools.partial(results_of, loaded.model, references=(run,))
    return None


def arrays_of(value):
    """One of a tensor, and those of the items of a sequence or of an optional."""
    if isinstance(value, list):
        return [array for item in value for array in arrays_of(item)]
    return [] if value is None else [np.asarray(value)]


def is_other(results, expected):
    """Whether types and ranks are those of the test, and a size or an element is not."""
    both = [(arrays_of(results[name]), arrays_of(value)) for name, value in expected.items()]
    pairs = [pair for a, b in both for pair in zip(a, b)]
    if any(a.dtype != b.dtype or a.ndim != b.ndim or a.size > MOST_ELEMENTS for a, b in pairs):
        return False
    return any(len(a) != len(b) for a, b in both) or \
        any(a.shape != b.shape or not np.array_equal(a, b) for a, b in pairs)


def with_image(rng, form, loaded):
    """The case with another image, of another size."""
    (name, given), (output, _) = *loaded.inputs.items(), *loaded.expected.items()
    data, pixels = other_images.draw(rng, form, given.size)
    return suite.Loaded(loaded.model, {name: data}, {output: pixels})


@dataclasses.dataclass(frozen=True)
class OtherData(suite.Case):
    seed: int = 0

    def __str__(self):
        return f"{super().__str__()}@{self.seed}"

    @functools.cache
    def draw(self):
        """The case as it is loaded; None where no draw is taken."""
        loaded = super().load()
        rng = np.random.default_rng([zlib.crc32(self.name.encode()), self.seed])
        if IMAGE.fullmatch(self.name):
            return with_image(rng, IMAGE.fullmatch(self.name)[1], loaded)
        oracle = oracle_of(self)
        kept = {name for node in loaded.model.graph.node for index, name in enumerate(node.input)
                if (node.op_type, index) in KEPT}
        for _ in range(DRAWS if oracle else 0):
            inputs = other_inputs(rng, loaded.inputs, kept)
            if not is_allowed(loaded.model, inputs):
                continue
            results = oracle(inputs)
            if results and is_other(results, loaded.expected):
                return suite.Loaded(loaded.model, inputs, results)
        return None

    def load(self):
        drawn = self.draw()
        if drawn is None:
            raise Failure(f"{self}: no data were taken in {DRAWS} draws")
        model = onnx.ModelProto.FromString(drawn.model.SerializeToString())
        return suite.Loaded(model, drawn.inputs, drawn.expected)

    def bounds(self):
        """Twice what the outputs have with these data."""
        return [(name, axis, 2 * size or 1) for name, value in self.load().expected.items()
                if isinstance(value, np.ndarray) for axis, size in enumerate(value.shape)]


def parse(text):
    """A case of suite, or "test_tile@7", which has other data by the seed 7."""
    name, _, seed = text.partition("@")
    case = suite.parse(name)
    return OtherData(case.name, case.folder, case.opsets, int(seed)) if seed else case


def kept_of(cases):
    """Those whose output sizes depend on data, but for the lines of other_data.txt."""
    left_out = {name for name, _ in suite.read_table("other_data.txt", 2)}
    return [case for case in cases
            if case.name not in left_out and depends_on_data(case.load().model)]


def cases_of(cases, seed):
    """Each with other data. A failure where none are taken."""
    made = [OtherData(case.name, case.folder, case.opsets, seed) for case in cases]
    lacking = [case.name for case in made if case.draw() is None]
    if lacking:
        raise Failure(f"no other data are taken of {lacking}: see other_data.txt")
    return made


def check_left_out(seed):
    """A failure where data are taken of a test that is left out, or its sizes do not depend on
    data.
    """
    for name, _ in suite.read_table("other_data.txt", 2):
        case = parse(f"{name}@{seed}")
        if not depends_on_data(suite.Case.load(case).model) or case.draw() is not None:
            raise Failure(f"{name}: take it out of other_data.txt")
