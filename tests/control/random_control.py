"""Random graphs of a few float ops with If and Loop at random places, nested.

    case = random_case(seed=1, number=17)      # a Case of control_cases.py
"""
import numpy as np
from onnx import TensorProto, helper

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
            control = depth < MOST_DEPTH and self.chance(0.35)
            if control and self.chance(0.5):
                values += self.branch(known, nodes, depth)
            elif control:
                values += self.loop(known, nodes, depth)
            elif self.chance(0.5):
                values += self.node(self.pick(UNARY), [self.pick(known)], nodes)
            else:
                values += self.node(self.pick(BINARY), [self.pick(known), self.pick(known)], nodes)
        return nodes, values

    def condition(self, known, nodes):
        """A bool that an input gives, or one that data gives."""
        if self.chance(0.6):
            return self.pick(self.flags)
        total = self.node("ReduceMean", [self.pick(known)], nodes, keepdims=0)[0]
        return self.node("Less", [total, "limit"], nodes)[0]

    def graph(self, seen, depth, results, inputs=(), first=()):
        """A subgraph with `results` float outputs, after the outputs `first`; now and then one is a
        value from outside, or the same twice."""
        nodes, values = self.block(seen + [i.name for i in inputs if i.name.startswith("v")], depth)
        choice = values if self.chance(0.7) else values + seen
        outputs = [self.pick(choice) for _ in range(results)]
        renamed = [self.node("Identity", [output], nodes)[0] for output in outputs]
        extra, infos = [], []
        for make, dtype in first:
            extra.append(make(values, nodes))
            infos.append(info(extra[-1], dtype, []))
        infos += [info(name) for name in renamed]
        return helper.make_graph(nodes, f"graph{self.count}", list(inputs), infos)

    def branch(self, known, nodes, depth):
        results = int(self.random.integers(1, 4))
        then, other = (self.graph(known, depth + 1, results) for _ in range(2))
        return self.node("If", [self.condition(known, nodes)], nodes,
                         [self.name() for _ in range(results)], then_branch=then, else_branch=other)

    def loop(self, known, nodes, depth):
        states = int(self.random.integers(1, 4))
        step, go = f"i{self.count}", f"g{self.count}"
        inputs = [info(step, TensorProto.INT64, []), info(go, TensorProto.BOOL, []),
                  *[info(self.name()) for _ in range(states)]]
        breaks = self.chance(0.4)

        def next_condition(values, body):
            source = self.condition(values, body) if breaks else go
            return self.node("Identity", [source], body)[0]

        body = self.graph(known, depth + 1, states, inputs, [(next_condition, TensorProto.BOOL)])
        count = self.pick(self.counts + ["three"])
        first = self.condition(known, nodes) if self.chance(0.3) else ""
        return self.node("Loop", [count, first, *[self.pick(known) for _ in range(states)]], nodes,
                         [self.name() for _ in range(states)], body=body)


def random_case(seed, number):
    random = np.random.default_rng([seed, number])
    writer = Writer(random)
    nodes, values = [], ["x0", "x1"]
    while not any(node.op_type in ("If", "Loop") for node in nodes):
        more, made = writer.block(values, 0)
        nodes, values = nodes + more, values + made
    results = sorted({writer.pick(values[2:]) for _ in range(3)} | {values[-1]})
    constants = [helper.make_tensor("limit", TensorProto.FLOAT, [], [0.2]),
                 helper.make_tensor("three", TensorProto.INT64, [], [3])]
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
