"""ONNX's node tests that use only operators of ours, with their data.

    for case in node_cases.read_all():
        loaded = case.load()   # loaded.model, loaded.inputs, loaded.expected
"""
import collections
import dataclasses
import pathlib
import subprocess
import sys

import onnx
from onnx import numpy_helper

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent / "models"))

from build_output import Failure, command  # noqa: E402
from model_list import build_folder  # noqa: E402

DATA = pathlib.Path(onnx.__file__).parent / "backend/test/data/node"

# A model, and arrays by the names of its inputs and outputs.
Loaded = collections.namedtuple("Loaded", "model inputs expected")


PROTOS = {"tensor_type": onnx.TensorProto, "sequence_type": onnx.SequenceProto,
          "optional_type": onnx.OptionalProto}


def value_of(proto):
    """An array; a list of arrays; None, or what an optional holds."""
    if isinstance(proto, onnx.TensorProto):
        return numpy_helper.to_array(proto)
    if isinstance(proto, onnx.SequenceProto):
        return [numpy_helper.to_array(tensor) for tensor in proto.tensor_values]
    if proto.HasField("tensor_value"):
        return numpy_helper.to_array(proto.tensor_value)
    return value_of(proto.sequence_value) if proto.HasField("sequence_value") else None


def items_of(value):
    if isinstance(value, list):
        return value
    return [] if value is None else [value]


def room_flags(name, items):
    """--max-items and --shape for a sequence with these items, where they have one rank."""
    flags = [f"--max-items={name}={len(items) + 2}"]
    shapes = [item.shape for item in items]
    if len({len(shape) for shape in shapes}) == 1:
        dims = [f"{min(axis)}..{max(axis)}" for axis in zip(*shapes)]
        flags.append(f"--shape={name}={'x'.join(dims) or 'scalar'}")
    return flags


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    known: frozenset  # numbers of the inputs that a compile has to know: shapes, axes and the like
    opsets: tuple     # (domain, version), sorted

    def __str__(self):
        """What parse() reads."""
        numbers = ",".join(map(str, sorted(self.known)))
        return f"{self.name}:{numbers}" if numbers else self.name

    def read_data(self, kind, values):
        """The protos of the first data set, one per value of the graph: TensorProto and others."""
        folder, protos = DATA / self.name / "test_data_set_0", []
        for number, value in enumerate(values):
            data = (folder / f"{kind}_{number}.pb").read_bytes()
            protos.append(PROTOS[value.type.WhichOneof("value")].FromString(data))
            protos[-1].name = value.name
        return protos

    def bounds(self):
        """(output, axis, most) of each axis of an output, for sizes that only a run knows: twice
        what it has in the data.
        """
        outputs = self.read_data("output", onnx.load(DATA / self.name / "model.onnx").graph.output)
        return [(tensor.name, axis, 2 * dim) for tensor in outputs
                if isinstance(tensor, onnx.TensorProto) for axis, dim in enumerate(tensor.dims)]

    def rooms(self):
        """(input, items) of each input that is no tensor."""
        inputs = self.read_data("input", onnx.load(DATA / self.name / "model.onnx").graph.input)
        return [(proto.name, items_of(value_of(proto))) for proto in inputs
                if not isinstance(proto, onnx.TensorProto)]

    def load(self):
        """The model with the known inputs as initializers and the others pinned to their data."""
        model = onnx.load(DATA / self.name / "model.onnx")
        graph, free, inputs = model.graph, [], {}
        for number, tensor in enumerate(self.read_data("input", graph.input)):
            if number in self.known:
                graph.initializer.append(tensor)
                continue
            if not isinstance(tensor, onnx.TensorProto):
                free.append(graph.input[number])
                inputs[tensor.name] = value_of(tensor)
                continue
            free.append(onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type,
                                                           tensor.dims))
            inputs[tensor.name] = numpy_helper.to_array(tensor)
        del graph.input[:]
        graph.input.extend(free)
        expected = {tensor.name: value_of(tensor)
                    for tensor in self.read_data("output", graph.output)}
        return Loaded(model, inputs, expected)


def read_opsets(name):
    model = onnx.load(DATA / name / "model.onnx")
    return tuple(sorted((entry.domain, entry.version) for entry in model.opset_import))


def parse(text):
    """"test_tile:1" is test_tile, whose input 1 a compile has to know."""
    name, _, numbers = text.partition(":")
    known = frozenset(map(int, numbers.split(","))) if numbers else frozenset()
    return Case(name, known, read_opsets(name))


def read_all():
    """Every case that passes in the evaluator (node_tests.cc), in order of the names."""
    # On stderr are notes of the library that decodes images.
    listed = command([build_folder() / "tests/list_node_cases", DATA],
                     stderr=subprocess.DEVNULL).splitlines()
    excluded = {words[0] for words in read_table("excluded.txt", 2)}
    cases = map(parse, listed)
    return [case for case in cases if case.name not in excluded]


def read_table(name, columns):
    """The lines of a table as lists of words, the last of which is the rest of the line."""
    lines = (FOLDER / name).read_text().splitlines()
    table = [line.split(None, columns - 1) for line in lines if line and line[0] != "#"]
    for words in table:
        if len(words) < columns:
            raise Failure(f"{name}: {' '.join(words)}: no reason")
    return table
