"""The models of check_sequences.py: sequences and optionals of tensors.

    probe = PROBES["grown"]()       # a Probe: its net, flags, how to draw inputs, what is refused
"""
import numpy as np
from onnx import TensorProto, helper

from small_net import Net

PROBES = {}  # name -> function(probe)
FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
VALUE = 7  # AOTC_ERROR_VALUE
DIM = 5    # AOTC_ERROR_DIM


def sequence_type(shape, dtype=FLOAT):
    return helper.make_sequence_type_proto(helper.make_tensor_type_proto(dtype, shape))


class Probe(Net):
    """A net of opset 21 with inputs and outputs of any kind."""

    def __init__(self, name, seed=0):
        super().__init__(opset=21)
        self.name, self.draws, self.flags = name, {}, []
        self.refused = []  # functions of the drawn arrays, which change them, and the status
        PROBES[name](self, seed)

    def drawn(self, name, type_proto, draw):
        self.inputs.append(helper.make_value_info(name, type_proto))
        self.draws[name] = draw
        return name

    def tensor(self, name, *shape, dtype=FLOAT, draw=None):
        plain = draw or (lambda rng: rng.standard_normal(shape))
        kind = helper.tensor_dtype_to_np_dtype(dtype)
        return self.drawn(name, helper.make_tensor_type_proto(dtype, shape),
                          lambda rng: np.asarray(plain(rng), kind))

    def number(self, name, least, most):
        return self.tensor(name, dtype=INT64, draw=lambda rng: rng.integers(least, most + 1))

    def flag(self, name):
        return self.tensor(name, dtype=BOOL, draw=lambda rng: rng.random() < 0.5)

    def sequence(self, name, rows, columns=3, most=5, least=1):
        """Of `least` to `most` items f32[n, columns], n up to `rows`; all of `rows` where given as
        a number below 0.
        """
        fixed = rows < 0
        rows = abs(rows)

        def draw(rng):
            return [rng.standard_normal((rows if fixed else rng.integers(0, rows + 1), columns))
                    .astype(np.float32) for _ in range(rng.integers(least, most + 1))]
        self.flags += [f"--max-items={name}={most}"]
        if not fixed:
            self.flags += [f"--shape={name}=0..{rows}x{columns}"]
        return self.drawn(name, sequence_type([rows if fixed else None, columns]), draw)

    def gives(self, *names, dtype=FLOAT):
        for name in names:
            self.outputs.append(helper.make_tensor_value_info(name, dtype, None))

    def gives_sequence(self, *names, dtype=FLOAT):
        for name in names:
            self.outputs.append(helper.make_value_info(name, sequence_type(None, dtype)))

    def draw(self, rng):
        return {name: draw(rng) for name, draw in self.draws.items()}


def probe(function):
    PROBES[function.__name__] = function
    return function


def loop(net, trip, states, body, outputs):
    """A Loop: `states` are names; `body` makes nodes in a Net and gives the next names."""
    inner = Net(opset=21)
    formals = [f"state{k}_{len(net.nodes)}" for k in range(len(states))]
    results = body(inner, f"round_{len(net.nodes)}", *formals)
    go_on = inner.op("Identity", f"go_on_{len(net.nodes)}", name=f"still_{len(net.nodes)}")
    inputs = [helper.make_tensor_value_info(f"round_{len(net.nodes)}", INT64, []),
              helper.make_tensor_value_info(f"go_on_{len(net.nodes)}", BOOL, [])]
    inputs += [helper.make_value_info(formal, sequence_type(None)) for formal in formals]
    outs = [helper.make_tensor_value_info(go_on, BOOL, [])]
    outs += [helper.make_value_info(result, sequence_type(None)) for result in results]
    graph = helper.make_graph(inner.nodes, "body", inputs, outs, inner.weights)
    return net.op("Loop", trip, "", *states, outputs=outputs, body=graph)


@probe
def folded(net, seed):
    """Everything is known as the model is read: no sequence is left."""
    x, y = net.tensor("x", 2, 3), net.tensor("y", 4)
    items = net.op("SequenceConstruct", x, y, net.op("Relu", x))
    items = net.op("SequenceInsert", items, net.op("Neg", y), net.const(-1))
    items = net.op("SequenceErase", items, net.const(0))
    net.gives(net.op("SequenceAt", items, net.const(1)), net.op("SequenceAt", items, net.const(-1)))
    net.gives(net.op("SequenceLength", items), dtype=INT64)


@probe
def changed(net, seed):
    """Items of one size: inserted, erased and read at positions of the run."""
    s, x = net.sequence("s", -2), net.tensor("x", 2, 3)
    into, out, at = net.number("into", 0, 1), net.number("out", -1, 0), net.number("at", -1, 0)
    grown = net.op("SequenceInsert", s, x, into)
    shrunk = net.op("SequenceErase", grown, out)
    net.gives_sequence(grown, shrunk)
    net.gives(net.op("SequenceAt", shrunk, at))
    net.gives(net.op("SequenceLength", shrunk), dtype=INT64)
    net.refused = [(lambda a: a.update(at=np.array(9)), VALUE),
                   (lambda a: a.update(out=np.array(-9)), VALUE),
                   (lambda a: a.update(s=a["s"] + [a["x"]] * 5), DIM),
                   (lambda a: a.update(s=[a["x"][:1]]), DIM)]


@probe
def varied(net, seed):
    """The same of items whose first axis varies."""
    s, x = net.sequence("s", 4), net.tensor("x", 2, 3)
    into, at = net.number("into", 0, 1), net.number("at", -1, 0)
    grown = net.op("SequenceInsert", s, x, into)
    net.gives_sequence(grown, net.op("SequenceErase", grown))
    net.gives(net.op("Relu", net.op("SequenceAt", grown, at)))
    net.refused = [(lambda a: a.update(at=np.array(9)), VALUE),
                   (lambda a: a.update(s=[np.zeros((5, 3), np.float32)]), DIM)]


@probe
def joined(net, seed):
    s = net.sequence("s", 4)
    net.gives(net.op("ConcatFromSequence", s, axis=0))
    t = net.sequence("t", -2)
    net.gives(net.op("ConcatFromSequence", t, axis=1),
              net.op("ConcatFromSequence", t, axis=-1, new_axis=1))


@probe
def parted(net, seed):
    x = net.tensor("x", 6, 5)
    one = net.op("SplitToSequence", x, net.const(4), axis=1)
    net.gives(net.op("SequenceAt", one, net.const(0)), net.op("SequenceAt", one, net.const(-1)))
    rows = net.op("SplitToSequence", x, axis=0, keepdims=0)
    net.gives_sequence(one, rows)
    net.gives(net.op("SequenceAt", rows, net.number("at", -6, 5)))
    listed = net.op("SplitToSequence", x, net.const([1, 3, 2]), axis=0)
    net.gives(net.op("SequenceAt", listed, net.const(1)))


@probe
def ranks(net, seed):
    """Items of different ranks, which only the caller can take apart."""
    net.gives_sequence(net.op("SequenceConstruct", net.tensor("x", 2, 3), net.tensor("y", 4),
                              net.tensor("z")))


@probe
def grown(net, seed):
    """A loop that fills a sequence, as often as the run says."""
    x = net.tensor("x", 4)
    empty = net.op("SequenceEmpty", dtype=FLOAT)

    def body(inner, number, state):
        scaled = inner.op("Mul", x, inner.op("Cast", number, to=FLOAT, name="as_float"),
                          name="scaled")
        return [inner.op("SequenceInsert", state, scaled, name="next_state")]
    result = loop(net, net.number("trip", 0, 6), [empty], body, 1)
    net.gives_sequence(result)
    net.gives(net.op("SequenceLength", result), dtype=INT64)
    net.flags += [f"--max-items={result}=6"]
    net.refused = [(lambda a: a.update(trip=np.array(7)), VALUE)]


@probe
def chosen(net, seed):
    """Branches that give sequences of other lengths and sizes."""
    cond, x, y = net.flag("c"), net.tensor("x", 2, 3), net.tensor("y", 3, 3)
    first, second = Net(opset=21), Net(opset=21)
    first.op("SequenceConstruct", x, x, y, name="first")
    second.op("SequenceConstruct", y, name="second")
    branches = {f"{which}_branch": helper.make_graph(
        inner.nodes, which, [], [helper.make_value_info(name, sequence_type(None))])
        for which, inner, name in (("then", first, "first"), ("else", second, "second"))}
    items = net.op("If", cond, **branches)
    net.gives_sequence(items)
    net.gives(net.op("SequenceAt", items, net.const(-1)))
    net.gives(net.op("SequenceLength", items), dtype=INT64)


@probe
def optional(net, seed):
    """An optional through a branch."""
    cond, x = net.flag("c"), net.tensor("x", 3)
    kind = helper.make_tensor_type_proto(FLOAT, [3])
    whole = helper.make_optional_type_proto(kind)
    some, none = Net(opset=21), Net(opset=21)
    some.op("Optional", x, name="some")
    none.op("Optional", name="none", type=kind)
    branches = {f"{which}_branch": helper.make_graph(
        inner.nodes, which, [], [helper.make_value_info(name, whole)])
        for which, inner, name in (("then", some, "some"), ("else", none, "none"))}
    value = net.op("If", cond, **branches)
    has = net.op("OptionalHasElement", value)
    net.gives(has, dtype=BOOL)
    got, other = Net(opset=21), Net(opset=21)
    got.op("OptionalGetElement", value, name="got")
    other.op("Neg", x, name="other")
    branches = {f"{which}_branch": helper.make_graph(
        inner.nodes, which, [], [helper.make_tensor_value_info(name, FLOAT, [3])])
        for which, inner, name in (("then", got, "got"), ("else", other, "other"))}
    net.gives(net.op("If", has, **branches))


@probe
def mapped(net, seed):
    """SequenceMap over items of one size."""
    s, x = net.sequence("s", -2), net.tensor("x", 3)
    inner = Net(opset=21)
    inner.op("Add", "item", "other", name="sum")
    inner.op("Transpose", "sum", name="turned", perm=[1, 0])
    body = helper.make_graph(
        inner.nodes, "body",
        [helper.make_tensor_value_info("item", FLOAT, [2, 3]),
         helper.make_tensor_value_info("other", FLOAT, [3])],
        [helper.make_tensor_value_info("sum", FLOAT, [2, 3]),
         helper.make_tensor_value_info("turned", FLOAT, [3, 2])])
    first, second = net.op("SequenceMap", s, x, outputs=2, body=body)
    net.gives_sequence(first, second)


def chain(net, seed):
    """A random chain of operators."""
    rng = np.random.default_rng(seed)
    fixed = rng.random() < 0.5
    names, lengths = [net.sequence("s", -2 if fixed else 4, most=4, least=2)], [2]  # at least
    tensors = [net.tensor("x", 2, 3)]
    for step in range(rng.integers(3, 8)):
        kind = rng.choice(["insert", "erase", "at", "construct", "split"])
        which = rng.integers(len(names))
        name, length = names[which], lengths[which]
        if kind == "insert":
            length += 1
            at = net.number(f"p{step}", 0, 1)
            names.append(net.op("SequenceInsert", name, tensors[rng.integers(len(tensors))], at))
        elif kind == "erase" and length > 1:
            length -= 1
            names.append(net.op("SequenceErase", name, net.const(0)))
        elif kind == "at":
            at = net.number(f"p{step}", -1, 0)
            tensors.append(net.op("Neg", net.op("SequenceAt", name, at)))
        elif kind == "construct":
            chosen_ones = [tensors[k] for k in rng.integers(len(tensors), size=2)]
            names.append(net.op("SequenceConstruct", *chosen_ones, "x"))
            length = 3
        else:
            names.append(net.op("SplitToSequence", "x", net.const(rng.integers(1, 3)), axis=0))
            length = 1
        lengths += [length] * (len(names) - len(lengths))
    net.gives_sequence(*names[1:])
    net.gives(*tensors[1:])
    net.gives(net.op("SequenceLength", names[-1]), dtype=INT64)
    if len(names) == 1:
        net.gives(net.op("ConcatFromSequence", names[0], axis=0))


for number in range(40):
    PROBES[f"chain{number}"] = lambda net, seed, number=number: chain(net, seed * 1000 + number)
