"""Families of operators that move elements: to, or from, where indices or attributes say."""
import functools

import numpy as np

from operator_case import Node, vector


def top_k(draw):
    shape = draw.shape(1, 4)
    axis = draw.axis(len(shape))
    x = draw.with_ties(shape) if draw.chance(0.6) else draw.numbers(shape, ("f4", "i8", "i4", "f8"))
    return Node("TopK", [x, vector(draw.dim(1, shape[axis]))],
                {"axis": axis, "largest": draw.dim(0, 1), "sorted": 1}, known=(1,), outputs=2)


def arg(draw):
    shape = draw.shape(1, 4)
    axis = draw.axis(len(shape))
    if 0 in shape:
        raise ValueError("the place of none is not defined")
    return Node(draw.pick(["ArgMax", "ArgMin"]), [draw.with_ties(shape)],
                {"axis": axis, "keepdims": draw.dim(0, 1),
                 "select_last_index": draw.dim(0, 1)})


def index_type(draw):
    return draw.pick(["i8", "i8", "i4"])


def gather(draw):
    shape = draw.shape(1, 4)
    axis = draw.axis(len(shape))
    size = shape[axis]
    return Node("Gather", [draw.numbers(shape),
                           draw.ints(-size, size - 1, draw.shape(0, 3), index_type(draw))],
                {"axis": axis})


def gather_elements(draw):
    shape = draw.shape(1, 4)
    axis = draw.axis(len(shape))
    size, taken = shape[axis], [draw.dim(1, d) for d in shape]
    taken[axis] = draw.dim(1, 7)
    return Node("GatherElements", [draw.numbers(shape),
                                   draw.ints(-size, size - 1, taken, index_type(draw))],
                {"axis": axis})


def positions(draw, shape, dims, repeat):
    """An array [*dims, len(shape)] of positions in shape; all differ unless they may repeat."""
    count, total = int(np.prod(dims)), int(np.prod(shape))
    flat = draw.rng.choice(total, count, replace=repeat or count > total)
    where = np.stack(np.unravel_index(flat, shape), -1).reshape(*dims, len(shape))
    negative = draw.rng.random(where.shape) < 0.2
    return np.where(negative, where - np.array(shape), where).astype("i8")


def gather_nd(draw):
    shape = draw.shape(1, 4)
    batch = draw.dim(0, len(shape) - 1)
    depth = draw.dim(1, len(shape) - batch)
    dims = [*shape[:batch], *draw.shape(0 if batch else 1, 2, 1, 4)]
    indices = positions(draw, shape[batch:batch + depth], dims, True)
    return Node("GatherND", [draw.numbers(shape), indices], {"batch_dims": batch})


REDUCTIONS = ("none", "add", "mul", "max", "min")


def scatter_elements(draw):
    shape = draw.shape(1, 3)
    axis, reduction = draw.axis(len(shape)), draw.pick(REDUCTIONS)
    size, dims = shape[axis], [draw.dim(1, d) for d in shape]
    if reduction == "none":  # no position twice
        lines = [draw.rng.permutation(size)[:dims[axis]] for _ in range(int(np.prod(dims)))]
        moved = [dims[i] for i in range(len(dims)) if i != axis % len(dims)] + [dims[axis]]
        indices = np.array(lines[:int(np.prod(moved[:-1]))]).reshape(moved)
        indices = np.moveaxis(indices, -1, axis).astype("i8")
        indices = np.where(draw.rng.random(indices.shape) < 0.2, indices - size, indices)
    else:
        indices = draw.ints(-size, size - 1, dims)
    x = draw.numbers(shape, ("f4", "f4", "i4", "i8"))
    updates = draw.numbers(dims, (x.dtype,))
    return Node("ScatterElements", [x, indices.astype(index_type(draw)), updates],
                {"axis": axis, "reduction": reduction})


def scatter_nd(draw):
    shape, reduction = draw.shape(1, 4), draw.pick(REDUCTIONS)
    depth, dims = draw.dim(1, len(shape)), draw.shape(1, 2, 1, 4)
    if reduction == "none" and np.prod(dims) > np.prod(shape[:depth]):
        dims = [1]
    indices = positions(draw, shape[:depth], dims, reduction != "none")
    x = draw.numbers(shape, ("f4", "f4", "i4", "i8"))
    updates = draw.numbers([*dims, *shape[depth:]], (x.dtype,))
    return Node("ScatterND", [x, indices, updates], {"reduction": reduction})


def one_hot_of(axis, operands):
    """As ONNX says; its evaluator has a place for indices out of range too."""
    indices, depth, values = operands
    wrapped = np.where(indices < 0, indices + depth, indices)
    hot = np.stack([wrapped == k for k in range(int(depth))], axis)
    return [np.where(hot, values[1], values[0]).astype(values.dtype)]


def one_hot(draw):
    depth, shape = draw.dim(1, 6), draw.shape(0, 3)
    indices = draw.ints(-depth - 2, depth + 1, shape, draw.pick(["i8", "i4", "f4"]))
    values = draw.numbers([2], ("f4", "i4", "i8"))
    axis = draw.dim(-len(shape) - 1, len(shape))
    return Node("OneHot", [indices, np.array(depth), values], {"axis": axis}, known=(1,),
                reference=functools.partial(one_hot_of, axis))


def trilu(draw):
    shape = draw.shape(2, 4)
    operands = [draw.numbers(shape)]
    if draw.chance(0.8):
        operands.append(np.array(draw.dim(-7, 7)))
    return Node("Trilu", operands, {"upper": draw.dim(0, 1)}, known=(1,))


def pad(draw):
    shape, mode = draw.shape(1, 4, 2, 6), draw.pick(["constant", "constant", "reflect", "edge",
                                                     "wrap"])
    x = draw.numbers(shape, ("f4", "f4", "i4", "u1", "i8"))
    axes = sorted(draw.subset(range(len(shape)), 1)) if draw.chance(0.4) else range(len(shape))
    low = -1 if mode == "constant" else 0
    pads = [draw.dim(low, min(3, shape[a] - 1)) for _ in range(2) for a in axes]
    operands = [x, vector(*pads), None, None]
    if mode == "constant" and draw.chance(0.5):
        operands[2] = np.array(5).astype(x.dtype)
    if len(axes) < len(shape):
        operands[3] = vector(*(a - draw.pick([0, len(shape)]) for a in axes))
    return Node("Pad", operands, {"mode": mode}, known=(1, 2, 3))


def slice_(draw):
    shape = draw.shape(1, 4)
    axes = draw.subset(range(len(shape)), 1)
    steps = [draw.pick([1, 1, 2, 3, -1, -2]) for _ in axes]
    starts, ends = ([draw.dim(-d - 2, d + 2) for d in (shape[a] for a in axes)] for _ in range(2))
    ends = [draw.pick([e, e, 2 ** 62 if s > 0 else -2 ** 62]) for e, s in zip(ends, steps)]
    axes = [a - draw.pick([0, len(shape)]) for a in axes]
    return Node("Slice", [draw.numbers(shape), *(vector(*v) for v in (starts, ends, axes, steps))],
                known=(1, 2, 3, 4))


def split(draw):
    shape = draw.shape(1, 3, 2, 7)
    axis = draw.axis(len(shape))
    if draw.chance(0.5):
        count = draw.dim(1, shape[axis])
        return Node("Split", [draw.numbers(shape)], {"axis": axis, "num_outputs": count},
                    outputs=count)
    count = draw.dim(1, 4)
    ends = [*sorted(draw.dim(0, shape[axis]) for _ in range(count - 1)), shape[axis]]
    sizes = [end - begin for begin, end in zip([0, *ends], ends)]
    unread = [part for part in range(count) if draw.chance(0.3)]
    return Node("Split", [draw.numbers(shape), vector(*sizes)], {"axis": axis}, known=(1,),
                outputs=count, unwanted=tuple(unread[:count - 1]))


def reverse_sequence(draw):
    shape = draw.shape(2, 4)
    time = draw.dim(0, 1)
    lengths = draw.ints(1, shape[time], [shape[1 - time]])
    return Node("ReverseSequence", [draw.numbers(shape), lengths],
                {"batch_axis": 1 - time, "time_axis": time})


def transpose(draw):
    shape = draw.shape(2, 3, 7, 40) if draw.chance(0.5) else draw.shape(1, 5, 1, 4)
    return Node("Transpose", [draw.numbers(shape)],
                {"perm": [int(i) for i in draw.rng.permutation(len(shape))]})


def reshape(draw):
    shape = draw.shape(1, 4)
    target = draw.pick([[-1], [0, -1], [1, -1, shape[0]], [*reversed(shape)]])
    return Node("Reshape", [draw.numbers(shape), vector(*target)], known=(1,))


def tile(draw):
    shape = draw.shape(1, 4)
    if draw.chance(0.5):
        return Node("Tile", [draw.numbers(shape), vector(*(draw.dim(1, 3) for _ in shape))],
                    known=(1,))
    kept = [1 if draw.chance(0.4) else d for d in shape]
    lead = draw.shape(0, 1)
    return Node("Expand", [draw.numbers(kept), vector(*lead, *shape)], known=(1,))


def concat(draw):
    shape = draw.shape(1, 3)
    axis, dtype = draw.axis(len(shape)), draw.pick(["f4", "i8", "u1", "f2"])
    parts = []
    for _ in range(draw.dim(1, 4)):
        shape[axis] = draw.dim(0, 4)
        parts.append(draw.numbers(list(shape), (dtype,)))
    return Node("Concat", parts, {"axis": axis})


def center_crop_pad(draw):
    shape = draw.shape(1, 4)
    axes = draw.subset(range(len(shape)), 1)
    return Node("CenterCropPad", [draw.numbers(shape), vector(*(draw.dim(1, 8) for _ in axes))],
                {"axes": [a - draw.pick([0, len(shape)]) for a in axes]}, known=(1,))


def eye_like(draw):
    return Node("EyeLike", [draw.numbers(draw.shape(2, 2), ("f4", "i4"))], {"k": draw.dim(-4, 4)})


def range_(draw):
    if draw.chance(0.5):
        start, limit, delta = draw.dim(-9, 9), draw.dim(-9, 9), draw.pick([1, 2, 3, -1, -2])
        operands = [np.array(v).astype(draw.pick(["i8"])) for v in (start, limit, delta)]
    else:
        operands = [np.array(v).astype("f4") for v in
                    (draw.dim(-9, 9) / 2, draw.dim(-9, 9) / 2, draw.pick([0.5, 0.75, -0.25, 1.0]))]
    return Node("Range", operands, known=(0, 1, 2))


def where(draw):
    shape = draw.shape(1, 4)
    partial = [[1 if draw.chance(0.3) else d for d in shape[draw.dim(0, len(shape) - 1):]]
               for _ in range(3)]
    x = draw.numbers(partial[1])
    y = draw.numbers(partial[2], (x.dtype,))
    return Node("Where", [draw.ints(0, 1, partial[0], "?"), x, y])


FAMILIES = (top_k, top_k, arg, gather, gather_elements, gather_elements, gather_nd, gather_nd,
            scatter_elements, scatter_elements, scatter_elements, scatter_nd, scatter_nd,
            scatter_nd, one_hot, trilu, pad, pad, slice_, slice_, split, reverse_sequence,
            transpose, reshape, tile, concat, center_crop_pad, eye_like, range_, where)
