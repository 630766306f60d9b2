#!/usr/bin/env python3
"""What excluded.txt says of the tests that it names, of what aotc makes of them on both targets.

    tests/conformance/check_excluded.py

A random test is run with many seeds: what it draws has the type, the shape and the distribution
that ONNX says. Of one whose data are wrong, the definition in ONNX's text is computed here, by
numpy: the program agrees with it, the data do not.
Exit status 0: all holds.
"""
import argparse
import shutil
import sys

import numpy as np

import check_targets
import suite
from build_output import Failure, model_name
from compare_outputs import difference
from merge_models import prefix_of
from model_list import work_folder
from model_table import CompiledModel
from operator_case import run_reference

SEEDS = 400
SIGMAS = 5  # that a share may be off
KINDS = "random", "wrong"


def require(condition, text):
    if not condition:
        raise Failure(text)


def linear(distance):
    return max(0.0, 1 - distance)


def cubic(distance, a=-0.75):
    if distance <= 1:
        return ((a + 2) * distance - (a + 3)) * distance ** 2 + 1
    return ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a if distance < 2 else 0.0


def aligned(length, scale, kernel):
    """[m, length]: weights of Resize with coordinate_transformation_mode "align_corners", where
    x_original = x_resized * (length_original - 1) / (length_resized - 1); outside are the edges.
    """
    resized = int(np.floor(length * scale))
    weights = np.zeros((resized, length))
    for x_resized in range(resized):
        x = x_resized * (length - 1) / (resized - 1) if resized > 1 else 0.0
        for tap in range(int(np.floor(x)) - 1, int(np.floor(x)) + 3):
            weights[x_resized, min(max(tap, 0), length - 1)] += kernel(abs(tap - x))
    return weights


def resize(kernel, x, scales):
    for axis, scale in enumerate(scales):
        weights = aligned(x.shape[axis], scale, kernel)
        x = np.moveaxis(np.tensordot(weights, x.astype("f8"), (1, axis)), 0, axis)
    return x.astype("f4")


def inverse_transform(x, axis):
    result = np.fft.ifft(x[..., 0].astype("f8") + 1j * x[..., 1], axis=axis)
    return np.stack([result.real, result.imag], -1).astype("f4")


# Test -> what ONNX's text makes of its inputs; whether onnxruntime keeps the tolerance.
DEFINITIONS = {
    "test_resize_downsample_scales_cubic_align_corners":
        (lambda x, scales: resize(cubic, x, scales), True),
    "test_resize_downsample_scales_linear_align_corners":
        (lambda x, scales: resize(linear, x, scales), True),
    "test_dft_inverse": (lambda x, axis: inverse_transform(x, int(axis)), False),
    "test_dft_inverse_opset19": (lambda x: inverse_transform(x, 1), False),
}


def check_wrong(case, loaded, runs):
    define, is_onnxruntimes = DEFINITIONS[case.name]
    name, = loaded.expected
    defined = define(*loaded.inputs.values())
    text = difference(runs[0][name], defined, *case.tolerances())
    require(not text, f"it is not what ONNX's text says: {text}")
    require(difference(loaded.expected[name], defined, *case.tolerances()),
            "its data are right: take it out of excluded.txt")
    if is_onnxruntimes:
        theirs = run_reference(loaded.model, loaded.inputs)[name]
        text = difference(theirs, defined, *case.tolerances())
        require(not text, f"onnxruntime does not do what ONNX's text says: {text}")


def check_share(drawn, chance):
    """Of what was drawn with each seed, [SEEDS, ...], the share of each element."""
    error = np.abs(drawn.mean(0) - chance)
    most = SIGMAS * np.sqrt(chance * (1 - chance) / len(drawn))
    require((error <= most).all(), f"shares {drawn.mean(0)}, not {chance}")


def check_bernoulli(loaded, runs):
    chances, = loaded.inputs.values()
    # What ONNX has for Bernoulli's function draws 1 where a uniform number is above the chance.
    if any(node.op_type == "Greater" for node in loaded.model.graph.node):
        chances = 1 - chances
    drawn = np.stack([result for run in runs for result in run.values()])
    require(np.isin(drawn, (0, 1)).all(), "some draw is neither 0 nor 1")
    check_share(drawn.astype("f8"), chances.astype("f8"))


def check_dropout(loaded, runs):
    x, ratio, _ = loaded.inputs.values()
    chance = 1 - float(ratio)
    values, *masks = (np.stack(results) for results in zip(*(run.values() for run in runs)))
    kept = masks[0] if masks else values != 0
    text = difference(values, np.where(kept, x / np.float32(chance), np.float32(0)))
    require(not text, f"what is kept is not scaled, or what is dropped is not 0: {text}")
    check_share(kept.astype("f8"), np.full(x.shape, chance))


def check_random(case, loaded, runs):
    for run in runs:
        for name, expected in loaded.expected.items():
            kinds = [(array.dtype, array.shape) for array in (run[name], expected)]
            require(kinds[0] == kinds[1], f"{name} is {kinds[0]}, not {kinds[1]}")
    same = all(np.array_equal(array, runs[1][name]) for name, array in runs[0].items())
    require(same, "one seed gives two results")
    (check_dropout if "dropout" in case.name else check_bernoulli)(loaded, runs[1:])


def run_all(target, cases, folder, kind):
    """The loaded cases, and for each its outputs of every run: of random ones with the seeds 1, 1,
    2, 3 ...
    """
    flags = ["--random-seed-input"] if kind == "random" else []
    outdir = check_targets.generate(target, cases, folder, flags=flags)
    library = check_targets.build(target, cases, folder, outdir)
    loaded = [case.load() for case in cases]
    inputs = {prefix_of(number) + name: array for number, one in enumerate(loaded)
              for name, array in one.inputs.items()}
    model = CompiledModel(library, model_name(outdir))
    seeds = [1, *range(1, SEEDS + 1)] if kind == "random" else [None]
    results = [model.run(inputs if seed is None else inputs | {"aotc_seed": np.array([seed])})
               for seed in seeds]
    model.close()
    return loaded, [[{name: result[prefix_of(number) + name] for name in one.expected}
                     for result in results] for number, one in enumerate(loaded)]


def check_batch(target, cases, folder, kind):
    """The number of cases that fail; prints them."""
    failed = 0
    for case, loaded, runs in zip(cases, *run_all(target, cases, folder, kind)):
        try:
            (check_random if kind == "random" else check_wrong)(case, loaded, runs)
        except Failure as failure:
            print(f"{case.name}, {target}: {failure}")
            failed += 1
    return failed


def main():
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    excluded, failed = suite.read_excluded(), 0
    root = work_folder() / "excluded_tests"
    shutil.rmtree(root, ignore_errors=True)
    for target in check_targets.TARGETS:
        for kind in KINDS:
            cases = [suite.parse(name) for name, (of, _) in excluded.items() if of == kind]
            for number, batch in enumerate(check_targets.batches_of(cases, len(cases))):
                failed += check_batch(target, batch, root / target / f"{kind}_{number}", kind)
    unknown = [name for name, (kind, _) in excluded.items() if kind not in KINDS]
    for name in unknown:
        print(f"{name}: is neither of {KINDS}")
    print(f"{len(excluded)} excluded tests on {len(check_targets.TARGETS)} targets: "
          f"{failed + len(unknown)} are not as excluded.txt says")
    return 1 if failed or unknown else 0


if __name__ == "__main__":
    sys.exit(main())
