#!/usr/bin/env python3
"""Cast between strings and floats, bit by bit, against whole-number arithmetic.

    tests/domains/check_casts.py                              # the short sample, on a CPU
    tests/domains/check_casts.py --target cuda --seed 5 --rounds 20

Texts become the nearest float of a type, halves to even. A float becomes the text with the fewest
digits that is nearest to it again, laid out as Python does, and INF, -INF or NaN. Texts that are no
numbers, or longer than is taken, are a status. Exit status 0: all holds.
"""
import argparse
import decimal
import sys
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import ml_dtypes
import numpy as np
import onnx
from onnx import helper

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent / "models"))

import turns  # noqa: E402
from build_output import Failure, build_library, compile_model, model_name  # noqa: E402
from model_list import work_folder  # noqa: E402
from model_table import CompiledModel  # noqa: E402

COUNT = 300  # elements of a run
MOST_DIGITS, MOST_BYTES = 19, 64
MOST_LINE = 2000  # of sources; comments have the kernel's stages, one a line
WRONG = ("", "x", "+", ".", "e5", "1e", "1e+", "1..2", "1.2.3", "--1", "+-1", "0x1p3", " 7", "7 ",
         "1_000", "1,5", "infinity", "in", "na", "nano", "True", "1" * 20, "0." + "1" * 20,
         "0" * 65)
RIGHT = ("INF", "inf", "-Inf", "+inf", "NaN", "nan", "0", "-0", "0.0", "-0e5", "00.000", "1e400",
         "-1e-400", "1e99999999", "1e-99999999", ".5", "5.", "-.5e1", "+3", "000123.4500", "1E8",
         "65519.99", "65520", "0" * 45 + "1234567890123456789", "1" + "0" * 63)
PLAIN = (0.0, -0.0, 1, 10, 100, 1e5, 0.1, 3.14, 1e-4, 1e-5, 123456, 0.5, np.nan, np.inf, -np.inf,
         1e15, 1e16, 2.5e15, 99999, 7e22)


class Kind(NamedTuple):
    """A float type: what ONNX and numpy call it, and the bits of its fraction and exponent."""
    onnx: int
    numpy: object
    bits: object
    fraction: int
    exponent: int

    @property
    def infinity(self):
        return ((1 << self.exponent) - 1) << self.fraction

    @property
    def least(self):
        """The exponent of the last bit of the least numbers."""
        return 2 - (1 << (self.exponent - 1)) - self.fraction

    def value(self, bits):
        """The exact value of a finite one that is not negative."""
        exponent, fraction = bits >> self.fraction, bits & ((1 << self.fraction) - 1)
        if exponent:
            fraction += 1 << self.fraction
        return Fraction(fraction) * Fraction(2) ** (self.least + max(exponent, 1) - 1)

    def nearest(self, value):
        """The bits nearest to a value of at least 0, halves to even."""
        low, high = 0, self.infinity
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.value(middle) <= value else (low, middle)
        beyond = 2 * self.value(low) - self.value(low - 1) if high == self.infinity else None
        above = beyond if beyond is not None else self.value(high)
        half = (self.value(low) + above) / 2
        return high if value > half or (value == half and low % 2) else low


KINDS = {"f64": Kind(onnx.TensorProto.DOUBLE, np.float64, np.uint64, 52, 11),
         "f32": Kind(onnx.TensorProto.FLOAT, np.float32, np.uint32, 23, 8),
         "f16": Kind(onnx.TensorProto.FLOAT16, np.float16, np.uint16, 10, 5),
         "bf16": Kind(onnx.TensorProto.BFLOAT16, ml_dtypes.bfloat16, np.uint16, 7, 8)}


def bits_of_text(text, kind):
    """None: not a number."""
    body, sign = text.lower().lstrip("+-"), int(text.startswith("-"))
    if body == "nan":
        return None
    if body == "inf":
        bits = kind.infinity
    else:
        mantissa, _, exponent = body.partition("e")
        whole, _, part = mantissa.partition(".")
        digits = int(whole + part)
        power = min(max(int(exponent or 0), -1000), 1000) - len(part)
        bits = kind.nearest(Fraction(digits) * Fraction(10) ** power)
    return bits | sign << (kind.fraction + kind.exponent)


def shortest(bits, kind):
    """(digits, exponent of the first one) of a number above 0."""
    value = kind.value(bits)
    first = len(str(value.numerator)) - len(str(value.denominator))
    first += Fraction(10) ** (first + 1) <= value
    first -= Fraction(10) ** first > value
    for count in range(1, 18):
        unit = Fraction(10) ** (first - count + 1)
        below = value // unit
        near = sorted((below, below + 1), key=lambda n: (abs(n * unit - value), n % 2))
        for number in near:
            if kind.nearest(number * unit) == bits:
                digits = str(number)
                return digits.rstrip("0"), first + len(digits) - count
    raise AssertionError(f"{bits:x} has no digits")


def text_of_bits(bits, kind):
    top = kind.fraction + kind.exponent
    sign, bits = "-" if bits >> top else "", bits & ((1 << top) - 1)
    if bits > kind.infinity:
        return "NaN"
    if bits == kind.infinity:
        return sign + "INF"
    digits, exponent = shortest(bits, kind) if bits else ("0", 0)
    if not -4 <= exponent < 16:
        point = "." if len(digits) > 1 else ""
        return f"{sign}{digits[0]}{point}{digits[1:]}e{exponent:+03d}"
    if exponent < 0:
        return f"{sign}0.{'0' * (-exponent - 1)}{digits}"
    return f"{sign}{digits[:exponent + 1]:0<{exponent + 1}}.{digits[exponent + 1:] or '0'}"


def middle_text(rng, kind):
    """Of the middle between two neighbours, where that has few enough digits; else None."""
    bits = int(rng.integers(kind.infinity - 1))
    middle = (kind.value(bits) + kind.value(bits + 1)) / 2
    with decimal.localcontext(prec=2000):
        exact = decimal.Decimal(middle.numerator) / decimal.Decimal(middle.denominator)
    digits = "".join(map(str, exact.as_tuple().digits)).strip("0")
    return f"{exact:e}" if len(digits) <= MOST_DIGITS else None


def draw_text(rng):
    way, sign = rng.random(), rng.choice(["", "-", "+", ""])
    if way < 0.15:
        return str(rng.choice(RIGHT))
    kind = KINDS[rng.choice(list(KINDS))]
    if way < 0.3:
        value = np.frombuffer(rng.bytes(8), kind.bits)[:1].view(kind.numpy).astype(np.float64)[0]
        if np.isfinite(value):
            return repr(float(value))
    if way < 0.5 and (middle := middle_text(rng, kind)):
        return sign + middle
    digits = "".join(map(str, rng.integers(0, 10, rng.integers(1, MOST_DIGITS + 1))))
    point = int(rng.integers(0, len(digits) + 1))
    text = f"{sign}{digits[:point]}.{digits[point:]}"
    if rng.random() < 0.6:
        most = rng.choice([5, 40, 330])
        text += rng.choice(["e", "E"]) + rng.choice(["", "-", "+"]) + str(rng.integers(most))
    return text


def draw_floats(rng, kind):
    drawn = np.frombuffer(rng.bytes(8 * COUNT), kind.bits)[:COUNT].view(kind.numpy)
    with np.errstate(over="ignore"):
        plain = rng.choice(PLAIN, COUNT).astype(kind.numpy)
    return np.where(np.arange(COUNT) % 3 == 0, plain, drawn)


def cast(name, source, result, like, to):
    if name == "f16":
        return helper.make_node("CastLike", [source, like], [result], name=f"{result}_like")
    return helper.make_node("Cast", [source], [result], name=f"{result}_cast", to=to)


def build(target, folder, constants=()):
    """The model of all casts; those of constants are computed as it is compiled."""
    nodes, inputs, outputs = [], [], []
    for name, kind in KINDS.items():
        nodes += [cast(name, "texts", name, f"{name}_in", kind.onnx),
                  cast(name, f"{name}_in", f"{name}_text", "texts", onnx.TensorProto.STRING)]
        inputs.append(helper.make_tensor_value_info(f"{name}_in", kind.onnx, ["m"]))
        outputs += [helper.make_tensor_value_info(name, kind.onnx, ["n"]),
                    helper.make_tensor_value_info(f"{name}_text", onnx.TensorProto.STRING, ["m"])]
    inputs.append(helper.make_tensor_value_info("texts", onnx.TensorProto.STRING, ["n"]))
    known = {tensor.name for tensor in constants}
    inputs = [value for value in inputs if value.name not in known]
    path = folder / ("folded.onnx" if constants else "casts.onnx")
    onnx.save(helper.make_model(helper.make_graph(nodes, "casts", inputs, outputs, constants),
                                opset_imports=[helper.make_opsetid("", 21)], ir_version=10), path)
    dims = {} if constants else {"n": f"0..{COUNT}", "m": f"0..{COUNT}"}
    outdir = compile_model(path, target, folder, dims,
                           [f"--max-string-bytes={MOST_BYTES * COUNT}"])
    longest = max((len(line) for file in outdir.glob("*_kernels_*")
                   for line in file.read_text().splitlines()), default=0)
    if longest > MOST_LINE:
        raise Failure(f"a line of {longest} characters")
    library = folder / f"{path.stem}.so"
    build_library(outdir, target, library, 1, turns.compiler(folder))
    return CompiledModel(library, model_name(outdir))


def draw_operands(rng):
    texts = [draw_text(rng) for _ in range(COUNT)]
    return texts, {name: draw_floats(rng, kind) for name, kind in KINDS.items()}


def check_folded(rng, target, folder):
    """The same of constants."""
    texts, floats = draw_operands(rng)
    constants = [helper.make_tensor("texts", onnx.TensorProto.STRING, [COUNT],
                                    [text.encode() for text in texts])]
    constants += [helper.make_tensor(f"{name}_in", KINDS[name].onnx, [COUNT], x.tobytes(), raw=True)
                  for name, x in floats.items()]
    model = build(target, folder, constants)
    wrong = compare(texts, floats, model.run({}))
    model.close()
    return wrong


def check_round(rng, model):
    texts, floats = draw_operands(rng)
    return compare(texts, floats, model.run({"texts": np.array(texts, object),
                                             **{f"{name}_in": x for name, x in floats.items()}}))


def compare(texts, floats, results):
    """The lines of what is wrong."""
    wrong = []
    for name, kind in KINDS.items():
        for text, number in zip(texts, np.asarray(results[name])):
            wanted, bits = bits_of_text(text, kind), int(number.view(kind.bits))
            if np.isnan(number) != (wanted is None) or (wanted is not None and bits != wanted):
                wrong.append(f"{text!r} as {name} is {number}")
        for number, text in zip(floats[name], results[f"{name}_text"]):
            if text != text_of_bits(int(number.view(kind.bits)), kind):
                wrong.append(f"{number} of {name} is {text!r}")
    return wrong


def check_wrong_texts(model):
    nothing = {f"{name}_in": np.zeros(0, kind.numpy) for name, kind in KINDS.items()}
    taken = []
    for text in WRONG:
        try:
            model.run({"texts": np.array([text], object), **nothing})
        except Failure:
            continue
        taken.append(f"{text!r} is taken for a number")
    return taken


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    folder = work_folder() / "casts" / options.target
    folder.mkdir(parents=True, exist_ok=True)
    model, rng = build(options.target, folder), np.random.default_rng(options.seed)
    wrong = check_wrong_texts(model) + check_folded(rng, options.target, folder)
    for _ in range(options.rounds):
        wrong += check_round(rng, model)
    model.close()
    for line in wrong[:20]:
        print(line)
    casts = (options.rounds + 1) * COUNT * 2 * len(KINDS) + len(WRONG)
    print(f"{options.target}: {casts - len(wrong)} casts hold, {len(wrong)} fail")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
