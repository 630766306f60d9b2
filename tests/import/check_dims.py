#!/usr/bin/env python3
"""Dims as exporters write them: what `aotc inspect` makes of each text, and models whose inputs
agree only if their dims are understood, verified over the ranges of their symbols.

    tests/import/check_dims.py build/aotc
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from onnx import TensorProto, ValueInfoProto, helper, numpy_helper

# text of a dim: (flags, the type of the input then)
TEXTS = {
    "batch": (["batch=1..8"], "f32[batch]"),
    "4*batch": (["batch=1..8"], "f32[batch*4]"),
    "batch + 1": (["batch=1..8"], "f32[batch + 1]"),
    "((height - 1)//16) + 1": (["height=16..64"], "f32[floor_div(height + 15, 16)]"),
    "Min(64, seq)": (["seq=1..128"], "f32[min(seq, 64)]"),
    "floor(h/2)": (["h=2..9"], "f32[floor_div(h, 2)]"),
    "h/2": (["h/2=1..4"], "f32[h_2]"),
    "4*batch at 3": (["4*batch at 3=5"], "f32[5]"),
    "4*b": (["b=3"], "f32[12]"),
    "batch size": (["batch size=1..8"], "f32[batch_size]"),
    "past/sequence length": (["past/sequence length=1..8"], "f32[past_sequence_length]"),
    "p2o.DynamicDimension.0": (["p2o.DynamicDimension.0=1..8"], "f32[p2o_DynamicDimension_0]"),
    "((((": (["((((=1..8"], "f32[dim]"),
    "n*99999999999999": (["n*99999999999999=1..8"], "f32[n_99999999999999]"),
    "-1": (["x:0=1..8"], "f32[x_0]"),
}


def tensor(name, dims, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, list(dims))


def write(path, nodes, inputs, initializers=(), outputs=("y",)):
    graph = helper.make_graph(nodes, "dims", inputs,
                              [ValueInfoProto(name=name) for name in outputs], initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path.write_bytes(model.SerializeToString())


def call(aotc, *words):
    done = subprocess.run([str(word) for word in (aotc, *words)], capture_output=True, text=True,
                          timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def check_texts(aotc, folder):
    for text, (dims, expected) in TEXTS.items():
        path = folder / "model.onnx"
        names = [dim.split("=")[0] for dim in dims]  # each is a dim of its own of another input
        nodes = [helper.make_node("Relu", ["x"], ["y"]), helper.make_node("Relu", ["z"], ["w"])]
        write(path, nodes, [tensor("x", [text]), tensor("z", names)], outputs=("y", "w"))
        flags = [word for dim in dims for word in ("--dim", dim)]
        report = call(aotc, "inspect", path, "--json", *flags)
        found = report["inputs"][0]["type"]
        assert found == expected and not report["findings"], (text, found, report["findings"])


def check_halved(aotc, folder):
    """x[:, ::2] + z, where z is declared with the size that the slice has."""
    names = {"starts": [0], "ends": [2**31], "axes": [1], "steps": [2]}
    constants = [numpy_helper.from_array(np.array(v, np.int64), k) for k, v in names.items()]
    nodes = [helper.make_node("Slice", ["x", *names], ["s"]),
             helper.make_node("Add", ["s", "z"], ["y"])]
    for halved in ("((width - 1)//2) + 1", "ceiling(width/2)", "floor(width/2 - 1/2) + 1"):
        path = folder / "halved.onnx"
        write(path, nodes, [tensor("x", ["batch", "width"]), tensor("z", ["batch", halved])],
              constants)
        call(aotc, "verify", path, "--cpu", "x86-64", "--json", "--dim", "batch=1..3", "--dim",
             "width=2..9")


def check_equal(aotc, folder):
    """Inputs whose dims exporters named apart, though the model adds one to the other."""
    path = folder / "equal.onnx"
    inputs = [tensor("a", ["unk__1", 3]), tensor("b", ["unk__2", 3]), tensor("c", [None, 3])]
    write(path, [helper.make_node("Sum", ["a", "b", "c"], ["y"])], inputs)
    flags = ["--dim", "unk__2=1..4"]
    apart = call(aotc, "inspect", path, "--json", "--dim", "unk__1=1..4", "--dim", "c:0=1..4",
                 *flags)
    hint = "where 'unk__2' always equals 'unk__1': --dim unk__2=unk__1"
    assert hint in json.dumps(apart["findings"]), apart["findings"]
    flags += ["--dim", "unk__2=unk__1", "--dim", "c:0=unk__2"]
    call(aotc, "verify", path, "--cpu", "x86-64", "--json", *flags)
    report = call(aotc, "inspect", path, "--json", *flags)
    types = [given["type"] for given in report["inputs"]]
    assert len(set(types)) == 1 and not report["findings"], report
    for wrong in ("unk__2=unk__3", "a:1=unk__1"):
        done = subprocess.run([str(aotc), "inspect", str(path), "--dim", wrong],
                              capture_output=True, text=True, timeout=300, check=False)
        assert "no such symbol; hint: the symbols are 'c:0'," in done.stdout + done.stderr, done


def check_unknown_name(aotc, folder):
    """The names to choose from: also those that flags give to axes without one."""
    path = folder / "unnamed.onnx"
    write(path, [helper.make_node("Relu", ["x"], ["y"])], [tensor("x", ["batch", "?", 3, None])])
    done = subprocess.run([str(aotc), "inspect", str(path), "--dim", "?=8"], capture_output=True,
                          text=True, timeout=300, check=False)
    assert "the symbols are 'batch', 'x:1', 'x:3'" in done.stdout + done.stderr, done


def check_flattened(aotc, folder):
    """Rows of x, 4 a batch, as one row a batch beside z."""
    shape = numpy_helper.from_array(np.array([-1, 4, 5], np.int64), "shape")
    nodes = [helper.make_node("Reshape", ["x", "shape"], ["r"]),
             helper.make_node("Mul", ["r", "z"], ["y"])]
    path = folder / "flattened.onnx"
    write(path, nodes, [tensor("x", ["4*batch", 5]), tensor("z", ["batch", 4, 1])], [shape])
    call(aotc, "verify", path, "--cpu", "x86-64", "--json", "--dim", "batch=1..3")


def check_too_long(aotc, folder):
    """Positions of at most 100 elements, a sequence that may be longer: a note says which range
    fits, and that a run of a longer one ends.
    """
    names = {"starts": [0], "axes": [1]}
    constants = [numpy_helper.from_array(np.array(v, np.int64), k) for k, v in names.items()]
    constants.append(numpy_helper.from_array(np.zeros((1, 100), np.float32), "rows"))
    nodes = [helper.make_node("Shape", ["x"], ["ends"], start=1, end=2),
             helper.make_node("Slice", ["rows", "starts", "ends", "axes"], ["s"]),
             helper.make_node("Add", ["x", "s"], ["y"])]
    path = folder / "long.onnx"
    write(path, nodes, [tensor("x", [1, "words"])], constants)
    run = subprocess.run([aotc, path, "-o", folder / "long", "--dim", "words=2..128"],
                         capture_output=True, text=True, check=False)
    assert run.returncode == 0 and "note: node 'y' (Add, opset 17): ends a run" in run.stderr \
        and "hint: the model has room for 'words' up to 100: --dim words=2..100" in run.stderr, \
        run.stderr
    call(aotc, "verify", path, "--cpu", "x86-64", "--json", "--dim", "words=2..100")


def main():
    aotc = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        for check in (check_texts, check_halved, check_equal, check_unknown_name, check_flattened,
                      check_too_long):
            check(aotc, pathlib.Path(folder))
    print(f"{len(TEXTS)} texts of dims are read as meant, 6 models agree in their dims")


if __name__ == "__main__":
    main()
