"""Broken models that hand-written exporters make: attributes without a kind, inputs without a type,
nodes without an op, deep nesting, outputs that are there already; and models beyond a limit."""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

from broken_base import case, make_model, tensor, write
from broken_graphs import message
from broken_nesting import IMPORTS, LOCAL, relu_function

DEEPER = 70  # than subgraphs and functions may nest

@case("'activations' is of kind INTS")
def attribute_of_unstated_kind(folder):
    """The field that is set gives its kind."""
    node = helper.make_node("RNN", ["x", "w", "r"], ["", "y"], name="a", hidden_size=4)
    attribute = helper.make_attribute("activations", [1])
    attribute.ClearField("type")
    node.attribute.append(attribute)
    inputs = [tensor("x", (2, 1, 3)), tensor("w", (1, 4, 3)), tensor("r", (1, 4, 4))]
    write(folder, make_model([node], inputs))


@case("input 0 is missing")
def old_op_of_an_empty_name(folder):
    write(folder, make_model([helper.make_node("Clip", [""], ["y"], name="a")], opset=6))


@case("needs scales")
def old_resize_of_an_empty_name(folder):
    write(folder, make_model([helper.make_node("Resize", ["x", ""], ["y"], name="a")], opset=10))


@case("node 'a'")
def node_without_op_type(folder):
    node = helper.make_node("Relu", ["x"], ["y"], name="a")
    node.ClearField("op_type")
    write(folder, make_model([node]))


@case("input 'x'")
def input_without_type(folder):
    info = tensor("x")
    info.ClearField("type")
    write(folder, make_model([helper.make_node("Relu", ["x"], ["y"], name="a")], [info]))


@case("node 'a'")
def op_gives_an_input(folder):
    nodes = [helper.make_node("Relu", ["x"], ["w"], name="a"),
             helper.make_node("Neg", ["x"], ["y"], name="b")]
    write(folder, make_model(nodes, [tensor("x"), tensor("w")]))


@case("node 'a'")
def function_gives_an_input(folder):
    nodes = [helper.make_node("F", ["x"], ["w"], name="a", domain="local"),
             helper.make_node("Neg", ["x"], ["y"], name="b")]
    model = make_model(nodes, [tensor("x"), tensor("w")], functions=[relu_function()])
    model.opset_import.append(LOCAL)
    write(folder, model)


@case("node 'a'")
def function_default_damaged(folder):
    """Field 11 of a function are its attributes with defaults."""
    node = helper.make_node("F", ["x"], ["y"], name="a", domain="local")
    model = make_model([node])
    model.opset_import.append(LOCAL)
    function = relu_function().SerializeToString() + message(11, b"\xff")
    (folder / "model.onnx").write_bytes(model.SerializeToString() + message(25, function))


@case("F64")
def functions_nested_deeply(folder):
    def body(depth):
        if depth == DEEPER:
            return [helper.make_node("Relu", ["a"], ["b"])]
        return [helper.make_node(f"F{depth + 1}", ["a"], ["b"], domain="local")]

    functions = [helper.make_function("local", f"F{depth}", ["a"], ["b"], body(depth), IMPORTS)
                 for depth in range(DEEPER + 1)]
    node = helper.make_node("F0", ["x"], ["y"], name="a", domain="local")
    model = make_model([node], functions=functions)
    model.opset_import.append(LOCAL)
    write(folder, model)


def graph_bytes(nodes, inputs=(), outputs=()):
    """By hand, for Python's own limit of nesting."""
    infos = [message(11, message(1, name)) for name in inputs]
    infos += [message(12, message(1, name)) for name in outputs]
    return b"".join([message(1, node) for node in nodes] + infos)


def node_bytes(op, inputs, outputs, **graphs):
    attributes = [message(5, message(1, name.encode()) + message(6, graph) + b"\xa0\x01\x05")
                  for name, graph in graphs.items()]
    texts = [message(1, name) for name in inputs] + [message(2, name) for name in outputs]
    return b"".join(texts + [message(4, op)] + attributes)


def write_nodes(folder, *nodes):
    """These are the nodes of a model with the inputs x and c."""
    model = make_model([], [tensor("x"), tensor("c", (), TensorProto.BOOL)])
    (folder / "model.onnx").write_bytes(model.SerializeToString() + message(7, graph_bytes(nodes)))


@case("nested too deeply")
def subgraphs_nested_deeply(folder):
    graph = end = graph_bytes([node_bytes(b"Identity", [b"x"], [b"o"])], outputs=[b"o"])
    for _ in range(DEEPER):
        node = node_bytes(b"If", [b"c"], [b"o"], then_branch=graph, else_branch=end)
        graph = graph_bytes([node], outputs=[b"o"])
    write_nodes(folder, node_bytes(b"If", [b"c"], [b"y"], then_branch=graph, else_branch=end))


@case("nested too deeply")
def sequence_maps_nested_deeply(folder):
    graph = graph_bytes([node_bytes(b"Identity", [b"e"], [b"o"])], [b"e"], [b"o"])
    for _ in range(DEEPER):
        nodes = [node_bytes(b"SequenceConstruct", [b"e"], [b"s"]),
                 node_bytes(b"SequenceMap", [b"s"], [b"t"], body=graph),
                 node_bytes(b"SequenceLength", [b"t"], [b"o"])]
        graph = graph_bytes(nodes, [b"e"], [b"o"])
    write_nodes(folder, node_bytes(b"SequenceConstruct", [b"x"], [b"s"]),
                node_bytes(b"SequenceMap", [b"s"], [b"y"], body=graph))


@case("larger than 2 GiB", hint=False)
def file_of_gigabytes(folder):
    """A file with a hole: it takes no room."""
    with (folder / "model.onnx").open("wb") as file:
        file.truncate(3 << 30)


@case("--weights=incbin", flags=["--weights=array"])
def weights_too_large_for_an_array(folder):
    weight = np.random.default_rng(1).normal(size=(2300, 2048)).astype(np.float32)
    node = helper.make_node("MatMul", ["x", "w"], ["y"], name="a")
    write(folder, make_model([node], [tensor("x", (1, 2300))], [tensor("y", (1, 2048))],
                             [numpy_helper.from_array(weight, "w")]))


@case("dim of its own", flags=["--dim", "n=1..8", "--dim", "m=1..8"])
def symbols_of_a_product_alone(folder):
    write(folder, make_model([helper.make_node("Relu", ["x"], ["y"], name="a")],
                             [tensor("x", ("n*m",))], [tensor("y", ("n*m",))]))


def write_of_ml(folder, op, inputs, **attributes):
    node = helper.make_node(op, ["x"], ["y"], name="a", domain="ai.onnx.ml", **attributes)
    model = make_model([node], inputs)
    model.opset_import.append(helper.make_opsetid("ai.onnx.ml", 2))
    write(folder, model)


@case("32 classes", hint=False)
def probabilities_of_33_classes(folder):
    classes, pairs = 33, 33 * 32 // 2
    write_of_ml(folder, "SVMClassifier", [tensor("x", (2, 1))], kernel_type="LINEAR",
                classlabels_ints=range(classes), coefficients=[1.0] * (classes * (classes - 1)),
                kernel_params=[0.0, 0.0, 3.0], prob_a=[1.0] * pairs, prob_b=[0.5] * pairs,
                rho=[0.0] * pairs, support_vectors=[1.0] * classes,
                vectors_per_class=[1] * classes)


@case("too many bytes", hint=False)
def labels_of_too_many_bytes(folder):
    letters = np.random.default_rng(1).integers(33, 127, (200, 500))
    write_of_ml(folder, "LabelEncoder", [tensor("x", (2,), TensorProto.STRING)],
                keys_strings=[bytes(row.tolist()) for row in letters],
                values_int64s=range(len(letters)))
