#!/usr/bin/env python3
"""Plants a failure in models and lets `aotc reduce` find it: what is left must be the nodes that
fail, in a valid model.

    tests/reduce/check_reduce.py build/aotc
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

F32 = np.float32
ODD = "org.example"


def tensor(name, dims, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, list(dims))


def chain_of(ops, dims=(4, 8), name="chain"):
    """A net of nodes in a row, each Add with a weight of its own; an op with a dot has a domain."""
    nodes, weights, last = [], [], "x"
    for i, op in enumerate(ops):
        domain, _, kind = op.rpartition(".")
        inputs = [last]
        if kind == "Add":
            weights.append(numpy_helper.from_array(np.full(dims[-1:], i, F32), f"w{i}"))
            inputs.append(f"w{i}")
        nodes.append(helper.make_node(kind, inputs, [f"v{i}"], name=f"n{i}", domain=domain))
        last = f"v{i}"
    graph = helper.make_graph(nodes, name, [tensor("x", dims)], [tensor(last, dims)], weights)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(ODD, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def planted(op, count=30, at=17, **more):
    ops = (["Relu", "Add", "Sigmoid"] * count)[:count]
    ops[at] = op
    return chain_of(ops, **more)


class Reducer:
    def __init__(self, aotc, folder):
        self.aotc = aotc
        self.folder = folder

    def call(self, model, *flags):
        """The exit code, what is printed, and the model that is left."""
        if isinstance(model, onnx.ModelProto):
            (self.folder / "model.onnx").write_bytes(model.SerializeToString())
            model = "model.onnx"
        (self.folder / "small.onnx").unlink(missing_ok=True)
        words = [self.aotc, "reduce", model, "-o", "small.onnx", "--cpu", "x86-64", *flags]
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True,
                              cwd=self.folder, timeout=600, check=False)
        small = self.folder / "small.onnx"
        return done, onnx.load(small) if small.exists() else None

    def reduce(self, model, *flags):
        done, small = self.call(model, *flags)
        assert done.returncode == 0, done.stderr
        onnx.checker.check_model(small)
        return small


def ops_of(model):
    return [node.op_type for node in model.graph.node]


def check_unsupported(reducer):
    """One node of thirty is left, with inputs of the least size, and fails as before."""
    small = reducer.reduce(planted(f"{ODD}.Frobnicate"))
    assert ops_of(small) == ["Frobnicate"], ops_of(small)
    dims = [d.dim_value for d in small.graph.input[0].type.tensor_type.shape.dim]
    assert dims == [1, 1] and not small.graph.initializer, small.graph
    done, _ = reducer.call(planted(f"{ODD}.Frobnicate"), "--json")
    report = json.loads(done.stdout)
    assert (report["nodes_before"], report["nodes"]) == (30, 1), report
    assert "Frobnicate is not supported" in report["failure"] and report["complete"], report


def check_command(reducer):
    """Exit code 0 says that the model still fails: here, that two ops are there, one of them twice.
    """
    ops = (["Relu", "Add", "Sigmoid"] * 10)
    ops[4], ops[11], ops[23] = "Softplus", "Softsign", "Softplus"
    script = reducer.folder / "fails.sh"
    script.write_text("#!/bin/sh\n"
                      "test \"$(grep -ao Softplus \"$2\" | wc -l)\" -ge 2 &&"
                      " grep -qa \"$1\" \"$2\"\n")
    script.chmod(0o755)
    small = reducer.reduce(chain_of(ops), "--check", "./fails.sh Softsign")
    assert ops_of(small) == ["Softplus", "Softsign", "Softplus"], ops_of(small)
    done, small = reducer.call(chain_of(ops), "--check", "./fails.sh Frobnicate")
    assert done.returncode == 1 and small is None and "does not fail" in done.stderr, done.stderr
    done, _ = reducer.call(chain_of(ops), "--check", "sleep 5; true", "--timeout", "1")
    assert done.returncode == 1 and "does not fail" in done.stderr, done.stderr


def check_wrong_numbers(reducer):
    """A host compiler that takes one function for another."""
    compiler = reducer.folder / "wrong-c++"
    header = reducer.folder / "wrong.h"
    header.write_text("#include <math.h>\n#define asinhf(x) sinhf(x)\n")
    compiler.write_text("#!/bin/sh\n"
                        f"case \"$*\" in *.S*) ;; *) set -- -include {header} \"$@\" ;; esac\n"
                        f"exec {os.environ.get('CXX', 'c++')} \"$@\"\n")
    compiler.chmod(0o755)
    small = reducer.reduce(planted("Asinh", count=6, at=3), "--check", "verify", "--cc",
                           compiler.resolve())
    assert ops_of(small) == ["Asinh"], ops_of(small)
    done, _ = reducer.call(planted("Asinh", count=3, at=1), "--check", "verify")
    assert done.returncode == 1 and "does not fail" in done.stderr, done.stderr


def check_shapes(reducer):
    """Shapes computed in the model become constants where the nodes that do so are cut off; dims
    that are symbols stay so."""
    shape = numpy_helper.from_array(np.array([0, -1], np.int64), "flat")
    nodes = [helper.make_node("Shape", ["x"], ["s"]),
             helper.make_node("Gather", ["s", "i"], ["d"], axis=0),
             helper.make_node("Unsqueeze", ["d", "z"], ["u"]),
             helper.make_node("Concat", ["u", "m"], ["t"], axis=0),
             helper.make_node("Reshape", ["x", "t"], ["r"]),
             helper.make_node("MatMul", ["r", "w"], ["y"], name="matmul1")]
    nodes.insert(0, helper.make_node("Constant", [], ["i"], value_int=0))
    numbers = {"z": [0], "m": [-1]}
    weights = [numpy_helper.from_array(np.array(v, np.int64), k) for k, v in numbers.items()]
    weights += [shape, numpy_helper.from_array(np.ones((7, 5), F32), "w")]
    graph = helper.make_graph(nodes, "shapes", [tensor("x", ("batch", 2, 3))],
                              [tensor("y", ("batch", 5))], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    gathered = reducer.reduce(model, "--check", "grep -qa Gather")
    assert ops_of(gathered) == ["Gather"] and len(gathered.graph.initializer) == 1, gathered
    small = reducer.reduce(model, "--dim", "batch=1..8")
    assert ops_of(small) == ["MatMul"], ops_of(small)
    assert small.graph.input[0].type.tensor_type.shape.dim[0].dim_param == "batch", small.graph


def check_branches(reducer):
    """What a subgraph reads is kept with its node; functions that nothing calls go."""
    def branch(op, domain=""):
        node = helper.make_node(op, ["v1"], ["r"], domain=domain)
        return helper.make_graph([node], "branch", [], [tensor("r", (4, 8))])

    model = planted("Relu", count=6, at=0)
    graph = model.graph
    graph.input.append(tensor("c", (), TensorProto.BOOL))
    graph.node.append(helper.make_node("If", ["c"], ["chosen"], then_branch=branch("Relu"),
                                       else_branch=branch("Frobnicate", ODD), name="if1"))
    graph.output.append(tensor("chosen", (4, 8)))
    imports = [helper.make_opsetid("", 17)]
    for name in ("Used", "Unused"):
        model.functions.append(helper.make_function(
            "local", name, ["a"], ["b"], [helper.make_node("Relu", ["a"], ["b"])], imports))
    model.opset_import.append(helper.make_opsetid("local", 1))
    graph.node[3].op_type, graph.node[3].domain = "Used", "local"
    both = "grep -qa else_branch \"$1\" && grep -qa Frobnicate"
    small = reducer.reduce(model, "--check", both)
    assert ops_of(small) == ["If"] and not small.functions, small
    assert {info.name for info in small.graph.input} == {"c", "v1"}, small.graph.input
    small = reducer.reduce(model, "--check", "grep -qa Frobnicate")  # it needs no If
    assert ops_of(small) == ["Frobnicate"], small
    # Both the If and what is inside are named as not supported; flags may name inputs that go.
    small = reducer.reduce(model, "--shape", "x=4x8", "--dim", "x:0=4")
    inside = [node.op_type for attribute in small.graph.node[0].attribute
              for node in attribute.g.node]
    assert ops_of(small) == ["If"] and sorted(inside) == ["Constant", "Frobnicate"], small


def check_external_data(reducer):
    model = planted(f"{ODD}.Frobnicate", count=6, at=1, dims=(4, 512))
    onnx.save(model, reducer.folder / "external.onnx", save_as_external_data=True,
              location="weights.bin", size_threshold=16)
    small = reducer.reduce("external.onnx", "--check", "grep -qa w4")
    assert ops_of(small) == ["Add"] and len(small.graph.initializer) == 1, small
    assert len(small.graph.initializer[0].raw_data) == 4, small.graph.initializer[0]


def check_errors(reducer):
    done, small = reducer.call(planted("Relu"))
    assert done.returncode == 1 and small is None, done.stderr
    assert done.stderr.startswith("error: the model does not fail; hint: "), done.stderr
    done, _ = reducer.call("nowhere.onnx")
    assert done.returncode == 1, done.stderr
    assert "nowhere.onnx: cannot be opened: No such file" in done.stderr, done.stderr
    done, _ = reducer.call(planted("Relu"), "--timeout", "0")
    assert done.returncode == 2, done.stderr


def main():
    aotc = pathlib.Path(sys.argv[1]).resolve()
    checks = [value for name, value in globals().items() if name.startswith("check_")]
    for check in checks:
        with tempfile.TemporaryDirectory() as folder:
            check(Reducer(aotc, pathlib.Path(folder)))
    print(f"{len(checks)} kinds of failures are reduced to what fails")


if __name__ == "__main__":
    main()
