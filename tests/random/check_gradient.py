#!/usr/bin/env python3
"""Graphs with Gradient against central differences, by ONNX's reference evaluator in f64.

    tests/random/check_gradient.py                                # each rule once, a few chains
    tests/random/check_gradient.py --seed 7 --each 20 --chains 200 --way cuda
    tests/random/check_gradient.py --rule conv --each 50 --type float64

Limits, of the largest element of a gradient: 3e-4 in f32, 1e-6 in f64, 1e-3 where a derivative is
differentiated; and four times what half the step changes. Where that is more than a hundredth, as
beside a kink, an element is not compared; no more than one in fifty may be such. Exit status 0: all
hold.
"""
import argparse
import collections
import pathlib
import shutil
import sys

import numpy as np
import onnx
from onnx import helper, numpy_helper

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent / "models"))

import gradient_rules  # noqa: E402
import turns  # noqa: E402
from build_output import (Failure, build_library, compile_model, join_kernels,  # noqa: E402
                          model_name)
from check_model import require_steady  # noqa: E402
from gradient_case import OPSET, TRAINING, Case  # noqa: E402
from model_list import work_folder  # noqa: E402
from model_table import CompiledModel  # noqa: E402

BATCH = 40
LIMITS = {"float32": 3e-4, "float64": 1e-6}
SECOND_LIMIT = 1e-3
UNCLEAR, MOST_UNCLEAR = 1e-2, 0.02


def draw(options):
    """The cases, numbered by rule: any is drawn again by the same seed and rule."""
    rules = [name for name in gradient_rules.RULES if not options.rule or name in options.rule]
    wanted = [(name, gradient_rules.RULES[name], i) for i in range(options.each) for name in rules]
    wanted += [("chain", gradient_rules.chain, i) for i in range(options.chains)]
    cases = []
    for name, rule, number in wanted:
        rng = np.random.default_rng([options.seed, number, *name.encode()])
        case = Case(f"{name}{number}", rng)
        rule(case)
        cases.append(case)
    return cases


def model_of(cases, dtype):
    """One model of all cases, and its inputs and symbols."""
    of_onnx = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    nodes, inputs, outputs, constants, feeds, dims = [], [], [], [], {}, {}
    for case in cases:
        nodes += case.proto_nodes(dtype) + case.gradient_nodes()
        for name, array in case.floats.items():
            array = array.astype(dtype)
            if name in case.weights:
                constants.append(numpy_helper.from_array(array, name))
                continue
            symbols = case.symbols[name]
            shape = [symbols.get(axis, size) for axis, size in enumerate(array.shape)]
            dims |= {symbol: f"1..{2 * array.shape[axis]}" for axis, symbol in symbols.items()}
            inputs.append(helper.make_tensor_value_info(name, of_onnx, shape))
            feeds[name] = array
        constants += [numpy_helper.from_array(array, name)
                      for name, array in case.constants.items()]
        outputs += [helper.make_tensor_value_info(name, of_onnx, None)
                    for derivative in case.derivatives for name in derivative.outputs]
    model = helper.make_model(
        helper.make_graph(nodes, "gradients", inputs, outputs, constants), ir_version=10,
        opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid(TRAINING, 1)])
    return model, feeds, dims


def run(cases, way, dtype, folder):
    """Outputs by name, of the compiled model."""
    model, feeds, dims = model_of(cases, dtype)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "gradients.onnx"
    onnx.save(model, path)
    outdir = compile_model(path, way, folder, dims, turns.cpu_flags(way, folder))
    join_kernels(outdir)
    library = folder / f"gradients_{cases[0].name}_{len(cases)}.so"
    build_library(outdir, way, library, 1, turns.compiler(folder))
    compiled = CompiledModel(library, model_name(outdir))
    results = compiled.run(feeds, fill=0xFF)
    require_steady(compiled, feeds, results)
    compiled.close()
    return results


def run_apart(cases, way, dtype, folder, failures):
    """The same of each half where all together do not compile; name of a case -> why not."""
    try:
        return run(cases, way, dtype, folder)
    except Failure as failure:
        if len(cases) == 1:
            failures[cases[0].name] = str(failure).strip()
            return {}
    half = len(cases) // 2
    return {**run_apart(cases[:half], way, dtype, folder, failures),
            **run_apart(cases[half:], way, dtype, folder, failures)}


def findings(case, results, dtype, counts):
    """What is wrong with a case."""
    found = []
    for name, (expected, change) in case.expected().items():
        actual = results[name]
        if actual.shape != expected.shape or actual.dtype != dtype:
            found.append(f"{name}: {actual.dtype}{actual.shape}, not {expected.shape}")
            continue
        if not expected.size:
            continue
        is_second = case.second_of is not None and name not in case.second_of.outputs
        scale = max(np.abs(expected).max(), 1e-2)
        limit = (SECOND_LIMIT if is_second else LIMITS[dtype]) * scale + 4 * change
        is_clear = change <= UNCLEAR * scale
        counts["elements"] += expected.size
        counts["unclear"] += int((~is_clear).sum())
        error = np.where(is_clear, np.abs(actual.astype(float) - expected) - limit, -1)
        if not (error <= 0).all():  # also where it is not a number
            at = np.unravel_index(np.where(np.isnan(error), np.inf, error).argmax(), error.shape)
            found.append(f"{name} at {[int(i) for i in at]}: {actual[at]}, not {expected[at]}")
    return found


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--each", type=int, default=1, help="cases of each rule")
    parser.add_argument("--chains", type=int, default=10)
    parser.add_argument("--rule", action="append", choices=sorted(gradient_rules.RULES))
    parser.add_argument("--way", action="append", choices=["cpu", "cuda"])
    parser.add_argument("--type", action="append", choices=sorted(LIMITS))
    return parser.parse_args()


def check(cases, way, dtype, seed):
    """Whether all hold."""
    failures, counts = {}, collections.Counter()
    folder = work_folder() / "gradient_tests" / f"{way}_{dtype}_{seed}"
    shutil.rmtree(folder, ignore_errors=True)
    for first in range(0, len(cases), BATCH):
        batch = cases[first:first + BATCH]
        results = run_apart(batch, way, dtype, folder, failures)
        for case in batch:
            if case.name in failures:
                continue
            found = findings(case, results, dtype, counts)
            if found:
                failures[case.name] = "; ".join(found)
    for name, text in failures.items():
        print(f"{name}: {text[:400]}")
    print(f"{way} {dtype}: {len(cases) - len(failures)} hold, {len(failures)} fail; "
          f"{counts['elements']} elements, {counts['unclear']} unclear")
    if counts["unclear"] > MOST_UNCLEAR * counts["elements"]:
        print("too many elements are unclear")
        return False
    return bool(cases) and not failures


def main():
    options = parse_arguments()
    cases = draw(options)
    good = [check(cases, way, dtype, options.seed)
            for way in options.way or ["cpu"] for dtype in options.type or ["float32"]]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
