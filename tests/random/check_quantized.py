#!/usr/bin/env python3
"""Random quantised graphs, compiled in several ways, against onnxruntime that optimises nothing.

    tests/random/check_quantized.py                            # the short sample
    tests/random/check_quantized.py --seed 7 --count 400
    tests/random/check_quantized.py --seed 7 --first 123 --count 1     # one graph again

Sums of integers are exact. Rounded results may be a quantum off where onnxruntime's floats lie at a
tie: in one of a thousand elements of all graphs of a way. All ways give the same bytes.
A contraction that the first of them leaves to plain loops fails. Exit status 0: all hold.
"""
import argparse
import json
import pathlib
import shutil
import sys

import numpy as np
import onnx
from onnxruntime.capi.onnxruntime_pybind11_state import (Fail, InvalidArgument, NotImplemented,
                                                         RuntimeException)

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent / "models"))

import quantized_graph  # noqa: E402
import reference  # noqa: E402
import turns  # noqa: E402
from build_output import (Failure, build_library, compile_model, has_feature,  # noqa: E402
                          join_kernels, model_name)
from check_model import require_steady  # noqa: E402
from model_list import work_folder  # noqa: E402
from model_table import CompiledModel  # noqa: E402

# Way -> target, flags, the feature of /proc/cpuinfo that running it needs.
WAYS = {"cpu": ("cpu", [], ""),
        "cpu-v4": ("cpu", ["--cpu=x86-64-v4"], "avx512vl"),
        "cpu-vnni": ("cpu", ["--cpu=x86-64-v4+avx512vnni"], "avx512_vnni"),
        "cpu-v3": ("cpu", ["--cpu=x86-64-v3"], "avx2"),
        "cpu-v3-vnni": ("cpu", ["--cpu=x86-64-v3+avxvnni"], "avx_vnni"),
        "cpu-v1": ("cpu", ["--cpu=x86-64"], ""),
        "cpu-portable": ("cpu", ["--cpu=portable"], ""),
        "cpu-plain-loops": ("cpu", ["--no-templates", "--cpu=x86-64-v3"], "avx2"),
        "cuda": ("cuda", [], "")}
MOST_TIES = 1e-3
REFUSALS = (Fail, InvalidArgument, NotImplemented, RuntimeException)


def known(case, folder):
    """Whether onnxruntime takes the graph."""
    path = folder / "case.onnx"
    onnx.save(quantized_graph.make_model([case]), path)
    try:
        reference.run(path, make_inputs(path, 1), optimised=False)
    except REFUSALS:
        return False
    return True


def make_inputs(path, seed):
    """Floats spread over a few units, bytes over all of theirs."""
    rng, made = np.random.default_rng(seed), {}
    for name, (dtype, shape) in reference.input_shapes(path, {}).items():
        if dtype.kind == "f":
            made[name] = rng.normal(0, 2, shape).astype(dtype)
        else:
            info = np.iinfo(dtype)
            made[name] = rng.integers(info.min, info.max + 1, shape).astype(dtype)
    return made


def compare(actual, expected):
    """Elements that are a quantum off, and all. A Failure for more than that."""
    ties = elements = 0
    for name, wanted in expected.items():
        got = actual[name]
        if got.shape != wanted.shape or got.dtype != wanted.dtype:
            raise Failure(f"{name}: {got.dtype}{got.shape}, not {wanted.dtype}{wanted.shape}")
        apart = np.abs(got.astype(np.int64) - wanted.astype(np.int64))
        most = 0 if name.endswith("_exact") else 1
        if apart.size and apart.max() > most:
            at = np.unravel_index(apart.argmax(), apart.shape)
            raise Failure(f"{name} at {[int(i) for i in at]}: {got[at]}, not {wanted[at]}; "
                          f"{(apart > most).mean():.1%} of the elements off")
        ties, elements = ties + int((apart == 1).sum()), elements + apart.size
    return ties, elements


def plain_contractions(outdir):
    """The contractions that run on plain loops."""
    kernels = json.loads((outdir / "metadata.json").read_text())["kernels"]
    return [f"{k['nodes'][0]}: {k['reason']}" for k in kernels
            if k["contraction"] and "loops" in k["realisation"]]


def run_way(way, path, inputs, folder):
    """What the model gives, compiled this way."""
    target, flags, _ = WAYS[way]
    outdir = compile_model(path, target, folder, {}, flags)
    if way == "cpu":
        if plain := plain_contractions(outdir):
            raise Failure("on plain loops:\n  " + "\n  ".join(plain))
    join_kernels(outdir)
    library = folder / f"{path.stem}_{way}.so"
    build_library(outdir, target, library, 2, turns.compiler(library))
    model = CompiledModel(library, model_name(outdir))
    actual = model.run(inputs, fill=0xFF)
    require_steady(model, inputs, actual)
    model.close()
    return actual


def check(options, folder):
    numbers = range(options.first, options.first + options.count)
    cases = [quantized_graph.make_case(options.seed, number) for number in numbers]
    folder.mkdir(parents=True, exist_ok=True)
    cases = [case for case in cases if known(case, folder)]
    path = folder / f"quantized_{options.seed}_{options.first}.onnx"
    onnx.save(quantized_graph.make_model(cases), path)
    inputs = make_inputs(path, options.seed)
    expected = reference.run(path, inputs, optimised=False)
    first = None
    for way in options.way:
        if WAYS[way][2] and not has_feature(WAYS[way][2]):
            continue
        actual = run_way(way, path, inputs, folder)
        ties, elements = compare(actual, expected)
        if ties > MOST_TIES * elements:
            raise Failure(f"{way}: {ties} of {elements} elements are a quantum off")
        if first is not None:
            if other := [n for n in first if not np.array_equal(first[n], actual[n])]:
                raise Failure(f"{way} differs from {options.way[0]}: {', '.join(other)}")
        first = actual if first is None else first
        print(f"{way}: {len(cases)} graphs, {ties} of {elements} elements a quantum off",
              flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first graph")
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--way", action="append", choices=WAYS, help="default: all")
    options = parser.parse_args()
    options.way = options.way or list(WAYS)
    folder = work_folder() / "random_tests" / f"quantized_{options.seed}_{options.first}"
    try:
        check(options, folder)
    except Failure as failure:
        print(failure)
        return 1
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
