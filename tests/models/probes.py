"""Runs probes, which are small models that a check compiles and runs with data that are drawn,
under AddressSanitizer and UndefinedBehaviorSanitizer: what they find ends the process.

    sys.exit(probes.main(__doc__, PROBES, check_probe, draws=12))
    # check_probe(name, target, options, folder) gives a text of what was found, or raises Failure
"""
import argparse
import concurrent.futures
import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

from build_output import TARGET_OPTIONS, Failure, build_library, command, compile_model, model_name
from model_list import build_folder
from model_table import CompiledModel, Memory, Run

FILL = 0xA5  # of memory that a run is lent
COMPILER = ("g++", "-std=c++17", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
# What a process needs that loads such libraries; the last one because what throws must be there
# when the first one starts.
SANITIZERS = "libasan.so", "libubsan.so", "libstdc++.so"
OPTIONS = "detect_leaks=0:detect_container_overflow=0"  # Python itself leaks
# Reads the element behind those that it is lent.
FAULT = """extern "C" int element_behind(const int *lent, long count) { return lent[count]; }"""
FAULT_NAME = "AOTC_PROBES_FAULT"  # of the variable of a process that is to load the fault


def start_watched():
    """Starts the script anew where the sanitizers are not loaded. Its own children, the compilers,
    are not watched.
    """
    if "LD_PRELOAD" not in os.environ:
        found = [command(["g++", f"-print-file-name={name}"]).strip() for name in SANITIZERS]
        changed = {"LD_PRELOAD": ":".join(found), "ASAN_OPTIONS": OPTIONS}
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | changed)
    del os.environ["LD_PRELOAD"]


def commit_fault():
    """Ends the process, where it is watched."""
    memory = Memory(20, FILL, "the fault")
    ctypes.CDLL(os.environ[FAULT_NAME]).element_behind(ctypes.c_void_p(memory.address),
                                                       ctypes.c_long(5))


def require_watched(folder):
    """A fault that is planted ends this script where it commits that."""
    source, library = folder / "fault.cc", folder / "fault.so"
    source.write_text(FAULT)
    command([*COMPILER, "-shared", "-fPIC", "-o", library, source])
    done = subprocess.run([sys.executable, *sys.argv], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False,
                          env=os.environ | {FAULT_NAME: str(library)})
    if "AddressSanitizer: use-after-poison" not in done.stdout:
        raise Failure(f"nobody found a fault that is planted: {done.returncode}, {done.stdout}")


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
    start_watched()
    if FAULT_NAME in os.environ:
        commit_fault()
        return 0
    options = parse_arguments(doc, names, draws)
    rng = np.random.default_rng(options.seed)
    drawn = options.probe or sorted(rng.choice(list(names), options.sample, replace=False))
    tasks = [(name, target) for target in options.target or ["cpu", "cuda"] for name in drawn]
    with tempfile.TemporaryDirectory(dir=build_folder()) as folder, \
            concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        require_watched(pathlib.Path(folder))
        found = list(pool.map(
            lambda task: attempt(check, *task, options, pathlib.Path(folder)), tasks))
    failures = [text for text in found if text]
    for text in failures:
        print(text)
    print(f"{len(tasks) - len(failures)} probes hold, {len(failures)} fail")
    return 1 if failures else 0
