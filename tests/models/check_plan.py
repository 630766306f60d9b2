#!/usr/bin/env python3
"""Checks the memory plan of every model: at the lower bound, or proven to be the smallest.

    tests/models/check_plan.py                   # the models of ../shared/models
    tests/models/check_plan.py --all             # the light models of models.txt too
    tests/models/check_plan.py ocr_direction --target cuda

Static models must be at ratio 1.00 of arena to lower bound, or proven smallest by the search; with
symbolic dims, planned for their maxima, at most 1.02. metadata.json must list every buffer with
offset, size and steps: its bytes are added up anew, step by step. Neither arenas nor folders may
grow beyond what first_sizes.txt allows. Prints a table. Models that aotc cannot compile yet are
named. Exit status 0: all holds.
"""
import argparse
import functools
import json
import pathlib
import sys
import tempfile

import model_list
from build_output import Failure, compile_model

MOST_RATIO_SYMBOLIC = 1.02
FIRST_SIZES = pathlib.Path(__file__).with_name("first_sizes.txt")
MOST_ARENA, MOST_FILES = 1.05, 1.2  # times the first


def occupied(ranges):
    """Bytes in the union of ranges [begin, end)."""
    total, reached = 0, 0
    for begin, end in sorted(ranges):
        total += max(0, end - max(begin, reached))
        reached = max(reached, end)
    return total


def recount(arena):
    """(bytes, peak) of the buffers listed: the end of the last, and the most occupied at a step."""
    align = arena["align"]

    def padded(size):
        return (size + align - 1) // align * align

    places = [(b["first_step"], b["last_step"], b["offset"], b["offset"] + padded(b["bytes"]))
              for b in arena["buffers"]]
    peak = 0
    for step in {place[0] for place in places}:
        alive = [(begin, end) for first, last, begin, end in places if first <= step <= last]
        peak = max(peak, occupied(alive))
    return max((place[3] for place in places), default=0), peak


def verify_metadata(metadata):
    """Every buffer that a step names is listed, within the steps; sums are the header's."""
    arena = metadata["arena"]
    for buffer in arena["buffers"]:
        if buffer["offset"] % arena["align"]:
            raise Failure(f"{buffer['name']} is misaligned")
        if not 0 <= buffer["first_step"] <= buffer["last_step"] < len(metadata["steps"]):
            raise Failure(f"{buffer['name']} lives outside the steps")
    size, peak = recount(arena)
    if size != arena["bytes"]:
        raise Failure(f"the buffers end at {size}, the arena has {arena['bytes']} bytes")
    if peak > arena["lower_bound"]:
        raise Failure(f"{peak} bytes are alive at one step, above a bound of "
                      f"{arena['lower_bound']}")


def verify_ratio(arena, symbolic):
    ratio = arena["bytes"] / max(1, arena["lower_bound"])
    if symbolic and ratio > MOST_RATIO_SYMBOLIC:
        raise Failure(f"the arena is {ratio:.3f} times its bound")
    if not symbolic and arena["proof"] == "none":
        raise Failure(f"the arena is {ratio:.3f} times its bound, and not proven smallest")


@functools.cache
def first_sizes():
    """(model, target) -> bytes of the arena and of all files, as first_sizes.txt has them."""
    sizes = {}
    for line in FIRST_SIZES.read_text().splitlines():
        if line and not line.startswith("#"):
            name, *numbers = line.split("|")
            cpu_arena, cpu_files, cuda_arena, cuda_files = map(int, numbers)
            sizes[name.strip(), "cpu"] = cpu_arena, cpu_files
            sizes[name.strip(), "cuda"] = cuda_arena, cuda_files
    return sizes


def verify_growth(name, target, arena, files):
    if (name, target) not in first_sizes():
        return
    first_arena, first_files = first_sizes()[name, target]
    if arena > MOST_ARENA * first_arena:
        raise Failure(f"an arena of {arena} bytes, {arena / first_arena:.3f} times the first")
    if files > MOST_FILES * first_files:
        raise Failure(f"files of {files} bytes, {files / first_files:.3f} times the first")


def check(path, target, dims, folder):
    """The table's line for one model."""
    outdir = compile_model(path, target, folder, dims)
    metadata = json.loads((outdir / "metadata.json").read_text())
    arena = metadata["arena"]
    ratio = arena["bytes"] / arena["lower_bound"] if arena["lower_bound"] else 1.0
    line = (f"{path.stem:24} {target:5} {len(metadata['steps']):5} {arena['lower_bound']:11}"
            f" {arena['bytes']:11} {ratio:6.3f}  {arena['proof']}")
    print(line + ("  (symbolic)" if metadata["symbols"] else ""), flush=True)
    verify_metadata(metadata)
    verify_ratio(arena, bool(metadata["symbols"]))
    files = sum(file.stat().st_size for file in outdir.rglob("*") if file.is_file())
    verify_growth(path.stem, target, arena["bytes"], files)


def choose(options):
    """[(path, dims, must compile)]: the table's models, and the other files beside them."""
    entries = [e for e in model_list.read() if options.all or e.source == "shared"]
    chosen = [(model_list.locate(e), e.dims, True) for e in entries]
    known = {entry.name for entry in entries}
    for path in sorted((model_list.SHARED / "models").glob("*.onnx")):
        if path.stem not in known:
            chosen.append((path, {}, False))
    chosen = [c for c in chosen if c[0]]
    if options.names:
        chosen = [c for c in chosen if c[0].stem in options.names]
    return chosen


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="models; default: all of ../shared/models")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--target", choices=["cpu", "cuda"], action="append")
    return parser.parse_args()


def main():
    options = parse_arguments()
    model_list.say_if_shared_is_missing()
    print(f"{'model':24} {'':5} {'steps':>5} {'lower bound':>11} {'arena':>11} {'ratio':>6}  proof")
    failed, refused = [], []
    with tempfile.TemporaryDirectory() as folder:
        for path, dims, must_compile in choose(options):
            for target in options.target or ["cpu", "cuda"]:
                try:
                    check(path, target, dims, pathlib.Path(folder))
                except Failure as failure:
                    if not must_compile and str(failure).startswith("exit status 1:"):
                        refused.append(f"{path.stem} ({target})")
                    else:
                        failed.append(f"{path.stem} on {target}: {failure}")
    if refused:
        print(f"left out, aotc cannot compile them: {', '.join(refused)}")
    print("\n".join(failed) or "every plan holds")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
