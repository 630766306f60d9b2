#!/usr/bin/env python3
"""Random pairs of contractions that are computed in bands of rows, against onnxruntime.

    tests/random/check_chain.py                            # the short sample
    tests/random/check_chain.py --seed 7 --count 200
    tests/random/check_chain.py --seed 7 --first 123 --count 1     # one again

Depthwise or other convolutions with a 1x1 one behind them, and two dense layers, with activations
between, residuals, and readers that want a halo, and the same of bytes. The limits are those of a
machine whose memory is slow, so that most of them pay; bands get any number of rows. What lies
between the two is in no buffer of the arena. Exit status 0: all hold.
"""
import argparse
import json
import pathlib
import re
import shutil
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent / "models"))

import turns  # noqa: E402
from build_output import (Failure, build_library, command, compile_model,  # noqa: E402
                          has_feature, model_name)
from check_model import require_steady  # noqa: E402
from model_list import build_folder, work_folder  # noqa: E402
from model_table import CompiledModel  # noqa: E402

# Way -> flags, the dim of batches, workers, the feature of /proc/cpuinfo that running it needs.
WAYS = {"v4": (["--cpu=x86-64-v4"], "2", 1, "avx512vl"),
        "symbolic": ([], "1..3", 2, ""),
        "v3": (["--cpu=x86-64-v3"], "2", 1, "avx2"),
        "portable": (["--cpu=portable"], "1..3", 1, "")}
CUDA = "cuda"  # the same pairs there, which has no bands
SLOW = {"cpu": {"l1_bytes": 1e9, "l2_bytes": 1e9, "l2_bandwidth": 1e6, "l3_bandwidth": 1e6,
                "memory_bandwidth": 1e6}}
BATCH = 2
TOLERANCE = 2e-5  # of the largest value


class Case:
    """Two contractions: their nodes."""

    def __init__(self, seed, number):
        self.rng = np.random.default_rng([seed, number])
        self.name, self.nodes, self.constants, self.inputs = f"c{number}", [], [], {}
        kinds = ["depthwise", "convolution", "dense", "quantised"]
        kind = self.rng.choice(kinds, p=[0.5, 0.15, 0.2, 0.15])
        self.is_exact = kind == "quantised"
        getattr(self, kind)()
        self.nodes[-1].output[0] = f"{self.name}_y"

    def pick(self, *values):
        return values[self.rng.integers(len(values))]

    def add(self, op, inputs, **attributes):
        result = f"{self.name}_v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [result], **attributes))
        return result

    def constant(self, value):
        name = f"{self.name}_k{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value, np.float32), name))
        return name

    def input(self, *shape):
        name = f"{self.name}_x{len(self.inputs)}"
        self.inputs[name] = self.rng.standard_normal([BATCH, *shape]).astype(np.float32)
        return name

    def weights(self, *shape):
        scale = np.sqrt(np.prod(shape[1:])) if len(shape) > 1 else 1
        return self.constant(self.rng.standard_normal(shape) / scale)

    def activation(self, value):
        kind = self.pick("none", "relu6", "swish", "Tanh", "bias")
        if kind == "relu6":
            return self.add("Clip", [value, self.constant(0.0), self.constant(6.0)])
        if kind == "swish":
            return self.add("HardSwish", [value])
        if kind == "bias":
            return self.add("Add", [value, self.constant(0.5)])
        return value if kind == "none" else self.add(kind, [value])

    def convolution_of(self, value, filters, channels, taps, **attributes):
        inputs = [value, self.weights(filters, channels, *taps)]
        if self.rng.random() < 0.7:
            inputs.append(self.weights(filters))
        return self.add("Conv", inputs, kernel_shape=taps, **attributes)

    def pointwise(self, value, channels, size):
        """A 1x1 convolution with what is fused to it, or wants its result with a border."""
        filters = int(self.rng.integers(1, channels // 2))  # more: no gain in memory
        value = self.convolution_of(value, filters, channels, [1, 1])
        if self.rng.random() < 0.4:
            value = self.add("Add", [value, self.input(filters, *size)])
        value = self.activation(value)
        if self.rng.random() < 0.3 and min(size) > 3:
            value = self.add("MaxPool", [value], kernel_shape=[3, 3], pads=[1, 1, 1, 1])

    def windows(self, taps):
        stride = self.pick(1, 1, 2)
        pads = [int(p) for p in self.rng.integers(0, taps // 2 + 1, 4)]
        size = [int(s) for s in self.rng.integers(24, 44, 2)]
        result = [(s + pads[i] + pads[i + 2] - taps) // stride + 1 for i, s in enumerate(size)]
        return size, result, {"strides": [stride, stride], "pads": pads}

    def depthwise(self):
        channels, taps = int(self.rng.integers(20, 90)), self.pick(3, 3, 5)
        size, result, attributes = self.windows(taps)
        value = self.convolution_of(self.input(channels, *size), channels, 1, [taps, taps],
                                    group=channels, **attributes)
        self.pointwise(self.activation(value), channels, result)

    def convolution(self):
        channels, filters = (int(c) for c in self.rng.integers([8, 40], [40, 90]))
        taps = self.pick(1, 5)
        size, result, attributes = self.windows(taps)
        value = self.convolution_of(self.input(channels, *size), filters, channels, [taps, taps],
                                    **attributes)
        self.pointwise(self.activation(value), filters, result)

    def dense(self):
        rows, depth, hidden, columns = (
            int(n) for n in self.rng.integers([300, 2, 60, 2], [500, 40, 130, 30]))
        value = self.add("MatMul", [self.input(rows, depth), self.weights(depth, hidden)])
        value = self.add("MatMul", [self.activation(value), self.weights(hidden, columns)])
        if self.rng.random() < 0.5:
            value = self.add("Add", [value, self.input(rows, columns)])
        self.activation(value)


    def quantised(self):
        """A depthwise convolution and a 1x1 one of bytes, as QDQ models have them."""
        channels, filters = int(self.rng.integers(2, 6)) * 16, int(self.rng.integers(1, 20))
        size, _, attributes = self.windows(3)
        value = self.rounded(self.input(channels, *size))
        for outputs, inputs, taps, more in (
                (channels, 1, [3, 3], {"group": channels, **attributes}),
                (filters, channels, [1, 1], {})):
            codes = self.rng.integers(-127, 128, (outputs, inputs, *taps)).astype(np.int8)
            name = f"{self.name}_k{len(self.constants)}"
            self.constants.append(numpy_helper.from_array(codes, name))
            scale = self.constant(0.01 / np.sqrt(inputs * np.prod(taps)))
            weights = self.add("DequantizeLinear", [name, scale])
            value = self.add("Conv", [value, weights], kernel_shape=taps, **more)
            value = self.rounded(self.add("Relu", [value]))

    def rounded(self, value):
        zero = f"{self.name}_zero"
        if not any(constant.name == zero for constant in self.constants):
            self.constants.append(numpy_helper.from_array(np.uint8(120), zero))
        grid = [self.constant(0.02), zero]
        return self.add("DequantizeLinear", [self.add("QuantizeLinear", [value, *grid]), *grid])


def make_model(cases):
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", *array.shape[1:]])
              for case in cases for name, array in case.inputs.items()]
    outputs = [helper.make_tensor_value_info(f"{case.name}_y", TensorProto.FLOAT, None)
               for case in cases]
    graph = helper.make_graph([node for case in cases for node in case.nodes], "chain", inputs,
                              outputs, [c for case in cases for c in case.constants])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def require_no_buffer(metadata):
    """What the first contraction of a chain makes is scratch of a band, not a buffer."""
    buffers = {buffer["name"] for buffer in metadata["arena"]["buffers"]}
    chains = [k["schedule"] for k in metadata["kernels"] if k["realisation"] == "chain"]
    for schedule in chains:
        between = re.search(r"%(\w+) @ tasks in scratch", schedule)[1]
        if between in buffers:
            raise Failure(f"{between} is in the arena: {schedule}")
    return len(chains)


def bands_of_all_sizes(path, flags, rng):
    """Records of the schedules that are chosen, those of chains with other bands."""
    aotc = build_folder() / "aotc"
    records = command([aotc, "schedules", path, "--records", *flags])

    def cut(match):
        return f"{match[1]}{rng.integers(1, 14)}{match[3]}"

    return re.sub(r"(tasks [^{}]*?:)(\d+)(\)  [^{}@]*@ tasks in scratch)", cut, records)


def run_way(way, path, inputs, folder, rng):
    """Results, and the number of chains, which are none without `rng`."""
    flags, batch, workers, _ = WAYS[way]
    limits = folder / "slow.json"
    limits.write_text(json.dumps(SLOW))
    all_flags = [*flags, f"--limits={limits}"]
    if rng is None:
        all_flags.append("--disable-schedule=chain")
    else:
        choices = folder / "choices"
        choices.write_text(bands_of_all_sizes(path, [*all_flags, f"--dim=batch={batch}"], rng))
        all_flags.append(f"--schedules={choices}")
    outdir = compile_model(path, "cpu", folder, {"batch": batch}, all_flags)
    chains = require_no_buffer(json.loads((outdir / "metadata.json").read_text()))
    library = folder / f"{path.stem}_{way}.so"
    return run_outdir(outdir, "cpu", library, inputs, workers), chains


def run_outdir(outdir, target, library, inputs, workers):
    build_library(outdir, target, library, 2, turns.compiler(library))
    model = CompiledModel(library, model_name(outdir))
    actual = model.run(inputs, workers, fill=0xFF)
    require_steady(model, inputs, actual)
    model.close()
    return actual


def require_equal(cases, actual, apart):
    """Integers give the same bits, in a chain or not."""
    for case in cases:
        name = f"{case.name}_y"
        if not np.array_equal(actual[name], apart[name]):
            raise Failure(f"{name}: integers differ from those of two kernels")


def largest_error(way, actual, expected):
    """By the largest value of each result."""
    most = 0
    for name, values in expected.items():
        error = np.abs(actual[name] - values).max() / max(1, np.abs(values).max())
        if not error <= TOLERANCE:
            raise Failure(f"{way}: {name} is off by {error:.2e}")
        most = max(most, error)
    return most


def check_cuda(cases, path, inputs, folder, expected):
    """Integers have the bits that the CPU gives them, which `expected` are."""
    outdir = compile_model(path, CUDA, folder, {"batch": "1..3"})
    actual = run_outdir(outdir, CUDA, folder / f"{path.stem}_cuda.so", inputs, 1)
    require_equal([case for case in cases if case.is_exact], actual, expected)
    print(f"{CUDA}: {len(cases)} hold, errors up to "
          f"{largest_error(CUDA, actual, expected):.1e}", flush=True)


def check(options, folder):
    folder.mkdir(parents=True, exist_ok=True)
    cases = [Case(options.seed, n) for n in range(options.first, options.first + options.count)]
    path = folder / f"chain_{options.seed}_{options.first}.onnx"
    onnx.save(make_model(cases), path)
    inputs = {name: array for case in cases for name, array in case.inputs.items()}
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    names = [f"{case.name}_y" for case in cases]
    expected = dict(zip(names, session.run(names, inputs)))
    for way in (way for way in options.way if way != CUDA):
        if WAYS[way][3] and not has_feature(WAYS[way][3]):
            continue
        actual, chains = run_way(way, path, inputs, folder,
                                 np.random.default_rng(options.seed))
        if any(case.is_exact for case in cases):
            apart, _ = run_way(way, path, inputs, folder, None)
            require_equal([case for case in cases if case.is_exact], actual, apart)
            expected.update({f"{case.name}_y": apart[f"{case.name}_y"]
                             for case in cases if case.is_exact})
        most = largest_error(way, actual, expected)
        print(f"{way}: {len(cases)} hold, {chains} kernels in bands, errors up to {most:.1e}",
              flush=True)
        if options.count >= 10 and chains < options.count // 2:
            raise Failure("few of them are computed in bands")
    if CUDA in options.way:
        check_cuda(cases, path, inputs, folder, expected)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first one")
    parser.add_argument("--count", type=int, default=16)
    parser.add_argument("--way", action="append", choices=[*WAYS, CUDA], help="default: all")
    options = parser.parse_args()
    options.way = options.way or [*WAYS, CUDA]
    folder = work_folder() / "random_tests" / f"chain_{options.seed}_{options.first}"
    try:
        check(options, folder)
    except Failure as failure:
        print(failure)
        return 1
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
