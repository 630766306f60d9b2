#!/usr/bin/env python3
"""Runs `aotc verify` on what makes elements of 2 and 4 bits and powers of two: casts of random
and of halfway values, quantisation, moves of packed elements in shapes whose rows share bytes, and
bits read as other types. What is expected comes from ml_dtypes, or is worked out here.

    tests/verify/check_small_types.py build/aotc
    tests/verify/check_small_types.py build/aotc --seed 7 moves     # those parts alone
"""
import argparse
import pathlib
import tempfile

import ml_dtypes
import numpy as np
from onnx import TensorProto
from onnx.helper import tensor_dtype_to_np_dtype

from net import Net

OPSET = 26
INTEGERS = {"UINT2": (0, 3), "INT2": (-2, 1), "UINT4": (0, 15), "INT4": (-8, 7)}
PACKED = (*INTEGERS, "FLOAT4E2M1")
FLOATS = ("FLOAT", "FLOAT16", "BFLOAT16", "DOUBLE")
SPECIALS = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-45, -1e-45, 1e-39, 3e38, 2.0**-127, 2.0**-126)


def numpy_type(name):
    return np.dtype(tensor_dtype_to_np_dtype(getattr(TensorProto, name)))


def wrapped(whole, name):
    """Integers by their low bits."""
    least, most = INTEGERS[name]
    return ((whole - least) % (most - least + 1) + least).astype(numpy_type(name))


def eighths(random):
    """All multiples of 1/8 up to 12: halfway between any two values of f4e2m1, and beside it."""
    grid = np.arange(-96, 97) / 8
    return random.permutation(np.concatenate([grid, grid * (1 + 2.0**-7), grid * (1 - 2.0**-7)]))


def powers(random):
    """Around powers of two and halfway between them."""
    base = 2.0 ** random.integers(-140, 128, 60)
    near = [base * factor for factor in (1, 1 + 2.0**-7, 1.5, 1.5 - 2.0**-7, 1.5 + 2.0**-7)]
    return np.concatenate([*near, SPECIALS])


def power_of_two(values, round_mode, saturate):
    """The code of each number as f8e8m0, by ONNX's table, and by the magnitude of negative ones."""
    fraction, exponent = np.frexp(np.abs(values.astype(np.float64)))  # 0.5 <= fraction < 1
    up = {"down": False, "up": fraction > 0.5, "nearest": fraction >= 0.75}[round_mode]
    code = np.where(fraction == 0, -10**6, exponent - 1 + up + 127)
    code = np.where(np.isinf(values.astype(np.float64)), 10**6, code)
    beyond = (code < 0) | (code > 254)
    code = np.clip(code, 0, 254) if saturate else np.where(beyond, 255, code)
    code = np.where(np.isnan(values.astype(np.float64)), 255, code)
    return code.astype(np.uint8).view(ml_dtypes.float8_e8m0fnu)


def output_codes(net, name, array):
    """The elements, and exactly: as integers."""
    net.output(name, array)
    codes = "UINT4" if array.dtype == ml_dtypes.float4_e2m1fn else "UINT8"
    same = array.view(np.uint8).astype(numpy_type(codes))
    net.output(net.op("BitCast", name, to=getattr(TensorProto, codes)), same)


def casts(net, random):
    for source in FLOATS:
        with np.errstate(over="ignore"):
            numbers = (random.standard_normal(43) * 9).astype(numpy_type(source))
            grid = np.append(eighths(random), SPECIALS).astype(numpy_type(source))
            scales = powers(random).astype(numpy_type(source))
        for target in INTEGERS:
            cast = net.op("Cast", net.input(numbers), to=getattr(TensorProto, target))
            net.output(cast, wrapped(np.trunc(numbers.astype(np.float64)).astype(int), target))
        cast = net.op("Cast", net.input(grid), to=TensorProto.FLOAT4E2M1)
        output_codes(net, cast, grid.astype(np.float64).astype(ml_dtypes.float4_e2m1fn))
        for mode in ("up", "down", "nearest"):
            for saturate in (1, 0):
                cast = net.op("Cast", net.input(scales), to=TensorProto.FLOAT8E8M0,
                              round_mode=mode, saturate=saturate)
                output_codes(net, cast, power_of_two(scales, mode, saturate))


def integer_casts(net, random):
    for source in ("INT8", "UINT8", "INT32", "INT64", "INT4", "UINT4", "BOOL"):
        whole = random.integers(-300, 300, (5, 7))
        given = wrapped(whole, source) if source in INTEGERS else whole.astype(numpy_type(source))
        for target in INTEGERS:
            cast = net.op("Cast", net.input(given), to=getattr(TensorProto, target))
            net.output(cast, wrapped(given.astype(int), target))


def quantised(net, random):
    for target, (least, most) in INTEGERS.items():
        x = (random.standard_normal((3, 11)) * (most - least)).astype(np.float32)
        scale, zero = np.float32(0.75), np.array((least + most + 1) // 2, numpy_type(target))
        q = net.op("QuantizeLinear", net.input(x), scale, zero)
        levels = np.clip(np.rint(x / scale) + int(zero), least, most)
        net.output(q, levels.astype(numpy_type(target)))
        wide = net.op("DequantizeLinear", q, scale, zero)
        net.output(wide, ((levels - int(zero)) * scale).astype(np.float32))
    x = (random.standard_normal((4, 6)) * 3).astype(np.float32)
    q = net.op("QuantizeLinear", net.input(x), np.float32(0.5), output_dtype=TensorProto.FLOAT4E2M1)
    output_codes(net, q, (x / np.float32(0.5)).astype(ml_dtypes.float4_e2m1fn))


def random_bits(random, dtype, shape):
    """Any elements; of floats that have it not NaN, of which one is as good as another."""
    bits = np.frombuffer(random.bytes(int(np.prod(shape)) * dtype.itemsize), f"u{dtype.itemsize}")
    if dtype in map(numpy_type, INTEGERS):
        return wrapped(bits.astype(int), next(n for n in INTEGERS if numpy_type(n) == dtype)
                       ).reshape(shape)
    if dtype == numpy_type("FLOAT4E2M1"):
        return (bits % 16).astype(np.uint8).view(dtype).reshape(shape)
    values = bits.view(dtype).copy()
    if dtype.kind not in "iu":
        values[np.isnan(values.astype(np.float64))] = 1
    return values.reshape(shape)


def moves(net, random):
    for name in (*PACKED, "FLOAT8E8M0"):
        x = random_bits(random, numpy_type(name), (3, 5))
        given = net.input(x)
        net.output(given, x)
        turned = net.op("Transpose", given, perm=[1, 0])
        net.output(turned, x.T)
        net.output(net.op("Reshape", turned, np.array([15])), x.T.reshape(15))
        net.output(net.op("Slice", given, np.array([1, 1]), np.array([3, 4])), x[1:3, 1:4])
        net.output(net.op("Concat", given, given, axis=1), np.concatenate([x, x], 1))
        rows = np.array([2, 0, 2, 1])
        net.output(net.op("Gather", given, rows, axis=0), x[rows])
        one = random_bits(random, numpy_type(name), ())
        net.output(net.op("Unsqueeze", net.input(one), np.array([0])), one.reshape(1))


def bits(net, random):
    pairs = (("FLOAT", "INT32"), ("DOUBLE", "INT64"), ("FLOAT16", "INT16"), ("BFLOAT16", "UINT16"),
             ("FLOAT8E4M3FN", "UINT8"), ("FLOAT8E5M2", "INT8"), ("FLOAT8E8M0", "UINT8"),
             ("FLOAT4E2M1", "UINT4"), ("FLOAT4E2M1", "INT4"), ("FLOAT", "UINT32"),
             ("UINT2", "INT2"), ("FLOAT16", "BFLOAT16"))
    for one, other in (*pairs, *(pair[::-1] for pair in pairs)):
        x = random_bits(random, numpy_type(one), (37,))
        if numpy_type(one).kind in "iu" and numpy_type(other).kind not in "iu":
            x = random_bits(random, numpy_type(other), (37,)).view(numpy_type(one))
        if one in PACKED:
            codes = x.view(np.uint8) % (4 if one in ("UINT2", "INT2") else 16)
            expected = codes.view(numpy_type(other))
            expected = wrapped(codes.astype(int), other) if other in INTEGERS else expected
        else:
            expected = x.view(numpy_type(other))
        y = net.op("BitCast", net.input(x), to=getattr(TensorProto, other))
        net.output(y, expected)


PARTS = {part.__name__: part for part in (casts, integer_casts, quantised, moves, bits)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("aotc", type=pathlib.Path)
    parser.add_argument("part", nargs="*", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for name in options.part or PARTS:
        net = Net()
        PARTS[name](net, np.random.default_rng(options.seed))
        with tempfile.TemporaryDirectory() as folder:
            net.check(options.aotc.resolve(), pathlib.Path(folder), OPSET)
        print(f"{name}: {len(net.outputs)} outputs hold", flush=True)


if __name__ == "__main__":
    main()
