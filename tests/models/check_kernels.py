#!/usr/bin/env python3
"""Counts the kernels of models, their launches in a run and the bytes that these move.

    tests/models/check_kernels.py                     # a transformer's layer, the short sample
    tests/models/check_kernels.py --all               # every model of models.txt
    tests/models/check_kernels.py --aotc OTHER --all  # of another aotc, to compare with

One more layer of a BERT-like encoder may cost 8 launches, ResNet-50 may have 55 kernels; both
targets. Bytes are of all operands of each launch, at the largest sizes. Inside networks whose
branches are joined by channels no step just moves data: theirs lie in what joins them. No
contraction runs on plain loops but for those that models.txt has; --all: nor in the models of
../shared/bench, but for one of a table. Exit status 0: all holds.
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import onnx

import model_list
import realisations
import transformer
from build_output import Failure
from model_list import build_folder

MOST_LAUNCHES_PER_LAYER = 8
MOST_KERNELS = {"light_resnet50": 55}
JOINED = {"light_densenet121", "light_inception_v1", "light_inception_v2", "light_shufflenet"}
JOINED_BENCH = ("unet", "yolov8n")  # of ../shared/bench
# A query of one row attends to its keys by groups of threads: blocks of rows would be nearly empty.
BENCH_PLAIN = {("gpt2_step", "cuda"): 1}
BENCH_DIMS = {"gpt2_step": {"past": "0..128"}}
TARGETS = ("cpu", "cuda")


def compile_counts(aotc, path, target, dims, folder, is_joined=False, plain=0):
    """(kernels, launches, bytes) of a model, of whose contractions `plain` run on plain loops."""
    outdir = folder / f"{path.stem}_{target}"
    flags = [f"--dim={name}={bounds}" for name, bounds in dims.items()]
    run = subprocess.run([aotc, path, "--target", target, "-o", outdir, "--quiet", *flags],
                         capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise Failure(run.stderr.strip())
    metadata = json.loads((outdir / "metadata.json").read_text())
    if is_joined and metadata["moved_bytes_inside"] != 0:
        raise Failure(f"{metadata['moved_bytes_inside']} bytes are just moved inside")
    if len(found := realisations.read(outdir).plain_contractions()) != plain:
        raise Failure(f"{len(found)} contractions on plain loops, not {plain}: {', '.join(found)}")
    shutil.rmtree(outdir)  # weights of a gigabyte, perhaps
    kernels = metadata["kernels"]
    moved = sum(kernel["bytes"] * kernel["launches"] for kernel in kernels)
    return len(kernels), sum(kernel["launches"] for kernel in kernels), moved


def line(name, target, counts):
    kernels, launches, moved = counts
    return f"{name:24} {target:5} {kernels:7} {launches:8} {moved / 1e6:11.3f}"


def check_layer(aotc, target, folder):
    launches = []
    for layers in (1, 2):
        path = folder / f"encoder_{layers}.onnx"
        onnx.save(transformer.build(layers), path)
        counts = compile_counts(aotc, path, target, {"batch": "1..2", "length": "4..64"}, folder)
        print(line(path.stem, target, counts), flush=True)
        launches.append(counts[1])
    cost = launches[1] - launches[0]
    if cost > MOST_LAUNCHES_PER_LAYER:
        raise Failure(f"a layer takes {cost} launches, not {MOST_LAUNCHES_PER_LAYER}")


def check_model(aotc, entry, target, folder):
    counts = compile_counts(aotc, model_list.locate(entry), target, entry.dims, folder,
                            entry.name in JOINED, entry.plain.get(target, 0))
    print(line(entry.name, target, counts), flush=True)
    most = MOST_KERNELS.get(entry.name, counts[0])
    if counts[0] > most:
        raise Failure(f"{counts[0]} kernels, not {most}")


def make_bench(name, folder):
    """The model's file; one of bytes is made of the one of floats."""
    path, bench = folder / f"{name}.onnx", model_list.load_bench()
    if path.exists():
        return path
    if name in bench.INT8_MODELS:
        bench.quantize(make_bench(bench.INT8_MODELS[name], folder), path)
    else:
        onnx.save(bench.FLOAT_MODELS[name]().model(), path)
    return path


def check_bench(aotc, name, target, folder):
    counts = compile_counts(aotc, make_bench(name, folder), target, BENCH_DIMS.get(name, {}),
                            folder, name in JOINED_BENCH, BENCH_PLAIN.get((name, target), 0))
    print(line(name, target, counts), flush=True)


def checks_of(options):
    """(check, arguments behind the path of aotc)"""
    yield check_layer, ()
    for entry in model_list.read():
        if not (options.all or entry.short or entry.name in JOINED):
            continue
        if model_list.locate(entry) is not None:
            yield check_model, (entry,)
        else:
            print(f"{entry.name}: its file is not here, not counted")
    if options.all and not model_list.BENCH.exists():
        print("no ../shared/bench, not counted")
    elif options.all:
        bench = model_list.load_bench()
        yield from ((check_bench, (name,)) for name in (*bench.FLOAT_MODELS, *bench.INT8_MODELS))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--aotc", type=pathlib.Path, default=build_folder() / "aotc")
    options = parser.parse_args()
    print(f"{'model':24} target kernels launches    MB moved")
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for check, arguments in checks_of(options):
            for target in TARGETS:
                try:
                    check(options.aotc, *arguments, target, pathlib.Path(folder))
                except Failure as failure:
                    failures += 1
                    names = [getattr(argument, "name", argument) for argument in arguments]
                    print(f"{', '.join(names) or 'encoder'} ({target}): {failure}")
    print("all holds" if failures == 0 else f"{failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
