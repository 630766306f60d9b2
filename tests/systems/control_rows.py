"""Branches that the run decides: what they share, what each has for itself, and where they run."""
import numpy as np
from onnx import TensorProto, helper

import cases
from build_output import Failure
from cases import dump, expect, node
from model_list import ROOT

BOOL, INT64 = TensorProto.BOOL, TensorProto.INT64
TARGETS = ("cpu", "cuda")


def choose(name, condition, output, dims, then_nodes, else_nodes):
    """An If whose branches end in a node that gives `output` with its name of the branch."""
    branches = {}
    for key, nodes in (("then_branch", then_nodes), ("else_branch", else_nodes)):
        result = cases.tensor(nodes[-1].output[0], dims)
        branches[key] = helper.make_graph(nodes, key, [], [result])
    return helper.make_node("If", [condition], [output], name=name, **branches)


def nested(folder):
    """if (c) { if (d) exp(s) + t else neg(s) } else { cos(s) }: s is shared, t the branch's."""
    inner = choose("inner", "d", "i", [2, 8], [node("Exp", "s", "e"), node("Add", "e t", "et")],
                   [node("Neg", "s", "n")])
    outer = choose("outer", "c", "o", [2, 8], [node("Tanh", "x", "t"), inner,
                                               node("Mul", "i t", "it")], [node("Cos", "s", "k")])
    inputs = [cases.tensor("x", [2, 8]), cases.tensor("c", [], BOOL), cases.tensor("d", [], BOOL)]
    return cases.save(folder, "nested", [node("Sin", "x", "s"), outer, node("Add", "o s", "y")],
                      inputs, {"y": [2, 8]})


def expected_of_nested(x, c, d):
    s, t = np.sin(x), np.tanh(x)
    inner = np.exp(s) + t if d else -s
    return (inner * t if c else np.cos(s)) + s


def row17_what_branches_share_runs_once(folder):
    """Each node is in one step: shared ones before both branches, others in theirs."""
    path = nested(folder)
    for target in TARGETS:
        model = cases.load(path, target, folder)
        x = cases.floats(2, 8)
        for c in (False, True):
            for d in (False, True):
                inputs = {"x": x, "c": np.array(c), "d": np.array(d)}
                y = model.run(inputs, fill=0xFF)["y"]
                expect(np.allclose(y, expected_of_nested(x, c, d), atol=1e-5), f"{target} {c} {d}")
        model.close()
        steps = cases.metadata(folder / target / "out")["steps"]
        open_blocks, places = [], {}
        for step in steps:
            if step["kernel"] == "else":
                open_blocks[-1] = open_blocks[-1].replace("then", "else")
            elif step["kernel"] == "end":
                open_blocks.pop()
            elif step["kernel"] == "if":
                open_blocks.append(step["nodes"][0].split()[0] + ":then")
            else:
                for name in step["nodes"]:
                    places.setdefault(name.split()[0], []).append(tuple(open_blocks))
        outer, inner = ("outer:then",), ("outer:then", "inner:then")
        wanted = {"n_s": [()], "n_k": [("outer:else",)], "n_t": [outer], "n_it": [outer],
                  "n_e": [inner], "n_et": [inner], "n_n": [("outer:then", "inner:else")],
                  "n_y": [()]}
        expect(places == wanted, f"{target}: {places}")


def row17_branches_nest_deeply(folder):
    """If in If in If ...: each adds a number, as long as the rest is positive."""
    depth, one, zero = 20, np.float32(1), np.float32(0)
    nodes = [node("Neg", f"x{depth}", f"r{depth}")]
    for level in reversed(range(depth)):
        inner = [node("Sub", f"x{level} one", f"x{level + 1}"),
                 node("Greater", f"x{level + 1} zero", f"c{level + 1}"), *nodes]
        if level + 1 < depth:
            inner.append(node("Add", f"r{level + 1} one", f"s{level + 1}"))
        other = [node("Identity", f"x{level}", f"e{level}")]
        nodes = [choose(f"if{level}", f"c{level}", f"r{level}", [], inner, other)]
    start = [node("Identity", "x", "x0"), node("Greater", "x0 zero", "c0")]
    path = cases.save(folder, "deep", [*start, *nodes], {"x": []}, {"r0": []},
                      {"one": one, "zero": zero})
    for target in TARGETS:
        model = cases.load(path, target, folder)
        for x in (-1.5, 0.5, 3.25, 19.5, 40.0):
            inputs = {"x": np.array(x, np.float32)}
            expected, noise = cases.reference.expected_outputs(path, inputs)
            cases.compare(model.run(inputs, fill=0xFF), expected, noise)
        model.close()


def row14_a_branch_that_is_not_taken_does_not_run(folder):
    """An index out of range is an error of the run where its branch is taken, and only there."""
    branch = choose("pick", "c", "p", [3], [node("Gather", "x i", "g"), node("Neg", "g", "m")],
                    [node("Identity", "z", "copy")])
    inputs = [cases.tensor("x", [8]), cases.tensor("z", [3]), cases.tensor("c", [], BOOL),
              cases.tensor("i", [3], INT64)]
    path = cases.save(folder, "lazy", [branch], inputs, {"p": [3]})
    for target in TARGETS:
        model = cases.load(path, target, folder)
        arrays = {"x": cases.floats(8), "z": cases.floats(3)}
        for taken in (True, False):
            for index in (7, 8):
                arrays |= {"c": np.array(taken), "i": np.array([0, index, -1])}
                try:
                    p = model.run(arrays, fill=0xFF)["p"]
                except Failure:
                    expect(taken and index == 8, f"{target} {taken} {index}: refused")
                    continue
                wanted = -arrays["x"][arrays["i"]] if taken else arrays["z"]
                expect(np.array_equal(p, wanted), f"{target} {taken} {index}: {p}, not {wanted}")
                expect(not (taken and index == 8), f"{target}: the index was not checked")
        model.close()


def row14_a_failed_check_ends_a_loop(folder):
    """while (w != 9) w = t[w], where an index out of range would go on for ever."""
    body = helper.make_graph(
        [node("Gather", "t v", "w"), node("Equal", "w nine", "e"), node("Not", "e", "q")], "body",
        [cases.tensor("i", [], INT64), cases.tensor("p", [], BOOL), cases.tensor("v", [], INT64)],
        [cases.tensor("q", [], BOOL), cases.tensor("w", [], INT64)])
    loop = helper.make_node("Loop", ["", "yes", "s"], ["y"], name="search", body=body)
    path = cases.save(folder, "search", [loop],
                      [cases.tensor("t", [3], INT64), cases.tensor("s", [], INT64)],
                      [cases.tensor("y", [], INT64)], {"nine": np.array(9), "yes": np.array(True)})
    for target in TARGETS:
        model = cases.load(path, target, folder)
        for workers in (1, 2) if model.has_threads else (1,):
            good = {"t": np.array([2, 9, 1]), "s": np.array(0)}
            y = model.run(good, workers=workers)["y"]
            expect(y == 9, f"{target}: {y}")
            try:
                model.run({**good, "t": np.array([2, 9, 5])}, workers=workers)
                expect(False, f"{target}: the index was not checked")
            except Failure as failure:
                expect("status" in str(failure), str(failure))
        model.close()


def row17_a_decided_if_keeps_one_branch(folder):
    branches = [[node("Exp", "s", "then")], [node("Neg", "s", "else")]]
    nodes = [node("Sin", "x", "s"), choose("choose", "c", "t", [2, 8], *branches),
             node("Add", "t s", "y")]
    for taken, other in ((True, "Neg"), (False, "Exp")):
        path = cases.save(folder, f"takes_{taken}", nodes, {"x": [2, 8]}, {"y": [2, 8]},
                          {"c": np.array(taken)})
        text = dump(path, "eliminate-dead")
        expect(text.count("Sin(") == 1 and other not in text, text)
        cases.numbers_agree(path, "cpu", folder)


def keys_of(value):
    if isinstance(value, dict):
        return set(value).union(*(keys_of(inner) for inner in value.values()))
    return set().union(*map(keys_of, value)) if isinstance(value, list) else set()


def row67_keys_of_metadata_are_documented(folder):
    """docs/output-format.md names each key, but for those that the model or a file names itself."""
    page = (ROOT / "docs" / "output-format.md").read_text()
    path = nested(folder)
    for target in TARGETS:
        cases.aotc(path, "--target", target, "-o", folder / target)
        metadata = cases.metadata(folder / target)
        unknown = {key for key in keys_of(metadata) if f"`{key}`" not in page}
        expect(unknown <= {"ai.onnx", *metadata["files"]}, f"{target}: {unknown}")


def row56_flags_cross_to_the_host_by_copies(folder):
    """Kernels run on the device and the branches on the host, which waits at the copies only."""
    path = nested(folder)
    text = dump(path, "plan", "--target", "cuda")
    for flag in ("c", "d"):
        expect(f"host %{flag}_on_host: bool[] bytes 1" in text, text)
        expect(f"copy(%{flag}, %{flag}_on_host)" in text and f"if(%{flag}_on_host)" in text, text)
    launches = [line for line in text.splitlines() if line.strip().startswith("step launch")]
    expect(launches and not any("_on_host" in line for line in launches), text)
    expect("host %" not in dump(path, "plan", "--target", "cpu"), "the CPU is its own host")
    cases.aotc(path, "--target", "cuda", "-o", folder / "out")
    steps = cases.metadata(folder / "out")["steps"]
    waits = [step["kernel"] for step in steps if step.get("waits")]
    expect(waits == ["copy", "copy"], waits)
    expect("NESTED_CAPTURABLE 0" in (folder / "out" / "nested.h").read_text(), "it waits")


def row56_a_flag_crosses_once(folder):
    """Two branches, the second in one of another flag, and in it again, ask for one flag."""
    pair = [[node("Neg", "x", "then")], [node("Exp", "x", "else")]]
    inner = choose("again", "c", "u", [2, 8], *pair)
    outer = [[inner, node("Sin", "u", "then2")], [node("Cos", "x", "else2")]]
    nodes = [node("ReduceSum", "x", "sum", keepdims=0), node("Greater", "sum x0", "c"),
             choose("first", "c", "a", [2, 8], *pair),
             node("ReduceMin", "x", "least", keepdims=0), node("Greater", "least x0", "d"),
             choose("second", "d", "b", [2, 8], *outer), node("Add", "a b", "y")]
    path = cases.save(folder, "flags", nodes, {"x": [2, 8]}, {"y": [2, 8]},
                      {"x0": np.array(0, np.float32)})
    text = dump(path, "plan", "--target", "cuda")
    expect(text.count("if(%c_on_host)") == 2 and text.count("if(%d_on_host)") == 1, text)
    expect(text.count("copy(%c, ") == 1 and text.count("copy(%d, ") == 1, text)
    cases.numbers_agree(path, "cuda", folder)


def row56_checks_at_the_end_wait_for_nothing(folder):
    """A copy to memory that is not pinned would wait, whatever its name says."""
    table, ids = cases.tensor("table", [5, 3]), cases.tensor("ids", [4], INT64)
    path = cases.save(folder, "lookup", [node("Gather", "table ids", "y")], [table, ids],
                      {"y": [4, 3]})
    cases.load(path, "cuda", folder).close()
    header, host, device = ((folder / "cuda/out" / name).read_text()
                            for name in ("lookup.h", "lookup.cpp", "lookup_device.cu"))
    expect("LOOKUP_CAPTURABLE 1" in header and "device_copy(checks + 0" in host, host)
    expect("cudaMallocHost(" in device, device)
