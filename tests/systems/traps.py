"""Small graphs joined to one model: one compile, and an error names an output, which begins with
the name of its graph.

    traps = Cases(folder, {"x": [2, 3]}, weights)
    traps.add("twice", [node("Add", "x x", "y")], {"y": [2, 3]})
    traps.interpret()
"""
import numpy as np
import onnx
from onnx import compose, helper

import cases
import reference
from build_output import command
from cases import expect
from model_list import build_folder

TARGETS = ("cpu", "cuda")
TOLERANCE = 1e-4


def numbers(*values):
    return np.array(values, np.int64)


def number(value):
    return np.float32(value)


class Cases:
    """Small graphs by name, all over inputs of `dims` unless they say otherwise."""

    def __init__(self, folder, inputs, weights=None):
        self.folder, self.inputs, self.weights = folder, inputs, weights or {}
        self.graphs = []

    def add(self, name, nodes, outputs, inputs=None, **weights):
        used = {operand for n in nodes for operand in n.input}
        given = {k: v for k, v in (self.weights | weights).items() if k in used}
        path = cases.save(self.folder, name, nodes, inputs or self.inputs, outputs, given, 21)
        graph = compose.add_prefix_graph(onnx.load(path).graph, f"{name}_")
        for value in (*graph.input, *graph.output):  # all cases share the symbols
            for dim in value.type.tensor_type.shape.dim:
                if dim.dim_param:
                    dim.dim_param = dim.dim_param.removeprefix(f"{name}_")
        self.graphs.append(graph)

    def joined(self):
        """The path of one model with all cases."""
        parts = {field: [item for graph in self.graphs for item in getattr(graph, field)]
                 for field in ("node", "input", "output", "initializer")}
        graph = helper.make_graph(parts["node"], "traps", parts["input"], parts["output"],
                                  parts["initializer"])
        path = self.folder / "traps.onnx"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)],
                                    ir_version=8), path)
        return path

    def interpret(self):
        """Loops of every way of writing them, against the evaluator without any pass."""
        command([build_folder() / "tests/interpret_model", self.joined()])

    def compile(self, dims=None, sizes=({},)):
        """Both targets with their tiles, against onnxruntime at each of the sizes."""
        path = self.joined()
        for target in TARGETS:
            model = cases.load(path, target, self.folder, dims)
            for size in sizes:
                self.check(model, path, size, f"{target} {size}")
            model.close()

    def check(self, model, path, size, where):
        inputs = reference.make_inputs(path, size, 1)
        expected, noise = reference.expected_outputs(path, inputs)
        actual = model.run(inputs, fill=0xFF)
        errors = {name: reference.error_of(actual[name], expected[name]) for name in expected}
        wrong = [f"{name}: error {error:.3g}" for name, error in errors.items()
                 if not error <= max(TOLERANCE, 2 * noise[name])]
        expect(not wrong, f"{where}: {'; '.join(wrong)}")
