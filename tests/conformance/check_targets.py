#!/usr/bin/env python3
"""Compiles ONNX's node tests for each target, and compares what they compute with their data.

    tests/conformance/check_targets.py                       # all, both targets; counts asserted
    tests/conformance/check_targets.py --sample 20           # 20 of some opsets, drawn by --seed
    tests/conformance/check_targets.py --target cuda test_abs test_tile
    tests/conformance/check_targets.py --renamed 7           # under strange names, see renaming.py
    tests/conformance/check_targets.py --other-data 7        # see other_data.py
    tests/conformance/check_targets.py --converted 7         # to other opsets, see converted.py

The tests of one opset are components of one model, which costs one compilation. Where a batch
fails, its halves are tried, to name the tests that fail. The CUDA target is built for the host with
the emulation header; --target gpu is CUDA on a GPU, and nvcc what that compiler takes without a
warning. What cannot be compiled stands in excluded_targets.txt, each with its reason.
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
import node_cases
import other_data
import renaming
import run_batch
import turns
from build_output import (Failure, build_library, command, compile_model, compile_objects,
                          model_name, quiet_environment, target_of_aotc)
from model_list import work_folder

TARGETS = ("cpu", "cuda")
BYTES = "--max-string-bytes=1024"
ALL_TARGETS = "cpu", "cuda", "cuda-races", "nvcc", "gpu"
SAMPLED_OPSETS = 3
LEAST_SAMPLED = 100    # tests of an opset, for it to be drawn
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
            flags += node_cases.room_flags(name_of(name), items)
    return folder / "batch.onnx", flags


def attempt(target, cases, folder, renamed):
    """Name -> what is wrong with its outputs. Failure where not even the batch runs."""
    path, bounds = write_batch(cases, folder, renamed)
    outdir = compile_model(path, target, folder, {},
                           [BYTES, *turns.cpu_flags(target, folder), *bounds])
    if target == "nvcc":
        compile_objects(outdir, target, folder / "objects", 1)
        return {}
    library = folder / "batch.so"
    build_library(outdir, target, library, 1, (*turns.compiler(folder), *turns.WARNINGS))
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
    """Lists of cases of one opset."""
    groups = {}
    for case in cases:
        groups.setdefault(case.opsets, []).append(case)
    return [group[i:i + size] for group in groups.values() for i in range(0, len(group), size)]


def sample(cases, count, seed):
    """Some cases of some opsets that have many."""
    groups, generator = {}, random.Random(seed)
    for case in cases:
        groups.setdefault(case.opsets, []).append(case)
    large = [group for _, group in sorted(groups.items()) if len(group) >= LEAST_SAMPLED]
    return [case for group in generator.sample(large, SAMPLED_OPSETS)
            for case in generator.sample(group, count)]


def check_batches(target, batches, jobs, renamed=None, kind="node_tests"):
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
    """The number of findings; prints them."""
    excluded = {words[0]: words[2] for words in node_cases.read_table("excluded_targets.txt", 3)
                if target_of_aotc(target) in words[1].split(",")}
    compiled = [case for case in cases if case.name not in excluded]
    found = check_batches(target, batches_of(compiled, options.batch), options.jobs,
                          options.renamed, options.kind)
    for name, text in sorted(found.items()):
        print(f"{name}, {target}: {text[:1500]}", flush=True)
    passed = len(compiled) - len(found)
    print(f"{options.kind} on {target}: {passed} passed, {len(found)} failed, "
          f"{len(cases) - len(compiled)} excluded", flush=True)
    findings = len(found)
    if options.whole:
        findings += check_excluded(target, cases, excluded, options.jobs)
        expected = int(dict(node_cases.read_table("counts.txt", 2))["passed"]) - len(excluded)
        if passed != expected:
            print(f"{target}: {passed} passed, and not {expected}")
            findings += 1
    return findings


def check_excluded(target, cases, excluded, jobs):
    """The number of excluded cases that pass after all, or are not there."""
    listed = [[case] for case in cases if case.name in excluded]
    wrong = set(excluded) - set(check_batches(target, listed, jobs))
    for name in sorted(wrong):
        print(f"{name}, {target}: passes, or is not there: take it out of excluded_targets.txt")
    return len(wrong)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", nargs="*", help="tests (default: all)")
    parser.add_argument("--target", action="append", choices=ALL_TARGETS,
                        help=f"default: {' and '.join(TARGETS)}")
    parser.add_argument("--sample", type=int, metavar="N",
                        help=f"N tests of each of {SAMPLED_OPSETS} opsets")
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
    kinds = {"renamed_node_tests": options.renamed, "node_tests_of_other_data": options.other_data,
             "converted_node_tests": options.converted}
    options.kind = next((kind for kind, seed in kinds.items() if seed is not None), "node_tests")
    is_drawn = options.other_data is not None or options.converted is not None
    options.whole = not options.name and options.sample is None and not is_drawn
    return options


def main():
    options = parse_arguments()
    cases = node_cases.read_all()
    if options.name:
        cases = [case for case in cases if case.name in options.name]
    if options.other_data is not None:
        cases = other_data.cases_of(cases, options.other_data, options.sample)
    elif options.converted is not None:
        cases = converted.cases_of(cases, options.converted, options.sample)
        if not options.name and not options.sample and len(cases) < LEAST_CONVERTED:
            print(f"{len(cases)} conversions, and not {LEAST_CONVERTED}")
            return 1
    elif options.sample:
        cases = sample(cases, options.sample, options.seed)
    findings = sum(check_target(target, cases, options) for target in options.target or TARGETS)
    return 1 if findings or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
