"""Seeded inputs for a model, what onnxruntime makes of them, and how far two results are apart.

    inputs = reference.make_inputs(path, {"batch": 3}, 1)
    expected, noise = reference.expected_outputs(path, inputs)
    error = reference.error_of(actual, expected[name])
"""
import numpy as np
import onnx
import onnxruntime
from onnxruntime.capi.onnxruntime_pybind11_state import Fail, InvalidArgument

import exact_sums

LEAST_MAGNITUDE = 1e-6


def input_shapes(path, sizes):
    """Name -> (numpy type, shape) of the graph inputs without an initializer."""
    graph = onnx.load(path, load_external_data=False).graph
    constants = {t.name for t in graph.initializer}
    found = {}
    for value in graph.input:
        if value.name in constants:
            continue
        tensor = value.type.tensor_type
        shape = [d.dim_value or sizes[d.dim_param or f"{value.name}:{axis}"]
                 for axis, d in enumerate(tensor.shape.dim)]
        found[value.name] = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type), tuple(shape)
    return found


def image_like(rng, shape):
    """Noise over coarse patches: noise alone would average out in global pools."""
    patch = 16
    coarse = [-(-size // patch) for size in shape[-2:]]
    patches = rng.standard_normal((*shape[:-2], *coarse)).repeat(patch, -2).repeat(patch, -1)
    return 0.7 * rng.standard_normal(shape) + 0.7 * patches[..., :shape[-2], :shape[-1]]


def make_inputs(path, sizes, seed, scales=None):
    """Floats are normal with a deviation of their scale (1), integers below theirs (2); `scales`
    gives it by name, and for all others as "". What has one under its name and "=" is that number,
    and so is what `sizes` has in that form.
    """
    rng, made = np.random.default_rng(seed), {}
    scales = (scales or {}) | {name: n for name, n in sizes.items() if name.endswith("=")}
    for name, (dtype, shape) in input_shapes(path, sizes).items():
        scale = scales.get(name, scales.get("", 1.0 if dtype.kind == "f" else 2.0))
        if f"{name}=" in scales:
            made[name] = np.full(shape, scales[f"{name}="])
        elif dtype.kind == "f":
            image = len(shape) == 4
            made[name] = scale * (image_like(rng, shape) if image else rng.standard_normal(shape))
        else:
            made[name] = rng.integers(0, int(scale), shape)
        made[name] = np.asarray(made[name], dtype, order="C")  # scalars stay scalars
    return made


def model_or_path(path):
    """The file as it is, but for quantised operators of which onnxruntime saturates the sums."""
    model = onnx.load(path, load_external_data=False)
    is_external = any(tensor.external_data for tensor in model.graph.initializer)
    if is_external or not any(node.op_type in exact_sums.OPERANDS for node in model.graph.node):
        return str(path)
    return exact_sums.of(model).SerializeToString()


def session(path, optimised, threads=1):
    options = onnxruntime.SessionOptions()
    level = "ORT_ENABLE_ALL" if optimised else "ORT_DISABLE_ALL"
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model_or_path(path), options,
                                        providers=["CPUExecutionProvider"])


def run(path, inputs, optimised):
    made = session(path, optimised)
    names = [o.name for o in made.get_outputs()]
    return dict(zip(names, made.run(names, inputs)))


def expected_outputs(path, inputs):
    """Outputs by name without graph optimisation, and per output how far optimisation moves it.

    Where the optimiser itself makes a model that onnxruntime then refuses, nothing is allowed for.
    """
    plain = run(path, inputs, False)
    try:
        optimised = run(path, inputs, True)
    except (Fail, InvalidArgument):
        return plain, dict.fromkeys(plain, 0.0)
    return plain, {name: error_of(optimised[name], plain[name]) for name in plain}


def error_of(actual, expected, least=LEAST_MAGNITUDE):
    """max|a-b| / max(max|b|, least); infinite where types, shapes, NaN, inf, integers differ."""
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        return float("inf")
    if expected.dtype.kind != "f":
        return 0.0 if np.array_equal(actual, expected) else float("inf")
    a, b = actual.astype(np.float64), expected.astype(np.float64)
    finite = np.isfinite(b)
    same_places = np.array_equal(np.isfinite(a), finite)
    if not same_places or not np.array_equal(a[~finite], b[~finite], equal_nan=True):
        return float("inf")
    magnitude = max(np.abs(b[finite]).max(initial=0.0), least)
    return float(np.abs(a[finite] - b[finite]).max(initial=0.0) / magnitude)
