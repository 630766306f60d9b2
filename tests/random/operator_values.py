"""Numbers that break what is written for ordinary ones: NaN, infinities, the largest and the least
floats, denormals, zeros with a sign.

    node = operator_values.with_special(draw, node)    # where its result is defined

That of the operators of MOVED and COMPUTED follows from IEEE 754. Of the others it is taken as
defined where onnxruntime and ONNX's evaluator agree on it. Sums of products, and what is made of
them, are left out: whether a largest float overflows depends on the order of the sum.
"""
import dataclasses

import ml_dtypes
import numpy as np
from onnx import helper

from operator_case import Dropped, build, difference, run_onnx, run_reference

MOVED = set("""Gather GatherElements GatherND Slice Concat Transpose Reshape Tile Expand Split Where
Identity Flatten Squeeze Unsqueeze DepthToSpace SpaceToDepth ReverseSequence Trilu CenterCropPad
Compress Neg Abs IsNaN IsInf TensorScatter""".split())
COMPUTED = set("""Add Sub Mul Div Sqrt Exp Log Relu LeakyRelu Sigmoid Tanh Floor Ceil Round Sign
Reciprocal Less Greater LessOrEqual GreaterOrEqual Equal Softplus Atan PRelu Elu HardSigmoid
ThresholdedRelu Softsign Erf Sum ReduceSum ReduceMax ReduceMin CumSum""".split())
AGREED = set("""Acos Acosh Asin Asinh Atanh Cos Cosh Sin Sinh Tan Celu Gelu HardSwish Mish Selu
Shrink Max Min Clip Pow Mod Softmax LogSoftmax Hardmax ReduceL1 ReduceSumSquare ReduceLogSumExp Mean
ScatterElements ScatterND Pad TopK ArgMax ArgMin MaxPool GlobalMaxPool Dropout Cast CastLike Unique
NonZero OneHot CumProd MaxUnpool Shape Size EyeLike Optional OptionalGetElement OptionalHasElement
SequenceConstruct SequenceAt SequenceInsert SequenceErase SequenceLength SequenceEmpty If Loop Scan
ConcatFromSequence SplitToSequence""".split())
# Of which the order is open: whether largest floats overflow depends on it.
SUMS = set("ReduceSum ReduceL1 ReduceSumSquare CumSum Sum Mean".split())
# Which of them a NaN wins or loses against depends on where it stands, in either reference.
CHOOSING = set("""MaxPool GlobalMaxPool TopK ArgMax ArgMin Unique Hardmax ScatterElements
ScatterND""".split())
TOLERANCES = {"Elu": 1e-4}  # exp(x) - 1 near 0
SHARE = 0.35


def special(dtype):
    info = np.finfo(dtype)
    return [np.nan, np.inf, -np.inf, info.max, info.min, info.smallest_subnormal,
            -info.smallest_subnormal * 3, info.smallest_normal, 0.0, -0.0]


def sprinkled(draw, array, first=0, largest=True):
    """What has elements of IEEE 754 gets such ones, from the first of them on."""
    if array is None or array.dtype.kind != "f" or array.itemsize == 1 or not array.size:
        return array
    values = np.array([x for x in special(array.dtype)[first:]
                       if largest or abs(x) != np.finfo(array.dtype).max], array.dtype)
    chosen = draw.rng.random(array.shape) < draw.pick([0.1, 0.5])
    picked = values[draw.rng.integers(len(values), size=array.shape)]
    return np.where(chosen, picked, array).astype(array.dtype)


def is_agreed(node):
    """Whether both references give the same."""
    if node.reference != "onnxruntime" or node.stand_in:
        return False
    model = build(node, "n", set())
    found = run_reference(model, {}), run_onnx(model, {})
    return None not in found and all(
        difference(node, found[0][name], np.asarray(found[1][name])) is None for name in found[0])


def with_special(draw, node):
    """The node with such elements here and there, or as it is."""
    defined = node.op in MOVED | COMPUTED
    if node.domain or not (defined or node.op in AGREED) or not draw.chance(SHARE):
        return node
    if node.attributes.get("reduction") in ("add", "mul"):  # in an order that is open
        return node
    first = 1 if node.op in CHOOSING else 0
    operands = [a if i in node.known else sprinkled(draw, a, first, node.op not in SUMS)
                for i, a in enumerate(node.operands)]
    made = dataclasses.replace(node, operands=operands, each=True,
                               tolerance=0.0 if node.op in MOVED else TOLERANCES.get(node.op, 1e-5))
    return made if defined or is_agreed(made) else node


def with_defined_casts(node):
    """A cast of floats has numbers that its type has: of others ONNX's text leaves the result open,
    and it depends on the instruction. Of f8e8m0 those are the finite ones."""
    if node.op not in ("Cast", "CastLike") or node.domain or node.operands[0] is None:
        return node
    source = np.asarray(node.operands[0])
    target = (np.dtype(helper.tensor_dtype_to_np_dtype(node.attributes["to"]))
              if node.op == "Cast" else np.asarray(node.operands[1]).dtype)
    is_float = source.dtype.kind == "f" or source.dtype.name.startswith(("float", "bfloat"))
    is_integer = "int" in target.name
    if not is_float or not (is_integer or target.name == "float8_e8m0fnu"):
        return node
    numbers = source.astype(np.float64)
    is_open = ~np.isfinite(numbers)
    if is_integer:
        limits = ml_dtypes.iinfo(target)
        whole = np.trunc(np.where(is_open, 0, numbers))
        is_open |= (whole < float(limits.min)) | (whole > float(limits.max)) | (
            (limits.bits > 53) & (abs(whole) >= 2.0 ** (limits.bits - 1)))
    if not is_open.any():
        return node
    if callable(node.reference):  # of the numbers as they are
        raise Dropped("a cast whose result is open")
    return dataclasses.replace(node, operands=[
        np.where(is_open, np.ones((), source.dtype), source).astype(source.dtype),
        *node.operands[1:]])


def check_defined(node):
    """The node, by the reference that knows of it; Dropped where ONNX's text leaves the result
    open."""
    if node.op == "MeanVarianceNormalization":
        shape, axes = np.shape(node.operands[0]), node.attributes.get("axes", [0, 2, 3])
        if all(shape[axis] == 1 for axis in axes):
            raise Dropped("a variance of one element is 0 or the root of what rounding left")
    if not node.op.startswith("Reduce") or np.size(node.operands[0]) or node.domain:
        return node
    if np.asarray(node.operands[0]).dtype.kind in "iu":
        raise Dropped("of no integers one reference gives other dims, the other another type")
    return dataclasses.replace(node, reference="onnx")  # onnxruntime gives other dims
