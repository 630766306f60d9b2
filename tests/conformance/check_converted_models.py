#!/usr/bin/env python3
"""Real models that onnx.version_converter has moved to other opsets, compiled, against what
onnxruntime makes of them as they were.

    tests/conformance/check_converted_models.py                    # all small ones, 2 opsets each
    tests/conformance/check_converted_models.py --model tiny_kws_cnn --opset 12

Conversions that the converter refuses, or that onnxruntime does not run to the same numbers, are
counted apart. Exit status 0: the rest hold.
"""
import argparse
import random
import shutil
import sys

import onnx

import converted
import suite  # noqa: F401  (puts the folder of what follows on the path)
import model_list
import reference
import turns
from check_model import compare
from build_output import Failure, build_library, compile_model, model_name
from model_table import CompiledModel

MOST_BYTES = 2 << 20


def small_entries(names):
    """Entries of models.txt whose files are there and small, or those that are named."""
    for entry in model_list.read():
        path = model_list.locate(entry) if entry.source == "shared" else None
        if path is not None and (entry.name in names or not names
                                 and path.stat().st_size <= MOST_BYTES):
            yield entry, path


def convert(path, opset, folder):
    """The path of the converted model; None where the converter refuses."""
    made = converted.convert(onnx.load(path), opset)
    if made is None:
        return None
    folder.mkdir(parents=True)
    onnx.save(made, folder / f"{path.stem}.onnx")
    return folder / f"{path.stem}.onnx"


def check(entry, path, opset, target):
    """"holds", or why it is counted apart; a Failure where the numbers are others."""
    folder = model_list.work_folder() / "converted_models" / target / f"{entry.name}_{opset}"
    shutil.rmtree(folder, ignore_errors=True)
    inputs = reference.make_inputs(path, entry.sizes[0], 1, entry.scale)
    expected, noise = reference.expected_outputs(path, inputs)
    moved = convert(path, opset, folder)
    if moved is None:
        return "refused by the converter"
    try:
        compare(reference.run(moved, inputs, False), expected, noise)
    except Failure:
        return "other numbers after the conversion"
    except Exception:  # pylint: disable=broad-except; each of its refusals has a class of its own
        return "onnxruntime does not run what the converter made"
    outdir = compile_model(moved, target, folder, entry.dims, turns.cpu_flags(target, folder))
    build_library(outdir, target, folder / "model.so", 2, turns.compiler(folder))
    model = CompiledModel(folder / "model.so", model_name(outdir))
    actual = model.run(inputs)
    model.close()
    compare(actual, expected, noise)
    return "holds"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", action="append", default=[])
    parser.add_argument("--opset", type=int, action="append")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--target", choices=["cpu", "cuda"], default="cpu")
    options = parser.parse_args()
    generator, failed, held = random.Random(options.seed), 0, 0
    for entry, path in small_entries(options.model):
        for opset in options.opset or sorted(generator.sample(converted.OPSETS, 2)):
            try:
                fate = check(entry, path, opset, options.target)
                held += fate == "holds"
            except Failure as failure:
                fate, failed = f"FAILS: {failure}", failed + 1
            print(f"{entry.name} at opset {opset}, {options.target}: {fate}", flush=True)
    print(f"{held} conversions of models hold, {failed} fail")
    if not held:
        model_list.say_if_shared_is_missing()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
