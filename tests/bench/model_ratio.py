#!/usr/bin/env python3
"""Run time of compiled models against onnxruntime's, on one thread, and of 2 workers against 1.

    tests/bench/model_ratio.py                     # light_resnet50 with seeded weights
    tests/bench/model_ratio.py det_nanodet --seconds 5

Contestants take turns in short bursts (A B C A B C ...) in one process, so that drift of the
machine hits all alike; the first run of a burst is not timed. Where ../shared/bench is there, its
peers.py measures the ratio as well, each runtime in a process of its own.
"""
import argparse
import json
import os
import pathlib
import shutil
import sys
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "models"))
import build_output  # noqa: E402
import model_list  # noqa: E402
import realisations  # noqa: E402
import reference  # noqa: E402
from build_output import Failure  # noqa: E402
from model_table import CompiledModel, Run  # noqa: E402

BURST_SECONDS = 0.2
LEAST_RUNS = 20


def prepare(path, folder, sizes, dims):
    """Compiles the model; prints what that took. The outdir."""
    start = time.monotonic()
    outdir = build_output.compile_model(path, "cpu", folder, dims)
    print(f"  aotc {time.monotonic() - start:.1f} s", end="", flush=True)
    os.environ["CCACHE_DISABLE"] = "1"  # what a first build takes
    seconds = build_output.build_library(outdir, "cpu", folder / "model.so")
    print(f", g++ -O2 of its outdir {seconds:.1f} s on {os.cpu_count()} cores")
    print(f"  FLOP by realisation: {realisations.read(outdir).line()}")
    return outdir


def contestants(path, outdir, inputs):
    """Name -> a function that runs the model once."""
    model = CompiledModel(outdir.parent / "model.so", build_output.model_name(outdir))
    session = reference.session(path, optimised=True)
    names = [output.name for output in session.get_outputs()]
    return {
        "aotc, 1 worker": Run(model, inputs).call,
        "aotc, 2 workers": Run(model, inputs, workers=2).call,
        "onnxruntime, 1 thread": lambda: session.run(names, inputs),
    }


def burst(call):
    """Seconds of each run of one turn."""
    call()
    times, end = [], time.perf_counter() + BURST_SECONDS
    while not times or time.perf_counter() < end:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return times


def measure(calls, seconds):
    """Name -> seconds of every timed run, the contestants interleaved."""
    times = {name: [] for name in calls}
    while any(sum(t) < seconds or len(t) < LEAST_RUNS for t in times.values()):
        for name, call in calls.items():
            times[name] += burst(call)
    return times


def report(times):
    for name, values in times.items():
        low, middle, high = np.percentile(values, [10, 50, 90]) * 1e3
        spread = f"10 % {low:.2f}, 90 % {high:.2f}, least {min(values) * 1e3:.2f}"
        print(f"  {name:22} median {middle:8.2f} ms ({spread}; {len(values)} runs)")
    one, two, peer = (float(np.median(values)) for values in times.values())
    print(f"  1 worker takes {one / peer:.2f} times onnxruntime's time; "
          f"2 workers are {one / two:.2f} times as fast as 1")


def run_peers(path, outdir, folder, options):
    script = model_list.SHARED / "bench/peers.py"
    if not script.exists():
        print("  no ../shared/bench beside the repository: peers.py not run")
        return
    record = folder / "peers.json"
    build_output.command([sys.executable, script, path, "--aotc", outdir, "--peers", "aotc,ort",
                          "--threads", "1", "--seconds", options.seconds, "--work", folder / "work",
                          "--json", record], seconds=1800)
    rows = {row["peer"]: row for row in json.loads(record.read_text())["rows"]}
    ours, theirs = rows["aotc"], rows["ort"]
    ratio = ours["median_ms"] / theirs["median_ms"]
    least = ours["min_ms"] / theirs["min_ms"]
    print(f"  peers.py: ratio of medians {ratio:.2f}, of least times {least:.2f} "
          f"(aotc {ours['median_ms']:.2f} ms, onnxruntime {theirs['median_ms']:.2f} ms)")


def bench(entry, path, options):
    folder = model_list.work_folder() / "bench" / path.stem
    shutil.rmtree(folder, ignore_errors=True)
    sizes = entry.sizes[0]
    outdir = prepare(path, folder, sizes, entry.dims)
    inputs = reference.make_inputs(path, sizes, 1, entry.scale)
    report(measure(contestants(path, outdir, inputs), options.seconds))
    if not sizes:
        run_peers(path, outdir, folder, options)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", default=["light_resnet50"], help="names of models.txt")
    parser.add_argument("--seconds", type=float, default=10, help="timed at least, of each")
    options = parser.parse_args()
    model_list.say_if_shared_is_missing()
    for name in options.models:
        entry = model_list.find(name)
        path = model_list.locate(entry) if entry else None
        if path is None:
            print(f"{name}: not in models.txt, or not on this machine")
            return 1
        print(name, flush=True)
        try:
            bench(entry, path, options)
        except Failure as failure:
            print(f"  FAILED: {failure}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
