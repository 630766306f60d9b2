"""Families of operators on strings that look at no byte but to compare: moves, places and sets."""
import numpy as np

from domain_strings import broadcast_pair, strings, words
from operator_case import Node


def string_reshape(draw):
    x = words(draw, draw.shape(1, 3))
    return strings("Reshape", [x, np.array([-1] if draw.chance(0.5) else x.shape[::-1])],
                   known=(1,))


def string_transpose(draw):
    x = words(draw, draw.shape(1, 3))
    return strings("Transpose", [x], {"perm": draw.rng.permutation(x.ndim).tolist()})


def string_concat_tensors(draw):
    shape = draw.shape(1, 3)
    axis = draw.axis(len(shape))
    return strings("Concat", [words(draw, shape) for _ in range(draw.dim(1, 3))], {"axis": axis})


def string_gather(draw):
    x = words(draw, draw.shape(1, 3))
    axis = draw.axis(x.ndim)
    places = draw.ints(-x.shape[axis], x.shape[axis] - 1, draw.shape(0, 2))
    return strings("Gather", [x, places], {"axis": axis})


def string_where(draw):
    shape, other = broadcast_pair(draw)
    return strings("Where", [draw.ints(0, 1, shape, "?"), words(draw, other), words(draw, shape)])


def string_slice(draw):
    x = words(draw, draw.shape(1, 3))
    axis = draw.axis(x.ndim)
    bounds = [np.array([draw.dim(-4, 5)]) for _ in range(2)]
    return strings("Slice", [x, *bounds, np.array([axis]), np.array([draw.pick([-2, -1, 1, 2])])],
                   known=(1, 2, 3, 4))


def string_expand(draw):
    shape, other = broadcast_pair(draw)
    return strings("Expand", [words(draw, shape), np.array(other, "i8")], known=(1,))


def string_pad_with_tile(draw):
    x = words(draw, draw.shape(1, 3, 1, 3))
    return strings("Tile", [x, draw.ints(1, 3, [x.ndim])], known=(1,))


def string_identity(draw):
    return strings("Identity", [words(draw, draw.shape(0, 3, 0, 4))])


def string_shape(draw):
    return strings(draw.pick(["Shape", "Size"]), [words(draw, draw.shape(0, 3))])


def string_compress(draw):
    x = words(draw, draw.shape(1, 2))
    return strings("Compress", [x, draw.ints(0, 1, [x.shape[0]], "?")], {"axis": 0})


def string_one_hot_values(draw):
    depth = draw.dim(1, 5)
    indices = draw.ints(-depth, depth, draw.shape(0, 3), "i8")
    return strings("OneHot", [indices, np.array(depth), words(draw, [2])],
                   {"axis": draw.axis(indices.ndim + 1)}, known=(1,))


def string_trilu(draw):
    """What is left out has no bytes."""
    x, upper, k = words(draw, draw.shape(2, 3)), draw.dim(0, 1), draw.dim(-3, 3)
    rows, columns = np.indices(x.shape[-2:])
    kept = columns - rows >= k if upper else columns - rows <= k
    return strings("Trilu", [x, np.array(k)], {"upper": upper}, known=(1,),
                   reference=lambda _: [np.where(kept, x, "")])


def string_tensor_scatter(draw):
    """Steps written into a cache, in which each sample has a place of its own."""
    cache = words(draw, draw.shape(2, 3))
    steps = draw.dim(1, cache.shape[1])
    update = words(draw, [cache.shape[0], steps, *cache.shape[2:]])
    first = draw.ints(0, 9, [cache.shape[0]], "i8")

    def written(_):
        result = cache.copy()
        for sample, place in enumerate(first):
            for step in range(steps):
                result[sample, (place + step) % cache.shape[1]] = update[sample, step]
        return [result]

    return Node("TensorScatter", [cache, update, first], {"axis": 1, "mode": "circular"},
                opset=24, reference=written)


def string_resize(draw):
    """Each element several times."""
    x = words(draw, draw.shape(1, 3, 1, 4))
    times = [draw.dim(1, 3) for _ in x.shape]
    repeated = x
    for axis, count in enumerate(times):
        repeated = np.repeat(repeated, count, axis)
    return strings("Resize", [x, None, np.array(times, "f4")],
                   {"mode": "nearest", "nearest_mode": "floor",
                    "coordinate_transformation_mode": "asymmetric"},
                   known=(2,), reference=lambda _: [repeated])


def string_non_zero(draw):
    """Of strings those that have bytes."""
    x = words(draw, draw.shape(1, 3))
    return strings("NonZero", [x], reference=lambda _: [np.array(np.nonzero(x != ""), "i8")])


def string_unique(draw):
    x = words(draw, draw.shape(1, 2, 1, 6))
    attributes = {"sorted": draw.dim(0, 1)}
    if draw.chance(0.4):
        attributes["axis"] = draw.axis(x.ndim)
    return strings("Unique", [x], attributes, outputs=4)


FAMILIES = (string_reshape, string_transpose, string_concat_tensors, string_gather, string_where,
            string_slice, string_expand, string_pad_with_tile, string_identity, string_shape,
            string_compress, string_one_hot_values, string_trilu, string_tensor_scatter,
            string_resize, string_non_zero, string_unique)
