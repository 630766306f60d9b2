#!/usr/bin/env python3
"""Random graphs compiled in several ways; their loops are interpreted, and tile functions do what
their rows say.

    tests/random/check_interpreted.py                       # the short sample
    tests/random/check_interpreted.py --seed 2 --count 5000

The oracle is the reference evaluator on the imported graph. The interpreter also checks the bounds
of each access, and fills what is dead with NaN. A failure names the graph: output g17_... of seed 2
is `--seed 2 --first 17 --count 1`. Exit status 0: all hold.
"""
import argparse
import os
import pathlib
import subprocess
import sys

import onnx

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent / "models"))

import random_graph  # noqa: E402
from model_list import build_folder, work_folder  # noqa: E402

BATCH = 40


def save_batches(options, folder):
    folder.mkdir(parents=True, exist_ok=True)
    end = options.first + options.count
    for first in range(options.first, end, BATCH):
        path = folder / f"interpreted_{options.seed}_{first}.onnx"
        onnx.save(random_graph.make_model(options.seed, min(BATCH, end - first), first), path)
        yield path


def interpret(paths):
    low, high = random_graph.BATCH_BOUNDS
    name = random_graph.BATCH
    program = build_folder() / "tests" / "interpret_model"
    command = [program, "--ways=all", f"--dim={name}={low}..{high}", f"--size={name}={low}",
               f"--size={name}={high}", *paths]
    return subprocess.Popen(command, cwd=FOLDER.parents[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first graph")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    paths = list(save_batches(options, work_folder() / "random_tests"))
    runs = [interpret(paths[job::options.jobs]) for job in range(min(options.jobs, len(paths)))]
    failed = [run for run in runs if run.wait() != 0]
    for path in paths:
        os.remove(path)
    print(f"{options.count} graphs of seed {options.seed}: {'FAILED' if failed else 'all hold'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
