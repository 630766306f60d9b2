"""ONNX's node tests that use only operators of ours, with their data.

    for case in node_cases.read_all():
        loaded = case.load()   # loaded.model, loaded.inputs, loaded.expected
"""
import collections
import dataclasses
import pathlib
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
        """The tensors of the first data set, one per value of the graph."""
        folder, tensors = DATA / self.name / "test_data_set_0", []
        for number, value in enumerate(values):
            tensor = onnx.TensorProto.FromString((folder / f"{kind}_{number}.pb").read_bytes())
            tensor.name = value.name
            tensors.append(tensor)
        return tensors

    def bounds(self):
        """(output, axis, most) of each axis of an output, for sizes that only a run knows: twice
        what it has in the data.
        """
        outputs = self.read_data("output", onnx.load(DATA / self.name / "model.onnx").graph.output)
        return [(tensor.name, axis, 2 * dim) for tensor in outputs
                for axis, dim in enumerate(tensor.dims)]

    def load(self):
        """The model with the known inputs as initializers and the others pinned to their data."""
        model = onnx.load(DATA / self.name / "model.onnx")
        graph, free, inputs = model.graph, [], {}
        for number, tensor in enumerate(self.read_data("input", graph.input)):
            if number in self.known:
                graph.initializer.append(tensor)
                continue
            free.append(onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type,
                                                           tensor.dims))
            inputs[tensor.name] = numpy_helper.to_array(tensor)
        del graph.input[:]
        graph.input.extend(free)
        expected = {tensor.name: numpy_helper.to_array(tensor)
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
    listed = command([build_folder() / "tests/list_node_cases", DATA]).splitlines()
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
