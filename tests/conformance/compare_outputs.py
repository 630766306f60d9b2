"""Compares what a model gives with what a test expects, by the rule of ONNX's runner.

    text = compare_outputs.difference(actual, expected)   # None where they agree

Elements are compared one by one, by numpy.testing.assert_allclose, as onnx.backend.test.runner
does; what is no float has to be equal, which the runner does not ask.
"""
import functools
import json
import pathlib

import ml_dtypes
import numpy as np
from onnx.backend.test.runner import Runner

RELATIVE, ABSOLUTE = 1e-3, 1e-7  # the official tolerances, where a test has none of its own
TABLE = pathlib.Path(__file__).resolve().parent / "tolerances.txt"
FLOATS = {np.dtype(t) for t in (np.float16, np.float32, np.float64, np.complex64, np.complex128,
                                ml_dtypes.bfloat16,
                                ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e4m3fnuz,
                                ml_dtypes.float8_e5m2, ml_dtypes.float8_e5m2fnuz,
                                ml_dtypes.float8_e8m0fnu, ml_dtypes.float4_e2m1fn)}


@functools.cache
def absolute_tolerances():
    """Test -> the absolute one that ONNX's own run of it has."""
    rows = [line.split(None, 2) for line in TABLE.read_text().splitlines() if line[:1] != "#"]
    return {name: float(tolerance) for name, tolerance, _ in rows}


def tolerances(folder):
    """The relative and the absolute one of the test in a folder: of its data.json, as ONNX's loader
    has them, or of tolerances.txt.
    """
    own = folder / "data.json"
    values = json.loads(own.read_text()) if own.exists() else {}
    absolute = absolute_tolerances().get(folder.name, ABSOLUTE)
    return values.get("rtol", RELATIVE), values.get("atol", absolute)


def array_difference(actual, expected, relative, absolute):
    if actual.dtype != expected.dtype or actual.shape != expected.shape:
        return f"{actual.dtype}{actual.shape}, not {expected.dtype}{expected.shape}"
    if expected.dtype not in FLOATS:
        wrong = actual != expected
        pairs = list(zip(actual[wrong], expected[wrong]))
        return f"{len(pairs)} of {expected.size} elements differ: {pairs[:3]}" if pairs else None
    try:
        Runner.assert_similar_outputs([expected], [actual], relative, absolute)
    except AssertionError as error:
        return str(error)
    return None


def difference(actual, expected, relative=RELATIVE, absolute=ABSOLUTE):
    """What differs, as a text; None where nothing does that matters. Of arrays, lists of them, and
    None, which is an optional without a value.
    """
    if isinstance(expected, (list, tuple)) and isinstance(actual, (list, tuple)):
        if len(actual) != len(expected):
            return f"{len(actual)} items, not {len(expected)}"
        found = [difference(*pair, relative, absolute) for pair in zip(actual, expected)]
        return next((f"item {number}: {text}" for number, text in enumerate(found) if text), None)
    if not isinstance(expected, np.ndarray) or not isinstance(actual, np.ndarray):
        return None if actual is expected else f"{type(actual)}, not {type(expected)}"
    return array_difference(actual, expected, relative, absolute)
