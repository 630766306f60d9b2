"""Broken graphs: nodes, names, opsets, nesting."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from broken_base import case, make_model, sound_model, tensor, write


@case("node 'a'")
def cyclic(folder):
    write(folder, make_model([helper.make_node("Add", ["x", "t2"], ["t1"], name="a"),
                              helper.make_node("Relu", ["t1"], ["t2"], name="b"),
                              helper.make_node("Relu", ["t2"], ["y"], name="c")]))


@case("node 'add1'")
def wrong_types(folder):
    write(folder, make_model([helper.make_node("Add", ["x", "n"], ["y"], name="add1")],
                             [tensor("x"), tensor("n", kind=TensorProto.INT64)]))


@case("node 'matmul1'")
def wrong_shapes(folder):
    write(folder, make_model([helper.make_node("MatMul", ["x", "z"], ["y"], name="matmul1")],
                             [tensor("x"), tensor("z", (4, 5))]))


@case("node 'conv1'")
def wrong_attribute_type(folder):
    model = sound_model()
    attribute = model.graph.node[0].attribute[0]
    attribute.CopyFrom(helper.make_attribute("pads", "all sides"))
    attribute = model.graph.node[0].attribute.add()
    attribute.CopyFrom(helper.make_attribute("strides", [0, 0]))
    write(folder, model)


@case("node 'relu1'")
def undefined_input(folder):
    write(folder, make_model([helper.make_node("Relu", ["nowhere"], ["y"], name="relu1")]))


@case("output 'y'")
def undefined_output(folder):
    write(folder, make_model([helper.make_node("Relu", ["x"], ["z"], name="relu1")]))


@case("node 'odd1' (Frobnicate")
def unknown_op(folder):
    write(folder, make_model([helper.make_node("Frobnicate", ["x"], ["y"], name="odd1")]))


@case("node 'odd1' (org.example.Frobnicate")
def unknown_domain(folder):
    write(folder, make_model(
        [helper.make_node("Frobnicate", ["x"], ["y"], name="odd1", domain="org.example")]))


@case("opset 3")
def old_opset(folder):
    tile = helper.make_node("Tile", ["x", "x", "x"], ["y"], name="tile1")
    write(folder, make_model([tile], opset=3))


@case("opset 99")
def future_opset(folder):
    write(folder, make_model([helper.make_node("Relu", ["x"], ["y"], name="relu1")], opset=99))


@case("node 'relu1'")
def no_opset(folder):
    write(folder, make_model([helper.make_node("Relu", ["x"], ["y"], name="relu1")], opset=0))


@case("'t' is defined twice, by node 'a' and by node 'b'")
def two_nodes_one_value(folder):
    write(folder, make_model([helper.make_node("Relu", ["x"], ["t"], name="a"),
                              helper.make_node("Neg", ["x"], ["t"], name="b"),
                              helper.make_node("Relu", ["t"], ["y"], name="c")]))


@case("input 'x'")
def two_inputs_one_name(folder):
    write(folder, make_model([helper.make_node("Relu", ["x"], ["y"], name="a")],
                             [tensor("x"), tensor("x", (4,))]))


@case("initializer 'w'")
def two_weights_one_name(folder):
    weight = numpy_helper.from_array(np.zeros((2, 3), np.float32), "w")
    write(folder, make_model([helper.make_node("Add", ["x", "w"], ["y"], name="add1")],
                             initializers=[weight, weight]))


@case("node 'relu1'")
def node_defines_an_input(folder):
    write(folder, make_model([helper.make_node("Relu", ["x"], ["x"], name="relu1")],
                             outputs=[tensor("x")]))


@case("(If")
def branches_of_two_ranks(folder):
    branches = {}
    for key, op in (("then_branch", "Relu"), ("else_branch", "Size")):
        node = helper.make_node(op, ["x"], [key])
        result = helper.make_empty_tensor_value_info(key)
        branches[key] = helper.make_graph([node], key, [], [result])
    choose = helper.make_node("If", ["c"], ["y"], name="choose", **branches)
    inputs = [tensor("x", (2, 3)), tensor("c", (), TensorProto.BOOL)]
    write(folder, make_model([choose], inputs, [tensor("y", (2, 3))]))


def varint(value):
    data = b""
    while value > 127:
        data += bytes([value & 127 | 128])
        value >>= 7
    return data + bytes([value])


def message(field, content):
    """A field of wire type 2, as protobuf writes it."""
    return varint(field << 3 | 2) + varint(len(content)) + content


@case("model.onnx")
def bottomless_nesting(folder):
    """Graph in attribute in node in graph, 20,000 times: by hand, for Python's own limit."""
    graph = b""
    for _ in range(20000):
        graph = message(1, message(5, message(6, graph)))
    (folder / "model.onnx").write_bytes(b"\x08\x08" + message(7, graph))


@case("input 'x'")
def bottomless_type(folder):
    kind = onnx.TypeProto()
    kind.tensor_type.elem_type = TensorProto.FLOAT
    for _ in range(40):
        outer = onnx.TypeProto()
        outer.sequence_type.elem_type.CopyFrom(kind)
        kind = outer
    info = helper.make_value_info("x", kind)
    write(folder, make_model([helper.make_node("Identity", ["x"], ["y"], name="a")], [info]))


@case("calls itself")
def recursive_function(folder):
    body = [helper.make_node("Loop2", ["a"], ["b"], name="again", domain="local")]
    function = helper.make_function("local", "Loop2", ["a"], ["b"], body,
                                    [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)])
    model = make_model([helper.make_node("Loop2", ["x"], ["y"], name="call", domain="local")],
                       functions=[function])
    model.opset_import.append(helper.make_opsetid("local", 1))
    write(folder, model)


@case("too many nodes")
def exploding_functions(folder):
    """Each of 30 functions calls the next twice."""
    functions = []
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)]
    for level in range(30):
        inner, domain = (f"F{level + 1}", "local") if level < 29 else ("Relu", "")
        body = [helper.make_node(inner, ["a"], ["m"], domain=domain),
                helper.make_node(inner, ["m"], ["b"], domain=domain)]
        functions.append(helper.make_function("local", f"F{level}", ["a"], ["b"], body, imports))
    model = make_model([helper.make_node("F0", ["x"], ["y"], name="call", domain="local")],
                       functions=functions)
    model.opset_import.append(helper.make_opsetid("local", 1))
    write(folder, model)


@case("dim 'batch'")
def symbol_without_bound(folder):
    write(folder, make_model([helper.make_node("Relu", ["x"], ["y"], name="a")],
                             [tensor("x", ("batch", 3))], [tensor("y", ("batch", 3))]))


@case("input 'x'")
def input_without_shape(folder):
    info = helper.make_tensor_value_info("x", TensorProto.FLOAT, None)
    write(folder, make_model([helper.make_node("Relu", ["x"], ["y"], name="a")], [info]))


@case("rank is above 8")
def rank_too_high(folder):
    write(folder, make_model([helper.make_node("Relu", ["x"], ["y"], name="a")],
                             [tensor("x", (1,) * 9)], [tensor("y", (1,) * 9)]))
