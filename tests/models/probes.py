"""Runs probes, which are small models that a check compiles and runs with data that are drawn.

    sys.exit(probes.main(__doc__, PROBES, check_probe, draws=12))
    # check_probe(name, target, options, folder) gives a text of what was found, or raises Failure
"""
import argparse
import concurrent.futures
import pathlib
import tempfile

import numpy as np

from build_output import TARGET_OPTIONS, Failure, build_library, compile_model, model_name
from model_list import build_folder
from model_table import CompiledModel, Run

FILL = 0xA5  # of memory that a run is lent
# Undefined behaviour ends the process; what lies around the memory that is lent is looked at.
COMPILER = ("g++", "-std=c++17", "-O1", "-fsanitize=undefined",
            "-fsanitize-undefined-trap-on-error")


def compiled(path, target, flags):
    """The outdir of a model, beside it, and the model, loaded."""
    one = ["--cpu=x86-64-v3"] if target == "cpu" else []
    outdir = compile_model(path, target, path.parent, {}, flags + one)
    library = path.parent / f"{path.parent.name}.so"  # its own name: a process loads a path once
    build_library(outdir, target, library, compiler=COMPILER)
    return outdir, CompiledModel(library, model_name(outdir))


def status_of(model, arrays, room=1 << 40, change=lambda run: None):
    """That of a run that `change` changes, whose outputs have room for so many bytes at most."""
    run = Run(model, arrays, fill=FILL)
    change(run)
    for value in run.lent[:len(model.outputs)]:
        value.tensor.capacity_bytes = min(value.tensor.capacity_bytes, room)
    status = model.table.run(model.instance.address, run.given, run.lent,
                             run.memory["arena"].address, None)
    for held in run.memory.values():
        held.verify()
    return status


def attempt(check, name, target, options, folder):
    """The text of what does not hold, or None."""
    try:
        found = check(name, target, options, folder)
    except Failure as failure:
        return f"{name}, {target}: {failure}"
    print(f"{name}, {target}: {found}", flush=True)
    return None


def parse_arguments(doc, names, draws):
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--draws", type=int, default=draws, help="of data, for each probe")
    parser.add_argument("--sample", type=int, default=len(names), help="that many probes")
    parser.add_argument("--probe", action="append", choices=names)
    parser.add_argument("--target", action="append", choices=TARGET_OPTIONS)
    parser.add_argument("--jobs", type=int, default=2)
    return parser.parse_args()


def main(doc, names, check, draws):
    """The exit status: 0 where all hold."""
    options = parse_arguments(doc, names, draws)
    rng = np.random.default_rng(options.seed)
    drawn = options.probe or sorted(rng.choice(list(names), options.sample, replace=False))
    tasks = [(name, target) for target in options.target or ["cpu", "cuda"] for name in drawn]
    with tempfile.TemporaryDirectory(dir=build_folder()) as folder, \
            concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        found = list(pool.map(
            lambda task: attempt(check, *task, options, pathlib.Path(folder)), tasks))
    failures = [text for text in found if text]
    for text in failures:
        print(text)
    print(f"{len(tasks) - len(failures)} probes hold, {len(failures)} fail")
    return 1 if failures else 0
