"""Families of operators on elements of 8 bits and less that few references know: four floats of 8
bits, that of powers of two, floats and integers of 4 and 2 bits.

What only moves them is what onnxruntime makes of bytes with the same bits.
"""
import dataclasses
import functools

import ml_dtypes
import numpy as np
from onnx import helper, numpy_helper

from operator_case import Dropped, Node, build, expect, vector
from operator_graphs import composed, info
from operator_numbers import grid

OPSET = 25
FLOATS_OF_8 = tuple(np.dtype(t) for t in (
    ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e4m3fnuz, ml_dtypes.float8_e5m2,
    ml_dtypes.float8_e5m2fnuz))
POWERS = np.dtype(ml_dtypes.float8_e8m0fnu)
FLOATS = (*FLOATS_OF_8, np.dtype(ml_dtypes.float4_e2m1fn))
INTEGERS = {np.dtype(ml_dtypes.int4): (-8, 7), np.dtype(ml_dtypes.uint4): (0, 15),
            np.dtype(ml_dtypes.int2): (-2, 1), np.dtype(ml_dtypes.uint2): (0, 3)}
ALL = (*FLOATS, POWERS, *INTEGERS)


def kind_of(dtype):
    return helper.np_dtype_to_tensor_dtype(dtype)


def codes(draw, shape, dtype):
    """Any of all values that the type has."""
    if dtype in INTEGERS:
        return draw.ints(*INTEGERS[dtype], shape, "i1").astype(dtype)
    most = 15 if dtype == FLOATS[-1] else 255
    return np.asarray(draw.ints(0, most, shape, "u1")).view(dtype)


def as_bytes(array, dtype):
    return np.asarray(array).view("u1") if array is not None and array.dtype == dtype else array


def moved_as(node, dtype, operands):
    """What onnxruntime moves bytes to."""
    present = iter(operands)
    bytes_ = [a if a is None else as_bytes(next(present), dtype) for a in node.operands]
    plain = dataclasses.replace(node, operands=bytes_, reference="onnxruntime", opset=21)
    found = expect(plain, "n", build(plain, "n", set()), {})
    if not found:
        raise Dropped("refused by the reference")
    return [a.view(dtype) if a.dtype == np.uint8 else a for a in found.values()]


def moved(draw):
    op, dtype, shape = draw.pick(["Identity", "Reshape", "Transpose", "Squeeze", "Unsqueeze", "Pad",
                                  "Flatten", "Shape", "Size"]), draw.pick(ALL), draw.shape(1, 4)
    operands, attributes, known = [codes(draw, shape, dtype)], {}, ()
    if op == "Reshape":
        operands, known = [*operands, vector(*draw.pick([[-1], shape[::-1]]))], (1,)
    if op == "Transpose":
        attributes["perm"] = [int(i) for i in draw.rng.permutation(len(shape))]
    if op == "Squeeze":
        shape[draw.dim(0, len(shape) - 1)] = 1
        operands = [codes(draw, shape, dtype)]
    if op == "Unsqueeze":
        operands, known = [*operands, vector(draw.dim(0, len(shape)))], (1,)
    if op == "Flatten":
        attributes["axis"] = draw.dim(0, len(shape))
    if op == "Pad":
        pads = [draw.dim(0, 2) for _ in range(2 * len(shape))]
        operands, known = [*operands, vector(*pads), codes(draw, [], dtype)], (1, 2)
    node = Node(op, operands, attributes, known=known, opset=OPSET)
    return dataclasses.replace(node, reference=functools.partial(moved_as, node, dtype))


def chosen(draw):
    """If, whose branches hand on one of two."""
    shape, dtype = draw.shape(0, 3), draw.pick(ALL)
    x, y = codes(draw, shape, dtype), codes(draw, shape, dtype)

    def make(node, named, inputs, outputs):
        branches = {}
        for branch, value in zip(("then_branch", "else_branch"), inputs[1:]):
            result = named(branch)
            inner = helper.make_node("Identity", [value], [result], name=f"{result}_0")
            branches[branch] = helper.make_graph([inner], result, [], [info(result, dtype, shape)])
        node("If", inputs[:1], outputs, **branches)

    return composed("If", [np.array(draw.chance(0.5)), x, y], make, opset=OPSET,
                    reference=lambda operands: [operands[1] if operands[0] else operands[2]])


def constant(draw):
    dtype = draw.pick(ALL)
    if draw.chance(0.5):
        array = codes(draw, draw.shape(0, 3), dtype)
        return Node("Constant", [], {"value": numpy_helper.from_array(array)}, opset=OPSET,
                    reference=lambda _: [array])
    value, shape = codes(draw, [1], dtype), draw.shape(0, 3)
    return Node("ConstantOfShape", [vector(*shape)], {"value": numpy_helper.from_array(value)},
                known=(0,), opset=OPSET, reference=lambda _: [np.full(shape, value[0], dtype)])


def question(draw):
    """Of floats of 8 bits, which f32 holds exactly."""
    op, x = draw.pick(["IsNaN", "IsInf"]), codes(draw, draw.shape(), draw.pick(FLOATS_OF_8))
    function = np.isnan if op == "IsNaN" else np.isinf
    return Node(op, [x], opset=OPSET,
                reference=lambda operands: [function(operands[0].astype("f4"))])


def bit_cast(draw):
    source, target = np.dtype(draw.pick(["u1", "i1"])), draw.pick((*FLOATS_OF_8, POWERS))
    if draw.chance(0.5):
        source, target = target, source
    x = np.asarray(draw.ints(0, 255, draw.shape(), "u1")).view(source)
    return Node("BitCast", [x], {"to": kind_of(target)}, opset=26,
                reference=lambda operands: [operands[0].view(target)])


EXTREMES = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-9, -1e-9, 448.0, 464.0, 465.0, 57344.0, 61440.0,
            -1e9, 3e38)


def cast(draw):
    """Between these types and those of 16 and 32 bits; with what passes the range of a float."""
    small, shape = draw.pick(ALL), draw.shape()
    wide = np.dtype(draw.pick(["f4", "f4", "f2", ml_dtypes.bfloat16]))
    op, attributes = draw.pick(["Cast", "Cast", "CastLike"]), {}
    if draw.chance(0.4):
        x, to = codes(draw, shape, small), wide
    elif small in INTEGERS:
        x, to = draw.ints(*INTEGERS[small], shape).astype(wide), small
    else:
        x, to = draw.floats(shape) * np.float32(draw.pick([0.01, 1, 300])), small
        picked = np.array(EXTREMES, "f4")[draw.rng.integers(len(EXTREMES), size=shape)]
        x = np.where(draw.rng.random(shape) < 0.3, picked, x)
        if small == POWERS:  # of an infinity ONNX's evaluator gives no number, as its text does
            x = np.where(np.isinf(x), 1e38, abs(x))
        with np.errstate(over="ignore"):
            x = x.astype(wide)
        if small in FLOATS_OF_8 and draw.chance(0.5):
            attributes["saturate"] = draw.dim(0, 1)
        if small == POWERS and draw.chance(0.5):
            attributes["round_mode"] = draw.pick(["up", "down", "nearest"])
    if op == "Cast":
        return Node(op, [x], {"to": kind_of(to), **attributes}, opset=OPSET, reference="onnx")
    return Node(op, [x, np.zeros([1], to)], attributes, opset=OPSET, reference="onnx")


QUANTA = (*FLOATS_OF_8, FLOATS[-1], *INTEGERS)


def quantize(draw):
    shape, dtype = draw.shape(1, 4), draw.pick(QUANTA)
    scales, attributes = grid(draw, shape)
    zero = codes(draw, scales, dtype) if dtype in INTEGERS else np.zeros(scales, dtype)
    if dtype in FLOATS_OF_8 and draw.chance(0.5):
        attributes["saturate"] = draw.dim(0, 1)
    return Node("QuantizeLinear", [draw.floats(shape), draw.positive(scales, 0.01, 0.5), zero],
                attributes, opset=OPSET, reference="onnx", steps=1)


def dequantize(draw):
    shape, dtype = draw.shape(1, 4), draw.pick(QUANTA)
    scales, attributes = grid(draw, shape)
    operands = [codes(draw, shape, dtype), draw.positive(scales, 0.01, 0.05)]
    if draw.chance(0.6):
        operands.append(codes(draw, scales, dtype) if dtype in INTEGERS else
                        np.zeros(scales, dtype))
    return Node("DequantizeLinear", operands, attributes, opset=OPSET, reference="onnx")


FAMILIES = (moved, chosen, constant, question, bit_cast, cast, cast, quantize, dequantize)
