"""Ways to add nodes on integers of 64 bits to a random graph, as random_ops does for floats.

Their values lie on both sides of what 32 bits hold. All are exact, so that comparisons may read
them. A node gives at most three times the magnitude of what it reads, or adds 2**33: no graph comes
near the ends of 64 bits. There is no Max, Min, Clip or ReduceMax: those of onnxruntime 1.31.1, the
oracle, look at 32 bits of such integers alone.
"""
import numpy as np
from onnx import TensorProto

EDGES = (0, 1, -3, 7, 2**31 - 1, 2**31, -2**31, -2**31 - 1, 3 * 10**9, 2**33)


def edge(g):
    return g.constant(np.int64(g.pick(EDGES)))


def whole(g):
    """Floats as integers: multiplied by a power of two they are as exact as before."""
    x = g.value(lambda v: v.exact and v.shape)
    scaled = g.add("Mul", [x, g.constant(np.float32(2.0 ** g.pick([1, 3, 31, 33])))], x.shape, True)
    g.add("Cast", [scaled], x.shape, True, "i8", to=TensorProto.INT64)
    g.values.remove(scaled)  # as a float it is far from the others


def other(g, n):
    """Of the same shape, or a constant."""
    return edge(g) if g.chance(0.6) else g.integer(lambda v: v.shape == n.shape)


def integer_math(g):
    n = g.integer()
    if n is None:
        return
    pair = [n, other(g, n)]
    if g.chance(0.3):
        pair.reverse()
    if g.chance(0.2):
        g.add("Mul", [n, g.constant(np.int64(g.pick([-1, 3])))], n.shape, True, "i8")
    else:
        g.add(g.pick(["Add", "Sub"]), pair, n.shape, True, "i8")


def spread(g):
    """One integer for a whole row: what lanes share."""
    n = g.integer()
    if n is None:
        return
    start = g.dim(0, n.shape[-1] - 1)
    row = g.add("Slice", [n, g.ints(start), g.ints(start + 1), g.ints(-1)], (*n.shape[:-1], 1),
                True, "i8")
    size = g.pick([n.shape[-1], 5, 16])
    shape = (*n.shape[:-1], size)
    if g.chance(0.5):
        g.add("Expand", [row, g.ints(*[1] * g.lead, *shape)], shape, True, "i8")
    else:
        g.add("Tile", [row, g.ints(*[1] * (g.lead + len(shape) - 1), size)], shape, True, "i8")


def compared(g):
    """A choice between floats by a comparison of integers."""
    n = g.integer()
    if n is None:
        return
    compare = g.pick(["Less", "Greater", "LessOrEqual", "GreaterOrEqual", "Equal"])
    mask = g.add(compare, [n, other(g, n)], n.shape, True, "?")
    y = g.value(lambda v: v.shape == n.shape) or g.weights(n.shape)
    g.add("Where", [mask, y, g.weights(n.shape[-1:])], n.shape)


def within(g, n, size):
    """The integers as places on an axis: those outside are its ends."""
    for compare, end in (("Less", 0), ("Greater", size - 1)):
        end = g.constant(np.int64(end))
        mask = g.add(compare, [n, end], n.shape, True, "?")
        n = g.add("Where", [mask, end, n], n.shape, True, "i8")
    return n


def taken(g):
    """Elements at computed places of an axis, which is never that of the batch."""
    n = g.integer()
    y = n and g.value(lambda v: v.shape == n.shape)
    if not y:
        return
    onnx_axis, index = g.axis(y)
    places = within(g, n, y.shape[index])
    if g.chance(0.3):
        places = g.add("Sub", [places, g.constant(np.int64(y.shape[index]))], n.shape, True, "i8")
    g.add("GatherElements", [y, places], n.shape, y.exact, axis=onnx_axis)


def rows_taken(g):
    """Rows of a table, as embeddings are."""
    n = g.integer(lambda v: v.shape and len(v.shape) <= 2)
    if n is None:
        return
    count, width = g.dim(2, 9), g.pick([1, 5, 16])
    g.add("Gather", [g.weights((count, width)), within(g, n, count)], (*n.shape, width), True,
          axis=0)


INTEGER_OPS = (whole, whole, integer_math, spread, spread, compared, compared, taken, rows_taken)
