#!/usr/bin/env python3
"""Compiles ONNX's backend tests for each target, and compares what they compute with their data.

    tests/conformance/check_targets.py                       # all 1,914, both targets
    tests/conformance/check_targets.py --part 3              # a third, drawn by --seed
    tests/conformance/check_targets.py --folder light        # see suite.py
    tests/conformance/check_targets.py --target cuda test_abs test_tile
    tests/conformance/check_targets.py --renamed 7           # under strange names, see renaming.py
    tests/conformance/check_targets.py --other-data 7        # see other_data.py
    tests/conformance/check_targets.py --converted 7         # to other opsets, see converted.py

The tests of one opset are components of one model, which costs one compilation. Where a batch
fails, its halves are tried, to name the tests that fail. The CUDA target is built for the host with
the emulation header; --target gpu is CUDA on a GPU, and nvcc what that compiler takes without a
warning. Left out are the tests of excluded.txt alone, which check_excluded.py looks at.
Exit status 0: all hold.
"""
import argparse
import concurrent.futures
import json
import random
import shutil
import sys

import onnx

import converted
import merge_models
import other_data
import renaming
import run_batch
import suite
import turns
from build_output import (Failure, build_library, command, compile_model, compile_objects,
                          join_kernels, model_name, quiet_environment)
from model_list import work_folder

TARGETS = ("cpu", "cuda")
BYTES = "--max-string-bytes=1024"
ALL_TARGETS = "cpu", "cuda", "cuda-races", "nvcc", "gpu"
LEAST_CONVERTED = 300  # conversions that pass, of all tests


def write_batch(cases, folder, renamed):
    """The path of the model of all cases, and a flag for each size that only a run knows. The names
    that values got by the seed `renamed` lie beside it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    merged = merge_models.merge([case.load().model for case in cases])
    names = {} if renamed is None else renaming.rename(merged, renamed)
    (folder / run_batch.NAMES).write_text(json.dumps(names))
    onnx.save(merged, folder / "batch.onnx")
    flags = []
    for number, case in enumerate(cases):
        def name_of(name, prefix=merge_models.prefix_of(number)):
            return names.get(prefix + name, prefix + name)
        flags += [f"--bound={name_of(name)}:{axis}={most}" for name, axis, most in case.bounds()]
        for name, items in case.rooms():
            flags += suite.room_flags(name_of(name), items)
    return folder / "batch.onnx", flags


def generate(target, cases, folder, renamed=None, flags=()):
    """The folder that aotc writes for the cases as one model."""
    path, bounds = write_batch(cases, folder, renamed)
    return compile_model(path, target, folder, {},
                         [BYTES, *turns.cpu_flags(target, folder), *bounds, *flags])


def build(target, cases, folder, outdir):
    """The library of what generate() wrote."""
    join_kernels(outdir)
    library = folder / "batch.so"
    levels = turns.FAST if any(case.is_light for case in cases) else turns.LEVELS
    build_library(outdir, target, library, 1, (*turns.compiler(folder, levels), *turns.WARNINGS))
    return library


def attempt(target, cases, folder, renamed):
    """Name -> what is wrong with its outputs. Failure where not even the batch runs."""
    outdir = generate(target, cases, folder, renamed)
    if target == "nvcc":
        compile_objects(outdir, target, folder / "objects", 1)
        return {}
    library = build(target, cases, folder, outdir)
    words = [sys.executable, run_batch.__file__, library, model_name(outdir)]
    text = command([*words, *map(str, cases)], env=quiet_environment())
    return json.loads(text.splitlines()[-1])  # behind what decoders of images print


def failing(target, cases, folder, renamed=None):
    """Name -> text of each case that fails: halves of what cannot be compiled or run together."""
    try:
        return attempt(target, cases, folder, renamed)
    except Failure as failure:
        if len(cases) == 1:
            return {cases[0].name: str(failure)}
        half = len(cases) // 2
        found = {**failing(target, cases[:half], folder, renamed),
                 **failing(target, cases[half:], folder, renamed)}
        return found or {cases[0].name: f"only with others: {failure}"}


def batches_of(cases, size):
    """Lists of cases of one opset; a light one, which is a network, is alone."""
    groups = {}
    for case in cases:
        groups.setdefault(case.name if case.is_light else case.opsets, []).append(case)
    return [group[i:i + size] for group in groups.values() for i in range(0, len(group), size)]


def part_of(cases, parts, seed):
    """One of so many parts of the cases, in their order."""
    chosen = random.Random(seed).sample(range(len(cases)), -(-len(cases) // parts))
    return [cases[index] for index in sorted(chosen)]


def check_batches(target, batches, jobs, renamed=None, kind="tests"):
    """Name -> text of the cases that fail."""
    root = work_folder() / kind / target
    shutil.rmtree(root, ignore_errors=True)
    found = {}
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        runs = [pool.submit(failing, target, batch, root / f"batch_{number}",
                            renamed and renamed + number)
                for number, batch in enumerate(batches)]
        for run in concurrent.futures.as_completed(runs):
            found.update(run.result())
    return found


def check_target(target, cases, options):
    """The number of cases that fail; prints them."""
    found = check_batches(target, batches_of(cases, options.batch), options.jobs, options.renamed,
                          options.kind)
    for name, text in sorted(found.items()):
        print(f"{name}, {target}: {text[:1500]}", flush=True)
    print(f"{options.kind} compiled for {target}: {len(cases) - len(found)} of {len(cases)} passed",
          flush=True)
    return len(found)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", nargs="*", help="tests (default: all)")
    parser.add_argument("--target", action="append", choices=ALL_TARGETS,
                        help=f"default: {' and '.join(TARGETS)}")
    parser.add_argument("--folder", action="append", choices=suite.FOLDERS,
                        help="tests of these (default: all)")
    parser.add_argument("--part", type=int, metavar="N", default=1,
                        help="one Nth of the tests, drawn by --seed")
    parser.add_argument("--seed", type=int, default=1)
    variant = parser.add_mutually_exclusive_group()
    variant.add_argument("--renamed", type=int, metavar="SEED", help="under strange names")
    variant.add_argument("--other-data", type=int, metavar="SEED",
                         help="tests whose sizes depend on data, with data drawn by SEED")
    variant.add_argument("--converted", type=int, metavar="SEED",
                         help="tests moved to other opsets, drawn by SEED")
    parser.add_argument("--batch", type=int, default=40, help="tests per model")
    parser.add_argument("--jobs", type=int, default=2, help="models at a time")
    options = parser.parse_args()
    kinds = {"renamed_tests": options.renamed, "tests_of_other_data": options.other_data,
             "converted_tests": options.converted}
    options.kind = next((kind for kind, seed in kinds.items() if seed is not None), "tests")
    return options


def cases_of(options):
    """As the options draw and vary them. A Failure where they are fewer than they have to be."""
    if options.name:
        cases = [suite.parse(name) for name in options.name]
    else:
        cases = suite.read_all(options.folder or suite.FOLDERS)
    if options.other_data is not None:
        cases = other_data.kept_of(cases)
        if not options.name and not options.folder:
            suite.require_count("other_data", len(cases))
    elif options.converted is not None:
        cases = [case for case in cases if case.folder == "node"]
    cases = part_of(cases, options.part, options.seed)
    if options.other_data is not None:
        if options.part == 1:
            other_data.check_left_out(options.other_data)
        return other_data.cases_of(cases, options.other_data)
    if options.converted is not None:
        least = 0 if options.name or options.folder else LEAST_CONVERTED // options.part
        return converted.cases_of(cases, options.converted, least)
    return cases


def main():
    options = parse_arguments()
    try:
        cases = cases_of(options)
    except Failure as failure:
        print(failure)
        return 1
    failed = sum(check_target(target, cases, options) for target in options.target or TARGETS)
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
