#!/usr/bin/env python3
"""Strings that branches give and loops carry, against onnxruntime.

    tests/domains/check_string_control.py                      # on a CPU and on emulated CUDA
    tests/domains/check_string_control.py --target cpu --case loop_grows

Exit status 0: all hold.
"""
import argparse
import sys
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import onnxruntime

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent / "models"))

import turns  # noqa: E402
from build_output import Failure, build_library, compile_model, model_name  # noqa: E402
from model_list import work_folder  # noqa: E402
from model_table import CompiledModel  # noqa: E402

MOST_BYTES = 400
WORDS = np.array(["", "a", "ab", "zoë", "of several bytes", "ß€"], object)

# Name, head, body; n stands for 1 to 6.
MODELS = [
    ("if_picks", "g (string[n] s, string[n] t, bool c) => (string[n] y)", """{
  y = If (c) <then_branch = a () => (string[n] u) { u = StringConcat (s, t) },
              else_branch = b () => (string[n] v) { v = Identity (t) }> }"""),
    ("if_of_two_sizes", "g (string[n] s, bool c) => (string[m] y)", """{
  y = If (c) <then_branch = a () => (string[k] u) { u = Concat <axis = 0> (s, s, s) },
              else_branch = b () => (string[1] v) { v = Constant <value_strings = ["none"]> () }>
}"""),
    ("if_of_outer_strings", "g (string[n] s, string[n] t, bool c) => (string[n] y, bool[n] z)", """{
  y = If (c) <then_branch = a () => (string[n] u) { u = Identity (s) },
              else_branch = b () => (string[n] v) { v = Identity (t) }>
  z = Equal (y, s) }"""),
    ("if_within_if", "g (string[n] s, bool c, bool d) => (string[n] y)", """{
  y = If (c) <
    then_branch = a () => (string[n] u) {
      u = If (d) <then_branch = e () => (string[n] w) { w = StringConcat (s, s) },
                  else_branch = f () => (string[n] x) { x = Identity (s) }> },
    else_branch = b () => (string[n] v) {
      p = Constant <value_string = "-"> ()  v = StringConcat (p, s) }> }"""),
    ("loop_grows", "g (string[n] s, string[n] t, int64 m) => (string[n] y)", """{
  y = Loop (m, , s) <body = b (int64 i, bool p, string[n] v) => (bool q, string[n] w) {
    q = Identity (p)  w = StringConcat (v, t) }> }"""),
    ("loop_keeps", "g (string[n] s, int64 m) => (string[n] y, int64 k)", """{
  zero = Constant <value = int64 {0}> ()
  y, k = Loop (m, , s, zero) <
    body = b (int64 i, bool p, string[n] v, int64 j) => (bool q, string[n] w, int64 l) {
      q = Identity (p)  w = Identity (v)  l = Add (i, j) }> }"""),
    ("loop_turns", "g (string[n] s, string[n] t, int64 m) => (string[n] y, string[n] z)", """{
  y, z = Loop (m, , s, t) <
    body = b (int64 i, bool p, string[n] v, string[n] w) =>
             (bool q, string[n] x, string[n] u) {
      q = Identity (p)  x = Identity (w)  u = StringConcat (v, w) }> }"""),
    ("loop_until_equal", "g (string[1] s, string[1] stop, int64 m) => (string[1] y)", """{
  y = Loop (m, , s) <body = b (int64 i, bool p, string[1] v) => (bool q, string[1] w) {
    x = Constant <value_string = "x"> ()  w = StringConcat (v, x)
    same = Equal (w, stop)  axis = Constant <value = int64[1] {0}> ()
    one = Squeeze (same, axis)  q = Not (one) }> }"""),
    ("loop_with_an_if", "g (string[n] s, int64 m, int64 k) => (string[n] y)", """{
  y = Loop (m, , s) <body = b (int64 i, bool p, string[n] v) => (bool q, string[n] w) {
    q = Identity (p)  c = Less (i, k)
    w = If (c) <
      then_branch = e () => (string[n] a) {
        o = Constant <value_string = "ö"> ()  a = StringConcat (o, v) },
      else_branch = f () => (string[n] d) { d = Identity (s) }> }> }"""),
]


def parse(text):
    model = onnx.parser.parse_model('<ir_version: 9, opset_import: ["" : 20]>\n' + text)
    for number, node in enumerate(model.graph.node):
        node.name = f"{node.op_type.lower()}_{number}"
    return model


def draw(rng, value, n):
    if value.type.tensor_type.elem_type == onnx.TensorProto.STRING:
        dims = [dim.dim_value or n for dim in value.type.tensor_type.shape.dim]
        return rng.choice(WORDS, dims)
    if value.type.tensor_type.elem_type == onnx.TensorProto.BOOL:
        return np.array(rng.random() < 0.5)
    return np.array(rng.integers(0, 5), np.int64)


def build(name, model, target, folder, most_bytes):
    """The model's file, and what it is compiled to."""
    path = folder / f"{name}.onnx"
    onnx.save(model, path)
    dims = {"n": "1..6"} if "n]" in str(onnx.printer.to_text(model.graph)) else {}
    outdir = compile_model(path, target, folder, dims, [f"--max-string-bytes={most_bytes}"])
    library = folder / f"{name}_{target}.so"
    build_library(outdir, target, library, 1, turns.compiler(library))
    return path, CompiledModel(library, model_name(outdir))


def check(name, model, target, folder):
    """A Failure where a run gives other strings than onnxruntime."""
    path, compiled = build(name, model, target, folder, MOST_BYTES)
    rng = np.random.default_rng(3)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    names = [output.name for output in model.graph.output]
    for n in (1, 2, 3, 6, 4, 1, 5, 2):
        inputs = {value.name: draw(rng, value, n) for value in model.graph.input}
        expected = session.run(names, inputs)
        actual = compiled.run(inputs)
        for output, wanted in zip(names, expected):
            if np.asarray(actual[output]).tolist() != np.asarray(wanted).tolist():
                raise Failure(f"{output} is {actual[output]}, not {wanted}, of {inputs}")
    compiled.close()


def check_bound(target, folder):
    """Strings that a loop makes too long are a status."""
    name, head, body = next(model for model in MODELS if model[0] == "loop_grows")
    _, compiled = build(f"{name}_bound", parse(head + body), target, folder, 20)
    ten = np.array(["0123456789"], object)
    inputs = {"s": ten, "t": ten}
    compiled.run({**inputs, "m": np.array(1, np.int64)})
    try:
        compiled.run({**inputs, "m": np.array(2, np.int64)})
    except Failure as failure:
        if "not within 0 .. 20" not in str(failure):
            raise
    else:
        raise Failure("30 bytes are taken for 20")
    finally:
        compiled.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target", action="append", choices=("cpu", "cuda"))
    parser.add_argument("--case", action="append", choices=[name for name, _, _ in MODELS])
    options = parser.parse_args()
    failed = held = 0
    for target in options.target or ("cpu", "cuda"):
        folder = work_folder() / "string_control" / target
        folder.mkdir(parents=True, exist_ok=True)
        checks = [(name, lambda name=name, head=head, body=body: check(
            name, parse(head + body), target, folder)) for name, head, body in MODELS
            if not options.case or name in options.case]
        if not options.case:
            checks.append(("bound", lambda: check_bound(target, folder)))
        for name, run in checks:
            try:
                run()
                held += 1
            except Failure as failure:
                failed += 1
                print(f"{name}, {target}: {failure}", flush=True)
    print(f"{held} hold, {failed} fail")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
