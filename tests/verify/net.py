"""Models that grow beside the numbers that they are to compute, for `aotc verify`."""
import numpy as np
from onnx import helper, numpy_helper

from check_verify import expect_verified, save_net, write_tensors

FLAGS = (["--cpu", "x86-64-v3"], ["--target", "cuda"])


class Net:
    """A model that grows beside the numbers that it is to compute."""

    def __init__(self):
        self.nodes, self.inputs, self.outputs, self.weights = [], [], [], []
        self.arrays, self.results = [], []

    def name(self):
        return f"v{len(self.nodes) + len(self.inputs) + len(self.weights)}"

    def info(self, name, array):
        kind = helper.np_dtype_to_tensor_dtype(array.dtype)
        return helper.make_tensor_value_info(name, kind, array.shape)

    def input(self, array):
        name = self.name()
        self.inputs.append(self.info(name, array))
        self.arrays.append(array)
        return name

    def op(self, op, *operands, **attributes):
        """Operands are names, or numpy scalars and arrays for constants."""
        names = []
        for operand in operands:
            if not isinstance(operand, str):
                self.weights.append(numpy_helper.from_array(np.asarray(operand), self.name()))
                operand = self.weights[-1].name
            names.append(operand)
        result = self.name()
        self.nodes.append(helper.make_node(op, names, [result], **attributes))
        return result

    def output(self, name, array):
        result = f"y{len(self.outputs)}"
        self.nodes.append(helper.make_node("Identity", [name], [result]))
        self.outputs.append(self.info(result, array))
        self.results.append(array)

    def sum_of_rows(self, name, array):
        total = array.sum(axis=1, dtype=array.dtype)
        self.output(self.op("ReduceSum", name, np.array([1]), keepdims=0), total)

    def check(self, aotc, folder, opset=20):
        save_net(folder, self.nodes, self.inputs, self.outputs, self.weights, opset)
        write_tensors(folder / "test_data_set_0", self.arrays, self.results)
        expect_verified(aotc, folder, *FLAGS)
