#!/usr/bin/env python3
"""Rfft and Irfft of com.microsoft, which onnxruntime has for GPUs alone, against numpy.

    tests/domains/check_fourier.py                 # all shapes, on cpu and emulated cuda
"""
import pathlib
import sys

import numpy as np
import onnx
from onnx import helper

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER.parent / "models"), str(FOLDER)]

import turns  # noqa: E402
from build_output import build_library, compile_model, model_name  # noqa: E402
from model_list import work_folder  # noqa: E402
from model_table import CompiledModel  # noqa: E402

SHAPES = ((8,), (3, 6), (2, 1, 2), (4, 5, 10), (2, 3, 4, 14))
TOLERANCE = 1e-4


def cases(rng):
    """(op, axes, x, expected) for all shapes, and so many of the last axes as there are."""
    for shape in SHAPES:
        for axes in range(1, min(len(shape), 3) + 1):
            over = tuple(range(-axes, 0))
            x = rng.standard_normal(shape)
            y = np.fft.rfftn(x, axes=over)
            pairs = np.stack([y.real, y.imag], -1)
            yield "Rfft", axes, x, pairs
            yield "Irfft", axes, pairs, x


def write_model(path, drawn):
    nodes, inputs, outputs = [], [], []
    for number, (op, axes, x, y) in enumerate(drawn):
        names = f"x{number}", f"y{number}"
        nodes.append(helper.make_node(op, [names[0]], [names[1]], domain="com.microsoft",
                                      signal_ndim=axes, onesided=1, normalized=0))
        for values, name, array in zip((inputs, outputs), names, (x, y)):
            values.append(helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, array.shape))
    graph = helper.make_graph(nodes, "fourier", inputs, outputs)
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=10), path)


def check(target):
    """The number of cases that fail."""
    folder = work_folder() / "fourier" / target
    folder.mkdir(parents=True, exist_ok=True)
    drawn = list(cases(np.random.default_rng(1)))
    write_model(folder / "fourier.onnx", drawn)
    outdir = compile_model(folder / "fourier.onnx", target, folder, {}, [])
    library = folder / "fourier.so"
    build_library(outdir, target, library, 1, turns.compiler(folder))
    model = CompiledModel(library, model_name(outdir))
    results = model.run({f"x{n}": x.astype("f4") for n, (_, _, x, _) in enumerate(drawn)})
    model.close()
    wrong = 0
    for number, (op, axes, x, y) in enumerate(drawn):
        error = np.abs(results[f"y{number}"] - y).max()
        if error > TOLERANCE * max(1, np.abs(y).max()):
            print(f"{op} of {x.shape} over {axes} axes, {target}: off by {error}")
            wrong += 1
    print(f"fourier, {target}: {len(drawn) - wrong} hold, {wrong} fail")
    return wrong


def main():
    return 1 if sum(check(target) for target in ("cpu", "cuda")) else 0


if __name__ == "__main__":
    sys.exit(main())
