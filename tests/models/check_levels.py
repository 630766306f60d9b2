#!/usr/bin/env python3
"""Checks that programs give the right numbers whatever compiler, level and instruction set they are
built with: those of ../shared/cases, which failed once, and random graphs.

    tests/models/check_levels.py
    tests/models/check_levels.py net.onnx

Exit status 0: all hold.
"""
import argparse
import itertools
import pathlib
import shutil
import sys

import onnx

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "random"))

import model_list  # noqa: E402
import random_graph  # noqa: E402
import reference  # noqa: E402
import turns  # noqa: E402
from build_output import (Failure, build_library, compile_model,  # noqa: E402
                          join_kernels, model_name)
from check_model import compare  # noqa: E402
from model_table import CompiledModel  # noqa: E402

BATCH = 2
GRAPHS = (41, 50, 10)  # seed, first and count; g++ 12 broke the seventh at -O3


def subjects(folder):
    """Paths of models without symbols but the batch."""
    model_list.say_if_shared_is_missing()
    path = folder / "random_graphs.onnx"
    seed, first, count = GRAPHS
    onnx.save(random_graph.make_model(seed, count, first), path)
    return [*sorted((model_list.SHARED / "cases").glob("*.onnx")), path]


def check(path, cpu, folder):
    """The number of builds that give wrong numbers; prints them."""
    inputs = reference.make_inputs(path, {random_graph.BATCH: BATCH}, 1)
    expected, noise = reference.expected_outputs(path, inputs)
    dims = random_graph.dims_of(path)
    outdir = compile_model(path, "cpu", folder, dims, ["--cpu", cpu])
    join_kernels(outdir)
    failed = 0
    for compiler, level in itertools.product(turns.COMPILERS, turns.LEVELS):
        library = folder / f"{path.stem}_{cpu}_{compiler}{level}.so"
        try:
            build_library(outdir, "cpu", library, 2,
                          (compiler, "-std=c++17", level, *turns.WARNINGS))
            model = CompiledModel(library, model_name(outdir))
            compare(model.run(inputs, fill=0xFF), expected, noise)
            model.close()
        except Failure as failure:
            print(f"{path.stem}, {cpu}, {compiler} {level}: {failure}", flush=True)
            failed += 1
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    folder = model_list.work_folder() / "level_tests"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    models = options.models or subjects(folder)
    each = len(turns.COMPILERS) * len(turns.LEVELS)
    failed = sum(check(path, cpu, folder / f"{path.stem}_{cpu}")
                 for path in models for cpu in turns.known_cpus())
    built = each * len(models) * len(turns.known_cpus())
    print(f"{len(models)} models, {built} builds: {built - failed} hold, {failed} fail")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
