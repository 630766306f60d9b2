#!/usr/bin/env python3
"""Runs `aotc verify` on casts between every two types, against numbers that all types hold: as the
last op, behind another and before another.

    tests/verify/check_casts.py build/aotc
"""
import pathlib
import sys
import tempfile

import numpy as np
from onnx import TensorProto
from onnx.helper import tensor_dtype_to_np_dtype

from net import Net

FLOATS = ("FLOAT16", "BFLOAT16", "FLOAT", "DOUBLE")
SMALL = ("FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ")
SIGNED = ("INT8", "INT16", "INT32", "INT64")
UNSIGNED = ("UINT8", "UINT16", "UINT32", "UINT64")
NUMBERS = [1, 2.5, 7, 0.25, 3, 0, 1.5, 12, 5, 0.5, 96]  # in two significant bits and a half


def in_type(numbers, name):
    dtype = tensor_dtype_to_np_dtype(getattr(TensorProto, name))
    return np.array(numbers, np.float32).astype(dtype)


def numbers_of(source, target):
    """What both types hold in the same way, up to the fraction that integers drop."""
    if {source, target} & {*UNSIGNED, "BOOL"}:
        return NUMBERS
    return [x if i % 2 else -x or 0 for i, x in enumerate(NUMBERS)]


def expected(numbers, source, target):
    held = in_type(numbers, source).astype(np.float32)
    if target in SIGNED + UNSIGNED:
        held = np.trunc(held)
    return (held != 0) if target == "BOOL" else in_type(held, target)


def followed(net, name, target, result):
    """An op on the result of a cast, in the type of the cast where there is one."""
    if target == "BOOL":
        return net.op("Not", name), ~result
    if target in SMALL:
        wide = net.op("Cast", name, to=TensorProto.FLOAT)
        return net.op("Neg", wide), -result.astype(np.float32)
    return net.op("Add", name, name), result + result


def add_casts(net, source):
    for target in FLOATS + SMALL + SIGNED + UNSIGNED + ("BOOL",):
        numbers = numbers_of(source, target)
        cast = net.op("Cast", net.input(in_type(numbers, source)), to=getattr(TensorProto, target))
        result = expected(numbers, source, target)
        net.output(cast, result)
        net.output(*followed(net, cast, target, result))
        wide = net.input(np.array(numbers, np.float32))
        through = net.op("Cast", net.op("Abs", wide), to=getattr(TensorProto, source))
        twice = net.op("Cast", through, to=getattr(TensorProto, target))
        net.output(twice, expected(np.abs(numbers), source, target))


def main(aotc):
    aotc = pathlib.Path(aotc).resolve()
    for source in SMALL + FLOATS + ("INT8", "INT32", "UINT8", "UINT64", "INT64"):
        with tempfile.TemporaryDirectory() as folder:
            net = Net()
            add_casts(net, source)
            net.check(aotc, pathlib.Path(folder))
            print(f"casts from {source} hold", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
