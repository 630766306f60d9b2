"""Families of operators with states: caches and recurrences of language models, statistics and
steps of training; and of regions and moved taps. Where onnxruntime has no kernel the reference is
ONNX's evaluator.
"""
import numpy as np
from onnx import helper

from operator_case import Node

TRAINING = "ai.onnx.preview.training"


def tensor_scatter(draw):
    """Not against ONNX's evaluator, which wraps the indices of all leading axes."""
    shape = draw.shape(2, 4, 1, 7)
    axis = draw.dim(1, len(shape) - 1)
    steps = list(shape)
    steps[axis] = draw.dim(1, shape[axis])
    cache = draw.numbers(shape, ("f4", "f4", "i4", "f2", "u1"))
    circular = draw.chance(0.5)
    most = 3 * shape[axis] if circular else shape[axis] - steps[axis]
    first = draw.ints(0, most, [shape[0]]) if draw.chance(0.8) else None
    return Node("TensorScatter", [cache, draw.numbers(steps, (cache.dtype,)), first],
                {"axis": axis - draw.pick([0, len(shape)]),
                 "mode": "circular" if circular else "linear"}, opset=24)


def causal_conv(draw):
    batch, channels, steps, taps = draw.dim(1, 3), draw.dim(1, 5), draw.dim(1, 11), draw.dim(1, 5)
    dtype = draw.pick(["f4", "f4", "f2"])
    bias = draw.floats([channels], dtype) if draw.chance(0.5) else None
    past = draw.floats([batch, channels, taps - 1], dtype) if draw.chance(0.5) else None
    return Node("CausalConvWithState",
                [draw.floats([batch, channels, steps], dtype),
                 draw.floats([channels, 1, taps], dtype), bias, past],
                {"activation": draw.pick(["none", "silu", "swish"])}, outputs=2, opset=27,
                reference="onnx")


def linear_attention(draw):
    batch, steps, heads, shared = draw.dim(1, 3), draw.dim(1, 7), draw.dim(1, 3), draw.dim(1, 3)
    keys, values, dtype = draw.dim(1, 5), draw.dim(1, 5), draw.pick(["f4", "f4", "f2"])
    rule = draw.pick(["linear", "gated", "delta", "gated_delta"])
    decay = beta = past = None
    if "gated" in rule:
        width = draw.pick([heads, heads * keys])
        decay = -draw.positive([batch, steps, width], 0.1, 1).astype(dtype)
    if "delta" in rule:
        beta = draw.positive([batch, steps, draw.pick([heads, 1])], 0.1, 0.9).astype(dtype)
    if draw.chance(0.5):
        past = draw.floats([batch, heads, keys, values], draw.pick(["f4", dtype]))
    key = draw.floats([batch, steps, heads, keys])
    key /= np.linalg.norm(key, axis=-1, keepdims=True)
    attributes = {"q_num_heads": heads * shared, "kv_num_heads": heads, "update_rule": rule}
    if draw.chance(0.3):
        attributes["scale"] = 0.75
    return Node("LinearAttention",
                [draw.floats([batch, steps, heads * shared * keys], dtype),
                 key.reshape(batch, steps, heads * keys).astype(dtype),
                 draw.floats([batch, steps, heads * values], dtype), past, decay, beta],
                attributes, outputs=2, opset=27, reference="onnx")


def deform_conv(draw):
    """Of two spatial axes, which onnxruntime has."""
    groups, offset_groups = draw.dim(1, 2), draw.dim(1, 3)
    channels = groups * offset_groups * draw.dim(1, 2)
    outputs, batch = groups * draw.dim(1, 3), draw.dim(1, 2)
    size, kernel = [draw.dim(3, 7) for _ in range(2)], [draw.dim(1, 3) for _ in range(2)]
    strides, dilations = ([draw.dim(1, 2) for _ in range(2)] for _ in range(2))
    pads = [draw.dim(0, 2) for _ in range(4)]
    out = [(size[d] + pads[d] + pads[d + 2] - dilations[d] * (kernel[d] - 1) - 1) // strides[d] + 1
           for d in range(2)]
    taps, out = offset_groups * int(np.prod(kernel)), [max(o, 1) for o in out]
    operands = [draw.floats([batch, channels, *size]),
                draw.floats([outputs, channels // groups, *kernel]),
                2 * draw.floats([batch, 2 * taps, *out]),
                draw.floats([outputs]) if draw.chance(0.5) else None,
                draw.positive([batch, taps, *out]) if draw.chance(0.5) else None]
    return Node("DeformConv", operands,
                {"group": groups, "offset_group": offset_groups, "kernel_shape": kernel,
                 "strides": strides, "dilations": dilations, "pads": pads}, opset=19)


def max_roi_pool(draw):
    shape = [draw.dim(1, 3), draw.dim(1, 3), draw.dim(1, 9), draw.dim(1, 9)]
    count, scale = draw.dim(1, 4), draw.pick([1.0, 0.5, 0.25])
    corners = draw.rng.uniform(-4, 12, [count, 4]) / scale
    if draw.chance(0.5):
        corners = np.round(corners * 2) / 2  # halves, where rounding matters
    rois = np.concatenate([draw.ints(0, shape[0] - 1, [count, 1]), corners], 1).astype("f4")
    return Node("MaxRoiPool", [draw.floats(shape), rois],
                {"pooled_shape": [draw.dim(1, 4), draw.dim(1, 4)], "spatial_scale": scale},
                opset=16)


def training_norm(draw):
    """Statistics of the batch, and running ones."""
    shape = [draw.dim(1, 3), draw.dim(1, 5), *draw.shape(0, 3, 2, 5)]
    channels = [shape[1]]
    operands = [draw.floats(shape), *(draw.floats(channels) for _ in range(3)),
                draw.positive(channels)]
    return Node("BatchNormalization", operands,
                {"training_mode": 1, "epsilon": draw.pick([1e-5, 0.1]),
                 "momentum": draw.pick([0.9, 0.0, 1.0, 0.25])}, outputs=draw.pick([1, 3, 3]),
                opset=draw.pick([14, 17]))


def bit_cast(draw):
    width = draw.pick([1, 2, 4, 8])
    kinds = ["i", "u"]
    x = draw.ints(0, 255, [*draw.shape(), width], "u1").view(draw.pick(kinds) + str(width))
    target = helper.np_dtype_to_tensor_dtype(np.dtype(draw.pick(kinds) + str(width)))
    return Node("BitCast", [x[..., 0]], {"to": target}, opset=26, reference="onnx")


def training_step(draw):
    op, states = draw.pick([("Adagrad", 1), ("Adam", 2), ("Momentum", 1)])
    count, dtype = draw.dim(1, 3), draw.pick(["f4", "f4", "f8"])
    if op == "Adam":  # ONNX's evaluator gives one result in f64, and several in f32
        dtype = "f8" if count == 1 else "f4"
    shapes = [draw.shape(0, 3) for _ in range(count)]
    parts = [[draw.floats(s, dtype) for s in shapes] for _ in range(2)]
    parts += [[np.abs(draw.floats(s, dtype)) for s in shapes] for _ in range(states)]
    attributes = {"norm_coefficient": draw.pick([0.0, 0.01])}
    if op != "Adagrad":
        attributes.update(alpha=draw.pick([0.9, 0.5]), beta=draw.pick([0.999, 0.75]))
    if op == "Adagrad":
        attributes["decay_factor"] = draw.pick([0.0, 0.1])
    if op == "Adam":
        attributes["norm_coefficient_post"] = draw.pick([0.0, 0.1])
    if op == "Momentum":
        attributes["mode"] = draw.pick(["standard", "nesterov"])
    rate = np.array(0.1, draw.pick(["f4", dtype]))
    return Node(op, [rate, np.array(draw.dim(0, 9)), *(x for part in parts for x in part)],
                attributes, outputs=count * (states + 1), opset=21, domain=TRAINING,
                reference="onnx")


FAMILIES = (tensor_scatter, causal_conv, linear_attention, linear_attention, deform_conv,
            deform_conv, max_roi_pool, training_norm, bit_cast, training_step)
