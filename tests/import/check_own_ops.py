#!/usr/bin/env python3
"""Compares the ops of docs/operators.md that no model may name with those that ONNX does not know.

    tests/import/check_own_ops.py        # 0 where these are the same

A definition says so by its trait kOwn. One without is refused in no model, and trusts its operands.
"""
import pathlib
import re
import sys

from onnx import defs

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOREIGN = {"SimplifiedLayerNormalization"}  # onnxruntime's, which has it in the domain of ONNX


def rows(text):
    return set(re.findall(r"(?m)^\| ([A-Z]\w+) \|", text))


def main():
    public, own = (ROOT / "docs" / "operators.md").read_text().split("## The compiler's own")
    known = {schema.name for schema in defs.get_all_schemas_with_history() if not schema.domain}
    findings = [f"lacks the trait kOwn: {name}" for name in sorted(rows(public) - known - FOREIGN)]
    findings += [f"is ONNX's own: {name}" for name in sorted(rows(own) & known)]
    print("\n".join(findings + [f"{len(rows(own))} own ops, {len(findings)} findings"]))
    return 1 if findings or not rows(own) else 0


if __name__ == "__main__":
    sys.exit(main())
