#!/usr/bin/env python3
"""aotc bench: what it prints, as a table, JSON and a trace, of a model with a loop and a symbol.

    check_bench.py build/aotc                 # a small model: what is told, and what is refused
    check_bench.py build/aotc --resnet        # ResNet-50, on a quiet machine: times that agree

Exit status 0: all holds.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import onnx
import onnx.parser

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "models"))
import model_list  # noqa: E402
from build_output import Failure, command  # noqa: E402
from small_net import require  # noqa: E402

HEADER = '<ir_version: 10, opset_import: ["" : 21]>\n'
ROUNDS = """rounds (float[n, 256] x, float[256, 256] w) => (float[n, 256] y) {
  three = Constant <value = int64 {3}> ()
  yes = Constant <value = bool {1}> ()
  s = Loop (three, yes, x) <body = body (int64 i, bool cond, float[n, 256] s)
      => (bool more, float[n, 256] t) {
    more = Identity (cond)
    t = MatMul (s, w)
  }>
  y = Softmax <axis = 0> (s)
}"""
TABLE = """bench (int64[4] rows, float[50000, 64] table) => (float[4, 64] y) {
  y = Gather (table, rows)
}"""
CACHE = """cache (float[1, p, 64] past, float[1, 1, 64] step) => (float[1, q, 64] present) {
  present = Concat <axis = 1> (past, step)
}"""
TEXT = """text (string[2] x) => (bool[2] y) { y = Equal (x, x) }"""
AGREE = 0.1  # point 3 of what a bench has to show


def bench(aotc, model, *flags):
    """The report; the python3 that it may ask for onnxruntime is this one."""
    words = [aotc, "bench", model, "--json", "--quiet", *flags]
    path = f"{pathlib.Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return json.loads(command(words, stderr=subprocess.DEVNULL, env={**os.environ, "PATH": path}))


def check_spread(spread):
    require(0 < spread["min"] <= spread["median"] <= spread["p95"], f"{spread}")


def check_report(report, threads):
    require([run["threads"] for run in report["runs"]] == threads, "the numbers of threads")
    require(report["flops_per_second"] > 1e8 and report["memory_bytes_per_second"] > 1e8, "rates")
    for run in report["runs"]:
        require(run["runs"] >= 5, f"{run['runs']} runs")
        check_spread(run["seconds"])
        check_spread(run["watched_seconds"])
        require(sum(s["seconds"]["median"] for s in run["steps"])
                <= run["watched_seconds"]["p95"], "steps take longer than the run")
        product = next(s for s in run["steps"] if s["nodes"] and "MatMul" in s["nodes"][0])
        require(product["rounds"] == 3, f"{product['rounds']} rounds of three")
        require(product["flops"] == 3 * 2 * 4 * 256 * 256, f"{product['flops']} FLOP")
        require(product["roofline_seconds"] > 0 and product["estimated_seconds"] > 0, "estimates")


def check_trace(path, report):
    """Chrome's format: complete events of named threads, which do not overlap within one."""
    trace = json.loads(path.read_text())
    require(set(trace) == {"traceEvents", "displayTimeUnit"}, f"{set(trace)}")
    ends, seen, named = {}, {}, set()
    for event in trace["traceEvents"]:
        thread = event["pid"], event["tid"]
        if event["ph"] == "M":
            named.add((event["name"], *thread))
            continue
        require(event["ph"] == "X" and event["dur"] >= 0, f"{event}")
        require(event["ts"] >= ends.get(thread, 0) - 1e-3, f"{event} overlaps")
        ends[thread] = event["ts"] + event["dur"]
        seen.setdefault(thread, []).append(event["args"]["step"])
    for run in report["runs"]:
        steps = sorted(s["step"] for s in run["steps"] for _ in range(s["rounds"]))
        for worker in range(run["threads"]):
            thread = run["threads"], worker
            require(sorted(seen[thread]) == steps, f"worker {worker} did {seen[thread]}")
            require(("thread_name", *thread) in named, f"{thread} has no name")


def check_table(aotc, model):
    text = command([aotc, "bench", model, "--seconds=0.1",
                    "--dim=n=1..4", "--top=1"], stderr=subprocess.DEVNULL)
    for part in ("inputs: seed 1, n = 4", "1 thread: ", "median", "roofline", "further steps",
                 "GFLOP/s of f32"):
        require(part in text, f"{part!r} is not in\n{text}")
    require(max(map(len, text.splitlines())) <= 100, f"a row of over 100 columns:\n{text}")


def refused(aotc, part, model, *flags, code=1):
    done = subprocess.run([aotc, "bench", model, *flags], capture_output=True, text=True,
                          timeout=600, check=False)
    require(done.returncode == code and part in done.stderr, f"{done.returncode}: {done.stderr}")


def check_small(aotc, folder):
    paths = {}
    for name, text in (("rounds", ROUNDS), ("text", TEXT), ("bench", TABLE), ("cache", CACHE)):
        paths[name] = folder / f"{name}.onnx"
        onnx.save(onnx.parser.parse_model(HEADER + text), paths[name])
    rounds, trace = paths["rounds"], folder / "trace.json"
    report = bench(aotc, rounds, "--dim=n=1..4", "--threads=1,2", "--seconds=0.3",
                   f"--trace={trace}")
    check_report(report, [1, 2])
    check_trace(trace, report)
    check_table(aotc, rounds)
    compared = bench(aotc, rounds, "--dim=n=4", "--seconds=0.3", "--compare=onnxruntime")
    check_spread(compared["runs"][0]["onnxruntime_seconds"])
    crowd = bench(aotc, rounds, "--dim=n=4", "--seconds=0", "--threads=20")["runs"][0]
    require((crowd["threads"], crowd["workers"]) == (20, 16), "workers that there are")
    looked_up = bench(aotc, paths["bench"], "--seconds=0.1")["runs"][0]["steps"]
    require(all("roofline_seconds" not in step for step in looked_up if step["bytes"] == 0)
            and any(step["bytes"] == 0 for step in looked_up), "bytes of a table's rows")
    bench(aotc, paths["cache"], "--dim=p=0..7", "--alias=present=past", "--seconds=0.1")
    refused(aotc, "expected seconds", rounds, "--seconds=nan", code=2)
    refused(aotc, "is no tensor of numbers", paths["text"])
    refused(aotc, "emulated", rounds, "--dim=n=4", "--target=cuda")
    refused(aotc, "has no input_0", rounds, "--dim=n=4", f"--inputs={folder / 'none'}")
    refused(aotc, "no-such-compiler", rounds, "--dim=n=4", "--cc=no-such-compiler")
    print("tables, JSON and trace of a loop agree, and five things are refused")


def check_resnet(aotc):
    entry = model_list.find("light_resnet50")
    model = model_list.locate(entry)
    medians = []
    for _ in range(2):
        run = bench(aotc, model, "--seconds=10")["runs"][0]
        whole = run["seconds"]["median"]
        share = sum(step["seconds"]["median"] for step in run["steps"]) / whole
        print(f"ResNet-50: {run['runs']} runs, median {whole * 1e3:.1f} ms, of which steps "
              f"{share:.1%}")
        require(abs(share - 1) <= AGREE, f"the steps take {share:.1%} of the whole")
        medians.append(whole)
    ratio = max(medians) / min(medians)
    print(f"two runs differ by {ratio - 1:.1%}")
    require(ratio <= 1 + AGREE, "two runs differ")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("aotc", type=pathlib.Path)
    parser.add_argument("--resnet", action="store_true")
    options = parser.parse_args()
    try:
        if options.resnet:
            check_resnet(options.aotc)
        else:
            with tempfile.TemporaryDirectory() as folder:
                check_small(options.aotc, pathlib.Path(folder))
    except Failure as failure:
        print(failure)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
