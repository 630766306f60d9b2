"""Models of which onnxruntime's integer sums are exact on every processor.

    model = exact_sums.of(onnx.load(path))

Where a processor has AVX2 and no VNNI, onnxruntime multiplies u8 by s8 with an instruction that
saturates the sum of two products at 16 bits. With weights of u8 and a zero point 128 greater, which
is the same number, it takes another one.
"""
from onnx import TensorProto, helper

OPERANDS = {"QLinearConv": (0, 3, 5), "QLinearMatMul": (0, 3, 5), "ConvInteger": (0, 1, 3),
            "MatMulInteger": (0, 1, 3)}  # activations, weights and their zero point


def element_types(graph):
    """Of inputs, initializers and what QuantizeLinear and these operators give, as far as known."""
    types = {value.name: value.type.tensor_type.elem_type
             for value in (*graph.input, *graph.value_info, *graph.output)}
    types.update((tensor.name, tensor.data_type) for tensor in graph.initializer)
    for node in graph.node:
        if node.op_type in ("QuantizeLinear", "DynamicQuantizeLinear"):
            zero = node.input[2] if len(node.input) > 2 else ""
            types[node.output[0]] = types.get(zero, TensorProto.UINT8)
        elif node.op_type in ("QLinearConv", "QLinearMatMul"):
            types[node.output[0]] = types.get(node.input[7])
        elif node.op_type in ("Relu", "MaxPool", "Reshape", "Transpose", "Flatten", "Identity"):
            types[node.output[0]] = types.get(node.input[0])
    return types


def raised(name, prefix):
    """Nodes that make a u8 tensor of an s8 one, 128 greater."""
    wide, sum_, result = f"{prefix}_wide", f"{prefix}_sum", f"{prefix}_u8"
    return [helper.make_node("Cast", [name], [wide], to=TensorProto.INT32),
            helper.make_node("Add", [wide, "exact_sums_128"], [sum_]),
            helper.make_node("Cast", [sum_], [result], to=TensorProto.UINT8)], result


def of(model):
    """The model, changed where it has such operators with u8 activations and s8 weights."""
    graph, types, nodes = model.graph, element_types(model.graph), []
    for number, node in enumerate(graph.node):
        positions = OPERANDS.get(node.op_type)
        kinds = [types.get(node.input[p]) for p in positions[:2]] if positions else []
        if kinds == [TensorProto.UINT8, TensorProto.INT8]:
            node.input.extend([""] * (positions[2] + 1 - len(node.input)))
            for position in positions[1:]:
                if node.input[position]:
                    made, name = raised(node.input[position], f"exact_sums_{number}_{position}")
                    nodes.extend(made)
                    node.input[position] = name
                else:
                    node.input[position] = "exact_sums_128_u8"
        nodes.append(node)
    if len(nodes) > len(graph.node):
        graph.initializer.append(helper.make_tensor("exact_sums_128", TensorProto.INT32, [], [128]))
        graph.initializer.append(
            helper.make_tensor("exact_sums_128_u8", TensorProto.UINT8, [], [128]))
        copies = [type(node).FromString(node.SerializeToString()) for node in nodes]
        del graph.node[:]
        graph.node.extend(copies)
    return model
