#!/usr/bin/env python3
"""ONNX's own test runner with the backend of onnx_backend.py, and scripts/conformance on tests of
which the stage is known.

    tests/conformance/check_backend.py --seed 1 --count 12        # node tests, on both devices
    tests/conformance/check_backend.py --include test_nonzero

Exit status 0: all pass, and each planted fault is seen at its stage.
"""
import argparse
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
import onnx.backend.test

import onnx_backend
import suite
from build_output import Failure

SCRIPT = suite.FOLDER.parents[1] / "scripts" / "conformance"


def run_suite(names):
    """The number of tests that ONNX's runner ran; a Failure where one does not pass."""
    tests = onnx.backend.test.BackendTest(onnx_backend.Backend, __name__)
    for name in names:
        tests.include(f"^{re.escape(name)}_(cpu|cuda)$")
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=0).run(tests.test_suite)
    ran = result.testsRun - len(result.skipped)
    if not result.wasSuccessful():
        raise Failure(f"{len(result.failures) + len(result.errors)} of {ran} tests fail")
    if ran < 2 * len(names):
        raise Failure(f"{ran} tests ran, and not {2 * len(names)}")
    return ran


def write_test(folder, nodes, inputs, outputs, results):
    """A test with one set of data; `outputs` and `results` may disagree."""
    infos = [[helper.make_tensor_value_info(
        name, helper.np_dtype_to_tensor_dtype(array.dtype), None if kind else array.shape)
        for name, array in values.items()] for kind, values in enumerate((inputs, outputs))]
    model = helper.make_model(helper.make_graph(nodes, folder.name, *infos), ir_version=10,
                              opset_imports=[helper.make_opsetid("", 21)])
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    onnx.save(model, folder / "model.onnx")
    for kind, arrays in (("input", inputs), ("output", results)):
        for number, array in enumerate(arrays.values()):
            proto = numpy_helper.from_array(array)
            (data / f"{kind}_{number}.pb").write_bytes(proto.SerializeToString())


def plant(root):
    """Name of a test -> the stage that it has to reach."""
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    relu, near, far = helper.make_node("Relu", ["x"], ["y"]), x + 1e-5, x.copy()
    far[1, 2] += 0.01
    write_test(root / "holds", [relu], {"x": x}, {"y": x}, {"y": x})
    write_test(root / "is_near", [relu], {"x": x}, {"y": x}, {"y": np.where(x, near, x)})
    write_test(root / "is_off", [relu], {"x": x}, {"y": x}, {"y": far})
    write_test(root / "is_off_by_its_own_bound", [relu], {"x": x}, {"y": x}, {"y": far})
    (root / "is_off_by_its_own_bound/data.json").write_text(json.dumps({"rtol": 0.1}))
    small = np.array([1e-4, 5], np.float32)  # the error is small beside the largest element
    write_test(root / "is_off_where_small", [relu], {"x": small}, {"y": small},
               {"y": small + np.array([1e-5, 0], np.float32)})
    write_test(root / "has_another_type", [relu], {"x": x}, {"y": x}, {"y": x.astype(np.float64)})
    write_test(root / "is_unknown", [helper.make_node("Frobnicate", ["x"], ["y"])], {"x": x},
               {"y": x}, {"y": x})
    rows = np.array([0, 7])
    write_test(root / "is_out_of_range", [helper.make_node("Gather", ["x", "rows"], ["y"])],
               {"x": x, "rows": rows}, {"y": x}, {"y": x})
    few = np.array([[0, 1], [1, 2]])
    write_test(root / "passes_its_bound", [helper.make_node("NonZero", ["x"], ["y"])], {"x": x},
               {"y": few}, {"y": few})
    sizes = np.array([3, 1])
    write_test(root / "is_given_sizes", [helper.make_node("Tile", ["x", "sizes"], ["y"])],
               {"x": x, "sizes": sizes}, {"y": x}, {"y": np.tile(x, sizes)})
    return {"holds": "passed", "is_near": "passed", "is_off": "mismatch",
            "is_off_by_its_own_bound": "passed", "is_off_where_small": "mismatch",
            "has_another_type": "mismatch", "is_unknown": "import refused",
            "is_out_of_range": "run status", "passes_its_bound": "run status",
            "is_given_sizes": "passed"}


def check_script(target):
    """Prints the summary of the planted tests."""
    root = pathlib.Path(tempfile.mkdtemp())
    try:
        wanted, found = plant(root / "suite"), root / "found.json"
        done = subprocess.run([SCRIPT, root / "suite", "--target", target, "--json", found,
                               "--jobs", "2"], text=True, capture_output=True, check=False)
        print(done.stdout.strip().splitlines()[-1] if done.stdout.strip() else done.stderr)
        stages = {one["name"]: one["stage"] for one in json.loads(found.read_text())}
    finally:
        shutil.rmtree(root)
    wrong = {name: stages.get(name) for name, stage in wanted.items() if stages.get(name) != stage}
    if wrong or done.returncode != 1:
        raise Failure(f"{target}, exit status {done.returncode}: stages {wrong} of {wanted}\n"
                      f"{done.stdout}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=8, help="of node tests")
    parser.add_argument("--include", action="append", default=[], help="tests by their names")
    options = parser.parse_args()
    plain = [case.name for case in suite.read_all(["node"]) if re.match(PLAIN, case.name)]
    names = options.include or random.Random(options.seed).sample(plain, options.count)
    try:
        print(f"ONNX's runner: {run_suite(names)} tests hold: {' '.join(sorted(names))}")
        if not options.include:
            for target in ("cpu", "cuda"):
                check_script(target)
    except Failure as failure:
        print(failure)
        return 1
    return 0


# Tests that pass through the table with every input given.
PLAIN = ("test_(abs|add|and|argmax|averagepool|basic_conv|cast|clip|concat|conv|cumsum|expand"
         "|gather|gemm|layer|matmul|max|nonzero|pad|reduce|reshape|resize|slice|softmax|tile|topk"
         "|unique)")

if __name__ == "__main__":
    sys.exit(main())
