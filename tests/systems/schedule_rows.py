"""Rows about the choice among schedules."""
import json

import numpy as np
from onnx import TensorProto

import cases
from cases import aotc, expect, floats, node, run

FLAGS = {"cpu": ["--cpu=x86-64"], "cuda": []}


def many_schedules(folder):
    """Convolutions, normalised rows, rows times rows, a vector times a matrix, a transpose."""
    weights = {"w": floats(32, 16, 3, 3), "d": floats(32, 1, 3, 3), "g": floats(32, 24),
               "two": floats(1)}
    nodes = [node("Conv", "x w", "c", pads=[1, 1, 1, 1]),
             node("Conv", "c d", "e", group=32, pads=[1, 1, 1, 1]),
             node("GlobalAveragePool", "e", "p"), node("Flatten", "p", "f"),
             node("MatMul", "f g", "v"),
             node("MatMul", "q k", "s"), node("Softmax", "s", "a"),
             node("Transpose", "q", "t", perm=[0, 2, 1]), node("Mul", "t t", "u"),
             node("Sigmoid", "q", "i")]
    return cases.save(folder, "net", nodes,
                      {"x": [1, 16, 12, 12], "q": [2, 40, 36], "k": [2, 36, 20]},
                      {"v": [1, 24], "a": [2, 40, 20], "u": [2, 36, 40], "i": [2, 40, 36]},
                      weights)


def chosen(path, target, folder, *words):
    """The schedules of the kernels, but for plain loops."""
    aotc(path, "--target", target, "-o", folder, *FLAGS[target], *words)
    found = {kernel["realisation"] for kernel in cases.metadata(folder)["kernels"]}
    return found - {"loops", "vector_loops"}


def row62_each_schedule_can_be_forbidden(folder):
    """Without one its kernels take the next that applies; without all, loops: numbers stay."""
    path = many_schedules(folder)
    rows = cases.report("--print-pipeline")["schedules"]
    for target, least in (("cpu", 3), ("cuda", 5)):
        known = [row["name"] for row in rows if target in row["targets"].split()]
        first = chosen(path, target, folder / f"{target}_all")
        expect(len(first) >= least and first <= set(known), f"{target} chose {sorted(first)}")
        for name in sorted(first):
            flag = f"--disable-schedule={name}"
            others = chosen(path, target, folder / f"{target}_{name}", flag)
            expect(name not in others, f"{name} is there in spite of {flag}")
        flags = [*FLAGS[target], *(f"--disable-schedule={name}" for name in known)]
        cases.numbers_agree(path, target, folder, flags=flags)
        expect(not chosen(path, target, folder / f"{target}_none", *flags[len(FLAGS[target]):]),
               "all are forbidden, some are there")


def row62_unknown_schedules_are_refused(folder):
    path = many_schedules(folder)
    cases.expect_refused(run(path, "-o", folder / "out", "--disable-schedule=fast"),
                         "unknown schedule 'fast'", "contract_tile", code=2)


def row62_tensor_cores_of_some_gpus_are_a_variant(folder):
    """Compiled for GPUs with and without, a kernel is there in both ways; the device decides."""
    half = TensorProto.FLOAT16
    weights = {"w": cases.floats(64, 48).astype(np.float16)}
    path = cases.save(folder, "half", [node("MatMul", "x w", "y")],
                      [cases.tensor("x", [32, 64], half)], [cases.tensor("y", [32, 48], half)],
                      weights)
    flags = ["--target=cuda", "--arch=sm_75,sm_80"]
    aotc(path, "-o", folder / "out", *flags)
    variants = cases.metadata(folder / "out")["kernels"][0]["variants"]
    expect([(v["feature"], v["realisation"]) for v in variants] ==
           [("sm_80", "mma_tile"), ("", "matmul_tile")], f"the variants are {variants}")
    for capability in (75, 90):
        aotc("verify", path, *flags, f"--cc=g++ -DAOTC_CUDA_EMULATE_CAPABILITY={capability}")


def row62_a_record_is_taken_in_place_of_the_choice(folder):
    """--schedules: the first record with a kernel's anchor; others are notes; metadata keeps it."""
    path = many_schedules(folder)
    listed = cases.report("schedules", path, "--cpu=x86-64-v3")["kernels"]
    kernel = next(k for k in listed if "by contract_tile(" in k["chosen"])
    other = next(c for c in kernel["candidates"] if c["schedule"] != kernel["chosen"])
    record = {"anchor": kernel["anchor"], "limits": "x86-64-v3", "compiler": "*",
              "schedule": other["record"], "seconds": None}
    records = folder / "records"
    lines = [record, record | {"anchor": "of another model"}, record | {"compiler": "icc 9"}]
    records.write_text("".join(json.dumps(line) + "\n" for line in lines))
    flags = ["--cpu=x86-64-v3", f"--schedules={records}"]
    printed = run(path, "-o", folder / "out", *flags).stderr
    for note in ("record 2 of --schedules: no kernel has its anchor",
                 "record 3 of --schedules: it is for icc 9"):
        expect(note in printed, f"'{note}' is not in {printed}")
    data = cases.metadata(folder / "out")
    taken = [k for k in data["kernels"] if k["name"] == kernel["kernel"]]
    expect([k["schedule"] for k in taken] == [other["schedule"]], f"the kernel has {taken}")
    expect(data["records"] == [record], f"metadata.json keeps {data['records']}")
    aotc("verify", path, *flags)
    records.unlink()
    aotc("check", folder / "out", path)
    records.write_text("no record")
    cases.expect_refused(run(path, "-o", folder / "out", *flags), "line 1 is no record", "hint:")


def row62_limits_of_a_machine_come_from_a_file(folder):
    """What --limits says is kept in metadata.json, where `aotc check` finds it."""
    path = many_schedules(folder)
    limits = folder / "limits.json"
    limits.write_text('{"cpu": {"cores": 2, "fma_per_second": {"x86-64": 5e9}}}')
    aotc(path, "-o", folder / "out", "--cpu=x86-64", f"--limits={limits}")
    data = cases.metadata(folder / "out")
    expect(data["limits"] == {"cpu": {"cores": 2, "fma_per_second": {"x86-64": 5e9}}},
           f"metadata.json keeps {data['limits']}")
    expect("limits" not in " ".join(data["flags"]), f"a path is among {data['flags']}")
    limits.unlink()
    aotc("check", folder / "out", path)
    limits.write_text('{"cpu": {"coars": 2}}')
    cases.expect_refused(run(path, "-o", folder / "out", f"--limits={limits}"),
                         "unknown key 'cpu.coars'", "hint: known are")
