#!/usr/bin/env python3
"""Operators on strings with random attributes, shapes and UTF-8 texts, against onnxruntime:
check_operators.py with other families; and that strings beyond --max-string-bytes, or that are no
integers where these are wanted, are a status.

    tests/domains/check_strings.py                             # the short sample
    tests/domains/check_strings.py --seed 7 --count 2000 --way cpu
    tests/domains/check_strings.py --family string_split --count 100
"""
import pathlib
import sys

import numpy as np
import onnx
from onnx import helper

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER.parent / "random"), str(FOLDER)]

import check_operators  # noqa: E402
import domain_string_moves  # noqa: E402
import domain_strings  # noqa: E402
import operator_batches  # noqa: E402
import turns  # noqa: E402
from build_output import Failure, build_library, compile_model, model_name  # noqa: E402
from model_list import work_folder  # noqa: E402
from model_table import CompiledModel  # noqa: E402

MOST_BYTES = 2000
FLAG = f"--max-string-bytes={MOST_BYTES}"


def join_model(path):
    """Two strings, and both as one."""
    names = ["a", "b", "joined"]
    a, b, joined = (helper.make_tensor_value_info(n, onnx.TensorProto.STRING, [1]) for n in names)
    node = helper.make_node("StringConcat", names[:2], names[2:], name="join")
    graph = helper.make_graph([node], "join", [a, b], [joined])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9),
              path)


def status_of(model, a, b):
    """The text of the status of a run, or None where it succeeds with both as one."""
    texts = {"a": np.array([a], object), "b": np.array([b], object)}
    try:
        joined = model.run(texts)["joined"][0]
    except Failure as failure:
        return str(failure)
    if joined != a + b:
        raise Failure(f"{len(joined)} bytes that are not those of {len(a)} and {len(b)}")
    return None


def check_limits(target):
    """The number of findings."""
    folder = work_folder() / "string_limits" / target
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "join.onnx"
    join_model(path)
    outdir = compile_model(path, target, folder, {}, [FLAG])
    library = folder / "join.so"
    build_library(outdir, target, library, 1, turns.compiler(folder))
    model, half, wrong = CompiledModel(library, model_name(outdir)), MOST_BYTES // 2, []
    for a, b, wanted in (("", "", None), ("x" * half, "é" * (half // 2), None),
                         ("x" * half, "y" * (half + 1), "not within"),
                         ("x" * MOST_BYTES, "", None), ("x" * (MOST_BYTES + 1), "", "'a'")):
        text = status_of(model, a, b)
        if (text is None) != (wanted is None) or (wanted and wanted not in text):
            wrong.append(f"{len(a)} and {len(b)} bytes: {text}")
    model.close()
    for line in wrong:
        print(f"limits, {target}: {line}")
    print(f"limits, {target}: {5 - len(wrong)} hold, {len(wrong)} fail")
    return len(wrong)


def check_texts(target):
    """The number of findings: strings as i8."""
    folder = work_folder() / "string_texts" / target
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "number.onnx"
    x = helper.make_tensor_value_info("x", onnx.TensorProto.STRING, [1])
    y = helper.make_tensor_value_info("y", onnx.TensorProto.INT8, [1])
    node = helper.make_node("Cast", ["x"], ["y"], name="number", to=onnx.TensorProto.INT8)
    onnx.save(helper.make_model(helper.make_graph([node], "number", [x], [y]),
                                opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)
    outdir = compile_model(path, target, folder, {}, [])
    library = folder / "number.so"
    build_library(outdir, target, library, 1, turns.compiler(folder))
    model, wrong = CompiledModel(library, model_name(outdir)), []
    for text, number in (("-128", -128), ("+127", 127), ("0", 0), ("128", None), ("-129", None),
                         ("", None), ("-", None), ("1x", None), ("99999999999999999999", None)):
        try:
            found = int(model.run({"x": np.array([text], object)})["y"][0])
        except Failure:
            found = None
        if found != number:
            wrong.append(f"{text!r}: {found}, not {number}")
    model.close()
    for line in wrong:
        print(f"texts, {target}: {line}")
    return len(wrong)


def main():
    options = check_operators.parse_arguments()
    numbers = range(options.first, options.first + options.count)
    for name, way in check_operators.WAYS.items():
        check_operators.WAYS[name] = way._replace(flags=[*way.flags, FLAG])
    families = domain_strings.FAMILIES + domain_string_moves.FAMILIES
    failed = sum(check_operators.check_way(options, way, numbers, families, "string_tests")
                 for way in options.way)
    if not options.family:
        targets = sorted({check_operators.WAYS[way].target for way in options.way})
        failed += sum(check_limits(target) + check_texts(target) for target in targets)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
