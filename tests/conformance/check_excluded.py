#!/usr/bin/env python3
"""What excluded.txt says of the tests that it names, of what aotc makes of them on both targets.

    tests/conformance/check_excluded.py

A random test is run with many seeds: what it draws has the type, the shape and the distribution
that ONNX says. The tolerances of tolerances.txt are ONNX's, and what they are for is in the data
alone: the program keeps the common one from the definition, computed by numpy in f64.
Exit status 0: all holds.
"""
import argparse
import ast
import pathlib
import shutil
import sys

import numpy as np
import onnx

import check_targets
import compare_outputs
import suite
from build_output import Failure, model_name
from compare_outputs import difference
from merge_models import prefix_of
from model_list import work_folder
from model_table import CompiledModel

SEEDS = 400
SIGMAS = 5  # that a share may be off


def require(condition, text):
    if not condition:
        raise Failure(text)


def own_tolerances():
    """Test -> the absolute tolerance with which ONNX runs it with its own evaluator: an argument of
    BackendTest in its source.
    """
    path = pathlib.Path(onnx.__file__).parent / "test/test_backend_reference.py"
    tree = ast.parse(path.read_text())
    names = {node.targets[0].id: ast.unparse(node.value) for node in tree.body
             if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)}
    call, = (node for node in ast.walk(tree) if isinstance(node, ast.keyword)
             and node.arg == "test_kwargs")
    scope = {"sys": sys}
    scope["dft_atol"] = eval(names["dft_atol"], scope)  # by platform
    kwargs = eval(ast.unparse(call.value), scope)
    return {name: own["atol"] for name, own in kwargs.items()}


def check_tolerances():
    """Those of tolerances.txt are ONNX's."""
    own, official = compare_outputs.absolute_tolerances(), own_tolerances()
    require(own.items() <= official.items(), f"tolerances.txt has {own}, ONNX {official}")


def inverse_transform(x, axis=1):
    result = np.fft.ifft(x[..., 0].astype("f8") + 1j * x[..., 1], axis=int(axis))
    return np.stack([result.real, result.imag], -1).astype("f4")


def check_definition(_, loaded, runs):
    name, = loaded.expected
    defined = inverse_transform(*loaded.inputs.values())
    text = difference(runs[0][name], defined)
    require(not text, f"it is not what the definition says: {text}")
    require(difference(loaded.expected[name], defined), "it needs no tolerance of its own")


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


def run_all(target, cases, folder, seeds):
    """The loaded cases, and for each its outputs of every run, one a seed."""
    flags = [] if seeds == [None] else ["--random-seed-input"]
    outdir = check_targets.generate(target, cases, folder, flags=flags)
    library = check_targets.build(target, cases, folder, outdir)
    loaded = [case.load() for case in cases]
    inputs = {prefix_of(number) + name: array for number, one in enumerate(loaded)
              for name, array in one.inputs.items()}
    model = CompiledModel(library, model_name(outdir))
    results = [model.run(inputs if seed is None else inputs | {"aotc_seed": np.array([seed])})
               for seed in seeds]
    model.close()
    return loaded, [[{name: result[prefix_of(number) + name] for name in one.expected}
                     for result in results] for number, one in enumerate(loaded)]


def check_batch(target, cases, folder, seeds, check):
    """The number of cases that fail; prints them."""
    failed = 0
    for case, loaded, runs in zip(cases, *run_all(target, cases, folder, seeds)):
        try:
            check(case, loaded, runs)
        except Failure as failure:
            print(f"{case.name}, {target}: {failure}")
            failed += 1
    return failed


def main():
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    check_tolerances()
    kinds = {"random": (suite.read_excluded(), [1, *range(1, SEEDS + 1)], check_random),
             "defined": (compare_outputs.absolute_tolerances(), [None], check_definition)}
    root, failed = work_folder() / "excluded_tests", 0
    shutil.rmtree(root, ignore_errors=True)
    for target in check_targets.TARGETS:
        for kind, (names, seeds, check) in kinds.items():
            cases = [suite.parse(name) for name in names]
            for number, batch in enumerate(check_targets.batches_of(cases, len(cases))):
                failed += check_batch(target, batch, root / target / f"{kind}_{number}", seeds,
                                      check)
    counts = ", ".join(f"{len(names)} {kind}" for kind, (names, *_) in kinds.items())
    print(f"{counts} tests on {len(check_targets.TARGETS)} targets: {failed} are not as "
          "excluded.txt and tolerances.txt say")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
