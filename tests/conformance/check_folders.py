#!/usr/bin/env python3
"""scripts/conformance on ONNX's own tests, as folders like those of a user.

    tests/conformance/check_folders.py --target cpu --sample 8 --seed 3      # 8 of all 1,914
    tests/conformance/check_folders.py --folder simple --folder light

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

import suite

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "conformance"


def place(case, folder):
    """The test, a copy of that of the package or, of light, the folder that ONNX's runner makes."""
    if case.is_light:
        case.write(folder / case.name)
    else:
        shutil.copytree(case.path.parent, folder / case.name)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--folder", action="append", choices=suite.FOLDERS)
    parser.add_argument("--sample", type=int, help="so many tests of all")
    parser.add_argument("--also", action="append", default=[], help="a test beside the drawn ones")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    cases = suite.read_all(options.folder or suite.FOLDERS)
    if options.sample:
        also = [case for case in cases if case.name in options.also]
        cases = random.Random(options.seed).sample(cases, options.sample)
        cases += [case for case in also if case not in cases]
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        for case in cases:
            place(case, work / "tests")
        subprocess.run([sys.executable, SCRIPT, work / "tests", f"--target={options.target}",
                        "--jobs=2", f"--json={work / 'results.json'}"], check=False)
        results = json.loads((work / "results.json").read_text())
    passed = sum(result["stage"] == "passed" for result in results)
    print(f"folders on {options.target}: {passed} of {len(cases)} tests passed")
    return 0 if passed == len(cases) else 1


if __name__ == "__main__":
    sys.exit(main())
