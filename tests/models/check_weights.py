#!/usr/bin/env python3
"""Small weights stay small: contractions whose weights a model has in 16, 8 or 4 bits.

    tests/models/check_weights.py                    # every case
    tests/models/check_weights.py int4_blocks        # those whose name begins so

Compiled for each instruction set that this machine has, and for CUDA under emulation. The numbers
are those of numpy in f64 on the values that are stored; on the CPU a tile computes them, and what
the program holds of weights is at most 1.05 times what the model holds. Exit status 0: all holds.
"""
import dataclasses
import json
import pathlib
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper

import realisations
import reference
from build_output import Failure, build_library, compile_model, has_feature, model_name
from model_table import CompiledModel

MOST_BYTES = 1.05  # times those of the initializers
LIMITS = {TensorProto.FLOAT: 1e-5, TensorProto.FLOAT16: 2e-3, TensorProto.BFLOAT16: 1e-2}
# Way -> target, flags, the feature of /proc/cpuinfo that it needs.
WAYS = {"portable": ("cpu", ["--cpu=portable"], None),
        "x86-64": ("cpu", ["--cpu=x86-64"], "sse2"),
        "x86-64-v3": ("cpu", ["--cpu=x86-64-v3"], "avx2"),
        "x86-64-v4": ("cpu", ["--cpu=x86-64-v4"], "avx512vl"),
        "cuda": ("cuda", [], None)}
RANGES = {TensorProto.INT8: (-128, 127), TensorProto.UINT8: (0, 255), TensorProto.INT4: (-8, 7),
          TensorProto.UINT4: (0, 15)}
RANDOM = np.random.default_rng(5)


def stored(name, dtype, values):
    """An initializer of a type that numpy may lack, and its bytes."""
    if dtype in (TensorProto.INT4, TensorProto.UINT4):
        halves = np.append(values.ravel(), [0] * (values.size % 2)).astype(np.int64) & 15
        raw = (halves[::2] | halves[1::2] << 4).astype(np.uint8).tobytes()
    elif dtype == TensorProto.BFLOAT16:
        raw = (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16).tobytes()
    else:
        raw = values.astype(helper.tensor_dtype_to_np_dtype(dtype)).tobytes()
    return helper.make_tensor(name, dtype, values.shape, raw, raw=True)


def rounded(values, dtype):
    """Values of the type, as f32; of bf16 the upper half of an f32."""
    if dtype == TensorProto.BFLOAT16:
        return (values.astype(np.float32).view(np.uint32) & 0xFFFF0000).view(np.float32)
    return values.astype(helper.tensor_dtype_to_np_dtype(dtype)).astype(np.float32)


def convolution(x, weights):
    """Of images [N, C, H, W] with filters [O, C, h, w], nothing around them."""
    height, width = weights.shape[2:]
    windows = np.lib.stride_tricks.sliding_window_view(x, (height, width), (2, 3))
    return np.einsum("ncyxhw,ochw->noyx", windows, weights)


@dataclasses.dataclass(frozen=True)
class Contraction:
    op: str
    x: tuple           # shape of the input
    weights: tuple     # shape of the weights
    columns: int       # their axis of outputs, and that of the sum
    summed: int
    attributes: dict = dataclasses.field(default_factory=dict)

    def compute(self, x, weights):
        if self.op == "Conv":
            return convolution(x, weights)
        return x @ (weights.T if self.attributes.get("transB") else weights)


MATMUL = Contraction("MatMul", (17, 160), (160, 331), 1, 0)
ROW = Contraction("MatMul", (1, 128), (128, 96), 1, 0)
GEMM = Contraction("Gemm", (3, 64), (331, 64), 0, 1, {"transB": 1})
CONV = Contraction("Conv", (1, 32, 9, 9), (48, 32, 3, 3), 0, 1)


@dataclasses.dataclass
class Model:
    """A model and what it computes."""
    of: Contraction
    dtype: int = TensorProto.FLOAT  # of input and output
    nodes: list = dataclasses.field(default_factory=list)
    weights: list = dataclasses.field(default_factory=list)
    values: np.ndarray = None  # of the weights

    def save(self, path):
        infos = [helper.make_tensor_value_info("x", self.dtype, self.of.x),
                 helper.make_tensor_value_info("y", self.dtype, None)]
        op = helper.make_node(self.of.op, ["x", "w"], ["y"], **self.of.attributes)
        graph = helper.make_graph([*self.nodes, op], "net", infos[:1], infos[1:], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)],
                                  ir_version=10)
        onnx.save(model, path)

    def bytes(self):
        return sum(len(tensor.raw_data) for tensor in self.weights)


def floats(of, dtype):
    """Weights of a type of 16 bits."""
    values = rounded(RANDOM.standard_normal(of.weights), dtype)
    return Model(of, dtype, weights=[stored("w", dtype, values)], values=values)


def quantised(of, dtype, scaled_by, has_zero=False):
    """Weights of integers, with a scale for all, for each column or for blocks of a sum."""
    least, most = RANGES[dtype]
    q = RANDOM.integers(least, most + 1, of.weights)
    if scaled_by == "all":
        shape, repeat, attributes = (), lambda param: param, {}
    elif scaled_by == "columns":
        shape, attributes = (of.weights[of.columns],), {"axis": of.columns}
        spread = [1] * len(of.weights)
        spread[of.columns] = -1
        repeat = lambda param: param.reshape(spread)  # noqa: E731
    else:
        shape = tuple(n // scaled_by if i == of.summed else n for i, n in enumerate(of.weights))
        attributes = {"axis": of.summed, "block_size": scaled_by}
        repeat = lambda param: param.repeat(scaled_by, of.summed)  # noqa: E731
    scale = RANDOM.uniform(0.5, 1.5, shape).astype(np.float32) / most
    params = [stored("scale", TensorProto.FLOAT, np.asarray(scale))]
    zero = np.zeros(shape, np.int64)
    if has_zero:
        zero = np.asarray(RANDOM.integers(least, most + 1, shape))
        params.append(stored("zero", dtype, zero))
    values = (q - repeat(zero)) * repeat(np.asarray(scale, np.float64))
    names = ["q", *(param.name for param in params)]
    return Model(of, nodes=[helper.make_node("DequantizeLinear", names, ["w"], **attributes)],
                 weights=[stored("q", dtype, q), *params], values=values)


CASES = {
    "f16_matmul": lambda: floats(MATMUL, TensorProto.FLOAT16),
    "f16_row": lambda: floats(ROW, TensorProto.FLOAT16),
    "f16_conv": lambda: floats(CONV, TensorProto.FLOAT16),
    "bf16_matmul": lambda: floats(MATMUL, TensorProto.BFLOAT16),
    "bf16_gemm": lambda: floats(GEMM, TensorProto.BFLOAT16),
    "int8_all": lambda: quantised(MATMUL, TensorProto.INT8, "all"),
    "int8_columns": lambda: quantised(GEMM, TensorProto.INT8, "columns", True),
    "uint8_conv": lambda: quantised(CONV, TensorProto.UINT8, "columns", True),
    "uint8_blocks": lambda: quantised(ROW, TensorProto.UINT8, 32, True),
    "int4_blocks": lambda: quantised(MATMUL, TensorProto.INT4, 32),
    "int4_columns": lambda: quantised(CONV, TensorProto.INT4, "columns"),
    "uint4_blocks": lambda: quantised(ROW, TensorProto.UINT4, 16, True),
    "uint4_gemm": lambda: quantised(GEMM, TensorProto.UINT4, 32, True),
}


def require_small(model, outdir):
    report = realisations.read(outdir)
    if report.plain_contractions():
        raise Failure(f"on plain loops: {report.line()}")
    packed = json.loads((outdir / "metadata.json").read_text())["weights"]["bytes"]
    if packed > MOST_BYTES * model.bytes():
        raise Failure(f"{packed} bytes of weights, where the model has {model.bytes()}")
    return packed


def check(name, model, way, folder):
    """One model, one way; its line."""
    target, flags, _ = WAYS[way]
    path = folder / f"{name}.onnx"
    model.save(path)
    x = rounded(RANDOM.standard_normal(model.of.x), model.dtype)
    expected = model.of.compute(x.astype(np.float64), model.values.astype(np.float64))
    outdir = compile_model(path, target, folder, {}, flags)
    size = f"{require_small(model, outdir)} bytes for {model.bytes()}, " if target == "cpu" else ""
    build_library(outdir, target, folder / "model.so")
    compiled = CompiledModel(folder / "model.so", model_name(outdir))
    given = x.astype(helper.tensor_dtype_to_np_dtype(model.dtype))
    found = compiled.run({"x": given})["y"].astype(np.float64)
    compiled.close()
    error = reference.error_of(found, expected)
    if not error <= LIMITS[model.dtype]:
        raise Failure(f"error {error:.3g}")
    return f"{size}error {error:.2g}"


def main():
    prefix = sys.argv[1] if len(sys.argv) > 1 else ""
    failed = 0
    for name, make in CASES.items():
        if not name.startswith(prefix):
            continue
        model = make()
        for way, (_, _, feature) in WAYS.items():
            if feature and not has_feature(feature):
                continue
            with tempfile.TemporaryDirectory() as folder:
                try:
                    print(f"{name} {way}: {check(name, model, way, pathlib.Path(folder))}")
                except Failure as failure:
                    failed += 1
                    print(f"{name} {way}: FAILED: {failure}")
            sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
