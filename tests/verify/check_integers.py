#!/usr/bin/env python3
"""Runs `aotc verify` on numbers at the ends of their types, against numpy: sums of rows whose
elements are computed in the loop, where no variable says the type of a literal; ties and NaN.

    tests/verify/check_integers.py build/aotc
"""
import pathlib
import sys
import tempfile

import numpy as np
from onnx import TensorProto, helper

from net import Net

ROWS, COLUMNS = 5, 17
I64_MIN, I64_MAX = -2**63, 2**63 - 1


def as_i64(net, name):
    return net.op("Cast", name, to=TensorProto.INT64)


def literals(net):
    """Choices between numbers, and numbers that C++ takes for longer ones."""
    flags = np.random.default_rng(9).integers(0, 2, (ROWS, COLUMNS)).astype(bool)
    chosen = net.input(flags)

    def choice(dtype, yes, no):
        numbers = dtype(yes), dtype(no)
        return net.op("Where", chosen, *numbers), np.where(flags, *numbers)

    for dtype, op, left, right in (
            (np.int64, "Mul", (100000, 200000), (100000, 3)), (np.int64, "Pow", (10, 20), (11, 10)),
            (np.uint64, "Sub", (5, 7), (9, 3)), (np.uint32, "Sub", (5, 7), (6, 9)),
            (np.int64, "Add", (2000000000, 7), (2000000000, 3))):
        (a, x), (b, y) = choice(dtype, *left), choice(dtype, *right)
        value = {"Mul": x * y, "Sub": x - y, "Add": x + y, "Pow": x**y}[op]
        net.sum_of_rows(as_i64(net, net.op(op, a, b)), value.astype(np.int64))
    a, x = choice(np.uint64, 5, 7)
    net.sum_of_rows(net.op("BitwiseNot", a), ~x)
    words = np.arange(ROWS * COLUMNS, dtype=np.uint32).reshape(ROWS, COLUMNS)
    most = np.uint32(2**32 - 1)
    word = net.input(words)
    net.sum_of_rows(as_i64(net, net.op("Add", word, most)), (words + most).astype(np.int64))
    quotient = net.op("Div", net.op("Sub", word, most), np.uint32(1000))
    net.sum_of_rows(as_i64(net, quotient), ((words - most) // np.uint32(1000)).astype(np.int64))
    least = np.int32(-2**31)
    signed = net.op("Sub", net.op("Cast", word, to=TensorProto.INT32), least)
    net.sum_of_rows(as_i64(net, signed), (words.astype(np.int32) - least).astype(np.int64))


def ends_of_i64(net):
    """What wraps means no more than it is: neither order nor divisors survive."""
    x = np.array([[2**62, -2**62, I64_MAX, I64_MIN, 5]])
    u = np.array([[0, 2**63, 2**64 - 1, 2**63 + 5, 5]], np.uint64)
    a, b = net.input(x), net.input(u)

    def count(name, flags):
        net.sum_of_rows(as_i64(net, name), flags.astype(np.int64))

    two, six = np.int64(2), np.int64(6)
    net.sum_of_rows(net.op("Mod", net.op("Mul", a, six), np.int64(3)), x * 6 % 3)
    net.sum_of_rows(net.op("Max", net.op("Add", a, np.int64(1)), a), np.maximum(x + 1, x))
    net.sum_of_rows(net.op("Max", as_i64(net, b), np.int64(-3)), np.maximum(u.astype(np.int64), -3))
    count(net.op("Less", a, net.op("Add", a, np.int64(1))), x < x + 1)
    count(net.op("Less", net.op("Abs", a), np.int64(0)), np.abs(x) < 0)
    count(net.op("GreaterOrEqual", net.op("Mul", a, a), np.int64(0)), x * x >= 0)
    count(net.op("Equal", net.op("Mul", a, two), np.int64(0)), x * 2 == 0)
    count(net.op("Less", as_i64(net, b), np.int64(0)), u.astype(np.int64) < 0)
    border = np.uint64(2**63 + 5)
    net.output(net.op("Equal", b, border), u == border)
    net.output(net.op("Greater", b, border), u > border)


def narrow_indices(net):
    """Values that are cut to 32 bits where their range fits, and only there."""
    u = np.array([0, 5, 2**63, 2**64 - 1, 99, 101, 2**63 + 7], np.uint64)
    x = np.array([I64_MIN, -5, 99, 101, I64_MAX, 2**40, 0])
    w = np.array([2**32 - 1, 3, 2**31, 11, 9, 0, 70000], np.uint32)
    a, b, c = net.input(u), net.input(x), net.input(w)
    most = np.int64(100)

    def least(name, array):
        net.output(net.op("Min", name, most), np.minimum(array, most))

    least(as_i64(net, a), u.astype(np.int64))
    least(net.op("Abs", b), np.abs(x))
    wide = as_i64(net, c)
    least(net.op("Mul", wide, wide), w.astype(np.int64)**2)


def ties(net):
    """Of equal elements the first in row-major order wins, also by column-major positions."""
    x = net.input(np.array([[[[0, 5], [5, 0]]]], np.uint8))
    position = np.array([[[[2]]]])  # of row 0, column 1
    net.nodes.append(helper.make_node("MaxPool", [x], ["most", "place"], kernel_shape=[2, 2],
                                      storage_order=1))
    net.output("most", np.array([[[[5]]]], np.uint8))
    net.output("place", position)


def not_a_number(net):
    """NaN is beyond every number; of several the first one counts, or the last."""
    nan = np.nan
    rows = np.array([[1, nan, 2, 0], [nan, 1, 2, 0], [1, 2, 0, nan], [nan] * 4, [1, 1, nan, nan],
                     [-np.inf] * 4, [np.inf, nan, np.inf, 0]], np.float32)
    x = net.input(rows)
    for op, place in (("ArgMax", np.argmax), ("ArgMin", np.argmin)):
        net.output(net.op(op, x, axis=1, keepdims=0), place(rows, axis=1))
        last = 3 - place(rows[:, ::-1], axis=1)
        net.output(net.op(op, x, axis=1, keepdims=0, select_last_index=1), last)
    image = net.input(rows[:, None])
    net.nodes.append(helper.make_node("MaxPool", [image], ["top", "spot"], kernel_shape=[4]))
    net.output("top", rows.max(axis=1)[:, None, None])
    spot = np.argmax(rows, axis=1) + np.arange(len(rows)) * 4
    net.output("spot", spot[:, None, None])


def main():
    aotc = sys.argv[1]
    with tempfile.TemporaryDirectory() as root, np.errstate(over="ignore"):
        for build in (literals, ends_of_i64, narrow_indices, ties, not_a_number):
            net = Net()
            build(net)
            net.check(aotc, pathlib.Path(root) / build.__name__)
            print(f"{build.__name__}: {len(net.outputs)} results agree")
    return 0


if __name__ == "__main__":
    sys.exit(main())
