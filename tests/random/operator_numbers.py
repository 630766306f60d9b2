"""Families of operators that compute: element by element, along axes, sums of products."""
import math

import numpy as np

from operator_case import Node, vector


def partial(draw, shape):
    """A shape that broadcasts to `shape`."""
    return [1 if draw.chance(0.25) else d for d in shape[draw.dim(0, len(shape)):]]


def two(draw, shape, types):
    """Operands of one type that broadcast, in any order."""
    x = draw.numbers(shape, types)
    pair = [x, draw.numbers(partial(draw, shape), (x.dtype,))]
    return pair[::-1] if draw.chance(0.5) else pair


NUMBERS = ("f4", "f4", "f8", "f2", "i4", "i8", "u1", "i1")
WIDE = ("f4", "f4", "f8", "i4", "i8")


def binary(draw):
    return Node(draw.pick(["Add", "Sub", "Mul", "Max", "Min"]), two(draw, draw.shape(), WIDE))


def divide(draw):
    x, y = two(draw, draw.shape(), WIDE)
    return Node("Div", [x, np.where(y == 0, 3, y).astype(y.dtype)])


def mod(draw):
    x, y = two(draw, draw.shape(), ("f4", "i4", "i8", "i1", "u1", "i2", "u2"))
    y = np.where(y == 0, 3, y).astype(y.dtype)
    return Node("Mod", [x, y], {"fmod": 1 if x.dtype.kind == "f" else draw.dim(0, 1)})


def power(draw):
    base = draw.pick([("f4", "f4"), ("f4", "i8"), ("i4", "i4"), ("i8", "i8"), ("f4", "i4"),
                      ("f8", "f8")])
    shape = draw.shape()
    x = draw.positive(shape, 0.2, 3).astype(base[0]) if base[0][0] == "f" else (
        draw.ints(-5, 5, shape, base[0]))
    exponent = draw.ints(0, 3, partial(draw, shape), base[1])
    return Node("Pow", [x, exponent])


def shift(draw):
    dtype = draw.pick(["u1", "u2", "u4", "u8"])
    shape = draw.shape()
    return Node("BitShift", [draw.ints(0, 255, shape, dtype), draw.ints(0, 7, shape, dtype)],
                {"direction": draw.pick(["LEFT", "RIGHT"])})


def bitwise(draw):
    op = draw.pick(["BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseNot"])
    operands = two(draw, draw.shape(), ("i4", "i8", "u1", "i1", "u2", "i2"))
    return Node(op, operands[:1 if op == "BitwiseNot" else 2])


def compare(draw):
    op = draw.pick(["Less", "Greater", "LessOrEqual", "GreaterOrEqual", "Equal"])
    return Node(op, two(draw, draw.shape(), ("i4", "i8", "f4")))


def several(draw):
    shape = draw.shape()
    return Node(draw.pick(["Sum", "Mean", "Max", "Min"]),
                [draw.floats(partial(draw, shape)) for _ in range(draw.dim(1, 4))])


UNARY = ("Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Celu", "Cos", "Cosh",
         "Elu", "Erf", "Exp", "Floor", "Gelu", "HardSigmoid", "HardSwish", "LeakyRelu", "Log",
         "Mish", "Neg", "Reciprocal", "Relu", "Round", "Selu", "Shrink", "Sigmoid", "Sign", "Sin",
         "Sinh", "Softplus", "Softsign", "Sqrt", "Tan", "Tanh", "ThresholdedRelu", "IsNaN", "IsInf")
UNARY_ATTRIBUTES = {
    "Celu": {"alpha": 0.7}, "Elu": {"alpha": 1.3}, "Gelu": {"approximate": "tanh"},
    "HardSigmoid": {"alpha": 0.3, "beta": 0.4}, "LeakyRelu": {"alpha": 0.2},
    "Selu": {"alpha": 1.2, "gamma": 0.9}, "Shrink": {"lambd": 0.4, "bias": 0.2},
    "ThresholdedRelu": {"alpha": 0.3}, "IsInf": {"detect_negative": 0}}


def unary(draw):
    op = draw.pick(UNARY)
    x = draw.floats(draw.shape()) * np.float32(draw.pick([1, 1, 10]))
    if draw.chance(0.3):
        x.flat[0] = draw.pick([np.inf, -np.inf, np.nan, 0.5, -0.5])
    attributes = UNARY_ATTRIBUTES.get(op, {}) if draw.chance(0.5) else {}
    return Node(op, [x], attributes)


def clip(draw):
    x = draw.numbers(draw.shape(), ("f4", "i4", "i8", "u1", "i1"))
    bounds = [np.array(v).astype(x.dtype) for v in (1, 5)]
    bounds = draw.pick([bounds, [bounds[0], None], [None, bounds[1]], bounds[::-1]])
    return Node("Clip", [x, *bounds])


def cast(draw):
    x = draw.numbers(draw.shape(), ("f4", "i4", "i8", "u1", "i1", "f2", "f8", "?"))
    if x.dtype.kind == "f":
        x = x * x.dtype.type(9)
    return Node("Cast", [x], {"to": draw.pick([1, 2, 3, 5, 6, 7, 9, 10, 11, 12, 13])
                              if (x >= 0).all() else draw.pick([1, 3, 5, 6, 7, 9, 10, 11])})


def prelu(draw):
    shape = draw.shape(2, 4)
    return Node("PRelu", [draw.floats(shape), draw.floats(partial(draw, shape))])


REDUCTIONS = ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2",
              "ReduceSumSquare", "ReduceLogSumExp", "ReduceProd", "ReduceLogSum")


def within_int32(draw, x):
    """With ones for all but nine elements below ten: products that overflow wrap around here and in
    ONNX's reference implementation, and are clamped by onnxruntime.
    """
    kept = draw.rng.permutation(x.size).reshape(x.shape) < 9
    return np.where(kept, x, x.dtype.type(1))


def reduction(draw):
    op, shape = draw.pick(REDUCTIONS), draw.shape(1, 4)
    types = ("f4",) if "Log" in op or op == "ReduceMean" else ("f4", "f4", "i4", "i8", "f8")
    x = draw.numbers(shape, types)
    x = abs(x) + x.dtype.type(1) if op == "ReduceLogSum" else x
    x = within_int32(draw, x) if op == "ReduceProd" and x.dtype.kind == "i" else x
    attributes = {"keepdims": draw.dim(0, 1)}
    if draw.chance(0.3):
        attributes["noop_with_empty_axes"] = draw.dim(0, 1)
        return Node(op, [x], attributes)
    axes = [a - draw.pick([0, len(shape)]) for a in draw.subset(range(len(shape)), 1)]
    return Node(op, [x, vector(*axes)], attributes, known=(1,))


def cumulative(draw):
    shape = draw.shape(1, 4)
    return Node("CumSum", [draw.numbers(shape, ("f4", "i4", "i8", "f8")),
                           np.array(draw.axis(len(shape)))],
                {"exclusive": draw.dim(0, 1), "reverse": draw.dim(0, 1)}, known=(1,))


def softmax(draw):
    shape = draw.shape(1, 4)
    return Node(draw.pick(["Softmax", "LogSoftmax", "Hardmax"]), [draw.floats(shape)],
                {"axis": draw.axis(len(shape))})


def layer_norm(draw):
    shape = draw.shape(1, 4, 2)
    axis = draw.axis(len(shape))
    kept, op = shape[axis % len(shape):], draw.pick(["LayerNormalization", "RMSNormalization"])
    operands = [draw.floats(shape), draw.floats(kept)]
    if op == "LayerNormalization" and draw.chance(0.6):
        operands.append(draw.floats(kept))
    return Node(op, operands, {"axis": axis, "epsilon": draw.pick([1e-5, 0.1])},
                opset=21 if op == "LayerNormalization" else 23, tolerance=1e-3)


def channel_norm(draw):
    group = draw.dim(1, 3)
    shape = [draw.dim(1, 2), group * draw.dim(1, 3), *draw.shape(1, 3, 2, 5)]
    op, channels = draw.pick(["GroupNormalization", "InstanceNormalization",
                              "BatchNormalization", "MeanVarianceNormalization"]), shape[1]
    x, attributes = draw.floats(shape), {"epsilon": draw.pick([1e-5, 0.1])}
    operands = [x, draw.floats([channels]), draw.floats([channels])]
    if op == "GroupNormalization":
        attributes["num_groups"] = group
    if op == "BatchNormalization":
        operands += [draw.floats([channels]), draw.positive([channels])]
    if op == "MeanVarianceNormalization":
        axes = sorted(draw.subset(range(len(shape)), 1))
        return Node(op, [x], {"axes": axes}, tolerance=1e-3)
    return Node(op, operands, attributes, tolerance=1e-3)


def lp_norm(draw):
    shape = draw.shape(1, 4, 2)
    return Node("LpNormalization", [draw.floats(shape)],
                {"axis": draw.axis(len(shape)), "p": draw.dim(1, 2)})


EQUATIONS = ("ij,jk->ik", "ij,kj->ik", "bij,bjk->bik", "ij->ji", "ij->", "ij->j", "ii->i", "ii->",
             "i,j->ij", "i,i->", "bhid,bhjd->bhij", "ij,jk,kl->il", "...ij,...jk->...ik",
             "...i->...", "i...->...", "abc,cd->abd", "abc,abc->ac", "ab,ab->ab", "ab,b->a",
             "aab->b", "ab,bc", "ba", "abcd,bd->ac", "iij->ji", "a,ab,b->", "...,...->...",
             "bij,jk->bk")


def einsum(draw):
    equation = draw.pick(EQUATIONS)
    sizes = {letter: draw.dim(1, 5) for letter in "abcdhijkl"}
    lead = draw.shape(0, 2, 1, 3)
    terms = equation.split("->")[0].split(",")
    shapes = [[size for part in (term.partition("..."),)
               for size in ([sizes[c] for c in part[0]] + (lead if part[1] else [])
                            + [sizes[c] for c in part[2]])] for term in terms]
    return Node("Einsum", [draw.floats(shape) for shape in shapes], {"equation": equation})


def matmul(draw):
    m, k, n = draw.dim(1, 9), draw.dim(1, 9), draw.dim(1, 20)
    lead = draw.shape(0, 2, 1, 3)
    x, y = partial(draw, lead) + [m, k], partial(draw, lead) + [k, n]
    if draw.chance(0.2):
        x = [k]
    if draw.chance(0.2):
        y = [k]
    dtype = draw.pick(["f4", "f4", "f4", "f8", "i4", "i8"])
    return Node("MatMul", [draw.numbers(x, (dtype,)), draw.numbers(y, (dtype,))])


def gemm(draw):
    m, k, n = draw.dim(1, 9), draw.dim(1, 9), draw.dim(1, 20)
    a, b = draw.dim(0, 1), draw.dim(0, 1)
    operands = [draw.floats([k, m] if a else [m, k]), draw.floats([n, k] if b else [k, n])]
    if draw.chance(0.7):
        operands.append(draw.floats(partial(draw, [m, n])))
    return Node("Gemm", operands, {"transA": a, "transB": b, "alpha": 0.5, "beta": 1.5})


def byte(draw, dtype, shape=()):
    info = np.iinfo(dtype)
    return np.asarray(draw.ints(int(info.min), int(info.max), shape, dtype))


def matmul_integer(draw):
    m, k, n = draw.dim(1, 9), draw.dim(1, 9), draw.dim(1, 9)
    lead = draw.shape(0, 2, 1, 3)
    kinds = draw.pick([("u1", "u1"), ("u1", "i1"), ("i1", "i1"), ("i1", "u1")])
    operands = [byte(draw, kinds[0], [*lead, m, k]), byte(draw, kinds[1], [k, n])]
    if draw.chance(0.7):
        operands += [byte(draw, kinds[0]), byte(draw, kinds[1], draw.pick([[], [n]]))]
    return Node("MatMulInteger", operands)


def qlinear_matmul(draw):
    m, k, n = draw.dim(1, 9), draw.dim(1, 9), draw.dim(1, 9)
    kinds = draw.pick([("u1", "u1"), ("u1", "i1"), ("i1", "i1")])
    scale = [np.asarray(np.float32(v)) for v in (0.03, 0.02, 0.3)]
    operands = [byte(draw, kinds[0], [m, k]), scale[0], byte(draw, kinds[0]),
                byte(draw, kinds[1], [k, n]), scale[1], byte(draw, kinds[1]), scale[2],
                byte(draw, kinds[0])]
    return Node("QLinearMatMul", operands, known=(1, 2, 4, 5, 6, 7), steps=1)


def grid(draw, shape):
    """The shape of scales for `shape`, and their attributes."""
    if draw.chance(0.3):
        return [], {}
    axis = draw.axis(len(shape))
    if draw.chance(0.5) or 0 in shape:  # blocks of nothing crash onnxruntime
        return [shape[axis]], {"axis": axis}
    block, scales = draw.dim(2, 3), list(shape)
    scales[axis] = math.ceil(shape[axis] / block)
    return scales, {"axis": axis, "block_size": block}


def quantize(draw):
    shape = draw.shape(1, 4)
    scales, attributes = grid(draw, shape)
    kind = draw.pick(["u1", "i1", "u2", "i2"])
    operands = [draw.floats(shape), draw.positive(scales, 0.01, 0.05)]
    if draw.chance(0.8):
        operands.append(byte(draw, kind, scales))
    return Node("QuantizeLinear", operands, attributes, steps=1)


def dequantize(draw):
    shape = draw.shape(1, 4)
    scales, attributes = grid(draw, shape)
    kind = draw.pick(["u1", "i1", "u2", "i2", "i4"])
    x = byte(draw, kind, shape) if kind != "i4" else draw.ints(-9999, 9999, shape, kind)
    operands = [x, draw.positive(scales, 0.01, 0.05)]
    if draw.chance(0.8) and kind != "i4":
        operands.append(byte(draw, kind, scales))
    return Node("DequantizeLinear", operands, attributes)


def dynamic_quantize(draw):
    return Node("DynamicQuantizeLinear", [draw.floats(draw.shape())], outputs=3, steps=1)


def fourier(draw):
    shape = [*draw.shape(1, 3, 2, 7), 1 if draw.chance(0.6) else 2]
    axis = draw.dim(0, len(shape) - 2)
    attributes = {"inverse": draw.dim(0, 1), "onesided": 0}
    if shape[-1] == 1 and not attributes["inverse"]:
        attributes["onesided"] = draw.dim(0, 1)
    length = np.array(draw.dim(2, 9)) if draw.chance(0.4) else None
    return Node("DFT", [draw.floats(shape), length, np.array(axis)], attributes, known=(1, 2))


def short_time_fourier(draw):
    n, length, frame = draw.dim(1, 2), draw.dim(12, 30), draw.dim(3, 8)
    window = draw.positive([frame]) if draw.chance(0.6) else None
    return Node("STFT", [draw.floats([n, length, 1]), np.array(draw.dim(1, 5)), window,
                         np.array(frame)], {"onesided": draw.dim(0, 1)}, known=(1, 3))


def loss(draw):
    classes = draw.dim(2, 5)
    shape = [draw.dim(1, 4), classes, *draw.shape(0, 2, 1, 4)]
    labels = draw.ints(0, classes - 1, [shape[0], *shape[2:]])
    operands = [draw.floats(shape), labels]
    if draw.chance(0.5):
        operands.append(draw.positive([classes]))
    attributes = {"reduction": draw.pick(["none", "mean", "sum"])}
    if draw.chance(0.5):
        attributes["ignore_index"] = draw.dim(0, classes - 1)
    op = draw.pick(["NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"])
    outputs = draw.dim(1, 2) if op == "SoftmaxCrossEntropyLoss" else 1
    return Node(op, operands, attributes, outputs=outputs)


def determinant(draw):
    n = draw.dim(1, 4) if draw.chance(0.7) else draw.dim(17, 21)
    x = draw.floats([*draw.shape(0, 2, 1, 3), n, n])
    if draw.chance(0.2):
        x[..., -1, :] = x[..., 0, :]  # singular
    return Node("Det", [x / np.sqrt(n, dtype="f4")],
                symbols={(0, x.ndim - 2): "n", (0, x.ndim - 1): "n"} if draw.chance(0.5) else {})


FAMILIES = (binary, divide, mod, mod, power, shift, bitwise, compare, several, unary, unary, unary,
            clip, cast, prelu, reduction, reduction, reduction, cumulative, cumulative, softmax,
            layer_norm, channel_norm, channel_norm, lp_norm, einsum, einsum, einsum, matmul, gemm,
            matmul_integer, qlinear_matmul, quantize, quantize, dequantize, dequantize,
            dynamic_quantize, fourier, fourier, short_time_fourier, loss, loss, determinant)
