#!/usr/bin/env python3
"""Random attention: heads, masks, scales and layouts of all kinds, against f64.

    tests/random/check_attention.py                            # the short sample
    tests/random/check_attention.py --seed 7 --count 200
    tests/random/check_attention.py --seed 7 --first 123 --count 1     # one again

Some rows have no key that their mask leaves them: all their results are NaN, as ONNX has it. Where
attention is computed in blocks, the arena holds no scores. Exit status 0: all hold.
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

# Way -> target, flags, the feature of /proc/cpuinfo that running it needs.
WAYS = {"cpu": ("cpu", [], ""),
        "cpu-v3": ("cpu", ["--cpu=x86-64-v3"], "avx2"),
        "cpu-portable": ("cpu", ["--cpu=portable"], ""),
        "cpu-rows": ("cpu", ["--disable-schedule=attention"], ""),
        "cuda": ("cuda", [], ""),
        "cuda-races": ("cuda-races", [], ""),
        "cuda-rows": ("cuda", ["--disable-schedule=attention"], "")}
IN_BLOCKS = ("cpu", "cuda", "cuda-races")  # of their cases a third at least
HEADS, DEPTH = 4, 64  # of the long one
MOST_SCRATCH = 16 * (48 << 10)  # blocks that a first-level cache holds, for each worker
TOLERANCE = 2e-5  # weights sum to one: of the largest value, about


class Case:
    """One attention: its nodes, and what they give."""

    def __init__(self, seed, number):
        self.rng = rng = np.random.default_rng([seed, number])
        self.name, self.nodes, self.constants, self.inputs = f"c{number}", [], [], {}
        self.batch, self.heads = int(rng.integers(1, 3)), int(rng.integers(1, 4))
        self.rows = int(rng.choice([1, 5, 16, 31, 32, 33, 50, 64, 97]))
        self.keys = int(rng.choice([1, 3, 14, 28, 50, 112, 113, 150, 224, 230]))
        if self.rows == 1:  # a step of decoding: several blocks of keys
            self.keys = int(rng.choice([1, 14, 113, 256, 257, 600]))
        self.depth, self.columns = (int(rng.choice([1, 4, 8, 13, 16, 32, 40])) for _ in range(2))
        self.build()

    def add(self, op, inputs, **attributes):
        result = f"{self.name}_v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [result], **attributes))
        return result

    def constant(self, value):
        name = f"{self.name}_k{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(value, name))
        return name

    def input(self, what, rows, columns):
        """[batch, heads, rows, columns], of an input that may have them in another order."""
        value = self.rng.standard_normal((self.batch, self.heads, rows, columns))
        value = value.astype(np.float32)
        name = f"{self.name}_{what}"
        # As it is, rows of all heads together, or columns as rows.
        order = [[0, 1, 2, 3], [0, 2, 1, 3], [0, 1, 3, 2]][self.rng.choice(3, p=[0.4, 0.4, 0.2])]
        self.inputs[name] = np.ascontiguousarray(value.transpose(order))
        if order != [0, 1, 2, 3]:
            name = self.add("Transpose", [name], perm=order)
        return value.astype(np.float64), name

    def scaled(self, name, value, scale, chance):
        if self.rng.random() >= chance:
            return name, value
        number = self.constant(np.float32(scale))
        return self.add("Mul", [name, number]), value * np.float64(np.float32(scale))

    def masked(self, name, scores):
        rng, shape = self.rng, scores.shape
        kind = rng.choice(["none", "keys", "all", "causal", "where"])
        if kind == "keys":  # of every row the same ones
            mask = np.where(rng.random((self.batch, 1, 1, self.keys)) < 0.3, -1e4, 0)
            mask[..., 0] = 0  # of scores near -1e4 alone, f32 would know too little
        elif kind == "all":
            mask = rng.standard_normal((1, 1) + shape[2:])
        elif kind in ("causal", "where"):
            late = np.arange(self.keys) > np.arange(self.rows)[:, None] + rng.integers(-1, 40)
            late |= rng.random(shape[2:]) < (0.2 if kind == "where" else 0)
            mask = np.where(late, -np.inf, 0)[None, None]
        else:
            return name, scores
        mask = mask.astype(np.float32)
        if kind == "where":
            condition, least = self.constant(mask == 0), self.constant(np.float32(-np.inf))
            return self.add("Where", [condition, name, least]), np.where(mask == 0, scores, -np.inf)
        if rng.random() < 0.5:
            self.inputs[f"{self.name}_mask"] = mask
            return self.add("Add", [name, f"{self.name}_mask"]), scores + mask
        return self.add("Add", [name, self.constant(mask)]), scores + mask

    def build(self):
        rng = self.rng
        q, q_name = self.input("q", self.rows, self.depth)
        k, k_name = self.input("k", self.keys, self.depth)
        v, v_name = self.input("v", self.keys, self.columns)
        q_name, q = self.scaled(q_name, q, self.depth**-0.5, 0.5)
        turned = self.add("Transpose", [k_name], perm=[0, 1, 3, 2])
        scores = np.einsum("bhid,bhjd->bhij", q, k)
        name, scores = self.scaled(self.add("MatMul", [q_name, turned]), scores, 0.7, 0.5)
        name, scores = self.masked(name, scores)
        weights = self.add("Softmax", [name], axis=-1)
        with np.errstate(invalid="ignore"):
            exponents = np.exp(scores - scores.max(-1, keepdims=True))
        expected = np.einsum("bhij,bhje->bhie", exponents / exponents.sum(-1, keepdims=True), v)
        name = self.add("MatMul", [weights, v_name])
        if rng.random() < 0.3:
            other = rng.standard_normal((1, 1, 1, self.columns)).astype(np.float32)
            name, expected = self.add("Add", [name, self.constant(other)]), expected + other
        if rng.random() < 0.5:
            name, expected = (self.add("Transpose", [name], perm=[0, 2, 1, 3]),
                              expected.transpose(0, 2, 1, 3))
        self.nodes[-1].output[0] = f"{self.name}_y"
        self.expected = expected

    def check(self, actual):
        if not np.array_equal(np.isnan(actual), np.isnan(self.expected)):
            raise Failure(f"{self.name}: NaN where there should be none, or none where it should")
        error = np.nanmax(np.abs(actual - self.expected), initial=0)
        if error > TOLERANCE * max(1, np.nanmax(np.abs(self.expected), initial=0)):
            raise Failure(f"{self.name}: {self.rows} rows, {self.keys} keys, depth {self.depth}, "
                          f"{self.columns} columns: off by {error:.2e}")
        return error


def make_model(cases):
    def values(arrays):
        return [helper.make_tensor_value_info(name, TensorProto.FLOAT, array.shape)
                for name, array in arrays.items()]

    inputs = {name: array for case in cases for name, array in case.inputs.items()}
    outputs = {f"{case.name}_y": case.expected for case in cases}
    graph = helper.make_graph([node for case in cases for node in case.nodes], "attention",
                              values(inputs), values(outputs),
                              [c for case in cases for c in case.constants])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def run_way(way, path, inputs, folder):
    target, flags, _ = WAYS[way]
    outdir = compile_model(path, target, folder, {}, flags)
    kernels = json.loads((outdir / "metadata.json").read_text())["kernels"]
    blocks = sum(k["realisation"] == "attention" for k in kernels)
    join_kernels(outdir)
    library = folder / f"{path.stem}_{way}.so"
    build_library(outdir, target, library, 2, turns.compiler(library))
    model = CompiledModel(library, model_name(outdir))
    actual = model.run(inputs, fill=0xFF)
    require_steady(model, inputs, actual)
    model.close()
    return actual, blocks


def arena_bytes(length, target, folder, flags):
    """Of masked attention over so many positions, whose result is read by another product."""
    dims, turned = [1, HEADS, length, DEPTH], [1, HEADS, DEPTH, length]
    shapes = {"q": dims, "kt": turned, "v": dims, "mask": [length, length]}
    nodes = [helper.make_node("MatMul", ["q", "kt"], ["s"]),
             helper.make_node("Add", ["s", "mask"], ["z"]),
             helper.make_node("Softmax", ["z"], ["p"], axis=-1),
             helper.make_node("MatMul", ["p", "v"], ["o"]),
             helper.make_node("Tanh", ["o"], ["a"]),
             helper.make_node("MatMul", ["a", "kt"], ["y"])]
    graph = helper.make_graph(
        nodes, "long", [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
                        for name, shape in shapes.items()],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, HEADS, length, length])])
    path = folder / f"long_{length}.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10),
              path)
    outdir = compile_model(path, target, folder, {}, flags)
    return json.loads((outdir / "metadata.json").read_text())["arena"]["bytes"]


def require_constant_scratch(way, folder):
    """Beside the value between its two kernels the arena has room for blocks, for any length."""
    target, flags, _ = WAYS[way]
    short, long = (arena_bytes(length, target, folder, flags) - 4 * HEADS * length * DEPTH
                   for length in (2048, 8192))
    print(f"{way}: {short} bytes of scratch at 2048 keys, {long} at 8192", flush=True)
    if not 0 <= min(short, long) <= max(short, long) <= MOST_SCRATCH:
        raise Failure("that is not what blocks of queries and keys need")


def check(options, folder):
    folder.mkdir(parents=True, exist_ok=True)
    cases = [Case(options.seed, n) for n in range(options.first, options.first + options.count)]
    path = folder / f"attention_{options.seed}_{options.first}.onnx"
    onnx.save(make_model(cases), path)
    inputs = {name: array for case in cases for name, array in case.inputs.items()}
    for way in options.way:
        if WAYS[way][2] and not has_feature(WAYS[way][2]):
            continue
        actual, blocks = run_way(way, path, inputs, folder)
        errors = [case.check(actual[f"{case.name}_y"]) for case in cases]
        print(f"{way}: {len(cases)} hold, {blocks} kernels in blocks, errors up to "
              f"{max(errors):.1e}", flush=True)
        if way in IN_BLOCKS and options.count >= 10 and blocks < options.count // 3:
            raise Failure("few of them are computed in blocks")
        if way in ("cpu", "cuda"):
            require_constant_scratch(way, folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first one")
    parser.add_argument("--count", type=int, default=16)
    parser.add_argument("--way", action="append", choices=WAYS, help="default: all")
    options = parser.parse_args()
    options.way = options.way or list(WAYS)
    folder = work_folder() / "random_tests" / f"attention_{options.seed}_{options.first}"
    try:
        check(options, folder)
    except Failure as failure:
        print(failure)
        return 1
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
