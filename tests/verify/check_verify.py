#!/usr/bin/env python3
"""Runs `aotc verify` on a small model with test data beside it, right and wrong.

    tests/verify/check_verify.py build/aotc
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

RANDOM = np.random.default_rng(3)


def floats(*dims):
    return RANDOM.standard_normal(dims).astype(np.float32)


def save_net(folder, nodes, inputs, outputs, weights=(), opset=17):
    """folder/net.onnx, and the model."""
    folder.mkdir(exist_ok=True)
    graph = helper.make_graph(nodes, "net", inputs, outputs, weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    onnx.save(model, folder / "net.onnx")
    return model


def write_model(folder):
    """Rows of an embedding, a product and a softmax; the batch is a symbol."""
    nodes = [
        helper.make_node("Gather", ["table", "tokens"], ["rows"], name="gather"),
        helper.make_node("MatMul", ["rows", "w"], ["p"], name="project"),
        helper.make_node("Add", ["p", "x"], ["s"], name="add"),
        helper.make_node("Softmax", ["s"], ["y"], name="softmax"),
    ]
    inputs = [helper.make_tensor_value_info("tokens", TensorProto.INT64, ["n"]),
              helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 10])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 10])]
    weights = [numpy_helper.from_array(floats(30, 24), "table"),
               numpy_helper.from_array(floats(24, 10), "w")]
    return save_net(folder, nodes, inputs, outputs, weights)


def write_tensors(folder, inputs, outputs):
    """A folder of test data: input_<i>.pb and output_<i>.pb."""
    folder.mkdir(exist_ok=True)
    for kind, arrays in (("input", inputs), ("output", outputs)):
        for i, array in enumerate(arrays):
            tensor = numpy_helper.from_array(array)
            (folder / f"{kind}_{i}.pb").write_bytes(tensor.SerializeToString())


def write_data(folder, model, spoil=0.0):
    """Inputs and an output of the model, the output off by `spoil`."""
    inputs = {"tokens": RANDOM.integers(0, 30, 5), "x": floats(5, 10)}
    session = onnxruntime.InferenceSession(model.SerializeToString(),
                                           providers=["CPUExecutionProvider"])
    (output,) = session.run(None, inputs)
    output[2, 3] += spoil
    write_tensors(folder, inputs.values(), [output])
    return inputs


def verify(aotc, folder, *words):
    command = [aotc, "verify", folder / "net.onnx", "--dim", "n=1..6", "--json", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    return done.returncode, json.loads(done.stdout), done.stderr


def expect(condition, text):
    if not condition:
        raise SystemExit(f"FAILED: {text}")


def expect_verified(aotc, folder, *choices):
    """The model of a folder holds with each choice of flags."""
    for flags in choices:
        command = [aotc, "verify", folder / "net.onnx", *flags]
        done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
        expect(done.returncode == 0, f"{flags}: {done.stderr}")


def check_indices(aotc, folder, given):
    """An index out of range ends a run with a status, unless it is promised not to happen."""
    for last, valid in ((29, True), (-30, True), (30, False), (-31, False)):
        np.save(given / "input_0.npy", np.array([0, 1, 2, 3, last]))
        for target in ("cpu", "cuda"):
            code, _, errors = verify(aotc, folder, "--target", target, "--inputs", given)
            expect(code == (0 if valid else 1), f"index {last} on {target}: {code}: {errors}")
            expect(valid or "run: " in errors, errors)
    code, _, errors = verify(aotc, folder, "--inputs", given, "--assume", "valid-indices")
    expect(code == 0, f"--assume: {errors}")
    print("indices out of range are told")


def check_rounds(aotc, folder):
    """A loop without a round stacks nothing: no element says of which type, inference does."""
    whole, item = ([helper.make_tensor_value_info(name, kind, dims)] for name, kind, dims in (
        ("all", TensorProto.FLOAT, ["k", 2]), ("item", TensorProto.FLOAT, [2])))
    body = helper.make_graph(
        [helper.make_node("Identity", ["c"], ["d"]), helper.make_node("Exp", ["x"], ["item"])],
        "body", [helper.make_tensor_value_info("i", TensorProto.INT64, []),
                 helper.make_tensor_value_info("c", TensorProto.BOOL, [])],
        [helper.make_tensor_value_info("d", TensorProto.BOOL, []), *item])
    inputs = [helper.make_tensor_value_info("trips", TensorProto.INT64, []),
              helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])]
    save_net(folder, [helper.make_node("Loop", ["trips", ""], ["all"], body=body)], inputs, whole)
    expect_verified(aotc, folder, ["--dim=trips=0..3"], ["--dim=trips=0..3", "--target=cuda"])
    print("loops without a round agree")


def check_branches(aotc, folder):
    """Inputs that are drawn suit the branch that they take."""
    branches = {}
    for key, op, operands in (("then_branch", "Gather", ["x", "i"]), ("else_branch", "Neg", ["z"])):
        info = helper.make_tensor_value_info(key, TensorProto.FLOAT, [3])
        branches[key] = helper.make_graph([helper.make_node(op, operands, [key])], key, [], [info])
    node = helper.make_node("If", ["c"], ["y"], name="choose", **branches)
    inputs = [helper.make_tensor_value_info(name, kind, dims) for name, kind, dims in (
        ("x", TensorProto.FLOAT, [8]), ("z", TensorProto.FLOAT, [3]), ("c", TensorProto.BOOL, []),
        ("i", TensorProto.INT64, [3]))]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [3])]
    save_net(folder, [node], inputs, outputs)
    expect_verified(aotc, folder, *(["--seed", str(seed)] for seed in range(1, 6)))


def check_bools(aotc, folder):
    """A comparison that is a result beside floats of the same vectors is 0 or 1."""
    nodes = [helper.make_node("Less", ["x", "y"], ["c"], name="less"),
             helper.make_node("Where", ["c", "x", "y"], ["d"], name="where"),
             helper.make_node("Softmax", ["x"], ["s"], name="softmax"),
             helper.make_node("Less", ["s", "y"], ["e"], name="less_rows")]
    infos = {name: helper.make_tensor_value_info(name, kind, [3, 19]) for name, kind in (
        *((n, TensorProto.FLOAT) for n in "xyds"), *((n, TensorProto.BOOL) for n in "ce"))}
    save_net(folder, nodes, [infos[n] for n in "xy"], [infos[n] for n in "cdse"])
    expect_verified(aotc, folder, ["--cpu", "x86-64"], ["--cpu", "x86-64-v3"], ["--target", "cuda"])


def check_wrapping(aotc, folder):
    """Integers wrap, whatever a C++ compiler may think of overflow; powers of them are exact."""
    nodes = [helper.make_node("Add", ["x", "one"], ["a"], name="add"),
             helper.make_node("Less", ["x", "a"], ["less"], name="less"),
             helper.make_node("Mul", ["x", "three"], ["m"], name="mul"),
             helper.make_node("Div", ["m", "three"], ["third"], name="div"),
             helper.make_node("Neg", ["x"], ["minus"], name="neg"),
             helper.make_node("Less", ["minus", "zero"], ["negative"], name="sign"),
             helper.make_node("Mul", ["u", "u"], ["square"], name="square"),
             helper.make_node("Pow", ["p", "two"], ["power"], name="power")]
    x = np.array([2**31 - 1, -2**31, 2**30, -5, 0, 715827883, 7, 8, 9], np.int32)
    u = np.array([65535, 256, 50000, 3, 0, 40000, 7, 8, 9], np.uint16)
    p = np.array([5001, 46340, -4099, 3, 0, 12345, 7, 8, 9], np.int32)
    inputs = [helper.make_tensor_value_info(name, kind, [9]) for name, kind in (
        ("x", TensorProto.INT32), ("u", TensorProto.UINT16), ("p", TensorProto.INT32))]
    outputs = [helper.make_tensor_value_info(name, kind, [9]) for name, kind in (
        ("less", TensorProto.BOOL), ("third", TensorProto.INT32), ("negative", TensorProto.BOOL),
        ("square", TensorProto.UINT16), ("power", TensorProto.INT32))]
    weights = [numpy_helper.from_array(np.array(value, kind), name) for name, value, kind in (
        ("zero", 0, "i4"), ("one", 1, "i4"), ("three", 3, "i4"), ("two", 2, "f4"))]
    save_net(folder, nodes, inputs, outputs, weights)
    with np.errstate(over="ignore"):
        truncated = np.trunc((x * np.int32(3)).astype("f8") / 3).astype("i4")
        results = [x < x + np.int32(1), truncated, -x < 0, u * u, (p.astype("i8")**2).astype("i4")]
    write_tensors(folder / "test_data_set_0", (x, u, p), results)
    expect_verified(aotc, folder, ["--target", "cpu"], ["--target", "cuda"])


def check_wide_indices(aotc, folder):
    """Values of 64 bits that are compared with lanes of indices keep them all."""
    depth, far = 32, 2**32
    i = np.array([3, -1, far + 3, 5 - far, 40, 2 * far], np.int64)
    node = helper.make_node("OneHot", ["i", "depth", "values"], ["y"], name="one_hot")
    inputs = [helper.make_tensor_value_info("i", TensorProto.INT64, i.shape)]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [len(i), depth])]
    weights = [numpy_helper.from_array(np.array(depth), "depth"),
               numpy_helper.from_array(np.array([0, 1], np.float32), "values")]
    save_net(folder, [node], inputs, outputs, weights)
    hot = np.where(i < 0, i + depth, i)[:, None] == np.arange(depth)
    write_tensors(folder / "test_data_set_0", [i], [hot.astype(np.float32)])
    expect_verified(aotc, folder, ["--cpu", "x86-64"], ["--cpu", "x86-64-v3"], ["--target", "cuda"])


def check_narrow_sizes(aotc, folder):
    """A size that passes through a narrow integer wraps there."""
    nodes = [helper.make_node("Shape", ["x"], ["n"], name="shape"),
             helper.make_node("Cast", ["n"], ["byte"], name="byte", to=TensorProto.UINT8),
             helper.make_node("Cast", ["byte"], ["y"], name="wide", to=TensorProto.INT64)]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n"])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.INT64, [1])]
    save_net(folder, nodes, inputs, outputs)
    write_tensors(folder / "test_data_set_0", [floats(300)], [np.array([300 % 256])])
    expect_verified(aotc, folder, ["--cpu", "x86-64", "--dim", "n=1..300"])


def check_dependent_sizes(aotc, folder):
    """The dims of an output that are never the largest at the same time."""
    nodes = [helper.make_node("Shape", ["x"], ["n"], name="shape"),
             helper.make_node("Div", ["n", "three"], ["third"], name="third"),
             helper.make_node("Sub", ["n", "third"], ["rest"], name="rest"),
             helper.make_node("Concat", ["third", "rest"], ["dims"], name="dims", axis=0),
             helper.make_node("Expand", ["one", "dims"], ["y"], name="expand")]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n"])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["a", "b"])]
    weights = [numpy_helper.from_array(np.array([3]), "three"),
               numpy_helper.from_array(np.ones((1, 1), np.float32), "one")]
    save_net(folder, nodes, inputs, outputs, weights)
    write_tensors(folder / "test_data_set_0", [floats(16)], [np.ones((5, 11), np.float32)])
    expect_verified(aotc, folder, ["--cpu", "x86-64", "--dim", "n=1..19"])


def check(aotc, folder):
    model = write_model(folder)
    inputs = write_data(folder / "test_data_set_0", model)
    for target in ("cpu", "cuda"):
        code, report, errors = verify(aotc, folder, "--target", target)
        expect(code == 0 and not errors, f"{target}: exit code {code}: {errors}")
        found = {(r["case"].split(",")[0], r["against"]) for r in report["results"]}
        expect(found == {("seed 1", "evaluator"), ("test_data_set_0", "evaluator"),
                         ("test_data_set_0", "file")}, f"{target}: {found}")
        expect(len(report["results"]) == 4, "a drawn size, the least size and two for the files")
        print(f"{target}: {len(report['results'])} results agree")
    code, report, errors = verify(aotc, folder, "--cpu", "x86-64", "--per-node")
    expect(code == 0, errors)
    expect(any("softmax" in r["tensor"] for r in report["results"]), "values per node")
    given = folder / "given"
    given.mkdir()
    for i, array in enumerate(inputs.values()):
        np.save(given / f"input_{i}.npy", array)
    code, report, errors = verify(aotc, folder, "--cpu", "x86-64", "--inputs", given)
    expect(code == 0 and report["results"][0]["case"] == "given", errors)
    check_indices(aotc, folder, given)
    write_data(folder / "test_data_set_0", model, spoil=0.1)
    code, report, errors = verify(aotc, folder, "--cpu", "x86-64")
    expect(code == 1 and "output 'y' differs from the file (test_data_set_0)" in errors
           and "at [2, 3]" in errors, f"exit code {code}: {errors}")
    (folder / "test_data_set_0/input_1.pb").unlink()
    code, report, errors = verify(aotc, folder)
    expect(code == 1 and "has no input_1" in errors, errors)
    print("wrong and missing data are told")


def main():
    with tempfile.TemporaryDirectory() as folder:
        check(sys.argv[1], pathlib.Path(folder))
        check_rounds(sys.argv[1], pathlib.Path(folder) / "rounds")
        check_branches(sys.argv[1], pathlib.Path(folder) / "branches")
        check_bools(sys.argv[1], pathlib.Path(folder) / "bools")
        check_wrapping(sys.argv[1], pathlib.Path(folder) / "wrapping")
        check_wide_indices(sys.argv[1], pathlib.Path(folder) / "wide_indices")
        check_narrow_sizes(sys.argv[1], pathlib.Path(folder) / "narrow_sizes")
        check_dependent_sizes(sys.argv[1], pathlib.Path(folder) / "dependent_sizes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
