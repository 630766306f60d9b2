#!/usr/bin/env python3
"""Binds values to inputs and initializers (`--bind NAME=FILE`): models compute with them what numpy
does, the interface loses them, and whatever is wrong with a file or a name is an error with a hint.

    tests/import/check_bind.py build/aotc
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from onnx import TensorProto, helper, numpy_helper

F32 = np.float32
X = np.arange(6, dtype=F32).reshape(2, 3) - 2
W = np.array([[1, -2, 3], [0.5, 4, -1]], F32)


def tensor(name, dims, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, list(dims))


def model(x_dims=(2, 3), w_dims=(2, 3), kind=TensorProto.FLOAT):
    """y = x * w + b, with w an input and b an initializer."""
    nodes = [helper.make_node("Cast", ["w"], ["wf"], to=TensorProto.FLOAT),
             helper.make_node("Mul", ["x", "wf"], ["t"]),
             helper.make_node("Add", ["t", "b"], ["y"])]
    graph = helper.make_graph(nodes, "bound", [tensor("x", x_dims), tensor("w", w_dims, kind)],
                              [tensor("y", x_dims)],
                              [numpy_helper.from_array(np.zeros(3, F32), "b")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


class Run:
    """A folder with a model and files to bind."""

    def __init__(self, aotc, folder):
        self.aotc = aotc
        self.folder = folder
        folder.mkdir()

    def write(self, proto, expected=None):
        (self.folder / "model.onnx").write_bytes(proto.SerializeToString())
        if expected is not None:
            data = self.folder / "test_data_set_0"
            data.mkdir()
            for name, array in (("input_0", X), ("output_0", expected)):
                (data / f"{name}.pb").write_bytes(
                    numpy_helper.from_array(array).SerializeToString())

    def call(self, *words):
        words = [self.aotc, *words]
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True,
                              cwd=self.folder, timeout=300, check=False)
        return done.returncode, done.stdout, done.stderr

    def compile(self, *flags):
        return self.call("model.onnx", "--cpu", "x86-64", "-o", "out", "--quiet", *flags)


def version_2(path, array):
    with path.open("wb") as file:
        np.lib.format.write_array(file, array, version=(2, 0))


def check_values(run, kind, array, write=np.save, flags=()):
    """`array` bound to w, and ones to b; `aotc verify` compares with numpy's result."""
    expected = X * np.asarray(array).astype(F32).reshape(2, 3) + 1
    run.write(model(kind=kind), expected.astype(F32))
    write(run.folder / "w.npy", array)
    (run.folder / "b.pb").write_bytes(numpy_helper.from_array(np.ones(3, F32)).SerializeToString())
    bind = ["--bind", "w=w.npy", "--bind=b=b.pb", *flags]
    code, out, errors = run.call("verify", "model.onnx", "--cpu", "x86-64", "--json", *bind)
    assert code == 0, errors
    against = [result["against"] for result in json.loads(out)["results"]]
    assert "file" in against and "evaluator" in against, against


def check_kinds(aotc, root):
    kinds = {"f32": (TensorProto.FLOAT, W), "f64": (TensorProto.DOUBLE, W.astype(np.float64)),
             "f16": (TensorProto.FLOAT16, W.astype(np.float16)),
             "i64": (TensorProto.INT64, W.astype(np.int64)),
             "i8": (TensorProto.INT8, W.astype(np.int8)),
             "u16": (TensorProto.UINT16, np.abs(W).astype(np.uint16)),
             "bool": (TensorProto.BOOL, W > 0)}
    for name, (kind, array) in kinds.items():
        check_values(Run(aotc, root / f"kind_{name}"), kind, array)
    bits = (W.view(np.uint32) >> 16).astype(np.uint16)  # exact: W has few bits
    run = Run(aotc, root / "kind_bf16")
    expected = (X * W + 1).astype(F32)
    run.write(model(kind=TensorProto.BFLOAT16), expected)
    np.save(run.folder / "w.npy", bits)
    np.save(run.folder / "b.npy", np.ones(3, F32))
    code, _, errors = run.call("verify", "model.onnx", "--cpu", "x86-64", "--bind", "w=w.npy",
                               "--bind", "b=b.npy")
    assert code == 0, errors
    check_values(Run(aotc, root / "version_2"), TensorProto.FLOAT, W, version_2)
    return len(kinds) + 2


def check_interface(aotc, root):
    """A bound input is no input any more, pins its symbols; metadata.json and `check` know it."""
    run = Run(aotc, root / "interface")
    run.write(model(x_dims=("batch", 3), w_dims=("batch", 3)))
    (run.folder / "data").mkdir()
    np.save(run.folder / "data" / "w.npy", W)
    code, _, errors = run.compile("--bind", "w=data/w.npy")
    assert code == 0, errors
    metadata = json.loads((run.folder / "out" / "metadata.json").read_text())
    assert [port["name"] for port in metadata["inputs"]] == ["x"], metadata["inputs"]
    assert metadata["inputs"][0]["dims"] == [2, 3], metadata["inputs"]
    assert "--bind=w=w.npy" in metadata["flags"], metadata["flags"]
    assert len(metadata["model"]["bound_sha256"]["w"]) == 64
    assert run.call("check", "out", "model.onnx")[0] == 1  # no w.npy beside the model
    assert run.call("check", "out", "model.onnx", "--bind", "w=data/w.npy")[0] == 0
    np.save(run.folder / "w.npy", W)
    assert run.call("check", "out", "model.onnx")[0] == 0
    np.save(run.folder / "w.npy", W + 1)
    code, out, _ = run.call("check", "out", "model.onnx")
    assert code == 1 and "changed: metadata.json" in out, out
    return 1


def npy_bytes(array=W, **changes):
    """A file of numpy with parts replaced; `descr`, `shape`, `order` are texts of its header."""
    descr, shape, order = (changes.get(k, d) for k, d in (
        ("descr", "'<f4'"), ("shape", "(2, 3)"), ("order", "False")))
    header = f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}"
    header = changes.get("header", header).encode()
    length = changes.get("length", len(header)).to_bytes(2, "little")
    magic = changes.get("magic", b"\x93NUMPY\x01\x00")
    return (magic + length + header + changes.get("data", array.tobytes()))[:changes.get("end")]


# name: (the file's bytes, what the error says of it)
BROKEN_FILES = {
    "empty": (b"", "is no .npy file"),
    "wrong_magic": (npy_bytes(magic=b"\x94NUMPY\x01\x00"), "is no .npy file"),
    "a_zip": (b"PK\x03\x04" + b"\0" * 80, "is no .npy file"),
    "unknown_version": (npy_bytes(magic=b"\x93NUMPY\x09\x00"), "version 9"),
    "ends_in_magic": (npy_bytes(end=8), "ends within its header"),
    "ends_in_header": (npy_bytes(end=40), "ends within its header"),
    "header_too_long": (npy_bytes(length=65535), "ends within its header"),
    "header_empty": (npy_bytes(header=""), "damaged"),
    "header_no_dict": (npy_bytes(header="[1, 2, 3]" * 5), "damaged"),
    "header_unclosed": (npy_bytes(header="{'descr': '<f4', 'fortran_order': False, "), "damaged"),
    "header_key_missing": (npy_bytes(header="{'descr': '<f4', 'shape': (2, 3)}"), "damaged"),
    "header_key_twice": (npy_bytes(header="{'descr': '<f4', 'descr': '<f4', 'shape': (2, 3)}"),
                         "damaged"),
    "fortran_order": (npy_bytes(order="True"), "Fortran order"),
    "big_endian": (npy_bytes(descr="'>f4'"), "big-endian"),
    "objects": (npy_bytes(descr="'|O'"), "Python objects"),
    "fields": (npy_bytes(descr="[('a', '<f4'), ('b', '<i4')]"), "several fields"),
    "strings": (npy_bytes(descr="'<U5'"), "elements of type <U5"),
    "other_type": (npy_bytes(W.astype(np.float64), descr="'<f8'"), "elements of type <f8, not <f4"),
    "shape_negative": (npy_bytes(shape="(-2, -3)"), "no list of numbers"),
    "shape_too_large": (npy_bytes(shape="(99999999999999999999,)"), "no list of numbers"),
    "shape_overflows": (npy_bytes(shape="(4294967296, 4294967296, 4)"), "do not fill its shape"),
    "shape_huge": (npy_bytes(shape="(1000000000000,)"), "do not fill its shape"),
    "data_short": (npy_bytes(data=W.tobytes()[:-1]), "has 23 bytes of data"),
    "data_long": (npy_bytes(data=W.tobytes() + b"\0"), "has 25 bytes of data"),
    "other_rank": (npy_bytes(shape="(6,)"), "the file has rank 1, the input rank 2"),
    "other_shape": (npy_bytes(shape="(3, 2)"), "axis 0: the file has 3, the model 2"),
}


def check_error(run, text, *flags):
    code, _, errors = run.compile(*flags)
    lines = errors.splitlines()
    assert code == 1, (code, errors)
    assert any(line.startswith("error: --bind") and text in line and "; hint: " in line
               for line in lines), errors
    assert all(line.startswith("error: ") for line in lines), errors
    assert not (run.folder / "out").exists()


def check_broken_files(aotc, root):
    run = Run(aotc, root / "broken")
    run.write(model())
    for name, (content, text) in BROKEN_FILES.items():
        (run.folder / f"{name}.npy").write_bytes(content)
        check_error(run, text, "--bind", f"w={name}.npy")
    (run.folder / "none.pb").write_bytes(b"\xff\xff\xff")
    (run.folder / "ints.pb").write_bytes(
        numpy_helper.from_array(W.astype(np.int32)).SerializeToString())
    check_error(run, "holds no tensor", "--bind", "w=none.pb")
    check_error(run, "ints.pb holds i32[2, 3], the model has f32", "--bind", "w=ints.pb")
    check_error(run, "nowhere.npy", "--bind", "w=nowhere.npy")
    check_error(run, "'..'", "--bind", "w=..")
    return len(BROKEN_FILES) + 4


def check_names(aotc, root):
    run = Run(aotc, root / "names")
    run.write(model())
    np.save(run.folder / "w.npy", W)
    check_error(run, "no such input or initializer", "--bind", "v=w.npy")
    check_error(run, "the inputs 'x', 'w'", "--bind", "y=w.npy")
    check_error(run, "bound twice", "--bind", "w=w.npy", "--bind", "w=w.npy")
    check_error(run, "the model has f32[3]", "--bind", "b=w.npy")
    check_error(run, "--keep-input", "--bind", "w=w.npy", "--keep-input", "w")
    dims = Run(aotc, root / "dims")
    dims.write(model(x_dims=("n", 3), w_dims=("n", 3)))
    np.save(dims.folder / "w.npy", W)
    check_error(dims, "dim 'n' is given as 1..8 and as 2", "--bind", "w=w.npy", "--dim", "n=1..8")
    derived = Run(aotc, root / "derived")
    derived.write(model(x_dims=("n", 3), w_dims=("n*1 + 1", 3)))
    np.save(derived.folder / "w.npy", W)
    check_error(derived, "what is given is 2", "--bind", "w=w.npy", "--dim", "n=4")
    return 7


def check_hints(aotc, root):
    """What has to be known at compile time, and is an input or computed from one: the flag."""
    size = helper.make_node("Cast", ["side"], ["size"], to=TensorProto.INT8)
    given = helper.make_tensor_value_info("side", TensorProto.FLOAT, [])
    plain = helper.make_tensor_value_info("size", TensorProto.INT8, [])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    window = helper.make_node("HannWindow", ["size"], ["y"])
    cases = {"side": ([size, window], given, np.array(4, np.float32)),
             "size": ([window], plain, np.array(4, np.int8))}
    for name, (nodes, info, value) in cases.items():
        run = Run(aotc, root / f"hint_{name}")
        graph = helper.make_graph(nodes, "g", [info], [y])
        run.write(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)]))
        code, _, errors = run.compile()
        assert code == 1 and f"; hint: --bind {name}=FILE gives" in errors, errors
        np.save(run.folder / f"{name}.npy", value)
        code, _, errors = run.compile("--bind", f"{name}={name}.npy")
        assert code == 0, errors
    return len(cases)


def main():
    aotc = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        checks = (check_kinds, check_interface, check_broken_files, check_names, check_hints)
        count = sum(check(aotc, root) for check in checks)
    print(f"{count} cases of --bind hold")


if __name__ == "__main__":
    main()
