"""Rows about an arena that is made of several memories (--pool)."""
import ctypes as C
import json

import numpy as np
from onnx import TensorProto, helper

import cases
import control_rows
import reference
from build_output import build_library, compile_model, model_name
from cases import aotc, expect, expect_refused, node, run
from check_model import compare
from model_table import CompiledModel, Memory, Parallel

POOLS = ("--pool=fast=4096", "--pool=slow")
ERROR_POINTER = 1


def residual_net(folder):
    """Buffers of several sizes, one of them read late."""
    weights = {"a": cases.floats(32, 64), "b": cases.floats(64, 64), "c": cases.floats(64, 32)}
    nodes = [node("MatMul", "x a", "p"), node("Softmax", "p", "q"), node("MatMul", "q b", "r"),
             node("Softmax", "r", "s"), node("Add", "s q", "t"), node("MatMul", "t c", "u"),
             node("Softmax", "u", "v"), node("ReduceMax", "v", "y", axes=[1])]
    return cases.save(folder, "net", nodes, {"x": [16, 32]}, {"y": [16, 1]}, weights)


def compile_pools(path, folder, *words):
    outdir = folder / "pools"
    aotc(path, "-o", outdir, *words)
    return outdir


class PoolRun:
    """Calls of NAME_run_pools and NAME_run_pools_mt on pools of exactly the bytes that are stated,
    full of NaN, between guards."""

    def __init__(self, model, name, pools, inputs, outputs):
        self.model, self.name = model, name
        self.pools = [Memory(pool["bytes"], 0xFF, f"pool {pool['name']}") for pool in pools]
        self.inputs = (C.c_void_p * len(inputs))(*(a.ctypes.data for a in inputs))
        self.outputs = (C.c_void_p * len(outputs))(*(a.ctypes.data for a in outputs))

    def addresses(self):
        return [pool.address for pool in self.pools]

    def call(self, addresses, workers=0):
        given = (C.c_void_p * len(addresses))(*addresses)
        if workers == 0:
            return getattr(self.model.library, f"{self.name}_run_pools")(
                self.inputs, self.outputs, given)
        threads = Parallel()
        self.model.check(self.model.table.pool_create(workers, C.byref(threads)), "pool_create")
        status = getattr(self.model.library, f"{self.name}_run_pools_mt")(
            self.inputs, self.outputs, given, C.byref(threads))
        self.model.table.pool_destroy(C.byref(threads))
        return status


def row52_pools_compute_the_same(folder):
    """One arena, and a memory for each pool, give the numbers of onnxruntime."""
    path = residual_net(folder)
    outdir = compile_model(path, "cpu", folder / "out", {}, POOLS)
    pools, name = cases.metadata(outdir)["arena"]["pools"], model_name(outdir)
    expect(all(pool["bytes"] > 0 for pool in pools), f"a pool is empty: {pools}")
    build_library(outdir, "cpu", folder / "net.so", compiler=("g++", "-std=c++17", "-O1"))
    model = CompiledModel(folder / "net.so", name)
    inputs = reference.make_inputs(path, {}, 1)
    expected, noise = reference.expected_outputs(path, inputs)
    for workers in (1, 3):
        compare(model.run(inputs, workers=workers, fill=0xFF), expected, noise)
    y = np.empty((16, 1), np.float32)
    pool_run = PoolRun(model, name, pools, [inputs["x"]], [y])
    for workers in (0, 1, 3):
        for pool in pool_run.pools:
            pool.bytes[:] = 0xFF
        y[:] = np.nan
        expect(pool_run.call(pool_run.addresses(), workers) == 0, f"{workers} workers")
        compare({"y": y}, expected, noise)
        for pool in pool_run.pools:
            pool.verify()
    for wrong in (0, 1):
        for address in (None, pool_run.addresses()[wrong] + 4):
            given = pool_run.addresses()
            given[wrong] = address
            expect(pool_run.call(given) == ERROR_POINTER, f"pool {wrong} at {address}")
    library_run = getattr(model.library, f"{name}_run_pools")
    expect(library_run(pool_run.inputs, pool_run.outputs, None) == ERROR_POINTER, "no pools")
    model.close()


def row52_pools_hold_what_branches_and_rounds_share(folder):
    """What a loop carries and what branches read lies in pools like all else."""
    path = control_rows.nested(folder)
    model = cases.load(path, "cpu", folder, flags=("--pool=fast=64", "--pool=slow"))
    x = cases.floats(2, 8)
    for c, d in ((False, False), (True, False), (True, True)):
        y = model.run({"x": x, "c": np.array(c), "d": np.array(d)}, fill=0xFF)["y"]
        expect(np.allclose(y, control_rows.expected_of_nested(x, c, d), atol=1e-5), f"{c} {d}")
    model.close()
    body = helper.make_graph(
        [node("Tanh", "a", "t"), node("Add", "t x", "b"), node("Identity", "go", "on")], "body",
        [cases.tensor("i", [], TensorProto.INT64), cases.tensor("go", [], TensorProto.BOOL),
         cases.tensor("a", [4, 40])],
        [cases.tensor("on", [], TensorProto.BOOL), cases.tensor("b", [4, 40])])
    loop = helper.make_node("Loop", ["rounds", "", "s"], ["e"], name="loop", body=body)
    nodes = [node("Softmax", "x", "s"), loop, node("Softmax", "e", "y")]
    path = cases.save(folder, "rounds", nodes, {"x": [4, 40]}, {"y": [4, 40]},
                      {"rounds": np.array(5)})
    cases.numbers_agree(path, "cpu", folder, flags=("--pool=fast=700", "--pool=slow"))
    pools = cases.metadata(folder / "cpu" / "out")["arena"]["pools"]
    expect(all(pool["bytes"] > 0 for pool in pools), f"a pool is empty: {pools}")


def row52_pools_keep_their_bounds(folder):
    """metadata.json says who lies where; what is hot lies in the first pool."""
    path = residual_net(folder)
    for limit in (64, 1000, 4096, 5000, 9999, 1 << 20):
        outdir = compile_pools(path, folder, f"--pool=fast={limit}", "--pool=slow")
        arena = cases.metadata(outdir)["arena"]
        fast, slow = arena["pools"]
        expect(fast["limit"] == limit and slow["limit"] is None, f"{arena['pools']}")
        expect(fast["bytes"] <= limit, f"{fast['bytes']} of {limit} bytes")
        expect(fast["offset"] == 0 and slow["offset"] == fast["bytes"], f"{arena['pools']}")
        expect(arena["bytes"] == fast["bytes"] + slow["bytes"], f"{arena['bytes']}")
        for buffer in arena["buffers"]:
            pool = fast if buffer["pool"] == "fast" else slow
            begin = buffer["offset"] - pool["offset"]
            expect(0 <= begin <= pool["bytes"] - buffer["bytes"], f"{buffer} in {pool}")
        expect(run("check", outdir, path).returncode == 0, "check does not give the same")
    expect(slow["bytes"] == 0, "the first pool has room for all")
    one = compile_model(path, "cpu", folder / "one", {}, ())
    expect("pools" not in cases.metadata(one)["arena"], "pools that nobody asked for")
    expect(fast["bytes"] == cases.metadata(one)["arena"]["bytes"], "one pool is not the arena")


def row52_pools_are_reported(folder):
    path = residual_net(folder)
    text = aotc(path, "-o", folder / "out", *POOLS)
    expect("pool fast " in text and " of 4096 bytes" in text and "% of the traffic" in text, text)
    summary = json.loads(aotc(path, "-o", folder / "out", *POOLS, "--json"))
    expect([pool["name"] for pool in summary["pools"]] == ["fast", "slow"], f"{summary}")
    expect("pool slow " in cases.dump(path, "plan", *POOLS), "no map of the second pool")
    aotc("inspect", path, "--html", folder / "page.html", *POOLS)
    expect('"name":"slow"' in (folder / "page.html").read_text(), "no pool in the page")
    expect(run("verify", path, *POOLS).returncode == 0, "verify")


def row52_pools_that_cannot_be_are_refused(folder):
    """Each with what would do."""
    path = residual_net(folder)
    done = run(path, "-o", folder / "out", "--pool=fast=64", "--pool=slow=128")
    expect_refused(done, "error: no pool has room for ", " bytes: fast=64, slow=128",
                   "hint: --pool slow=", "without a limit")
    enough = done.stderr.split("hint: --pool slow=")[1].split()[0]
    aotc(path, "-o", folder / "out", "--pool=fast=64", f"--pool=slow={enough}")
    out = ("-o", folder / "other")
    for words, part in [(("--pool=int=64",), "member of a C struct"),
                        (("--pool=a-b=64",), "member of a C struct"),
                        (("--pool==64",), "member of a C struct"),
                        (("--pool=a=64", "--pool=A"), "there is a pool of this name"),
                        (("--pool=a=0",), "a pool of no bytes"),
                        (("--pool=a", "--pool=b"), "without a limit"),
                        (("--pool=a", "--target=cuda"), "one device arena")]:
        expect_refused(run(path, *out, *words), "error: --pool", part, "hint: ")
    for text in ("a=", "a=x", "a=-1", "a=1k"):
        expect_refused(run(path, *out, f"--pool={text}"), "NAME=BYTES", code=2)
    expect(not (folder / "other").exists(), "a folder was written")
