#!/usr/bin/env python3
"""Faults planted in the kernels that are written, each of which the random operators have to find.

    tests/random/check_planted.py                  # every fault, on cpu
    tests/random/check_planted.py --fault short_loop --way cuda

A fault is a change of the text of all kernels of one batch of cases, as a mistake in a lowering or
in an emitter would make it; the same batch holds without it. Exit status 0: all are found.
"""
import argparse
import collections
import functools
import re
import shutil
import sys

import operator_batches
import operator_families
import operator_plan
from build_output import Failure, model_name
from model_list import work_folder
from operator_case import Dropped
from operator_plan import WAYS

CASES = 24

# pattern -> replacement in the text of kernels; families whose kernels have it, and the only
# operator of these, where others would hide it: a quantised number may be off by one step.
Fault = collections.namedtuple("Fault", "pattern replacement families operator", defaults=("",))
FAULTS = {
    "short_loop": Fault(r"(for \(int64_t (i\d+) = 0; \2 < \d+)", r"\1 - 1", "transpose concat"),
    "long_sum": Fault(r"(for \(int64_t (r\d+) = 0; \2 < \d+)", r"\1 - 1", "reduction matmul"),
    "sum_starts_at_one": Fault(r"(_value = )0(\.0f?;)", r"\g<1>1\2", "reduction einsum"),
    "strict_comparison": Fault(r"(_value = .*) < ", r"\1 <= ", "compare"),
    "swapped_selection": Fault(r" \? ([\w.]+(?:\[[^]]*\])?) : ([\w.]+(?:\[[^]]*\])?);",
                               r" ? \2 : \1;", "where clip"),
    "wrong_stride": Fault(r"\[(i\d+) \* (\d+) \+", r"[\1 * (\2 - 1) +", "transpose binary"),
    "shifted_index": Fault(r"(\w+_x0\[)(i\d+)\]", r"\1\2 > 0 ? \2 - 1 : 0]", "unary clip"),
    "lost_negation": Fault(r"(_value = )-", r"\1", "unary"),
    "rounding_down": Fault(r"\baotc_round\(", "aotc_floor(", "unary", "Round"),
    "sum_for_difference": Fault(r"(_value = [^;]*\]) - ", r"\1 + ", "binary"),
}


def apply(name, outdir):
    """Changes the kernels; a Failure where none has what the fault is about."""
    fault, count = FAULTS[name], 0
    for path in sorted(outdir.glob(f"{model_name(outdir)}_kernels_*")):
        text, changed = re.subn(fault.pattern, fault.replacement, path.read_text())
        path.write_text(text)
        count += changed
    if not count:
        raise Failure(f"nothing to change for {name}")


def cases_for(name, options):
    """Cases of one opset of the families of a fault."""
    wanted = FAULTS[name].families.split()
    families = [f for f in operator_families.ONNX if f.__name__ in wanted]
    cases, number = [], 0
    while len(cases) < CASES:
        try:
            case = operator_plan.draw_case(options.seed, number, "", WAYS[options.way].form,
                                           families)
            is_wanted = FAULTS[name].operator in ("", case.node.op)
            cases += [case] if is_wanted and case.node.opset == 21 else []
        except Dropped:
            pass
        number += 1
    return cases


def check(name, options):
    """What is found; a Failure where nothing is, or the batch does not hold without the fault."""
    cases, folder = cases_for(name, options), work_folder() / "planted_tests" / name
    shutil.rmtree(folder, ignore_errors=True)
    sound = operator_batches.attempt_apart(options.way, cases, folder / "sound", None)
    if any(outcome.kind == "fails" for outcome in sound.values()):
        raise Failure(f"{name}: its cases do not hold without it: {sound}")
    try:
        found = operator_batches.attempt_apart(options.way, cases, folder / "faulty",
                                               functools.partial(apply, name))
    except Failure as failure:
        if "nothing to change" in str(failure) or "error:" in str(failure):
            raise
        return f"the batch does not run: {str(failure).splitlines()[0][:100]}"
    wrong = [case.node.op for case in cases if case.name in found and case.name not in sound]
    if not wrong:
        raise Failure(f"{name} is not found")
    return f"{len(wrong)} of {len(cases)} cases fail: {', '.join(sorted(set(wrong)))}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--way", choices=WAYS, default="cpu")
    parser.add_argument("--fault", action="append", choices=FAULTS)
    options = parser.parse_args()
    failed = 0
    for name in options.fault or FAULTS:
        try:
            print(f"{name}: {check(name, options)}", flush=True)
        except Failure as failure:
            print(f"{name}: NOT FOUND: {failure}", flush=True)
            failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
