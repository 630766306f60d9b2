"""Families of operators that slide windows over, or sample, images."""
import fractions
import functools
import math

import numpy as np

from operator_case import Node, vector

LETTERS = ("NOTSET", "NOTSET", "NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER")


def window(draw, spatial, pools=False):
    """Attributes kernel_shape, strides, and some of dilations, pads, auto_pad."""
    attributes = {"kernel_shape": [draw.dim(1, min(3, d)) for d in spatial],
                  "strides": [draw.dim(1, 3) for _ in spatial]}
    if draw.chance(0.4):
        sizes = zip(attributes["kernel_shape"], spatial)
        attributes["dilations"] = [draw.dim(1, 2 if k * 2 - 1 <= d else 1) for k, d in sizes]
    auto_pad = draw.pick(LETTERS)
    if pools and auto_pad.startswith("SAME"):  # onnxruntime departs from ONNX's formula for others
        attributes.pop("dilations", None)
        attributes["strides"] = list(map(min, attributes["strides"], attributes["kernel_shape"]))
    if auto_pad != "NOTSET":
        attributes["auto_pad"] = auto_pad
    elif draw.chance(0.7):
        kernel = attributes["kernel_shape"]
        attributes["pads"] = [draw.dim(0, k - 1) for k in kernel] + [
            draw.dim(0, k - 1) for k in kernel]
    return attributes


def image(draw, channels, ranks=(1, 2, 2, 3), high=9):
    spatial = [draw.dim(3, high if len(ranks) > 1 else 7) for _ in range(draw.pick(ranks))]
    if len(spatial) == 3:
        spatial = [min(d, 5) for d in spatial]
    return draw.dim(1, 2), channels, spatial


def conv(draw):
    group = draw.dim(1, 3)
    n, c, spatial = image(draw, group * draw.dim(1, 4))
    attributes = window(draw, spatial)
    out = group * draw.dim(1, 5)
    operands = [draw.floats([n, c, *spatial]),
                draw.floats([out, c // group, *attributes["kernel_shape"]])]
    if draw.chance(0.6):
        operands.append(draw.floats([out]))
    return Node("Conv", operands, {**attributes, "group": group})


def conv_transpose(draw):
    group = draw.dim(1, 3)
    n, c, spatial = image(draw, group * draw.dim(1, 4), high=6)
    attributes, out = window(draw, spatial), draw.dim(1, 4)
    operands = [draw.floats([n, c, *spatial]),
                draw.floats([c, out, *attributes["kernel_shape"]])]
    if draw.chance(0.6):
        operands.append(draw.floats([group * out]))
    strides = attributes["strides"]
    if draw.chance(0.5):
        attributes["output_padding"] = [draw.dim(0, s - 1) for s in strides]
    if draw.chance(0.2):
        attributes.pop("pads", None)
        attributes["output_shape"] = [d * s + draw.dim(0, 1) for d, s in zip(spatial, strides)]
    return Node("ConvTranspose", operands, {**attributes, "group": group})


def max_pool(draw):
    n, c, spatial = image(draw, draw.dim(1, 4))
    attributes = {**window(draw, spatial, True), "ceil_mode": draw.dim(0, 1)}
    outputs = draw.dim(1, 2)
    if outputs == 2 and draw.chance(0.5):
        attributes["storage_order"] = draw.dim(0, 1)
    return Node("MaxPool", [draw.floats([n, c, *spatial])], attributes, outputs=outputs)


def average_pool(draw):
    n, c, spatial = image(draw, draw.dim(1, 4))
    attributes = {**window(draw, spatial, True), "ceil_mode": draw.dim(0, 1),
                  "count_include_pad": draw.dim(0, 1)}
    return Node("AveragePool", [draw.floats([n, c, *spatial])], attributes)


def lp_pool(draw):
    n, c, spatial = image(draw, draw.dim(1, 4))
    attributes = {**window(draw, spatial, True), "p": draw.dim(1, 3), "ceil_mode": draw.dim(0, 1)}
    return Node("LpPool", [draw.floats([n, c, *spatial])], attributes)


def global_pool(draw):
    n, c, spatial = image(draw, draw.dim(1, 4))
    op = draw.pick(["GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"])
    attributes = {"p": draw.dim(1, 3)} if op == "GlobalLpPool" else {}
    return Node(op, [draw.floats([n, c, *spatial])], attributes)


def qlinear_conv(draw):
    group = draw.dim(1, 2)
    n, c, spatial = image(draw, group * draw.dim(1, 4), ranks=(1, 2, 2))
    attributes, out = window(draw, spatial), group * draw.dim(1, 5)
    kinds = draw.pick([("u1", "u1"), ("u1", "i1"), ("i1", "i1")])
    x = draw.ints(*limits(kinds[0]), [n, c, *spatial], kinds[0])
    w = draw.ints(*limits(kinds[1]), [out, c // group, *attributes["kernel_shape"]], kinds[1])
    per_channel = draw.chance(0.5)
    w_scale = draw.positive([out] if per_channel else [], 0.01, 0.03)
    w_zero = np.zeros(w_scale.shape, kinds[1]) if per_channel and kinds[1] == "i1" else (
        np.full(w_scale.shape, draw.ints(*limits(kinds[1]))).astype(kinds[1]))
    operands = [x, vector(0.04, dtype="f4")[0], draw.ints(*limits(kinds[0]), (), kinds[0]), w,
                w_scale, w_zero, vector(draw.pick([0.5, 0.3]), dtype="f4")[0],
                draw.ints(*limits(kinds[0]), (), kinds[0])]
    if draw.chance(0.5):
        operands.append(draw.ints(-2000, 2000, [out], "i4"))
    operands = [np.asarray(a) for a in operands]
    return Node("QLinearConv", operands, {**attributes, "group": group},
                known=(1, 2, 3, 4, 5, 6, 7, 8), steps=1)


def limits(dtype):
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


def conv_integer(draw):
    n, c, spatial = image(draw, draw.dim(1, 4), ranks=(2,))
    attributes, out = window(draw, spatial), draw.dim(1, 5)
    x = draw.ints(0, 255, [n, c, *spatial], "u1")
    w = draw.ints(0, 255, [out, c, *attributes["kernel_shape"]], "u1")
    zeros = draw.pick([[], [draw.ints(0, 255, (), "u1")],
                       [draw.ints(0, 255, (), "u1"), draw.ints(0, 255, (), "u1")]])
    return Node("ConvInteger", [x, w, *map(np.asarray, zeros)], attributes)


def lrn(draw):
    shape = [draw.dim(1, 2), draw.dim(1, 9), *(draw.dim(1, 4) for _ in range(2))]
    return Node("LRN", [draw.floats(shape)],
                {"size": draw.pick([1, 3, 5, 7, 9, 3, 5, 7, 2, 4]), "alpha": draw.pick([1e-4, 0.5]),
                 "beta": draw.pick([0.75, 0.5]), "bias": draw.pick([1.0, 2.0])})


COORDINATES = ("half_pixel", "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
               "align_corners", "asymmetric", "tf_crop_and_resize")
ROUNDINGS = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
SCALES = (0.5, 0.25, 0.75, 0.6, 0.3, 1.5, 2.0, 2.5, 3.0, 0.8, 1.0)


def resized_axes(draw, attributes, lead, spatial):
    """roi, scales and sizes, by the attribute axes for all axes or for the last. onnxruntime takes
    no region of an axis that keeps its length, so that none is drawn there.
    """
    crops = attributes["coordinate_transformation_mode"] == "tf_crop_and_resize"
    by_axes, roi = draw.chance(0.4), None
    if by_axes:
        attributes["axes"] = list(range(len(lead), len(lead) + len(spatial)))
    kept = [] if by_axes else [1] * len(lead)
    if crops:
        starts = [draw.pick([0.0, 0.25, -0.25, 0.1]) for _ in spatial]
        ends = [draw.pick([1.0, 0.75, 1.25, 0.9]) for _ in spatial]
        roi = vector(*[0] * len(kept), *starts, *kept, *ends, dtype="f4")
        attributes["extrapolation_value"] = draw.pick([0.0, 7.5])
    if draw.chance(0.5):
        scales = [draw.pick(SCALES[:-1] if crops else SCALES) for _ in spatial]
        return roi, vector(*kept, *scales, dtype="f4"), None
    sizes = [draw.dim(1, 12) for _ in spatial]
    if crops:
        sizes = [s + 1 if s == d else s for s, d in zip(sizes, spatial)]
    elif by_axes and draw.chance(0.5):
        attributes["keep_aspect_ratio_policy"] = draw.pick(["not_larger", "not_smaller"])
    return roi, None, vector(*([] if by_axes else lead), *sizes)


def nearest_places(length, scale, rounding):
    """Which elements align_corners takes along an axis, of a scale that has one decimal or two."""
    exact = fractions.Fraction(float(scale)).limit_denominator(100)
    places = [i and i * (length - 1) / (length * exact - 1)
              for i in range(int(np.float32(length) * scale))]
    whole = {"floor": math.floor, "ceil": math.ceil,
             "round_prefer_floor": lambda place: math.ceil(place - fractions.Fraction(1, 2)),
             "round_prefer_ceil": lambda place: math.floor(place + fractions.Fraction(1, 2))}
    return [min(max(whole[rounding](place), 0), length - 1) for place in places]


def nearest_aligned(rounding, operands):
    x, scales = operands[0], operands[-1]
    for axis, scale in zip(range(x.ndim - len(scales), x.ndim), scales):
        if scale != 1:
            x = x.take(nearest_places(x.shape[axis], scale, rounding), axis)
    return [x]


def reference_of(attributes, shape, scales):
    """With align_corners and a scale onnxruntime aligns the last element of the result, and ONNX's
    evaluator, which is right (onnx/onnx issue 2462), the length that the scale gives. Its places
    are floats, of which one next to a whole number may be either side of it.
    """
    if attributes["coordinate_transformation_mode"] != "align_corners" or scales is None or not (
            np.asarray(shape[-len(scales):], "f4") * scales % 1).any():
        return "onnxruntime"
    if attributes["mode"] == "nearest":
        return functools.partial(nearest_aligned, attributes["nearest_mode"])
    return "onnx"


def resize(draw):
    mode = draw.pick(["nearest", "linear", "cubic"])
    rank = 4 if mode == "cubic" else draw.pick([3, 4, 4, 5])
    lead = draw.dim(1, 2), draw.dim(1, 3)
    spatial = [draw.dim(2, 5 if rank == 5 else 11) for _ in range(rank - 2)]
    attributes = {"mode": mode, "coordinate_transformation_mode": draw.pick(COORDINATES)}
    if mode == "nearest":
        attributes["nearest_mode"] = draw.pick(ROUNDINGS)
    elif draw.chance(0.5):
        attributes["antialias"] = 1
    if mode == "cubic":
        attributes["cubic_coeff_a"] = draw.pick([-0.75, -0.5])
        attributes["exclude_outside"] = draw.dim(0, 1)
    x = draw.floats([*lead, *spatial])
    if draw.chance(0.25) and mode != "cubic":
        x = draw.ints(0, 255, x.shape, draw.pick(["u1", "u1", "i4"]))
    roi, scales, sizes = resized_axes(draw, attributes, lead, spatial)
    reference = reference_of(attributes, x.shape, scales)
    return Node("Resize", [x, roi, scales, sizes], attributes, known=(1, 2, 3),
                steps=0 if mode == "nearest" else 2, reference=reference)


def resize_long(draw):
    """A scale by which the length becomes a whole number, but for the rounding of their product.
    onnxruntime copies where all lengths stay, whatever the scale.
    """
    parts = draw.pick([3, 5, 6, 7, 9, 10, 11, 20])
    length, scale = parts * draw.dim(1, 120 // parts), (draw.dim(0, 40) * parts + 1) / parts
    scale += draw.dim(0, parts - 2) / parts
    mode = draw.pick(["half_pixel", "asymmetric", "align_corners"])
    scales = vector(1, scale, dtype="f4")
    attributes = {"mode": "linear", "coordinate_transformation_mode": mode}
    return Node("Resize", [draw.floats([1, length]), None, scales], attributes, known=(1, 2),
                steps=2, reference=reference_of(attributes, [1, length], scales))


def grid_sample(draw):
    rank = draw.pick([2, 2, 3])
    mode = draw.pick(["linear", "nearest", "cubic"][:3 if rank == 2 else 2])
    spatial = [draw.dim(1, 6) for _ in range(rank)]
    out = [draw.dim(1, 5) for _ in range(rank)]
    n, c = draw.dim(1, 2), draw.dim(1, 3)
    grid = draw.rng.uniform(-1.6, 1.6, [n, *out, rank]).astype("f4")
    return Node("GridSample", [draw.floats([n, c, *spatial]), grid],
                {"mode": mode, "padding_mode": draw.pick(["zeros", "border", "reflection"]),
                 "align_corners": draw.dim(0, 1)})


def affine_grid(draw):
    rank = draw.pick([2, 3])
    n = draw.dim(1, 2)
    size = vector(n, draw.dim(1, 3), *(draw.dim(1, 5) for _ in range(rank)))
    return Node("AffineGrid", [draw.floats([n, rank, rank + 1]), size],
                {"align_corners": draw.dim(0, 1)}, known=(1,))


def roi_align(draw):
    shape = [draw.dim(1, 2), draw.dim(1, 3), draw.dim(4, 9), draw.dim(4, 9)]
    count = draw.dim(1, 4)
    corner = draw.rng.uniform(-2, 6, [count, 2])
    reach = draw.pick([[0.5, 8], [-3, 3], [5, 60]])  # also none, and far beyond
    boxes = np.concatenate([corner, corner + draw.rng.uniform(*reach, [count, 2])], 1)
    ratio = draw.dim(0, 3)
    return Node("RoiAlign", [draw.floats(shape), boxes.astype("f4"),
                             draw.ints(0, shape[0] - 1, [count])],
                {"mode": draw.pick(["avg", "max"]), "output_height": draw.dim(1, 4),
                 "output_width": draw.dim(1, 4), "sampling_ratio": ratio,
                 "spatial_scale": draw.pick([1.0, 0.5]),
                 "coordinate_transformation_mode": draw.pick(["half_pixel", "output_half_pixel"])})


def col2im(draw):
    image_shape = [draw.dim(3, 7) for _ in range(2)]
    block = [draw.dim(1, 3) for _ in range(2)]
    strides, dilations = ([draw.dim(1, 2) for _ in range(2)] for _ in range(2))
    pads = [draw.dim(0, 1) for _ in range(4)]
    counts = [(image_shape[i] + pads[i] + pads[i + 2] - dilations[i] * (block[i] - 1) - 1)
              // strides[i] + 1 for i in range(2)]
    shape = [draw.dim(1, 2), draw.dim(1, 3) * math.prod(block), max(math.prod(counts), 0)]
    return Node("Col2Im", [draw.floats(shape), vector(*image_shape), vector(*block)],
                {"strides": strides, "dilations": dilations, "pads": pads}, known=(1, 2))


def space(draw):
    block, op = draw.dim(1, 3), draw.pick(["DepthToSpace", "SpaceToDepth"])
    n, c, h, w = draw.dim(1, 2), draw.dim(1, 3), draw.dim(1, 3), draw.dim(1, 3)
    if op == "SpaceToDepth":
        return Node(op, [draw.floats([n, c, h * block, w * block])], {"blocksize": block})
    return Node(op, [draw.floats([n, c * block * block, h, w])],
                {"blocksize": block, "mode": draw.pick(["DCR", "CRD"])})


FAMILIES = (conv, conv_transpose, conv_transpose, conv_transpose, max_pool, max_pool, average_pool,
            average_pool, lp_pool, global_pool, qlinear_conv, qlinear_conv, conv_integer, lrn,
            resize, resize, resize, resize, resize, resize_long, grid_sample, grid_sample,
            affine_grid, roi_align, col2im, space)
