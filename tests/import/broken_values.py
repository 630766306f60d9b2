"""Sound graphs whose values or sizes cannot be: constants without elements, absurd factors, dims
that a range makes negative or empty where elements are needed."""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

from broken_base import case, make_model, tensor, write

EMPTY_AT_LEAST = ("--dim", "n=0..4")


def write_node(folder, op, constants=(), dims=(2, 3), opset=21, **attributes):
    """A node `broken` of x and constants, None for one that is left out; y has no shape."""
    names = ["x"] if dims is not None else []
    for number, value in enumerate(constants):
        names.append("" if value is None else f"c{number}")
    values = [numpy_helper.from_array(np.asarray(value), f"c{number}")
              for number, value in enumerate(constants) if value is not None]
    node = helper.make_node(op, names, ["y"], name="broken", **attributes)
    output = helper.make_value_info("y", helper.make_tensor_type_proto(TensorProto.FLOAT, None))
    inputs = [tensor("x", dims if dims is not None else (1,))]
    write(folder, make_model([node], inputs, [output], values, opset=opset))


@case("node 'broken' (Range")
def range_of_nothing(folder):
    nothing = np.zeros(0, np.float32)
    write_node(folder, "Range", (nothing, nothing, nothing), dims=None)


@case("node 'broken' (Range")
def range_of_no_whole_numbers(folder):
    nothing = np.zeros(0, np.int64)
    write_node(folder, "Range", (nothing, nothing, nothing), dims=None)


@case("node 'broken' (Range")
def range_of_two_starts(folder):
    write_node(folder, "Range", (np.arange(2), np.int64(9), np.int64(1)), dims=None)


@case("node 'broken' (Dropout")
def dropout_without_a_ratio(folder):
    write_node(folder, "Dropout", (np.zeros(0, np.float32),))


@case("node 'broken' (Dropout")
def dropout_without_a_mode(folder):
    write_node(folder, "Dropout", (np.float32(0.5), np.zeros(0, bool)))


@case("node 'broken' (Resize")
def resize_to_more_than_there_is(folder):
    write_node(folder, "Resize", (None, np.array([1, 1e30], np.float32)))


@case("node 'broken' (Pad", flags=EMPTY_AT_LEAST)
def pad_that_takes_more_than_there_is(folder):
    write_node(folder, "Pad", (np.array([0, 0, -2, 0]),), dims=("n", 3))


@case("node 'broken' (Conv", flags=EMPTY_AT_LEAST)
def conv_that_is_longer_than_its_input(folder):
    write_node(folder, "Conv", (np.ones((1, 1, 3), np.float32),), dims=(1, 1, "n"))


@case("node 'broken' (Pad", flags=EMPTY_AT_LEAST)
def pad_with_an_edge_of_nothing(folder):
    write_node(folder, "Pad", (np.array([1, 0, 1, 0]),), dims=("n", 3), mode="edge")


@case("node 'broken' (Pad", flags=EMPTY_AT_LEAST)
def pad_that_wraps_nothing(folder):
    write_node(folder, "Pad", (np.array([1, 0, 1, 0]),), dims=("n", 3), mode="wrap")


@case("node 'broken' (Pad", flags=EMPTY_AT_LEAST)
def pad_that_reflects_nothing(folder):
    write_node(folder, "Pad", (np.array([1, 0, 1, 0]),), dims=("n", 3), mode="reflect")


@case("node 'broken' (Pad", flags=("--dim", "n=0"))
def pad_with_an_edge_of_exactly_nothing(folder):
    write_node(folder, "Pad", (np.array([1, 0, 1, 0]),), dims=("n", 3), mode="edge")


@case("node 'broken' (Pad")
def pad_that_reflects_what_it_drops(folder):
    write_node(folder, "Pad", (np.array([0, -3, 0, 2]),), mode="reflect")


@case("node 'broken' (Pad", flags=("--dim", "n=1..8"))
def pad_that_wraps_what_it_drops(folder):
    write_node(folder, "Pad", (np.array([3, 0, -2, 0]),), dims=("n", 3), mode="wrap")


@case("node 'broken' (Resize", flags=EMPTY_AT_LEAST)
def resize_of_nothing(folder):
    write_node(folder, "Resize", (None, None, np.array([8, 3])), dims=("n", 3), mode="linear")


@case("node 'broken' (GridSample", flags=EMPTY_AT_LEAST)
def grid_sample_of_nothing(folder):
    grid = np.zeros((1, 2, 2, 2), np.float32)
    write_node(folder, "GridSample", (grid,), dims=(1, 1, "n", 3), padding_mode="border")


@case("node 'broken' (RotaryEmbedding", flags=EMPTY_AT_LEAST)
def rotary_embedding_without_angles(folder):
    x = tensor("x", (1, 2, 2, 4))
    cos, sin = tensor("cos", ("n", 2)), tensor("sin", ("n", 2))
    places = tensor("places", (1, 2), TensorProto.INT64)
    node = helper.make_node("RotaryEmbedding", ["x", "cos", "sin", "places"], ["y"], name="broken")
    write(folder, make_model([node], [x, cos, sin, places], [tensor("y", (1, 2, 2, 4))], opset=23))


@case("terms over the symbolic dims", flags=("--dim", "n=1..9"))
def sizes_that_double_without_end(folder):
    """Each step appends every second row: its size reads that of the step before twice."""
    nodes, value = [], "x"
    for step in range(30):
        half, value, before = f"half{step}", f"all{step}", value
        nodes.append(helper.make_node("Slice", [before, "one", "far", "rows", "two"], [half]))
        nodes.append(helper.make_node("Concat", [before, half], [value], axis=0))
    constants = {"one": 1, "far": 1 << 40, "rows": 0, "two": 2}
    initializers = [numpy_helper.from_array(np.array([number]), name)
                    for name, number in constants.items()]
    write(folder, make_model(nodes, [tensor("x", ("n", 3))], [tensor(value, ("m", 3))],
                             initializers))


@case("only a run knows the size of axis 0 of 'y'", flags=("--dim", "n=1..9"))
def a_length_squared_without_end(folder):
    nodes = [helper.make_node("Shape", ["x"], ["n0"], start=0, end=1)]
    nodes += [helper.make_node("Mul", [f"n{step}", f"n{step}"], [f"n{step + 1}"])
              for step in range(40)]
    nodes += [helper.make_node("Expand", ["most", "n40"], ["y"])]
    write(folder, make_model(nodes, [tensor("x", ("n", 3))],
                             [tensor("y", ("m",), TensorProto.INT64)],
                             [numpy_helper.from_array(np.array([100]), "most")]))
