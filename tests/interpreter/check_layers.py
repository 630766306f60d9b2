#!/usr/bin/env python3
"""One layer of each bench model, interpreted: what its tile functions compute by their rows is what
the reference evaluator computes on the imported graph.

    tests/interpreter/check_layers.py                    # a seeded sample
    tests/interpreter/check_layers.py --all
    tests/interpreter/check_layers.py unet bert_base     # these

The models are those of ../shared/bench/make_models.py. A layer has the channels, widths, kernels
and strides of the model, on a small image or few tokens. Exit status 0: all hold; 77: there is no
../shared/bench.
"""
import argparse
import pathlib
import random
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
from onnx import TensorProto, helper

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent / "models"))

import model_list  # noqa: E402

SAMPLE, TOKENS, SIDE = 4, 7, 9
# What may follow a convolution and still be of its layer.
BEHIND = ("BatchNormalization", "Relu", "Clip", "Sigmoid", "Mul")
# A quantum of the last QuantizeLinear where a tie falls to the other side.
QUANTUM = 2e-2


def cut(model, nodes, start, shape, end):
    """The model of `nodes`, which read the tensor `start` and give `end`."""
    read = {name for node in nodes for name in node.input}
    weights = [tensor for tensor in model.graph.initializer if tensor.name in read]
    given = [value for value in model.graph.input if value.name in read and value.name != start]
    given.append(helper.make_tensor_value_info(start, TensorProto.FLOAT, shape))
    result = helper.make_tensor_value_info(end, TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "layer", given, [result], weights)
    return helper.make_model(graph, opset_imports=model.opset_import, ir_version=8)


def nodes_to(model, start, end):
    """Those that `end` is made of, as far back as `start`."""
    producers = {name: node for node in model.graph.node for name in node.output}
    needed, open_names = [], [end]
    while open_names:
        name = open_names.pop()
        node = producers.get(name)
        if name == start or node is None or node in needed:
            continue
        needed.append(node)
        open_names.extend(node.input)
    return [node for node in model.graph.node if node in needed]


def convolution(net, wanted, side=SIDE):
    """The convolution in the middle of those that are `wanted` by their weights and groups, with
    normalisation and activation."""
    model = net.model()
    weights = {tensor.name: tensor for tensor in model.graph.initializer}
    fitting = []
    for at, node in enumerate(model.graph.node):
        if node.op_type in ("Conv", "ConvTranspose"):
            dims = list(weights[node.input[1]].dims)
            attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
            groups, stride = attributes.get("group", 1), attributes.get("strides", [1])[0]
            channels = dims[0] if node.op_type == "ConvTranspose" else dims[1] * groups
            if wanted(node.op_type, dims, groups, stride):
                fitting.append((at, channels))
    at, channels = fitting[len(fitting) // 2]
    first = model.graph.node[at]
    nodes, made = [first], set(first.output)
    for node in list(model.graph.node)[at + 1:]:
        own = made | set(weights)
        if node.op_type not in BEHIND or not set(node.input) <= own:
            if set(node.input) & made:
                break
            continue
        nodes.append(node)
        made.update(node.output)
    return cut(model, nodes, first.input[0], [1, channels, side, side], nodes[-1].output[0])


def square(kernel, stride=1):
    return lambda op, dims, groups, at: (op == "Conv" and groups == 1 and dims[2] == kernel
                                         and at == stride and dims[0] >= 64 and dims[1] > 3)


def depthwise(kernel):
    return lambda op, dims, groups, stride: groups > 1 and dims[2] == kernel


def transposed(op, *_):
    return op == "ConvTranspose"


def encoder(net):
    """From what the first product reads to the end; a norm in front is of the layer before."""
    model = net.model()
    first = next(node for node in model.graph.node if node.op_type == "MatMul")
    end = model.graph.output[0].name
    return cut(model, nodes_to(model, first.input[0], end), first.input[0],
               [1, TOKENS, 768], end)


def patch_encoder(net):
    """The layer behind the patches, which the number of tokens does not fit here."""
    model = net.model()
    norms = [node for node in model.graph.node if node.op_type == "LayerNormalization"]
    start, end = norms[0].input[0], norms[-1].output[0]
    return cut(model, nodes_to(model, start, end), start, [1, TOKENS, 768], end)


def quantised(layer, folder):
    """As make_models.py quantises whole models."""
    from onnxruntime.quantization import (CalibrationDataReader, QuantFormat, QuantType,
                                          quantize_static)

    class Images(CalibrationDataReader):
        def __init__(self):
            value = layer.graph.input[0]
            shape = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
            rng = np.random.default_rng(0)
            self.left = iter([{value.name: rng.standard_normal(shape, np.float32)}
                              for _ in range(4)])

        def get_next(self):
            return next(self.left, None)

    onnx.save(layer, folder / "float.onnx")
    quantize_static(folder / "float.onnx", folder / "int8.onnx", Images(), per_channel=True,
                    quant_format=QuantFormat.QDQ, activation_type=QuantType.QUInt8,
                    weight_type=QuantType.QInt8)
    return onnx.load(folder / "int8.onnx")


def folded(layer):
    """Without normalisation, which quantised models have in their weights."""
    graph = layer.graph
    nodes = [node for node in graph.node if node.op_type != "BatchNormalization"]
    renamed = {node.output[0]: node.input[0] for node in graph.node
               if node.op_type == "BatchNormalization"}
    for node in nodes:
        node.input[:] = [renamed.get(name, name) for name in node.input]
    end = renamed.get(graph.output[0].name, graph.output[0].name)
    start = graph.input[0]
    shape = [dim.dim_value for dim in start.type.tensor_type.shape.dim]
    return cut(layer, nodes, start.name, shape, end)


# Model -> its layers by name, each from the module of the bench models.
LAYERS = {
    "resnet50": {"3x3": lambda b: convolution(b.resnet50(), square(3)),
                 "1x1": lambda b: convolution(b.resnet50(), square(1)),
                 "stride": lambda b: convolution(b.resnet50(), square(3, 2))},
    "mobilenetv2": {"depthwise": lambda b: convolution(b.mobilenetv2(), depthwise(3)),
                    "1x1": lambda b: convolution(b.mobilenetv2(), square(1))},
    "efficientnet_b0": {"depthwise": lambda b: convolution(b.efficientnet_b0(), depthwise(5)),
                        "1x1": lambda b: convolution(b.efficientnet_b0(), square(1))},
    "yolov8n": {"3x3": lambda b: convolution(b.yolov8n(), square(3), 20)},
    "unet": {"3x3": lambda b: convolution(b.unet(), square(3)),
             "transposed": lambda b: convolution(b.unet(), transposed)},
    "bert_base": {"encoder": lambda b: encoder(b.bert_base(seq=TOKENS, layers=1))},
    "bert_base_decomposed": {
        "encoder": lambda b: encoder(b.bert_base(decomposed=True, seq=TOKENS, layers=1))},
    "vit_b16": {"encoder": lambda b: patch_encoder(b.vit_b16(layers=1, seq=TOKENS))},
    "lstm": {"both": lambda b: b.lstm(seq=3, features=5, hidden=19, classes=3).model()},
    "gpt2_step": {"step": lambda b: b.gpt2_step(layers=1, vocab=67).model()},
    "resnet50_int8": {"3x3": lambda b: folded(convolution(b.resnet50(), square(3)))},
    "mobilenetv2_int8": {
        "depthwise": lambda b: folded(convolution(b.mobilenetv2(), depthwise(3))),
        "1x1": lambda b: folded(convolution(b.mobilenetv2(), square(1)))},
}


def check(name, layer, make, bench, folder):
    model = make(bench)
    command = [model_list.build_folder() / "tests" / "interpret_model", "--ways=tiles",
               "--require-tiles", "--below=2"]
    if name.endswith("_int8"):
        model = quantised(model, folder)
        command.append(f"--tolerance={QUANTUM}")
    if name == "gpt2_step":
        command += ["--dim=past=1..20", "--size=past=5"]
    path = folder / f"{name}_{layer}.onnx"
    onnx.save(model, path)
    start = time.monotonic()
    done = subprocess.run([*command, path], cwd=FOLDER.parents[1], capture_output=True, text=True)
    holds = done.returncode == 0
    print(f"{name} {layer}: {'holds' if holds else 'FAILED'}, {time.monotonic() - start:.1f} s",
          "" if holds else done.stdout + done.stderr, flush=True)
    return holds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*")
    parser.add_argument("--all", action="store_true", help="every layer of every model")
    parser.add_argument("--seed", type=int, default=22, help="of the sample")
    options = parser.parse_args()
    if not model_list.BENCH.exists():
        place = model_list.BENCH.relative_to(model_list.SHARED.parent)
        print(f"not run: no ../{place} beside the repository")
        return 77
    layers = [(name, layer, make) for name, of in LAYERS.items() for layer, make in of.items()
              if not options.models or name in options.models]
    if not options.all and not options.models:
        layers = random.Random(options.seed).sample(layers, SAMPLE)
    bench, failed = model_list.load_bench(), 0
    for name, layer, make in layers:
        with tempfile.TemporaryDirectory() as folder:
            failed += not check(name, layer, make, bench, pathlib.Path(folder))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
