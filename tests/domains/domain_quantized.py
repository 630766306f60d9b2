"""Families of quantised operators of com.microsoft. Weights of i8 are below 64, so that no sum of
two products with u8 leaves 16 bits, where onnxruntime saturates (tests/models/exact_sums.py).
"""
import ml_dtypes
import numpy as np

from domain_fused import ms_node

BYTES = ("u1", "i1")


def scale(draw, low=0.01, high=0.1):
    return np.array(draw.rng.uniform(low, high), "f4")


def byte(draw, dtype, shape=()):
    info = np.iinfo(dtype)
    return draw.ints(info.min, info.max, shape, dtype)


def zero(draw, dtype):
    return np.array(draw.pick([0, byte(draw, dtype)]), dtype)


def weights(draw, dtype, shape):
    return draw.ints(-63, 63, shape, "i1") if dtype == "i1" else byte(draw, dtype, shape)


def binary(draw):
    dtype, shape = draw.pick(BYTES), draw.shape(1, 4)
    other = [1 if draw.chance(0.25) else d for d in shape[draw.dim(0, len(shape) - 1):]]
    op = draw.pick(["QLinearAdd", "QLinearMul"])
    return ms_node(op, [byte(draw, dtype, shape), scale(draw), zero(draw, dtype),
                        byte(draw, dtype, other), scale(draw), zero(draw, dtype),
                        scale(draw, 0.02, 0.2), zero(draw, dtype)], steps=1)


def unary(draw):
    dtype, op = draw.pick(BYTES), draw.pick(["QLinearSigmoid", "QLinearLeakyRelu"])
    return ms_node(op, [byte(draw, dtype, draw.shape(1, 4)), scale(draw), zero(draw, dtype),
                        scale(draw, 0.004, 0.1), zero(draw, dtype)],
                   {"alpha": 0.2} if op == "QLinearLeakyRelu" else {})


def softmax(draw):
    """Of axes of two elements and more: of a single one onnxruntime makes 0, and not the most."""
    dtype, shape = draw.pick(BYTES), draw.shape(1, 4, 2)
    opset = draw.pick([12, 13])
    axis = draw.axis(len(shape))
    return ms_node("QLinearSoftmax", [byte(draw, dtype, shape), scale(draw), zero(draw, dtype),
                                      np.array(1 / 256, "f4"),
                                      np.array(0 if dtype == "u1" else -128, dtype)],
                   {"axis": axis, "opset": opset})


def concat(draw):
    dtype, shape = draw.pick(BYTES), draw.shape(1, 4)
    axis = draw.dim(0, len(shape) - 1)
    operands = [scale(draw), zero(draw, dtype)]
    for _ in range(draw.dim(1, 3)):
        shape[axis] = draw.dim(1, 4)
        operands += [byte(draw, dtype, shape), scale(draw), zero(draw, dtype)]
    return ms_node("QLinearConcat", operands, {"axis": axis},
                   known=tuple(i for i in range(len(operands)) if i < 2 or i % 3 != 2))


def pool(draw):
    """In ceil_mode onnxruntime counts what is beyond the padding as padding; the standard does not.
    """
    dtype, rank = draw.pick(BYTES), 2
    x = byte(draw, dtype, [draw.dim(1, 2), draw.dim(1, 5), *[draw.dim(4, 7)] * rank])
    params = [scale(draw), zero(draw, dtype), scale(draw), zero(draw, dtype)]
    attributes = {}
    if draw.chance(0.3):
        x, attributes = np.moveaxis(x, 1, -1), {"channels_last": 1}
    if draw.chance(0.3):
        return ms_node("QLinearGlobalAveragePool", [x, *params], attributes)
    kernel = [draw.dim(1, 3)] * rank
    attributes |= {"kernel_shape": kernel, "strides": [draw.dim(1, 2)] * rank,
                  "pads": [draw.dim(0, kernel[0] - 1)] * (2 * rank),
                  **draw.pick([{}, {"count_include_pad": 1}, {"ceil_mode": 1}])}
    return ms_node("QLinearAveragePool", [x, *params], attributes)


def matmul(draw):
    """MatMulIntegerToFloat and DynamicQuantizeMatMul."""
    m, k, n, kind = draw.dim(), draw.dim(1, 9), draw.dim(), draw.pick(BYTES)
    b = weights(draw, kind, [k, n])
    per_column = draw.chance(0.4)
    b_scale = draw.positive([n], 0.01, 0.1) if per_column else scale(draw)
    b_zero = draw.ints(-60, 60, [n], "i1") if kind == "i1" else byte(draw, kind, [n])
    b_zero = draw.pick([None, b_zero if per_column else np.array(b_zero[0])])
    bias = draw.floats([n]) if draw.chance(0.5) else None
    if draw.chance(0.5):
        return ms_node("DynamicQuantizeMatMul", [draw.floats([m, k]), b, b_scale, b_zero, bias])
    a = byte(draw, "u1", [m, k])
    return ms_node("MatMulIntegerToFloat",
                   [a, b, scale(draw), b_scale, draw.pick([None, byte(draw, "u1")]), b_zero, bias])


def gemm(draw):
    m, k, n, kind = draw.dim(), draw.dim(1, 9), draw.dim(), draw.pick(BYTES)
    turn_a, turn_b = draw.dim(0, 1), draw.dim(0, 1)
    a = byte(draw, "u1", [k, m] if turn_a else [m, k])
    b = weights(draw, kind, [n, k] if turn_b else [k, n])
    operands = [a, scale(draw), zero(draw, "u1"), b, scale(draw), np.array(draw.dim(0, 9), kind),
                draw.ints(-500, 500, [n], "i4") if draw.chance(0.5) else None]
    if draw.chance(0.6):
        operands += [scale(draw, 0.05, 0.5), zero(draw, "u1")]
    return ms_node("QGemm", operands, {"transA": turn_a, "transB": turn_b,
                                       "alpha": draw.pick([1.0, 0.5])})


def linear(draw):
    """QuantizeLinear and DequantizeLinear, one scale or one an axis."""
    dtype, shape = draw.pick(BYTES + ("u2", "i2")), draw.shape(1, 4)
    axis = draw.dim(0, len(shape) - 1)
    per_axis = draw.chance(0.4)
    count = [shape[axis]] if per_axis else []
    attributes = {"axis": axis} if per_axis else {}
    scales = draw.positive(count, 0.01, 0.1) if per_axis else scale(draw)
    zeros = byte(draw, dtype, count)
    if draw.chance(0.5):
        return ms_node("DequantizeLinear", [byte(draw, dtype, shape), scales, zeros], attributes)
    return ms_node("QuantizeLinear", [draw.floats(shape), scales, zeros], attributes)


def few_bits(draw):
    """MatMulNBits with zero points that are packed, floats or left out."""
    k, n, block, bits = draw.dim(1, 70), draw.dim(1, 6), draw.pick([16, 32]), draw.pick([2, 4, 8])
    blocks = -(-k // block)
    zeros = {"packed": byte(draw, "u1", [n, -(-blocks * bits // 8)]),
             "floats": draw.positive([n, blocks], 0, 8), "none": None}
    kind = draw.pick(["packed", "none"] if bits == 8 else list(zeros))
    operands = [draw.floats([*draw.shape(1, 2), k]),
                byte(draw, "u1", [n, blocks, block * bits // 8]),
                draw.positive(draw.pick([[n * blocks], [n, blocks]]), 0.01, 0.1), zeros[kind],
                # onnxruntime takes all of these for numbers of four bits without zero points
                draw.ints(0, blocks - 1, [k], "i4") if (bits, kind) == (4, "none") else None,
                draw.floats([n]) if draw.chance(0.5) else None]
    return ms_node("MatMulNBits", operands, {"K": k, "N": n, "bits": bits, "block_size": block},
                   known=(1, 2, 3, 4))


def gather_blocks_of_bytes(draw):
    """The same of numbers of 2, 4 and 8 bits in bytes."""
    rows, block, blocks = draw.dim(1, 9), draw.pick([16, 32]), draw.dim(1, 3)
    bits = draw.pick([2, 4, 8])
    operands = [byte(draw, "u1", [rows, block * blocks * bits // 8]),
                draw.ints(-rows, rows - 1, draw.shape(0, 2)),
                draw.positive([rows, blocks], 0.01, 0.1),
                byte(draw, "u1", [rows, -(-blocks * bits // 8)]) if draw.chance(0.5) else None]
    return ms_node("GatherBlockQuantized", operands,
                   {"gather_axis": 0, "quantize_axis": 1, "block_size": block, "bits": bits},
                   known=(0, 2, 3))


def lstm(draw):
    """Bidirectional and not, with scales of a direction or of each column. The longest row has all
    steps, and rows of a reverse direction have them too, as onnxruntime looks no further for the
    range of X; zero points are all the same, and 0
    of i8, as it wants them.
    """
    length, rows, features = draw.dim(1, 5), draw.pick([1, 1, 2, 3]), draw.dim(1, 7)
    hidden, kind = draw.pick([1, 2, 3, 5, 8, 11]), draw.pick(BYTES)
    direction = draw.pick(["forward", "reverse", "bidirectional"])
    directions = 2 if direction == "bidirectional" else 1

    def optional(*shape):
        return draw.rng.uniform(-0.7, 0.7, shape).astype("f4") if draw.chance(0.6) else None

    def scales_of(columns):
        shape = [directions, columns] if per_column else [directions]
        zero_point = np.full(shape, 0 if kind == "i1" else draw.dim(118, 138), kind)
        return draw.positive(shape, 0.003, 0.01), zero_point

    per_column = draw.chance(0.4)
    lengths = draw.ints(0, length, [rows], "i4")
    lengths[draw.dim(0, rows - 1)] = length
    lengths = lengths if direction == "forward" and draw.chance(0.5) else None
    operands = [draw.floats([length, rows, features]),
                weights(draw, kind, [directions, features, 4 * hidden]),
                weights(draw, kind, [directions, hidden, 4 * hidden]),
                optional(directions, 8 * hidden), lengths,
                optional(directions, rows, hidden), optional(directions, rows, hidden),
                optional(directions, 3 * hidden), *scales_of(4 * hidden), *scales_of(4 * hidden)]
    return ms_node("DynamicQuantizeLSTM", operands,
                   {"hidden_size": hidden, "direction": direction,
                    "input_forget": draw.pick([0, 0, 1])},
                   known=(1, 2, 8, 9, 10, 11), outputs=draw.dim(1, 3), tolerance=1e-2)


def gather_blocks(draw):
    """Rows of weights of four bits with a scale for each block."""
    rows, block, blocks = draw.dim(1, 9), draw.pick([16, 32]), draw.dim(1, 3)
    signed = draw.chance(0.5)
    dtype = ml_dtypes.int4 if signed else ml_dtypes.uint4
    low, high = (-8, 7) if signed else (0, 15)
    operands = [draw.ints(low, high, [rows, block * blocks]).astype(dtype),
                draw.ints(-rows, rows - 1, draw.shape(0, 2)),
                draw.positive([rows, blocks], 0.01, 0.1),
                draw.ints(low, high, [rows, blocks]).astype(dtype) if draw.chance(0.5) else None]
    return ms_node("GatherBlockQuantized", operands,
                   {"gather_axis": 0, "quantize_axis": 1, "block_size": block}, known=(0, 2, 3))


def gather_within_blocks(draw):
    """The same along the axis of the blocks."""
    block, blocks, columns = draw.pick([16, 32]), draw.dim(1, 3), draw.dim(1, 5)
    rows, zeros = block * blocks, draw.chance(0.5)
    operands = [draw.ints(0, 15, [rows, columns]).astype(ml_dtypes.uint4),
                draw.ints(-rows, rows - 1, draw.shape(0, 2)),
                draw.positive([blocks, columns], 0.01, 0.1),
                draw.ints(0, 15, [blocks, columns]).astype(ml_dtypes.uint4) if zeros else None]
    return ms_node("GatherBlockQuantized", operands,
                   {"gather_axis": 0, "quantize_axis": 0, "block_size": block}, known=(0, 2, 3))


FAMILIES = (lstm, gather_blocks_of_bytes, gather_within_blocks, gather_blocks, few_bits, binary,
            unary, softmax, concat, pool, matmul, gemm, linear)
