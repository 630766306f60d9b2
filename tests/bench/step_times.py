#!/usr/bin/env python3
"""Where the time of a compiled model goes: least time, GFLOP/s and share of every step, and what
the compiler thinks that it takes.

    tests/bench/step_times.py light_resnet50                # of models.txt, or a file
    tests/bench/step_times.py net.onnx --runs 50 --flag=--cpu=x86-64-v3
    tests/bench/step_times.py net.onnx --flag=--limits=FILE # of this machine: aotc limits > FILE

The steps of the emitted host program get clock reads around them. The least time of many runs is
what the kernels need on a machine that also does other things. With two workers the slower one
counts; that leaves out what they wait for each other.
"""
import argparse
import ctypes
import json
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "models"))
import build_output  # noqa: E402
import model_list  # noqa: E402
import reference  # noqa: E402
from model_table import CompiledModel, Run  # noqa: E402

MOST_STEPS = 4096
CLOCK = f"""
#include <stdint.h>
#include <time.h>
extern "C" {{
double step_clock[2 * {MOST_STEPS}][2];  // of the first two workers: begin and end
}}
static void step_time(int32_t worker, int32_t step, int32_t end) {{
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  if (worker < 2) {{
    step_clock[worker * {MOST_STEPS} + step][end] = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
  }}
}}
"""


def instrument(path):
    """Reads the clock before and after every step; their number."""
    text = path.read_text()
    text, count = re.subn(r"\n  // Step (\d+)(.*?)\n  \{\n(.*?)\n  \}\n",
                          r"\n  step_time(worker, \1, 0);\n  // Step \1\2\n  {\n\3\n  }\n"
                          r"  step_time(worker, \1, 1);\n", text, flags=re.DOTALL)
    first = text.index("\n#include") + 1
    path.write_text(text[:first] + CLOCK + text[first:])
    return count


def least_times(library, run, count, runs):
    """Of every step, the least time of each worker."""
    clock = (ctypes.c_double * (4 * MOST_STEPS)).in_dll(library, "step_clock")
    times = np.full((2, count), np.inf)
    for _ in range(runs):
        run.call()
        pairs = np.array(clock).reshape(2, MOST_STEPS, 2)[:, :count]
        times = np.minimum(times, pairs[:, :, 1] - pairs[:, :, 0])
    return times[:run.workers]


def estimates(path, dims, flags):
    """Kernel -> seconds that its chosen schedule should take on the best instruction set."""
    words = [f"--dim={name}={bounds}" for name, bounds in dims.items()]
    done = subprocess.run([model_list.build_folder() / "aotc", "schedules", path, "--json", *words,
                           *flags], capture_output=True, text=True, check=True)
    seconds = {}
    for kernel in json.loads(done.stdout)["kernels"]:
        chosen = [row["seconds"] for row in kernel["candidates"]
                  if row["schedule"] == kernel["chosen"]]
        seconds.setdefault(kernel["kernel"], (chosen or [None])[0] or np.nan)
    return seconds


def report(metadata, times, expected):
    kernels = {kernel["name"]: kernel for kernel in metadata["kernels"]}
    slowest, total_flops = times.max(0), 0
    total = slowest.sum()
    print(f"{'us':>9} {'estimate':>9} {'share':>6} {'GFLOP/s':>8}  kernel, schedule")
    for step, seconds, each in zip(metadata["steps"], slowest, times.T):
        kernel = kernels.get(step.get("kernel"), {"name": "copy", "flops": 0, "schedule": ""})
        total_flops += kernel["flops"]
        shares = "" if len(each) == 1 else f"; workers {' '.join(f'{t * 1e6:.1f}' for t in each)}"
        rate = kernel["flops"] / seconds / 1e9
        estimate = expected.get(kernel["name"], np.nan) * 1e6
        print(f"{seconds * 1e6:9.1f} {estimate:9.1f} {seconds / total:6.1%} {rate:8.1f}  "
              f"{kernel['name']}, {kernel['schedule']}{shares}")
    print(f"{total * 1e6:9.1f} {'':9} 100.0% {total_flops / total / 1e9:8.1f}  all steps")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", help="a file, or a name of models.txt")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--workers", type=int, choices=[1, 2], default=1)
    parser.add_argument("--flag", action="append", default=[], help="one more argument of aotc")
    options = parser.parse_args()
    entry = model_list.find(options.model)
    path = model_list.locate(entry) if entry else pathlib.Path(options.model)
    folder = model_list.work_folder() / "bench" / f"{path.stem}_steps"
    shutil.rmtree(folder, ignore_errors=True)
    dims, sizes = (entry.dims, entry.sizes[0]) if entry else ({}, {})
    outdir = build_output.compile_model(path, "cpu", folder, dims, options.flag)
    name = build_output.model_name(outdir)
    count = instrument(outdir / f"{name}.cpp")
    build_output.build_library(outdir, "cpu", folder / "model.so")
    model = CompiledModel(folder / "model.so", name)
    run = Run(model, reference.make_inputs(path, sizes, 1), options.workers)
    times = least_times(model.library, run, count, options.runs)
    report(json.loads((outdir / "metadata.json").read_text()), times,
           estimates(path, dims, options.flag))
    run.close()


if __name__ == "__main__":
    main()
