"""Small models, compiles of them, and what a folder holds.

    write_model(path, 8)
    done = compile_model(aotc, path, outdir, "--example")
    files = contents(outdir)     # {"net.h": b"...", "aotc/model.h": b"..."}
"""
import pathlib
import subprocess

import numpy as np
import onnx
import onnx.helper
import onnx.numpy_helper


class Failure(Exception):
    """What does not hold."""


def require(holds, text):
    if not holds:
        raise Failure(text)


def write_model(path, width, is_deep=False):
    """A dense layer of `width` columns; a deep one has a second that needs other files."""
    rng = np.random.default_rng(width)
    weights = rng.standard_normal((16, width)).astype(np.float32)
    nodes = [onnx.helper.make_node("MatMul", ["x", "w"], ["h"]),
             onnx.helper.make_node("Softmax" if is_deep else "Relu", ["h"], ["y"])]
    graph = onnx.helper.make_graph(
        nodes, "net",
        [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [4, 16])],
        [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [4, width])],
        [onnx.numpy_helper.from_array(weights, "w")])
    onnx.save(onnx.helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid("", 20)], ir_version=10), path)


def compile_model(aotc, model, outdir, *flags, name="net", **settings):
    """The end of a compile, with what it printed."""
    return subprocess.run([aotc, model, "-o", outdir, "--name", name, "--quiet", *flags],
                          capture_output=True, text=True, check=False, **settings)


def contents(folder):
    """The bytes of every file below, by its path in the folder."""
    folder = pathlib.Path(folder)
    return {str(path.relative_to(folder)): path.read_bytes()
            for path in sorted(folder.rglob("*")) if path.is_file()}
