#!/usr/bin/env python3
"""Attention under every kind of mask, against onnxruntime, and the form that it takes.

    tests/random/check_attention_masks.py
    tests/random/check_attention_masks.py --way cuda --kind window --kind causal

Asserted of each kind, on each way: the numbers; that what multiplies is attention in one pass (of
one row on CUDA a group of threads); that the arena has no room for rows by keys, at a length where
that would be seen; and where a mask leaves out keys, by their position or by its elements, that
blocks of such keys are not touched: NaN among the values there is not found in rows that do not
see them. Exit status 0: all hold.
"""
import argparse
import json
import pathlib
import shutil
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent / "models"))

import turns  # noqa: E402
from build_output import (Failure, build_library, compile_model,  # noqa: E402
                          join_kernels, model_name)
from model_list import work_folder  # noqa: E402
from model_table import CompiledModel  # noqa: E402

# Way -> target, flags, the realisation of one row.
WAYS = {"cpu": ("cpu", ["--cpu=native"], "attention"),
        "cpu-portable": ("cpu", ["--cpu=portable"], "attention"),
        "cuda": ("cuda", [], "row_groups")}
HEADS, DEPTH = 4, 32
MOST_ARENA = 16 * (64 << 10)  # blocks, for each worker: rows by keys would take 4 MB or more
ROWS_OF_BLOCK, KEYS_OF_BLOCK = 64, 224  # at most
TOLERANCE = 2e-5


def infinite(seen):
    return np.where(seen, 0, -np.inf).astype(np.float32)


class Case:
    """One attention: operands `name`_q and so on, the result `name`_y."""

    def __init__(self, name, rows, keys, shared=HEADS, past=0):
        self.name, self.rows, self.keys, self.shared, self.past = name, rows, keys, shared, past
        self.rng = np.random.default_rng(len(name))
        self.nodes, self.constants, self.inputs, self.outputs = [], [], {}, [f"{name}_y"]
        self.seen_from = self.seen_to = None  # of each row, keys that it may see
        at = np.arange(rows)[:, None] + keys - rows
        self.causal = np.arange(keys) <= at
        self.at = at

    def input(self, what, value):
        self.inputs[f"{self.name}_{what}"] = value
        return f"{self.name}_{what}"

    def constant(self, what, value):
        self.constants.append(numpy_helper.from_array(np.asarray(value), f"{self.name}_{what}"))
        return f"{self.name}_{what}"

    def floats(self, what, *dims):
        return self.input(what, self.rng.standard_normal(dims).astype(np.float32))

    def add(self, op, inputs, what, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [f"{self.name}_{what}"],
                                           name=f"{self.name}_{what}", **attributes))
        return f"{self.name}_{what}"

    def heads(self):
        """Queries, keys, values, [1, heads, S, D], without what is cached."""
        new = self.keys - self.past
        return [self.floats(what, 1, heads, steps, DEPTH) for what, heads, steps in (
            ("q", HEADS, self.rows), ("k", self.shared, new), ("v", self.shared, new))]

    def onnx(self, mask="", **attributes):
        """ONNX's Attention."""
        operands, results = [*self.heads(), mask], [f"{self.name}_y"]
        if self.past:
            operands += [self.floats(what, 1, self.shared, self.past, DEPTH)
                         for what in ("past_k", "past_v")]
            results += [f"{self.name}_new_k", f"{self.name}_new_v"]
        self.nodes.append(helper.make_node("Attention", operands, results, name=results[0],
                                           **attributes))
        self.outputs = results
        return self

    def in_rows(self, op, **attributes):
        """Attention of com.microsoft, of heads in rows."""
        new = self.keys - self.past
        operands = [self.floats(what, 1, steps, heads * DEPTH) for what, heads, steps in (
            ("q", HEADS, self.rows), ("k", self.shared, new), ("v", self.shared, new))]
        results = [f"{self.name}_y"]
        if op == "GroupQueryAttention":
            attributes["kv_num_heads"] = self.shared
            past = ["", ""]
            if self.past:
                past = [self.floats(what, 1, self.shared, self.past, DEPTH)
                        for what in ("past_k", "past_v")]
            operands += [*past, self.input("lengths", np.array([self.keys - 1], np.int32)),
                         self.constant("total", np.array(self.keys, np.int32))]
            results += [f"{self.name}_new_k", f"{self.name}_new_v"]
        self.nodes.append(helper.make_node(op, operands, results, name=results[0],
                                           domain="com.microsoft", num_heads=HEADS, **attributes))
        self.outputs = results
        return self

    def graph(self, masked):
        """MatMul, a mask, Softmax, MatMul: `masked` adds the mask's nodes to the scores."""
        q, k, v = self.heads()
        turned = self.add("Transpose", [k], "t", perm=[0, 1, 3, 2])
        scores = self.add("MatMul", [q, turned], "s")
        scores = self.add("Mul", [scores, self.constant("scale", np.float32(DEPTH**-0.5))], "z")
        weights = self.add("Softmax", [masked(scores)], "p", axis=-1)
        self.add("MatMul", [weights, v], "y")
        return self

    def where(self, seen, least, shape):
        """select(seen, score, least), of which `seen` is an input."""
        mask = self.input("mask", np.ascontiguousarray(np.broadcast_to(seen, shape)))
        number = self.constant("least", np.float32(least))
        return self.graph(lambda scores: self.add("Where", [mask, scores, number], "m"))

    def leaves_out(self, seen):
        """Keys in front of the first one that a row sees, and behind the last, by blocks."""
        seen = np.broadcast_to(seen, [self.rows, self.keys])
        self.seen_from = np.argmax(seen, -1)
        self.seen_to = self.keys - np.argmax(seen[:, ::-1], -1)
        return self


def padding(case, keys):
    """Keys that a sample has: the first ones."""
    return np.arange(case.keys) < keys


def bool_mask(case, seen, **attributes):
    return case.onnx(case.input("mask", np.ascontiguousarray(seen)), **attributes)


def make(kind, rows, keys, past=0, shared=HEADS):
    case = Case(kind, rows, keys, shared, past)
    if kind.startswith("causal_in_rows"):
        return case.in_rows("MultiHeadAttention", unidirectional=1).leaves_out(case.causal)
    if kind.startswith("causal_by_groups"):
        return case.in_rows("GroupQueryAttention").leaves_out(case.causal)
    if kind.startswith("causal"):
        return case.onnx(is_causal=1).leaves_out(case.causal)
    if kind.startswith("window"):
        case.in_rows("GroupQueryAttention", local_window_size=37)
        return case.leaves_out(case.causal & (np.arange(keys) > case.at - 37))
    if kind.startswith("bool_all"):
        seen = case.causal & (case.rng.random([rows, keys]) < 0.9)
        seen[:, 0] = True
        return bool_mask(case, seen).leaves_out(case.causal)
    if kind.startswith("bool_padding"):
        seen = padding(case, keys * 2 // 5)
        return bool_mask(case, np.broadcast_to(seen, [1, 1, rows, keys])).leaves_out(seen)
    if kind.startswith("bool_causal"):
        seen = padding(case, keys * 2 // 5)
        mask = np.broadcast_to(seen, [1, 1, rows, keys])
        return bool_mask(case, mask, is_causal=1).leaves_out(case.causal & seen)
    if kind.startswith("add_infinite"):
        mask = np.broadcast_to(infinite(case.causal), [1, HEADS, rows, keys])
        mask = mask + case.rng.standard_normal(mask.shape).astype(np.float32)
        return case.onnx(case.input("mask", mask)).leaves_out(case.causal)
    if kind.startswith("add"):
        return case.onnx(case.floats("mask", 1, HEADS, rows, keys))
    if kind.startswith("where_all"):
        return case.where(case.causal, -np.inf, [rows, keys]).leaves_out(case.causal)
    if kind.startswith("where_least"):
        least = np.finfo(np.float32).min
        return case.where(case.causal, least, [1, 1, rows, keys]).leaves_out(case.causal)
    if kind.startswith("where_padding"):
        seen = padding(case, keys * 2 // 5)
        least = -np.inf if "infinite" in kind else -1e9
        return case.where(seen, least, [1, 1, 1, keys]).leaves_out(seen)
    return case.onnx()


# Of each kind: as it is, with groups of heads, and of one row.
KINDS = {"none": {}, "causal": {}, "causal_in_rows": {}, "causal_by_groups": {"shared": 2},
         "causal_behind_past": {"past": 64}, "causal_by_groups_behind_past": {"past": 64,
                                                                               "shared": 2},
         "window": {"shared": 2}, "bool_all": {}, "bool_padding": {}, "bool_causal": {}, "add": {},
         "add_infinite": {}, "where_all": {}, "where_least": {}, "where_padding": {},
         "where_padding_infinite": {}}


def variants(kinds, keys, all_forms=True):
    """Cases of these kinds over so many keys, with as many rows less what is cached."""
    cases = []
    for kind in kinds:
        settings = KINDS[kind]
        many = keys - settings.get("past", 0)
        cases.append(make(kind, many, keys, **settings))
        if not all_forms:
            continue
        if "shared" not in settings and not kind.startswith(("where", "causal_in_rows")):
            cases.append(make(f"{kind}_shared", many, keys, **{**settings, "shared": 2}))
        one = {**settings, "past": keys - 1} if "causal" in kind or kind == "window" else settings
        if kind not in ("causal_in_rows", "bool_causal") and "past" not in settings:
            cases.append(make(f"{kind}_row", 1, keys, **one))
    return cases


def save(cases, path):
    def values(arrays):
        return [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype),
                                              array.shape) for name, array in arrays.items()]

    inputs = {name: array for case in cases for name, array in case.inputs.items()}
    graph = helper.make_graph([node for case in cases for node in case.nodes], "masks",
                              values(inputs),
                              [onnx.ValueInfoProto(name=name) for case in cases
                               for name in case.outputs],
                              [c for case in cases for c in case.constants])
    opsets = [helper.make_opsetid("", 23), helper.make_opsetid("com.microsoft", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=10), path)
    return inputs


def check_form(kernels, way, most):
    """What multiplies is attention: a kernel for each case, or one for several that are alike."""
    products = [k for k in kernels if k["contraction"]]
    for kernel in products:
        is_row = any("_row_" in node for node in kernel["nodes"])
        wanted = WAYS[way][2] if is_row else "attention"
        if kernel["realisation"] != wanted:
            raise Failure(f"{kernel['nodes']}, {way}: {kernel['realisation']}, not {wanted}")
    if not 0 < len(products) <= most:
        raise Failure(f"{way}: {len(products)} kernels of products for {most} cases")


def check_numbers(case, way, actual, expected):
    for name in case.outputs:
        error = np.abs(actual[name] - expected[name]).max()
        if not error <= TOLERANCE * max(1, np.abs(expected[name]).max()):
            raise Failure(f"{case.name}, {way}: {name} is off by {error:.2e}")


def poisoned(case, inputs, keys):
    """The values, with NaN at these keys."""
    values = inputs[f"{case.name}_v"].copy()
    values.swapaxes(0, 1 if values.ndim == 3 else 2)[[k - case.past for k in keys]] = np.nan
    return {f"{case.name}_v": values}


def check_skipped(case, way, model, inputs):
    """Whether blocks that a mask leaves out are left alone, behind what rows see and in front."""
    last_of_block = np.arange(case.rows) // ROWS_OF_BLOCK * ROWS_OF_BLOCK + ROWS_OF_BLOCK - 1
    last_of_block = np.minimum(last_of_block, case.rows - 1)
    first_of_block = last_of_block // ROWS_OF_BLOCK * ROWS_OF_BLOCK
    late, early = case.keys * 3 // 4, case.keys // 4
    behind = case.seen_to[last_of_block] + KEYS_OF_BLOCK <= late
    in_front = case.seen_from[first_of_block] - KEYS_OF_BLOCK >= early
    if not behind.any() or in_front.any() != case.name.startswith("window"):
        raise Failure(f"{case.name}: no rows to look at")
    for keys, untouched in ((range(late, case.keys), behind),
                            (range(case.past, early), in_front)):
        result = model.run({**inputs, **poisoned(case, inputs, keys)}, fill=0xFF)
        rows = result[f"{case.name}_y"]
        rows = rows if rows.ndim == 3 else rows.swapaxes(1, 2).reshape(1, case.rows, -1)
        if np.isnan(rows[0, untouched]).any():
            raise Failure(f"{case.name}, {way}: keys are visited that the mask leaves out")


def check_way(way, cases, folder, look):
    path = folder / f"masks_{len(cases)}_{cases[0].keys}.onnx"
    inputs = save(cases, path)
    target, flags, _ = WAYS[way]
    outdir = compile_model(path, target, folder, {}, flags)
    kernels = json.loads((outdir / "metadata.json").read_text())["kernels"]
    check_form(kernels, way, len(cases))
    join_kernels(outdir)
    library = folder / f"{path.stem}_{way}.so"
    build_library(outdir, target, library, 2, turns.compiler(library))
    model = CompiledModel(library, model_name(outdir))
    if look == "numbers":
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        names = [name for case in cases for name in case.outputs]
        expected = dict(zip(names, session.run(names, inputs)))
        actual = model.run(inputs, fill=0xFF)
        for case in cases:
            check_numbers(case, way, actual, expected)
    else:
        for case in cases:
            check_skipped(case, way, model, inputs)
    model.close()
    print(f"{way}: {look} of {len(cases)} hold", flush=True)


def check_arena(way, kinds, folder):
    """2048 keys: no room for rows by keys."""
    for kind in kinds:
        path = folder / f"long_{kind}.onnx"
        settings = KINDS[kind]
        save([make(kind, 2048 - settings.get("past", 0), 2048, **settings)], path)
        outdir = compile_model(path, WAYS[way][0], folder, {}, WAYS[way][1])
        room = json.loads((outdir / "metadata.json").read_text())["arena"]["bytes"]
        shutil.rmtree(outdir)
        path.unlink()
        if room > MOST_ARENA:
            raise Failure(f"{kind}, {way}: {room} bytes of arena over 2048 keys")
    print(f"{way}: the arena has no rows by keys", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--way", action="append", choices=WAYS, help="default: all")
    parser.add_argument("--kind", action="append", choices=KINDS, help="default: all")
    options = parser.parse_args()
    kinds = options.kind or list(KINDS)
    name = "_".join(["attention_masks", *(options.way or []), *(options.kind or [])])
    folder = work_folder() / "random_tests" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        for way in options.way or WAYS:
            check_way(way, variants(kinds, 200), folder, "numbers")
            long = [case for case in variants(kinds, 768, False) if case.seen_to is not None]
            if long:
                check_way(way, long, folder, "blocks left out")
            check_arena(way, kinds, folder)
    except Failure as failure:
        print(failure)
        return 1
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
