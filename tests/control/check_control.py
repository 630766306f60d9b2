#!/usr/bin/env python3
"""If, Loop and Scan against onnxruntime: hand-written models and random nested ones.

    tests/control/check_control.py                                 # in the reference evaluator
    tests/control/check_control.py --way cpu --case loop_nested
    tests/control/check_control.py --seed 7 --count 300            # random ones besides
    tests/control/check_control.py --way cuda --case random_7_123 --seed 7

Way "evaluator" runs each model as imported, typed, and after all passes of several levels; "cpu"
and "cuda" run what the compiler writes. Exit status 0: all hold.
"""
import argparse
import concurrent.futures
import dataclasses
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent / "models"))

import control_cases  # noqa: E402
import random_control  # noqa: E402
import reference  # noqa: E402
import turns  # noqa: E402
from build_output import (Failure, build_library, compile_model, join_kernels,  # noqa: E402
                          model_name)
from check_model import require_steady  # noqa: E402
from model_list import build_folder, work_folder  # noqa: E402
from model_table import CompiledModel  # noqa: E402

TOLERANCE = 2e-5  # f32, relative to the largest element
FAINT = 1e-2


def session_of(case):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(case.model.SerializeToString(), options,
                                        providers=["CPUExecutionProvider"])


def expected_of(case):
    """The outputs of each run, in order."""
    session = session_of(case)
    return [session.run(None, run) for run in case.runs]


def nudged(array, random):
    """Floats up to eight roundings away."""
    if array.dtype.kind != "f":
        return array
    return (array * (1 + random.uniform(-5e-7, 5e-7, array.shape))).astype(array.dtype)


def nudged_results(case, random):
    """The outputs of each run with weights and inputs a little different."""
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    for weight in model.graph.initializer:
        array = nudged(numpy_helper.to_array(weight), random)
        weight.CopyFrom(numpy_helper.from_array(array, weight.name))
    runs = [{name: nudged(array, random) for name, array in run.items()} for run in case.runs]
    return expected_of(dataclasses.replace(case, model=model, runs=runs))


def drop_unsteady_runs(case):
    """Of a random model: runs in which roundings decide what branch is taken, or grow, and those
    with results that are all next to 0: differences of numbers around 1, and so mostly roundings.
    """
    random, results = np.random.default_rng(1), expected_of(case)
    worst = [0.0] * len(case.runs)
    for _ in range(3):
        for i, pair in enumerate(zip(nudged_results(case, random), results)):
            # Without a least size: what is left of a difference of equal numbers is all roundings.
            errors = [reference.error_of(a, b, least=1e-30) for a, b in zip(*pair)]
            worst[i] = max(worst[i], *errors)
    case.runs = [run for run, outputs, error in zip(case.runs, results, worst)
                 if error <= TOLERANCE / 4 and not any(map(is_faint, outputs))]


def is_faint(array):
    return array.dtype.kind == "f" and array.size and np.abs(array).max() < FAINT


def difference(actual, expected):
    """What is wrong with an output, or None."""
    if reference.error_of(actual, expected, least=1e-3) <= TOLERANCE:
        return None
    return (f"{actual.dtype}{actual.shape} {actual.ravel()[:6]}, "
            f"not {expected.dtype}{expected.shape} {expected.ravel()[:6]}")


def write_case(case, folder):
    """The model, and a folder of inputs and expected outputs for each run."""
    for number, (run, results) in enumerate(zip(case.runs, expected_of(case))):
        data = folder / case.name / f"test_data_set_{number}"
        data.mkdir(parents=True)
        inputs = [run[info.name] for info in case.model.graph.input]
        for kind, arrays in (("input", inputs), ("output", results)):
            for i, array in enumerate(arrays):
                tensor = numpy_helper.from_array(np.asarray(array))
                (data / f"{kind}_{i}.pb").write_bytes(tensor.SerializeToString())
    onnx.save(case.model, folder / case.name / "model.onnx")


def check_evaluator(cases, folder, _jobs):
    for case in cases:
        write_case(case, folder)
    dims = [f"{name}={bound}" for name, bound in control_cases.DIMS.items()]
    program = build_folder() / "tests/control_cases"
    return subprocess.run([program, folder, *dims], check=False).returncode


def dims_of(case):
    named = {d.dim_param for i in case.model.graph.input for d in i.type.tensor_type.shape.dim}
    return {name: bound for name, bound in control_cases.DIMS.items() if name in named}


def check_compiled(case, target, folder):
    """Compiles one model and runs it; Failure where an output is wrong."""
    folder.mkdir(parents=True)
    path = folder / f"{case.name}.onnx"
    onnx.save(case.model, path)
    flags = turns.cpu_flags(target, folder)
    outdir = compile_model(path, target, folder, dims_of(case), flags)
    join_kernels(outdir)
    library = folder / f"{case.name}.so"
    build_library(outdir, target, library, 1, turns.compiler(folder))
    model = CompiledModel(library, model_name(outdir))
    names = [info.name for info in case.model.graph.output]
    for number, (run, results) in enumerate(zip(case.runs, expected_of(case))):
        actual = model.run(run, fill=0xFF)
        for name, expected in zip(names, results):
            text = difference(actual[name], np.asarray(expected))
            if text:
                raise Failure(f"run {number}, output {name}: {text}")
        require_steady(model, run, actual)
    model.close()


def check_target(target, cases, folder, jobs):
    """The number of cases that fail; prints them."""
    def one(case):
        try:
            check_compiled(case, target, folder / case.name)
        except Failure as failure:
            return f"{case.name}: {str(failure)[:1500]}"
        return None

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        found = [text for text in pool.map(one, cases) if text]
    print("\n".join(found + [f"control flow, {target}: {len(cases) - len(found)} hold, "
                             f"{len(found)} fail"]), flush=True)
    return len(found)


def check_refused(folder):
    """What cannot be compiled is refused with the node's name and a hint."""
    wrong = 0
    for case in control_cases.refused_cases():
        path = folder / f"{case.name}.onnx"
        onnx.save(case.model, path)
        done = subprocess.run([build_folder() / "aotc", path, "-o", folder / "out"], check=False,
                              capture_output=True, text=True)
        named = next(n.name for n in case.model.graph.node if n.op_type in ("If", "Loop"))
        parts = (case.refused, f"node '{named}'", "hint: ")
        if done.returncode != 1 or not all(part in done.stderr for part in parts):
            print(f"{case.name}: exit code {done.returncode}: {done.stderr}")
            wrong += 1
    print(f"control flow, refused: {wrong} are not refused as they should be")
    return wrong


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--way", choices=["evaluator", "cpu", "cuda", "gpu"], default="evaluator")
    parser.add_argument("--case", help="the name of one case")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=40, help="random models")
    parser.add_argument("--jobs", type=int, default=2)
    return parser.parse_args()


def main():
    options = parse_arguments()
    folder = work_folder() / "control_tests" / options.way
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    cases = control_cases.all_cases()
    if options.case and options.case.startswith("random_"):
        cases = [random_control.random_case(*map(int, options.case.split("_")[1:]))]
    elif options.case:
        cases = [case for case in cases if case.name == options.case]
    else:
        cases += [random_control.random_case(options.seed, i) for i in range(options.count)]
    for case in cases:
        if case.name.startswith("random_"):
            drop_unsteady_runs(case)
    cases = [case for case in cases if case.runs]
    if not cases:
        sys.exit(f"no case {options.case}")
    if options.way == "evaluator":
        (folder / "cases").mkdir()
        wrong = check_evaluator(cases, folder / "cases", options.jobs)
        return 1 if check_refused(folder) + wrong else 0
    return 1 if check_target(options.way, cases, folder, options.jobs) else 0


if __name__ == "__main__":
    sys.exit(main())
