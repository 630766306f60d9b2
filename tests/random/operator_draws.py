"""Families of operators that draw random numbers, whose results are judged by their properties:
type and shape, the range, and the mean, which lies six deviations off at most.
"""
import functools

import numpy as np
from onnx import helper

from operator_case import Node

FLOATS = (1, 1, 10, 11)  # onnx.TensorProto.DataType
DEVIATIONS = 6


def zeros(dims, kind):
    """A reference that gives types and shapes only."""
    dtype = helper.tensor_dtype_to_np_dtype(kind)
    return functools.partial(lambda operands, array: [array], array=np.zeros(dims, dtype))


def is_normal(array, mean, scale):
    wide = array.astype("f8")
    if not np.isfinite(wide).all():
        return "an element is not finite"
    off = abs(wide.mean() - mean) if wide.size else 0
    if off > DEVIATIONS * scale / max(wide.size, 1) ** 0.5 + 1e-2 * abs(mean) + 1e-3:
        return f"the mean of {wide.size} numbers is {wide.mean():.4g}, not near {mean}"
    return "all are equal" if wide.size > 8 and np.ptp(wide) == 0 else None


def is_even(array, low, high):
    wide, slack = array.astype("f8"), 2e-3 * max(abs(low), abs(high), 1)
    if wide.size and (wide.min() < low - slack or wide.max() > high + slack):
        return f"from {wide.min():.4g} to {wide.max():.4g}, not from {low} to {high}"
    return is_normal(array, (low + high) / 2, (high - low) / 12 ** 0.5)


def are_flips(array, chances):
    wide = array.astype("f8")
    if not np.isin(wide, (0, 1)).all():
        return "an element is neither 0 nor 1"
    if (wide[chances == 0] != 0).any() or (wide[chances == 1] != 1).any():
        return "what has the chance 0 or 1 is not so"
    spread = DEVIATIONS * (chances * (1 - chances)).sum() ** 0.5
    if abs(wide.sum() - chances.sum()) > spread + 1e-3:
        return f"{wide.sum():.0f} ones, not near {chances.sum():.1f}"
    return None


def are_classes(array, possible):
    """Each class of a row is one that has a chance."""
    for row, allowed in zip(array, possible):
        if not np.isin(row, np.flatnonzero(allowed)).all():
            return f"{row[:8]}, of the classes {np.flatnonzero(allowed)}"
    return None


def numbers(draw):
    op = draw.pick(["RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"])
    kind, dims = draw.pick(FLOATS), draw.shape(1, 3, 1, 9)
    low, high = draw.pick([(0.0, 1.0), (-3.0, 2.0), (5.0, 5.5)])
    normal = "Normal" in op
    attributes = {"mean": low, "scale": high - low} if normal else {"low": low, "high": high}
    holds = functools.partial(is_normal if normal else is_even, **attributes)
    if draw.chance(0.6):
        attributes["seed"] = float(draw.dim(0, 99))
    if op.endswith("Like"):
        x = draw.floats(dims)
        return Node(op, [x], {**attributes, "dtype": kind}, holds=holds,
                    reference=zeros(dims, kind))
    return Node(op, [], {**attributes, "shape": dims, "dtype": kind}, holds=holds,
                reference=zeros(dims, kind))


def bernoulli(draw):
    dims, kind = draw.shape(1, 3, 1, 9), draw.pick([1, 6, 7, 9, 11])
    chances = draw.positive(dims, 0, 1)
    chances = np.where(draw.rng.random(dims) < 0.2, np.round(chances), chances).astype("f4")
    return Node("Bernoulli", [chances], {"dtype": kind, "seed": float(draw.dim(0, 99))},
                holds=functools.partial(are_flips, chances=chances.astype("f8")),
                reference=zeros(dims, kind))


def multinomial(draw):
    rows, classes, count = draw.dim(1, 4), draw.dim(1, 6), draw.dim(1, 20)
    possible = draw.rng.random([rows, classes]) < 0.6
    possible[:, draw.dim(0, classes - 1)] = True
    scores = np.where(possible, draw.floats([rows, classes]), -np.inf).astype("f4")
    kind = draw.pick([6, 7])
    return Node("Multinomial", [scores], {"dtype": kind, "sample_size": count,
                                          "seed": float(draw.dim(0, 99))},
                holds=functools.partial(are_classes, possible=possible),
                reference=zeros([rows, count], kind))


FAMILIES = (numbers, bernoulli, multinomial)
