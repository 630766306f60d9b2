#!/usr/bin/env python3
"""Ops that draw random numbers: what they give has the distribution that ONNX says, is the same on
every target and in every run, and differs between nodes, between the rounds of loops around them,
and, with --random-seed-input, between seeds.

    tests/random/check_drawn.py

Exit status 0: all holds.
"""
import itertools
import pathlib
import shutil
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER.parent / "models"), str(FOLDER.parent / "conformance")]

import turns  # noqa: E402
from build_output import build_library, compile_model, join_kernels, model_name  # noqa: E402
from model_list import work_folder  # noqa: E402
from model_table import CompiledModel  # noqa: E402

COUNT = 20000
ROUNDS = 3
NUMBERS = itertools.count()
RATIO = 0.3
WEIGHTS = np.array([0.1, 0.0, 0.6, 0.3])
FLAGS = {"cpu": ["--cpu=x86-64-v3"], "cuda": []}


def nodes_of_model():
    """(node, dtype of its first output)"""
    like, f4, f8 = ["x"], TensorProto.FLOAT, TensorProto.DOUBLE
    made = [("RandomUniform", [], {"shape": [COUNT], "low": -1.0, "high": 3.0}, f4),
            ("RandomUniform", [], {"shape": [COUNT], "seed": 5.0}, f4),
            ("RandomUniform", [], {"shape": [COUNT], "seed": 5.0}, f4),
            ("RandomUniformLike", like, {"low": -1.0, "high": 3.0}, f4),
            ("RandomUniformLike", like, {"dtype": f8}, f8),
            ("RandomNormal", [], {"shape": [COUNT], "mean": 2.0, "scale": 0.5}, f4),
            ("RandomNormalLike", like, {"mean": 2.0, "scale": 0.5}, f4),
            ("RandomNormalLike", like, {"dtype": f8}, f8),
            ("RandomNormalLike", like, {"dtype": TensorProto.FLOAT16}, TensorProto.FLOAT16),
            ("Bernoulli", ["p"], {}, f4),
            ("Bernoulli", ["p"], {"dtype": TensorProto.BOOL}, TensorProto.BOOL),
            ("Multinomial", ["logits"], {"sample_size": COUNT}, TensorProto.INT32),
            ("Dropout", ["x", "ratio", "training"], {}, f4),
            ("Dropout", ["x", "ratio", "training"], {"seed": 3}, f4),
            ("Dropout", ["x", "ratio", "flag"], {}, f4)]
    for number, (op, inputs, attributes, dtype) in enumerate(made):
        outputs = [f"y{number}", f"m{number}"] if op == "Dropout" else [f"y{number}"]
        yield helper.make_node(op, inputs, outputs, **attributes), dtype


def make_model():
    nodes = list(nodes_of_model())
    outputs = [helper.make_tensor_value_info(node.output[0], dtype, None) for node, dtype in nodes]
    outputs += [helper.make_tensor_value_info(node.output[1], TensorProto.BOOL, None)
                for node, _ in nodes if len(node.output) > 1]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n"]),
              helper.make_tensor_value_info("p", TensorProto.FLOAT, [COUNT]),
              helper.make_tensor_value_info("logits", TensorProto.FLOAT, [2, len(WEIGHTS)]),
              helper.make_tensor_value_info("flag", TensorProto.BOOL, [])]
    constants = [helper.make_tensor("ratio", TensorProto.FLOAT, [], [RATIO]),
                 helper.make_tensor("training", TensorProto.BOOL, [], [True])]
    graph = helper.make_graph([node for node, _ in nodes], "drawn", inputs, outputs, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)


def region(name, nodes, inputs, outputs):
    def types(values):
        return [helper.make_tensor_value_info(name, *type_) for name, type_ in values.items()]

    return helper.make_graph(nodes, name, types(inputs), types(outputs))


def drawing_body(draw, inputs):
    """A body of a Loop that stacks what `draw` makes of it as r."""
    counter = {"i" + inputs: (TensorProto.INT64, []), "c" + inputs: (TensorProto.BOOL, [])}
    keep = helper.make_node("Identity", ["c" + inputs], ["k" + inputs])
    return region("body" + inputs, [*draw, keep], counter,
                  {"k" + inputs: (TensorProto.BOOL, []), "r" + inputs: (TensorProto.FLOAT, None)})


def make_rounds_model():
    """Draws in a Loop, in a branch in a Loop in a Loop, and in a Scan; each gives its rounds."""
    floats, trip = TensorProto.FLOAT, ["rounds", ""]
    draw = helper.make_node("RandomUniform", [], ["r1"], shape=[COUNT])
    loop = helper.make_node("Loop", trip, ["loop"], body=drawing_body([draw], "1"))
    branches = {f"{name}_branch": region(name, [helper.make_node(
        "RandomNormal", [], [name], shape=[COUNT], mean=mean)], {}, {name: (floats, [COUNT])})
        for name, mean in (("then", 0.0), ("else", 100.0))}
    inner = drawing_body([helper.make_node("If", ["flag"], ["r3"], **branches)], "3")
    outer = drawing_body([helper.make_node("Loop", trip, ["r2"], body=inner)], "2")
    nested = helper.make_node("Loop", trip, ["nested"], body=outer)
    scanned = region("scan_body", [helper.make_node("RandomUniformLike", ["row"], ["drawn"])],
                     {"row": (floats, [COUNT])}, {"drawn": (floats, [COUNT])})
    scan = helper.make_node("Scan", ["rows"], ["scan"], body=scanned, num_scan_inputs=1)
    plain = helper.make_node("RandomUniform", [], ["plain"], shape=[COUNT])
    graph = helper.make_graph(
        [loop, nested, scan, plain], "rounds",
        [helper.make_tensor_value_info("rounds", TensorProto.INT64, []),
         helper.make_tensor_value_info("flag", TensorProto.BOOL, []),
         helper.make_tensor_value_info("rows", floats, [ROUNDS, COUNT])],
        [helper.make_tensor_value_info(name, floats, None)
         for name in ("loop", "nested", "scan", "plain")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)


def rounds_inputs(seed=None):
    given = {"rounds": np.array(ROUNDS), "flag": np.array(True),
             "rows": np.zeros((ROUNDS, COUNT), "f4")}
    return given if seed is None else given | {"aotc_seed": np.array([seed])}


def make_inputs(flag):
    with np.errstate(divide="ignore"):
        logits = np.log(np.stack([WEIGHTS, WEIGHTS[::-1]])).astype("f4")
    return {"x": np.linspace(1, 2, COUNT, dtype="f4"), "flag": np.array(flag),
            "p": np.repeat(np.array([0, 0.25, 0.5, 1], "f4"), COUNT // 4),
            "logits": logits + np.float32(2)}


def run_target(target, made, inputs, *flags):
    folder = work_folder() / "drawn" / f"{target}_{next(NUMBERS)}"  # no library is loaded twice
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    onnx.save(made, folder / "drawn.onnx")
    outdir = compile_model(folder / "drawn.onnx", target, folder, {},
                           [*FLAGS[target], *flags])
    join_kernels(outdir)
    build_library(outdir, target, folder / "drawn.so", 1, turns.compiler(folder))
    model = CompiledModel(folder / "drawn.so", model_name(outdir))
    results = [model.run(one, fill=0xFF) for one in inputs]
    model.close()
    return results


class Checks:
    """Counts and prints what does not hold."""

    def __init__(self):
        self.failed = 0

    def holds(self, what, condition):
        if not condition:
            print(f"does not hold: {what}")
            self.failed += 1

    def near(self, what, actual, expected, error):
        self.holds(f"{what}: {actual}, not {expected}", abs(actual - expected) < error)

    def moments(self, what, values, mean, deviation):
        """Of COUNT draws, within five standard errors; neighbours have nothing to do."""
        values = values.astype("f8")
        self.near(f"mean of {what}", values.mean(), mean, 5 * deviation / COUNT ** 0.5)
        self.near(f"deviation of {what}", values.std(), deviation, 0.03 * deviation)
        apart = (values - mean) / deviation
        self.near(f"correlation in {what}", (apart[1:] * apart[:-1]).mean(), 0, 5 / COUNT ** 0.5)

    def uniform(self, what, values, low, high):
        self.holds(f"{what} within its range", values.min() >= low and values.max() <= high)
        self.moments(what, values, (low + high) / 2, (high - low) / 12 ** 0.5)
        parts, _ = np.histogram(values.astype("f8"), 20, (low, high))
        self.holds(f"{what} even: {parts}", np.abs(parts - COUNT / 20).max() < 6 * 31)

    def normal(self, what, values, mean, scale):
        self.moments(what, values, mean, scale)
        apart = np.abs(values.astype("f8") - mean) / scale
        for limit, share in ((1, 0.6827), (2, 0.9545), (3, 0.9973)):
            self.near(f"{what} within {limit}", (apart < limit).mean(), share, 0.018)


def check_values(checks, results, inputs):
    get = results.__getitem__
    checks.uniform("y0", get("y0"), -1, 3)
    checks.uniform("y1", get("y1"), 0, 1)
    checks.holds("one seed, one stream", np.array_equal(get("y1"), get("y2")))
    checks.uniform("y3", get("y3"), -1, 3)
    checks.holds("nodes differ", not np.array_equal(get("y0"), get("y3")))
    checks.uniform("y4", get("y4"), 0, 1)
    for name, mean, scale in (("y5", 2, 0.5), ("y6", 2, 0.5), ("y7", 0, 1), ("y8", 0, 1)):
        checks.normal(name, get(name), mean, scale)
    for name in ("y9", "y10"):
        parts = get(name).reshape(4, -1).astype("f8")
        checks.holds(f"{name} is 0 or 1", np.isin(parts, (0, 1)).all())
        for p, part in zip((0, 0.25, 0.5, 1), parts):
            checks.near(f"share of {name}", part.mean(), p, 0.04 if 0 < p < 1 else 1e-9)
    for row, weights in zip(get("y11"), (WEIGHTS, WEIGHTS[::-1])):
        for index, weight in enumerate(weights):
            checks.near(f"share of class {index}", (row == index).mean(), weight,
                        0.02 if weight else 1e-9)
    for number in (12, 13, 14):
        values, mask = get(f"y{number}"), get(f"m{number}")
        if number == 14 and not inputs["flag"]:
            checks.holds("no training", np.array_equal(values, inputs["x"]) and mask.all())
            continue
        checks.near(f"share of m{number}", mask.mean(), 1 - RATIO, 0.02)
        expected = np.where(mask, inputs["x"] / (1 - RATIO), 0)
        checks.holds(f"y{number}", np.allclose(values, expected, rtol=1e-5))
    checks.holds("masks differ", not np.array_equal(get("m12"), get("m13")))


def check_rounds(checks, results):
    """Every round has numbers of its own."""
    rows = {name: results[name].reshape(-1, COUNT) for name in ("loop", "nested", "scan", "plain")}
    counts = [len(parts) for parts in rows.values()]
    checks.holds("rounds", counts == [ROUNDS, ROUNDS ** 2, ROUNDS, 1])
    for name, parts in rows.items():
        for number, part in enumerate(parts):
            what = f"round {number} of {name}"
            draw = checks.normal if name == "nested" else checks.uniform
            draw(what, part, 0, 1)
    every = [part.astype("f8") for parts in rows.values() for part in parts]
    for number, one in enumerate(every):
        for other in every[:number]:
            checks.near("correlation of two rounds", np.corrcoef(one, other)[0, 1], 0,
                        5 / COUNT ** 0.5)


def check_seeds(checks):
    """Draws in loops, without the flag and with it; the same on both targets."""
    bound = ["--bound=loop:0=3", "--bound=nested:0=3", "--bound=nested:1=3"]
    seeds = [1, 2, 1]
    plain, seeded = {}, {}
    for target in FLAGS:
        plain[target] = run_target(target, make_rounds_model(), [rounds_inputs()] * 2, *bound)
        seeded[target] = run_target(target, make_rounds_model(), map(rounds_inputs, seeds),
                                    "--random-seed-input", *bound)
        for result in plain[target] + seeded[target]:
            check_rounds(checks, result)
        for name, array in plain[target][0].items():
            checks.holds(f"{name} again", np.array_equal(array, plain[target][1][name]))
            one, two, again = (result[name] for result in seeded[target])
            checks.holds(f"{name} of one seed", np.array_equal(one, again))
            checks.near(f"correlation of {name} of two seeds",
                        np.corrcoef(one.ravel(), two.ravel())[0, 1], 0, 5 / COUNT ** 0.5)
    for ours, others in zip(plain["cpu"] + seeded["cpu"], plain["cuda"] + seeded["cuda"]):
        for name, array in ours.items():
            checks.holds(f"{name} on both targets", np.allclose(array, others[name], atol=1e-5))


def main():
    checks, inputs = Checks(), [make_inputs(True), make_inputs(True), make_inputs(False)]
    check_seeds(checks)
    results = {target: run_target(target, make_model(), inputs, f"--dim=n=1..{COUNT}")
               for target in FLAGS}
    for target in FLAGS:
        for one, given in zip(results[target], inputs):
            check_values(checks, one, given)
        for name, array in results[target][0].items():
            checks.holds(f"{name} again, {target}", np.array_equal(array, results[target][1][name]))
    for name, array in results["cpu"][0].items():
        other = results["cuda"][0][name]
        same = np.array_equal(array, other)
        if name in ("y6", "y7", "y8"):  # logarithms and cosines of two libraries
            same = np.allclose(array.astype("f8"), other.astype("f8"), rtol=0, atol=1e-2
                               if name == "y8" else 1e-5)
        checks.holds(f"{name} is the same on both targets", same)
    print(f"random numbers: {len(results['cpu'][0])} outputs on {len(FLAGS)} targets, "
          f"{checks.failed} checks fail")
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
