"""Families of operators that take graphs, and of those on sequences and optionals: each case is the
operator with what makes its operands and takes its results, as these may be no tensors.
"""
import functools

import numpy as np
from onnx import TensorProto, helper

from operator_case import Node

TYPES = ("f4", "f4", "f8", "i8", "i4")
PREVIEW = "ai.onnx.preview"


def info(name, dtype, dims=None):
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)),
                                         dims)


def made_of(make, name, inputs, outputs):
    """The nodes that `make(node, inputs, outputs)` asks for; node(op, in, out, **attributes) adds
    one, whose names begin with that of the case.
    """
    nodes = []

    def node(op, taken, given, **attributes):
        nodes.append(helper.make_node(op, taken, given, name=f"{name}_{len(nodes)}", **attributes))

    make(functools.partial(node), lambda text: f"{name}_{text}", inputs, outputs)
    return nodes


def composed(op, operands, make, **settings):
    return Node(op, operands, nodes=functools.partial(made_of, make), **settings)


def alike(draw, least=1, most=3):
    """Tensors of a type and rank, which differ along an axis at most; and that axis."""
    shape, dtype = draw.shape(1, 3), draw.pick(TYPES)
    axis, parts, same = draw.dim(0, len(shape) - 1), [], draw.chance(0.5)
    for _ in range(draw.dim(least, most)):
        if not same:
            shape[axis] = draw.dim(1, 4)
        parts.append(draw.numbers(list(shape), (dtype,)))
    return parts, axis


def place(draw, count):
    """A position in a sequence of so many, counted from either end."""
    return np.array(draw.dim(-count, count - 1), draw.pick(["i8", "i4"]))


def sequence_at(draw):
    parts, _ = alike(draw)

    def make(node, named, inputs, outputs):
        node("SequenceConstruct", inputs[:-1], [named("s")])
        node("SequenceAt", [named("s"), inputs[-1]], outputs)

    return composed(draw.pick(["SequenceConstruct", "SequenceAt"]),
                    [*parts, place(draw, len(parts))], make)


def sequence_change(draw):
    """One is put in, or taken out; then all are joined, or counted, or one is looked at."""
    op = draw.pick(["SequenceInsert", "SequenceErase", "SequenceLength", "ConcatFromSequence"])
    parts, axis = alike(draw, 2, 4)
    inserts = op == "SequenceInsert" or op != "SequenceErase" and draw.chance(0.5)
    count = len(parts) - 1 if inserts else len(parts)
    operands = [*parts, place(draw, count)] if draw.chance(0.7) else parts
    length, new_axis = op == "SequenceLength", len({a.shape for a in parts}) == 1
    attributes = {"axis": axis, "new_axis": int(new_axis and draw.chance(0.5))}

    def make(node, named, inputs, outputs):
        held, where = inputs[:len(parts)], inputs[len(parts):]
        node("SequenceConstruct", held[:count], [named("s")])
        node("SequenceInsert" if inserts else "SequenceErase",
             [named("s"), *held[count:], *where], [named("t")])
        if length:
            node("SequenceLength", [named("t")], outputs)
        else:
            node("ConcatFromSequence", [named("t")], outputs, **attributes)

    return composed(op, operands, make)


def sequence_empty(draw):
    x = draw.numbers(draw.shape(0, 3), TYPES)

    def make(node, named, inputs, outputs):
        node("SequenceEmpty", [], [named("s")], dtype=helper.np_dtype_to_tensor_dtype(x.dtype))
        node("SequenceInsert", [named("s"), inputs[0]], [named("t")])
        node("SequenceAt", [named("t"), inputs[1]], outputs)

    return composed("SequenceEmpty", [x, np.array(draw.dim(-1, 0))], make)


def split_to_sequence(draw):
    shape = draw.shape(1, 3, 2, 7)
    axis = draw.axis(len(shape))
    x, dim, attributes = draw.numbers(shape, TYPES), shape[axis], {"axis": axis}
    operands = [x]
    if draw.chance(0.6):
        ends = sorted(draw.dim(0, dim) for _ in range(draw.dim(0, 3)))
        sizes = [b - a for a, b in zip([0, *ends], [*ends, dim])]
        operands.append(np.array(sizes if draw.chance(0.5) else draw.dim(1, dim), "i8"))
    else:
        attributes["keepdims"] = draw.dim(0, 1)
    joins = draw.chance(0.5) and attributes.get("keepdims", 1)

    def make(node, named, inputs, outputs):
        node("SplitToSequence", inputs, [named("s")], **attributes)
        if joins:
            node("ConcatFromSequence", [named("s")], outputs, axis=axis)
        else:
            node("SequenceLength", [named("s")], outputs)

    return composed("SplitToSequence", operands, make, known=(1,))


def sequence_map(draw):
    parts, axis = alike(draw)
    op, dtype = draw.pick(["Neg", "Abs", "Identity"]), parts[0].dtype
    rank = parts[0].ndim

    def make(node, named, inputs, outputs):
        body = helper.make_graph(
            [helper.make_node(op, [named("i")], [named("o")], name=named("b"))], named("body"),
            [info(named("i"), dtype, [None] * rank)], [info(named("o"), dtype, [None] * rank)])
        node("SequenceConstruct", inputs, [named("s")])
        node("SequenceMap", [named("s")], [named("t")], body=body)
        node("ConcatFromSequence", [named("t")], outputs, axis=axis)

    return composed("SequenceMap", parts, make)


def optional(draw):
    x = draw.numbers(draw.shape(0, 3), TYPES)
    op = draw.pick(["Optional", "OptionalGetElement", "OptionalHasElement"])

    def make(node, named, inputs, outputs):
        node("Optional", inputs, [named("o")])
        node("OptionalGetElement", [named("o")], [named("e")])
        node("OptionalHasElement", [named("o")], outputs[1:])
        node("Abs", [named("e")], outputs[:1])

    return composed(op, [x], make, outputs=2)


def if_(draw):
    """Branches that give the same shape, or shapes of two sizes."""
    shape, dtype = draw.shape(1, 3), draw.pick(TYPES)
    x, y = draw.numbers(shape, (dtype,)), draw.numbers(shape, (dtype,))
    ops = [draw.pick(["Add", "Sub", "Mul", "Concat"]) for _ in range(2)]
    axis = draw.dim(0, len(shape) - 1)

    def make(node, named, inputs, outputs):
        branches = {}
        for branch, op in zip(("then_branch", "else_branch"), ops):
            result = named(branch)
            inner = helper.make_node(op, inputs[1:], [result], name=f"{result}_0",
                                     **({"axis": axis} if op == "Concat" else {}))
            branches[branch] = helper.make_graph([inner], result, [], [
                info(result, dtype, [None] * len(shape))])
        node("If", inputs[:1], outputs, **branches)

    return composed("If", [np.array(draw.chance(0.5)), x, y], make)


def loop(draw):
    """A state and what is stacked of each round; the rounds end by their count, or a condition."""
    shape, dtype = draw.shape(0, 2), draw.pick(("f4", "f8", "i8"))
    state, step = draw.numbers(shape, (dtype,)), draw.numbers(shape, (dtype,))
    op, ends, begins = draw.pick(["Add", "Sub", "Max"]), draw.chance(0.4), draw.chance(0.9)
    # A count that passes the bound of what is stacked, twice its rows, ends the run, also where the
    # condition would have ended the rounds before.
    count = draw.dim(0, 5 if begins else 1)
    limit = draw.dim(count // 2, 4)

    def make(node, named, inputs, outputs):
        names = {text: named(text) for text in ("i", "go", "old", "on", "new", "row", "most")}
        again = ([helper.make_node("Less", [names["i"], inputs[4]], [names["on"]])] if ends else
                 [helper.make_node("Identity", [names["go"]], [names["on"]])])
        body = helper.make_graph(
            [helper.make_node(op, [names["old"], inputs[3]], [names["new"]]),
             helper.make_node("Neg", [names["new"]], [names["row"]]), *again], named("body"),
            [info(names["i"], "i8", []), info(names["go"], "?", []),
             info(names["old"], dtype, shape)],
            [info(names["on"], "?", []), info(names["new"], dtype, shape),
             info(names["row"], dtype, shape)])
        for number, inner in enumerate(body.node):
            inner.name = named(f"b{number}")
        node("Loop", inputs[:3], outputs, body=body)

    return composed("Loop", [np.array(count), np.array(begins), state, step, np.array(limit)], make,
                    known=(0,), outputs=2)


def scan(draw):
    """One or two sequences, read and stacked in either direction."""
    steps, shape, dtype = draw.dim(1, 6), draw.shape(0, 2), draw.pick(("f4", "f8", "i8"))
    if 0 in shape:
        raise ValueError("onnxruntime divides by the number of elements")
    count = draw.dim(1, 2)
    axes = [draw.dim(0, len(shape)) for _ in range(count)]
    rows = [draw.numbers([*shape[:a], steps, *shape[a:]], (dtype,)) for a in axes]
    attributes = {"num_scan_inputs": count, "scan_input_axes": axes,
                  "scan_input_directions": [draw.dim(0, 1) for _ in rows],
                  "scan_output_axes": [draw.dim(0, len(shape))],
                  "scan_output_directions": [draw.dim(0, 1)]}
    op = draw.pick(["Add", "Sub", "Max"])

    def make(node, named, inputs, outputs):
        taken = [named(f"r{i}") for i in range(count)]
        old, both, new, row = (named(text) for text in ("old", "both", "new", "row"))
        nodes = [helper.make_node("Sum" if dtype != "i8" else "Add", [taken[0], taken[-1]], [both]),
                 helper.make_node(op, [old, both], [new]), helper.make_node("Neg", [new], [row])]
        for number, inner in enumerate(nodes):
            inner.name = named(f"b{number}")
        body = helper.make_graph(nodes, named("body"),
                                 [info(n, dtype, shape) for n in [old, *taken]],
                                 [info(n, dtype, shape) for n in [new, row]])
        node("Scan", inputs, outputs, body=body, **attributes)

    return composed("Scan", [draw.numbers(shape, (dtype,)), *rows], make, outputs=2)


def modifier(draw, name, dtype):
    """A graph that changes scores, or probabilities, element by element."""
    op, constant = draw.pick([("Mul", 0.5), ("Add", 0.25), ("Min", 0.5), ("Tanh", None)])
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    nodes, taken = [], [f"{name}_i"]
    if constant is not None:
        value = helper.make_tensor(f"{name}_v", kind, [], [constant])
        nodes.append(helper.make_node("Constant", [], [f"{name}_c"], name=f"{name}_0", value=value))
        taken.append(f"{name}_c")
    nodes.append(helper.make_node(op, taken, [f"{name}_o"], name=f"{name}_1"))
    dims = [None] * 4
    return helper.make_graph(nodes, name, [helper.make_tensor_value_info(taken[0], kind, dims)],
                             [helper.make_tensor_value_info(f"{name}_o", kind, dims)])


def flex_attention(draw):
    batch, kv_heads, shared = draw.dim(1, 2), draw.dim(1, 2), draw.dim(1, 2)
    steps, keys, size, wide = (draw.dim(1, 6) for _ in range(4))
    dtype = draw.pick(["f4", "f4", "f8"])
    operands = [draw.floats(dims, dtype) for dims in (
        [batch, kv_heads * shared, steps, size], [batch, kv_heads, keys, size],
        [batch, kv_heads, keys, wide])]
    attributes = {"scale": 0.4} if draw.chance(0.3) else {}
    for kind in ("score_mod", "prob_mod"):
        if draw.chance(0.5):
            attributes[kind] = modifier(draw, f"flex_{kind}", dtype)
    return Node("FlexAttention", operands, attributes, domain=PREVIEW, opset=26, reference="onnx",
                tolerance=1e-3)


def of_pairs(array):
    return array[..., 0] + 1j * array[..., 1]


def real_fourier(axes, inverse, operands):
    over = tuple(range(-axes, 0))
    if inverse:
        pairs = of_pairs(operands[0].astype("f8"))
        lengths = [*pairs.shape[-axes:-1], 2 * (pairs.shape[-1] - 1)]
        return [np.fft.irfftn(pairs, lengths, over).astype(operands[0].dtype)]
    found = np.fft.rfftn(operands[0].astype("f8"), axes=over)
    return [np.stack([found.real, found.imag], -1).astype(operands[0].dtype)]


def fourier(draw):
    """Of an even length, as that is what Irfft gives; onnxruntime has them for GPUs alone."""
    shape = draw.shape(1, 3)
    if 0 in shape:
        raise ValueError("no transform of nothing")
    shape[-1] += shape[-1] % 2
    axes, inverse = draw.dim(1, len(shape)), draw.chance(0.5)
    over = tuple(range(-axes, 0))
    x = draw.floats(shape)
    if inverse:
        spectrum = np.fft.rfftn(x.astype("f8"), axes=over)
        x = np.stack([spectrum.real, spectrum.imag], -1).astype("f4")
    return Node("Irfft" if inverse else "Rfft", [x],
                {"signal_ndim": axes, "onesided": 1, "normalized": 0}, domain="com.microsoft",
                reference=functools.partial(real_fourier, axes, inverse))


FAMILIES = (sequence_at, sequence_change, sequence_change, sequence_empty, split_to_sequence,
            sequence_map, optional, if_, loop, scan, flex_attention, fourier)
