#!/usr/bin/env python3
"""Writes models in the forms of older opsets and rarer exporters, with inputs and expected outputs.

    tests/import/import_cases.py FOLDER     # FOLDER/<case>/model.onnx, test_data_set_0/*.pb

Expected outputs come from onnxruntime, which does not know opsets below 7 and a few other forms:
there from numpy, in the line of the case.
"""
import pathlib
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

RANDOM = np.random.default_rng(1)
F32 = np.float32


def floats(*dims, dtype=F32):
    return RANDOM.standard_normal(dims).astype(dtype)


def node(op, inputs, outputs=("y",), **attributes):
    return helper.make_node(op, list(inputs), list(outputs), name=f"the_{op}", **attributes)


class Case:
    """A model under construction: graph inputs with values, weights, nodes."""

    def __init__(self, name, opset, nodes, inputs, weights=(), expected=None, outputs=("y",)):
        self.name = name
        self.opset = opset
        self.nodes = nodes if isinstance(nodes, list) else [nodes]
        self.inputs = inputs
        self.weights = dict(weights)
        self.expected = expected
        self.outputs = outputs
        self.functions = []
        self.extra_opsets = []
        self.shadowed = ()  # weights that are graph inputs too
        self.sparse = []    # weights that are stored so

    def model(self):
        def info(name, array):
            return helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)

        weights = [w if isinstance(w, TensorProto) else numpy_helper.from_array(w, n)
                   for n, w in self.weights.items()]
        infos = [info(n, a) for n, a in self.inputs.items()]
        infos += [info(n, self.weights[n]) for n in self.shadowed]
        outs = [onnx.ValueInfoProto(name=n) for n in self.outputs]
        graph = helper.make_graph(self.nodes, "case", infos, outs, weights,
                                  sparse_initializer=self.sparse)
        opsets = [helper.make_opsetid("", self.opset), *self.extra_opsets]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8,
                                 functions=self.functions)

    def results(self, model):
        if self.expected is not None:
            found = self.expected
            return list(found) if isinstance(found, (list, tuple)) else [found]
        session = onnxruntime.InferenceSession(model.SerializeToString(),
                                               providers=["CPUExecutionProvider"])
        return session.run(list(self.outputs), self.inputs)

    def write(self, root):
        folder = root / self.name
        data = folder / "test_data_set_0"
        data.mkdir(parents=True, exist_ok=True)
        model = self.model()
        (folder / "model.onnx").write_bytes(model.SerializeToString())
        for kind, arrays in (("input", self.inputs.values()), ("output", self.results(model))):
            for i, array in enumerate(arrays):
                tensor = numpy_helper.from_array(np.asarray(array))
                (data / f"{kind}_{i}.pb").write_bytes(tensor.SerializeToString())


def broadcast_cases():
    """Opset 6: the attributes broadcast and axis."""
    x, b, c = floats(2, 3, 4, 5), floats(3, 4), floats(5)
    legacy = {"broadcast": 1, "axis": 1}
    aligned = b.reshape(3, 4, 1)
    for op, function in (("Add", np.add), ("Sub", np.subtract), ("Mul", np.multiply),
                         ("Div", np.divide)):
        yield Case(f"{op.lower()}6_axis", 6, node(op, "xb", **legacy), {"x": x, "b": b},
                   expected=function(x, aligned))
    yield Case("add6_constant_axis", 6, node("Add", "xb", **legacy), {"x": x}, {"b": b},
               expected=x + aligned)
    yield Case("add6_trailing", 6, node("Add", "xc", broadcast=1), {"x": x}, {"c": c},
               expected=x + c)
    first = floats(2)
    yield Case("add6_first_axis", 6, node("Add", "xc", broadcast=1, axis=0),
               {"x": x, "c": first}, expected=x + first.reshape(2, 1, 1, 1))
    slope = floats(3)
    yield Case("prelu6_channels", 6, node("PRelu", ["x", "s"]), {"x": x}, {"s": slope},
               expected=np.where(x < 0, x * slope.reshape(3, 1, 1), x))
    yield Case("prelu6_one", 6, node("PRelu", ["x", "s"]), {"x": x}, {"s": slope[:1]},
               expected=np.where(x < 0, x * slope[0], x))
    a, w, bias = floats(4, 3), floats(3, 5), floats(5)
    yield Case("gemm6_broadcast", 6, node("Gemm", "awc", broadcast=1), {"a": a},
               {"w": w, "c": bias}, expected=a @ w + bias)
    yield Case("greater6_axis", 6, node("Greater", "xb", **legacy), {"x": x, "b": b},
               expected=x > aligned)


def softmax_cases():
    x = floats(2, 3, 4, 5)
    for op in ("Softmax", "LogSoftmax"):
        for axis in (0, 1, 2, 3, -1, -2):
            yield Case(f"{op.lower()}11_axis_{axis}".replace("-", "m"), 11,
                       node(op, "x", axis=axis), {"x": x})
        yield Case(f"{op.lower()}9_default", 9, node(op, "x"), {"x": x})
        yield Case(f"{op.lower()}13_default", 13, node(op, "x"), {"x": x})


def short_time_fourier(signal, step, window):
    """STFT's bins of one side in f64: onnxruntime's sums in f32 leave 1e-7 where zeros are due."""
    frames = np.lib.stride_tricks.sliding_window_view(signal.astype(np.float64), len(window), -1)
    bins = np.fft.rfft(frames[:, ::step] * window)
    return np.stack([bins.real, bins.imag], -1).astype(F32)


def attribute_cases():
    """Attributes that became inputs."""
    x = floats(2, 3, 4, 5)
    yield Case("clip6", 6, node("Clip", "x", min=-0.5, max=0.25), {"x": x},
               expected=np.clip(x, F32(-0.5), F32(0.25)))
    yield Case("clip10_min", 10, node("Clip", "x", min=-0.5), {"x": x})
    yield Case("clip6_f64", 6, node("Clip", "x", max=0.25), {"x": x.astype(np.float64)},
               expected=np.minimum(x.astype(np.float64), 0.25))
    ends = np.array([-np.inf, -2, np.nan, np.inf], F32)
    most = np.finfo(F32).max
    yield Case("clip6_default_min", 6, node("Clip", "x", max=2.0), {"x": ends},
               expected=np.clip(ends, -most, F32(2)))
    yield Case("clip6_default_max", 6, node("Clip", "x", min=-1.0), {"x": ends},
               expected=np.clip(ends, F32(-1), most))
    yield Case("clip11_absent_min", 11, node("Clip", ["x", "", "m"]), {"x": x},
               {"m": np.array(0.25, F32)})
    pads = [0, 1, 2, 0, 1, 0, 0, 3]
    yield Case("pad10", 10, node("Pad", "x", pads=pads, value=1.5), {"x": x})
    yield Case("pad2_reflect", 7, node("Pad", "x", mode="reflect", pads=pads[:3] + [0, 1, 0, 1, 3]),
               {"x": x})
    for mode in ("edge", "reflect", "wrap"):  # what is dropped is not repeated
        yield Case(f"pad19_{mode}_drops", 19, node("Pad", "xp", mode=mode), {"x": x},
                   {"p": np.array([0, 0, -1, -2, 0, 0, 2, 2])})
    signal, window = floats(2, 20), floats(8)
    yield Case("stft17_reals", 17, node("STFT", ["x", "step", "window"]),  # no axis of numbers
               {"x": signal}, {"step": np.array(3), "window": window},
               expected=short_time_fourier(signal, 3, window))
    yield Case("slice9", 9, node("Slice", "x", starts=[1, -3], ends=[9, -1], axes=[0, 3]), {"x": x})
    yield Case("slice9_default_axes", 9, node("Slice", "x", starts=[0, 1], ends=[1, 3]), {"x": x})
    yield Case("squeeze11", 11, [node("Unsqueeze", "x", "u", axes=[0, 3]),
                                 node("Squeeze", "u", axes=[0])], {"x": x})
    yield Case("squeeze11_all", 11, [node("Unsqueeze", "x", "u", axes=[0, 3]),
                                     node("Squeeze", "u")], {"x": x})
    yield Case("split11_sizes", 11, node("Split", "x", "abc", axis=3, split=[1, 3, 1]), {"x": x},
               outputs="abc")
    yield Case("split11_even", 11, node("Split", "x", "ab", axis=2), {"x": x}, outputs="ab")
    yield Case("split13_even", 13, node("Split", "x", "ab", axis=2), {"x": x}, outputs="ab")
    for op in ("Max", "Mean", "Min", "Prod", "Sum", "SumSquare", "L1", "L2", "LogSum", "LogSumExp"):
        arrays = {"x": np.abs(x) + F32(0.1)}
        yield Case(f"reduce_{op.lower()}11", 11, node(f"Reduce{op}", "x", axes=[1, -1], keepdims=0),
                   arrays)
        yield Case(f"reduce_{op.lower()}11_all", 11, node(f"Reduce{op}", "x"), arrays)
    yield Case("reduce_mean13", 13, node("ReduceMean", "x", axes=[2]), {"x": x})
    yield Case("reduce_sum13", 13, node("ReduceSum", "xa"), {"x": x}, {"a": np.array([2])})


def normalization_cases():
    x = floats(2, 3, 4, 5)
    statistics = {"s": floats(3), "b": floats(3), "m": floats(3), "v": np.abs(floats(3)) + F32(0.5)}
    shape = (3, 1, 1)
    expected = ((x - statistics["m"].reshape(shape))
                / np.sqrt(statistics["v"].reshape(shape) + F32(1e-5))
                * statistics["s"].reshape(shape) + statistics["b"].reshape(shape))
    yield Case("batch_norm6", 6, node("BatchNormalization", "xsbmv", is_test=1), {"x": x},
               statistics, expected=expected)
    for opset in (7, 9, 14, 15):
        yield Case(f"batch_norm{opset}", opset, node("BatchNormalization", "xsbmv"), {"x": x},
                   statistics)
    yield Case("batch_norm9_named_outputs", 9,
               node("BatchNormalization", "xsbmv", ["y", "o1", "o2", "o3", "o4"]), {"x": x},
               statistics, expected=expected)
    yield Case("dropout6", 6, node("Dropout", "x", is_test=1, ratio=0.25), {"x": x}, expected=x)
    yield Case("dropout7_mask", 7, node("Dropout", "x", "yk", ratio=0.25), {"x": x},
               expected=[x, np.ones_like(x)], outputs="yk")
    yield Case("dropout10_mask", 10, node("Dropout", "x", "yk", ratio=0.25), {"x": x},
               expected=[x, np.ones_like(x, bool)], outputs="yk")
    yield Case("dropout12", 12, node("Dropout", "x"), {"x": x}, expected=x)


def resize_cases():
    x = floats(1, 2, 3, 4)
    scales = np.array([1, 1, 2, 3], F32)
    none = {"r": np.array([], F32)}
    for mode in ("nearest", "linear"):
        yield Case(f"upsample7_{mode}", 7, node("Upsample", "x", mode=mode, scales=scales.tolist()),
                   {"x": x})
        yield Case(f"upsample9_{mode}", 9, node("Upsample", "xs", mode=mode), {"x": x},
                   {"s": scales})
        yield Case(f"resize10_{mode}", 10, node("Resize", "xs", mode=mode), {"x": x}, {"s": scales})
        for coordinates in ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"):
            yield Case(f"resize11_{mode}_{coordinates}", 11,
                       node("Resize", "xrs", mode=mode,
                            coordinate_transformation_mode=coordinates), {"x": x},
                       {**none, "s": scales})
        yield Case(f"resize11_{mode}_tf_nearest", 11,
                   node("Resize", "xrs", mode=mode,
                        coordinate_transformation_mode="tf_half_pixel_for_nn"), {"x": x},
                   {**none, "s": scales})
        yield Case(f"resize11_{mode}_sizes", 11, node("Resize", ["x", "r", "e", "z"], mode=mode),
                   {"x": x}, {**none, "e": np.array([], F32), "z": np.array([1, 2, 5, 7])})


def sparse_cases():
    """Initializers and constants that are stored as the elements that are not 0."""
    dims, places = [3, 5], [1, 4, 7, 13]
    x = floats(*dims)
    for kind in ("f2", "f4", "f8", "i1", "i8", "u1", "?"):
        dense = np.zeros(15, kind)
        dense[places] = np.array([3, 1, 2, 100]).astype(kind)
        values = numpy_helper.from_array(dense[places], "w")
        dense = dense.reshape(dims)
        linear = numpy_helper.from_array(np.array(places, "i8"), "places")
        pairs = numpy_helper.from_array(np.argwhere(dense), "pairs")
        for form, indices in (("linear", linear), ("pairs", pairs)):
            stored = helper.make_sparse_tensor(values, indices, dims)
            case = Case(f"sparse_{form}_{dense.dtype.name}", 13, node("Identity", ["w"]), {"x": x},
                        expected=dense)
            case.sparse = [stored]
            yield case
            yield Case(f"sparse_constant_{form}_{dense.dtype.name}", 13,
                       node("Constant", "", sparse_value=stored), {"x": x}, expected=dense)


def constant_cases():
    """Constants and initializers in all their forms."""
    x = floats(3)
    yield Case("constant_floats", 13, [node("Constant", "", "c", value_floats=[1.0, 2.0, 3.0]),
                                       node("Add", "xc")], {"x": x})
    yield Case("constant_ints", 13, [node("Constant", "", "c", value_ints=[3, 1]),
                                     node("Reshape", "xc")], {"x": x})
    yield Case("constant_float", 13, [node("Constant", "", "c", value_float=2.5),
                                      node("Mul", "xc")], {"x": x})
    yield Case("constant_is_the_output", 13, [node("Constant", "", "y", value_int=7)], {"x": x})
    yield Case("input_is_the_output", 13, [node("Relu", "x", "r")], {"x": x}, outputs="xr",
               expected=[x, np.maximum(x, 0)])
    for kind in ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?"):
        array = np.array([0, 1, 3, 100]).astype(kind)
        number = helper.np_dtype_to_tensor_dtype(array.dtype)
        typed = helper.make_tensor("w", number, array.shape, array.tolist())
        name = array.dtype.name
        yield Case(f"typed_{name}", 13, node("Identity", ["w"]), {"x": x}, {"w": typed},
                   expected=array)
        yield Case(f"raw_{name}", 13, node("Identity", ["w"]), {"x": x}, {"w": array},
                   expected=array)
    shadow = Case("initializer_is_an_input_too", 8, node("Add", "xw"), {"x": x}, {"w": floats(3)})
    shadow.expected = x + shadow.weights["w"]
    shadow.shadowed = ("w",)
    yield shadow
    yield Case("nodes_out_of_order", 13, [node("Relu", "t"), node("Neg", "x", "t")], {"x": x},
               expected=np.maximum(-x, 0))
    yield Case("output_listed_twice", 13, [node("Neg", "x", "n"), node("Relu", "n")], {"x": x},
               outputs=("y", "n", "y"))


def function_cases():
    x = floats(3)
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)]

    def call(name, op, functions, expected, inputs=("x",), **attributes):
        case = Case(name, 17, helper.make_node(op, list(inputs), ["y"], domain="local",
                                               name="call", **attributes), {"x": x},
                    expected=expected)
        case.functions = functions
        case.extra_opsets = [helper.make_opsetid("local", 1)]
        return case

    leaky = helper.make_node("LeakyRelu", ["a"], ["b"])
    reference = leaky.attribute.add()
    reference.name, reference.ref_attr_name = "alpha", "slope"
    reference.type = onnx.AttributeProto.FLOAT
    required = helper.make_function("local", "Leaky", ["a"], ["b"], [leaky], imports, ["slope"])
    yield call("function_attribute", "Leaky", [required], np.where(x < 0, x * F32(0.5), x),
               slope=0.5)
    yield call("function_attribute_left_out", "Leaky", [required],
               np.where(x < 0, x * F32(0.01), x))
    defaulted = helper.make_function("local", "Leaky", ["a"], ["b"], [leaky], imports,
                                     attribute_protos=[helper.make_attribute("slope", 0.25)])
    yield call("function_attribute_default", "Leaky", [defaulted],
               np.where(x < 0, x * F32(0.25), x))
    inner = helper.make_function("local", "Twice", ["a"], ["b"],
                                 [helper.make_node("Add", ["a", "a"], ["b"])], imports)
    outer = helper.make_function("local", "Four", ["a"], ["c"],
                                 [helper.make_node("Twice", ["a"], ["b"], domain="local"),
                                  helper.make_node("Twice", ["b"], ["c"], domain="local")], imports)
    yield call("function_in_function", "Four", [inner, outer], x * 4)
    clip = helper.make_function("local", "MaybeClip", ["a", "low", "high"], ["b"],
                                [helper.make_node("Clip", ["a", "low", "high"], ["b"])], imports)
    partly = call("function_input_left_out", "MaybeClip", [clip], np.minimum(x, F32(0.1)),
                  inputs=("x", "", "top"))
    partly.weights["top"] = np.array(0.1, F32)
    yield partly
    older = helper.make_function("local", "OldSoftmax", ["a"], ["b"],
                                 [helper.make_node("Softmax", ["a"], ["b"], axis=0)],
                                 [helper.make_opsetid("", 11)])
    exponents = np.exp(x - x.max())
    yield call("function_of_an_older_opset", "OldSoftmax", [older], exponents / exponents.sum())


def gradient_cases():
    """Gradient against formulas: in front of the nodes that it names, in a training loop."""
    training = "ai.onnx.preview.training"

    def gradient(x, y):
        return helper.make_node("Gradient", [x], ["d"], domain=training, name="back", xs=[x], y=y)
    x = floats(2, 3)
    nodes = [gradient("x", "t"), node("Tanh", "x", "t"), node("Neg", "d")]
    made = [Case("gradient_listed_first", 11, nodes, {"x": x}, expected=np.tanh(x) ** 2 - 1)]
    half = node("ReduceMean", "s", "m", axes=[0], keepdims=0)  # axes as an attribute
    made.append(Case("gradient_of_old_opset", 11, [node("Mul", "xx", "s"), half,
                                                   gradient("x", "m"), node("Identity", "d")],
                     {"x": x}, expected=x))
    w, rate = floats(3), F32(0.05)
    info = helper.make_tensor_value_info
    body = helper.make_graph(
        [node("Identity", ["c"], ["on"]), node("MatMul", ["x", "v"], "h"),
         node("Mul", "hh", "s"), gradient("v", "s"), node("Mul", ["d", "r"], ["step"]),
         node("Sub", ["v", "step"], ["next"])], "body",
        [info("i", TensorProto.INT64, []), info("c", TensorProto.BOOL, []),
         info("v", TensorProto.FLOAT, [3])],
        [info("on", TensorProto.BOOL, []), info("next", TensorProto.FLOAT, [3])])
    trained = w
    for _ in range(4):
        trained = trained - rate * 2 * x.T @ (x @ trained)
    made.append(Case("gradient_in_a_loop", 13, node("Loop", ["n", "", "w"], body=body),
                     {"x": x, "w": w}, {"n": np.array(4), "r": rate}, expected=trained))
    for case in made:
        case.extra_opsets = [helper.make_opsetid(training, 1)]
    return made


def cases():
    for family in (broadcast_cases, softmax_cases, attribute_cases, normalization_cases,
                   resize_cases, sparse_cases, constant_cases, function_cases, gradient_cases):
        yield from family()


def write_external(root):
    """Two weights in one file, the second at an offset, in a folder below the model's."""
    x, first, second = floats(2, 3), floats(2, 3), floats(3)
    case = Case("external_data", 13, [node("Add", "xa", "t"), node("Mul", "tb")], {"x": x},
                expected=(x + first) * second)
    offset = 0
    for name, array in (("a", first), ("b", second)):
        weight = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=array.shape)
        weight.data_location = TensorProto.EXTERNAL
        for key, value in (("location", "data/weights.bin"), ("offset", offset),
                           ("length", array.nbytes)):
            weight.external_data.add(key=key, value=str(value))
        case.weights[name] = weight
        offset += 64
    case.write(root)
    blob = first.tobytes().ljust(64, b"\0") + second.tobytes()
    (root / case.name / "data").mkdir(exist_ok=True)
    (root / case.name / "data" / "weights.bin").write_bytes(blob)


def main():
    root = pathlib.Path(sys.argv[1])
    count = 1
    for case in cases():
        case.write(root)
        count += 1
    write_external(root)
    print(f"{count} models in {root}")


if __name__ == "__main__":
    main()
