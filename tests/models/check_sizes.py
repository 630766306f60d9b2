#!/usr/bin/env python3
"""Sizes that come with a run: shape operands that are inputs of the graph.

    tests/models/check_sizes.py                # 24 draws on the CPU and on CUDA under emulation
    tests/models/check_sizes.py --seed 7 --count 200 --target cpu

One model with a part for each op that takes sizes is compiled once per target, with --dim for each
size, and run with sizes drawn from the whole of their ranges. Every number and every dim is
onnxruntime's. Each size just beyond its range is a status, before anything is written.

Then each part alone, without --dim, with sizes drawn from beyond these ranges too: what onnxruntime
computes is computed, and what it refuses, or what passes a --bound, is a status with a sentence of
the model's own. Last a model whose dims have to be equal without that it is known. Exit status 0:
all holds.
"""
import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import reference
from build_output import Failure, build_library, compile_model, model_name
from model_list import build_folder
from model_table import CompiledModel, Run
from sized_net import (DIMS, FREE_PARTS, PAIRS, SizedNet, borders, computed, draw_dims,
                       make_equal_net, make_net, repetitions, rounds, selections, slices)
from small_net import require, require_outputs

DIM, VALUE = 5, 7  # AOTC_ERROR_DIM, AOTC_ERROR_VALUE
FILL = 0xA5


def sizes_text(net, arrays):
    return ", ".join(f"{name}={arrays[name].tolist()}" for name in [*net.ranges, *net.choices])


def compare(net, session, model, arrays):
    names = [output.name for output in session.get_outputs()]
    expected = dict(zip(names, session.run(names, arrays)))
    require_outputs(model, arrays, expected, FILL, 1e-6, f", {sizes_text(net, arrays)}")


def require_refusals(net, model, arrays):
    """Every element one below its range, and one above; the number of those."""
    count = 0
    for name, ranges in net.ranges.items():
        for i, (least, most) in enumerate(ranges):
            for beyond in (least - 1, most + 1):
                given = {**arrays, name: arrays[name].copy()}
                given[name].reshape(-1)[i] = beyond
                run = Run(model, given, fill=FILL)
                status = model.table.run(model.instance.address, run.given, run.lent,
                                         run.memory["arena"].address, None)
                require(status & 0xFF == VALUE, f"{name}[{i}] = {beyond}: status {status}")
                written = [held.what for what, held in run.memory.items()
                           if what.startswith("output") and (held.bytes != FILL).any()]
                require(not written, f"{name}[{i}] = {beyond}: wrote {written}")
                count += 1
    return count


def expected_of(net, session, arrays):
    """Outputs by name; None where onnxruntime refuses the sizes or an axis is beyond its bound."""
    names = [output.name for output in session.get_outputs()]
    if any(is_refused(arrays) for is_refused in net.refused):
        return None
    try:
        found = dict(zip(names, session.run(names, arrays)))
    except Exception:  # onnxruntime has a class of its own for each kind of refusal
        return None
    beyond = [name for name, limits in net.bounds.items() if name in found
              for axis, most in limits.items() if found[name].shape[axis] > most]
    return None if beyond else found


def require_sentence(net, model, arrays, sentences):
    """A run that is refused by one of the model's checks."""
    run = Run(model, arrays, fill=FILL)
    status = model.table.run(model.instance.address, run.given, run.lent,
                             run.memory["arena"].address, None)
    text = model.table.status_text(status).decode()
    require(status & 0xFF in (DIM, VALUE) and text in sentences,
            f"{sizes_text(net, arrays)}: status {status}, {text}")
    return text


def check_free(part, target, folder, seed, count):
    """One part of the model without --dim; how many draws were computed and how many refused."""
    net = make_net(part)
    path = net.save(folder / f"{part.__name__}.onnx")
    flags = ["--cpu=x86-64-v3"] if target == "cpu" else []
    outdir = compile_model(path, target, folder, {}, flags + net.bound_flags())
    sentences = json.loads((outdir / "metadata.json").read_text()).get("checks", [])
    build_library(outdir, target, folder / f"{part.__name__}.so")
    model = CompiledModel(folder / f"{part.__name__}.so", model_name(outdir))
    session, rng = reference.session(path, optimised=False), np.random.default_rng(seed)
    computed = 0
    for _ in range(count):
        arrays = net.draw(rng, beyond=2)
        if expected_of(net, session, arrays) is None:
            require_sentence(net, model, arrays, sentences)
        else:
            compare(net, session, model, arrays)
            computed += 1
    model.close()
    require(computed >= count // 8, f"{part.__name__}: only {computed} draws are no refusals")
    print(f"{target}, {part.__name__}: {computed} draws hold, {count - computed} are refused",
          flush=True)


def pairs_apart(arrays):
    """Pairs of tensors of make_equal_net of which dims have to be equal, and are not."""
    shapes = {name: array.shape for name, array in arrays.items()}
    equal = {("whole", "x"): shapes["x"][2] % 2 == 0 and shapes["x"][3] % 2 == 0,
             ("left", "right"): shapes["left"][1] == shapes["right"][0],
             ("right", "again"): shapes["right"] == shapes["again"]}
    return [pair for pair in PAIRS if not equal[pair]]


def check_equal(target, folder, seed, count):
    """Dims that are equal in the runs that are computed, and that end the others with a status."""
    net = make_equal_net()
    path = net.save(folder / "equal.onnx")
    flags = ["--cpu=x86-64-v3"] if target == "cpu" else []
    outdir = compile_model(path, target, folder, {name: "1..10" for name in DIMS}, flags)
    sentences = json.loads((outdir / "metadata.json").read_text())["checks"]
    build_library(outdir, target, folder / "equal.so")
    model = CompiledModel(folder / "equal.so", model_name(outdir))
    session, rng = reference.session(path, optimised=False), np.random.default_rng(seed)
    said = collections.Counter()
    for _ in range(count):
        arrays = draw_dims(net, rng)
        apart = pairs_apart(arrays)
        if not apart:
            compare(net, session, model, arrays)
            continue
        text = require_sentence(net, model, arrays, sentences)
        named = [pair for pair in apart if all(f"'{name}'" in text for name in pair)]
        require(named, f"{text}: it does not name both of one of {apart}")
        said[named[0]] += 1
    model.close()
    refused = sum(said.values())
    require(refused < count and len(said) == len(PAIRS), f"{said} of {count} draws are refused")
    print(f"{target}, dims that have to be equal: {count - refused} draws hold, "
          f"{refused} are refused", flush=True)


def refuse(path, flags, wanted):
    """A compile that fails with that text."""
    words = [str(build_folder() / "aotc"), str(path), "-o", str(path.parent / "none"), *flags]
    done = subprocess.run(words, capture_output=True, text=True)
    require(done.returncode == 1 and wanted in done.stderr, f"{flags}: {done.stderr}")
    require(not (path.parent / "none").exists(), f"{flags}: an output folder is left")


def check_flags(net, folder):
    path = net.save(folder / "sizes.onnx")
    refuse(path, [], "--bound Expand")
    refuse(path, ["--dim=starts[0]=0..4"], "dim 'starts[1]' of the inputs has no maximum")
    refuse(path, ["--dim=starts[2]=0..4"], "--dim starts[2]: no such symbol")
    shaped = SizedNet()
    shaped.output(shaped.op("Relu", shaped.data("rows", 2)))
    refuse(shaped.save(folder / "rows.onnx"), ["--dim=rows=-1..4"], "a dim is not negative")


def check_target(net, target, folder, seed, count):
    path = net.save(folder / "sizes.onnx")
    flags = ["--cpu=x86-64-v3"] if target == "cpu" else []
    outdir = compile_model(path, target, folder, net.flags(), flags)
    build_library(outdir, target, folder / "model.so")
    model = CompiledModel(folder / "model.so", model_name(outdir))
    session, rng = reference.session(path, optimised=False), np.random.default_rng(seed)
    for _ in range(count):
        arrays = net.draw(rng)
        compare(net, session, model, arrays)
    refused = require_refusals(net, model, arrays)
    model.close()
    print(f"{target}: {count} draws of sizes hold, {refused} beyond their ranges are refused",
          flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=24, help="draws of sizes")
    parser.add_argument("--target", action="append", choices=["cpu", "cuda", "cuda-races"])
    options = parser.parse_args()
    net = make_net(slices, selections, repetitions, borders, computed, rounds)
    with tempfile.TemporaryDirectory(dir=build_folder()) as folder:
        try:
            check_flags(net, pathlib.Path(folder))
            for target in options.target or ["cpu", "cuda"]:
                check_target(net, target, pathlib.Path(folder), options.seed, options.count)
                for part in FREE_PARTS:
                    check_free(part, target, pathlib.Path(folder), options.seed, options.count * 4)
                check_equal(target, pathlib.Path(folder), options.seed, options.count)
        except Failure as failure:
            print(failure)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
