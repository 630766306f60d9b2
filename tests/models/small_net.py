"""Small models of tests that run one program many times, and what they require of it.

    net = Net()
    net.output(net.op("Relu", net.input("x", [2, 3])), [2, 3])
    net.save(folder / "net.onnx")
"""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import reference
from build_output import Failure


class Net:
    """A graph under construction; its weights are seeded."""

    def __init__(self, opset=17):
        self.rng, self.opset = np.random.default_rng(3), opset
        self.nodes, self.weights, self.inputs, self.outputs = [], [], [], []

    def input(self, name, shape, dtype=TensorProto.FLOAT):
        self.inputs.append(helper.make_tensor_value_info(name, dtype, shape))
        return name

    def output(self, name, shape, dtype=TensorProto.FLOAT):
        self.outputs.append(helper.make_tensor_value_info(name, dtype, shape))

    def const(self, values, dtype=np.int64):
        name = f"c{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(values, dtype), name))
        return name

    def random(self, *shape):
        return self.const(self.rng.standard_normal(shape) / np.sqrt(shape[0]), np.float32)

    def op(self, kind, *inputs, name=None, outputs=1, **attributes):
        names = [name or f"{kind}_{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, **attributes))
        return names[0] if outputs == 1 else names

    def save(self, path):
        graph = helper.make_graph(self.nodes, "net", self.inputs, self.outputs, self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)],
                                  ir_version=8 if self.opset < 21 else 10)
        onnx.save(model, path)
        return path


def require(holds, what):
    if not holds:
        raise Failure(what)


def require_outputs(model, arrays, expected, fill, most, where=""):
    """Runs the model with one worker, and two where it has threads: dims and numbers are as
    expected, but for a relative error.
    """
    for workers in (1, 2) if model.has_threads else (1,):
        found = model.run(arrays, workers, fill)
        for name, values in expected.items():
            what = f"{name} with {workers} workers{where}"
            require(found[name].shape == values.shape,
                    f"{what}: dims {found[name].shape}, not {values.shape}")
            error = reference.error_of(found[name], values) if values.size else 0
            require(error <= most, f"{what}: {error:.3g} off")
