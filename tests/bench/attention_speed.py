#!/usr/bin/env python3
"""Attention against what the machine can do, all of it by one thread and in one run.

    tests/bench/attention_speed.py
    tests/bench/attention_speed.py --most-ratio 1.3 --least-share 0.65    # and fail beyond

12 heads of 64 elements. A step of decoding, one row over 1,025 keys, against a loop that sums the
bytes of keys and values: once with the keys given, once with a symbolic number of them. As many
rows as keys, against the multiply-adds that the core reaches: their share from 512 rows on is
asked for. Seconds of the thread, of runs that take turns: the least of a run and of the loop, the
median rate of multiply-adds, whose largest is an error of the clock. A step may also hold by the
median of the ratios of neighbours, as the core's clock drifts.
"""
import argparse
import ctypes as C
import pathlib
import shutil
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "models"))
import build_output  # noqa: E402
import model_list  # noqa: E402
from build_output import Failure  # noqa: E402
from model_table import CompiledModel, Run  # noqa: E402

HEADS, DEPTH = 12, 64
PLACES = 4  # of operands in memory, in which a time is taken
ROOT = pathlib.Path(__file__).resolve().parents[2]


def make_model(path, rows, keys):
    """Heads of `rows` queries and `keys` keys, a number or a name."""
    shapes = {"q": [1, HEADS, rows, DEPTH], "k": [1, HEADS, keys, DEPTH],
              "v": [1, HEADS, keys, DEPTH]}
    nodes = [helper.make_node("Transpose", ["k"], ["turned"], perm=[0, 1, 3, 2]),
             helper.make_node("MatMul", ["q", "turned"], ["products"]),
             helper.make_node("Mul", ["products", "factor"], ["scores"]),
             helper.make_node("Softmax", ["scores"], ["weights"], axis=-1),
             helper.make_node("MatMul", ["weights", "v"], ["y"])]

    def value(name, shape):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)

    graph = helper.make_graph(nodes, "attention", [value(*item) for item in shapes.items()],
                              [value("y", shapes["q"])],
                              [numpy_helper.from_array(np.float32(DEPTH**-0.5), "factor")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10),
              path)


def build_probes(folder):
    library = folder / "probes.so"
    source = pathlib.Path(__file__).with_name("attention_probes.cc")
    build_output.command(["g++", "-O3", "-march=native", "-shared", "-fPIC", "-I",
                          ROOT / "runtime-lite", source, "-o", library])
    probes = C.CDLL(str(library))
    for name in ("sum_seconds", "multiply_adds_per_second", "run_seconds"):
        getattr(probes, name).restype = C.c_double
    return probes


class Attention:
    """One compiled model with its operands."""

    def __init__(self, folder, rows, keys, symbol=""):
        folder.mkdir()
        make_model(folder / "attention.onnx", rows, symbol or keys)
        dims = {symbol: f"1..{2 * keys}"} if symbol else {}
        outdir = build_output.compile_model(folder / "attention.onnx", "cpu", folder, dims,
                                            ["--cpu=native"])
        build_output.build_library(outdir, "cpu", folder / "model.so")
        rng = np.random.default_rng(1)
        shape = [1, HEADS, keys, DEPTH]
        inputs = {"q": rng.standard_normal([1, HEADS, rows, DEPTH], np.float32),
                  "k": rng.standard_normal(shape, np.float32),
                  "v": rng.standard_normal(shape, np.float32)}
        self.model = CompiledModel(folder / "model.so", build_output.model_name(outdir))
        self.inputs, self.placed = inputs, []
        self.place()
        self.rows = rows
        self.multiply_adds = 2 * HEADS * rows * keys * DEPTH
        self.elements = HEADS * keys * DEPTH // 128 * 128

    def place(self):
        """Operands and arena in other memory than before."""
        self.lent = Run(self.model, self.inputs)
        self.placed.append(self.lent)

    def seconds(self, probes):
        lent = self.lent
        taken = probes.run_seconds(C.byref(self.model.table),
                                   C.c_void_p(self.model.instance.address), lent.given, lent.lent,
                                   C.c_void_p(lent.memory["arena"].address))
        if taken < 0:
            raise Failure("a run gives an error")
        return taken

    def sum_seconds(self, probes):
        return sum(probes.sum_seconds(C.c_void_p(self.lent.memory[f"input {name}"].address),
                                      C.c_int64(self.elements)) for name in ("k", "v"))


def check_step(probes, folder, symbol, options):
    step = Attention(folder, 1, 1025, symbol)
    pairs = [(step.sum_seconds(probes), step.seconds(probes)) for _ in range(options.runs)]
    least, taken = (min(times) for times in zip(*pairs))
    middle = float(np.median([mine / loop for loop, mine in pairs]))
    kind = "symbolic" if symbol else "known"
    print(f"a step over 1025 keys ({kind}): {taken * 1e6:.1f} us, {taken / least:.2f} times the "
          f"loop that sums them ({least * 1e6:.1f} us); median of ratios {middle:.2f}", flush=True)
    if min(taken / least, middle) > options.most_ratio:
        raise Failure(f"a step takes more than {options.most_ratio} times that loop's time")


def share_of_peak(probes, attention, runs):
    """What the fastest run reaches of the multiply-adds of a core, printed."""
    pairs = [(probes.multiply_adds_per_second(C.c_int64(50000)), attention.seconds(probes))
             for _ in range(runs)]
    rate, taken = (float(np.median(numbers)) for numbers in zip(*pairs))
    least = min(seconds for _, seconds in pairs)
    share = attention.multiply_adds / least / rate
    print(f"{attention.rows} rows: {least * 1e3:.2f} ms (median {taken * 1e3:.2f}), {share:.2f} of "
          f"{rate / 1e9:.1f} G multiply-adds a second", flush=True)
    return share


def check_rows(probes, folder, rows, options):
    attention = Attention(folder, rows, rows)
    runs = max(20, options.runs * 512 // (rows * rows) * 8)
    share = share_of_peak(probes, attention, runs)
    if rows < 512:
        return
    # The pages that the system happens to give are worth a twentieth.
    for _ in range(PLACES - 1):
        if share < options.least_share:
            attention.place()
            share = share_of_peak(probes, attention, runs)
    if share < options.least_share:
        raise Failure(f"{rows} rows reach less than {options.least_share} of the peak in "
                      f"{PLACES} places of memory")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=2000, help="of a step")
    parser.add_argument("--most-ratio", type=float, default=float("inf"))
    parser.add_argument("--least-share", type=float, default=0)
    options = parser.parse_args()
    folder = model_list.work_folder() / "bench" / "attention"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        probes = build_probes(folder)
        for symbol in ("", "keys"):
            check_step(probes, folder / f"step_{symbol}", symbol, options)
        for rows in (128, 512, 2048):
            check_rows(probes, folder / f"rows_{rows}", rows, options)
    except Failure as failure:
        print(failure)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
