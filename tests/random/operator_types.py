"""The operands of a node as other types that its schema allows: most families draw f32 alone.

    node = operator_types.retyped(draw, node)    # or the node as it is

What is due for 16 bits, which few references compute, are the numbers of f32 operands of the same
values, rounded once.
"""
import collections
import dataclasses
import functools

import ml_dtypes
import numpy as np
from onnx import defs
from onnxruntime.capi import onnxruntime_pybind11_state as onnxruntime_state

from operator_case import OPSET, Dropped, build, difference, expect
from operator_numbers import within_int32

SHARE = 0.4
DTYPES = {"tensor(float16)": np.dtype("f2"), "tensor(bfloat16)": np.dtype(ml_dtypes.bfloat16),
          "tensor(double)": np.dtype("f8")}
DTYPES |= {f"tensor({sign}int{bits})": np.dtype(f"{sign or 'i'}{bits // 8}")
           for sign in ("", "u") for bits in (8, 16, 32, 64)}
NARROW = DTYPES["tensor(float16)"], DTYPES["tensor(bfloat16)"]
# Of which ONNX does not say how results between integers are rounded, or its evaluator is wrong, or
# which then need other attributes.
NOT_OF_INTEGERS = {"Unique", "Resize", "Upsample", "GridSample", "ReduceMean", "Div", "Gemm",
                   "LinearRegressor", "SVMRegressor", "TreeEnsembleRegressor", "Imputer"}
# Whose operands have the type of keys, or of what a graph computes with, which are attributes.
OF_ATTRIBUTES = {"LabelEncoder", "FlexAttention"}
CUT_OFF = {"ReduceL2", "ReduceLogSum", "ReduceLogSumExp"}  # to integers, which may be one less
# Where nothing else gives that type.
FOLLOWING = {"LinearAttention": "S", "EyeLike": "T2", "DequantizeLinear": "T3"}
WRONG_IN_ONNX = {"LRN"}  # its evaluator sums for as many channels as the batch has images
IN_F32 = {"DeformConv", "Erf", "HardSwish", "Resize"}  # in part, in ONNX's evaluator
OPSET_OF_TYPES = 22  # which has added types to most operators, and nothing else
MICROSOFT = "com.microsoft"
EXACT = 1e-9  # of f64, relative to the largest element: more than f32 can give


# (name of the type, option) of each operand and result; name -> the types that it may be.
Schema = collections.namedtuple("Schema", "inputs outputs types")


def read_schema(schema, type_field):
    """`type_field` is what a formal parameter calls the name of its type."""
    inputs, outputs = ([(getattr(formal, type_field), formal.option.name) for formal in formals]
                       for formals in (schema.inputs, schema.outputs))
    return Schema(inputs, outputs,
                  {c.type_param_str: set(c.allowed_type_strs) for c in schema.type_constraints})


@functools.cache
def schemas_of_microsoft():
    """By their names the operators that onnxruntime alone knows."""
    return {schema.name: read_schema(schema, "typeStr")
            for schema in onnxruntime_state.get_all_operator_schema()
            if schema.domain == MICROSOFT}


@functools.cache
def schema_of(op, domain, version):
    if domain == MICROSOFT:
        return schemas_of_microsoft().get(op)
    try:
        return read_schema(defs.get_schema(op, version, domain), "type_str")
    except defs.SchemaError:
        return None


def parameter(formals, index):
    """The name of the type of an operand or result; the last one may be repeated."""
    if index < len(formals):
        return formals[index][0]
    return formals[-1][0] if formals and formals[-1][1] == "Variadic" else ""


def choices(schema, node):
    """(type parameter, dtypes) of those that all its operands have in f32."""
    found = []
    for name, allowed in schema.types.items():
        operands = [a for i, a in enumerate(node.operands)
                    if a is not None and parameter(schema.inputs, i) == name]
        if operands and all(a.dtype == np.float32 for a in operands):
            dtypes = [DTYPES[text] for text in sorted(allowed) if text in DTYPES]
            found += [(name, dtypes)] if dtypes else []
    return found


def as_type(array, dtype):
    if dtype.kind not in "iu":
        return array.astype(dtype)
    finite = np.nan_to_num(array, posinf=9, neginf=-9).clip(-33, 33)
    numbers = np.where(finite, np.sign(finite) * np.ceil(abs(finite) * 3), 0)  # 0 for 0 alone
    return (abs(numbers) if dtype.kind == "u" else numbers).astype(dtype)


def results_of(node):
    """Its outputs in order, None for those left out."""
    found = expect(node, "n", build(node, "n", set()), {})
    return found and [found.get(f"n_y{i}") for i in range(node.outputs)]


def typed(node, results, dtype, _=()):
    """What the node gives, with those results as the type: ONNX's evaluator widens some sums."""
    found = results_of(node)
    if not found:
        raise Dropped("refused by the reference")
    with np.errstate(over="ignore"):
        return [array.astype(dtype) if i in results and array is not None else array
                for i, array in enumerate(found)]


def widened(node, results, dtype, operands):
    """What the node gives for the operands in f32, with those results rounded to the type."""
    present = iter(operands)
    wide = [a if a is None else next(present) for a in node.operands]
    wide = [a if a is None or old.dtype == a.dtype else a.astype(old.dtype)
            for a, old in zip(wide, node.operands)]
    return typed(dataclasses.replace(node, operands=wide), results, dtype)


def agree(node, some, others):
    return some is not None and all(
        a is None or difference(node, a, b) is None for a, b in zip(some, others))


def results_of_types(schema, node, names):
    """The results of the type parameters, and of one that then follows them."""
    kinds = {i: parameter(schema.outputs, i) for i in range(node.outputs)}
    bound = {parameter(schema.inputs, i) for i, a in enumerate(node.operands) if a is not None}
    follows = "" if {"dtype", "output_dtype"} & set(node.attributes) else FOLLOWING.get(node.op, "")
    return {i for i, kind in kinds.items()
            if kind in names or kind == follows and kind not in bound}


def with_floats(node, made, results, dtype):
    """`made`, with what is due: by ONNX's evaluator or onnxruntime where they do what they do for
    f32, else by the latter.
    """
    reference = functools.partial(widened, node, results, dtype)
    if dtype in NARROW:
        return dataclasses.replace(made, reference=reference)
    wide = reference([a for a in made.operands if a is not None])
    by_onnx = dataclasses.replace(made, reference="onnx")
    if node.op not in WRONG_IN_ONNX and agree(node, results_of(by_onnx), wide):
        floats = {a.dtype for a in made.operands if a is not None and a.dtype.kind == "f"}
        exact = node.op not in IN_F32 and floats == {dtype} and len(results) == node.outputs
        return dataclasses.replace(by_onnx, tolerance=EXACT) if exact else by_onnx
    return dataclasses.replace(made, reference=reference)


def retyped(draw, node):
    """With the operands of a type parameter as another type, or as it is: of com.microsoft, whose
    kernels do not mix floats, those of all parameters."""
    opset = OPSET_OF_TYPES if node.opset == OPSET else node.opset
    schema = schema_of(node.op, node.domain, node.version if node.domain else opset)
    if (schema is None or node.holds is not None or node.stand_in or node.op in OF_ATTRIBUTES
            or node.nodes is not None or not draw.chance(SHARE)):
        return node
    found = choices(schema, node)
    if not found:
        return node
    name, dtypes = draw.pick(found)
    dtype = draw.pick(dtypes)
    names = {name} | {other for other, of in found if dtype in of and node.domain == MICROSOFT}
    special = dtype == np.float64 and node.each  # f32 gives other ones
    if special or dtype not in NARROW and callable(node.reference) or (
            dtype.kind in "iu" and node.op in NOT_OF_INTEGERS):
        return node
    with np.errstate(over="ignore"):
        operands = [as_type(a, dtype) if a is not None and parameter(schema.inputs, i) in names
                    else a for i, a in enumerate(node.operands)]
    if node.op == "ReduceProd" and dtype.kind in "iu":
        digits = np.sign(operands[0]) * (abs(operands[0]) % 10)
        operands[0] = within_int32(draw, digits).astype(dtype)
    made = dataclasses.replace(node, operands=operands, opset=opset)
    results = results_of_types(schema, node, names)
    if dtype.kind not in "iu":
        return with_floats(node, made, results, dtype)
    return dataclasses.replace(made, reference=functools.partial(typed, made, results, dtype),
                               steps=max(node.steps, int(node.op in CUT_OFF)))
