"""Compares arrays by the rule of the evaluator (CompareOutputs in node_model.cc).

    text = compare_outputs.difference(actual, expected)   # None where they agree
"""
import ml_dtypes
import numpy as np

FLOATS = {np.dtype(t) for t in (np.float16, np.float32, np.float64, ml_dtypes.bfloat16,
                                ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e4m3fnuz,
                                ml_dtypes.float8_e5m2, ml_dtypes.float8_e5m2fnuz)}
LEAST_MAGNITUDE = 1e-6


def tolerance(dtype):
    """Above the rounding of the data, below any mistake; some data has four digits only."""
    return {np.dtype(np.float16): 2e-3, np.dtype(ml_dtypes.bfloat16): 1e-2}.get(dtype, 2e-4)


def float_error(actual, expected):
    """Scaled to the largest element; infinite where NaN or infinities differ."""
    a, b = actual.astype(np.float64), expected.astype(np.float64)
    finite = np.isfinite(a) & np.isfinite(b)
    if not np.array_equal(a[~finite], b[~finite], equal_nan=True):
        return float("inf")
    magnitude = max(np.abs(b[finite]).max(initial=0.0), LEAST_MAGNITUDE)
    return float(np.abs(a[finite] - b[finite]).max(initial=0.0) / magnitude)


def difference(actual, expected):
    """What differs, as a text; None where nothing does that matters. Of arrays, lists of them, and
    None, which is an optional without a value.
    """
    if isinstance(expected, list) and isinstance(actual, list):
        if len(actual) != len(expected):
            return f"{len(actual)} items, not {len(expected)}"
        found = [difference(one, other) for one, other in zip(actual, expected)]
        return next((f"item {number}: {text}" for number, text in enumerate(found) if text), None)
    if not isinstance(expected, np.ndarray) or not isinstance(actual, np.ndarray):
        return None if actual is expected else f"{type(actual)}, not {type(expected)}"
    if actual.dtype != expected.dtype or actual.shape != expected.shape:
        return f"{actual.dtype}{actual.shape}, not {expected.dtype}{expected.shape}"
    if expected.dtype not in FLOATS:
        if np.array_equal(actual, expected):
            return None
        return f"{int((actual != expected).sum())} of {expected.size} elements differ"
    error = float_error(actual, expected)
    return None if error <= tolerance(expected.dtype) else f"error {error:.3g}"
