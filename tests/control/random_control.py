"""Random graphs of a few float ops with If, Loop and Scan at random places, nested.

    case = random_case(seed=1, number=17)      # a Case of control_cases.py
"""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

from control_cases import Case

DIMS = ["n", 4]
UNARY = ("Sin", "Cos", "Tanh", "Neg", "Abs", "Sigmoid", "Identity")
BINARY = ("Add", "Sub", "Mul", "Min", "Max")
MOST_DEPTH = 3


def info(name, dtype=TensorProto.FLOAT, dims=DIMS):
    return helper.make_tensor_value_info(name, dtype, dims)


class Writer:
    """Draws nodes; values are names of tensors of one shape, a scope is a list of them."""

    def __init__(self, random):
        self.random = random
        self.count = 0
        self.flags = ["c0", "c1", "c2"]
        self.counts = ["m0", "m1"]
        self.of_two_ranks = 0  # Ifs so far, what follows which is compiled twice

    def name(self):
        self.count += 1
        return f"v{self.count}"

    def pick(self, values):
        return values[int(self.random.integers(len(values)))]

    def chance(self, share):
        return self.random.random() < share

    def node(self, op, inputs, nodes, outputs=None, **attributes):
        outputs = outputs or [self.name()]
        nodes.append(helper.make_node(op, inputs, outputs, name=f"node_{outputs[0]}", **attributes))
        return outputs

    def block(self, seen, depth):
        """Nodes over the values in `seen` and their results."""
        nodes, values = [], []
        for _ in range(int(self.random.integers(1, 5))):
            known = seen + values
            if depth < MOST_DEPTH and self.chance(0.35):
                make = self.pick((self.branch, self.branch, self.loop, self.loop, self.scan))
                values += make(known, nodes, depth)
            elif self.of_two_ranks < 2 and self.chance(0.05):
                values += self.two_ranks(known, nodes)
            elif self.chance(0.3):
                values += self.pattern(self.pick(known), nodes)
            elif self.chance(0.5):
                values += self.node(self.pick(UNARY), [self.pick(known)], nodes)
            else:
                values += self.node(self.pick(BINARY), [self.pick(known), self.pick(known)], nodes)
        return nodes, values

    def pattern(self, value, nodes):
        """What passes rewrite: products, a softmax, moves there and back, a normalisation."""
        kind = int(self.random.integers(0, 5))
        if kind == 0:
            product = self.node("MatMul", [value, self.pick(["w0", "w1"])], nodes)[0]
            return self.node("Add", [product, "bias"], nodes)
        if kind == 1:
            return self.node("Softmax", [value], nodes, axis=int(self.random.integers(0, 2)))
        if kind == 2:
            turned = self.node("Transpose", [value], nodes, perm=[1, 0])[0]
            return self.node("Transpose", self.node("Sin", [turned], nodes), nodes, perm=[1, 0])
        if kind == 3:
            cut = self.node("Reshape", [value, "halves"], nodes)[0]
            return self.node("Reshape", [*self.node("Neg", [cut], nodes), "whole"], nodes)
        mean = self.node("ReduceMean", [value], nodes, axes=[1], keepdims=1)[0]
        rest = self.node("Sub", [value, mean], nodes)[0]
        square = self.node("Mul", [rest, rest], nodes)[0]
        spread = self.node("ReduceMean", [square], nodes, axes=[1], keepdims=1)[0]
        root = self.node("Sqrt", self.node("Add", [spread, "little"], nodes), nodes)[0]
        return self.node("Div", [rest, root], nodes)

    def two_ranks(self, known, nodes):
        """A value, or its greatest row or element, added to another value."""
        self.of_two_ranks += 1
        value, row = self.pick(known), self.chance(0.5)
        greatest, kept = [], []
        axes = {"axes": [0]} if row else {}
        small = self.node("ReduceMax", [value], greatest, keepdims=0, **axes)
        whole = self.node("Neg", [value], kept)
        graphs = [helper.make_graph(greatest, f"graph{self.count}", [],
                                    [info(small[0], dims=[4] if row else [])]),
                  helper.make_graph(kept, f"graph{self.count}_whole", [], [info(whole[0])])]
        then, other = graphs if self.chance(0.5) else reversed(graphs)
        chosen = self.node("If", [self.condition(known, nodes)], nodes, then_branch=then,
                           else_branch=other)
        return self.node("Add", [*chosen, self.pick(known)], nodes)

    def condition(self, known, nodes):
        """A bool that an input gives, or one that data gives."""
        if self.chance(0.6):
            return self.pick(self.flags)
        total = self.node("ReduceMean", [self.pick(known)], nodes, keepdims=0)[0]
        return self.node("Less", [total, "limit"], nodes)[0]

    def graph(self, known, depth, results, inputs=(), begin=None):
        """A subgraph with `results` float outputs; now and then one is a value from outside, or one
        twice. `begin` adds nodes over inputs of other shapes and returns what they give."""
        nodes = []
        seen = known + [i.name for i in inputs if i.name.startswith("v")]
        seen = seen + (begin(seen, nodes) if begin else [])
        more, values = self.block(seen, depth)
        nodes += more
        choice = values if self.chance(0.7) else values + seen
        outputs = [self.node("Identity", [self.pick(choice)], nodes)[0] for _ in range(results)]
        infos = [info(name) for name in outputs]
        return helper.make_graph(nodes, f"graph{self.count}", list(inputs), infos)

    def branch(self, known, nodes, depth):
        results = int(self.random.integers(1, 4))
        then, other = (self.graph(known, depth + 1, results) for _ in range(2))
        return self.node("If", [self.condition(known, nodes)], nodes,
                         [self.name() for _ in range(results)], then_branch=then, else_branch=other)

    def loop(self, known, nodes, depth):
        """With a break, with a first condition, or with a known count and a stacked value."""
        states, stacks = int(self.random.integers(1, 4)), self.chance(0.3)
        step, go = f"i{self.count}", f"g{self.count}"
        inputs = [info(step, TensorProto.INT64, []), info(go, TensorProto.BOOL, []),
                  *[info(self.name()) for _ in range(states)]]
        body = self.graph(known, depth + 1, states + stacks, inputs)
        own = list(body.node)
        breaks = not stacks and self.chance(0.4)
        source = self.condition([o.name for o in body.output], own) if breaks else go
        again = self.node("Identity", [source], own)[0]
        body = helper.make_graph(own, body.name, inputs,
                                 [info(again, TensorProto.BOOL, []), *body.output])
        count = "three" if stacks else self.pick([*self.counts, "three"])
        first = self.condition(known, nodes) if not stacks and self.chance(0.3) else ""
        results = self.node("Loop", [count, first, *[self.pick(known) for _ in range(states)]],
                            nodes, [self.name() for _ in range(states + stacks)], body=body)
        if stacks:
            results += self.node("ReduceMean", [results.pop()], nodes, axes=[0], keepdims=0)
        return results

    def scan(self, known, nodes, depth):
        """Over the rows or the columns of one or two values; gives one of their shape."""
        axis, states = int(self.random.integers(0, 2)), int(self.random.integers(0, 3))
        count = int(self.random.integers(1, 3))
        items = [f"e{self.count}_{i}" for i in range(count)]
        inputs = [*[info(self.name()) for _ in range(states)],
                  *[info(item, dims=[DIMS[1 - axis]]) for item in items]]

        def begin(seen, body):
            places = [self.node("Unsqueeze", [item, f"axis{axis}"], body)[0] for item in items]
            return [self.node("Add", [place, self.pick(seen)], body)[0] for place in places]

        body = self.graph(known, depth + 1, states + 1, inputs, begin)
        own = list(body.node)
        row = self.node("ReduceMean", [body.output[states].name], own, axes=[axis], keepdims=0)[0]
        body = helper.make_graph(own, body.name, inputs, [*body.output[:states],
                                                          info(row, dims=[DIMS[1 - axis]])])
        turn = [int(self.random.integers(0, 2)) for _ in range(count + 1)]
        return self.node("Scan", [self.pick(known) for _ in range(states + count)], nodes,
                         [self.name() for _ in range(states + 1)], body=body,
                         num_scan_inputs=count, scan_input_axes=[axis] * count,
                         scan_output_axes=[axis], scan_input_directions=turn[1:],
                         scan_output_directions=turn[:1])


def random_case(seed, number):
    random = np.random.default_rng([seed, number])
    writer = Writer(random)
    nodes, values = [], ["x0", "x1"]
    while not any(node.op_type in ("If", "Loop", "Scan") for node in nodes):
        more, made = writer.block(values, 0)
        nodes, values = nodes + more, values + made
    results = sorted({writer.pick(values[2:]) for _ in range(3)} | {values[-1]})
    weights = [numpy_helper.from_array(random.uniform(-0.5, 0.5, dims).astype("f4"), name)
               for name, dims in (("w0", (4, 4)), ("w1", (4, 4)), ("bias", (4,)))]
    constants = [*weights, helper.make_tensor("little", TensorProto.FLOAT, [], [0.1]),
                 helper.make_tensor("halves", TensorProto.INT64, [3], [-1, 2, 2]),
                 helper.make_tensor("whole", TensorProto.INT64, [2], [-1, 4]),
                 helper.make_tensor("limit", TensorProto.FLOAT, [], [0.2]),
                 helper.make_tensor("three", TensorProto.INT64, [], [3]),
                 *[helper.make_tensor(f"axis{i}", TensorProto.INT64, [1], [i]) for i in (0, 1)]]
    inputs = [info("x0"), info("x1"), *[info(c, TensorProto.BOOL, []) for c in writer.flags],
              *[info(m, TensorProto.INT64, []) for m in writer.counts]]
    graph = helper.make_graph(nodes, f"random_{seed}_{number}", inputs, [info(r) for r in results],
                              constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    runs = []
    for size in (1, 4, 3):
        run = {x: random.uniform(-1, 1, (size, 4)).astype("f4") for x in ("x0", "x1")}
        run.update({c: np.array(random.random() < 0.5) for c in writer.flags})
        run.update({m: np.array(int(random.integers(0, 4)), "i8") for m in writer.counts})
        runs.append(run)
    return Case(f"random_{seed}_{number}", model, runs)
