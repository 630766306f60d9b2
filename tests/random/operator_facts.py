#!/usr/bin/env python3
"""What docs/operators.md says of each operator beyond its definition, a line each:

    AveragePool | 1 7 10 11 19 22 | f16 f32 f64 | 28

ONNX's opsets that changed it, the types of first operands in what the generator of cases draws, and
how many of ONNX's node tests have it. operator_facts.txt holds the lines for the page's own test.

    tests/random/operator_facts.py             # 0 where the file is as it should be
    tests/random/operator_facts.py --update    # writes it
"""
import argparse
import collections
import pathlib
import sys

import numpy as np
import onnx
from onnx import defs, helper

import operator_batches  # noqa: F401; it finds the modules of other folders
import operator_families
import operator_plan
import operator_types
from operator_case import Dropped

FILE = operator_plan.FOLDER / "operator_facts.txt"
DATA = pathlib.Path(onnx.__file__).parent / "backend/test/data/node"
DRAWS = 60  # of each operator


def name_in(domain, op):
    return f"{domain}.{op}" if domain not in ("", "ai.onnx") else op


def opsets():
    found = collections.defaultdict(set)
    for schema in defs.get_all_schemas_with_history():
        if not schema.deprecated:
            found[name_in(schema.domain, schema.name)].add(schema.since_version)
    return found


def node_tests():
    """Operator -> number of tests."""
    found = collections.Counter()
    for folder in DATA.iterdir():
        model = onnx.load(folder / "model.onnx")
        found.update({name_in(node.domain, node.op_type) for node in model.graph.node})
    return found


def type_name(array):
    """As the compiler writes it, f32 or u8 say."""
    if array.dtype.kind in "OUS":
        return "string"
    name = helper.tensor_dtype_to_string(helper.np_dtype_to_tensor_dtype(array.dtype))
    name = name.partition(".")[2].lower()
    for long, short in (("uint", "u"), ("int", "i"), ("bfloat", "bf"), ("double", "f64"),
                        ("float8", "f8"), ("float4", "f4")):
        if name.startswith(long):
            return short + name.removeprefix(long)
    return "f32" if name == "float" else name.replace("float", "f")


def drawn_types():
    """Operator -> types."""
    found = collections.defaultdict(set)
    plan = operator_plan.Plan(1, operator_families.ONNX + operator_families.DOMAINS)
    for number in range(DRAWS * len(plan.operators)):
        draw = operator_plan.draw_of(plan.seed, number)
        try:
            node = operator_types.retyped(draw, plan.node(draw, number))
        except Dropped:
            continue
        if node.operands and node.operands[0] is not None:
            found[plan.operator(number)].add(type_name(np.asarray(node.operands[0])))
    return found


def facts():
    changed, tests, types = opsets(), node_tests(), drawn_types()
    lines = ["# Written by operator_facts.py --update: operator | opsets | types | node tests"]
    for name in sorted(operator_plan.operators_of_page()):
        versions = " ".join(map(str, sorted(changed[name])))
        lines.append(f"{name} | {versions} | {' '.join(sorted(types[name]))} | {tests[name]}")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--update", action="store_true")
    text, options = facts(), parser.parse_args()
    if options.update:
        FILE.write_text(text)
        return 0
    old, new = set(FILE.read_text().splitlines()), set(text.splitlines())
    for line in sorted(old ^ new):
        print(f"{'is' if line in old else 'should be'}: {line}")
    print(f"{len(new) - 1} operators, {len(old ^ new)} findings; --update mends them")
    return 1 if old != new else 0


if __name__ == "__main__":
    sys.exit(main())
