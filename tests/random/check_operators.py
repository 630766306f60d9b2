#!/usr/bin/env python3
"""Single operators with random attributes, shapes and types, against onnxruntime, or
ONNX's evaluator.

    tests/random/check_operators.py                            # the short sample
    tests/random/check_operators.py --seed 7 --count 2000
    tests/random/check_operators.py --seed 7 --first 123 --count 1 --way cpu     # one again
    tests/random/check_operators.py --family resize --count 200
    tests/random/check_operators.py --each 100 --least 20000 --least-each 60
                                                # every operator of docs/operators.md, ways in turn

Way "evaluator" makes constants of all operands, so that the compiler folds the operators; symbolic
ways make a symbol of a dim, and sized ones inputs of axes, shapes, counts and the like. What the
compiler refuses and may stands in refused_cases.txt; where onnxruntime and ONNX's evaluator
disagree and we follow the latter, in disagreements.txt: how often each line was met is printed.
Exit status 0: all hold.
"""
import argparse
import collections
import concurrent.futures
import functools
import re
import shutil
import sys

import operator_batches
import operator_families
import operator_plan
from build_output import Failure
from model_list import work_folder
from operator_case import Dropped
from operator_plan import FOLDER, WAYS

SIZED_SHARE, CUDA_SHARE, DRAWN_SHARE = 0.25, 0.25, 0.75  # at least, of all cases of a plan


def draw(seed, family, form, families, number):
    """(number, its case or the reason why there is none)"""
    try:
        return number, operator_plan.draw_case(seed, number, family, form, families)
    except Dropped as reason:
        return number, str(reason)


@functools.cache
def plan_of(seed):
    return operator_plan.Plan(seed, operator_families.ONNX + operator_families.DOMAINS)


def draw_of_plan(seed, turns, number):
    plan = plan_of(seed)
    try:
        return number, plan.draw(number, WAYS[plan.way(number, turns)].form)
    except Dropped as reason:
        return number, str(reason)


def draw_each(function, numbers, jobs):
    """What the function gives for each; where a reference crashes the halves are tried."""
    try:
        with concurrent.futures.ProcessPoolExecutor(
                jobs, mp_context=operator_batches.context()) as pool:
            return list(pool.map(function, numbers, chunksize=20))
    except concurrent.futures.process.BrokenProcessPool:
        if len(numbers) == 1:
            return [(numbers[0], "the reference crashes")]
    half = len(numbers) // 2
    return [pair for part in (numbers[:half], numbers[half:])
            for pair in draw_each(function, part, jobs)]


def draw_all(function, numbers, jobs):
    """Number -> case, and how often which reason was given for none."""
    cases, reasons = {}, collections.Counter()
    for number, drawn in draw_each(function, numbers, jobs):
        if isinstance(drawn, str):
            reasons[drawn] += 1
        else:
            cases[number] = drawn
    return cases, reasons


def run_ways(cases_by_way, options, folder, again):
    """(way, name) -> Outcome of what does not hold; prints what is wrong as it is found."""
    root = work_folder() / folder
    shutil.rmtree(root, ignore_errors=True)
    found = {}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        runs = {}
        for way, cases in cases_by_way.items():
            for i, batch in enumerate(operator_batches.batches_of(cases, options.batch)):
                runs[pool.submit(operator_batches.check_batch, way, batch,
                                 root / way / f"batch_{i}")] = way, batch
        for one in concurrent.futures.as_completed(runs):
            way, batch = runs[one]
            by_name = {case.name: case for case in batch}
            for name, outcome in sorted(one.result().items()):
                found[way, name] = outcome
                if is_finding(by_name[name], outcome):
                    print(f"{name}, {way}, {outcome.kind}: {by_name[name].describe()}\n"
                          f"  {outcome.text[:1200]}\n  again: {again(way, name[1:])}", flush=True)
    return found


@functools.cache
def lines_of(name):
    """(operator, text, line) of one of the two lists: two regular expressions, and the whole."""
    lines = [line for line in (FOLDER / name).read_text().splitlines() if line and line[0] != "#"]
    return [(*(part.strip() for part in line.split(" | ")[:2]), line) for line in lines]


def listed(operator, outcome):
    """The line of the two lists that has the operator and the text of the outcome, or None."""
    name = {"refused": "refused_cases.txt", "differs": "disagreements.txt"}.get(outcome.kind)
    return name and next((line for of, text, line in lines_of(name)
                          if re.fullmatch(of, operator) and re.search(text, outcome.text)), None)


def is_finding(case, outcome):
    return listed(case.operator, outcome) is None


def report(found, cases_by_way):
    """Prints a line a way, and one for each line of the lists that was met; the number of findings.
    """
    findings, met = 0, collections.Counter()
    for way, cases in cases_by_way.items():
        by_name = {case.name: case for case in cases}
        of_way = {name: outcome for (of, name), outcome in found.items() if of == way}
        kinds = collections.Counter(outcome.kind for outcome in of_way.values())
        bad = sum(is_finding(by_name[name], outcome) for name, outcome in of_way.items())
        met.update(listed(by_name[name].operator, outcome) for name, outcome in of_way.items())
        findings += bad
        print(f"operators, {way}: {len(cases) - len(of_way)} hold, {bad} fail, "
              f"{kinds['refused']} refused, {kinds['differs']} as ONNX's evaluator says",
              flush=True)
    for line, count in met.most_common():
        if line:
            print(f"  {count} times: {line}", flush=True)
    return findings


def check_way(options, way, numbers, families=operator_families.ONNX, folder="operator_tests",
              least=0):
    """The number of findings; prints them. Fewer than `least` cases are one too."""
    function = functools.partial(draw, options.seed, options.family, WAYS[way].form, families)
    cases, reasons = draw_all(function, numbers, options.jobs)
    family = f" --family {options.family}" if options.family else ""
    by_way = {way: list(cases.values())}
    found = run_ways(by_way, options, folder, lambda way, number: (
        f"--seed {options.seed} --first {number} --count 1 --way {way}{family}"))
    findings = report(found, by_way)
    held = len(cases) - len(found)
    print(f"  seed {options.seed}: {len(cases)} of {len(numbers)} drawn; not: "
          f"{dict(reasons.most_common())}", flush=True)
    if held < least:
        print(f"{way}: {held} cases hold, and not {least}", flush=True)
    return findings + (held < least)


def check_floors(held, drawn, count, options):
    """The number of floors that a run of all operators falls below; prints them."""
    per_operator = collections.Counter(case.operator for _, case in held)
    operators = plan_of(options.seed).operators
    few = {name: per_operator[name] for name in operators
           if per_operator[name] < options.least_each}
    sized = sum(case.form in ("symbolic", "sized") for _, case in held)
    cuda = sum(WAYS[way].target == "cuda" for way, _ in held)
    print(f"all operators: {len(held)} cases hold of {len(operators)} operators, {sized} with sizes"
          f" of the run, {cuda} on cuda; {min(per_operator[n] for n in operators)} or more of each",
          flush=True)
    floors = {f"{len(few)} operators with few cases: {few}": not few,
              f"{len(held)} cases, and not {options.least}": len(held) >= options.least,
              f"{drawn} of {count} drawn": drawn >= DRAWN_SHARE * count,
              f"{sized} with sizes of the run": sized >= SIZED_SHARE * len(held),
              f"{cuda} on cuda": cuda >= CUDA_SHARE * len(held)}
    for text, holds in floors.items():
        if not holds:
            print(f"below a floor: {text}", flush=True)
    return sum(not holds for holds in floors.values())


def check_drawn(cases, numbers, options):
    """The number of operators of which fewer cases are drawn than asked; prints each."""
    plan = plan_of(options.seed)
    tried = collections.Counter(plan.operator(number) for number in numbers)
    drawn = collections.Counter(plan.operator(number) for number in cases)
    few = [name for name in tried if drawn[name] < min(options.least_drawn, tried[name])]
    for name in few:
        print(f"below a floor: {drawn[name]} of {tried[name]} cases of {name} drawn", flush=True)
    print(f"{len(tried) - len(few)} operators have {options.least_drawn} cases or more, {len(few)} "
          f"have not", flush=True)
    return len(few)


def check_plan(options):
    """Every operator of the page; the number of findings."""
    plan, turns = plan_of(options.seed), options.way or operator_plan.TURNS
    for text in plan.missing():
        print(text, flush=True)
    lacking = len(plan.missing())
    numbers = range(options.first, options.first + (
        options.count if options.count else options.each * len(plan.operators)))
    if options.operator:
        numbers = [n for n in numbers if plan.operator(n) in options.operator]
    cases, reasons = draw_all(functools.partial(draw_of_plan, options.seed, turns), numbers,
                              options.jobs)
    lacking += check_drawn(cases, numbers, options)
    by_way = collections.defaultdict(list)
    for number, case in cases.items():
        by_way[plan.way(number, turns)].append(case)
    if options.draw_only:
        return lacking
    folder = "_".join(["all_operator_tests", *(options.way or [])])
    found = run_ways(by_way, options, folder, lambda way, number: (
        f"--seed {options.seed} --each 1 --first {number} --count 1 --way {way}"))
    findings = report(found, by_way)
    print(f"  seed {options.seed}: {len(cases)} of {len(numbers)} drawn; not: "
          f"{dict(reasons.most_common())}", flush=True)
    held = [(way, case) for way, of in by_way.items() for case in of
            if (way, case.name) not in found or found[way, case.name].kind == "differs"
            and listed(case.operator, found[way, case.name])]
    if options.count or options.operator or options.way:
        return findings + lacking
    return findings + lacking + check_floors(held, len(cases), len(numbers), options)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--count", type=int)
    parser.add_argument("--batch", type=int, default=50, help="cases per model")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--family", default="", help="the name of its function (default: all)")
    parser.add_argument("--way", action="append", choices=WAYS,
                        help="default: all but those on a GPU, in turn")
    parser.add_argument("--each", type=int, metavar="N",
                        help="N cases of each operator of docs/operators.md, ways in turn")
    parser.add_argument("--operator", action="append", help="with --each: these only")
    parser.add_argument("--least", type=int, default=0, help="with --each: cases that hold")
    parser.add_argument("--least-each", type=int, default=0, help="of each operator")
    parser.add_argument("--least-drawn", type=int, default=0, help="likewise, held or not")
    parser.add_argument("--draw-only", action="store_true", help="with --each: compile nothing")
    options = parser.parse_args()
    if not options.each:
        options.way = options.way or [way for way in WAYS if WAYS[way].target != "gpu"]
        options.count = options.count or 100
    return options


def main():
    options = parse_arguments()
    try:
        if options.each:
            return 1 if check_plan(options) else 0
        numbers = range(options.first, options.first + options.count)
        return 1 if sum(check_way(options, way, numbers) for way in options.way) else 0
    except Failure as failure:
        print(failure)
        return 1


if __name__ == "__main__":
    sys.exit(main())
