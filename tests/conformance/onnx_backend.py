"""aotc as a backend of onnx.backend.test: ONNX's own runner drives what aotc writes.

    backend_test = onnx.backend.test.BackendTest(onnx_backend.Backend, __name__)
    rep = onnx_backend.Backend.prepare(model, "CUDA"); rep.run([image])

A model is compiled when it is run for the first time, and once more for inputs of other shapes:
device "CPU", or "CUDA", which is built for the host with the emulation header. Sizes that only a
run knows have the bound that the model declares, or twice the largest size of the inputs.
"""
import pathlib
import sys
import tempfile

import numpy as np
import onnx
from onnx.backend import base

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "models")]

import backend_suite  # noqa: E402
import table_values  # noqa: E402

TARGETS = {"CPU": "cpu", "CUDA": "cuda"}


def as_arrays(inputs):
    return [np.asarray(one) if np.isscalar(one) else one for one in inputs]


class Representation(base.BackendRep):
    """A model, and a program of it for the shapes that it was run with last."""

    def __init__(self, model, device):
        super().__init__()
        self.settings = backend_suite.Settings(TARGETS[device])
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name) / "model.onnx"
        onnx.save(model, self.path)
        constants = {tensor.name for tensor in model.graph.initializer}
        self.inputs = [value for value in model.graph.input if value.name not in constants]
        self.outputs, self.shapes, self.model = model.graph.output, None, None

    def bounds(self, shapes):
        """--bound of outputs of which the model declares the rank, and not all dims."""
        most, flags = 2 * max((size for shape in shapes for size in shape), default=1), []
        for value in self.outputs:
            tensor = backend_suite.tensor_type(value)
            if tensor is not None and backend_suite.is_open(tensor):
                flags += [f"--bound={value.name}:{axis}={max(most, 1)}"
                          for axis in range(len(tensor.shape.dim))]
        return flags

    def compile(self, inputs, shapes):
        if self.model is not None:
            self.model.close()
        flags = backend_suite.shape_flags(self.inputs, [inputs]) + self.bounds(shapes)
        self.model = backend_suite.build(self.path, self.settings,
                                         pathlib.Path(self.folder.name) / "work", flags)
        self.shapes = shapes

    def run(self, inputs, **kwargs):
        """Outputs of inputs, both in the order of the graph."""
        inputs = as_arrays(inputs)
        shapes = backend_suite.shapes_of(inputs)
        if self.model is None or shapes != self.shapes:
            self.compile(inputs, shapes)
        data = backend_suite.ordered(self.model, self.inputs, inputs)
        return tuple(table_values.run(self.model, data))


class Backend(base.Backend):
    """The entry points that onnx.backend.base names."""

    @classmethod
    def prepare(cls, model, device="CPU", **kwargs):
        super().prepare(model, device, **kwargs)
        return Representation(model, device.split(":")[0])

    @classmethod
    def run_model(cls, model, inputs, device="CPU", **kwargs):
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def supports_device(cls, device):
        return device.split(":")[0] in TARGETS
