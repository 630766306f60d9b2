#!/usr/bin/env python3
"""Models of Concat, Split and Slice: what can be a place is not copied, and the numbers are right.

    tests/interpreter/check_places.py                       # all of place_models.py
    tests/interpreter/check_places.py dense_block
    tests/interpreter/check_places.py --emulate=cuda --emulate=cuda-races

Each is compiled with a batch of one and with one that varies. Its loops are interpreted (dead
memory is NaN, accesses are watched) and compared with the evaluator; emulated, what is written for
CUDA is built for the host and compared with onnxruntime. Exit status 0: all hold.
"""
import argparse
import json
import pathlib
import subprocess
import sys

import onnx

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent / "models"))
sys.path.insert(0, str(FOLDER.parent / "random"))

import check_random  # noqa: E402
import place_models  # noqa: E402
from build_output import Failure  # noqa: E402
from model_list import build_folder, work_folder  # noqa: E402

BATCHES = {1: [], "n": ["--dim=n=1..3"]}
# Of row-major images, as CUDA has them, channels of several are apart.
TARGETS = {1: ["cpu", "cuda"], "n": ["cpu"]}
SIZES = ["--size=n=1", "--size=n=3"]


def copies_within(path, flags):
    """Steps that compute nothing, but those that bring inputs and outputs into another layout."""
    out = path.with_suffix("")
    subprocess.run([build_folder() / "aotc", path, "-o", out, *flags], check=True,
                   stdout=subprocess.DEVNULL)
    metadata = json.loads((out / "metadata.json").read_text())
    ends = {port["name"] for port in metadata["inputs"] + metadata["outputs"]}
    working = {kernel["name"] for kernel in metadata["kernels"] if kernel["flops"]}
    return [step["kernel"] for step in metadata["steps"]
            if step["kernel"] not in working and not ends & set(step["args"])]


def is_refused(path, flags):
    """Whether operands are copied because the arena would grow by more than a twentieth."""
    command = [build_folder() / "aotc", path, "-o", path.with_suffix(""), "--dump-after=fuse"]
    done = subprocess.run([*command, *flags], check=True, capture_output=True, text=True)
    return "the peak of memory would rise" in done.stdout + done.stderr


def emulate(path, way):
    """What is wrong with the numbers, or nothing."""
    try:
        check_random.check_task(path, check_random.Task(1, way, ""), path.parent / way)
    except Failure as failure:
        return [f"{path.stem}, {way}: {failure}"]
    return []


def check(build, still, folder, ways):
    failures = []
    for batch, flags in BATCHES.items():
        path = folder / f"{build.__name__}_{batch}.onnx"
        net = place_models.Net(seed=1)
        onnx.save(net.model(build(net, batch)), path)
        if ways:
            failures += [text for way in ways for text in emulate(path, way)]
            continue
        refused = (build, batch) in place_models.REFUSED
        for target in TARGETS[batch]:
            if not still or refused or (target == "cuda" and build in place_models.MOVED_ON_CUDA):
                continue
            if copies := copies_within(path, [*flags, f"--target={target}"]):
                failures.append(f"{path.stem}, {target}: copies in {' '.join(copies)}")
        if refused != is_refused(path, flags):
            failures.append(f"{path.stem}: the peak of memory is not looked at rightly")
        command = [build_folder() / "tests" / "interpret_model", "--ways=all", *flags]
        command += SIZES if flags else []
        if subprocess.run([*command, path], stdout=subprocess.DEVNULL).returncode != 0:
            failures.append(f"{path.stem}: other numbers")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*")
    parser.add_argument("--emulate", action="append", default=[], metavar="WAY",
                        help="a way of check_random.py, instead of the interpreter")
    options = parser.parse_args()
    folder = work_folder() / "place_models"
    folder.mkdir(parents=True, exist_ok=True)
    chosen = {build: still for build, still in place_models.MODELS.items()
              if not options.models or build.__name__ in options.models}
    failures = [text for build, still in chosen.items()
                for text in check(build, still, folder, options.emulate)]
    print("\n".join([*failures, f"{len(chosen)} models: {len(failures)} failures"]))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
