#!/usr/bin/env python3
"""Single operators of ai.onnx.ml and com.microsoft with random attributes, shapes and types,
against onnxruntime: check_operators.py with other families.

    tests/domains/check_domains.py                             # the short sample
    tests/domains/check_domains.py --seed 7 --count 2000 --way cpu
    tests/domains/check_domains.py --family tree_regressor --count 100
"""
import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER.parent / "random"), str(FOLDER)]

import check_operators  # noqa: E402
import operator_families  # noqa: E402


def main():
    options = check_operators.parse_arguments()
    numbers = range(options.first, options.first + options.count)
    failed = sum(check_operators.check_way(options, way, numbers, operator_families.DOMAINS,
                                           "domain_tests")
                 for way in options.way)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
