#!/usr/bin/env python3
"""Single operators with random attributes, shapes and types, against onnxruntime, or
ONNX's evaluator.

    tests/random/check_operators.py                            # the short sample
    tests/random/check_operators.py --seed 7 --count 2000
    tests/random/check_operators.py --seed 7 --first 123 --count 1 --way cpu     # one again
    tests/random/check_operators.py --family resize --count 200

Cases of one opset are components of one model, which costs one compilation. Way "evaluator" makes
constants of all operands, so that the compiler folds the operators; symbolic ways make a symbol of
a dim, which the compiler may refuse. What onnxruntime refuses is not counted. Exit status 0: all
hold.
"""
import argparse
import collections
import concurrent.futures
import pathlib
import shutil
import sys

import numpy as np
import onnx

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER.parent / "models"), str(FOLDER.parent / "conformance")]

import merge_models  # noqa: E402
import operator_indices  # noqa: E402
import operator_numbers  # noqa: E402
import operator_opsets  # noqa: E402
import operator_recurrent  # noqa: E402
import operator_states  # noqa: E402
import operator_windows  # noqa: E402
from build_output import (Failure, build_library, compile_model, join_kernels,  # noqa: E402
                          model_name)
from check_model import require_steady  # noqa: E402
from model_list import build_folder  # noqa: E402
from model_table import CompiledModel  # noqa: E402
from operator_case import Draw, difference, make_case  # noqa: E402

FAMILIES = (*operator_windows.FAMILIES, *operator_indices.FAMILIES, *operator_numbers.FAMILIES,
            *operator_opsets.FAMILIES, *operator_recurrent.FAMILIES, *operator_states.FAMILIES)
Way = collections.namedtuple("Way", "target flags form")
WAYS = {"evaluator": Way("cpu", ["--cpu=x86-64"], "folded"),
        "cpu": Way("cpu", ["--cpu=x86-64-v3"], ""),
        "cuda": Way("cuda", [], ""),
        "cpu-symbolic": Way("cpu", ["--cpu=x86-64-v3"], "symbolic"),
        "cuda-symbolic": Way("cuda", [], "symbolic")}
COMPILER = ("g++", "-std=c++17", "-O1")


def draw_case(seed, number, family, form, families=FAMILIES):
    """Case `number`, or None; it depends on the seed, the number and the family alone."""
    draw = Draw(np.random.default_rng([seed, number]))
    known = [f for f in families if f.__name__.strip("_") == family] or families
    return make_case(draw, draw.pick(known)(draw), f"n{number}", form)


def batches_of(cases, size):
    """Lists of cases of one opset of each domain."""
    groups = {}
    for case in cases:
        opsets = (case.node.opset, case.node.domain, case.node.version)
        groups.setdefault(opsets, []).append(case)
    return [group[i:i + size] for group in groups.values() for i in range(0, len(group), size)]


def run(model, inputs):
    """Outputs by name."""
    results = model.run(inputs, fill=0xFF)
    require_steady(model, inputs, results)
    return results


def compile_cases(way, cases, folder):
    """The outdir of the model of all cases."""
    folder.mkdir(parents=True, exist_ok=True)
    path, copies, dims = folder / "batch.onnx", [], {}
    for case in cases:
        copies.append(onnx.ModelProto())
        copies[-1].CopyFrom(case.model)
        dims.update(case.dims)
    onnx.save(merge_models.merge(copies), path)
    return compile_model(path, WAYS[way].target, folder, dims, WAYS[way].flags)


def is_refused(way, case, folder):
    try:
        compile_cases(way, [case], folder)
    except Failure as failure:
        return "exit status 1:" in str(failure)
    return False


def attempt(way, cases, folder, number=[0]):
    """Name -> what is wrong with its outputs. Failure where not even the batch runs."""
    target = WAYS[way].target
    outdir = compile_cases(way, cases, folder)
    join_kernels(outdir)
    number[0] += 1  # a process loads a path once
    library = folder / f"batch{number[0]}.so"
    build_library(outdir, target, library, 1, COMPILER)
    model = CompiledModel(library, model_name(outdir))
    inputs = {merge_models.prefix_of(i) + name: array for i, case in enumerate(cases)
              for name, array in case.inputs.items()}
    results, found = run(model, inputs), {}
    for i, case in enumerate(cases):
        for name, expected in case.expected.items():
            text = difference(case.node, results[merge_models.prefix_of(i) + name], expected)
            if text:
                found[case.name] = f"output {name}: {text}"
    model.close()
    return found


def failing(way, cases, folder):
    """Name -> text of each case that fails: halves of what cannot be compiled or run together."""
    try:
        return attempt(way, cases, folder)
    except Failure as failure:
        if len(cases) == 1:
            return {cases[0].name: str(failure)}
        half = len(cases) // 2
        found = {**failing(way, cases[:half], folder), **failing(way, cases[half:], folder)}
        return found or {cases[0].name: f"only with others: {failure}"}


def check_way(options, way, numbers, families=FAMILIES, folder="operator_tests", least=0):
    """The number of cases that fail; prints them. Fewer than `least` cases are a failure too."""
    drawn = [draw_case(options.seed, n, options.family, WAYS[way].form, families) for n in numbers]
    cases = {case.name: case for case in drawn if case is not None}
    root = build_folder() / folder / way
    shutil.rmtree(root, ignore_errors=True)
    found = {}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        if WAYS[way].form == "symbolic":
            refused = pool.map(lambda n: is_refused(way, cases[n], root / n), cases)
            cases = {n: cases[n] for n, is_out in zip(list(cases), list(refused)) if not is_out}
        runs = [pool.submit(failing, way, batch, root / f"batch_{i}")
                for i, batch in enumerate(batches_of(cases.values(), options.batch))]
        for one in concurrent.futures.as_completed(runs):
            found.update(one.result())
    family = f" --family {options.family}" if options.family else ""
    for name, text in sorted(found.items()):
        print(f"{name}, {way}: {cases[name].describe()}\n  {text[:1200]}\n  again: --seed "
              f"{options.seed} --first {name[1:]} --count 1 --way {way}{family}", flush=True)
    print(f"operators, {way}, seed {options.seed}: {len(cases) - len(found)} hold, {len(found)} "
          f"fail, {len(numbers) - len(cases)} not drawn or refused", flush=True)
    if len(cases) < least:
        print(f"{way}: {len(cases)} cases, and not {least}", flush=True)
    return len(found) + (len(cases) < least)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--batch", type=int, default=40, help="cases per model")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--family", default="", help="the name of its function (default: all)")
    parser.add_argument("--way", action="append", choices=WAYS, help="default: all")
    options = parser.parse_args()
    options.way = options.way or list(WAYS)
    return options


def main():
    options = parse_arguments()
    numbers = range(options.first, options.first + options.count)
    return 1 if sum(check_way(options, way, numbers) for way in options.way) else 0


if __name__ == "__main__":
    sys.exit(main())
