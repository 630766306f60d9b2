#!/usr/bin/env python3
"""Weights of more than 2 GiB in an external file: compiled with --weights=file, mapped and run.

    tests/models/check_large_weights.py

The file is sparse: rows of a table at its ends, in its middle and on either side of 2 GiB hold
numbers, the others zeros. A Gather has to find them, a program that links the weights is refused
with a hint. Exit status 0: all holds.
"""
import ctypes
import mmap
import pathlib
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper

from build_output import Failure, build_library, compile_model, model_name
from model_table import CompiledModel
from small_net import require

ROWS, COLUMNS = 9_000_000, 64
ROW_BYTES = COLUMNS * 4
AT_2_GIB = 2**31 // ROW_BYTES
NUMBERED = [0, 1, ROWS // 2, AT_2_GIB - 1, AT_2_GIB, ROWS - 1]


def row(number):
    return np.arange(COLUMNS, dtype=np.float32) + number


def write_model(folder):
    with open(folder / "table.bin", "wb") as file:
        file.truncate(ROWS * ROW_BYTES)
        for number in NUMBERED:
            file.seek(number * ROW_BYTES)
            file.write(row(number).tobytes())
    table = TensorProto(name="table", data_type=TensorProto.FLOAT, dims=[ROWS, COLUMNS],
                        data_location=TensorProto.EXTERNAL)
    for key, value in (("location", "table.bin"), ("length", ROWS * ROW_BYTES)):
        table.external_data.add(key=key, value=str(value))
    count = len(NUMBERED) + 1
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "rows"], ["y"])], "large",
        [helper.make_tensor_value_info("rows", TensorProto.INT64, [count])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [count, COLUMNS])], [table])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    onnx.save(model, folder / "large.onnx")
    return folder / "large.onnx"


def require_refusal(path, folder):
    try:
        compile_model(path, "cpu", folder, {})
    except Failure as failure:
        require("hint: --weights=file" in str(failure), f"no hint: {failure}")
        return
    raise Failure("weights of more than 2 GiB are linked")


def run(path, folder):
    outdir = compile_model(path, "cpu", folder, {}, ["--weights=file"])
    build_library(outdir, "cpu", folder / "large.so")
    name = model_name(outdir)
    model = CompiledModel(folder / "large.so", name)
    with open(outdir / f"{name}_weights.bin", "rb") as file:
        weights = np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), np.uint8)
        data = ctypes.c_void_p(weights.ctypes.data)
        model.check(model.table.set_weights(model.instance.address, data, weights.nbytes),
                    "set_weights")
        found = model.run({"rows": np.array([*NUMBERED, 5], np.int64)})["y"]
        model.close()
    expected = np.stack([*(row(number) for number in NUMBERED), np.zeros(COLUMNS, np.float32)])
    require(np.array_equal(found, expected), "other rows than those of the table")
    print(f"{weights.nbytes} bytes of weights, {len(NUMBERED)} rows found")


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = write_model(pathlib.Path(folder))
        try:
            require_refusal(path, pathlib.Path(folder))
            run(path, pathlib.Path(folder))
        except Failure as failure:
            print(failure)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
