"""Families of operators in the forms that they had in older opsets; of few opsets, as the cases of
one share a compilation.
"""
import numpy as np

from operator_case import Node, vector
from operator_windows import reference_of


def softmax(draw):
    """Before opset 13 all axes from `axis` on were one."""
    shape = draw.shape(2, 4)
    return Node(draw.pick(["Softmax", "LogSoftmax", "Hardmax"]), [draw.floats(shape)],
                {"axis": draw.dim(0, len(shape) - 1)}, opset=draw.pick([8, 12]))


def pad(draw):
    """With attributes, before opset 11."""
    shape = draw.shape(2, 4, 3, 6)
    mode = draw.pick(["constant", "constant", "reflect", "edge"])
    low = -1 if mode == "constant" else 0
    attributes = {"mode": mode, "pads": [draw.dim(low, 2) for _ in range(2 * len(shape))]}
    if mode == "constant":
        attributes["value"] = draw.pick([0.0, 1.5])
    return Node("Pad", [draw.floats(shape)], attributes, opset=draw.pick([8, 10]))


def slice_(draw):
    """With attributes, before opset 10."""
    shape = draw.shape(1, 4)
    axes = sorted(draw.subset(range(len(shape)), 1))
    attributes = {"starts": [draw.dim(-shape[a], shape[a]) for a in axes],
                  "ends": [draw.pick([shape[a], -1, 2 ** 31]) for a in axes], "axes": axes}
    return Node("Slice", [draw.floats(shape)], attributes, opset=8)


def top_k(draw):
    """With an attribute before opset 10, and the greatest ones only before opset 11."""
    shape = draw.shape(1, 4)
    axis = draw.dim(0, len(shape) - 1)
    k, x = draw.dim(1, shape[axis]), draw.with_ties(shape)
    if draw.chance(0.5):
        return Node("TopK", [x], {"axis": axis, "k": k}, outputs=2, opset=8)
    return Node("TopK", [x, vector(k)], {"axis": axis}, known=(1,), outputs=2, opset=10)


def reduction(draw):
    """With an attribute, before opset 13 or 18."""
    op = draw.pick(["ReduceSum", "ReduceMean", "ReduceMax", "ReduceL2", "ReduceProd"])
    shape = draw.shape(1, 4)
    attributes = {"keepdims": draw.dim(0, 1)}
    if draw.chance(0.8):
        attributes["axes"] = draw.subset(range(len(shape)), 1)
    opset = draw.pick([8, 12] if op == "ReduceSum" else [8, 12, 17])
    return Node(op, [draw.floats(shape)], attributes, opset=opset)


def squeeze(draw):
    """With an attribute, before opset 13."""
    shape = draw.shape(1, 4, 1, 3)
    if draw.chance(0.5):
        ones = [i for i, d in enumerate(shape) if d == 1]
        attributes = {"axes": ones} if ones and draw.chance(0.6) else {}
        return Node("Squeeze", [draw.floats(shape)], attributes, opset=draw.pick([8, 12]))
    axes = sorted(draw.subset(range(len(shape) + 1), 1)[:2])
    return Node("Unsqueeze", [draw.floats(shape)], {"axes": axes}, opset=draw.pick([8, 12]))


def split(draw):
    """Sizes as an attribute, or equal parts."""
    shape = draw.shape(1, 3, 2, 7)
    axis, opset = draw.dim(0, len(shape) - 1), draw.pick([8, 12, 17])
    first = draw.dim(1, shape[axis] - 1)
    if opset < 13 and draw.chance(0.5):
        return Node("Split", [draw.floats(shape)], {
            "axis": axis, "split": [first, shape[axis] - first]}, outputs=2, opset=opset)
    count = draw.dim(1, 3)
    shape[axis] = count * draw.dim(1, 3)
    return Node("Split", [draw.floats(shape)], {"axis": axis}, outputs=count, opset=opset)


def clip(draw):
    """With attributes, before opset 11."""
    attributes = draw.pick([{"min": -0.5, "max": 0.75}, {"min": 0.1}, {"max": 0.2}, {}])
    return Node("Clip", [draw.floats(draw.shape())], attributes, opset=draw.pick([8, 10]))


def upsample(draw):
    """What Resize was before opset 11: the first elements of each, or linear ones."""
    mode, spatial = draw.pick(["nearest", "linear"]), [draw.dim(2, 5) for _ in range(2)]
    x = draw.floats([draw.dim(1, 2), draw.dim(1, 3), *spatial])
    scales = [1.0, 1.0, *(draw.pick([1.0, 2.0, 3.0, 1.5, 2.5]) for _ in spatial)]
    opset = draw.pick([8, 10])
    if opset == 8:
        return Node("Upsample", [x], {"mode": mode, "scales": scales}, opset=8)
    if draw.chance(0.4):
        scales[2:] = [draw.pick([0.5, 0.75]), draw.pick([0.5, 0.6])]
    return Node("Resize", [x, vector(*scales, dtype="f4")], {"mode": mode}, known=(1,), opset=10)


def resize(draw):
    """Opset 11 and 13, with roi as an empty input."""
    mode, spatial = draw.pick(["nearest", "linear", "cubic"]), [draw.dim(2, 8) for _ in range(2)]
    x = draw.floats([draw.dim(1, 2), draw.dim(1, 3), *spatial])
    attributes = {"mode": mode, "coordinate_transformation_mode": draw.pick(
        ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"])}
    if mode == "nearest":
        attributes["nearest_mode"] = draw.pick(["round_prefer_floor", "floor", "ceil"])
    empty, opset = np.zeros([0], "f4"), draw.pick([12, 17, 18])
    if draw.chance(0.5):
        scales = vector(1, 1, *(draw.pick([0.5, 2.0, 1.5, 0.75]) for _ in spatial), dtype="f4")
        reference = reference_of(attributes, x.shape, scales)
        return Node("Resize", [x, empty, scales], attributes, known=(1, 2), opset=opset,
                    reference=reference)
    sizes = vector(*x.shape[:2], *(draw.dim(1, 9) for _ in spatial))
    return Node("Resize", [x, empty, empty, sizes], attributes, known=(1, 2, 3), opset=opset)


def batch_norm(draw):
    """Before opset 9 also with statistics of each element of a sample."""
    shape = [draw.dim(1, 2), draw.dim(1, 5), *draw.shape(0, 3, 2, 5)]
    if draw.chance(0.3):
        each = [draw.floats(shape[1:]) for _ in range(3)]
        return Node("BatchNormalization", [draw.floats(shape), *each, draw.positive(shape[1:])],
                    {"epsilon": draw.pick([1e-5, 0.1]), "spatial": 0}, opset=8)
    channels = [shape[1]]
    operands = [draw.floats(shape), *(draw.floats(channels) for _ in range(3)),
                draw.positive(channels)]
    return Node("BatchNormalization", operands, {"epsilon": draw.pick([1e-5, 0.1])},
                opset=draw.pick([8, 12, 17]))


def binary(draw):
    """Broadcasting since opset 7."""
    shape = draw.shape(1, 4)
    other = shape[draw.dim(0, len(shape)):]
    return Node(draw.pick(["Add", "Mul", "Sub", "PRelu"]), [draw.floats(shape), draw.floats(other)],
                opset=draw.pick([8, 12]))


def grid_sample(draw):
    """The modes had other names before opset 20."""
    n, c, spatial = draw.dim(1, 2), draw.dim(1, 3), [draw.dim(2, 6) for _ in range(2)]
    grid = draw.rng.uniform(-1.4, 1.4, [n, draw.dim(1, 5), draw.dim(1, 5), 2]).astype("f4")
    return Node("GridSample", [draw.floats([n, c, *spatial]), grid],
                {"mode": draw.pick(["bilinear", "nearest", "bicubic"]),
                 "padding_mode": draw.pick(["zeros", "border", "reflection"]),
                 "align_corners": draw.dim(0, 1)}, opset=17)


def average_pool(draw):
    attributes = {"kernel_shape": [draw.dim(1, 3), draw.dim(1, 3)],
                  "strides": [draw.dim(1, 2), draw.dim(1, 2)],
                  "count_include_pad": draw.dim(0, 1)}
    attributes["pads"] = [draw.dim(0, k - 1) for k in attributes["kernel_shape"] * 2]
    opset = draw.pick([8, 10, 12])
    if opset >= 10:
        attributes["ceil_mode"] = draw.dim(0, 1)
    return Node("AveragePool", [draw.floats([1, 2, draw.dim(3, 8), draw.dim(3, 8)])], attributes,
                opset=opset)


def dequantize(draw):
    """Along an axis since opset 13; of one scale before."""
    shape, opset = draw.shape(2, 3), draw.pick([10, 17])
    axis = draw.dim(0, len(shape) - 1)
    scales = [shape[axis]] if opset > 10 and draw.chance(0.6) else []
    kind = draw.pick(["u1", "i1"])
    x, zero = draw.ints(0, 127, shape, kind), draw.ints(0, 127, scales, kind)
    attributes = {"axis": axis} if scales else {}
    if draw.chance(0.5):
        return Node("DequantizeLinear", [x, draw.positive(scales, 0.01, 0.05), np.asarray(zero)],
                    attributes, opset=opset)
    return Node("QuantizeLinear", [draw.floats(shape), draw.positive(scales, 0.01, 0.05),
                                   np.asarray(zero)], attributes, opset=opset, steps=1)


def group_norm(draw):
    """Scale and bias of groups in opset 18, of channels since 21."""
    groups = draw.dim(1, 3)
    shape = [draw.dim(1, 2), groups * draw.dim(1, 3), draw.dim(2, 4), draw.dim(2, 4)]
    return Node("GroupNormalization", [draw.floats(shape), draw.floats([groups]),
                                       draw.floats([groups])],
                {"num_groups": groups}, opset=18, tolerance=1e-3)


def fourier(draw):
    """The axis was an attribute before opset 20."""
    shape = [draw.dim(1, 3), draw.dim(2, 6), draw.dim(2, 6), draw.dim(1, 2)]
    inverse = draw.dim(0, 1)
    onesided = draw.dim(0, 1) if shape[-1] == 1 and not inverse else 0
    return Node("DFT", [draw.floats(shape)],
                {"axis": draw.dim(1, 2), "inverse": inverse, "onesided": onesided}, opset=17)


FAMILIES = (softmax, softmax, pad, slice_, top_k, reduction, reduction, squeeze, split, clip,
            upsample, upsample, resize, resize, batch_norm, binary, grid_sample, average_pool,
            dequantize, dequantize, group_norm, fourier)
