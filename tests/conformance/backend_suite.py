"""ONNX's backend tests (model.onnx, test_data_set_*) through the C table of what aotc writes.

    test = backend_suite.Test(folder)
    result = backend_suite.check(test, Settings("cuda"), work_folder)    # result.stage, result.text

Every input of a test is given to the run; none becomes a constant. What the table says of a model
does not depend on the data, but for sizes: axes that the model leaves open get the sizes of the
data, and those of outputs a bound of twice the largest one, in case that none is derived.
"""
import collections
import dataclasses
import pathlib

import onnx
from onnx import numpy_helper

import compare_outputs
import suite
import table_values
from build_output import Failure, build_library, compile_model, model_name
from model_table import CompiledModel

STAGES = ("passed", "import refused", "compile failed", "run status", "mismatch")
COMPILER = ("g++", "-std=c++17", "-O1")
REFUSED = "exit status 1:"       # of aotc: an error of the model or of flags

Result = collections.namedtuple("Result", "name stage text")


@dataclasses.dataclass(frozen=True)
class Settings:
    target: str = "cpu"
    flags: tuple = ()
    compiler: tuple = COMPILER


class Refused(Failure):
    """aotc has no program for the model."""


def of_proto(path, type_proto):
    """An array, a list, or None, as the type of the value says."""
    data, kind = path.read_bytes(), type_proto.WhichOneof("value")
    if kind == "sequence_type":
        return numpy_helper.to_list(onnx.SequenceProto.FromString(data))
    if kind == "optional_type":
        return numpy_helper.to_optional(onnx.OptionalProto.FromString(data))
    return numpy_helper.to_array(onnx.TensorProto.FromString(data))


def shapes_of(value):
    """The shapes of all tensors in a value."""
    if value is None:
        return []
    if isinstance(value, (list, tuple)):
        return [shape for item in value for shape in shapes_of(item)]
    return [value.shape] if hasattr(value, "shape") else []


class Test:
    """The model and the data of a folder."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.path = self.folder / "model.onnx"
        self.graph = onnx.load(self.path, load_external_data=False).graph
        constants = {tensor.name for tensor in self.graph.initializer}
        self.inputs = [value for value in self.graph.input if value.name not in constants]
        self.sets = [(self.read(folder, "input", self.inputs),
                      self.read(folder, "output", self.graph.output))
                     for folder in sorted(self.folder.glob("test_data_set_*"))]

    def read(self, folder, kind, values):
        count = len(list(folder.glob(f"{kind}_*.pb")))
        return [of_proto(folder / f"{kind}_{i}.pb", value.type)
                for i, value in enumerate(values[:count])]


def tensor_type(value):
    """None where the value is no tensor."""
    kind = value.type.WhichOneof("value")
    return value.type.tensor_type if kind == "tensor_type" else None


def is_open(tensor):
    """Whether the model leaves the rank or a dim open."""
    return not tensor.HasField("shape") or any(
        not dim.HasField("dim_value") for dim in tensor.shape.dim)


def shape_flags(inputs, data):
    """--shape of inputs that the model leaves open, and room for sequences, for all data that are
    given."""
    flags = []
    for i, value in enumerate(inputs):
        given = [one[i] for one in data if i < len(one)]
        if tensor_type(value) is None:
            flags += suite.room_flags(value.name, sum(map(suite.items_of, given), []))
            continue
        shapes = [one.shape for one in given if hasattr(one, "shape")]
        if not shapes or not is_open(tensor_type(value)):
            continue
        spans = [(min(sizes), max(sizes)) for sizes in zip(*shapes)]
        text = "x".join(f"{low}" if low == high else f"{low}..{high}" for low, high in spans)
        flags += [f"--shape={value.name}={text}"] if text else []
    return flags


def bound_flags(outputs, results):
    """--bound of each axis of an output: twice the largest size of the data."""
    flags = []
    for i, value in enumerate(outputs):
        shapes = [shape for one in results if i < len(one) for shape in shapes_of(one[i])]
        if tensor_type(value) is not None:
            flags += [f"--bound={value.name}:{axis}={max(2 * max(sizes), 1)}"
                      for axis, sizes in enumerate(zip(*shapes))]
    return flags


def build(path, settings, folder, flags, number=[0]):
    """A CompiledModel. Refused where aotc refuses the model, another Failure where what it writes
    cannot be built.
    """
    try:
        outdir = compile_model(path, settings.target, folder, {}, [*settings.flags, *flags])
    except Failure as failure:
        raise (Refused if str(failure).startswith(REFUSED) else Failure)(str(failure)) from None
    number[0] += 1  # a process loads a path once
    library = folder / f"model{number[0]}.so"
    build_library(outdir, settings.target, library, 1, settings.compiler)
    return CompiledModel(library, model_name(outdir))


def ordered(model, inputs, data):
    """Data in the order of the table, which may lack inputs that nothing reads."""
    by_name = {value.name: one for value, one in zip(inputs, data)}
    return [by_name.get(info.name.decode()) for info in model.inputs]


def check(test, settings, folder):
    """The stage that a test reaches, with the text of what stopped it there."""
    name, flags = test.folder.name, shape_flags(test.inputs, [inputs for inputs, _ in test.sets])
    flags += bound_flags(test.graph.output, [outputs for _, outputs in test.sets])
    try:
        model = build(test.path, settings, folder, flags)
    except Refused as failure:
        return Result(name, "import refused", str(failure))
    except Failure as failure:
        return Result(name, "compile failed", str(failure))
    tolerances = compare_outputs.tolerances(test.folder)
    for inputs, expected in test.sets:
        try:
            actual = table_values.run(model, ordered(model, test.inputs, inputs))
        except Failure as failure:
            return Result(name, "run status", str(failure))
        text = compare_outputs.difference(actual, expected, *tolerances)
        if text:
            return Result(name, "mismatch", text)
    model.close()
    return Result(name, "passed", "")
