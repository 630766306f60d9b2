"""Graphs that meet the rules of differentiation one by one, for check_gradient.py.

Each function of RULES takes a Case and differentiates something in it.
"""
UNARY = {  # op -> the interval from which its operands are drawn, attributes
    "Abs": (-1.5, 1.5, {}), "Acos": (-0.9, 0.9, {}), "Acosh": (1.2, 3, {}),
    "Asin": (-0.9, 0.9, {}), "Asinh": (-2, 2, {}), "Atan": (-2, 2, {}),
    "Atanh": (-0.9, 0.9, {}), "Celu": (-2, 2, {"alpha": 0.7}), "Cos": (-2, 2, {}),
    "Cosh": (-2, 2, {}), "Elu": (-2, 2, {"alpha": 1.3}), "Erf": (-2, 2, {}),
    "Exp": (-2, 1, {}), "HardSigmoid": (-4, 4, {"alpha": 0.3, "beta": 0.41}),
    "HardSwish": (-4.1, 4.3, {}), "Identity": (-2, 2, {}), "LeakyRelu": (-2, 2, {"alpha": 0.2}),
    "Log": (0.3, 3, {}), "Mish": (-2, 2, {}), "Neg": (-2, 2, {}), "Reciprocal": (0.4, 3, {}),
    "Relu": (-2, 2, {}), "Selu": (-2, 2, {}), "Shrink": (-2, 2, {"lambd": 0.7, "bias": 0.2}),
    "Sigmoid": (-2, 2, {}), "Sin": (-2, 2, {}), "Sinh": (-2, 2, {}), "Softplus": (-2, 2, {}),
    "Softsign": (-2, 2, {}), "Sqrt": (0.3, 3, {}), "Tan": (-1, 1, {}), "Tanh": (-2, 2, {}),
    "ThresholdedRelu": (-2, 2, {"alpha": 0.33}), "Floor": (-2.3, 2.3, {}), "Sign": (-2, 2, {}),
    "Gelu": (-2, 2, {}), "GeluTanh": (-2, 2, {"approximate": "tanh"}), "Softmax": (-2, 2, {}),
    "LogSoftmax": (-2, 2, {}),
}
BINARY = {"Add": (-1.5, 1.5), "Sub": (-1.5, 1.5), "Mul": (-1.5, 1.5), "Div": (0.4, 2),
          "Pow": (0.4, 2), "Max": (-1.5, 1.5), "Min": (-1.5, 1.5), "Mean": (-1.5, 1.5),
          "Sum": (-1.5, 1.5), "PRelu": (-1.5, 1.5)}
SHAPES = [([2, 3], [2, 3]), ([2, 3], [3]), ([2, 3], [1, 1]), ([4, 1, 3], [2, 1]), ([3], [2, 3]),
          ([], [2, 2])]


def weighed(case, y):
    """y times other numbers, so that not all elements of its gradient are 1."""
    return case.op("Mul", y, case.weight(case.shape_of(y)))


def shape(case, least=1, most=3):
    rank = int(case.rng.integers(least, most + 1))
    return [int(case.rng.choice([1, 2, 3, 5])) for _ in range(rank)]


def unary(name):
    def draw(case):
        low, high, attributes = UNARY[name]
        x = case.input(shape(case), low, high)
        more = {"axis": int(case.rng.integers(-1, 1))} if "oftmax" in name else {}
        y = case.op(name.removesuffix("Tanh") if name == "GeluTanh" else name, x,
                    **attributes, **more)
        case.differentiate(weighed(case, y), [x])
    return draw


def binary(name):
    def draw(case):
        left, right = SHAPES[int(case.rng.integers(len(SHAPES)))]
        if name in ("PRelu", "Mean"):  # the evaluator has no other Mean
            left, right = SHAPES[int(case.rng.integers(3))]
        a, b = case.input(left, *BINARY[name]), case.input(right, *BINARY[name])
        case.floats[b] = case.floats[b] * 0.97 + 0.011  # no two are equal
        case.differentiate(weighed(case, case.op(name, a, b)), [a, b])
    return draw


def matmul(case):
    shapes = [([2, 3], [3, 4]), ([3], [3, 2]), ([2, 3], [3]), ([3], [3]), ([2, 2, 3], [3, 4]),
              ([2, 1, 2, 3], [3, 3, 1]), ([3], [2, 3, 2]), ([1, 2, 3], [2, 3, 2])]
    left, right = shapes[int(case.rng.integers(len(shapes)))]
    a, b = case.input(left), case.input(right)
    case.differentiate(weighed(case, case.op("MatMul", a, b)), [a, b])


def gemm(case):
    flip_a, flip_b = (int(i) for i in case.rng.integers(0, 2, 2))
    a, b = case.input([3, 2] if flip_a else [2, 3]), case.weight([4, 3] if flip_b else [3, 4])
    c = case.input([[4], [2, 1], [1], [2, 4]][int(case.rng.integers(4))])
    y = case.op("Gemm", a, b, c, transA=flip_a, transB=flip_b, alpha=0.7, beta=1.3)
    case.differentiate(weighed(case, y), [a, b, c])


def conv(case):
    rng, rank = case.rng, int(case.rng.integers(1, 3))
    group = int(rng.integers(1, 3))
    kernel = [int(rng.integers(1, 4)) for _ in range(rank)]
    attributes = {"group": group, "strides": [int(i) for i in rng.integers(1, 3, rank)],
                  "dilations": [int(i) for i in rng.integers(1, 3, rank)]}
    if rng.random() < 0.2:
        # ONNX's evaluator takes VALID for SAME, and for larger strides other axes than the spatial
        # ones.
        attributes["auto_pad"] = str(rng.choice(["SAME_UPPER", "SAME_LOWER"]))
        attributes["dilations"] = attributes["strides"] = [1] * rank
    else:
        attributes["pads"] = [int(i) for i in rng.integers(0, 2, 2 * rank)]
    x = case.input([2, 2 * group, *(int(i) for i in rng.integers(5, 7, rank))])
    w, b = case.weight([2 * group, 2, *kernel]), case.input([2 * group])
    case.differentiate(weighed(case, case.op("Conv", x, w, b, **attributes)), [x, w, b])


def reduction(name):
    def draw(case):
        dims = shape(case, 2, 3)
        x = case.input(dims, 0.2, 2)
        axes = sorted(int(i) for i in case.rng.choice(len(dims), case.rng.integers(1, len(dims)),
                                                      replace=False))
        operands = [x] if case.rng.random() < 0.3 else [
            x, case.constant([a - len(dims) for a in axes])]
        y = case.op(name, *operands, keepdims=int(case.rng.integers(2)))
        case.differentiate(weighed(case, y), [x])
    return draw


def reshapes(case):
    x = case.input([2, 1, 6])
    y = case.op("Reshape", x, case.constant([3, -1]))
    y = case.op("Unsqueeze", y, case.constant([0, -1]))
    y = case.op("Transpose", y, perm=[2, 0, 3, 1])
    y = case.op("Squeeze", y, case.constant([1]))
    y = case.op("Flatten", y, axis=-1)
    case.differentiate(weighed(case, case.op("Transpose", y)), [x])


def concat_split(case):
    axis = int(case.rng.integers(-2, 2))
    sizes = [1, 3, 2]
    xs = [case.input([size, 2] if axis % 2 == 0 else [2, size]) for size in sizes]
    joined = case.op("Concat", *xs, axis=axis)
    parts = case.ops("Split", [joined, case.constant([2, 1, 3])], 3, axis=axis)
    y = case.op("Sum", *(case.op("ReduceSum", weighed(case, part), keepdims=0)
                         for part in (parts[0], parts[2])))
    case.differentiate(y, xs)


def slices(case):
    rng = case.rng
    x = case.input([5, 4])
    steps = [int(i) for i in rng.choice([1, 2, 3, -1, -2], 2)]
    starts = [int(rng.integers(0, 3)) if step > 0 else -int(rng.integers(1, 3)) for step in steps]
    ends = [int(rng.integers(4, 9)) if step > 0 else -99 for step in steps]
    y = case.op("Slice", x, *(case.constant(i) for i in (starts, ends, [1, -2], steps)))
    case.differentiate(weighed(case, y), [x])


def expand(case):
    x = case.input([3, 1])
    case.differentiate(weighed(case, case.op("Expand", x, case.constant([2, 1, 4]))), [x])


def gather(case):
    x, axis = case.input([3, 4, 2]), int(case.rng.integers(-3, 3))
    dims = [[], [2], [2, 3]][int(case.rng.integers(3))]
    places = case.constant(case.rng.integers(-2, 2, dims))
    case.differentiate(weighed(case, case.op("Gather", x, places, axis=axis)), [x])


def gather_elements(case):
    x = case.input([3, 4])
    places = case.constant(case.rng.integers(-3, 3, [3, 2]))
    y = case.op("GatherElements", x, places, axis=1)
    case.differentiate(weighed(case, y), [x])


def gather_nd(case):
    x = case.input([3, 4, 2])
    places = case.constant(case.rng.integers(0, 3, [3, 2]))
    case.differentiate(weighed(case, case.op("GatherND", x, places)), [x])


def pad(case):
    x, fill = case.input([3, 4]), case.input([])
    pads = [int(i) for i in case.rng.integers(0, 3, 4)]  # the evaluator drops no elements
    case.differentiate(weighed(case, case.op("Pad", x, case.constant(pads), fill)), [x, fill])


def where(case):
    a, b = case.input([2, 3]), case.input([3])
    condition = case.op("Greater", a, case.number(0.1))
    case.differentiate(weighed(case, case.op("Where", condition, a, b)), [a, b])


def clip(case):
    x, low, high = case.input([3, 4]), case.input([], -0.71, -0.7), case.input([], 0.7, 0.71)
    case.differentiate(weighed(case, case.op("Clip", x, low, high)), [x, low, high])


def cast(case):
    x = case.input([2, 3])
    whole = case.op("Cast", case.op("Cast", x, to=7), to="float")  # no gradient through integers
    y = case.op("Add", case.op("Mul", x, x), whole)
    case.differentiate(weighed(case, case.op("CastLike", y, x)), [x])


def squares(case):
    """Constant exponents, of which one is an integer."""
    x = case.input([2, 3])
    y = case.op("Add", case.op("Pow", x, case.number(2.0)), case.op("Pow", x, case.constant(3)))
    case.differentiate(weighed(case, y), [x])


def independent(case):
    """What y does not depend on has a gradient of 0; y itself one of 1."""
    x, other = case.input([2, 3]), case.input([4])
    y = case.op("Tanh", x)
    case.op("Neg", other)
    case.differentiate(y, [x, other])
    case.differentiate(y, [y])


def intermediate(case):
    """By a tensor that is computed, which ends the way back; and zs, which end it too."""
    x, w = case.input([2, 3]), case.weight([3, 2])
    h = case.op("MatMul", x, w)
    y = case.op("Mul", case.op("Sin", h), h)
    case.differentiate(y, [h])
    z = case.op("Exp", h)
    case.differentiate(case.op("Mul", z, h), [h], [z])


def elsewhere(case):
    """At other values than those of the tensors."""
    x, w, there = case.input([2, 3]), case.weight([3, 2]), case.input([2, 3])
    y = case.op("Tanh", case.op("MatMul", case.op("Sin", x), w))
    case.differentiate(y, [x, w], given={x: there})
    h = case.op("Exp", there)
    case.differentiate(case.op("Mul", h, h), [h], given={h: case.op("Cos", there)})


def symbolic(case):
    """A batch of any size, and a bias that is broadcast along it."""
    x, b = case.input([3, 4], symbols={0: "n"}), case.input([2])
    w, s = case.weight([4, 2]), case.input([3, 1], symbols={0: "n"})
    h = case.op("Add", case.op("Mul", case.op("MatMul", x, w), s), b)
    y = case.op("ReduceMean", case.op("Softmax", h), case.constant([0]), keepdims=0)
    y = case.op("Concat", y, case.op("ReduceSum", case.op("Tanh", h), case.constant([-1]),
                                     keepdims=0), axis=0)
    case.differentiate(weighed(case, case.op("Slice", y, case.constant([0]), case.constant([3]))),
                       [x, w, b, s])


def symbolic_moves(case):
    """Elements moved along an axis of any size."""
    x, other = case.input([4, 2], symbols={0: "n"}), case.input([3, 2], symbols={0: "m"})
    y = case.op("Concat", x, case.op("Exp", other), axis=0)
    y = case.op("Slice", y, case.constant([1]), case.constant([-1]), case.constant([0]))
    y = case.op("Gather", y, case.constant([0, 1, 0]), axis=1)
    y = case.op("Pad", y, case.constant([1, 0, 0, 1]))
    y = case.op("Reshape", case.op("Mul", y, y), case.constant([-1, 2]))
    case.differentiate(case.op("Sin", y), [x, other])


def symbolic_windows(case):
    x, w = case.input([2, 2, 6], symbols={0: "n", 2: "w"}), case.weight([3, 2, 2])
    y = case.op("Conv", x, w, strides=[2], pads=[1, 1])
    y = case.op("ReduceMax", case.op("Sin", y), case.constant([2]), keepdims=0)
    case.differentiate(case.op("Mul", y, y), [x, w])


def sums_so_far(case):
    x = case.input([3, 4])
    y = case.op("CumSum", x, case.constant(int(case.rng.integers(-2, 2))),
                exclusive=int(case.rng.integers(2)), reverse=int(case.rng.integers(2)))
    y = case.op("Trilu", case.op("Mul", y, y), case.constant(int(case.rng.integers(-1, 2))),
                upper=int(case.rng.integers(2)))
    case.differentiate(weighed(case, y), [x])


def global_pool(case):
    x = case.input([2, 3, 4, 2])
    case.differentiate(weighed(case, case.op("GlobalAveragePool", x)), [x])


def loss(case):
    """A class for each element, of which some count nothing; with and without log-softmax."""
    rng = case.rng
    x = case.input([[4, 3], [2, 3, 3]][int(rng.integers(2))])
    dims = list(case.floats[x].shape)
    attributes = {"reduction": str(rng.choice(["none", "sum", "mean"]))}
    if rng.random() < 0.5:
        attributes["ignore_index"] = 1
    labels = rng.integers(0, 3, dims[:1] + dims[2:])
    labels.flat[0] = 2  # one counts
    operands = [case.constant(labels)]
    if rng.random() < 0.5:
        operands.append(case.weight([3], 0.2, 1.5))
    if rng.random() < 0.5:
        y = case.op("NegativeLogLikelihoodLoss", case.op("Sin", x), *operands, **attributes)
    else:
        y, scores = case.ops("SoftmaxCrossEntropyLoss", [x, *operands], 2, **attributes)
        if rng.random() < 0.5:
            y = case.op("Add", case.op("ReduceSum", weighed(case, scores), keepdims=0), y)
    case.differentiate(weighed(case, y), [x])


def max_pool(case):
    rng, rank = case.rng, int(case.rng.integers(1, 3))
    x = case.input([2, 2, *(int(i) for i in rng.integers(4, 7, rank))])
    y = case.op("MaxPool", x, kernel_shape=[int(i) for i in rng.integers(2, 4, rank)],
                strides=[int(i) for i in rng.integers(1, 3, rank)],
                pads=[int(i) for i in rng.integers(0, 2, 2 * rank)])
    case.differentiate(weighed(case, y), [x])


def batch_norm(case):
    x = case.input([[2, 3, 4], [3, 2], [2, 2, 3, 2]][int(case.rng.integers(3))])
    channels = [case.floats[x].shape[1]]
    others = [case.input(channels) for _ in range(3)] + [case.input(channels, 0.3, 2)]
    y = case.op("BatchNormalization", x, *others, epsilon=0.01)
    case.differentiate(weighed(case, case.op("Dropout", y)), [x, *others])


def layer_norm(case):
    axis = int(case.rng.integers(-2, 0))
    x, dims = case.input([2, 3, 4]), [2, 3, 4][axis:]
    scale, bias = case.input(dims), case.input(dims)
    y = case.op("LayerNormalization", x, scale, bias, axis=axis, epsilon=0.01)
    case.differentiate(weighed(case, y), [x, scale, bias])


def unread(case):
    """A part of a Split that nobody reads."""
    x = case.input([6, 2])
    parts = case.ops("Split", [x], 3, axis=0, num_outputs=3)
    case.differentiate(weighed(case, case.op("Exp", parts[1])), [x])


def twice(case):
    """The derivative of a derivative, through what its rules emit."""
    ops = [lambda x: case.op("Exp", case.op("Mul", x, x)), lambda x: case.op("Sigmoid", x),
           lambda x: case.op("Softmax", x), lambda x: case.op("Div", case.number(1.0), x),
           lambda x: case.op("Slice", case.op("Sin", x), case.constant([0]), case.constant([9]),
                             case.constant([1]), case.constant([2])),
           lambda x: case.op("Gather", case.op("Tanh", x), case.constant([1, 0, 1]), axis=1),
           lambda x: case.op("ReduceMean", case.op("Pow", x, case.number(3.0)),
                             case.constant([0]))]
    x = case.input([2, 3], 0.4, 1.4)
    y = ops[int(case.rng.integers(len(ops)))](x)
    outputs = case.differentiate(weighed(case, y), [x])
    case.second_of = case.derivatives[-1]
    case.differentiate(outputs[0], [x])


def products_twice(case):
    """MatMul and Conv, differentiated by one operand and then by all."""
    if case.rng.random() < 0.5:
        a, b = case.input([2, 1, 2, 3]), case.input([2, 3, 2])
        y = case.op("MatMul", a, b)
    else:
        a, b = case.input([1, 4, 5]), case.input([4, 2, 2])
        y = case.op("Conv", a, b, group=2, strides=[2], pads=[1, 0], dilations=[2])
    by = [a, b][int(case.rng.integers(2))]
    y = case.op("Mul", case.op("Mul", y, y), case.number(0.1))
    outputs = case.differentiate(y, [by], [b if by == a else a])
    case.second_of = case.derivatives[-1]
    case.differentiate(outputs[0], [a, b])


RULES = {
    **{f"unary_{name.lower()}": unary(name) for name in UNARY},
    **{f"binary_{name.lower()}": binary(name) for name in BINARY},
    **{f"reduction_{name.lower()}": reduction(name) for name in (
        "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean",
        "ReduceMin", "ReduceSum", "ReduceSumSquare")},
    **{function.__name__: function for function in (
        matmul, gemm, conv, reshapes, concat_split, slices, expand, gather, gather_elements,
        gather_nd, pad, where, clip, cast, squares, independent, intermediate, elsewhere,
        symbolic, symbolic_moves, symbolic_windows, unread,
        sums_so_far, global_pool, loss, max_pool, batch_norm, layer_norm,
        twice, products_twice)},
}


def chain(case):
    """A few ops in a row, each of what was there before."""
    rng = case.rng
    x, w = case.input([2, 3]), case.weight([3, 3])
    values = [x, case.op("MatMul", x, w)]
    for _ in range(int(rng.integers(2, 7))):
        a, b = (values[int(i)] for i in rng.integers(len(values), size=2))
        kind = rng.integers(4)
        if kind == 0:
            values.append(case.op(str(rng.choice(["Tanh", "Sigmoid", "Sin", "Erf", "Softplus",
                                                  "Softmax", "Neg", "Atan"])), a))
        elif kind == 1:
            values.append(case.op(str(rng.choice(["Add", "Sub", "Mul", "Max", "Mean"])), a, b))
        elif kind == 2:
            values.append(case.op("MatMul", a, w))
        else:
            reduced = case.op(str(rng.choice(["ReduceMean", "ReduceSum", "ReduceLogSumExp"])), a,
                              case.constant([int(rng.integers(-2, 2))]))
            values.append(case.op("Sub", b, reduced))
    case.differentiate(weighed(case, values[-1]), [x, w])
