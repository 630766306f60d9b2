"""Probes of check_data_sizes.py whose sizes come of branches and loops; to be imported for them."""
import numpy as np
from onnx import TensorProto, helper

from data_net import BOOL, INT64, probe


@probe
def decided(p):
    """A shape that a branch gives."""
    flag = p.op("Greater", p.op("ReduceSum", p.data(3), keepdims=0), p.const(0, np.float32))
    which = p.drawn("n1", [], lambda rng, dims: rng.random() < 0.2, INT64)
    info = helper.make_tensor_value_info("s", INT64, [2])

    def branch(name, shapes):
        chosen = helper.make_node("Gather", [p.const(shapes), which], ["s"], axis=0)
        return helper.make_graph([chosen], name, [], [info])

    shape = p.op("If", flag, then_branch=branch("then", [[2, 6], [12, 1]]),
                 else_branch=branch("else", [[4, 3], [1, 12]]))
    flat = p.op("Reshape", p.data(12), shape, name="flat")
    p.bound(flat, 0, 4, x0=1, n1=1)
    p.output(p.bound(flat, 1, 6, x0=-1, n1=1))


def loop_body(p, x, condition, rows):
    """A body that adds x to its state, and stacks the state's negative."""
    info = helper.make_tensor_value_info
    nodes = [helper.make_node("Add", ["old", x], ["new"]),
             helper.make_node("Neg", ["new"], ["row"]), *condition]
    return helper.make_graph(
        nodes, "body", [info("i", INT64, []), info("go", BOOL, []),
                        info("old", TensorProto.FLOAT, [rows])],
        [info("go_on", BOOL, []), info("new", TensorProto.FLOAT, [rows]),
         info("row", TensorProto.FLOAT, [rows])])


@probe
def rounds(p):
    """As many rounds as flags are set, each of which adds a row."""
    x, count = p.data(3), p.count_of(p.flags(6))
    body = loop_body(p, x, [helper.make_node("Identity", ["go"], ["go_on"])], 3)
    last, stacked = p.op("Loop", count, p.const(True, bool), p.data(3), outputs=2, body=body)
    p.output(last)
    p.output(p.bound(stacked, 0, 5, f1=True))


@probe
def early(p):
    """A loop that ends before its count does, perhaps before its first round."""
    x, limit = p.data(3), p.const(2, np.float32)
    condition = [helper.make_node("ReduceMax", ["new"], ["most"], keepdims=0),
                 helper.make_node("Less", ["most", limit], ["go_on"])]
    start = p.op("Greater", p.op("ReduceSum", x, keepdims=0), p.const(-1, np.float32))
    last, stacked = p.op("Loop", p.const(7), start, p.data(3), outputs=2,
                         body=loop_body(p, x, condition, 3))
    p.output(last)
    p.output(p.op("Relu", stacked))


@probe
def joins(p):
    """What branches of different sizes give."""
    x = p.data(4, 3)
    flag = p.op("Greater", p.op("ReduceSum", x, keepdims=0), p.const(0, np.float32))
    info = helper.make_tensor_value_info

    def branch(name, nodes, rows):
        return helper.make_graph(nodes, name, [], [info(f"{name}_y", TensorProto.FLOAT, rows)])

    longer = branch("longer", [helper.make_node("Concat", [x, x], ["longer_y"], axis=0)], [8, 3])
    same = branch("same", [helper.make_node("Identity", [x], ["same_y"])], [4, 3])
    y = p.op("If", flag, then_branch=longer, else_branch=same)
    p.output(y)
    p.output(p.op("MatMul", p.op("Tanh", y), p.random(3, 5)))
