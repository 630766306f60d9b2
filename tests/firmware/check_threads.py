#!/usr/bin/env python3
"""What --no-threads leaves out, and that the numbers stay.

    check_threads.py build/aotc

Models with every kind of step are compiled with --no-threads in the forms that a program has: no
source and no header of them speaks of workers, barriers, pools of threads or atomics; `aotc verify`
builds them and compares with the evaluator. Exit status 0: all holds.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

import onnx
import onnx.parser

HEADER = '<ir_version: 10, opset_import: ["" : 21]>\n'
MODELS = {
    # Kernels, a copy into an output, and a result of the rows that a run chooses.
    "chosen": """chosen (float[n, 3] x) => (float[m, 3] y, float[n, 3] z) {
  zero = Constant <value = float {0.5}> ()
  sums = ReduceSum <keepdims = 0> (x, axis)
  is_more = Greater (sums, zero)
  y = Compress <axis = 0> (x, is_more)
  z = Softmax <axis = 0> (x)
}""",
    # A branch and a loop, which a check ends where an index of the data is out of range.
    "rounds": """rounds (float[4] x, int64 trips, int64[1] at, bool way)
    => (float[4] y, float[k, 1] all) {
  yes = Constant <value = bool {1}> ()
  start = If (way) <then_branch = t () => (float[4] a) { a = Neg (x) },
                    else_branch = e () => (float[4] b) { b = Exp (x) }>
  y, all = Loop (trips, yes, start) <body = body (int64 i, bool c, float[4] s)
      => (bool c_out, float[4] s_out, float[1] part) {
    c_out = Identity (c)
    s_out = Softmax (s)
    part = Gather (s, at)
  }>
}""",
}
FLAGS = {"chosen": ["--dim=n=1..9"], "rounds": ["--dim=trips=0..5"]}
FORMS = {"plain": [], "file": ["--weights=file"], "pools": ["--pool=fast=64", "--pool=slow"],
         "profile": ["--profile"], "loops": ["--no-templates"], "many sets": ["--cpu=x86-64-v3"]}
WORDS = re.compile(r"worker|barrier|pthread|sched_yield|__atomic|aotc_parallel \w|pool_create\("
                   r"|_run_mt|find_package\(Threads",
                   re.IGNORECASE)
# Of what all models share: the type of a run's table has threads that a caller may lend.
SHARED = {"aotc/model.h", "aotc/profile.h"}


class Failure(Exception):
    """What does not hold."""


def require(holds, text):
    if not holds:
        raise Failure(text)


def call(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True,
                          timeout=300, check=False)
    require(done.returncode == 0, f"{words}: {done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def save(name, folder):
    model = onnx.parser.parse_model(HEADER + MODELS[name])
    if name == "chosen":
        model.graph.initializer.append(onnx.numpy_helper.from_array(
            onnx.numpy_helper.np.array([1]), "axis"))
    path = folder / f"{name}.onnx"
    onnx.save(model, path)
    return path


def check_text(outdir):
    for path in sorted(outdir.rglob("*")):
        name = str(path.relative_to(outdir))
        if path.is_dir() or name in SHARED or path.suffix not in (".h", ".cpp", ".txt"):
            continue
        found = WORDS.search(path.read_text())
        require(not found, f"{name} says {found and found[0]!r}")


def check_model(aotc, name, form, folder):
    path, outdir = save(name, folder), folder / f"{name}_{form.replace(' ', '_')}"
    flags = [*FLAGS[name], *FORMS[form]]
    call(aotc, path, "-o", outdir, "--no-threads", "--name", "net", *flags)
    check_text(outdir)
    verifiable = [flag for flag in flags if flag not in ("--weights=file", "--profile")]
    text = call(aotc, "verify", path, "--no-threads", *verifiable)
    counts = re.search(r"(\d+) of (\d+) agree", text)
    require(counts and counts[1] == counts[2], text)


def check_cuda(aotc, folder):
    """A program for a GPU has no workers anyway, and says so."""
    text = call(aotc, save("chosen", folder), "-o", folder / "cuda", "--target=cuda",
                "--no-threads", *FLAGS["chosen"])
    require("note: --no-threads has no effect on target 'cuda'" in text, text)


def main():
    aotc = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        for model in MODELS:
            for form in FORMS:
                check_model(aotc, model, form, pathlib.Path(name))
        check_cuda(aotc, pathlib.Path(name))
    print(f"{len(MODELS)} models in {len(FORMS)} forms have one worker and the numbers of many")
    return 0


if __name__ == "__main__":
    sys.exit(main())
