#!/usr/bin/env python3
"""Sequences and optionals: made, changed, read, joined, carried by loops, given by branches.

    tests/models/check_sequences.py                        # every probe, on cpu and emulated cuda
    tests/models/check_sequences.py --sample 6 --seed 7
    tests/models/check_sequences.py --probe grown --target cpu

Each probe (sequence_net.py; those called chain are random) is compiled and run through the table
with sequences that are drawn; what it gives is onnxruntime's. Positions that are none, more items
than there is room for and items that are too large are statuses. What is generated is built so that
undefined behaviour ends the test. Exit status 0: all holds.
"""
import argparse
import concurrent.futures
import pathlib
import sys
import tempfile

import numpy as np

import reference
from build_output import Failure, build_library, compile_model, model_name
from check_data_sizes import COMPILER
from model_list import build_folder
from model_table import CompiledModel, Run
from sequence_net import PROBES, Probe
from small_net import require

FILL = 0xA5
MOST = 1e-5  # relative error


def require_equal(found, expected, what):
    """Arrays, lists of arrays, or None."""
    if isinstance(expected, (list, tuple)):
        require(isinstance(found, list) and len(found) == len(expected),
                f"{what}: not {len(expected)} items")
        for index, (one, other) in enumerate(zip(found, expected)):
            require_equal(one, other, f"{what}[{index}]")
        return
    if expected is None or found is None:
        require(found is expected, f"{what}: one is absent")
        return
    expected = np.asarray(expected)
    require(found.shape == expected.shape and found.dtype == expected.dtype,
            f"{what}: {found.dtype}{found.shape}, not {expected.dtype}{expected.shape}")
    error = np.abs(found.astype(np.float64) - expected.astype(np.float64)).max(initial=0)
    require(error <= MOST * max(1, np.abs(expected.astype(np.float64)).max(initial=0)),
            f"{what}: error {error}")


def status_of(model, arrays):
    run = Run(model, arrays, fill=FILL)
    status = model.table.run(model.instance.address, run.given, run.lent,
                             run.memory["arena"].address, None)
    for held in run.memory.values():
        held.verify()
    return status


def check_probe(name, target, options, folder):
    probe, place = Probe(name, options.seed), folder / f"{name}_{target}"
    place.mkdir()
    path = probe.save(place / f"{name}.onnx")
    outdir = compile_model(path, target, place, {},
                           probe.flags + (["--cpu=x86-64-v3"] if target == "cpu" else []))
    library = place / f"{name}_{target}.so"
    build_library(outdir, target, library, compiler=COMPILER)
    model = CompiledModel(library, model_name(outdir))
    session, rng = reference.session(path, optimised=False), np.random.default_rng(options.seed)
    names = [output.name for output in session.get_outputs()]
    for _ in range(options.draws):
        arrays = probe.draw(rng)
        expected = dict(zip(names, session.run(names, arrays)))
        for workers in (1, 2) if model.has_threads else (1,):
            found = model.run(arrays, workers, FILL)
            for output in names:
                require_equal(found[output], expected[output], output)
    for change, code in probe.refused:
        arrays = probe.draw(rng)
        change(arrays)
        status = status_of(model, arrays)
        require(status & 0xFF == code, f"status {status}, not {code}")
    model.close()
    return f"{options.draws} draws hold, {len(probe.refused)} are refused"


def attempt(name, target, options, folder):
    """The text of what does not hold, or None."""
    try:
        found = check_probe(name, target, options, folder)
    except Failure as failure:
        return f"{name}, {target}: {failure}"
    print(f"{name}, {target}: {found}", flush=True)
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--draws", type=int, default=8, help="of data, for each probe")
    parser.add_argument("--sample", type=int, default=len(PROBES), help="that many probes")
    parser.add_argument("--probe", action="append", choices=PROBES)
    parser.add_argument("--target", action="append", choices=["cpu", "cuda", "cuda-races"])
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    names = options.probe or sorted(rng.choice(list(PROBES), options.sample, replace=False))
    tasks = [(name, target) for target in options.target or ["cpu", "cuda"] for name in names]
    with tempfile.TemporaryDirectory(dir=build_folder()) as folder, \
            concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        found = list(pool.map(lambda task: attempt(*task, options, pathlib.Path(folder)), tasks))
    failures = [text for text in found if text]
    for text in failures:
        print(text)
    print(f"{len(tasks) - len(failures)} probes hold, {len(failures)} fail")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
