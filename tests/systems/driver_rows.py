"""Rows about the command line, the order of passes, and names."""
import re
import shutil

import numpy as np
from onnx import helper

import cases
from build_output import command
from cases import aotc, dump, expect, expect_refused, node, report, run
from model_list import build_folder

PHASES_ALWAYS = ["import", "expand-ops", "limit-operands", "infer-and-fold", "lower", "plan",
                 "emit"]


def small_net(folder, name="net"):
    """A convolution with batch normalisation, a pool, a dense layer and a softmax."""
    weights = {"w": cases.floats(8, 3, 3, 3), "s": cases.floats(8), "b": cases.floats(8),
               "m": cases.floats(8), "v": np.abs(cases.floats(8)) + 1, "d": cases.floats(8, 5)}
    nodes = [node("Conv", "x w", "c", pads=[1, 1, 1, 1]),
             node("BatchNormalization", "c s b m v", "n"), node("Relu", "n", "r"),
             node("ReduceMean", "r", "p", axes=[2, 3], keepdims=0),
             node("MatMul", "p d", "l"), node("Softmax", "l", "y")]
    return cases.save(folder, name, nodes, {"x": [1, 3, 8, 8]}, {"y": [1, 5]}, weights)


def pipeline():
    """[(name, level)] as printed."""
    return [(row["name"], row["level"]) for row in report("--print-pipeline")["pipeline"]]


def row02_library_and_command_line_write_the_same(folder):
    """Byte for byte; and the library gives the same twice in one process."""
    path = small_net(folder)
    for target in ("cpu", "cuda"):
        words = [path, "--target", target, "--disable-pass=recognize", "-o"]
        line, library = folder / f"{target}_line", folder / f"{target}_library"
        aotc(*words, line)
        command([build_folder() / "tests/compile_twice", *words, library])
        line, library = cases.bytes_of(line), cases.bytes_of(library)
        expect(set(line) == set(library), f"other files: {set(line) ^ set(library)}")
        apart = [name for name in line if line[name] != library[name]]
        expect(not apart, f"{target}: {apart} differ")


def row02_stopping_gives_the_graph_of_that_pass(folder):
    """--stop-after a pass dumps the graph as it is there."""
    path = small_net(folder)
    expect("= BatchNormalization(" in dump(path, "simplify"), "folded too early")
    expect("= BatchNormalization(" not in dump(path, "fold-scale"), "not folded")
    expect("kernel @" in dump(path, "fuse") and "arena" in dump(path, "plan"), "other dumps")


def row03_phases_run_alone_and_are_timed(folder):
    """--stop-after ends after any phase with its dump; --time-passes times each."""
    path, names = small_net(folder), [name for name, _ in pipeline()]
    for i, name in enumerate(names):
        stopped = report(path, f"--stop-after={name}", f"--dump-after={name}", "--time-passes",
                         "-O3")
        expect(list(stopped["dumps"]) == [name], f"no dump after {name}")
        expect(set(stopped["seconds"]) == set(names[:i + 1]), f"times up to {name}: {stopped}")
    expect(not (folder / "out").exists(), "a stopped compile wrote a folder")


def row03_failure_leaves_no_partial_outdir(folder):
    """A compile that fails writes nothing, and what was there stays as it was."""
    wrong = cases.save(folder, "wrong", [node("NoSuchOp", "x", "y")], {"x": [2]}, {"y": [2]})
    expect_refused(run(wrong, "-o", folder / "new"), "NoSuchOp")
    expect(not (folder / "new").exists(), "a failed compile left a folder")
    aotc(small_net(folder), "-o", folder / "old")
    before = cases.bytes_of(folder / "old")
    expect_refused(run(wrong, "-o", folder / "old"), "NoSuchOp")
    expect(cases.bytes_of(folder / "old") == before, "a failed compile changed the folder")
    left = {p.name for p in folder.iterdir()}
    expect(left == {"wrong.onnx", "net.onnx", "old"}, f"left behind: {left}")


def row04_pipeline_is_what_runs_at_each_level(folder):
    """metadata.json and the timing report name the printed passes of the level, in that order."""
    path, listed = small_net(folder), pipeline()
    for level in range(4):
        due = [name for name, least in listed if least <= level]
        timed = report(path, f"-O{level}", "--time-passes", "-o", folder / "out")["seconds"]
        ran = cases.metadata(folder / "out")["passes"]
        expect(ran == due, f"-O{level} ran {ran}, not {due}")
        expect(set(timed) >= set(due), f"-O{level} timed {sorted(timed)}")
    at_0 = [name for name, least in listed if least == 0]
    expect(at_0 == PHASES_ALWAYS, f"at -O0: {at_0}")


def row06_a_disabled_pass_leaves_the_report(folder):
    path = small_net(folder)
    for name, level in pipeline():
        done = run(path, f"--disable-pass={name}", "--time-passes", "-o", folder / "out")
        if level == 0:
            expect_refused(done, "always runs", code=2)
            continue
        expect(done.returncode == 0, done.stderr)
        timed = [line.split()[0] for line in done.stdout.splitlines() if line.endswith(" s")]
        ran = cases.metadata(folder / "out")["passes"]
        expect(name not in ran, f"{name} ran although disabled")
        expect(name == "fuse" or name not in timed, f"{name} is timed although disabled")


def row06_unknown_names_are_refused(folder):
    path = small_net(folder)
    for flag, part in {"--disable-pass=nothing": "unknown pass", "--enable-pass=x": "unknown pass",
                       "--config=no.key=1": "unknown config key", "--config=fold.cap-bytes=x":
                       "needs a number", "--config=merge.copied-parts=7": "outside",
                       "--stop-after=x": "--stop-after", "--dump-after=x": "--dump-after"}.items():
        expect_refused(run(path, flag, "-o", folder / "out"), part, code=2)
    expect(not (folder / "out").exists(), "wrong usage wrote a folder")


def row15_dumps_are_stable(folder):
    """Each phase's dump twice and from another folder: the same text."""
    path = small_net(folder)
    other = folder / "elsewhere" / path.name
    other.parent.mkdir()
    shutil.copy(path, other)
    for name, _ in pipeline():
        if name == "emit":
            continue
        for target in ("cpu", "cuda"):
            first = dump(path, name, "--target", target, "-O3")
            expect(first == dump(other, name, "--target", target, "-O3"), f"{name} differs")
            expect(str(folder) not in first and "0x" not in first, f"{name} shows paths")


def row57_lowered_programs_hold_calls_and_copies_only(folder):
    """After lowering the steps are launches of listed kernels, copies and checks."""
    for target in ("cpu", "cuda"):
        text = dump(small_net(folder), "plan", "--target", target)
        program = text[text.index("program @"):]
        kinds = set(re.findall(r"^  step (\w+)", program, re.MULTILINE))
        expect(kinds == {"launch"}, f"steps of {target}: {kinds}")
        ops = re.findall(r"= ([A-Z]\w+)\(", program)
        expect(not ops, f"graph ops after lowering: {ops}")


def row88_dims_are_given_by_flags_or_told(folder):
    """A symbolic batch compiles with --shape or --dim; without, the error names symbol and flag."""
    path = cases.save(folder, "net", [node("Relu", "x", "y")], {"x": ["batch", 4]},
                      {"y": ["batch", 4]})
    expect_refused(run(path, "-o", folder / "out"), "batch", "--dim")
    for flag in ("--shape=x=3x4", "--dim=batch=3", "--dim=x:0=3", "--shape=x=1..8x4"):
        aotc(path, flag, "-o", folder / "out")
    told = run(path, "--shape=x=3x5", "-o", folder / "out").stderr
    expect("input 'x', axis 1: the model says 4" in told, told)
    expect_refused(run(path, "--shape=z=3x4", "-o", folder / "out"), "z")


def defect08_second_results_are_compared_as_themselves(folder):
    """Each result of a node with several has its own name, type and numbers in the report."""
    x = {"x": [6, 40]}
    nodes = [node("Split", "x", "a b", axis=1), node("TopK", "b k", "values places", axis=1),
             node("Softmax", "a", "s"), node("Exp", "values", "e")]
    path = cases.save(folder, "net", nodes, x,
                      [cases.tensor("s", [6, 20]), cases.tensor("e", [6, 3]),
                       cases.tensor("places", [6, 3], 7), cases.tensor("values", [6, 3])],
                      {"k": np.array([3], np.int64)})
    for target in ("cpu", "cuda"):
        results = report("verify", path, "--target", target, "--per-node")["results"]
        names = {re.search(r"'(\w+)'", result["tensor"]).group(1) for result in results}
        expect({"a", "b", "s", "e", "places", "values"} <= names, f"compared: {names}")
        text = cases.dump(path, "plan", "--target", target)
        expect(re.search(r"output %places: i64\[6, 3\]", text), "the type of the second result")


def defect14_a_value_returned_twice_is_written_twice(folder):
    """Outputs that are one value, an input, or a constant, each in memory of its own."""
    nodes = [node("Exp", "x", "y"), node("Identity", "y", "again"), node("Identity", "x", "same"),
             node("Identity", "c", "fixed")]
    shape = [3, 5]
    path = cases.save(folder, "net", nodes, {"x": shape},
                      {"y": shape, "again": shape, "same": shape, "fixed": [5]},
                      {"c": cases.floats(5)})
    for target in ("cpu", "cuda"):
        cases.numbers_agree(path, target, folder)


def defect15_unknown_inputs_are_errors(folder):
    """Names that the model does not have are told, in bindings, shapes and dims."""
    path = small_net(folder)
    np.save(folder / "v.npy", cases.floats(8))
    for flag in (f"--bind=nobody={folder / 'v.npy'}", "--shape=nobody=1", "--dim=nobody=3",
                 "--keep-input=nobody"):
        expect_refused(run(path, flag, "-o", folder / "out"), "nobody")
