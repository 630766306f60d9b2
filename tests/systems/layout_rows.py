"""Rows about layouts: how often tensors change their order in a run."""
import numpy as np
import onnx
from onnx import helper

import cases
import model_list
from cases import aotc, expect, node

TARGETS = ("cpu", "cuda")
OVER_CHANNELS = {"Conv", "BatchNormalization", "MaxPool", "AveragePool"}


def channels_last_block(folder):
    """Convolutions as exporters of channels-last models write them, each between transposes."""
    nodes, value, weights = [], "x", {}
    for i in range(4):
        weights[f"w{i}"] = cases.floats(16, 16, 3, 3) * np.float32(0.1)
        nodes += [node("Transpose", value, f"n{i}", perm=[0, 3, 1, 2]),
                  node("Conv", f"n{i} w{i}", f"c{i}", pads=[1, 1, 1, 1]),
                  node("Transpose", f"c{i}", f"t{i}", perm=[0, 2, 3, 1]),
                  node("Relu", f"t{i}", f"r{i}")]
        value = f"r{i}"
        if i % 2:
            nodes.append(node("Add", f"r{i} {'r0' if i == 1 else 'a1'}", f"a{i}"))
            value = f"a{i}"
    return cases.save(folder, "net", nodes, {"x": [1, 8, 8, 16]}, {value: [1, 8, 8, 16]}, weights)


def row34_layout_changes_are_reported(folder):
    """A channels-last residual net has transposes at its input and output only; numbers stay."""
    path = channels_last_block(folder)
    for target in TARGETS:
        told = cases.report(path, "--target", target, "-o", folder / target)
        changes = told["layout_changes"]
        expect(changes["Transpose"] <= 2, f"{changes} on {target}")
        text = aotc(path, "--target", target, "-o", folder / target)
        counts = ", ".join(f"{count} {op}" for op, count in sorted(changes.items()))
        expect(f"changes of layout: {counts}\n" in text, text)
        expect(target == "cpu" or changes["Relayout"] == 0, f"{changes} on {target}")
        cases.numbers_agree(path, target, folder)


def channels_last(path, folder):
    """The model over an image in channels-last, with transposes around ops that mind channels."""
    model = onnx.load(path)
    image = model.graph.input[0]
    nodes = []

    def transposed(value, name, perm):
        nodes.append(helper.make_node("Transpose", [value], [name], f"n_{name}", perm=perm))
        return name
    for op in model.graph.node:
        if op.op_type in OVER_CHANNELS:
            result = op.output[0]
            op.input[0] = transposed(op.input[0], f"{result}_in", [0, 3, 1, 2])
            op.output[0] = f"{result}_out"
            nodes.append(op)
            transposed(op.output[0], result, [0, 2, 3, 1])
        else:
            nodes.append(op)
    dims = image.type.tensor_type.shape.dim
    sizes = [dim.dim_value for dim in dims]
    for dim, size in zip(dims, (sizes[0], *sizes[2:], sizes[1])):
        dim.dim_value = size
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    del model.graph.value_info[:]
    onnx.save(model, folder / "last.onnx")
    return folder / "last.onnx"


def row34_a_channels_last_resnet_has_no_transposes(folder):
    """ResNet-50 as exporters from channels-last write it: none but that of the image."""
    path = channels_last(model_list.locate(model_list.find("light_resnet50")), folder)
    for target in TARGETS:
        told = cases.report(path, "--target", target, "-o", folder / target)
        changes = told["layout_changes"]
        expect(changes["Transpose"] <= 1, f"{changes} on {target}")
        expect(target == "cpu" or changes["Relayout"] == 0, f"{changes} on {target}")
    cases.numbers_agree(path, "cpu", folder)
