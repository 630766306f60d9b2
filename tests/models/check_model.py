#!/usr/bin/env python3
"""Compiles one model, runs it through its table and compares every output with onnxruntime.

    tests/models/check_model.py tiny_kws_dscnn --target cuda            # of models.txt
    tests/models/check_model.py net.onnx --dim batch=1..4 --size batch=1 --size batch=3

The CUDA target is built for the host with the emulation header. A run is repeated over memory
filled with ones and with zeros, and on 2 and 5 workers: the same bytes are due. Exit status 0: all
holds.
"""
import argparse
import pathlib
import sys
import time

import numpy as np

import model_list
import realisations
import reference
import turns
from build_output import (TARGET_OPTIONS, Failure, build_library, compile_model, model_name,
                          target_of_aotc)
from model_table import CompiledModel

WORKERS = 2, 5         # as many as always have scratch, and more
LIMIT = 1e-4           # of the error against onnxruntime
PINNED_LIMIT = 1e-5    # or that noise: sums of another order, as tiles and blocks may be others
LEAST_CHANGE = 1e-3    # of some output between two inputs, or the comparison would prove little
NOISE_FACTOR = 2       # or this times what onnxruntime's optimiser changes
MOST_PLAIN_PERCENT = 4   # of the FLOP, for pools and the like: more hints at a lost contraction
SLOW_RUN_SECONDS = 60  # emulated runs above are not repeated


def compare(actual, expected, noise):
    """One line about the worst output. A Failure names the outputs that are too far off."""
    if set(actual) != set(expected):
        raise Failure(f"outputs are {sorted(actual)}, not {sorted(expected)}")
    errors = {name: reference.error_of(actual[name], expected[name]) for name in expected}
    limits = {name: max(LIMIT, NOISE_FACTOR * noise[name]) for name in expected}
    wrong = [name for name in expected if not errors[name] <= limits[name]]
    if wrong:
        text = [f"output {name}: error {errors[name]:.3g} > {limits[name]:.3g}; "
                + describe(actual[name], expected[name]) for name in wrong]
        raise Failure("\n".join(text))
    worst = max(expected, key=lambda name: errors[name] / limits[name])
    return (f"error {errors[worst]:.2g} of {limits[worst]:.2g} "
            f"(onnxruntime's own {noise[worst]:.2g})")


def describe(actual, expected):
    """Where two results differ most."""
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        return f"{actual.dtype}{list(actual.shape)}, not {expected.dtype}{list(expected.shape)}"
    with np.errstate(all="ignore"):
        apart = np.abs(actual.astype(np.float64) - expected.astype(np.float64))
    apart = np.where(np.isnan(apart), np.inf, apart)
    index = np.unravel_index(apart.argmax(), apart.shape)
    off = (apart > LIMIT * max(np.abs(expected).max(), 1e-6)).mean()
    values = f"{actual[index]:.7g}, not {expected[index]:.7g}"
    return f"at {[int(i) for i in index]} {values}; {off:.1%} of the elements off"


def arrays_of(value):
    """Of an output of any kind, with its number of items."""
    if value is None:
        return [np.zeros(0)]
    return [np.array(len(value)), *value] if isinstance(value, list) else [value]


def same_elements(array, other):
    if array.dtype == object:  # strings
        return array.tolist() == other.tolist()
    return array.tobytes() == other.tobytes()


def require_same(first, second, what):
    for name, value in first.items():
        pairs = list(zip(arrays_of(value), arrays_of(second[name])))
        for array, other in pairs:
            if array.shape != other.shape or not same_elements(array, other):
                raise Failure(f"output {name}: elements of {array.shape} differ {what}")


def require_steady(model, inputs, results):
    """The same whatever memory held before and however many workers run; whether some did."""
    require_same(results, model.run(inputs, fill=0), "between memory of ones and of zeros")
    if model.has_threads:
        for workers in WORKERS:
            require_same(results, model.run(inputs, workers=workers), f"on {workers} workers")
    return model.has_threads


def check_reference(path, sizes, scale, expected):
    other, _ = reference.expected_outputs(path, reference.make_inputs(path, sizes, 2, scale))
    change = max(reference.error_of(other[name], expected[name]) for name in expected)
    finite = all(np.isfinite(array).all() for array in expected.values())
    if not finite or change < LEAST_CHANGE:
        raise Failure(f"proves little: finite {finite}, change with the input {change:.2g}")


def require_tiles(report, target, plain):
    """No more contractions on plain loops than are known, nor much else."""
    found, known = report.plain_contractions(), plain.get(target, 0)
    if len(found) != known:
        raise Failure(f"{len(found)} contractions on plain loops, not {known}: {', '.join(found)}")
    if report.plain_share() > plain.get("percent", MOST_PLAIN_PERCENT) / 100:
        raise Failure(f"plain loops run {report.plain_share():.1%} of the FLOP")


def run_checks(model, path, sizes, scale):
    """The line to print about one size."""
    inputs = reference.make_inputs(path, sizes, 1, scale)
    expected, noise = reference.expected_outputs(path, inputs)
    check_reference(path, sizes, scale, expected)
    start = time.monotonic()
    actual = model.run(inputs, fill=0xFF)
    seconds = time.monotonic() - start
    line = f"{compare(actual, expected, noise)}, run {seconds:.2g} s"
    if seconds > SLOW_RUN_SECONDS:
        return f"{line}; run once only, as it is slow"
    return line + (", 2 and 5 workers agree" if require_steady(model, inputs, actual) else "")


def build_words(folder):
    """The compiler of a model: one of those that users have, at a level that is fast."""
    return (*turns.compiler(folder, turns.FAST), *turns.WARNINGS)


def check_pinned(model, path, target, folder, sizes, options):
    """The line to print about the program of these sizes alone, which gives the same numbers."""
    dims = {name: str(value) for name, value in sizes.items() if not name.endswith("=")}
    outdir = compile_model(path, target, folder, dims, options.flags)
    words = build_words(folder)
    build_library(outdir, target, folder / "model.so", options.jobs, words)
    pinned = CompiledModel(folder / "model.so", model_name(outdir))
    inputs = reference.make_inputs(path, sizes, 1, options.scale)
    ours, theirs = model.run(inputs), pinned.run(inputs)
    pinned.close()
    _, noise = reference.expected_outputs(path, inputs)
    errors = {name: reference.error_of(ours[name], theirs[name]) for name in theirs}
    for name, error in errors.items():
        limit = max(PINNED_LIMIT, min(noise[name], LIMIT))
        if not error <= limit:
            raise Failure(f"{error:.2g} from the program of these sizes alone, over {limit:.2g}")
    return f"from the program of these sizes alone {max(errors.values()):.2g}"


def check(path, target, folder, options):
    """Prints a line per size; raises Failure."""
    start = time.monotonic()
    outdir = compile_model(path, target, folder, options.dims, options.flags)
    compiled = time.monotonic() - start
    report, words = realisations.read(outdir), build_words(folder)
    print(f"  {target} FLOP by realisation: {report.line()}", flush=True)
    built = build_library(outdir, target, folder / "model.so", options.jobs, words)
    print(f"  {target} aotc {compiled:.1f} s, {words[0]} {words[2]} {built:.1f} s", flush=True)
    model = CompiledModel(folder / "model.so", model_name(outdir))
    for number, sizes in enumerate(options.sizes):
        text = " ".join(f"{name}={value}" for name, value in sizes.items())
        text += ": " if text else ""
        print(f"  {target} {text}{run_checks(model, path, sizes, options.scale)}", flush=True)
        if options.pinned and sizes:
            line = check_pinned(model, path, target, folder / f"pinned_{number}", sizes, options)
            print(f"  {target} {text}{line}", flush=True)
    model.close()
    if options.named:
        require_tiles(report, target_of_aotc(target), options.plain)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", help="a file, or a name of models.txt")
    parser.add_argument("--target", choices=TARGET_OPTIONS, default="cpu")
    parser.add_argument("--dim", action="append", default=[], metavar="NAME=LO..HI")
    parser.add_argument("--size", action="append", default=[], metavar="NAME=N,NAME=N",
                        help="symbols of one run; repeat for more runs")
    parser.add_argument("--flag", action="append", default=[], help="one more argument of aotc")
    parser.add_argument("--pinned", action="store_true",
                        help="also compare with the program of each size alone")
    parser.add_argument("--jobs", type=int, default=2, help="host compilers at a time")
    return parser.parse_args()


def main():
    options = parse_arguments()
    entry = model_list.find(options.model)
    path = model_list.locate(entry) if entry else pathlib.Path(options.model)
    if path is None:
        model_list.say_if_shared_is_missing()
        return 1
    options.named, options.flags = entry is not None, options.flag
    options.scale = entry.scale if entry else {}
    options.plain = entry.plain if entry else {}
    given = {k: v for text in options.dim for k, v in model_list.parse_dims(text).items()}
    options.dims = given or (entry.dims if entry else {})
    runs = [model_list.parse_sizes(text.replace(",", " ")) for text in options.size]
    options.sizes = runs or (entry.sizes if entry else [{}])
    folder = model_list.work_folder() / "model_tests" / options.target / path.stem
    try:
        check(path, options.target, folder, options)
    except Failure as failure:
        print(f"  {options.target} FAILED: {failure}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
