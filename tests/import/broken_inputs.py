#!/usr/bin/env python3
"""Writes models that are broken, each in its own way.

    tests/import/broken_inputs.py FOLDER        # FOLDER/<case>/model.onnx

CASES maps the name of a case to its writer and what the error must name. A writer gets a folder and
writes model.onnx there, and whatever else belongs to the case.
"""
import pathlib
import random
import sys

import broken_data  # noqa: F401, its cases
import broken_encodings  # noqa: F401, its cases
import broken_graphs  # noqa: F401, its cases
import broken_kinds  # noqa: F401, its cases
import broken_nesting  # noqa: F401, its cases
import broken_values  # noqa: F401, its cases
from broken_base import CASES


def flip_bits(data, seed):
    """`data` with one to eight bits turned."""
    lot = random.Random(seed)
    flipped = bytearray(data)
    for _ in range(lot.randint(1, 8)):
        flipped[lot.randrange(len(flipped))] ^= 1 << lot.randrange(8)
    return bytes(flipped)


def main():
    root = pathlib.Path(sys.argv[1])
    for name, case in CASES.items():
        (root / name).mkdir(parents=True, exist_ok=True)
        case.writer(root / name)
    print(f"{len(CASES)} broken models in {root}")


if __name__ == "__main__":
    main()
