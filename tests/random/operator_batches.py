"""Compiles cases in batches, runs them, and compares what they compute, in processes of their own.

    results = failing("cpu", cases, folder)      # name -> Outcome of each case that does not hold

Cases of one opset are components of one model, which costs one compilation. What the compiler
refuses is taken out by the names in its errors, and the rest tried again; where that does not help,
and where a batch crashes, its halves are tried.
"""
import collections
import functools
import json
import multiprocessing
import pathlib
import re
import shutil
import sys

import onnx

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER.parent / "models"), str(FOLDER.parent / "conformance")]

import merge_models  # noqa: E402
import turns  # noqa: E402
from build_output import (Failure, build_library, compile_model, join_kernels,  # noqa: E402
                          model_name)
from check_model import require_steady  # noqa: E402
from model_table import CompiledModel  # noqa: E402
from operator_case import difference, run_onnx  # noqa: E402
from operator_plan import WAYS  # noqa: E402

PATIENCE = 1800
REFUSED = "exit status 1:"
MOST_ARENA = 4 << 30  # sizes of the run that have no bound: as good as a refusal

# kind: "refused", "differs" (from the reference, but ONNX's evaluator agrees) or "fails".
Outcome = collections.namedtuple("Outcome", "kind text")


def batches_of(cases, size):
    """Lists of cases of one opset of each domain."""
    groups = collections.defaultdict(list)
    for case in cases:
        groups[case.node.opset, case.node.domain, case.node.version].append(case)
    return [group[i:i + size] for group in groups.values() for i in range(0, len(group), size)]


def compile_cases(way, cases, folder):
    """The outdir of the model of all cases."""
    folder.mkdir(parents=True, exist_ok=True)
    path, copies, dims, bounds = folder / "batch.onnx", [], {}, []
    for number, case in enumerate(cases):
        copies.append(onnx.ModelProto.FromString(case.model.SerializeToString()))
        dims.update(case.dims)
        bounds += [f"--bound={merge_models.prefix_of(number)}{name}:{axis}={most}"
                   for name, axis, most in case.bounds()]
    onnx.save(merge_models.merge(copies), path)
    target = WAYS[way].target
    flags = [*WAYS[way].flags, *turns.cpu_flags(target, folder), *bounds]
    return compile_model(path, target, folder, dims, flags)


def run(model, inputs):
    """Outputs by name."""
    results = model.run(inputs, fill=0xFF)
    require_steady(model, inputs, results)
    return results


def judge(case, results):
    """None where the case holds; `results` are by the names of its outputs."""
    for name, expected in case.expected.items():
        text = difference(case.node, results[name], expected)
        if text is None:
            continue
        second = run_onnx(case.model, case.inputs) if case.node.holds is None else None
        agrees = second and all(difference(case.node, results[other], array) is None
                                for other, array in second.items())
        return Outcome("differs" if agrees else "fails", f"output {name}: {text}")
    return None


def attempt(way, cases, folder, plant=None, number=[0]):
    """Name -> Outcome of what does not hold. Failure where not even the batch runs."""
    outdir = compile_cases(way, cases, folder)
    arena = json.loads((outdir / "metadata.json").read_text())["arena"]["bytes"]
    if arena > MOST_ARENA:
        raise Failure(f"{REFUSED} an arena of {arena} bytes")
    join_kernels(outdir)
    if plant is not None:
        plant(outdir)
    number[0] += 1  # a process loads a path once
    library = folder / f"batch{number[0]}.so"
    build_library(outdir, WAYS[way].target, library, 1, turns.compiler(folder))
    model = CompiledModel(library, model_name(outdir))
    inputs = {merge_models.prefix_of(i) + name: array for i, case in enumerate(cases)
              for name, array in case.inputs.items()}
    results, found = run(model, inputs), {}
    for i, case in enumerate(cases):
        prefix = merge_models.prefix_of(i)
        found[case.name] = judge(case, {name: results[prefix + name] for name in case.expected})
    model.close()
    return {name: outcome for name, outcome in found.items() if outcome is not None}


def run_here(way, cases, folder, plant, pipe):
    """In a process of its own."""
    try:
        pipe.send(attempt(way, cases, folder, plant))
    except Failure as failure:
        pipe.send(str(failure))


@functools.cache
def context():
    made = multiprocessing.get_context("forkserver")
    made.set_forkserver_preload(["operator_batches"])
    return made


def attempt_apart(way, cases, folder, plant):
    """What attempt() gives; a Failure also where the process crashes."""
    ours, theirs = context().Pipe(duplex=False)
    process = context().Process(target=run_here, args=(way, cases, folder, plant, theirs),
                                daemon=True)
    process.start()
    theirs.close()
    try:
        found = ours.recv() if ours.poll(PATIENCE) else f"no end after {PATIENCE} s"
    except EOFError:
        process.join()
        found = f"the process ended with {process.exitcode}"
    process.kill()
    process.join()
    if isinstance(found, str):
        raise Failure(found)
    return found


def refused_names(cases, text):
    """Names of cases that the errors of the compiler name, as nodes or as values of theirs."""
    names = set()
    for line in text.splitlines():
        if line.startswith("error:"):
            names.update(re.findall(r"\b(?:c\d+_)?(n\d+)(?:_\w+)?\b", line))
    return names & {case.name for case in cases}


def failing(way, cases, folder, plant=None):
    """Name -> Outcome of each case that does not hold."""
    if not cases:
        return {}
    try:
        return attempt_apart(way, cases, folder, plant)
    except Failure as failure:
        text = str(failure)
    kind = "refused" if text.startswith(REFUSED) else "fails"
    refused = refused_names(cases, text) if kind == "refused" else set()
    if len(cases) == 1:
        return {cases[0].name: Outcome(kind, text)}
    if refused:
        kept = [case for case in cases if case.name not in refused]
        lines = {name: "\n".join(line for line in text.splitlines()
                                 if re.search(rf"\b(c\d+_)?{name}(_\w+)?\b", line))
                 for name in refused}
        return {**{name: Outcome(kind, line) for name, line in lines.items()},
                **failing(way, kept, folder, plant)}
    half = len(cases) // 2
    found = {**failing(way, cases[:half], folder, plant),
             **failing(way, cases[half:], folder, plant)}
    return found or {cases[0].name: Outcome("fails", f"only with others: {text}")}


def check_batch(way, cases, folder):
    """failing(), without leaving files behind."""
    found = failing(way, cases, folder)
    if not any(outcome.kind == "fails" for outcome in found.values()):
        shutil.rmtree(folder, ignore_errors=True)
    return found
