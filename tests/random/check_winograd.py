#!/usr/bin/env python3
"""Random 3x3 convolutions by Winograd's algorithm, with all that is fused to them, against f64.

    tests/random/check_winograd.py                            # the short sample
    tests/random/check_winograd.py --seed 7 --count 200
    tests/random/check_winograd.py --seed 7 --first 123 --count 1     # one convolution again

The error of each is within the bound that docs/winograd.md gives: its standard deviation, and, but
for a factor that so many elements allow, the largest. CUDA computes them directly, within the bound
of a sum in order. Exit status 0: all hold.
"""
import argparse
import json
import pathlib
import shutil
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent / "models"))

import turns  # noqa: E402
from build_output import (Failure, build_library, compile_model, has_feature,  # noqa: E402
                          join_kernels, model_name)
from check_model import require_steady  # noqa: E402
from model_list import work_folder  # noqa: E402
from model_table import CompiledModel  # noqa: E402

# Way -> flags, the feature of /proc/cpuinfo that running it needs.
WAYS = {"all": ([], ""),
        "v4": (["--cpu=x86-64-v4"], "avx512vl"),
        "v3": (["--cpu=x86-64-v3"], "avx2"),
        "portable": (["--cpu=portable"], "")}
CUDA = "cuda"  # the same convolutions there, which compute them directly
POINTS = {2: [0, 1, -1], 4: [0, 5 / 8, -5 / 8, 3 / 2, -3 / 2], 6: [0, 1, -1, 2, -2, 1 / 2, -1 / 2]}
# Of the largest error of a hundred million: those of a patch with large inputs are larger together.
MOST_SIGMAS = 10


def growth(m):
    """How much more than a sum in order the transforms let errors grow, from the matrices; without
    any, a sum over nine taps of each channel."""
    if m is None:
        return 3
    points = POINTS[m]
    at, bt, g = np.zeros((m, m + 2)), np.zeros((m + 2, m + 2)), np.zeros((m + 2, 3))
    for a, point in enumerate(points):
        others = points[:a] + points[a + 1:]
        bt[a, :m + 1] = np.poly(others)[::-1]
        g[a] = [point**tap / np.prod([point - other for other in others]) for tap in range(3)]
        at[:, a] = [point**row for row in range(m)]
    bt[m + 1], g[m + 1], at[m - 1, m + 1] = np.poly(points)[::-1], [0, 0, 1], 1
    return ((at**2) @ ((bt**2).sum(1) * (g**2).sum(1))).max() / 3


def bound(m, channels):
    return 2.0**-24 * 0.41 * np.sqrt(channels) * growth(m)


def convolve(x, weights, pads):
    top, left, bottom, right = pads
    x = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (top, bottom), (left, right)))
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(2, 3))
    return np.einsum("nchwij,kcij->nkhw", windows, weights.astype(np.float64), optimize=True)


class Case:
    """One convolution: its nodes, and what they give."""

    def __init__(self, seed, number):
        self.rng = rng = np.random.default_rng([seed, number])
        self.name = f"c{number}"
        self.channels, self.filters = (int(rng.integers(16, 100)) for _ in range(2))
        self.pads = [int(p) for p in rng.integers(0, 3, 4)]
        size = [int(rng.integers(1, 3)), self.channels] + [int(s) for s in rng.integers(3, 40, 2)]
        self.x = rng.standard_normal(size).astype(np.float32)
        scale = 1 / np.sqrt(9 * self.channels)
        taps = rng.standard_normal((self.filters, self.channels, 3, 3)) * scale
        self.weights = taps.astype(np.float32)
        self.nodes, self.constants = [], []
        self.build()

    def constant(self, name, value):
        self.constants.append(numpy_helper.from_array(value, f"{self.name}_{name}"))
        return f"{self.name}_{name}"

    def add(self, op, inputs, **attributes):
        result = f"{self.name}_v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [result], **attributes))
        return result

    def build(self):
        rng, inputs = self.rng, [f"{self.name}_x", self.constant("w", self.weights)]
        expected = convolve(self.x, self.weights, self.pads)
        self.scale = expected.std()
        if rng.random() < 0.7:
            bias = rng.standard_normal(self.filters).astype(np.float32)
            inputs.append(self.constant("b", bias))
            expected = expected + bias[:, None, None]
        value = self.add("Conv", inputs, pads=self.pads, kernel_shape=[3, 3])
        if rng.random() < 0.5:
            value, expected = self.add("Relu", [value]), np.maximum(expected, 0)
        if rng.random() < 0.4:
            other = rng.standard_normal((1, self.filters, 1, 1)).astype(np.float32)
            value = self.add("Add", [value, self.constant("o", other)])
            expected = expected + other
        if rng.random() < 0.3 and min(expected.shape[2:]) > 3:  # a reader that wants a halo
            value = self.add("MaxPool", [value], kernel_shape=[3, 3], pads=[1, 1, 1, 1])
            padded = np.pad(expected, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=-np.inf)
            windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
            expected = windows.max((4, 5))
        self.nodes[-1].output[0] = f"{self.name}_y"
        self.expected = expected

    def check(self, actual, m):
        error = actual.astype(np.float64) - self.expected
        limit = bound(m, self.channels) * self.scale
        stored = 2.0**-24 * np.abs(self.expected).max()
        if error.std() > limit + stored or np.abs(error).max() > MOST_SIGMAS * limit + stored:
            raise Failure(f"{self.name}, m = {m}, {self.x.shape} to {actual.shape}: errors of "
                          f"{error.std():.2e}, at most {np.abs(error).max():.2e}; the bound is "
                          f"{limit:.2e}")
        return error.std() / limit


def make_model(cases):
    values = [[helper.make_tensor_value_info(f"{case.name}_{which}", TensorProto.FLOAT, shape)
               for case in cases for shape in [getattr(case, array).shape]]
              for which, array in (("x", "x"), ("y", "expected"))]
    graph = helper.make_graph([node for case in cases for node in case.nodes], "winograd",
                              *values, [c for case in cases for c in case.constants])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def run_way(way, m, path, inputs, folder):
    outdir = compile_model(path, "cpu", folder, {}, [*WAYS[way][0], f"--winograd={m}"])
    kernels = json.loads((outdir / "metadata.json").read_text())["kernels"]
    if other := {k["realisation"] for k in kernels if k["contraction"]} - {"winograd"}:
        raise Failure(f"{way}: convolutions by {', '.join(other)}")
    join_kernels(outdir)
    return run_outdir(outdir, "cpu", folder / f"{path.stem}_{way}_{m}.so", inputs)


def run_outdir(outdir, target, library, inputs):
    build_library(outdir, target, library, 2, turns.compiler(library))
    model = CompiledModel(library, model_name(outdir))
    actual = model.run(inputs, fill=0xFF)
    require_steady(model, inputs, actual)
    model.close()
    return actual


def report(way, m, cases, actual):
    shares = [case.check(actual[f"{case.name}_y"], m) for case in cases]
    print(f"{way}, m = {m}: {len(cases)} convolutions, errors of "
          f"{min(shares):.2f} to {max(shares):.2f} of the bound", flush=True)


def check(options, folder):
    folder.mkdir(parents=True, exist_ok=True)
    cases = [Case(options.seed, n) for n in range(options.first, options.first + options.count)]
    path = folder / f"winograd_{options.seed}_{options.first}.onnx"
    onnx.save(make_model(cases), path)
    inputs = {f"{case.name}_x": case.x for case in cases}
    for way in options.way:
        if way == CUDA:
            outdir = compile_model(path, CUDA, folder, {})
            actual = run_outdir(outdir, CUDA, folder / f"{path.stem}_cuda.so", inputs)
            report(way, None, cases, actual)
            continue
        if WAYS[way][1] and not has_feature(WAYS[way][1]):
            continue
        for m in POINTS:
            report(way, m, cases, run_way(way, m, path, inputs, folder))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first convolution")
    parser.add_argument("--count", type=int, default=8)
    parser.add_argument("--way", action="append", choices=[*WAYS, CUDA], help="default: all")
    options = parser.parse_args()
    options.way = options.way or [*WAYS, CUDA]
    folder = work_folder() / "random_tests" / f"winograd_{options.seed}_{options.first}"
    try:
        check(options, folder)
    except Failure as failure:
        print(failure)
        return 1
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
