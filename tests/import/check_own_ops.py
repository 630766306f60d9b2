#!/usr/bin/env python3
"""Compares the list of the compiler's own ops, which no model may name, with docs/operators.md.

    tests/import/check_own_ops.py        # 0 where the list has all that ONNX does not know

Own are the ops of the page that have no domain and are none of ONNX's.
"""
import pathlib
import re
import sys

from onnx import defs

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOREIGN = {"SimplifiedLayerNormalization"}  # onnxruntime's, which has it in the domain of ONNX
CONTROL = {"Repeat"}                        # what loops become, which is on no page


def main():
    rows = re.findall(r"(?m)^\| (\w+) \| (?:compute|expand) \|",
                      (ROOT / "docs" / "operators.md").read_text())
    known = {schema.name for schema in defs.get_all_schemas_with_history() if not schema.domain}
    own = set(rows) - known - FOREIGN | CONTROL
    source = (ROOT / "compiler" / "import" / "own_ops.cc").read_text()
    listed = re.findall(r'(?m)^    "(\w+)",', source)
    findings = [f"not listed: {name}" for name in sorted(own - set(listed))]
    findings += [f"listed, and no op of ours: {name}" for name in sorted(set(listed) - own)]
    if listed != sorted(listed):
        findings.append("the list is not sorted")
    print("\n".join(findings + [f"{len(listed)} own ops, {len(findings)} findings"]))
    return 1 if findings or not listed else 0


if __name__ == "__main__":
    sys.exit(main())
