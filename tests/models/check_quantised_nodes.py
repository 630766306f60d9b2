#!/usr/bin/env python3
"""Each node of the quantised bench models by itself, against the float graph that it stands for.

    tests/models/check_quantised_nodes.py                     # both models
    tests/models/check_quantised_nodes.py mobilenetv2_int8

A model is cut at every QuantizeLinear of an activation: what reads its bytes reads those that
onnxruntime computes there, unoptimised. So each node has equal inputs, and differs by at most one
quantum at 0.1 % of its elements; all ways of compiling give the same bytes. The weights of the
whole model take at most 1.05 times the bytes that they have in the file. Exit status 0: all holds;
77: there is no ../shared/bench.
"""
import argparse
import json
import shutil
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper

import check_kernels
import model_list
import reference
import turns
from build_output import (Failure, build_library, compile_model, has_feature, join_kernels,
                          model_name)
from model_table import CompiledModel

# Way -> flags, the feature of /proc/cpuinfo that running it needs.
WAYS = {"vnni": (["--cpu=x86-64-v4+avx512vnni"], "avx512_vnni"),
        "v4": (["--cpu=x86-64-v4"], "avx512vl"),
        "v3": (["--cpu=x86-64-v3"], "avx2"),
        "portable": (["--cpu=portable"], "")}
MOST_APART = 1e-3  # of a node's elements
MOST_WEIGHTS = 1.05


def activations(model):
    """Of each QuantizeLinear of what is no constant: its result, and the type of that."""
    constants = {tensor.name: tensor for tensor in model.graph.initializer}
    return {node.output[0]: constants[node.input[2]].data_type for node in model.graph.node
            if node.op_type == "QuantizeLinear" and node.input[0] not in constants}


def cut(model, values):
    """The model whose activations are inputs, NAME_in, where they are read, and outputs."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    for node in made.graph.node:
        node.input[:] = [f"{name}_in" if name in values else name for name in node.input]
    for name, array in values.items():
        dtype = helper.np_dtype_to_tensor_dtype(array.dtype)
        made.graph.input.append(helper.make_tensor_value_info(f"{name}_in", dtype, array.shape))
    del made.graph.output[:]
    made.graph.output.extend(helper.make_tensor_value_info(
        name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in values.items())
    del made.graph.value_info[:]
    return made


def values_of(model, folder):
    """The input, and what onnxruntime computes of it at each activation."""
    shown = onnx.ModelProto()
    shown.CopyFrom(model)
    del shown.graph.output[:]
    shown.graph.output.extend(helper.make_tensor_value_info(name, dtype, None)
                              for name, dtype in activations(model).items())
    path = folder / "shown.onnx"
    onnx.save(shown, path)
    rng = np.random.default_rng(1)
    inputs = {name: rng.standard_normal(shape).astype(dtype)
              for name, (dtype, shape) in reference.input_shapes(path, {}).items()}
    return inputs, reference.run(path, inputs, optimised=False)


def compare(values, actual):
    """The largest share of a node's elements that are off. A Failure for more than is allowed."""
    worst = 0.0
    for name, wanted in values.items():
        apart = np.abs(actual[name].astype(np.int64) - wanted.astype(np.int64))
        share = float((apart != 0).mean())
        if apart.max() > 1 or share > MOST_APART:
            raise Failure(f"{name}: up to {apart.max()} apart, {share:.2%} of the elements")
        worst = max(worst, share)
    return worst


def run_way(path, way, inputs, folder):
    outdir = compile_model(path, "cpu", folder, {}, WAYS[way][0])
    join_kernels(outdir)
    library = folder / f"{path.stem}_{way}.so"
    build_library(outdir, "cpu", library, 2, turns.compiler(library))
    model = CompiledModel(library, model_name(outdir))
    actual = model.run(inputs, fill=0xFF)
    model.close()
    shutil.rmtree(outdir)
    return actual


def check_weights(path, folder):
    model = onnx.load(path)
    own = sum(len(tensor.raw_data) for tensor in model.graph.initializer)
    outdir = compile_model(path, "cpu", folder, {}, [])
    packed = json.loads((outdir / "metadata.json").read_text())["weights"]["bytes"]
    shutil.rmtree(outdir)
    print(f"  weights: {packed / own:.3f} of the {own} bytes of the model")
    if packed > MOST_WEIGHTS * own:
        raise Failure(f"weights of {packed} bytes, {own} in the model")


def check(name, folder):
    path = check_kernels.make_bench(name, folder)
    check_weights(path, folder)
    model = onnx.load(path)
    inputs, values = values_of(model, folder)
    nodes = folder / f"{name}_nodes.onnx"
    onnx.save(cut(model, values), nodes)
    inputs |= {f"{value}_in": array for value, array in values.items()}
    first = None
    for way, (_, feature) in WAYS.items():
        if feature and not has_feature(feature):
            print(f"  {way}: not on this processor")
            continue
        actual = run_way(nodes, way, inputs, folder)
        share = compare(values, actual)
        print(f"  {way}: {len(values)} nodes, a quantum off at most {share:.3%} of the elements of "
              "one", flush=True)
        first = first or actual
        if any((actual[value] != first[value]).any() for value in values):
            raise Failure(f"{way} gives other bytes")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", help="default: both")
    options = parser.parse_args()
    if not model_list.BENCH.exists():
        print("no ../shared/bench here")
        return 77
    folder = model_list.work_folder() / "quantised_nodes"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    failed = 0
    for name in options.models or model_list.load_bench().INT8_MODELS:
        print(name, flush=True)
        try:
            check(name, folder)
        except Failure as failure:
            print(f"  FAILED: {failure}")
            failed += 1
    shutil.rmtree(folder)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
