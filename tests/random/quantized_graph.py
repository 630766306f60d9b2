"""Random small graphs of quantised tensors: contractions as exporters write them, what follows.

    model = quantized_graph.make_model([quantized_graph.make_case(1, n) for n in range(20)])

Names of case N begin with cN_. Outputs whose names end in `_exact` are integers that any way
has to give; others may be a quantum off where a result is a tie. Scales are random numbers, so that
ties are rare.
"""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

TYPES = {np.dtype(np.uint8): TensorProto.UINT8, np.dtype(np.int8): TensorProto.INT8,
         np.dtype(np.int32): TensorProto.INT32, np.dtype(np.float32): TensorProto.FLOAT}
CHANNELS = (1, 2, 3, 4, 5, 8, 11, 16, 17, 24, 32, 48, 64, 70, 96)


class Case:
    """One contraction with its operands, as nodes, initializers, inputs and outputs."""

    def __init__(self, seed, number):
        self.rng = np.random.default_rng([seed, number])
        self.prefix, self.names = f"c{number}_", 0
        self.nodes, self.constants, self.inputs, self.outputs = [], [], [], []

    def pick(self, choices):
        return choices[int(self.rng.integers(len(choices)))]

    def chance(self, share):
        return self.rng.random() < share

    def name(self, what):
        self.names += 1
        return f"{self.prefix}{self.names}_{what}"

    def constant(self, array, what="const"):
        name = self.name(what)
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def add(self, op, inputs, **attributes):
        name = self.name(op.lower())
        self.nodes.append(helper.make_node(op, inputs, [name], **attributes))
        return name

    def scale(self, low=0.01, high=0.1):
        return np.float32(self.rng.uniform(low, high))

    def zero(self, dtype):
        info = np.iinfo(dtype)
        middle = (info.min + info.max + 1) // 2
        choices = [info.min, middle, int(self.rng.integers(info.min, info.max + 1))]
        return np.array(self.pick(choices), dtype)

    def byte(self):
        return self.pick([np.uint8, np.uint8, np.int8])

    def quantized(self, shape):
        """A quantised activation: name, dtype, scale, zero point."""
        dtype = self.byte()
        scale, zero = self.scale(), self.zero(dtype)
        if self.chance(0.4):
            name = self.name("input")
            self.inputs.append(helper.make_tensor_value_info(name, TYPES[np.dtype(dtype)], shape))
            return name, dtype, scale, zero
        name = self.name("input")
        self.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
        stored = self.add("QuantizeLinear",
                          [name, self.constant(scale), self.constant(zero)])
        return stored, dtype, scale, zero

    def dequantized(self, shape):
        stored, _, scale, zero = self.quantized(shape)
        return self.add("DequantizeLinear", [stored, self.constant(scale), self.constant(zero)])

    def weights(self, shape, channels, uniform_zero):
        """Stored weights, scales and zero points; per channel or not."""
        dtype = self.pick([np.int8, np.int8, np.uint8])
        info = np.iinfo(dtype)
        stored = self.rng.integers(info.min, info.max + 1, shape).astype(dtype)
        per_channel = self.chance(0.6)
        count = (channels,) if per_channel else ()
        scales = self.rng.uniform(0.001, 0.01, count).astype(np.float32)
        middle = 0 if dtype == np.int8 else 128
        zeros = np.full(count, middle, dtype)
        if self.chance(0.4):
            zeros = np.full(count, self.rng.integers(info.min, info.max + 1), dtype)
            if per_channel and not uniform_zero:
                zeros = self.rng.integers(info.min, info.max + 1, count).astype(dtype)
        return stored, scales, zeros

    def finish(self, value):
        """What follows a contraction in f32, down to bytes."""
        if self.chance(0.4):
            value = self.add("Relu", [value])
        elif self.chance(0.3):
            value = self.add("Clip", [value, self.constant(np.float32(-0.4)),
                                      self.constant(np.float32(1.5))])
        dtype = self.byte()
        scale, zero = self.constant(self.scale(0.02, 0.2)), self.constant(self.zero(dtype))
        stored = self.add("QuantizeLinear", [value, scale, zero])
        self.last_type = dtype
        return stored, scale, zero

    def output(self, name, dtype=None, exact=False):
        final = f"{name}_exact" if exact else name
        if exact:
            self.nodes.append(helper.make_node("Identity", [name], [final]))
        dtype = np.dtype(dtype or self.last_type)
        self.outputs.append(helper.make_tensor_value_info(final, TYPES[dtype], None))


def geometry(case):
    """Attributes of a convolution of two spatial axes, with channels of input and output."""
    kernel = [case.pick([1, 1, 2, 3, 3, 5, 7]) for _ in range(2)]
    kernel = [kernel[0]] * 2 if case.chance(0.7) else kernel
    dilations = [case.pick([1, 1, 1, 2]) for _ in range(2)]
    pads = [int(case.rng.integers(0, k)) for k in kernel * 2]
    attributes = dict(kernel_shape=kernel, dilations=dilations, pads=pads,
                      strides=[case.pick([1, 1, 2, 3]) for _ in range(2)])
    form = case.pick(["dense", "dense", "dense", "depthwise", "groups"])
    inputs, outputs = case.pick(CHANNELS), case.pick(CHANNELS)
    group = 1
    if form == "depthwise":
        group = outputs = inputs
    elif form == "groups":
        group = case.pick([2, 3])
        inputs, outputs = inputs * group, outputs * group
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    size = [max(r, int(case.rng.integers(3, 20))) for r in reach]
    return dict(attributes, group=group), [1, inputs, *size], [outputs, inputs // group, *kernel]


def product_shapes(case):
    k = case.pick([1, 3, 4, 7, 16, 30, 33, 64])
    n, rows = case.pick(CHANNELS), case.pick([1, 2, 5, 16, 37])
    lead = case.pick([[], [], [2], [2, 3]])
    return [*lead, rows, k], [k, n]


def bias_of(case, scales, channels):
    """A bias in f32: dequantised i32, as exporters write it, or any numbers; None."""
    kind = case.pick(["none", "stored", "stored", "floats"])
    if kind == "none":
        return None
    if kind == "floats":
        return case.constant(case.rng.normal(0, 0.3, channels).astype(np.float32))
    stored = case.rng.integers(-3000, 3000, channels).astype(np.int32)
    zeros = np.zeros(scales.shape, np.int32)
    return case.add("DequantizeLinear", [case.constant(stored), case.constant(scales),
                                         case.constant(zeros)], axis=0)


def dequantized_contraction(case):
    """Conv, MatMul or Gemm of dequantised operands, QuantizeLinear, and what may be between."""
    op = case.pick(["Conv", "Conv", "MatMul", "Gemm"])
    attributes = {}
    if op == "Conv":
        attributes, x_shape, w_shape = geometry(case)
        channels, axis = w_shape[0], 0
    else:
        x_shape, w_shape = product_shapes(case)
        channels, axis = w_shape[1], 1
        if op == "Gemm":
            x_shape = x_shape[-2:]
        if op == "Gemm" and case.chance(0.5):
            w_shape, axis, attributes = w_shape[::-1], 0, {"transB": 1}
    stored, _, scale, zero = case.quantized(x_shape)
    x = case.add("DequantizeLinear", [stored, case.constant(scale), case.constant(zero)])
    w, scales, zeros = case.weights(w_shape, channels, False)
    w = case.add("DequantizeLinear", [case.constant(w), case.constant(scales),
                                      case.constant(zeros)], axis=axis)
    operands = [x, w]
    bias = bias_of(case, (scale * scales).astype(np.float32), channels) if op != "MatMul" else None
    y = case.add(op, operands + ([bias] if bias else []), **attributes)
    y, scale, zero = case.finish(y)
    if op == "Conv" and case.chance(0.4):
        y = case.add("DequantizeLinear", [y, scale, zero])
        y = case.add("Add", [y, residual(case, x_shape, w_shape, attributes)])
        y, scale, zero = case.finish(y)
    case.output(y)


def residual(case, x_shape, w_shape, attributes):
    """Another dequantised value of the shape that the convolution gives."""
    pads, size = attributes["pads"], []
    for i in range(2):
        reach = (attributes["kernel_shape"][i] - 1) * attributes["dilations"][i] + 1
        room = x_shape[2 + i] + pads[i] + pads[2 + i] - reach
        size.append(room // attributes["strides"][i] + 1)
    return case.dequantized([1, w_shape[0], *size])


def quantized_op(case):
    """QLinearConv and QLinearMatMul."""
    is_conv = case.chance(0.5)
    attributes = {}
    if is_conv:
        attributes, x_shape, w_shape = geometry(case)
        channels = w_shape[0]
    else:
        x_shape, w_shape = product_shapes(case)
        channels = w_shape[1]
    x, dtype, scale, zero = case.quantized(x_shape)
    w, scales, zeros = case.weights(w_shape, channels, True)
    inputs = [x, case.constant(scale), case.constant(zero), case.constant(w),
              case.constant(scales), case.constant(zeros), case.constant(case.scale(0.05, 0.3)),
              case.constant(case.zero(dtype))]
    if is_conv and case.chance(0.5):
        inputs.append(case.constant(case.rng.integers(-3000, 3000, channels).astype(np.int32)))
    op = "QLinearConv" if is_conv else "QLinearMatMul"
    case.output(case.add(op, inputs, **attributes), dtype)


def integer_op(case):
    """ConvInteger and MatMulInteger, whose sums are the output."""
    is_conv = case.chance(0.5)
    attributes = {}
    if is_conv:
        attributes, x_shape, w_shape = geometry(case)
        channels = w_shape[0]
    else:
        x_shape, w_shape = product_shapes(case)
        channels = w_shape[1]
    x, _, _, zero = case.quantized(x_shape)
    w, _, zeros = case.weights(w_shape, channels, True)
    inputs = [x, case.constant(w)]
    if case.chance(0.7):
        inputs += [case.constant(zero), case.constant(zeros)]
    op = "ConvInteger" if is_conv else "MatMulInteger"
    case.output(case.add(op, inputs, **attributes), np.int32, exact=True)


def pools(case):
    """Pools and joins of quantised values."""
    channels = case.pick(CHANNELS)
    shape = [1, channels, 7, 9]
    stored, dtype, scale, zero = case.quantized(shape)
    scale, zero = case.constant(scale), case.constant(zero)
    x = case.add("DequantizeLinear", [stored, scale, zero])
    kind = case.pick(["MaxPool", "GlobalAveragePool", "AveragePool", "Concat", "Reshape"])
    if kind == "MaxPool" or kind == "AveragePool":
        x = case.add(kind, [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    elif kind == "Concat":
        x = case.add(kind, [x, case.dequantized(shape)], axis=1)
    elif kind == "Reshape":
        x = case.add(kind, [x, case.constant(np.array([1, -1]))])
    else:
        x = case.add(kind, [x])
    if case.chance(0.5) and kind in ("MaxPool", "Reshape"):
        case.output(case.add("QuantizeLinear", [x, scale, zero]), dtype)
    else:
        case.output(case.finish(x)[0])


FORMS = (dequantized_contraction, dequantized_contraction, dequantized_contraction, quantized_op,
         integer_op, pools)


def make_case(seed, number):
    case = Case(seed, number)
    case.pick(FORMS)(case)
    return case


def make_model(cases):
    """A model of several cases, each a component of its own."""
    parts = {what: [item for case in cases for item in getattr(case, what)]
             for what in ("nodes", "constants", "inputs", "outputs")}
    graph = helper.make_graph(parts["nodes"], "quantized", parts["inputs"], parts["outputs"],
                              parts["constants"])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
