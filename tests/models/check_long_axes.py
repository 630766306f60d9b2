#!/usr/bin/env python3
"""Operators that take as many steps as an axis is long, and not that many for each element of it:
scatters, TopK, Unique, CumSum and DFT on axes of some thousand elements, against numpy.

    tests/models/check_long_axes.py                # every probe
    tests/models/check_long_axes.py --probe unique --sample 4
    tests/models/check_long_axes.py --speed        # of 10^6, one thread: at most 10 times numpy,
                                                   # and 12 times the time of a quarter of that
    tests/models/check_long_axes.py --target cuda  # updates, emulated: 8 times a quarter's work

Elements come again, NaN, infinities and both zeros among them. Exit status 0: all holds.
"""
import argparse
import pathlib
import sys
import tempfile
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from build_output import Failure, build_library, compile_model, model_name
from model_table import CompiledModel, Run

FLAGS = ["--cpu=x86-64-v3"]
MOST_TIMES, MOST_GROWTH, MOST_WORK, RUNS, LONG, MANY = 10, 12, 8, 15, 3000, 10**6
PRIMES = {MANY // 4: 250007, MANY: 1000003}
RULES = {"none": None, "add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}


class Probe:
    """One node over inputs, and what numpy says of them."""

    def __init__(self, name, op, inputs, expected, constants=(), outputs=1, **attributes):
        self.name, self.inputs, self.expected = name, inputs, expected
        names = [*inputs, *(tensor.name for tensor in constants)]
        results = [f"y{k}" for k in range(outputs)]
        node = helper.make_node(op, names, results, **attributes)
        made = [helper.make_tensor_value_info(
            key, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
            for key, array in inputs.items()]
        given = [helper.make_tensor_value_info(
            key, helper.np_dtype_to_tensor_dtype(array.dtype),
            [f"{key}_{axis}" for axis in range(array.ndim)] if op == "Unique" else array.shape)
            for key, array in zip(results, expected())]
        graph = helper.make_graph([node], name, made, given, initializer=list(constants))
        self.model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)],
                                       ir_version=10)

    def compiled(self, folder, target="cpu"):
        path = folder / f"{self.name}.onnx"
        onnx.save(self.model, path)
        outdir = compile_model(path, target, folder, {}, FLAGS if target == "cpu" else [])
        library = folder / f"{self.name}.so"
        build_library(outdir, target, library, 1)
        return CompiledModel(library, model_name(outdir))


def drawn(rng, shape, dtype):
    """Of few values, so that many are equal."""
    if np.issubdtype(dtype, np.integer):
        info = np.iinfo(dtype)
        few = rng.integers(info.min, info.max, 40, dtype)
    else:
        few = np.concatenate([rng.standard_normal(400), [np.nan, -np.nan, 0.0, -0.0, np.inf]])
    return rng.choice(few, shape).astype(dtype)


def scattered(x, at, u, rule):
    y = x.copy()
    places = tuple(np.moveaxis(at, -1, 0))
    if RULES[rule] is None:
        for place, row in zip(zip(*(p.ravel() for p in places)), u.reshape(-1, *u.shape[1:])):
            y[place] = row  # the last one stays
    else:
        RULES[rule].at(y, places, u)
    return [y]


def scatter_nd(rng, rule, shape, places, updates=LONG):
    """So many updates, at places of the first axes."""
    x = rng.standard_normal(shape).astype(np.float32)
    at = np.stack([rng.integers(-dim, dim, updates) for dim in shape[:places]], axis=-1)
    u = (1 + rng.standard_normal((updates, *shape[places:])) / 100).astype(np.float32)
    return Probe(f"scatter_nd_{rule}_{len(shape)}_{places}", "ScatterND",
                 {"x": x, "at": at, "u": u}, lambda: scattered(x, at, u, rule), reduction=rule)


def scatter_elements(rng, rule, length=400, updates=300):
    x = rng.standard_normal((5, length)).astype(np.float32)
    at = rng.integers(-length, length, (4, updates))
    u = rng.standard_normal((4, updates)).astype(np.float32)
    rows = np.broadcast_to(np.arange(4)[:, None], at.shape)
    where = np.stack([rows.ravel(), at.ravel()], axis=-1)
    return Probe(f"scatter_elements_{rule}", "ScatterElements", {"x": x, "at": at, "u": u},
                 lambda: scattered(x, where, u.ravel(), rule), axis=1, reduction=rule)


def order_of(x, largest):
    """Stable, NaN the greatest."""
    keys = np.nan_to_num(x, nan=np.inf) if x.dtype.kind == "f" else x
    is_nan = np.isnan(x) if x.dtype.kind == "f" else np.zeros(x.shape, bool)
    ranks = np.unique(np.stack([is_nan, keys + 0], axis=-1) if x.dtype.kind == "f"
                      else keys, axis=0, return_inverse=True)[1].ravel()
    return np.argsort(-ranks if largest else ranks, kind="stable")


def top_k(rng, dtype, k, largest, rows=3):
    x = drawn(rng, (rows, LONG), dtype)

    def expected():
        places = np.stack([order_of(row, largest)[:k] for row in x])
        return [np.take_along_axis(x, places, axis=1), places]
    constant = numpy_helper.from_array(np.array([k]), "k")
    return Probe(f"top_{k}_{np.dtype(dtype).name}_{largest}", "TopK", {"x": x}, expected,
                 [constant], 2, largest=largest)


def unique(rng, dtype, is_sorted):
    x = drawn(rng, LONG, dtype)

    def expected():
        order = order_of(x, 0)
        same = np.array([False, *((x[a] == x[b]) or (x[a] != x[a] and x[b] != x[b])
                                  for a, b in zip(order[1:], order[:-1]))])
        groups = np.cumsum(~same) - 1
        first, inverse = order[~same], np.empty(LONG, np.int64)
        inverse[order] = groups
        if not is_sorted:
            appear = np.argsort(first)
            ranks = np.argsort(appear)
            first, inverse = first[appear], ranks[inverse]
        return [x[first], first, inverse, np.bincount(inverse)]
    return Probe(f"unique_{np.dtype(dtype).name}_{is_sorted}", "Unique", {"x": x}, expected, (), 4,
                 sorted=is_sorted)


def pairs(numbers):
    return np.stack([numbers.real, numbers.imag], axis=-1).astype(np.float32)


def fourier(rng, name, length, parts=2, **attributes):
    """Along the middle one of three axes."""
    given = length // 2 + 1 if attributes.get("inverse") and attributes.get("onesided") else length
    x = rng.standard_normal((2, given, 3, parts)).astype(np.float32)
    numbers = x[..., 0] + 1j * x[..., 1] if parts == 2 else x[..., 0]

    def expected():
        if attributes.get("inverse") and attributes.get("onesided"):
            return [np.fft.irfft(numbers, length, axis=1).astype(np.float32)[..., None]]
        if attributes.get("onesided"):
            return [pairs(np.fft.rfft(numbers, axis=1))]
        return [pairs((np.fft.ifft if attributes.get("inverse") else np.fft.fft)(numbers, axis=1))]
    constants = [numpy_helper.from_array(np.array(value), key)
                 for key, value in (("length", length), ("axis", 1))]
    return Probe(f"dft_{name}_{length}", "DFT", {"x": x}, expected, constants, **attributes)


def fouriers(rng):
    for length in (1, 2, 97, 3000, 4096, 10007, 20014):  # a large prime, and twice that
        yield fourier(rng, "complex", length)
        yield fourier(rng, "inverse", length, inverse=1)
        yield fourier(rng, "real", length, 1)
        yield fourier(rng, "half", length, 1, onesided=1)
        yield fourier(rng, "to_real", length, inverse=1, onesided=1)


def probes(rng):
    yield from fouriers(rng)
    yield from (scatter_nd(rng, rule, (60, 50, 3)[:rank], min(rank, 2))
                for rule in RULES for rank in (1, 2, 3))
    yield from (scatter_elements(rng, rule) for rule in RULES)
    for dtype in (np.float32, np.int64, np.int32, np.uint8, np.float64):
        yield from (top_k(rng, dtype, k, largest)
                    for k, largest in ((1, 1), (7, 0), (300, 1), (LONG, 0), (LONG, 1)))
        yield from (unique(rng, dtype, is_sorted) for is_sorted in (0, 1))


def cuda_probes(rng):
    """Of more elements than there are threads that own them."""
    for rule in RULES:
        yield scatter_nd(rng, rule, (70001,), 1, 400)
        yield scatter_nd(rng, rule, (301, 233), 2, 400)
        yield scatter_nd(rng, rule, (9001, 7), 1, 400)
        yield scatter_elements(rng, rule, 30011, 400)


def fast_probes(rng, many):
    """Of so many elements, and the function of numpy that each is measured by."""
    x, u = (rng.standard_normal(many).astype(np.float32) for _ in range(2))
    at, sums = rng.integers(0, many, (many, 1)), np.zeros(many, np.float32)
    k, axis = numpy_helper.from_array(np.array([100]), "k"), numpy_helper.from_array(
        np.array(0), "axis")
    yield Probe("scatter_add", "ScatterND", {"x": x, "at": at, "u": u},
                lambda: scattered(x, at, u, "add"), reduction="add"), lambda: np.add.at(
                    sums, at[:, 0], u)
    order = np.argsort(-x, kind="stable")[:100]
    yield Probe("top_100", "TopK", {"x": x}, lambda: [x[order], order], [k], 2), (
        lambda: np.argpartition(x, -100))
    yield Probe("unique", "Unique", {"x": x}, lambda: [np.unique(x)]), lambda: np.unique(x)
    yield Probe("cumsum", "CumSum", {"x": x}, lambda: [np.cumsum(x, dtype=np.float64).astype(
        np.float32)], [axis]), lambda: np.cumsum(x)
    for name, length in (("dft", many), ("dft_prime", PRIMES[many])):
        z = rng.standard_normal((length, 2)).astype(np.float32)
        numbers = z.astype(np.float64).view(np.complex128)[:, 0]
        yield Probe(name, "DFT", {"x": z}, lambda n=numbers: [pairs(np.fft.fft(n))],
                    [numpy_helper.from_array(np.array(length), "length"), axis]), (
                        lambda n=numbers: np.fft.fft(n))


def is_same(probe, got, wanted):
    if probe.name.startswith("dft"):
        return np.abs(got - wanted).max() <= 2e-6 * np.abs(wanted).max()
    if wanted.dtype.kind == "f" and probe.name.startswith(("scatter", "cumsum")):
        return np.allclose(got, wanted, rtol=2e-3, atol=1e-2)
    return np.array_equal(got, wanted, equal_nan=wanted.dtype.kind == "f")


def check(probe, model):
    for name, wanted in zip((f"y{k}" for k in range(9)), probe.expected()):
        got = model.run(probe.inputs)[name]
        if got.shape != wanted.shape or not is_same(probe, got, wanted):
            raise Failure(f"{probe.name}: {name} differs")


def seconds(function, runs=RUNS):
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return sorted(times)


def times_of(probe, folder, target="cpu", runs=RUNS):
    """What copies the operands is the harness and not the model."""
    model = probe.compiled(folder, target)
    check(probe, model)
    run = Run(model, probe.inputs, 1, 0xFF)
    times = seconds(run.call, runs)
    run.close()
    return times


def check_speed(quarter, probe, function, folder):
    small, large, numpys = times_of(quarter, folder), times_of(probe, folder), seconds(function)
    ratio, growth = large[RUNS // 2] / numpys[RUNS // 2], large[0] / small[0]
    print(f"{probe.name}: {ratio:.2f} times numpy's time, {growth:.2f} times a quarter's",
          flush=True)
    if ratio > MOST_TIMES or growth > MOST_GROWTH:
        raise Failure(f"{probe.name}: more than {MOST_TIMES} or {MOST_GROWTH} times")


def check_work(quarter, probe, folder):
    """An emulated thread takes as long for a step as another."""
    small, large = (times_of(p, folder, "cuda", 3)[0] for p in (quarter, probe))
    print(f"{probe.name}: {large / small:.2f} times a quarter's work", flush=True)
    if large > MOST_WORK * small:
        raise Failure(f"{probe.name}: more than {MOST_WORK} times a quarter's work")


def cuda_checks(rng):
    for probe in cuda_probes(rng):
        yield probe.name, lambda folder, p=probe: check(p, p.compiled(folder, "cuda"))
    for rule in ("none", "add"):
        quarter, probe = (scatter_nd(rng, rule, (n,), 1, n // 40) for n in (36000, 144000))
        quarter.name, probe.name = quarter.name + "_quarter", probe.name + "_work"  # of libraries
        yield f"work_{rule}", lambda folder, of=(quarter, probe): check_work(*of, folder)


def checks(rng, is_speed):
    """A name, and the check of it that takes a folder."""
    if not is_speed:
        for probe in probes(rng):
            yield probe.name, lambda folder, p=probe: check(p, p.compiled(folder))
        return
    for (quarter, _), (probe, function) in zip(fast_probes(rng, MANY // 4), fast_probes(rng, MANY)):
        quarter.name += "_quarter"  # of the library
        yield probe.name, lambda folder, of=(quarter, probe, function): check_speed(*of, folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--probe", default="", help="those whose name begins so")
    parser.add_argument("--sample", type=int, metavar="N", help="as many, drawn")
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--target", choices=("cpu", "cuda"), default="cpu")
    options = parser.parse_args()
    rng = np.random.default_rng(1)
    is_cuda = options.target == "cuda"
    cases = list(cuda_checks(rng) if is_cuda else checks(rng, options.speed))
    if options.sample:
        cases = [cases[i] for i in rng.permutation(len(cases))[:options.sample]]
    held = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, holds in cases:
            if not name.startswith(options.probe):
                continue
            try:
                holds(pathlib.Path(folder))
                held += 1
            except Failure as failure:
                print(failure, flush=True)
                failed += 1
    print(f"{held} probes hold, {failed} fail")
    return 1 if failed or not held else 0


if __name__ == "__main__":
    sys.exit(main())
