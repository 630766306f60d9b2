"""The models of check_data_sizes.py, whose sizes come of data.

    probe = PROBES["gathered"]()          # a Probe: its net, how to draw inputs, bounds to exceed
"""
import numpy as np
from onnx import TensorProto, helper

from small_net import Net

PROBES = {}  # name -> function(probe)
BOOL, INT64 = TensorProto.BOOL, TensorProto.INT64


class Probe(Net):
    """A net that knows how its inputs are drawn, and at which of them each bound is passed."""

    def __init__(self, name):
        super().__init__(opset=21)
        self.name, self.draws = name, {}
        self.bounds = {}  # "tensor:axis" -> (most, inputs at which that alone is passed, by name)
        PROBES[name](self)

    def drawn(self, name, shape, draw, dtype=TensorProto.FLOAT):
        """An input that `draw(rng, shape)` makes."""
        self.draws[name] = (shape, draw)
        return self.input(name, shape, dtype)

    def data(self, *shape):
        name = f"x{len(self.inputs)}"
        return self.drawn(name, shape, lambda rng, dims: rng.standard_normal(dims))

    def sparse(self, *shape):
        """Of small whole numbers, most of them 0 in some draws, none in others."""
        def draw(rng, dims):
            share = rng.choice([0, 0.2, 0.7, 1])
            return rng.integers(1, 4, dims) * (rng.random(dims) < share)
        return self.drawn(f"s{len(self.inputs)}", shape, draw)

    def flags(self, *shape, least=0):
        def draw(rng, dims):
            flags = rng.random(dims) < rng.choice([0, 0.3, 0.6, 1])
            flags.reshape(-1)[:least] = True
            return flags
        return self.drawn(f"f{len(self.inputs)}", shape, draw, BOOL)

    def labels(self, most, *shape):
        return self.drawn(f"n{len(self.inputs)}", shape,
                          lambda rng, dims: rng.integers(0, most, dims), INT64)

    def output(self, name, dtype=TensorProto.FLOAT):
        super().output(name, None, dtype)

    def bound(self, tensor, axis, most, **beyond):
        """--bound, and what inputs hold where it is passed: arrays, or what they are full of."""
        if not beyond:
            raise ValueError(f"nothing passes the bound of {tensor}")
        self.bounds[f"{tensor}:{axis}"] = most, beyond
        return tensor

    def draw(self, rng, given=None):
        """Inputs by name, of which some are given."""
        arrays = {}
        for value in self.inputs:
            shape, draw = self.draws[value.name]
            dtype = helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
            drawn = draw(rng, shape)
            if given and value.name in given:
                drawn = np.broadcast_to(given[value.name], shape)
            arrays[value.name] = np.asarray(drawn, dtype).reshape(shape)
        return arrays

    def count_of(self, flags):
        """How many are set, as i64 []."""
        ones = self.op("Cast", flags, to=INT64)
        return self.op("ReduceSum", ones, keepdims=0)

    def as_list(self, scalar):
        return self.op("Reshape", scalar, self.const([1]))


def probe(function):
    PROBES[function.__name__] = function
    return function


@probe
def places(p):
    found = p.op("NonZero", p.sparse(6, 5), name="places_found")
    p.output(p.bound(found, 1, 20, s0=2), INT64)


@probe
def places_of_flags(p):
    p.output(p.op("NonZero", p.flags(13)), INT64)


@probe
def places_in_four(p):
    p.output(p.op("NonZero", p.sparse(2, 3, 2, 4)), INT64)


@probe
def slices_chosen(p):
    flags = p.flags(7)
    p.output(p.op("Compress", p.data(3, 7, 2), flags, axis=1))
    p.output(p.op("Compress", p.data(3, 7), flags, axis=-1))
    p.output(p.op("Compress", p.data(0, 7), flags, axis=1))  # never any element


@probe
def elements_chosen(p):
    chosen = p.op("Compress", p.data(4, 5), p.flags(17), name="few")
    p.output(p.bound(chosen, 0, 12, f1=True))
    p.output(p.op("Relu", chosen))


@probe
def boolean_index(p):
    x = p.data(5, 6)
    mask = p.op("Greater", x, p.const(0.3, np.float32))
    where = p.op("Transpose", p.op("NonZero", mask), perm=[1, 0])
    p.output(p.op("GatherND", x, where))


@probe
def reshaped(p):
    """NonZero, Gather, Concat, Reshape."""
    x = p.data(8, 6)
    rows = p.op("Squeeze", p.op("NonZero", p.flags(8)), p.const([0]))
    taken = p.op("Gather", x, rows)
    count = p.op("Gather", p.op("Shape", taken), p.const([0]))
    shape = p.op("Concat", count, p.const([2, 3]), axis=0)
    p.output(p.op("Transpose", p.op("Reshape", taken, shape), perm=[0, 2, 1]))


@probe
def chosen_twice(p):
    first = p.op("Compress", p.data(20), p.flags(20))
    mask = p.op("Greater", first, p.const(0, np.float32))
    p.output(p.op("Compress", first, mask))
    p.output(p.op("NonZero", mask), INT64)


@probe
def joined(p):
    left = p.op("Compress", p.data(6, 3), p.flags(6), axis=0)
    right = p.op("Compress", p.data(5, 3), p.flags(5), axis=0)
    both = p.op("Concat", left, right, axis=0)
    p.output(both)
    p.output(p.op("Relu", p.op("MatMul", both, p.random(3, 4))))


@probe
def joined_aside(p):
    """Beside what does not depend on data, along the axis that does not lie outermost."""
    left = p.op("Relu", p.data(4, 3))
    right = p.op("Compress", p.data(4, 6), p.flags(6), axis=1)
    p.output(p.op("Concat", left, right, axis=1))


@probe
def normalised(p):
    rows = p.op("Compress", p.data(6, 5), p.flags(6, least=1), axis=0)
    p.output(p.op("Softmax", rows, axis=0))
    p.output(p.op("ReduceMean", rows, p.const([0]), keepdims=0))


@probe
def multiplied(p):
    rows = p.op("Compress", p.data(7, 8), p.flags(7), axis=0)
    other = p.op("Compress", p.data(7, 8), p.flags(7), axis=0)
    p.output(p.op("MatMul", rows, p.op("Transpose", other, perm=[1, 0])))


@probe
def expanded(p):
    count = p.as_list(p.count_of(p.flags(9)))
    shape = p.op("Concat", count, p.const([3]), axis=0)
    wide = p.op("Expand", p.data(1, 3), shape, name="wide")
    p.output(p.bound(wide, 0, 6, f0=True))


@probe
def repeated(p):
    count = p.as_list(p.count_of(p.flags(4)))
    tiled = p.op("Tile", p.data(2, 3), p.op("Concat", p.const([1]), count, axis=0), name="tiled")
    p.output(p.bound(tiled, 1, 9, f0=True))


@probe
def filled(p):
    count = p.as_list(p.count_of(p.flags(6)))
    ones = p.op("ConstantOfShape", count, name="ones",
                value=helper.make_tensor("v", TensorProto.FLOAT, [1], [1.5]))
    p.output(p.bound(ones, 0, 5, f0=True))
    p.output(p.op("CumSum", ones, p.const(0)))


@probe
def counted(p):
    """Range up to what ReduceMax finds, as masks of lengths are made."""
    lengths = p.drawn("n0", [70], lambda rng, dims: rng.integers(0, rng.integers(1, 10), dims),
                      INT64)
    longest = p.op("ReduceMax", lengths, keepdims=0)
    steps = p.op("Range", p.const(0), longest, p.const(1), name="steps")
    p.output(p.bound(steps, 0, 7, n0=9), INT64)
    mask = p.op("Less", p.op("Unsqueeze", steps, p.const([0])),
                p.op("Unsqueeze", lengths, p.const([1])))
    p.output(mask, BOOL)


@probe
def cut(p):
    """A slice up to where something is greatest."""
    x = p.data(12)
    end = p.op("ArgMax", x, axis=0, keepdims=1)
    p.output(p.op("Slice", x, p.const([0]), end, p.const([0])))


@probe
def best(p):
    count = p.op("Add", p.as_list(p.count_of(p.flags(5))), p.const([1]))
    values, indices = p.op("TopK", p.data(3, 8), count, outputs=2)
    p.output(values)
    p.output(indices, INT64)


@probe
def padded(p):
    count = p.as_list(p.count_of(p.flags(5)))
    padded = p.op("Pad", p.data(4), p.op("Concat", count, p.const([1]), axis=0), name="padded")
    p.output(p.bound(padded, 0, 9, f0=True))


@probe
def split(p):
    count = p.as_list(p.count_of(p.flags(6)))
    sizes = p.op("Concat", count, p.op("Sub", p.const([6]), count), axis=0)
    for part in p.op("Split", p.data(2, 6), sizes, axis=1, outputs=2):
        p.output(part)


@probe
def one_hot(p):
    depth = p.op("Add", p.count_of(p.flags(5)), p.const(1))
    hot = p.op("OneHot", p.labels(4, 7), depth, p.const([0, 1], np.float32), name="hot")
    p.output(p.bound(hot, 1, 5, f0=True))


@probe
def different(p):
    names = p.op("Unique", p.labels(6, 15), outputs=4)
    for name in names:
        p.output(name, INT64)


@probe
def different_in_turn(p):
    values, first = p.op("Unique", p.sparse(4, 5), outputs=2, sorted=0)
    p.output(values)
    p.output(first, INT64)


@probe
def different_rows(p):
    rows, _, back, counts = p.op("Unique", p.sparse(6, 2), outputs=4, axis=0)
    p.output(rows)
    p.output(back, INT64)
    p.output(counts, INT64)


@probe
def classes(p):
    """Unique, OneHot."""
    labels = p.labels(9, 9)
    _, _, back, counts = p.op("Unique", labels, outputs=4)
    p.bound(counts, 0, 7, n0=np.arange(9))
    depth = p.op("Squeeze", p.op("Shape", counts), p.const([0]))
    p.output(p.op("OneHot", back, depth, p.const([0, 1], np.float32)))
    p.output(counts, INT64)


@probe
def gathered(p):
    """Sums of the rows of each class that occurs."""
    labels = p.labels(5, 8)
    _, _, back, counts = p.op("Unique", labels, outputs=4)
    shape = p.op("Concat", p.op("Shape", counts), p.const([3]), axis=0)
    zeros = p.op("ConstantOfShape", shape)
    p.output(p.op("ScatterND", zeros, p.op("Unsqueeze", back, p.const([1])), p.data(8, 3),
                  reduction="add"))


def boxes_and_scores(p, count, classes):
    def draw_boxes(rng, shape):
        corner = rng.integers(0, 12, (*shape[:2], 2))
        return np.concatenate([corner, corner + rng.integers(1, 9, corner.shape)], axis=-1)
    boxes = p.drawn("boxes", (2, count, 4), draw_boxes)
    scores = p.drawn("scores", (2, classes, count),
                     lambda rng, shape: rng.permutation(np.prod(shape)).reshape(shape) / 64)
    return boxes, scores


@probe
def suppressed(p):
    boxes, scores = boxes_and_scores(p, 10, 3)
    limits = p.const([7]), p.const([0.1], np.float32), p.const([0.2], np.float32)
    p.output(p.op("NonMaxSuppression", boxes, scores, *limits), INT64)


@probe
def detected(p):
    """The boxes that are left, of one batch and class."""
    boxes, scores = boxes_and_scores(p, 12, 2)
    kept = p.op("NonMaxSuppression", boxes, scores, p.const([12]), p.const([0.3], np.float32),
                name="kept")
    apart = 20 * np.arange(12)[:, None] + [0, 0, 9, 9]
    p.output(p.bound(kept, 0, 42, boxes=apart), INT64)
    numbers = p.op("Gather", kept, p.const([0, 2]), axis=1)
    taken = p.op("GatherND", boxes, numbers)
    p.output(taken)
    wide = p.op("Sub", p.op("Gather", taken, p.const(2), axis=1),
                p.op("Gather", taken, p.const(0), axis=1))
    p.output(p.op("Compress", wide, p.op("Greater", wide, p.const(4, np.float32))))


@probe
def pictures(p):
    """Convolution of those pictures that are wanted."""
    x = p.op("Compress", p.data(4, 3, 6, 6), p.flags(4), axis=0)
    y = p.op("Relu", p.op("Conv", x, p.random(5, 3, 3, 3), pads=[1, 1, 1, 1]))
    p.output(p.op("GlobalAveragePool", y))


@probe
def resized(p):
    height, width = (p.op("Add", p.as_list(p.count_of(p.flags(n))), p.const([1])) for n in (6, 7))
    sizes = p.op("Concat", p.const([1, 2]), height, width, axis=0)
    image = p.op("Resize", p.data(1, 2, 3, 3), "", "", sizes, mode="nearest", name="image",
                 nearest_mode="floor", coordinate_transformation_mode="asymmetric")
    p.bound(image, 2, 6, f0=True, f1=False)
    p.output(p.bound(image, 3, 7, f0=False, f1=True))
