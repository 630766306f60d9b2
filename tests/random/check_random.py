#!/usr/bin/env python3
"""Random graphs, compiled in several ways, against onnxruntime and so against each other.

    tests/random/check_random.py                          # the short sample
    tests/random/check_random.py --seed 7 --count 500     # in batches of --batch graphs
    tests/random/check_random.py --seed 7 --first 123 --count 1 --way cpu    # one graph again

All graphs of a batch are components of one model, which costs one compilation. Where a batch fails,
its halves are tried, to name the graphs that fail. Nearly all of the time goes to the host compiler
and kernels of three instruction sets, of which a machine runs one: `--cpu turns` compiles for one
only, another for each way and batch, and all its kernels as one file. Exit status 0: all hold.
"""
import argparse
import collections
import concurrent.futures
import pathlib
import shutil
import sys

import onnx

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent / "models"))

import random_graph  # noqa: E402
import reference  # noqa: E402
import turns  # noqa: E402
from build_output import (Failure, build_library, compile_model, join_kernels,  # noqa: E402
                          model_name)
from check_model import compare, require_steady  # noqa: E402
from model_list import work_folder  # noqa: E402
from model_table import CompiledModel  # noqa: E402

Way = collections.namedtuple("Way", "target flags")
WAYS = {
    "cpu": Way("cpu", []),
    "cpu-unfused": Way("cpu", ["--disable-pass=fuse"]),
    "cpu-O0": Way("cpu", ["-O0"]),
    "cpu-plain-loops": Way("cpu", ["--no-templates"]),
    "cuda": Way("cuda", []),
    "cuda-races": Way("cuda-races", []),
    "cuda-unfused": Way("cuda", ["--disable-pass=fuse"]),
    "gpu": Way("gpu", []),
}
TURNS = "turns"
Task = collections.namedtuple("Task", "seed way cpu")  # cpu: an instruction set, or "" for all


def tasks_of(options, batch):
    """How batch number `batch` is compiled."""
    def cpu_of(way, turn):
        if WAYS[way].target != "cpu":
            return ""
        known = turns.known_cpus()
        return known[turn % len(known)] if options.cpu == TURNS else options.cpu

    return [Task(options.seed, way, cpu_of(way, batch + i)) for i, way in enumerate(options.way)]


def check_task(path, task, folder):
    """Compiles and runs one model one way."""
    way, cpu = WAYS[task.way], [f"--cpu={task.cpu}"] if task.cpu else []
    outdir = compile_model(path, way.target, folder, random_graph.dims_of(path), [*way.flags, *cpu])
    join_kernels(outdir)
    library = folder / f"{path.stem}.so"  # its own name: a process loads a path once
    build_library(outdir, way.target, library, 1, turns.compiler(folder))
    model = CompiledModel(library, model_name(outdir))
    for batch in random_graph.BATCH_BOUNDS:
        inputs = reference.make_inputs(path, {random_graph.BATCH: batch}, batch)
        expected, noise = reference.expected_outputs(path, inputs)
        actual = model.run(inputs, fill=0xFF)
        compare(actual, expected, noise)
        require_steady(model, inputs, actual)
    model.close()


def save(seed, first, count, folder):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"random_{seed}_{first}_{count}.onnx"
    onnx.save(random_graph.make_model(seed, count, first), path)
    return path


def attempt(task, first, count, folder):
    """The text of the failure of some graphs, or None."""
    try:
        check_task(save(task.seed, first, count, folder), task, folder)
    except Failure as failure:
        return str(failure)
    return None


def failing(task, first, count, folder):
    """The numbers of the graphs that fail, with the texts: halves of what fails together."""
    text = attempt(task, first, count, folder)
    if text is None:
        return {}
    if count == 1:
        return {first: text}
    half = count // 2
    found = {**failing(task, first, half, folder),
             **failing(task, first + half, count - half, folder)}
    return found or {first: f"only graphs {first}..{first + count - 1} together: {text}"}


def check_batch(options, first, count):
    """The number of graphs that fail by way; prints them."""
    failures = {}
    for task in tasks_of(options, first // options.batch):
        folder = work_folder() / "random_tests" / f"{task.seed}_{first}_{task.way}"
        found = failing(task, first, count, folder)
        failures[task.way] = len(found)
        for number, text in found.items():
            again = f"--seed {task.seed} --first {number} --count 1 --way {task.way}"
            again += f" --cpu {task.cpu}" if task.cpu else ""
            print(f"graph {number}, {task.way}: {text[:1500]}\n  again: {again}", flush=True)
        shutil.rmtree(folder)
    return failures


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first graph")
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--batch", type=int, default=40, help="graphs per model")
    parser.add_argument("--jobs", type=int, default=2, help="batches at a time")
    parser.add_argument("--way", action="append", choices=WAYS, help="default: all but gpu")
    parser.add_argument("--cpu", default="", choices=["", *turns.CPUS, TURNS],
                        help="the one instruction set of cpu ways, or turns (default: all three)")
    options = parser.parse_args()
    options.way = options.way or [way for way in WAYS if way != "gpu"]
    return options


def main():
    options = parse_arguments()
    failed, end = collections.Counter(), options.first + options.count
    batches = [(first, min(options.batch, end - first))
               for first in range(options.first, end, options.batch)]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = pool.map(lambda batch: check_batch(options, *batch), batches)
        for (first, count), failures in zip(batches, results):
            failed.update(failures)
            print(f"graphs {first}..{first + count - 1} of seed {options.seed}, "
                  f"{len(options.way)} ways: {failed.total()} failures so far", flush=True)
    for way in options.way:
        print(f"{way}, seed {options.seed}: {options.count - failed[way]} hold, "
              f"{failed[way]} fail")
    return 1 if failed.total() else 0


if __name__ == "__main__":
    sys.exit(main())
