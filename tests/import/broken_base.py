"""What writers of broken models share: their table, and small models to break.

    @broken_base.case("node 'a'")          # a text of the error line
    def cyclic(folder):
        write(folder, make_model([...]))
"""
import typing

import numpy as np
from onnx import TensorProto, helper, numpy_helper



class Case(typing.NamedTuple):
    """`place` is a text of the error line, which has a hint where `hint` says so."""
    writer: typing.Callable
    place: str
    hint: bool
    flags: tuple


CASES = {}


def case(place, hint=True, flags=()):
    """Registers a writer of a model; `flags` are given to aotc."""

    def register(function):
        assert function.__name__ not in CASES
        CASES[function.__name__] = Case(function, place, hint, tuple(flags))
        return function

    return register


def tensor(name, dims=(2, 3), kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, list(dims))


def make_model(nodes, inputs=None, outputs=None, initializers=(), opset=17, **more):
    graph = helper.make_graph(nodes, "broken", inputs or [tensor("x")], outputs or [tensor("y")],
                              list(initializers))
    imports = [helper.make_opsetid("", opset)] if opset else []
    return helper.make_model(graph, opset_imports=imports, ir_version=8, **more)


def write(folder, model):
    (folder / "model.onnx").write_bytes(model.SerializeToString())


def sound_model():
    """A small convolution net with a weight, a bias and names."""
    weight = np.arange(2 * 3 * 3 * 3, dtype=np.float32).reshape(2, 3, 3, 3) / 50
    return make_model(
        [helper.make_node("Conv", ["x", "w", "b"], ["c"], name="conv1", pads=[1, 1, 1, 1]),
         helper.make_node("Relu", ["c"], ["r"], name="relu1"),
         helper.make_node("Flatten", ["r"], ["f"], name="flatten1"),
         helper.make_node("Softmax", ["f"], ["y"], name="softmax1")],
        [tensor("x", (1, 3, 5, 5))], [tensor("y", (1, 50))],
        [numpy_helper.from_array(weight, "w"),
         numpy_helper.from_array(np.array([0.5, -0.5], np.float32), "b")])
