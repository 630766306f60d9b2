#!/usr/bin/env python3
"""Runs import_cases of the build folder on the models of import_cases.py and ONNX's own test data.

    tests/import/run_cases.py build/tests/import_cases
"""
import pathlib
import subprocess
import sys
import tempfile

import onnx

HERE = pathlib.Path(__file__).parent


def main():
    data = pathlib.Path(onnx.__file__).parent / "backend/test/data"
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, HERE / "import_cases.py", folder], check=True)
        families = [data / name for name in ("simple", "pytorch-converted", "pytorch-operator")]
        return subprocess.run([sys.argv[1], folder, *families], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
