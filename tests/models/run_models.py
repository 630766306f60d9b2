#!/usr/bin/env python3
"""Checks models of models.txt on both targets: two at a time, each in a process of its own.

    tests/models/run_models.py                        # the short sample
    tests/models/run_models.py --all                  # every model
    tests/models/run_models.py --sample 5 --seed 3    # five drawn by lot
    tests/models/run_models.py det_nanodet --target cuda

Prints what check_model.py prints, in the table's order. Exit status 0: every check holds.
"""
import argparse
import concurrent.futures
import pathlib
import random
import subprocess
import sys
import time

import model_list
from build_output import TARGET_OPTIONS, quiet_environment

CHECKER = pathlib.Path(__file__).with_name("check_model.py")
LIMIT_SECONDS = 3000  # of one model on one target


def choose(options):
    entries = model_list.read()
    if options.names:
        chosen = [entry for entry in entries if entry.name in options.names]
        unknown = set(options.names) - {entry.name for entry in chosen}
        if unknown:
            raise SystemExit(f"not in models.txt: {', '.join(sorted(unknown))}")
        return chosen
    if options.sample:
        lot = set(random.Random(options.seed).sample(range(len(entries)), options.sample))
        return [entry for i, entry in enumerate(entries) if i in lot]
    return entries if options.all else [entry for entry in entries if entry.short]


def run_check(entry, target, flags):
    """(holds, text) of one model on one target."""
    start = time.monotonic()
    words = [sys.executable, CHECKER, entry.name, "--target", target, "--jobs", "1", *flags]
    try:
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", timeout=LIMIT_SECONDS, env=quiet_environment())
    except subprocess.TimeoutExpired:
        return False, f"  {target} FAILED: no end after {LIMIT_SECONDS} s\n"
    text = done.stdout
    if done.returncode < 0:
        text += f"  {target} FAILED: killed by signal {-done.returncode}\n"
    return done.returncode == 0, text + f"  {target} took {time.monotonic() - start:.0f} s\n"


def present(entries):
    """The entries whose model is there; the rest are named."""
    found, absent = [], []
    for entry in entries:
        (found if model_list.locate(entry) else absent).append(entry)
    if absent:
        print(f"left out, not on this machine: {' '.join(entry.name for entry in absent)}")
    return found


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="models; default: the short sample")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--sample", type=int, metavar="COUNT")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--target", choices=TARGET_OPTIONS, action="append")
    parser.add_argument("--pinned", action="store_true", help="see check_model.py")
    parser.add_argument("--jobs", type=int, default=2)
    return parser.parse_args()


def main():
    options = parse_arguments()
    model_list.say_if_shared_is_missing()
    entries = present(choose(options))
    targets = options.target or ["cpu", "cuda"]
    failed = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        flags = ["--pinned"] if options.pinned else []
        checks = [(entry, target, pool.submit(run_check, entry, target, flags))
                  for entry in entries for target in targets]
        for entry, target, future in checks:
            holds, text = future.result()
            print(f"{entry.name}\n{text}", end="", flush=True)
            if not holds:
                failed.append(f"{entry.name} ({target})")
    print(f"{len(checks) - len(failed)} of {len(checks)} checks hold")
    if failed:
        print(f"FAILED: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
