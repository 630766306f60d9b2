"""ONNX's backend tests with their data: the folders node, simple, pytorch-converted and
pytorch-operator, and light, whose inputs ONNX's runner makes.

    for case in suite.read_all():
        loaded = case.load()   # loaded.model, loaded.inputs, loaded.expected
"""
import collections
import dataclasses
import functools
import json
import pathlib
import sys

import onnx
from onnx import numpy_helper
from onnx.backend.test.runner import Runner

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent / "models"))

import compare_outputs  # noqa: E402
from build_output import Failure  # noqa: E402

DATA = pathlib.Path(onnx.__file__).parent / "backend/test/data"
FOLDERS = "node", "simple", "pytorch-converted", "pytorch-operator", "light"
PROTOS = {"tensor_type": onnx.TensorProto, "sequence_type": onnx.SequenceProto,
          "optional_type": onnx.OptionalProto}

# A model, and arrays by the names of its inputs and outputs.
Loaded = collections.namedtuple("Loaded", "model inputs expected")


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


def read_proto(path, value):
    proto = PROTOS[value.type.WhichOneof("value")].FromString(path.read_bytes())
    proto.name = value.name
    return proto


@dataclasses.dataclass(frozen=True)
class Case:
    """A test: its first set of data, which is the only one of all of these."""
    name: str
    folder: str
    opsets: tuple  # (domain, version), sorted

    def __str__(self):
        """What parse() reads."""
        return self.name

    @property
    def is_light(self):
        return self.folder == "light"

    @property
    def path(self):
        """Of the model."""
        path = DATA / self.folder / self.name
        return path.with_suffix(".onnx") if self.is_light else path / "model.onnx"

    def tolerances(self):
        """The relative and the absolute one."""
        official = DATA / "real" / self.name.replace("light", "test", 1) if self.is_light \
            else self.path.parent
        return compare_outputs.tolerances(official)

    def free_inputs(self, graph):
        """Those of the run."""
        constants = {tensor.name for tensor in graph.initializer}
        return [value for value in graph.input if value.name not in constants]

    def input_protos(self, graph):
        """A TensorProto or another for each of them."""
        values = self.free_inputs(graph)
        if self.is_light:
            arrays = [Runner.generate_dummy_data(value, name=self.name) for value in values]
            return [numpy_helper.from_array(array, value.name)
                    for array, value in zip(arrays, values)]
        return [read_proto(self.path.parent / f"test_data_set_0/input_{i}.pb", value)
                for i, value in enumerate(values)]

    def output_protos(self, graph):
        stem = f"{self.path.with_suffix('')}_" if self.is_light \
            else f"{self.path.parent}/test_data_set_0/"
        return [read_proto(pathlib.Path(f"{stem}output_{i}.pb"), value)
                for i, value in enumerate(graph.output)]

    def bounds(self):
        """(output, axis, most) of each axis of an output, for sizes that only a run knows: twice
        what it has in the data.
        """
        return [(tensor.name, axis, 2 * dim)
                for tensor in self.output_protos(onnx.load(self.path).graph)
                if isinstance(tensor, onnx.TensorProto) for axis, dim in enumerate(tensor.dims)]

    def rooms(self):
        """(input, items) of each input that is no tensor."""
        return [(proto.name, items_of(value_of(proto)))
                for proto in self.input_protos(onnx.load(self.path).graph)
                if not isinstance(proto, onnx.TensorProto)]

    def load(self):
        """The model, of which the shapes of inputs are those of the data."""
        model = onnx.load(self.path)
        graph, values = model.graph, {value.name: value for value in model.graph.input}
        protos = self.input_protos(graph)
        for proto in protos:
            if isinstance(proto, onnx.TensorProto):
                values[proto.name].CopyFrom(onnx.helper.make_tensor_value_info(
                    proto.name, proto.data_type, proto.dims))
        return Loaded(model, {proto.name: value_of(proto) for proto in protos},
                      {proto.name: value_of(proto) for proto in self.output_protos(graph)})

    def write(self, folder):
        """The test as a folder of its own, as those that are not of light lie in the package."""
        model, data = onnx.load(self.path), folder / "test_data_set_0"
        data.mkdir(parents=True)
        onnx.save(model, folder / "model.onnx")
        for kind, protos in (("input", self.input_protos(model.graph)),
                             ("output", self.output_protos(model.graph))):
            for number, proto in enumerate(protos):
                (data / f"{kind}_{number}.pb").write_bytes(proto.SerializeToString())
        relative, absolute = self.tolerances()
        (folder / "data.json").write_text(json.dumps({"rtol": relative, "atol": absolute}))


@functools.cache
def folder_of(name):
    """The folder that has the test; no two have one of the same name."""
    for folder in FOLDERS:
        if Case(name, folder, ()).path.exists():
            return folder
    raise Failure(f"there is no test {name}")


def parse(name):
    case = Case(name, folder_of(name), ())
    opsets = onnx.load(case.path).opset_import
    return dataclasses.replace(
        case, opsets=tuple(sorted((entry.domain, entry.version) for entry in opsets)))


def names_of(folder):
    if folder == "light":
        return sorted(path.stem for path in (DATA / folder).glob("*.onnx"))
    return sorted(path.parent.name for path in (DATA / folder).glob("*/model.onnx"))


def read_excluded():
    """Name -> reason of each test whose data no program can be held to."""
    return dict(read_table("excluded.txt", 2))


def require_count(what, count):
    """A Failure where there are not as many as counts.txt has."""
    expected = int(dict(read_table("counts.txt", 2))[what])
    if count != expected:
        raise Failure(f"{what}: {count} tests, and not {expected}")


def read_all(folders=FOLDERS):
    """Every test of these folders but the excluded ones. A Failure where some are not there."""
    excluded, found = read_excluded(), []
    for folder in folders:
        names = names_of(folder)
        require_count(folder, len(names))
        found += [parse(name) for name in names if name not in excluded]
    return found


def read_table(name, columns):
    """The lines of a table as lists of words, the last of which is the rest of the line."""
    lines = (FOLDER / name).read_text().splitlines()
    table = [line.split(None, columns - 1) for line in lines if line and line[0] != "#"]
    for words in table:
        if len(words) < columns:
            raise Failure(f"{name}: {' '.join(words)}: no reason")
    return table
