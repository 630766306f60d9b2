"""Ways to add a node or a few to a random graph; each takes a GraphBuilder, and may do nothing.

Shapes are without the leading dim of a batched graph; `lead` is 1 where there is one.
"""
import math

import numpy as np

SMOOTH = ("Relu", "Sigmoid", "Tanh", "Erf", "Neg", "Abs", "LeakyRelu", "HardSigmoid", "HardSwish",
          "Elu", "Softplus", "Softsign", "Sin", "Cos", "Identity", "Gelu", "Mish", "Selu", "Celu",
          "Atan")
JUMPING = ("Floor", "Ceil", "Round", "Sign")
REDUCTIONS = ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2",
              "ReduceSumSquare", "ReduceLogSumExp")


def unary(g):
    x = g.value(lambda v: True)
    g.add(g.pick(SMOOTH), [x], x.shape)


def jumping(g):
    x = g.value(lambda v: v.exact and v.shape)
    g.add(g.pick(JUMPING), [x], x.shape, exact=True)


def clip(g):
    x = g.value()
    low, high = g.constant(np.float32(-0.5)), g.constant(np.float32(0.75))
    bounds = g.pick([[low, high], [low], ["", high]])
    g.add("Clip", [x, *bounds], x.shape)


def root_of_square(g):
    x = g.value()
    square = g.add("Mul", [x, x], x.shape)
    above = g.add("Add", [square, g.constant(np.float32(0.5))], x.shape)
    g.add(g.pick(["Sqrt", "Log", "Reciprocal"]), [above], x.shape)


def operand(g, x):
    """Something that broadcasts against x, and the shape of the result."""
    other = g.value(lambda v: v.shape == x.shape)
    if g.chance(0.5):
        return other
    kept = x.shape[g.dim(0, len(x.shape)):]  # only trailing axes: these never meet the leading dim
    return g.weights([1 if g.chance(0.4) else d for d in kept])


def binary(g):
    x = g.value()
    pair = [x, operand(g, x)]
    if g.chance(0.5):
        pair.reverse()
    g.add(g.pick(["Add", "Sub", "Mul", "Max", "Min"]), pair, x.shape)


def divide(g):
    x = g.value()
    below = g.add("Add", [g.add("Abs", [g.value(lambda v: v.shape == x.shape)], x.shape),
                          g.constant(np.float32(1))], x.shape)
    g.add("Div", [x, below], x.shape)


def where(g):
    x = g.value(lambda v: v.exact and v.shape)
    y = g.value(lambda v: v.shape == x.shape)
    compare = g.pick(["Less", "Greater", "GreaterOrEqual", "Equal"])
    mask = g.add(compare, [x, g.constant(np.float32(0.25))], x.shape, True, "?")
    if g.chance(0.3):
        mask = g.add("Not", [mask], x.shape, True, "?")
    g.add("Where", [mask, y, g.weights(x.shape[-1:])], x.shape)


def columns(g):
    """Of a matrix; a single one is a case of its own."""
    return 1 if g.chance(0.1) else g.dim(2, 40)


def matmul(g):
    x = g.value(lambda v: len(v.shape) + g.lead >= 2 and v.shape)
    if x is None:
        return
    k, n = x.shape[-1], columns(g)
    out = g.add("MatMul", [x, g.weights((k, n), k)], (*x.shape[:-1], n))
    if g.chance(0.7):
        out = g.add("Add", [out, g.weights((n,))], out.shape)
    if g.chance(0.5):
        g.add(g.pick(["Relu", "Sigmoid", "Tanh"]), [out], out.shape)


def matmul_of_two(g):
    x = g.value(lambda v: len(v.shape) >= 2)
    if x is None:
        return
    rank = len(x.shape) + g.lead
    swap = [*range(rank - 2), rank - 1, rank - 2]
    turned = g.add("Transpose", [x], (*x.shape[:-2], x.shape[-1], x.shape[-2]), x.exact, perm=swap)
    scaled = g.add("Mul", [x, g.constant(np.float32(1 / x.shape[-1]))], x.shape)
    scores = g.add("MatMul", [scaled, turned], (*x.shape[:-1], x.shape[-2]))
    if g.chance(0.5):
        scores = g.add("Softmax", [scores], scores.shape, axis=-1)
        g.add("MatMul", [scores, x], x.shape)


def heads(g, x, count, width, parts):
    """Queries, keys and values: heads first, of one product or of three."""
    length, k = x.shape[-2:]
    every = [*range(g.lead), g.lead + 1, g.lead, g.lead + 2]
    if g.chance(0.5):
        whole = g.add("MatMul", [x, g.weights((k, 3 * count * width), k)],
                      (length, 3 * count * width))
        split = g.add("Split", [whole], (length, count * width), outputs=3, axis=-1, num_outputs=3)
        names = [split.name, *g.nodes[-1].output[1:]]
        g.used.update(names)
    else:
        names = [g.add("MatMul", [x, g.weights((k, count * width), k)], (length, count * width))
                 for _ in range(3)]
    for name in names:
        apart = g.add("Reshape", [name, g.ints(*[0] * g.lead, length, count, width)],
                      (length, count, width))
        parts.append(g.add("Transpose", [apart], (count, length, width), perm=every))


def attention(g):
    x = g.value(lambda v: len(v.shape) == 2)
    if x is None:
        return
    length, (count, width), parts = x.shape[0], (g.dim(1, 3), g.dim(1, 20)), []
    heads(g, x, count, width, parts)
    query, key, value = parts
    scale = g.constant(np.float32(width ** -0.5))
    if g.chance(0.5):
        query = g.add("Mul", [query, scale], query.shape)
    order = [*range(g.lead + 1), g.lead + 2, g.lead + 1]
    turned = g.add("Transpose", [key], (count, width, length), perm=order)
    scores = g.add("MatMul", [query, turned], (count, length, length))
    if g.chance(0.5):
        scores = g.add("Mul", [scores, scale], scores.shape)
    if g.chance(0.5):
        scores = g.add("Add", [scores, g.weights((length,) * g.dim(1, 2))], scores.shape)
    weights = g.add("Softmax", [scores], scores.shape, axis=-1)
    sums = g.add("MatMul", [weights, value], (count, length, width))
    back = g.add("Transpose", [sums], (length, count, width),
                 perm=[*range(g.lead), g.lead + 1, g.lead, g.lead + 2])
    joined = g.add("Reshape", [back, g.ints(*[0] * g.lead, length, -1)], (length, count * width))
    g.add("MatMul", [joined, g.weights((count * width, x.shape[-1]), width)], x.shape)


def gemm(g):
    x = g.value(lambda v: len(v.shape) + g.lead == 2 and v.shape)
    if x is None:
        return
    k, n = x.shape[-1], columns(g)
    transposed = int(g.chance(0.5))
    weights = g.weights((n, k) if transposed else (k, n), k)
    g.add("Gemm", [x, weights, g.weights((n,))], (*x.shape[:-1], n), alpha=0.5, beta=1.5,
          transB=transposed)


def window(g, size, kernel_most=4):
    """kernel, stride, dilation, pads (begin, end) and the output size along one axis."""
    kernel = g.dim(1, min(kernel_most, size))
    dilation = 2 if kernel > 1 and (kernel - 1) * 2 < size and g.chance(0.2) else 1
    extent, stride = (kernel - 1) * dilation + 1, g.dim(1, 2)
    pads = (g.dim(0, extent // 2), g.dim(0, extent // 2))
    return kernel, stride, dilation, pads, (size + sum(pads) - extent) // stride + 1


def image(g):
    """A value with channels and space, with a leading axis before them."""
    rank = 3 if g.lead else 4
    x = g.value(lambda v: rank - 1 <= len(v.shape) <= rank and math.prod(v.shape) > 0)
    if x is None:
        return None, (), 0
    return x, x.shape[1 - g.lead:], len(x.shape) + g.lead - 2


def conv(g):
    x, shape, _ = image(g)
    if x is None:
        return
    channels, windows = shape[0], [window(g, d) for d in shape[1:]]
    groups = g.pick([1, 1, 1, channels] + [d for d in (2, 4) if channels % d == 0])
    out_channels = groups * g.dim(1, 6) if groups > 1 else g.pick([g.dim(1, 20), 1, 16, 32])
    kernel = [w[0] for w in windows]
    fan_in = channels // groups * math.prod(kernel)
    inputs = [x, g.weights((out_channels, channels // groups, *kernel), fan_in)]
    if g.chance(0.6):
        inputs.append(g.weights((out_channels,)))
    out = g.add("Conv", inputs, (*x.shape[:1 - g.lead], out_channels, *(w[4] for w in windows)),
                group=groups, strides=[w[1] for w in windows], dilations=[w[2] for w in windows],
                pads=[w[3][0] for w in windows] + [w[3][1] for w in windows])
    if g.chance(0.5):
        out = norm_of_channels(g, out, out_channels)
    if g.chance(0.6):
        g.add(g.pick(["Relu", "HardSwish", "Sigmoid"]), [out], out.shape)


def norm_of_channels(g, x, channels):
    def positive():
        return g.constant(g.rng.uniform(0.5, 1.5, channels).astype("f4"))
    statistics = [g.weights((channels,)), g.weights((channels,)), positive()]
    return g.add("BatchNormalization", [x, positive(), *statistics], x.shape)


def batch_norm(g):
    x, shape, _ = image(g)
    if x is not None:
        norm_of_channels(g, x, shape[0])


def pool(g):
    x, shape, _ = image(g)
    if x is None:
        return
    windows = [window(g, d) for d in shape[1:]]
    pads = [w[3][0] for w in windows] + [w[3][1] for w in windows]
    if any(p >= w[0] for w in windows for p in w[3]):
        return
    op = g.pick(["MaxPool", "AveragePool"])
    extra = {"count_include_pad": g.dim(0, 1)} if op == "AveragePool" else {}
    g.add(op, [x], (*x.shape[:2 - g.lead], *(w[4] for w in windows)),
          exact=op == "MaxPool" and x.exact, kernel_shape=[w[0] for w in windows],
          strides=[w[1] for w in windows], dilations=[w[2] for w in windows], pads=pads, **extra)


def global_pool(g):
    x, shape, rank = image(g)
    if x is not None:
        g.add(g.pick(["GlobalAveragePool", "GlobalMaxPool"]), [x],
              (*x.shape[:2 - g.lead], *[1] * rank))


def reduce(g):
    x = g.value()
    onnx_axis, index = g.axis(x)
    keep = g.dim(0, 1)
    shape = [*x.shape[:index], *[1] * keep, *x.shape[index + 1:]]
    g.add(g.pick(REDUCTIONS), [x, g.ints(onnx_axis)], shape, keepdims=keep)


def softmax(g):
    x = g.value()
    g.add(g.pick(["Softmax", "LogSoftmax"]), [x], x.shape, axis=g.axis(x)[0])


def turn(g, x, order):
    """x with its axes, all but the leading dim, in that order."""
    perm = [*range(g.lead), *(i + g.lead for i in order)]
    return g.add("Transpose", [x], [x.shape[i] for i in order], x.exact, perm=perm)


def transpose(g):
    x = g.value()
    turn(g, x, [int(i) for i in g.rng.permutation(len(x.shape))])


def reshape(g):
    x = g.value()
    parts, left = [], math.prod(x.shape)
    for factor in (2, 3, 5, 4):
        if left % factor == 0 and g.chance(0.5):
            parts.append(factor)
            left //= factor
    parts.insert(g.dim(0, len(parts)), left)
    wanted = list(parts)
    if math.prod(x.shape) and g.chance(0.5):
        wanted[g.dim(0, len(parts) - 1)] = -1
    g.add("Reshape", [x, g.ints(*[0] * g.lead, *wanted)], parts, x.exact)


def squeeze(g):
    x = g.value()
    onnx_axis, index = g.axis(x)
    if x.shape[index] == 1 and len(x.shape) > 1:
        g.add("Squeeze", [x, g.ints(onnx_axis)], [*x.shape[:index], *x.shape[index + 1:]], x.exact)
    elif len(x.shape) < 4:
        g.add("Unsqueeze", [x, g.ints(index + g.lead)], [*x.shape[:index], 1, *x.shape[index:]],
              x.exact)


def concat(g):
    x = g.value()
    onnx_axis, index = g.axis(x)
    alike = [v for v in g.values if v.dtype == "f4" and len(v.shape) == len(x.shape) and all(
        a == b for i, (a, b) in enumerate(zip(v.shape, x.shape)) if i != index)]
    parts = [g.pick(alike) for _ in range(g.dim(1, 3))]
    shape = list(x.shape)
    shape[index] = sum(p.shape[index] for p in parts)
    g.add("Concat", parts, shape, all(p.exact for p in parts), axis=onnx_axis)


def split(g):
    x = g.value(lambda v: any(d > 1 for d in v.shape))
    if x is None:
        return
    onnx_axis, index = g.axis(x)
    if x.shape[index] < 2:
        return
    first = g.dim(1, x.shape[index] - 1)
    sizes = (first, x.shape[index] - first)
    shapes = [[*x.shape[:index], s, *x.shape[index + 1:]] for s in sizes]
    g.add("Split", [x, g.ints(*sizes)], shapes[0], x.exact, outputs=2, axis=onnx_axis)
    g.add_more(shapes[1:], x.exact)


def slice_(g):
    x = g.value(lambda v: v.shape and math.prod(v.shape) > 0)
    if x is None:
        return
    onnx_axis, index = g.axis(x)
    size, step = x.shape[index], g.pick([1, 1, 2, -1, -2])
    start, end = sorted((g.dim(0, size - 1), g.dim(0, size - 1)))
    taken = range(start, end + 1, step) if step > 0 else range(end, start - 1, step)
    stop = end + 1 if step > 0 else (start - 1 if start else -size - 1)
    shape = [*x.shape[:index], len(taken), *x.shape[index + 1:]]
    g.add("Slice", [x, g.ints(taken[0]), g.ints(stop), g.ints(onnx_axis), g.ints(step)], shape,
          x.exact)


def pad(g):
    x = g.value()
    mode = g.pick(["constant", "constant", "reflect", "edge"])
    room = [min(2, d - 1) if mode == "reflect" else 2 for d in x.shape]
    before, after = ([g.dim(0, r) for r in room] for _ in range(2))
    lead = [0] * g.lead
    inputs = [x, g.ints(*lead, *before, *lead, *after)]
    if mode == "constant" and g.chance(0.5):
        inputs.append(g.constant(np.float32(0.5)))
    shape = [b + d + a for b, d, a in zip(before, x.shape, after)]
    g.add("Pad", inputs, shape, x.exact, mode=mode)


def gather(g):
    x = g.value(lambda v: v.shape and math.prod(v.shape) > 0)
    if x is None:
        return
    onnx_axis, index = g.axis(x)
    size = x.shape[index]
    indices = g.rng.integers(-size, size, g.pick([(), (3,), (2, 2)])).astype("i8")
    shape = [*x.shape[:index], *indices.shape, *x.shape[index + 1:]]
    if len(shape) <= 4:
        g.add("Gather", [x, g.constant(indices)], shape, x.exact, axis=onnx_axis)


def expand(g):
    x = g.value(lambda v: 1 in v.shape)
    if x is not None:
        shape = [g.dim(1, 4) if d == 1 else d for d in x.shape]
        g.add("Expand", [x, g.ints(*[1] * g.lead, *shape)], shape, x.exact)


def tile(g):
    x = g.value()
    repeats = [g.dim(1, 2) for _ in x.shape]
    g.add("Tile", [x, g.ints(*[1] * g.lead, *repeats)],
          [d * r for d, r in zip(x.shape, repeats)], x.exact)


def space(g):
    x, shape, rank = image(g)
    if x is None or rank != 2:
        return
    before, (c, h, w) = x.shape[:1 - g.lead], shape
    if c % 4 == 0:
        g.add("DepthToSpace", [x], (*before, c // 4, h * 2, w * 2), x.exact, blocksize=2,
              mode=g.pick(["DCR", "CRD"]))
    elif h % 2 == 0 and w % 2 == 0:
        g.add("SpaceToDepth", [x], (*before, c * 4, h // 2, w // 2), x.exact, blocksize=2)


def resize(g):
    x, shape, rank = image(g)
    if x is None or rank != 2 or not math.prod(x.shape):
        return
    mode = g.pick(["nearest", "linear"])
    scales = g.constant(np.array([1, 1, 2, 2], "f4"))
    extra = {"nearest_mode": "floor"} if mode == "nearest" else {}
    g.add("Resize", [x, "", scales], (*x.shape[:-2], x.shape[-2] * 2, x.shape[-1] * 2),
          coordinate_transformation_mode="asymmetric" if mode == "nearest" else "half_pixel",
          mode=mode, **extra)


def arg_max(g):
    x = g.value(lambda v: v.exact and v.shape and math.prod(v.shape) > 0)
    if x is None:
        return
    onnx_axis, index = g.axis(x)
    keep = g.dim(0, 1)
    shape = [*x.shape[:index], *[1] * keep, *x.shape[index + 1:]]
    g.add(g.pick(["ArgMax", "ArgMin"]), [x], shape, True, "i8", axis=onnx_axis, keepdims=keep)


# How often each occurs is its share of the list.
OPS = (unary, unary, unary, jumping, clip, root_of_square, binary, binary, binary, divide, where,
       matmul, matmul, matmul_of_two, attention, gemm, conv, conv, conv, conv, batch_norm, pool,
       pool, global_pool, reduce, reduce, softmax, transpose, transpose, reshape, reshape, squeeze,
       concat, concat, split, slice_, slice_, pad, gather, expand, tile, space, resize, arg_max)
