#!/usr/bin/env python3
"""Sizes that come of data: how many elements are not zero, which boxes are left, what is unique.

    tests/models/check_data_sizes.py                      # every probe, on cpu and emulated cuda
    tests/models/check_data_sizes.py --sample 6 --seed 7 --draws 20
    tests/models/check_data_sizes.py --probe joined --target cpu

Each probe (data_net.py, data_control_net.py, data_region_net.py) is compiled and run with data of
which no, few, many and all elements are chosen; numbers and dims are onnxruntime's. Where a bound
is given that data can pass, such data are a status whose sentence names the tensor, and room for
less than a run gives is a status too. What is generated is built so that undefined behaviour ends
the test. Exit status 0: all holds.
"""
import argparse
import concurrent.futures
import json
import pathlib
import sys
import tempfile

import numpy as np

import data_control_net  # noqa: F401  (more probes)
import data_region_net  # noqa: F401
import reference
from build_output import Failure, build_library, compile_model, model_name
from data_net import PROBES, Probe
from model_list import build_folder
from model_table import CompiledModel, Run
from small_net import require, require_outputs

CAPACITY, FILL = 6, 0xA5  # AOTC_ERROR_CAPACITY
# Undefined behaviour ends the process; what lies around the memory that is lent is looked at.
COMPILER = ("g++", "-std=c++17", "-O1", "-fsanitize=undefined",
            "-fsanitize-undefined-trap-on-error")


def expected_of(probe, session, arrays):
    """Outputs by name; None where one of them passes its bound."""
    names = [output.name for output in session.get_outputs()]
    expected = dict(zip(names, session.run(names, arrays)))
    for axis, most in probe.bounds.items():
        tensor, _, number = axis.rpartition(":")
        if tensor in expected and expected[tensor].shape[int(number)] > most:
            return None
    return expected


def status_of(model, arrays, room=None):
    """That of a run whose outputs have room for so many bytes at most."""
    run = Run(model, arrays, fill=FILL)
    for value in run.lent[:len(model.outputs)]:
        value.tensor.capacity_bytes = min(value.tensor.capacity_bytes, room or 1 << 40)
    status = model.table.run(model.instance.address, run.given, run.lent,
                             run.memory["arena"].address, None)
    for held in run.memory.values():
        held.verify()
    return status


def require_bound(probe, model, outdir, rng):
    """What passes a bound is refused by a sentence that names the tensor."""
    tensor, _ = probe.beyond
    status = status_of(model, probe.draw(rng, beyond=True))
    text = model.table.status_text(status).decode()
    sentences = json.loads((outdir / "metadata.json").read_text())["checks"]
    require(status and text in sentences and tensor in text, f"beyond its bound: {status}, {text}")


def require_room(probe, model, session, rng):
    """With room for a byte less than the largest output takes."""
    for _ in range(100):
        arrays = probe.draw(rng)
        expected = expected_of(probe, session, arrays)
        if expected and max(value.nbytes for value in expected.values()) > 1:
            break
    room = max(value.nbytes for value in expected.values()) - 1
    status = status_of(model, arrays, room)
    require(status & 0xFF == CAPACITY, f"room for {room} bytes: status {status}")


def check_probe(name, target, options, folder):
    probe, place = Probe(name), folder / f"{name}_{target}"
    place.mkdir()
    path = probe.save(place / f"{name}.onnx")
    flags = [f"--bound={axis}={most}" for axis, most in probe.bounds.items()]
    outdir = compile_model(path, target, place, {},
                           flags + (["--cpu=x86-64-v3"] if target == "cpu" else []))
    library = place / f"{name}_{target}.so"
    build_library(outdir, target, library, compiler=COMPILER)
    model = CompiledModel(library, model_name(outdir))
    session, rng = reference.session(path, optimised=False), np.random.default_rng(options.seed)
    sizes, refused = set(), 0
    for _ in range(options.draws):
        arrays = probe.draw(rng)
        expected = expected_of(probe, session, arrays)
        if expected is None:
            refused += 1
            require(status_of(model, arrays), "data that pass a bound are not refused")
            continue
        require_outputs(model, arrays, expected, FILL, 1e-5)
        sizes.add(tuple(value.shape for value in expected.values()))
    require(len(sizes) > 1, f"all draws have the shapes {sizes}")
    if probe.beyond:
        require_bound(probe, model, outdir, rng)
    require_room(probe, model, session, rng)
    model.close()
    return f"{options.draws - refused} draws of {len(sizes)} sizes hold, {refused} are refused"


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
    parser.add_argument("--draws", type=int, default=12, help="of data, for each probe")
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
