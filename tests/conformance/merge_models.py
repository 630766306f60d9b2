"""Models of one opset as the components of one model, which costs one compilation.

    merged = merge_models.merge([first, second])   # input x of the second becomes c1_x
"""
import onnx


def prefix_of(number):
    return f"c{number}_"


def prefix_names(names, prefix):
    """Empty names stand for operands left out."""
    for index, name in enumerate(names):
        if name:
            names[index] = prefix + name


def rename_attributes(node, name_of):
    """Of values that attributes name."""
    for attribute in node.attribute if node.op_type == "Gradient" else ():
        attribute.s = name_of(attribute.s.decode()).encode()  # y; empty in the others
        attribute.strings[:] = [name_of(name.decode()).encode() for name in attribute.strings]


def prefix_dims(type_proto, prefix):
    """Of items: flags say what they may be. Those of tensors are what flags name them."""
    kind = type_proto.WhichOneof("value")
    if kind not in ("sequence_type", "optional_type"):
        return
    inner = getattr(type_proto, kind).elem_type
    prefix_dims(inner, prefix)
    for dim in inner.tensor_type.shape.dim:
        if dim.dim_param:
            dim.dim_param = prefix + dim.dim_param


def prefix_graph(graph, prefix):
    """Puts the prefix before the name of every value and node, those of subgraphs included."""
    for node in graph.node:
        node.name = prefix + (node.name or node.op_type)
        prefix_names(node.input, prefix)
        prefix_names(node.output, prefix)
        rename_attributes(node, lambda name: name and prefix + name)
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                prefix_graph(attribute.g, prefix)
            for inner in attribute.graphs:
                prefix_graph(inner, prefix)
    for tensor in graph.initializer:
        tensor.name = prefix + tensor.name
    for tensor in graph.sparse_initializer:
        tensor.values.name = prefix + tensor.values.name
    for value in (*graph.input, *graph.output, *graph.value_info):
        value.name = prefix + value.name
        prefix_dims(value.type, prefix)


def merge(models):
    """One model of `models`, which are changed. None of them has local functions."""
    merged = onnx.ModelProto(ir_version=max(m.ir_version for m in models),
                             opset_import=models[0].opset_import)
    merged.graph.name = "node_tests"
    for number, model in enumerate(models):
        if model.functions:
            raise ValueError(f"{model.graph.name} has local functions")
        prefix_graph(model.graph, prefix_of(number))
        for field in ("node", "input", "output", "initializer", "sparse_initializer", "value_info"):
            getattr(merged.graph, field).extend(getattr(model.graph, field))
    return merged
