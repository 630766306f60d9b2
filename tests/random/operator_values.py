"""Numbers that break what is written for ordinary ones: NaN, infinities, the largest and the least
floats, denormals, zeros with a sign.

    node = operator_values.with_special(draw, node)    # where the operator defines its result
"""
import dataclasses

import numpy as np

MOVED = set("""Gather GatherElements GatherND Slice Concat Transpose Reshape Tile Expand Split Where
Identity Flatten Squeeze Unsqueeze DepthToSpace SpaceToDepth ReverseSequence Trilu CenterCropPad
Compress Neg Abs IsNaN IsInf TensorScatter""".split())
COMPUTED = set("""Add Sub Mul Div Sqrt Exp Log Relu LeakyRelu Sigmoid Tanh Floor Ceil Round Sign
Reciprocal Less Greater LessOrEqual GreaterOrEqual Equal Softplus Atan PRelu Elu HardSigmoid
ThresholdedRelu Softsign Erf Sum ReduceSum ReduceMax ReduceMin CumSum""".split())
TOLERANCES = {"Elu": 1e-4}  # exp(x) - 1 near 0
SHARE = 0.35


def special(dtype):
    info = np.finfo(dtype)
    return [np.nan, np.inf, -np.inf, info.max, info.min, info.smallest_subnormal,
            -info.smallest_subnormal * 3, info.smallest_normal, 0.0, -0.0]


def sprinkled(draw, array):
    if array is None or array.dtype.kind != "f" or not array.size:
        return array
    values = np.array(special(array.dtype), array.dtype)
    chosen = draw.rng.random(array.shape) < draw.pick([0.1, 0.5])
    picked = values[draw.rng.integers(len(values), size=array.shape)]
    return np.where(chosen, picked, array).astype(array.dtype)


def with_special(draw, node):
    """The node with such elements here and there, or as it is."""
    if node.domain or node.op not in MOVED | COMPUTED or not draw.chance(SHARE):
        return node
    operands = [a if i in node.known else sprinkled(draw, a) for i, a in enumerate(node.operands)]
    return dataclasses.replace(node, operands=operands, each=True,
                               tolerance=0.0 if node.op in MOVED else TOLERANCES.get(node.op, 1e-5))
