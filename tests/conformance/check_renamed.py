#!/usr/bin/env python3
"""ONNX's node tests once more in the evaluator, under the names of renaming.py.

    tests/conformance/check_renamed.py --seed 7

Writes the renamed tests, and runs build/tests/node_tests on them, which asserts the same counts.
"""
import argparse
import os
import shutil
import sys

import onnx

import renaming
import suite
from build_output import command
from model_list import build_folder, work_folder

MOST_SECONDS = 3000


def write_case(source, folder, seed):
    """The renamed model, and a link to its data, which have numbers for names."""
    folder.mkdir(parents=True)
    (folder / "test_data_set_0").symlink_to(source / "test_data_set_0")
    model = onnx.load(source / "model.onnx")
    renaming.rename(model, seed)
    onnx.save(model, folder / "model.onnx")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    seed = parser.parse_args().seed
    root = work_folder() / "renamed_node_tests" / "evaluator"
    shutil.rmtree(root, ignore_errors=True)
    for number, source in enumerate(sorted((suite.DATA / "node").iterdir())):
        write_case(source, root / source.name, seed + 4 * number)
    print(command([build_folder() / "tests/node_tests"], MOST_SECONDS,
                  cwd=suite.FOLDER.parents[1],
                  env={**os.environ, "AOTC_ONNX_NODE_TESTS": str(root)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
