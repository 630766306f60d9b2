"""Another way to add nodes to a random graph, as random_ops.py: parts in another order of axes.

What exporters of channels-last models write: a transpose, ops that read its result once or several
times, and transposes back, where the axes are those again that the ops around it have.
"""

from random_ops import SMOOTH, turn


def gate(g, x):
    """By the mean along an axis or two, kept."""
    axes = {g.dim(0, len(x.shape) - 1), g.dim(0, len(x.shape) - 1)}
    shape = [1 if i in axes else d for i, d in enumerate(x.shape)]
    onnx_axes = g.ints(*(i + g.lead for i in axes))
    mean = g.add(g.pick(["ReduceMean", "ReduceMax"]), [x, onnx_axes], shape)
    return g.add("Mul", [x, g.add("Sigmoid", [mean], shape)], x.shape)


def swish(g, x):
    return g.add("Mul", [x, g.add("HardSigmoid", [x], x.shape)], x.shape)


def smooth(g, x):
    return g.add(g.pick(SMOOTH), [x], x.shape)


def with_vector(g, x):
    return g.add("Add", [x, g.weights(x.shape[-1:])], x.shape)


def with_turned_matrix(g, x):
    """An operand of fewer axes that is itself transposed; of a value without the leading dim."""
    if g.lead or len(x.shape) < 2:
        return with_vector(g, x)
    leading = range(len(x.shape) - 2)
    rows, columns = x.shape[-2:]
    largest = g.add("ReduceMax", [x, g.ints(*leading)], (rows, columns), keepdims=0,
                    noop_with_empty_axes=1)
    matrix = g.add("Reshape", [largest, g.ints(columns, rows)], (columns, rows))
    return g.add("Sub", [x, turn(g, matrix, [1, 0])], x.shape)


def padded(g, x):
    begin, end = ([g.dim(0, 1) for _ in x.shape] for _ in range(2))
    still = [0] * g.lead
    shape = [d + b + e for d, b, e in zip(x.shape, begin, end)]
    return g.add("Pad", [x, g.ints(*still, *begin, *still, *end)], shape, x.exact,
                 mode=g.pick(["constant", "edge"]))


def normalized(g, x):
    return g.add("Softmax", [x], x.shape, axis=-1)


STEPS = (gate, swish, swish, smooth, with_vector, with_turned_matrix, padded, normalized)


def in_other_order(g):
    x = g.value(lambda v: len(v.shape) >= 2)
    if x is None:
        return
    order = [int(i) for i in g.rng.permutation(len(x.shape))]
    back = [order.index(i) for i in range(len(order))]
    inside = [turn(g, x, order)]
    for _ in range(g.dim(1, 4)):
        y = g.pick(STEPS)(g, g.pick(inside[-2:]))
        alike = [z for z in inside if z.shape == y.shape]
        if alike and g.chance(0.5):
            y = g.add(g.pick(["Add", "Mul"]), [y, g.pick(alike)], y.shape)
        inside.append(y)
    for y in {id(y): y for y in (inside[-1], g.pick(inside[1:]))}.values():
        turn(g, y, back)


LAYOUT_OPS = (in_other_order, in_other_order)
