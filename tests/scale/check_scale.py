#!/usr/bin/env python3
"""Checks that the time of a compile grows with the number of nodes, not faster.

    tests/scale/check_scale.py                           # 100 and 1,000 nodes
    tests/scale/check_scale.py --long                    # and 10,000, each under 20 s
    tests/scale/check_scale.py --family wide --long --target cuda

Times are processor time of the compiler, the best of three runs, or of two where that is dear, so
that what else the machine does matters little. Small nets are also run by `aotc verify`, which
compares the numbers. Exit status 0: every limit holds.
"""
import argparse
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

import onnx
import synthetic

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIMIT_SECONDS = 20   # of 10,000 nodes
MOST_GROWTH = 15     # of the time, where nodes grow tenfold
LEAST_SECONDS = 0.2  # what starts a compile does not grow: shorter times count as this much


def aotc(*words):
    build = pathlib.Path(os.environ.get("AOTC_BUILD_DIR") or ROOT / "build")
    done = subprocess.run([build / "aotc", *words], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=600)
    if done.returncode != 0:
        raise SystemExit(f"aotc {' '.join(map(str, words))} ended with {done.returncode}:\n"
                         f"{done.stdout[-2000:]}")


def processor_seconds(model, target, outdir):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    aotc(model, "--target", target, "-o", outdir, "--quiet")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def check_family(family, sizes, target, folder):
    """Complaints about one family; prints its times."""
    complaints, times = [], {}
    for nodes in sizes:
        model = folder / f"{family}_{nodes}.onnx"
        onnx.save(synthetic.build(family, nodes), model)
        outdir = folder / f"{family}_{nodes}_{target}"
        runs = 2 if nodes > 1000 else 3
        times[nodes] = min(processor_seconds(model, target, outdir) for _ in range(runs))
        smaller = times.get(nodes // 10)
        if smaller and times[nodes] > MOST_GROWTH * max(smaller, LEAST_SECONDS):
            complaints.append(f"{family} on {target}: {nodes} nodes take {times[nodes]:.1f} s, "
                              f"a tenth of them {smaller:.2f} s")
        if nodes <= 10000 and times[nodes] > LIMIT_SECONDS:
            complaints.append(f"{family} on {target}: {nodes} nodes take {times[nodes]:.1f} s")
        if nodes == 100 and target == "cpu":
            aotc("verify", model, "--target", target)
    print(f"{family:12} {target:5}" + "".join(f" {s:8.2f} s" for s in times.values()), flush=True)
    return complaints


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--long", action="store_true", help="10,000 nodes too")
    parser.add_argument("--family", action="append", choices=sorted(synthetic.FAMILIES))
    parser.add_argument("--target", action="append", choices=["cpu", "cuda"])
    return parser.parse_args()


def main():
    options = parse_arguments()
    sizes = [100, 1000, 10000] if options.long else [100, 1000]
    print("nodes             " + "".join(f" {nodes:8}  " for nodes in sizes))
    complaints = []
    with tempfile.TemporaryDirectory() as folder:
        for family in options.family or synthetic.FAMILIES:
            for target in options.target or ["cpu", "cuda"]:
                complaints += check_family(family, sizes, target, pathlib.Path(folder))
    print("\n".join(complaints) or "every limit holds")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
