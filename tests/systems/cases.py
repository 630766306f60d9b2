"""What the rows share: small models, runs of aotc, and the numbers of what it wrote.

    path = cases.save(folder, "net", nodes, inputs, outputs, weights)
    cases.aotc(path, "-o", folder / "out")
    cases.numbers_agree(path, "cpu", folder)
"""
import json
import pathlib
import subprocess

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import reference
from build_output import build_library, compile_model, model_name
from check_model import compare
from model_list import build_folder
from model_table import CompiledModel

RANDOM = np.random.default_rng(11)


class Skipped(Exception):
    """A row that cannot be shown on this machine; the message says why."""


def floats(*dims):
    return RANDOM.standard_normal(dims).astype(np.float32)


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs.split(), outputs.split(), name=f"n_{outputs.split()[0]}",
                            **attributes)


def tensor(name, dims, dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, dims)


def save(folder, name, nodes, inputs, outputs, weights=None, opset=17, functions=()):
    """FOLDER/NAME.onnx; inputs and outputs by name -> dims, or as value infos."""
    def infos(given):
        if isinstance(given, dict):
            return [tensor(key, dims) for key, dims in given.items()]
        return list(given)
    arrays = [numpy_helper.from_array(array, key) for key, array in (weights or {}).items()]
    graph = helper.make_graph(nodes, "net", infos(inputs), infos(outputs), arrays)
    domains = {f.domain for f in functions}
    opsets = [helper.make_opsetid("", opset), *(helper.make_opsetid(d, 1) for d in domains)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8, functions=functions)
    path = pathlib.Path(folder) / f"{name}.onnx"
    onnx.save(model, path)
    return path


def run(*words):
    """The finished process of aotc."""
    return subprocess.run([str(build_folder() / "aotc"), *map(str, words)], capture_output=True,
                          text=True, timeout=300, check=False)


def aotc(*words):
    """What a run prints that must succeed."""
    done = run(*words)
    expect(done.returncode == 0, f"exit status {done.returncode}: {done.stderr}")
    return done.stdout


def report(*words):
    return json.loads(aotc(*words, "--json"))


def dump(path, phase, *words):
    """The program as text after a phase."""
    return report(path, f"--stop-after={phase}", f"--dump-after={phase}", *words)["dumps"][phase]


def expect(condition, text):
    if not condition:
        raise SystemExit(f"FAILED: {text}")


def expect_refused(done, *parts, code=1):
    expect(done.returncode == code, f"exit status {done.returncode}, not {code}: {done.stderr}")
    for part in parts:
        expect(part in done.stderr, f"'{part}' is not in: {done.stderr}")


def bytes_of(outdir):
    """Relative path -> bytes of every file of a folder."""
    return {str(p.relative_to(outdir)): p.read_bytes() for p in sorted(outdir.rglob("*"))
            if p.is_file()}


def metadata(outdir):
    return json.loads((outdir / "metadata.json").read_text())


def load(path, target, folder, dims=None, flags=()):
    """The compiled and built model."""
    outdir = compile_model(path, target, folder / target, dims or {}, flags)
    library = folder / target / f"{path.stem}.so"
    build_library(outdir, target, library, compiler=("g++", "-std=c++17", "-O1"))
    return CompiledModel(library, model_name(outdir))


def numbers_agree(path, target, folder, dims=None, sizes=None, flags=()):
    """Builds, runs, and compares with onnxruntime; gives the outputs."""
    model = load(path, target, folder, dims, flags)
    inputs = reference.make_inputs(path, sizes or {}, 1)
    expected, noise = reference.expected_outputs(path, inputs)
    actual = model.run(inputs, fill=0xFF)
    compare(actual, expected, noise)
    model.close()
    return actual
