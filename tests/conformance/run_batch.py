#!/usr/bin/env python3
"""Runs the shared library of some tests, and prints what differs as a JSON object.

    tests/conformance/run_batch.py model.so model test_abs test_tile:1
"""
import json
import pathlib
import sys

import converted
import other_data
from build_output import Failure
from check_model import require_steady
from compare_outputs import difference
from merge_models import prefix_of
from model_table import CompiledModel

NAMES = "names.json"  # beside the library: new names of values, by old ones


def parse(text):
    """A case by what str() of it gives."""
    return converted.parse(text) if "^" in text else other_data.parse(text)


def run(model, inputs):
    """Outputs by name."""
    results = model.run(inputs, fill=0xFF)
    require_steady(model, inputs, results)
    return results


def differences(library, name, cases):
    """Name of a case -> what is wrong with an output of it."""
    loaded = [case.load() for case in cases]
    names = json.loads((pathlib.Path(library).parent / NAMES).read_text())

    def place(number, name):
        return names.get(prefix_of(number) + name, prefix_of(number) + name)

    inputs = {place(i, name): array for i, one in enumerate(loaded)
              for name, array in one.inputs.items()}
    model = CompiledModel(library, name)
    results, found = run(model, inputs), {}
    for number, (case, one) in enumerate(zip(cases, loaded)):
        for output, expected in one.expected.items():
            actual = results[place(number, output)]
            text = difference(actual, expected, *case.tolerances())
            if text:
                found[case.name] = f"output {output}: {text}"
    model.close()
    return found


def main():
    try:
        found = differences(sys.argv[1], sys.argv[2], list(map(parse, sys.argv[3:])))
    except Failure as failure:
        sys.exit(str(failure))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
