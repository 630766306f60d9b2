#!/usr/bin/env python3
"""Holds what `aotc inspect` finds against what a compile of the same model ends with.

    tests/control/check_inspect.py build/tests/refusal_cases --count 60 [--seed S] [--models]

Random models with If, Loop and Scan, every other one broken: somewhere in it, also in a branch or
a body, a node gets an op that there is not, loses an input or an attribute, or reads what nobody
writes. --models: also each of models.txt, with its dims bounded and without. Both say the same
where no error is found by either; where a compile ends with errors, inspect names them all, and
perhaps more, as it goes on behind the first phase that fails. Exit status 0: they agree.
"""
import argparse
import concurrent.futures
import json
import pathlib
import random
import subprocess
import sys

import onnx

import control_cases
import random_control

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "models"))
import model_list  # noqa: E402

JOBS = 2
LEAST_SHARE = 0.2  # of the random models that are refused, and of those that are not


def graphs_of(graph):
    """The graph and those of its nodes, at any depth."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from graphs_of(attribute.g)


def lose_input(node, _):
    if node.input:
        del node.input[-1]


def lose_attribute(node, _):
    if node.attribute:
        del node.attribute[-1]


def rename_op(node, draw):
    node.op_type = draw.choice(["Frobnicate", node.op_type + "s"])


def read_nothing(node, _):
    if node.input:
        node.input[0] = "nowhere"


def break_node(model, draw):
    graph = draw.choice([graph for graph in graphs_of(model.graph) if graph.node])
    how = draw.choice([lose_input, lose_attribute, rename_op, read_nothing])
    how(draw.choice(graph.node), draw)


def random_models(seed, count, folder):
    """(name, path, flags) of each."""
    for number in range(count):
        case = random_control.random_case(seed, number)
        draw = random.Random(f"{seed} {number}")
        if draw.random() < 0.5:
            break_node(case.model, draw)
        path = folder / f"{case.name}.onnx"
        onnx.save(case.model, path)
        yield case.name, path, [f"--dim={name}={bound}"
                                for name, bound in control_cases.DIMS.items()
                                if f'dim_param: "{name}"' in str(case.model.graph.input)]


def listed_models():
    for entry in model_list.read():
        path = model_list.locate(entry)
        if path is None:
            print(f"left out, not on this machine: {entry.name}")
            continue
        flags = [f"--dim={name}={bounds}" for name, bounds in entry.dims.items()]
        yield entry.name, path, flags
        if flags:
            yield f"{entry.name}, dims free", path, []


def said(program, models, folder, number):
    """What each command says: of inspect, then of a compile, a model after the other."""
    lines = []
    for _, path, flags in models:
        words = [str(path), *flags, "--target", "cpu"]
        lines += [["inspect", *words], [*words, "-o", str(folder / f"out_{number}"), "--force"]]
    commands = folder / f"commands_{number}.json"
    commands.write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = subprocess.run([program, commands], capture_output=True, text=True, check=False)
    results = [json.loads(line)["said"] for line in done.stdout.splitlines()]
    if done.returncode or len(results) < len(lines):
        sys.exit(f"{lines[len(results)]} ends the program with {done.returncode}: {done.stderr}")
    return zip(models, results[::2], results[1::2])


def errors_of(text):
    """Without the hints, which name the command."""
    return {line.split("; hint: ")[0] for line in text.splitlines() if line.startswith("error: ")}


def disagreement(inspected, compiled):
    found, ended = errors_of(inspected), errors_of(compiled)
    if found and not ended:
        return f"inspect alone says {sorted(found)}"
    return f"inspect does not say {sorted(ended - found)}" if ended - found else ""


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=60, help="random models")
    parser.add_argument("--models", action="store_true", help="and those of models.txt")
    return parser.parse_args()


def main():
    options = parse_arguments()
    folder = model_list.work_folder() / "inspected"
    folder.mkdir(parents=True, exist_ok=True)
    models = list(random_models(options.seed, options.count, folder))
    models += list(listed_models()) if options.models else []
    findings, refused = [], 0
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        runs = [pool.submit(said, options.program, models[i::JOBS], folder, i)
                for i in range(JOBS)]
        for run in runs:
            for (name, _, _), inspected, compiled in run.result():
                refused += bool(errors_of(compiled))
                text = disagreement(inspected, compiled)
                findings += [f"{name}: {text}"] if text else []
    print("\n".join(findings + [f"{len(models)} models, {refused} of them refused: "
                                f"{len(findings)} on which inspect and compile disagree"]))
    few = options.count > 20 and not LEAST_SHARE <= refused / len(models) <= 1 - LEAST_SHARE
    if few:
        print("too few of either kind")
    return 1 if findings or few else 0


if __name__ == "__main__":
    sys.exit(main())
