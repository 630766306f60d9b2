#!/usr/bin/env python3
"""Random graphs, compiled in several ways, against onnxruntime and so against each other.

    tests/random/check_random.py                          # the short sample
    tests/random/check_random.py --seed 7 --count 500     # in batches of --batch graphs
    tests/random/check_random.py --seed 7 --first 123 --count 1 --way cpu    # one graph again

All graphs of a batch are components of one model, which costs one compilation. Where a batch fails,
its graphs are tried alone to name those that fail. Exit status 0: all hold.
"""
import argparse
import collections
import pathlib
import sys

import onnx

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent / "models"))

import random_graph  # noqa: E402
import reference  # noqa: E402
from build_output import Failure, build_library, compile_model, model_name  # noqa: E402
from check_model import compare, require_steady  # noqa: E402
from model_list import build_folder  # noqa: E402
from model_table import CompiledModel  # noqa: E402

Way = collections.namedtuple("Way", "target flags")
WAYS = {
    "cpu": Way("cpu", []),
    "cpu-unfused": Way("cpu", ["--disable-pass=fuse"]),
    "cpu-O0": Way("cpu", ["-O0"]),
    "cpu-plain-loops": Way("cpu", ["--no-templates"]),
    "cpu-sse2": Way("cpu", ["--cpu=x86-64"]),
    "cuda": Way("cuda", []),
    "cuda-unfused": Way("cuda", ["--disable-pass=fuse"]),
}


def dims_of(path):
    """The bounds of the symbol, where the model has it."""
    inputs = onnx.load(path).graph.input
    named = any(d.dim_param for i in inputs for d in i.type.tensor_type.shape.dim)
    return {random_graph.BATCH: "{}..{}".format(*random_graph.BATCH_BOUNDS)} if named else {}


def check_way(path, name, folder):
    """Compiles and runs one batch one way."""
    way = WAYS[name]
    outdir = compile_model(path, way.target, folder / name, dims_of(path), way.flags)
    library = folder / name / f"{path.stem}.so"  # its own name: a process loads a path once
    build_library(outdir, way.target, library)
    model = CompiledModel(library, model_name(outdir))
    for batch in random_graph.BATCH_BOUNDS:
        inputs = reference.make_inputs(path, {random_graph.BATCH: batch}, batch)
        expected, noise = reference.expected_outputs(path, inputs)
        actual = model.run(inputs, fill=0xFF)
        compare(actual, expected, noise)
        require_steady(model, inputs, actual)
    model.close()


def save(options, first, count, folder):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"random_{options.seed}_{first}_{count}.onnx"
    onnx.save(random_graph.make_model(options.seed, count, first), path)
    return path


def attempt(options, way, first, count, folder):
    """The text of the failure of some graphs, or None."""
    try:
        check_way(save(options, first, count, folder), way, folder)
    except Failure as failure:
        return str(failure)
    return None


def failing(options, way, first, count, folder):
    """The numbers of the graphs that fail, with the texts: halves of what fails together."""
    text = attempt(options, way, first, count, folder)
    if text is None:
        return {}
    if count == 1:
        return {first: text}
    half = count // 2
    found = {**failing(options, way, first, half, folder),
             **failing(options, way, first + half, count - half, folder)}
    return found or {first: f"only graphs {first}..{first + count - 1} together: {text}"}


def check_batch(options, first, count, folder):
    failures = 0
    for way in options.way:
        found = failing(options, way, first, count, folder)
        failures += len(found)
        for number, text in found.items():
            again = f"--seed {options.seed} --first {number} --count 1 --way {way}"
            print(f"graph {number}, {way}: {text[:1500]}\n  again: {again}", flush=True)
    return failures


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first graph")
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--batch", type=int, default=40, help="graphs per model")
    parser.add_argument("--way", action="append", choices=WAYS, help="default: all")
    options = parser.parse_args()
    options.way = options.way or list(WAYS)
    return options


def main():
    options, failures = parse_arguments(), 0
    end = options.first + options.count
    for first in range(options.first, end, options.batch):
        count = min(options.batch, end - first)
        folder = build_folder() / "random_tests"
        failures += check_batch(options, first, count, folder)
        print(f"graphs {first}..{first + count - 1} of seed {options.seed}, "
              f"{len(options.way)} ways: {failures} failures so far", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
