"""Broken functions, subgraphs, attributes, versions and dims."""
import numpy as np
from onnx import AttributeProto, TensorProto, helper, numpy_helper

from broken_base import case, make_model, tensor, write

LOCAL = helper.make_opsetid("local", 1)
IMPORTS = [helper.make_opsetid("", 17), LOCAL]


def relu_function(name="F", inputs=("a",), outputs=("b",), body=None):
    body = body or [helper.make_node("Relu", ["a"], ["b"])]
    return helper.make_function("local", name, list(inputs), list(outputs), body, IMPORTS)


def write_call(folder, functions, inputs=("x",), outputs=("y",), **attributes):
    node = helper.make_node("F", list(inputs), list(outputs), name="call", domain="local",
                            **attributes)
    model = make_model([node], functions=functions)
    model.opset_import.append(LOCAL)
    write(folder, model)


@case("calls itself")
def functions_that_call_each_other(folder):
    def caller(name, other):
        return relu_function(name, body=[helper.make_node(other, ["a"], ["b"], domain="local")])

    write_call(folder, [caller("F", "G"), caller("G", "F")])


@case("node 'call'")
def function_called_with_too_many_inputs(folder):
    write_call(folder, [relu_function()], inputs=("x", "x", "x"))


@case("node 'call'")
def function_called_for_too_many_outputs(folder):
    write_call(folder, [relu_function()], outputs=("y", "z"))


@case("node 'call'")
def function_output_not_defined(folder):
    write_call(folder, [relu_function(outputs=("c",))])


@case("node 'call/b'", hint=False)
def function_input_left_out(folder):
    write_call(folder, [relu_function(inputs=("a", "d"), body=[
        helper.make_node("Add", ["a", "d"], ["b"])])])


@case("node 'call'")
def function_inputs_of_one_name(folder):
    write_call(folder, [relu_function(inputs=("a", "a"))], inputs=("x", "x"))


@case("function 'local.F'")
def function_defined_twice(folder):
    write_call(folder, [relu_function(), relu_function()])


@case("node 'call/b'")
def function_without_opset(folder):
    function = relu_function()
    del function.opset_import[:]
    node = helper.make_node("F", ["x"], ["y"], name="call", domain="local")
    model = make_model([node], functions=[function], opset=0)
    model.opset_import.append(LOCAL)
    write(folder, model)


def write_if(folder, **branches):
    node = helper.make_node("If", ["c"], ["y"], name="if1", **branches)
    write(folder, make_model([node], [tensor("x"), tensor("c", (), TensorProto.BOOL)]))


def branch(nodes, output="r", inputs=()):
    return helper.make_graph(nodes, "branch", [tensor(name) for name in inputs], [tensor(output)])


RELU = [helper.make_node("Relu", ["x"], ["r"])]


@case("node 'if1'")
def if_without_branches(folder):
    write_if(folder)


@case("node 'if1'")
def if_without_else(folder):
    write_if(folder, then_branch=branch(RELU))


@case("node 'if1'")
def if_with_numbers_for_branches(folder):
    write_if(folder, then_branch=1, else_branch=2)


@case("node 'if1'")
def if_whose_branch_defines_a_value_twice(folder):
    twice = [helper.make_node("Relu", ["x"], ["r"]), helper.make_node("Neg", ["x"], ["r"])]
    write_if(folder, then_branch=branch(twice), else_branch=branch(RELU))


@case("node 'if1'")
def if_whose_branch_lacks_its_output(folder):
    write_if(folder, then_branch=branch(RELU, output="nowhere"), else_branch=branch(RELU))


@case("node 'if1'")
def if_whose_branches_take_inputs(folder):
    write_if(folder, then_branch=branch(RELU, inputs=("p", "q")), else_branch=branch(RELU))


def write_loop(folder, inputs, outputs):
    nodes = [helper.make_node("Relu", ["state"], ["next"]),
             helper.make_node("Identity", ["go"], ["again"])]
    body = helper.make_graph(nodes, "body", inputs, outputs)
    node = helper.make_node("Loop", ["n", "", "x"], ["y"], name="loop1", body=body)
    write(folder, make_model([node], [tensor("x"), tensor("n", (), TensorProto.INT64)]))


STEP, GO = tensor("i", (), TensorProto.INT64), tensor("go", (), TensorProto.BOOL)


@case("node 'loop1'")
def loop_body_with_too_few_inputs(folder):
    write_loop(folder, [STEP, GO], [tensor("again", (), TensorProto.BOOL), tensor("next")])


@case("node 'loop1'")
def loop_body_with_too_many_outputs(folder):
    outputs = [tensor("again", (), TensorProto.BOOL), *[tensor("next")] * 4]
    write_loop(folder, [STEP, GO, tensor("state")], outputs)


@case("node 'loop1'")
def loop_body_with_inputs_of_one_name(folder):
    write_loop(folder, [STEP, GO, tensor("state"), tensor("state")],
               [tensor("again", (), TensorProto.BOOL), tensor("next")])


def write_leaky(folder, *attributes):
    node = helper.make_node("LeakyRelu", ["x"], ["y"], name="leaky1")
    node.attribute.extend(attributes)
    write(folder, make_model([node]))


@case("node 'leaky1'")
def attribute_of_another_kind(folder):
    write_leaky(folder, helper.make_attribute("alpha", [1, 2]))


@case("node 'leaky1'")
def attribute_given_twice(folder):
    write_leaky(folder, helper.make_attribute("alpha", 0.1), helper.make_attribute("alpha", 0.2))


@case("node 'leaky1'")
def attribute_of_a_function_outside(folder):
    """A reference to an attribute where no function is: it is left out, and what is left is bad."""
    reference = AttributeProto(name="alpha", ref_attr_name="slope", type=AttributeProto.INT)
    write_leaky(folder, reference, helper.make_attribute("alpha", 0.1))


@case("node 'leaky1'")
def attribute_with_a_type(folder):
    kind = helper.make_tensor_type_proto(TensorProto.FLOAT, [1])
    write_leaky(folder, helper.make_attribute("odd", kind))


def write_shaped(folder, node, shape):
    shape = numpy_helper.from_array(np.array(shape, np.int64), "shape")
    write(folder, make_model([node], initializers=[shape]))


@case("node 'expand1'", hint=False)
def expand_overflows(folder):
    write_shaped(folder, helper.make_node("Expand", ["x", "shape"], ["y"], name="expand1"),
                 [2**31, 2**31, 2, 3])


@case("node 'fill1'", hint=False)
def fill_overflows(folder):
    write_shaped(folder, helper.make_node("ConstantOfShape", ["shape"], ["y"], name="fill1"),
                 [2**40, 2**40])


@case("node 'reshape1'", hint=False)
def reshape_overflows(folder):
    write_shaped(folder, helper.make_node("Reshape", ["x", "shape"], ["y"], name="reshape1"),
                 [2**62, 2**62, 6])


@case("node 'tile1'", hint=False)
def tile_overflows(folder):
    write_shaped(folder, helper.make_node("Tile", ["x", "shape"], ["y"], name="tile1"),
                 [2**62, 2**62])


@case("node 'pad1'", hint=False)
def pad_overflows(folder):
    write_shaped(folder, helper.make_node("Pad", ["x", "shape"], ["y"], name="pad1"),
                 [2**62, 2**62, 2**62, 2**62])


def write_relu(folder, opset=17, ir_version=8, dims=(2, 3)):
    model = make_model([helper.make_node("Relu", ["x"], ["y"], name="relu1")],
                       [tensor("x", dims)], [tensor("y", dims)])
    model.opset_import[0].version = opset
    model.ir_version = ir_version
    write(folder, model)


@case("node 'relu1'")
def opset_absurd(folder):
    write_relu(folder, opset=2**62)


@case("node 'relu1'")
def opset_negative(folder):
    write_relu(folder, opset=-17)


@case("opset 13 and opset 17")
def opset_stated_twice(folder):
    model = make_model([helper.make_node("Relu", ["x"], ["y"], name="relu1")], opset=13)
    model.opset_import.append(helper.make_opsetid("ai.onnx", 17))
    write(folder, model)


@case("ir_version 1099511627776")
def ir_version_absurd(folder):
    write_relu(folder, ir_version=2**40)


@case("ir_version -3")
def ir_version_negative(folder):
    write_relu(folder, ir_version=-3)


@case("dim '(((('")
def dim_of_brackets(folder):
    write_relu(folder, dims=("((((", 3))


@case("dim '1/0'")
def dim_divided_by_zero(folder):
    write_relu(folder, dims=("1/0", 3))


@case("dim 'n*99999999999999'")
def dim_with_a_huge_factor(folder):
    write_relu(folder, dims=("n*99999999999999", 3))


@case("input 'x'", flags=("--dim", "n=1..8"))
def dim_that_overflows(folder):
    write_relu(folder, dims=("n*2147483647*2147483647*2147483647", 3))


@case("input 'x'", flags=("--dim", "n=1..8"))
def dim_that_is_negative(folder):
    write_relu(folder, dims=("3 - n*4", 3))


@case("input 'x', axis 0", flags=("--dim", "n=1..8", "--dim", "x:0=7"))
def dim_that_is_no_multiple(folder):
    write_relu(folder, dims=("n*2", 3))


@case("dim 'n // (m - m)'", flags=("--dim", "n=1..8"))
def dim_divided_by_a_hidden_zero(folder):
    write_relu(folder, dims=("n // (m - m)", "n"))


@case("dim ", flags=("--dim", "n=1..8"))
def dim_of_minus_signs(folder):
    write_relu(folder, dims=("-" * 3000 + "n", "n"))


@case("dim ")
def dim_of_a_million_letters(folder):
    write_relu(folder, dims=("n" * 1000000, 3))
