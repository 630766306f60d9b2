#!/usr/bin/env python3
"""Einsum with random equations against numpy: check_operators.py with another family, of which
every case has to be drawn and taken.

    tests/random/check_einsum.py --count 500
    tests/random/check_einsum.py --seed 7 --first 12 --count 1 --way cpu
"""
import sys

import check_operators
import operator_einsum


def main():
    options = check_operators.parse_arguments()
    numbers = range(options.first, options.first + options.count)
    failed = 0
    for way in options.way:
        # Some equations have no index that could be a symbol, nor sizes that the run could give.
        has_symbols = check_operators.WAYS[way].form in ("symbolic", "sized")
        least = len(numbers) * 3 // 4 if has_symbols else len(numbers)
        failed += check_operators.check_way(options, way, numbers, operator_einsum.FAMILIES,
                                            "einsum_tests", least)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
