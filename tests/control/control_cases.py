"""Models with If, Loop and Scan, with the inputs that they are run on.

    for case in all_cases():        # hand-written ones
        case.model, case.runs       # a list of inputs by name, one dict for each run

Texts are in the syntax of onnx.parser. The symbol `n` stands for 1 to 6.
"""
import dataclasses
import re

import numpy as np
import onnx
import onnx.parser

from if_cases import IFS
from scan_cases import BATCHED_SCANS, SCANS

DIMS = {"n": "1..6"}
RANDOM = np.random.default_rng(5)


@dataclasses.dataclass
class Case:
    name: str
    model: onnx.ModelProto
    runs: list
    refused: str = ""  # what the message says of it: not of those that compile


def f32(*dims):
    return RANDOM.uniform(-2, 2, dims).astype("f4")


def i64(value):
    return np.array(value, "i8")


def flag(value):
    return np.array(value, "?")


def parse(text, opset=17):
    head = f'<ir_version: 8, opset_import: ["" : {opset}, "local" : 1]>\n'
    model = onnx.parser.parse_model(head + text)
    for i, node in enumerate(model.graph.node):
        node.name = f"{node.op_type.lower()}_{i}"
    if not model.functions:
        del model.opset_import[1]
    return model


LOOPS = [
    ("loop_constant_count", "g (float[3] x) => (float[3] y)", """{
  m = Constant <value = int64 {5}> ()  go = Constant <value = bool {1}> ()
  y = Loop (m, go, x) <body = b (int64 i, bool p, float[3] v) => (bool q, float[3] w) {
    q = Identity (p)  half = Constant <value = float {0.5}> ()
    u = Mul (v, half)  w = Add (u, x) }> }"""),
    ("loop_with_an_if_of_two_ranks", "g (float[n,3] x, bool c) => (float[n,3] y)", """{
  m = Constant <value = int64 {3}> ()  go = Constant <value = bool {1}> ()
  y = Loop (m, go, x) <body = b (int64 i, bool p, float[n,3] v) => (bool q, float[n,3] w) {
    q = Identity (p)  one = Constant <value = int64 {1}> ()  odd = Equal (i, one)
    r = If (odd) <
      then_branch = t () => (float[n,3] a) { a = Neg (v) },
      else_branch = e () => (float[3] d) { d = ReduceMax <axes = [0], keepdims = 0> (v) }>
    w = Add (r, x) }> }"""),
    ("loop_constant_count_once", "g (float[3] x) => (float[3] y, float[1,3] z)", """{
  m = Constant <value = int64 {1}> ()
  y, z = Loop (m, , x) <body = b (int64 i, bool p, float[3] v) => (bool q, float[3] w, float[3] s) {
    q = Identity (p)  f = Cast <to = 1> (i)  t = Add (v, f)  w = Exp (t)  s = Neg (v) }> }"""),
    ("loop_never", "g (float[3] x) => (float[3] y)", """{
  m = Constant <value = int64 {0}> ()  u = Exp (x)
  y = Loop (m, , u) <body = b (int64 i, bool p, float[3] v) => (bool q, float[3] w) {
    q = Identity (p)  w = Neg (v) }> }"""),
    ("loop_run_time_count", "g (float[3] x, int64 m) => (float[3] y)", """{
  y = Loop (m, , x) <body = b (int64 i, bool p, float[3] v) => (bool q, float[3] w) {
    q = Identity (p)  f = Cast <to = 1> (i)  w = Add (v, f) }> }"""),
    ("loop_run_time_count_of_one_element", "g (float[3] x, int64[1] m) => (float[3] y)", """{
  y = Loop (m, , x) <body = b (int64 i, bool p, float[3] v) => (bool q, float[3] w) {
    q = Identity (p)  w = Sin (v) }> }"""),
    ("loop_run_time_condition", "g (float[3] x, bool c, float most) => (float[3] y, float t)", """{
  zero = Constant <value = float {0.0}> ()
  y, t = Loop (, c, x, zero) <
    body = b (int64 i, bool p, float[3] v, float n) => (bool q, float[3] w, float n1) {
      one = Constant <value = float {1.0}> ()  n1 = Add (n, one)
      q = Less (n1, most)  w = Cos (v) }> }"""),
    ("loop_count_and_condition",
     "g (float[3] x, int64 m, bool c, float most) => (float[3] y, int64 k)", """{
  none = Constant <value = int64 {0}> ()
  y, k = Loop (m, c, x, none) <
    body = b (int64 i, bool p, float[3] v, int64 j) => (bool q, float[3] w, int64 j1) {
      w = Add (v, v)  big = ReduceMax <keepdims = 0> (w)  q = Less (big, most)
      one = Constant <value = int64 {1}> ()  j1 = Add (i, one) }> }"""),
    ("loop_condition_absent_but_given_back", "g (float[3] x, int64 m) => (float[3] y)", """{
  y = Loop (m, , x) <body = b (int64 i, bool p, float[3] v) => (bool q, float[3] w) {
    two = Constant <value = int64 {2}> ()  q = Less (i, two)  w = Add (v, x) }> }"""),
    ("loop_known_count_run_time_condition", "g (float[3] x, bool c) => (float[3] y)", """{
  m = Constant <value = int64 {3}> ()
  y = Loop (m, c, x) <body = b (int64 i, bool p, float[3] v) => (bool q, float[3] w) {
    q = Identity (p)  w = Exp (v) }> }"""),
    ("loop_several_types",
     "g (float[3] x, int64[2] k, bool c) => (float[3] y, int64[2] z, bool w)", """{
  m = Constant <value = int64 {3}> ()
  y, z, w = Loop (m, , x, k, c) <
    body = b (int64 i, bool p, float[3] v, int64[2] u, bool d) =>
             (bool q, float[3] v1, int64[2] u1, bool d1) {
      q = Identity (p)  v1 = Neg (v)  u1 = Add (u, i)  d1 = Not (d) }> }"""),
    ("loop_stacked", "g (float[3] x) => (float[3] y, float[4,3] z, int64[4] k)", """{
  m = Constant <value = int64 {4}> ()
  y, z, k = Loop (m, , x) <
    body = b (int64 i, bool p, float[3] v) => (bool q, float[3] w, float[3] s, int64 t) {
      q = Identity (p)  w = Sin (v)  s = Add (v, w)  t = Identity (i) }> }"""),
    ("loop_stacked_no_rounds", "g (float[3] x) => (float[3] y, float[0,3] z)", """{
  m = Constant <value = int64 {-4}> ()
  y, z = Loop (m, , x) <body = b (int64 i, bool p, float[3] v) => (bool q, float[3] w, float[3] s) {
    q = Identity (p)  w = Sin (v)  s = Neg (v) }> }"""),
    ("loop_stacked_no_rounds_of_any_size", "g (float[n,3] x) => (float[n,3] y, float[0,3] z)", """{
  k = Shape <end = 1> (x)  six = Constant <value = int64[1] {6}> ()  m = Sub (k, six)
  row = Constant <value = float[3] {1.0, 2.0, 3.0}> ()
  y, z = Loop (m, , x) <
    body = b (int64 i, bool p, float[n,3] v) => (bool q, float[n,3] w, float[3] s) {
      q = Identity (p)  w = Sin (v)  s = Mul (row, row) }> }"""),
    ("loop_stacks_no_elements", "g (float[n,0] x) => (float[4,n,0] y, float[n,0] z)", """{
  m = Constant <value = int64 {4}> ()  go = Constant <value = bool {1}> ()
  y = Loop (m, go) <body = b (int64 i, bool p) => (bool q, float[n,0] s) {
      q = Identity (p)  s = Neg (x) }>
  z = Exp (x) }"""),
    ("loop_stacked_only", "g (float[5,3] x) => (float[5,3] z)", """{
  m = Constant <value = int64 {5}> ()
  go = Constant <value = bool {1}> ()
  z = Loop (m, go) <body = b (int64 i, bool p) => (bool q, float[3] s) {
    q = Identity (p)  r = Gather <axis = 0> (x, i)  s = Exp (r) }> }"""),
    ("loop_stacked_symbolic_count", "g (float[n,3] x) => (float[3] y, float[n,3] z)", """{
  k = Shape (x)  zero = Constant <value = int64 {0}> ()  m = Gather (k, zero)
  start = Constant <value = float[3] {1.0, 2.0, 3.0}> ()
  y, z = Loop (m, , start) <
    body = b (int64 i, bool p, float[3] v) => (bool q, float[3] w, float[3] s) {
      q = Identity (p)  r = Gather <axis = 0> (x, i)  w = Add (v, r)  s = Identity (w) }> }"""),
    ("loop_number_as_index", "g (float[6,3] x, int64 m) => (float[3] y)", """{
  start = Constant <value = float[3] {0.0, 0.0, 0.0}> ()
  y = Loop (m, , start) <body = b (int64 i, bool p, float[3] v) => (bool q, float[3] w) {
    q = Identity (p)  r = Gather <axis = 0> (x, i)  h = Sin (v)  w = Add (h, r) }> }"""),
    ("loop_captures", "g (float[n,3] x, float[n,3] u, int64 m) => (float[n,3] y)", """{
  s = Exp (u)
  t = Tanh (x)
  y = Loop (m, , t) <body = b (int64 i, bool p, float[n,3] v) => (bool q, float[n,3] w) {
    q = Identity (p)  a = Mul (v, s)  e = Tanh (a)  w = Add (e, x) }> }"""),
    ("loop_swaps", "g (float[3] x, float[3] z, int64 m) => (float[3] y, float[3] w)", """{
  y, w = Loop (m, , x, z) <
    body = b (int64 i, bool p, float[3] a, float[3] c) => (bool q, float[3] d, float[3] e) {
      q = Identity (p)  d = Identity (c)  e = Identity (a) }> }"""),
    ("loop_invariant_state", "g (float[3] x, float[3] z, int64 m) => (float[3] y, float[3] w)", """{
  y, w = Loop (m, , x, z) <
    body = b (int64 i, bool p, float[3] a, float[3] c) => (bool q, float[3] d, float[3] e) {
      q = Identity (p)  d = Add (a, c)  e = Identity (c) }> }"""),
    ("loop_state_that_coincides", "g (float[3] x, int64 m) => (float[3] y, float[3] w)", """{
  y, w = Loop (m, , x, x) <
    body = b (int64 i, bool p, float[3] a, float[3] c) => (bool q, float[3] d, float[3] e) {
      q = Identity (p)  d = Sin (c)  e = Identity (d) }> }"""),
    ("loop_constant_state", "g (float[3] x, int64 m) => (float[3] y, float[3] w)", """{
  y, w = Loop (m, , x, x) <
    body = b (int64 i, bool p, float[3] a, float[3] c) => (bool q, float[3] d, float[3] e) {
      q = Identity (p)  d = Constant <value = float[3] {1.0, 2.0, 3.0}> ()  e = Add (a, c) }> }"""),
    ("loop_unused_states", "g (float[3] x, int64 m) => (float[3] y)", """{
  unread, y, unread2 = Loop (m, , x, x, x) <
    body = b (int64 i, bool p, float[3] a, float[3] c, float[3] d) =>
             (bool q, float[3] a1, float[3] c1, float[3] d1) {
      q = Identity (p)  a1 = Sin (a)  c1 = Add (c, a)  d1 = Add (d, c) }> }"""),
    ("loop_nested", "g (float[3] x, int64 m, int64 k) => (float[3] y)", """{
  y = Loop (m, , x) <body = b (int64 i, bool p, float[3] v) => (bool q, float[3] w) {
    q = Identity (p)
    s = Sin (v)
    w = Loop (k, , s) <body = b2 (int64 j, bool p2, float[3] v2) => (bool q2, float[3] w2) {
      q2 = Identity (p2)  ij = Add (i, j)  f = Cast <to = 1> (ij)  g = Mul (f, x)
      w2 = Add (v2, g) }> }> }"""),
    ("loop_in_if_in_loop", "g (float[3] x, int64 m, int64 k) => (float[3] y)", """{
  y = Loop (m, , x) <body = b (int64 i, bool p, float[3] v) => (bool q, float[3] w) {
    q = Identity (p)  two = Constant <value = int64 {2}> ()  half = Mod (i, two)
    odd = Cast <to = 9> (half)
    w = If (odd) <
      then_branch = t () => (float[3] a) {
        a = Loop (k, , v) <body = b2 (int64 j, bool p2, float[3] v2) => (bool q2, float[3] w2) {
          q2 = Identity (p2)  w2 = Add (v2, x) }> },
      else_branch = e () => (float[3] c) { c = Cos (v) }> }> }"""),
    ("if_in_loop_with_break", "g (float[3] x, int64 m, float most) => (float[3] y, int64 k)", """{
  none = Constant <value = int64 {0}> ()  go = Constant <value = bool {1}> ()
  y, k = Loop (m, go, x, none) <
    body = b (int64 i, bool p, float[3] v, int64 j) => (bool q, float[3] w, int64 j1) {
      sum = ReduceSum <keepdims = 0> (v)
      small = Less (sum, most)
      q, w = If (small) <
        then_branch = t () => (bool a, float[3] a1) {
          a = Constant <value = bool {1}> ()  one = Constant <value = float {1.0}> ()
          a1 = Add (v, one) },
        else_branch = e () => (bool c, float[3] c1) {
          c = Constant <value = bool {0}> ()  c1 = Identity (v) }>
      j1 = Add (j, i) }> }"""),
    ("loop_matrix_powers", "g (float[4,4] x, int64 m) => (float[4,4] y)", """{
  fourth = Constant <value = float {0.25}> ()  s = Mul (x, fourth)
  y = Loop (m, , s) <body = b (int64 i, bool p, float[4,4] v) => (bool q, float[4,4] w) {
    q = Identity (p)  u = MatMul (v, s)  w = Add (u, s) }> }"""),
    ("loop_counts_in_int32", "g (int32[3] x, int64 m) => (int32[3] y)", """{
  y = Loop (m, , x) <body = b (int64 i, bool p, int32[3] v) => (bool q, int32[3] w) {
    q = Identity (p)  j = Cast <to = 6> (i)  w = Add (v, j) }> }"""),
    ("loop_in_function", """g (float[3] x, int64 m, bool c) => (float[3] y) {
  y = local.twice (x, m, c) }
<opset_import: ["" : 17], domain: "local">
twice (v, k, d) => (r)""", """{
  s = If (d) <then_branch = t () => (float[3] a) { a = Neg (v) },
              else_branch = e () => (float[3] b) { b = Sin (v) }>
  r = Loop (k, , s) <body = b (int64 i, bool p, float[3] u) => (bool q, float[3] w) {
    q = Identity (p)  w = Add (u, v) }> }"""),
]

REFUSED = [
    ("if_of_two_ranks", "g (float[4] x, bool c) => (float y)", """{
  y = If (c) <then_branch = t () => (float[4] a) { a = Neg (x) },
              else_branch = e () => (float b) { b = ReduceSum <keepdims = 0> (x) }> }""",
     "where the condition holds"),
    ("loop_that_grows", "g (float[3] x, int64 m) => (float[r] y)", """{
  one = Constant <value = float[1] {1.0}> ()
  y = Loop (m, , one) <body = b (int64 i, bool p, float[r] v) => (bool q, float[s] w) {
    q = Identity (p)  w = Concat <axis = 0> (v, x) }> }""", "after an iteration"),
    ("loop_stacks_run_time_count", "g (float[3] x, int64 m) => (float[3] y, float[r,3] z)", """{
  y, z = Loop (m, , x) <
    body = b (int64 i, bool p, float[3] v) => (bool q, float[3] w, float[3] s) {
      q = Identity (p)  w = Sin (v)  s = Neg (v) }> }""", "--bound z:0=64"),
]

REFUSED += [(f"loop_stacks_{kind}", f"g ({kind}[4] x) => ({kind}[3,4] y)", """{
  m = Constant <value = int64 {3}> ()  go = Constant <value = bool {1}> ()
  y = Loop (m, go) <body = b (int64 i, bool p) => (bool q, TYPE[4] s) {
      q = Identity (p)  s = Identity (x) }> }""".replace("TYPE", kind),
             "several of which share a byte") for kind in ("int4", "uint4")]

VALUES = {"m": [0, 1, 4], "k": [0, 3], "c": [True, False], "d": [True, False], "h": [True, False],
          "most": [2.5, 40.0], "s": [1.5, -0.5]}


def choices(info):
    """Arrays for one input: several for those that decide."""
    tensor = info.type.tensor_type
    dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
    dims = [[d.dim_value] if d.HasField("dim_value") else [1, 4] for d in tensor.shape.dim]
    decides = info.name in VALUES and all(d == [1] for d in dims)
    if decides:
        return [np.full([1] * len(dims), v, dtype) for v in VALUES[info.name]]
    sizes = [[d[min(i, len(d) - 1)] for d in dims] for i in range(max(map(len, dims), default=1))]
    if dtype.kind == "f":
        return [f32(*size).astype(dtype) for size in sizes]
    return [RANDOM.integers(0, 5, size).astype(dtype) for size in sizes]


def runs_of(model):
    """Every combination of what decides; sizes of one symbol agree."""
    infos = [i for i in model.graph.input]
    lists = {i.name: choices(i) for i in infos}
    named = {i.name for i in infos if any(d.dim_param for d in i.type.tensor_type.shape.dim)}
    runs = [{}]
    for size in range(2 if named else 1):
        partial = [{name: lists[name][min(size, len(lists[name]) - 1)] for name in named}]
        for name in lists:
            if name not in named:
                partial = [{**run, name: array} for run in partial for array in lists[name]]
        runs += partial
    return runs[1:]


def make(name, head, body, refused="", opset=17):
    text = re.sub("KERNEL", ", ".join(f"{v:.3f}" for v in f32(256) / 4), f"{head} {body}")
    model = parse(text, opset)
    return Case(name, model, runs_of(model), refused)


def all_cases():
    newer = [make(*entry) for entry in (*IFS, *LOOPS, *SCANS)]
    return newer + [make(*entry, opset=8) for entry in BATCHED_SCANS]


def refused_cases():
    return [make(*entry) for entry in REFUSED]
