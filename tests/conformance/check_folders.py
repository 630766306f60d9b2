#!/usr/bin/env python3
"""ONNX's tests that are not of single nodes, by scripts/conformance: the folders simple,
pytorch-converted and pytorch-operator, and light, for which ONNX's runner makes the inputs.

    tests/conformance/check_folders.py --target cpu
    tests/conformance/check_folders.py --target cuda --sample 6 --seed 1
    tests/conformance/check_folders.py --folder light

Exit status 0: all pass.
"""
import argparse
import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

import onnx
from onnx import numpy_helper
from onnx.backend.test.runner import Runner

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "conformance"
DATA = pathlib.Path(onnx.__file__).parent / "backend" / "test" / "data"
FOLDERS = ("simple", "pytorch-converted", "pytorch-operator", "light")
LEAST = 140  # tests of all folders


def light_tests(folder):
    """The models of light with the inputs that ONNX's runner gives them, as folders of tests."""
    for path in sorted((DATA / "light").glob("*.onnx")):
        model = onnx.load(path)
        data = folder / path.stem / "test_data_set_0"
        data.mkdir(parents=True)
        shutil.copy(path, data.parent / "model.onnx")
        weights = {tensor.name for tensor in model.graph.initializer}
        inputs = [value for value in model.graph.input if value.name not in weights]
        for number, value in enumerate(inputs):
            array = Runner.generate_dummy_data(value, seed=0, name=path.stem, random=False)
            proto = numpy_helper.from_array(array, value.name)
            (data / f"input_{number}.pb").write_bytes(proto.SerializeToString())
        for number in range(len(model.graph.output)):
            shutil.copy(path.with_name(f"{path.stem}_output_{number}.pb"),
                        data / f"output_{number}.pb")
    return folder


def find_tests(options, work):
    """(folder, name) of each test, or of those that the seed draws."""
    folders = {name: light_tests(work / name) if name == "light" else DATA / name
               for name in options.folder}
    tests = sorted((path, test.parent.name) for path in folders.values()
                   for test in path.glob("*/model.onnx"))
    if set(options.folder) == set(FOLDERS) and len(tests) < LEAST:
        raise SystemExit(f"{len(tests)} tests, and not {LEAST}")
    if options.sample is None:
        return tests
    return random.Random(options.seed).sample(tests, options.sample)


def run(folder, names, options, work):
    """The results of scripts/conformance."""
    table = work / "results.json"
    table.unlink(missing_ok=True)
    filters = [f"--filter={name}" for name in names]
    subprocess.run([sys.executable, SCRIPT, folder, f"--target={options.target}", *filters,
                    "--jobs=2", f"--json={table}"], check=False)
    return json.loads(table.read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--folder", action="append", choices=FOLDERS)
    parser.add_argument("--sample", type=int, help="so many tests of all")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.folder = options.folder or list(FOLDERS)
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        tests = find_tests(options, work)
        results = []
        for folder in sorted({folder for folder, _ in tests}):
            results += run(folder, [name for f, name in tests if f == folder], options, work)
    passed = sum(result["stage"] == "passed" for result in results)
    print(f"folders on {options.target}: {passed} of {len(tests)} tests passed")
    return 0 if passed == len(tests) else 1


if __name__ == "__main__":
    sys.exit(main())
