"""The models of check_sizes.py, whose sizes come with a run.

    net = make_net(slices, reshapes)        # a part for each operator that takes sizes
    arrays = net.draw(rng, beyond=2)
"""
import numpy as np
from onnx import TensorProto, helper

from small_net import Net


class SizedNet(Net):
    """The parts of the model, each with sizes of its own."""

    def __init__(self):
        super().__init__(opset=21)
        self.ranges = {}  # of elements: input -> [(least, most)], in order
        self.valid, self.likely, self.units = {}, {}, {}  # by input
        self.choices = {}  # of elements that are floats: input -> a list each
        self.refused = []  # conditions on all inputs, of what onnxruntime gives another rank
        self.bounds = {}  # of axes, where --dim is not given: tensor -> {axis: most}

    def sizes(self, name, ranges, dtype=np.int64, scalar=False, valid=None, likely=None, unit=1):
        """An input of integers, each within its range; of floats, in units of `unit`. Beyond the
        ranges they are drawn until they are `valid`, for what onnxruntime and the specification see
        differently, and half of the time from the lists `likely`.
        """
        self.units[name] = unit
        self.ranges[name], self.valid[name], self.likely[name] = ranges, valid, likely
        onnx_type = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        return self.input(name, [] if scalar else [len(ranges)], onnx_type)

    def floats(self, name, choices):
        """An input of floats from which sizes follow, each one of its choices."""
        self.choices[name] = choices
        return self.input(name, [len(choices)])

    def data(self, *shape):
        return self.input(f"x{len(self.inputs)}", shape)

    def output(self, name, dtype=TensorProto.FLOAT):
        super().output(name, None, dtype)

    def flags(self):
        """--dim of every element."""
        dims = {}
        for name, ranges in self.ranges.items():
            value = next(i for i in self.inputs if i.name == name)
            is_scalar = not value.type.tensor_type.shape.dim
            for i, (least, most) in enumerate(ranges):
                dims[name if is_scalar else f"{name}[{i}]"] = f"{least}..{most}"
        return dims

    def bound(self, tensor, limits):
        """The tensor; what --bound says of it."""
        self.bounds[tensor] = limits
        return tensor

    def bound_flags(self):
        return [f"--bound={tensor}:{axis}={most}" for tensor, limits in self.bounds.items()
                for axis, most in limits.items()]

    def draw_sizes(self, rng, name, beyond):
        likely = self.likely[name]
        if beyond and likely and rng.integers(2):
            return likely[rng.integers(len(likely))]
        while True:
            drawn = [int(rng.choice([least, most, rng.integers(least - beyond, most + beyond + 1)]))
                     for least, most in self.ranges[name]]
            if self.valid[name] is None or self.valid[name](drawn):
                return drawn

    def draw(self, rng, beyond=0):
        """Inputs: the ends of a range are as likely as all between them, and as a few beyond."""
        arrays = {}
        for value in self.inputs:
            shape = [d.dim_value for d in value.type.tensor_type.shape.dim]
            if value.name in self.choices:
                drawn = [rng.choice(choices) for choices in self.choices[value.name]]
                arrays[value.name] = np.asarray(drawn, np.float32)
                continue
            if value.name not in self.ranges:
                arrays[value.name] = rng.standard_normal(shape).astype(np.float32)
                continue
            drawn = self.draw_sizes(rng, value.name, beyond)
            dtype = helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
            scaled = np.multiply(drawn, self.units[value.name])
            arrays[value.name] = scaled.astype(dtype).reshape(shape)
        return arrays


def all_positive(sizes):
    return min(sizes) > 0


def slices(net):
    starts, ends = net.sizes("starts", [(-9, 9), (-7, 7)]), net.sizes("ends", [(-9, 9), (-7, 7)])
    net.output(net.op("Relu", net.op("Slice", net.data(8, 6), starts, ends)))
    starts = net.sizes("starts32", [(-3, 12)], np.int32)
    ends = net.sizes("ends32", [(-12, 3)], np.int32)
    axes, steps = net.const([1], np.int32), net.const([-2], np.int32)
    net.output(net.op("Slice", net.data(2, 9), starts, ends, axes, steps))


def selections(net):
    values, indices = net.op("TopK", net.data(5, 9), net.sizes("k", [(1, 9)]), outputs=2)
    net.output(values)
    net.output(indices, TensorProto.INT64)
    net.output(net.op("Trilu", net.data(3, 4), net.sizes("diagonal", [(-4, 5)], scalar=True)))
    depth = net.sizes("depth", [(1, 7)], scalar=True, valid=all_positive)
    indices = net.const([0, 5, 2, 1])
    hot = net.op("OneHot", indices, depth, net.const([0, 1], np.float32))
    net.output(net.bound(hot, {1: 7}))


def repetitions(net):
    wide = net.op("Expand", net.data(1, 3), net.sizes("expanded", [(0, 5), (3, 3)]))
    net.output(net.bound(wide, {0: 5}))
    tiled = net.op("Tile", net.data(2, 3), net.sizes("repeats", [(0, 3), (1, 2)]))
    net.output(net.bound(tiled, {0: 6, 1: 9}))
    filled = net.op("ConstantOfShape", net.sizes("filled", [(0, 4), (1, 5)]),
                    value=helper.make_tensor("v", TensorProto.FLOAT, [1], [2.5]))
    net.output(net.bound(filled, {0: 4, 1: 6}))
    start = net.sizes("start", [(-3, 3)], scalar=True)
    limit = net.sizes("limit", [(-2, 6)], scalar=True)
    net.output(net.bound(net.op("Range", start, limit, net.const(2)), {0: 4}), TensorProto.INT64)
    delta = net.sizes("delta", [(1, 3)], scalar=True)
    net.output(net.bound(net.op("Range", limit, start, delta), {0: 6}), TensorProto.INT64)


def floats(net):
    """Sizes that floats of the run give."""
    start, limit, delta = (
        net.sizes(f"{name}_f", ranges, np.float32, scalar=True, unit=0.25, likely=likely)
        for name, ranges, likely in (("start", [(-6, 6)], None), ("limit", [(-9, 9)], None),
                                     ("delta", [(-3, 3)], [[0], [1], [-2]])))
    net.output(net.bound(net.op("Neg", net.op("Range", start, limit, delta)), {0: 18}))
    net.output(net.bound(net.op("Range", start, limit, net.const(0.5, np.float32)), {0: 8}))
    count = net.sizes("half_count", [(0, 9)], scalar=True)
    half = net.op("Mul", net.op("Cast", count, to=TensorProto.FLOAT), net.const(0.5, np.float32))
    zero, one = net.const(0, np.float32), net.const(1, np.float32)
    net.output(net.bound(net.op("Range", zero, half, one), {0: 5}))
    whole = net.op("Cast", net.sizes("whole", [(0, 7)], np.int32, scalar=True),
                   to=TensorProto.FLOAT)
    net.output(net.bound(net.op("Cos", net.op("Range", zero, whole, one)), {0: 8}))
    depth = net.sizes("float_depth", [(2, 14)], np.float32, scalar=True, unit=0.5,
                      valid=lambda drawn: drawn[0] > 1)
    hot = net.op("OneHot", net.const([0, 5, -2, 1]), depth, net.const([3, 4], np.float32), axis=0)
    net.output(net.bound(hot, {0: 6}))


def borders(net):
    padded = net.op("Pad", net.data(3, 4), net.sizes("pads", [(0, 2), (-1, 2), (0, 3), (-2, 1)]))
    net.output(net.bound(padded, {0: 9, 1: 8}))
    sizes = net.sizes("resized", [(1, 1), (2, 2), (1, 9), (3, 8)], valid=all_positive)
    resized = net.op("Resize", net.data(1, 2, 3, 5), "", "", sizes, mode="nearest",
                     nearest_mode="floor", coordinate_transformation_mode="asymmetric")
    net.output(net.bound(resized, {0: 1, 1: 3, 2: 9, 3: 8}))


def reshapes(net):
    """Where 0 and -1 may stand is known in a run only."""
    shape = net.sizes("shape", [(-1, 6), (0, 4), (-1, 3)],
                      likely=[[4, 6, 1], [2, 4, 3], [0, 0, 1], [0, -1, 2], [-1, 2, 3], [24, 1, 1],
                              [8, 3, -1], [2, 0, 2], [0, 2, 3]])
    net.output(net.op("Relu", net.op("Reshape", net.data(4, 6), shape)))
    sides = net.sizes("matrix", [(-1, 6), (-1, 4)],
                      likely=[[6, 4], [-1, 3], [0, 0], [0, -1], [24, -1], [4, 6]])
    matrix = net.op("Reshape", net.data(2, 12), sides)
    net.output(net.op("Transpose", matrix, perm=[1, 0]))
    net.output(net.op("ReduceSum", matrix, net.const([1]), keepdims=0))


def axes(net):
    """Which axes an operator is about, and from where to where, is known in a run only."""
    for keepdims in (0, 1):
        named = net.sizes(f"reduced{keepdims}", [(-3, 2), (-3, 2)],
                          valid=lambda drawn: (drawn[0] - drawn[1]) % 3)
        net.output(net.op("ReduceSum", net.data(2, 3, 4), named, keepdims=keepdims))
    mean = net.op("ReduceMean", net.data(3, 5), net.sizes("averaged", [(-2, 1)]), keepdims=0)
    net.output(mean)
    along = net.sizes("along", [(-3, 2)], scalar=True)
    net.output(net.op("CumSum", net.data(2, 20, 3), along, reverse=1))


def ranks(net):
    """Axes of dim 1, added and dropped where a run says."""
    net.output(net.op("Squeeze", net.data(1, 3, 1), net.sizes("dropped", [(-3, 2)])))
    net.output(net.op("Unsqueeze", net.data(2, 3), net.sizes("added", [(-4, 3), (-4, 3)],
                                                                   valid=lambda drawn: (
                                                                       drawn[0] - drawn[1]) % 4)))
    sizes = net.sizes("parts", [(0, 7), (0, 7)], likely=[[0, 7], [3, 4], [7, 0], [6, 1]])
    for part in net.op("Split", net.data(2, 7), sizes, axis=1, outputs=2):
        net.output(part)


def steps(net):
    """Slices of which nothing is known."""
    given = [net.sizes(name, ranges) for name, ranges in
             (("from", [(-7, 7), (-9, 9)]), ("to", [(-7, 7), (-9, 9)]), ("at", [(-2, 1), (-2, 1)]),
              ("by", [(-3, 3), (-3, 3)]))]
    net.output(net.op("Slice", net.data(6, 8), *given))


def limited(net):
    """Slices with less room than they might take."""
    given = [net.sizes(name, ranges) for name, ranges in
             (("from_here", [(-7, 7), (-9, 9)]), ("to_there", [(-7, 7), (-9, 9)]))]
    first = net.op("Relu", net.op("Slice", net.data(6, 8), *given))
    net.output(net.bound(first, {0: 4, 1: 6}))
    given = [net.sizes(f"{name}_limited", ranges, likely=likely) for name, ranges, likely in
             (("from", [(-7, 7), (-9, 9)], None), ("to", [(-7, 7), (-9, 9)], None),
              ("at", [(-2, 1), (-2, 1)], [[0, 1], [-1, 0], [1, -2]]),
              ("by", [(-3, 3), (-3, 3)], [[1, -1], [2, 1], [-3, -2]]))]
    net.output(net.bound(net.op("Slice", net.data(6, 8), *given), {0: 4, 1: 6}))


def named_borders(net):
    """Pads of axes that a run names."""
    named = net.sizes("bordered", [(-3, 2), (-3, 2)],
                      valid=lambda drawn: (drawn[0] - drawn[1]) % 3,
                      likely=[[0, 2], [-1, 0], [1, -1]])
    for mode in ("constant", "edge"):
        pads = net.sizes(f"pads_{mode}", [(-1, 2), (0, 2), (0, 3), (-2, 1)])
        padded = net.op("Pad", net.data(4, 4, 5), pads, "", named, mode=mode)
        net.output(net.bound(padded, {0: 9, 1: 9, 2: 9}))


def squeezed(net):
    """Without axes, where one dim is of the run: 1 is refused."""
    rows = net.sizes("squeezed", [(0, 5)])
    wide = net.op("Expand", net.data(1, 1, 3),
                  net.op("Concat", rows, net.const([1, 3]), axis=0))
    net.refused.append(lambda arrays: arrays["squeezed"][0] == 1)
    net.output(net.bound(net.op("Squeeze", wide), {0: 5}))


def cropped(net):
    """CenterCropPad in parts, bounded at its result alone."""
    x, shape = net.data(4, 7), net.sizes("cropped", [(0, 8), (0, 9)])
    dims, two = net.op("Shape", x), net.const([2])
    more = net.op("Sub", net.op("Max", dims, shape), dims)
    before = net.op("Div", more, two)
    padded = net.op("Pad", x, net.op("Concat", before, net.op("Sub", more, before), axis=0))
    first = net.op("Div", net.op("Sub", net.op("Shape", padded), shape), two)
    net.output(net.bound(net.op("Slice", padded, first, net.op("Add", first, shape)),
                         {0: 8, 1: 9}))


def computed(net):
    """Sizes that are computed of sizes, which are data too."""
    n = net.sizes("n", [(1, 6)])
    rows = net.op("Mul", n, net.const([2]))
    shape = net.op("Concat", rows, net.const([6]), axis=0)
    wide = net.bound(net.op("Expand", net.data(1, 6), shape), {0: 16})
    narrow = net.op("Concat", n, net.const([12]), axis=0)
    moved = net.bound(net.op("Reshape", wide, narrow), {0: 8})
    net.output(net.op("Add", moved, net.op("Cast", n, to=TensorProto.FLOAT)))
    turned = net.op("MatMul", net.op("Reshape", wide, net.const([-1, 6])), net.data(6, 5))
    net.output(net.op("Softmax", turned, axis=0))


def rounds(net):
    """As many as an input says, stacked."""
    x, first = net.data(3), net.data(3)
    count = net.sizes("rounds", [(0, 5)], scalar=True)
    info = helper.make_tensor_value_info
    body = helper.make_graph(
        [helper.make_node("Add", ["old", x], ["new"]),
         helper.make_node("Mul", ["new", "new"], ["s"]),
         helper.make_node("Identity", ["go"], ["go_on"])], "body",
        [info("i", TensorProto.INT64, []), info("go", TensorProto.BOOL, []),
         info("old", TensorProto.FLOAT, [3])],
        [info("go_on", TensorProto.BOOL, []), info("new", TensorProto.FLOAT, [3]),
         info("s", TensorProto.FLOAT, [3])])
    last, stacked = net.op("Loop", count, net.const(True, bool), first, outputs=2, body=body)
    net.output(last)
    net.output(stacked)


# onnxruntime copies along an axis that keeps its length, whatever the scale: of 3 and of 5 these
# all make another one.
PLAIN_SCALES = (0.5, 2, 0.75, 1.5)  # by which the floats of onnxruntime are exact
SCALES = (*PLAIN_SCALES, 1.4, 0.6, 2.3, 0.21, 0.7182817)
WHOLE_SCALES = (2, 1) * 4  # of any length: where align_corners is the same in onnxruntime


def scales(net):
    """Floats of the run; what is no scale, and results beyond their bounds, are refused."""
    for mode, attributes in (("linear", {}), ("linear", {"antialias": 1}), ("cubic", {}),
                             ("linear", {"coordinate_transformation_mode": "align_corners"})):
        some = PLAIN_SCALES if mode == "cubic" else SCALES
        if "coordinate_transformation_mode" in attributes:
            some = WHOLE_SCALES
        drawn = net.floats(f"scales{len(net.choices)}",
                           [(1,), (1,), (*some, 1, 0), (*some, 1, -1, np.nan)])
        grown = net.op("Resize", net.data(1, 2, 3, 5), "", drawn, mode=mode, **attributes)
        net.output(net.bound(grown, {0: 1, 1: 2, 2: 8, 3: 12}))


def regions(net):
    """onnxruntime takes no region of an axis that keeps its length."""
    roi = net.floats("roi", [(0, 0.25, -0.1), (0, 0.3, -1.5), (1, 0.75, 0.9), (1, 0.123, 2)])
    drawn = net.floats("region_scales", [(0.5, 2, 0.75, 3, 0.6, 0.2)] * 2)
    image = net.op("Resize", net.data(1, 2, 5, 7), roi, drawn, mode="linear", axes=[2, 3],
                   coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=7.5)
    net.output(net.bound(image, {2: 15, 3: 20}))


def aspects(net):
    for policy in ("not_larger", "not_smaller"):
        sizes = net.sizes(policy, [(1, 9), (1, 11)], valid=all_positive)
        kept = net.op("Resize", net.data(1, 2, 4, 5), "", "", sizes, mode="linear", axes=[2, 3],
                      keep_aspect_ratio_policy=policy)
        net.output(net.bound(kept, {2: 9, 3: 12}))


FREE_PARTS = (slices, selections, repetitions, floats, borders, reshapes, axes, ranks, steps,
              limited, named_borders, squeezed, cropped, computed, scales, regions, aspects)


def make_net(*parts):
    net = SizedNet()
    for part in parts:
        part(net)
    return net


DIMS = ("height", "width", "n", "m")  # of the model with dims that have to be equal
PAIRS = ("whole", "x"), ("left", "right"), ("right", "again")  # those of its tensors that have them


def make_equal_net():
    """What is halved and doubled meets itself again; two inputs share a dim under two names, two
    one under the same name.
    """
    net = SizedNet()
    x = net.input("x", [1, 2, "height", "width"])
    half = net.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1)
    scales = net.const([1, 1, 2, 2], np.float32)
    whole = net.op("Resize", half, "", scales, mode="nearest",
                   coordinate_transformation_mode="asymmetric", nearest_mode="floor", name="whole")
    net.output(net.op("Add", whole, x))
    net.output(net.op("Relu", net.op("Concat", x, whole, axis=1)))
    left, right = net.input("left", [3, "n"]), net.input("right", ["m", 4])
    net.output(net.op("MatMul", left, right))
    net.output(net.op("Add", right, net.input("again", ["m", 4])))
    return net


def draw_dims(net, rng):
    """Inputs whose dims are small, and equal or even more often than not."""
    sizes = {name: int(rng.integers(1, 9)) for name in DIMS}
    if rng.integers(4):
        sizes |= {name: (sizes[name] + 1) // 2 * 2 for name in ("height", "width")}
        sizes["m"] = sizes["n"]
    shapes = {value.name: [sizes.get(d.dim_param, d.dim_value)
                           for d in value.type.tensor_type.shape.dim] for value in net.inputs}
    shapes["again"][0] += int(rng.integers(6) == 0)
    return {name: rng.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
