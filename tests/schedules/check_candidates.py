#!/usr/bin/env python3
"""Counts the schedules that the kernels of real models could have, by build/tests/count_candidates.

    tests/schedules/check_candidates.py           # small models: all for cpu, a sample for cuda
    tests/schedules/check_candidates.py --all     # every model of models.txt and of ../shared/bench

A schedule's text gives the same text and the same loops again; a contraction has a dozen
candidates or more, of several tiles, cuts and blocks.
Exit status 0: all holds.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

import onnx

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "models"))
import model_list  # noqa: E402

TARGETS = ("cpu", "cuda")
BENCH_DIMS = {"gpt2_step": {"past": "0..1023"}}


def argument(path, dims):
    """What count_candidates takes."""
    return ",".join([str(path), *(f"{name}={bounds}" for name, bounds in dims.items())])


def listed(target, is_all):
    """The models of models.txt that are counted."""
    for entry in model_list.read():
        if not (is_all or entry.short or (target == "cpu" and entry.source == "shared")):
            continue
        path = model_list.locate(entry)
        if path is not None:
            yield argument(path, entry.dims)
        else:
            print(f"{entry.name}: its file is not here, not counted")


def made(folder):
    """Those of the bench, written into the folder."""
    if not model_list.BENCH.exists():
        print("no ../shared/bench: its models are not counted")
        return
    bench = model_list.load_bench()
    names = [*bench.FLOAT_MODELS, *bench.INT8_MODELS]
    for name in names:
        path = folder / f"{name}.onnx"
        if name in bench.INT8_MODELS:
            bench.quantize(folder / f"{bench.INT8_MODELS[name]}.onnx", path)
        else:
            onnx.save(bench.FLOAT_MODELS[name]().model(), path)
        yield argument(path, BENCH_DIMS.get(name, {}))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    count = model_list.build_folder() / "tests/count_candidates"
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        bench = list(made(pathlib.Path(folder))) if options.all else []
        for target in TARGETS:
            models = [*listed(target, options.all), *bench]
            if not models:
                print("no models are here")
                continue
            failures += subprocess.run([count, *models, "--target", target],
                                       check=False).returncode != 0
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
