"""Rows about what is written: sizes, names, weights, kernels, and folders that are moved."""
import re
import shutil

import numpy as np
from onnx import helper

import cases
import symbols
from build_output import compile_objects
from cases import aotc, dump, expect, node, run
from driver_rows import small_net

TARGETS = ("cpu", "cuda")


def outdir_of(path, target, folder, *words):
    aotc(path, "--target", target, "-o", folder, *words)
    return folder


def row18_what_no_output_needs_costs_nothing(folder):
    """Functions, nodes, initializers and inputs without influence add no byte to the sources."""
    weights = {"w": cases.floats(8, 8)}
    nodes = [node("MatMul", "x w", "y")]
    lean = cases.save(folder, "net", nodes, {"x": [2, 8]}, {"y": [2, 8]}, weights)
    unused = helper.make_function("local", "Unused", ["a"], ["b"], [node("Exp", "a", "b")],
                                  [helper.make_opsetid("", 17)])
    (folder / "fat").mkdir()
    fat = cases.save(folder / "fat", "net", [*nodes, node("Exp", "y", "dead"),
                                             node("MatMul", "dead v", "deader")],
                     {"x": [2, 8]}, {"y": [2, 8]}, {**weights, "v": cases.floats(8, 500),
                                                     "u": cases.floats(900)}, functions=[unused])
    for target in TARGETS:
        one = cases.bytes_of(outdir_of(lean, target, folder / "one"))
        two = cases.bytes_of(outdir_of(fat, target, folder / "two"))
        expect(set(one) == set(two), f"files differ: {set(one) ^ set(two)}")
        apart = {name for name in one if one[name] != two[name]} - {"metadata.json"}
        for name in apart:  # the model's hash is stated in a comment
            lines = zip(one[name].splitlines(), two[name].splitlines())
            changed = [pair for pair in lines if pair[0] != pair[1]]
            expect(all(re.search(rb"[0-9a-f]{64}", a) for a, _ in changed), f"{name}: {changed}")


def row18_an_input_of_no_influence_is_told(folder):
    path = cases.save(folder, "net", [node("Exp", "x", "y"), node("Shape", "z", "s")],
                      {"x": [2], "z": [3], "v": [4]}, {"y": [2]})
    done = run(path, "-o", folder / "out")
    expect(done.returncode == 0, done.stderr)
    for name in ("z", "v"):
        expect(f"input '{name}'" in done.stderr and "influence" in done.stderr, done.stderr)
    expect("'x'" not in done.stderr, done.stderr)


def twin_branches(first, second):
    """Two branches over one input, with their own copies of weights and activations."""
    w, b = cases.floats(16, 16), cases.floats(16)
    nodes, weights = [], {}
    for name in (first, second):
        weights.update({f"w{name}": w, f"b{name}": b})
        nodes += [node("MatMul", f"x w{name}", f"m{name}"), node("Add", f"m{name} b{name}",
                                                                 f"a{name}"),
                  node("Softmax", f"a{name}", f"s{name}")]
    return nodes, weights


def row23_a_duplicated_branch_costs_nothing(folder):
    """Half the kernels remain, and equal initializers are stored once."""
    nodes, weights = twin_branches("0", "1")
    single = cases.save(folder, "single", nodes[:3], {"x": [4, 16]}, {"s0": [4, 16]},
                        {"w0": weights["w0"], "b0": weights["b0"]})
    double = cases.save(folder, "double", [*nodes, node("Add", "s0 s1", "y")], {"x": [4, 16]},
                        {"y": [4, 16]}, weights)
    for target in TARGETS:
        one = cases.metadata(outdir_of(single, target, folder / "one"))
        two = cases.metadata(outdir_of(double, target, folder / "two"))
        expect(two["weights"]["bytes"] == one["weights"]["bytes"], "weights are stored twice")
        expect(len(two["steps"]) <= len(one["steps"]) + 1, f"{len(two['steps'])} steps")


def row23_equal_initializers_are_stored_once(folder):
    """Also where the nodes that read them differ."""
    table = cases.floats(64, 16)
    nodes = [node("Mul", "x a", "p"), node("Exp", "p", "e"), node("Sub", "e b", "y")]
    path = cases.save(folder, "net", nodes, {"x": [64, 16]}, {"y": [64, 16]},
                      {"a": table, "b": table.copy()})
    for target in TARGETS:
        stored = cases.metadata(outdir_of(path, target, folder / target))["weights"]["bytes"]
        expect(stored == table.nbytes, f"{stored} bytes of weights, not {table.nbytes}")


def row58_equal_kernels_are_written_once(folder):
    """Layers of equal shapes share a kernel; another attribute makes another kernel."""
    def layers(count, last_alpha):
        nodes = []
        for i in range(count):
            alpha = last_alpha if i == count - 1 else 0.25
            nodes += [node("Softmax", f"x{i}", f"s{i}"),
                      node("LeakyRelu", f"s{i}", f"x{i + 1}", alpha=alpha)]
        return nodes
    for target in TARGETS:
        counts = []
        for alpha in (0.25, 0.5):
            path = cases.save(folder, f"net{alpha}", layers(6, alpha), {"x0": [4, 40]},
                              {"x6": [4, 40]})
            data = cases.metadata(outdir_of(path, target, folder / f"{target}{alpha}"))
            expect(len(data["steps"]) == 6, f"{len(data['steps'])} steps")
            counts.append(len({kernel["name"] for kernel in data["kernels"]}))
        expect(counts == [1, 2], f"kernels of {target}: {counts}")


ODD_NAMES = ["", "int", "a b/c:0", "/layer.1/Conv", "ünïcödé", "9", "x" * 300, "main", "*/ //",
             "a\nb", "printf", "_", "__x__", "right\u202eto left", "\rcr", "/* ??/", "lost\\ "]


def row42_equal_kernels_have_equal_hashes(folder):
    """Of two models that differ in names and in one attribute: that kernel's hash alone differs."""
    def hashes(prefix, alpha, target):
        x, s, y = (prefix + name for name in "xsy")
        nodes = [node("Softmax", x, s), node("LeakyRelu", s, prefix + "l", alpha=0.5),
                 node("ReduceMax", prefix + "l", prefix + "m", axes=[0], keepdims=0),
                 node("LeakyRelu", prefix + "m", y, alpha=alpha)]
        path = cases.save(folder, f"{prefix}net", nodes, {x: [9, 70]}, {y: [70]})
        outdir = outdir_of(path, target, folder / f"{prefix}{target}", "--disable-pass=fuse")
        return [kernel["hash"] for kernel in cases.metadata(outdir)["kernels"]]
    for target in TARGETS:
        ours, same, other = (hashes("a", 0.25, target), hashes("b_", 0.25, target),
                             hashes("c", 0.125, target))
        expect(len(set(ours)) == len(ours) > 1, f"kernels share a hash: {ours}")
        expect(ours == same, f"{ours}, and with other names {same}")
        expect(sum(a != b for a, b in zip(ours, other)) == 1, f"{ours}, {other}")


def row60_kernel_names_suit_every_node_name(folder):
    """Identifiers of at most 63 characters without the prefix, each once, stable, that compile."""
    nodes, value = [], "x"
    for i, name in enumerate(ODD_NAMES):
        nodes.append(helper.make_node("Softmax", [value], [f"v{i}"], name=name, axis=i % 2))
        value = f"v{i}"
    path = cases.save(folder, "net", nodes, {"x": [4, 5]}, {value: [4, 5]})
    for target in TARGETS:
        outdir = outdir_of(path, target, folder / target)
        names = [kernel["name"] for kernel in cases.metadata(outdir)["kernels"]]
        expect(len(set(names)) == len(names), f"names twice: {names}")
        for name in names:
            expect(re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,62}", name), f"'{name}' of {target}")
        compile_objects(outdir, target, folder / f"{target}_objects",
                        compiler=("g++", "-std=c++17", "-O0", "-Wall", "-Wextra", "-Werror"))
        again = cases.metadata(outdir_of(path, target, folder / f"{target}_again"))
        expect(names == [kernel["name"] for kernel in again["kernels"]], "names change")


def row60_values_may_be_named_like_variables(folder):
    """Rows of 40 leave a rest to 16 lanes, but not to 8: kernels for one machine may have a loop
    over r1, and those for another one none. The temps of a softmax are called acc and t."""
    nodes = [node("Sub", "x r1", "i1"), node("ReduceLogSumExp", "i1", "acc", axes=[1]),
             node("Sub", "i1 acc", "aotc_load"), node("Softmax", "aotc_load", "lane")]
    rows = {"x": ["t_value", 40], "r1": [40]}
    path = cases.save(folder, "aotc", nodes, rows, {"lane": ["t_value", 40]})
    for target in TARGETS:
        cases.numbers_agree(path, target, folder, {"t_value": "1..40"}, {"t_value": 33})


def row60_long_names_give_short_identifiers(folder):
    """Names that join those of scopes and nodes, and end alike; comments hold them whole."""
    scope = "StatefulPartitionedCall/model/" * 4
    first, second, last = (f"{scope}{i};{scope}dense/MatMul" for i in range(3))
    nodes = [node("Softmax", "x", first), node("Softmax", first, second, axis=0),
             node("Softmax", second, last)]
    path = cases.save(folder, "net", nodes, {"x": [5, 7]}, {last: [5, 7]})
    for target in TARGETS:
        cases.numbers_agree(path, target, folder, {}, {})
        for source in [*folder.rglob("net_kernels_*.cu"), *folder.rglob("net_kernels_*.cpp")]:
            code = re.sub(r"//.*", "", source.read_text())
            longest = max(re.findall(r"\w+", code), key=len)
            expect(len(longest) <= 80, f"{source}: {longest}")


def row80_large_constants_are_no_literals(folder):
    """They lie in the weights, once, and no source holds more than a few numbers of them."""
    table = cases.floats(40, 40)
    path = cases.save(folder, "net", [node("Add", "x t", "a"), node("Softmax", "a", "s"),
                                      node("Mul", "s t", "y")], {"x": [40, 40]}, {"y": [40, 40]},
                      {"t": table})
    for target in TARGETS:
        outdir = outdir_of(path, target, folder / target)
        expect(cases.metadata(outdir)["weights"]["bytes"] == table.nbytes, "stored more than once")
        for source in [*outdir.glob("*.cu"), *outdir.glob("*.cpp"), *outdir.glob("*.h")]:
            text = source.read_text()
            found = sum(f"{value:.5g}"[:7] in text for value in table.flat[:200].tolist())
            expect(found < 5, f"{source.name} holds {found} of 200 constants")


def row81_an_outdir_can_be_moved_and_built_alone(folder):
    """Moved to another place, every file compiles with nothing but -I of that place."""
    path = small_net(folder)
    for target in TARGETS:
        outdir_of(path, target, folder / "out", "--example")
        moved = folder / "some where" / target
        moved.parent.mkdir(exist_ok=True)
        shutil.move(folder / "out", moved)
        text = b"".join(cases.bytes_of(moved).values())
        expect(str(folder).encode() not in text, "paths of this machine are in the output")
        objects = compile_objects(moved, target, folder / f"{target}_objects",
                                  compiler=("g++", "-std=c++17", "-O0"))
        expect(len(objects) > 3, "too few objects")


def row46_run_is_straight_calls(folder):
    """What run reaches allocates nothing, looks nothing up, and reads no file, on both targets."""
    path = small_net(folder)
    for target, entry in (("cpu", "net_run"), ("cuda", "net_enqueue")):
        outdir = outdir_of(path, target, folder / target)
        if target == "cpu":
            objects = compile_objects(outdir, target, folder / f"{target}_objects")
            reached = symbols.verify_run(symbols.read(objects), entry)
            expect(len(reached) > 2, f"{entry} reaches {reached}")
        host = (outdir / "net.cpp").read_text()
        steps = len(cases.metadata(outdir)["steps"])
        calls = len(re.findall(r"= net_\w+\(|net_\w+_v?\w*\(", host))
        expect(calls >= steps, f"{calls} calls of {steps} steps")
        for word in ("malloc", "json", "fopen", "strcmp", "new "):
            expect(word not in host, f"{word} in the host program of {target}")


def row47_weights_carry_their_header(folder):
    """Magic, version, size and hash; aligned to 64; loaded from .incbin, an array or a file."""
    path = small_net(folder)
    data = {}
    for form in ("incbin", "array", "file"):
        outdir = outdir_of(path, "cpu", folder / form, f"--weights={form}")
        data[form] = cases.metadata(outdir)
    blob = (folder / "file" / "net_weights.bin").read_bytes()
    expect(blob == (folder / "incbin" / "net_weights.bin").read_bytes(), "blobs differ")
    expect(len(blob) >= data["file"]["weights"]["bytes"] + 64, "no header")
    expect(".balign 64" in (folder / "incbin" / "net_weights.S").read_text()
           or ".p2align 6" in (folder / "incbin" / "net_weights.S").read_text(), "alignment")
    due = {"aotc", "model", "target", "flags", "files", "inputs", "outputs", "arena", "weights",
           "kernels", "passes"}
    expect(due <= set(data["incbin"]), f"metadata.json lacks {due - set(data['incbin'])}")


def row36_a_concat_of_1000_inputs(folder):
    """Kernel parameters are limited to 4 KiB on CUDA; every part arrives, on both targets."""
    count = 1000
    names = [f"x{i}" for i in range(count)]
    join = helper.make_node("Concat", names, ["y"], axis=1, name="join")
    path = cases.save(folder, "many", [join], {name: [2, 1 + i % 3] for i, name in
                                               enumerate(names)},
                      {"y": [2, sum(1 + i % 3 for i in range(count))]})
    for target in TARGETS:
        cases.numbers_agree(path, target, folder)
        outdir = folder / target / "out"
        for source in outdir.glob("*.cu"):
            for params in re.findall(r"__global__ [^{]*?\(([^{]*)\) \{", source.read_text()):
                expect(8 * params.count(",") < 4000, "more parameters than a kernel may have")


def row36_a_concat_of_55_groups(folder):
    """Choices between many parts do not nest so deep that clang-format gives up: a convolution in
    groups of one channel, whose parts the blocks of channels of the next one gather."""
    rng = np.random.default_rng(36)
    groups = helper.make_node("Conv", ["x", "w"], ["g"], group=55, name="groups")
    nodes = [groups, node("Sigmoid", "g", "s"), node("Conv", "s last", "y")]
    weights = {"w": rng.standard_normal((55, 3, 3, 1, 1), np.float32) / 3,
               "last": rng.standard_normal((24, 55, 1, 1, 1), np.float32) / 8}
    path = cases.save(folder, "many", nodes, {"x": [2, 165, 6, 4, 5]}, {"y": [2, 24, 4, 4, 5]},
                      weights)
    for target in TARGETS:
        cases.numbers_agree(path, target, folder)


def index_widths(outdir):
    """Types that the kernels of an outdir count in, on which metadata.json and sources agree."""
    kernels = "".join(p.read_text() for p in outdir.glob("*_kernels*"))
    found = re.findall(r"\bfor \((\w+) \w+ = |\bconst (\w+) (?:task|thread) = ", kernels)
    names = {"int32_t": "i32", "int64_t": "i64"}
    counted = {names.get(first or second, first or second) for first, second in found}
    stated = {variant.get("index", "i64") for kernel in cases.metadata(outdir)["kernels"]
              for variant in kernel["variants"]}
    expect(counted == stated, f"{counted} in the sources, {stated} in metadata.json")
    return stated


def row65_indices_suit_the_size(folder):
    """CUDA counts in 32 bits where all indices fit for all values of the symbols, else in 64; a
    CPU, to which they cost the same, in 64 always. Both kinds compile without a warning."""
    turn = [node("Transpose", "x", "t", perm=[1, 0]), node("Mul", "t two", "y")]
    weights = {"two": np.float32(2)}
    compiler = ("g++", "-std=c++17", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror")
    for name, rows, columns, due in (("small", 70, 40, "i32"), ("huge", 70000, 40000, "i64")):
        path = cases.save(folder, name, turn, {"x": [rows, columns]}, {"y": [columns, rows]},
                          weights)
        for target in TARGETS:
            outdir = outdir_of(path, target, folder / target / name)
            expect(index_widths(outdir) == {due if target == "cuda" else "i64"}, f"{name} {target}")
            compile_objects(outdir, target, folder / "objects" / target / name, compiler=compiler)
    cases.numbers_agree(folder / "small.onnx", "cuda", folder / "small_run")
    path = cases.save(folder, "net", turn, {"x": ["n", 40000]}, {"y": [40000, "n"]}, weights)
    for most, due in ((50000, "i32"), (60000, "i64")):
        outdir = outdir_of(path, "cuda", folder / f"net_{most}", "--dim", f"n=1..{most}")
        expect(index_widths(outdir) == {due}, f"n to {most}: {index_widths(outdir)}")


def row65_products_within_an_index_fit(folder):
    """Not only the index has to fit, also what it is computed from: i * 50021 / 60013."""
    for size, result, due in ((40009, 50021, "i32"), (50021, 60013, "i64")):
        resize = node("Resize", "x roi scales sizes", "y", mode="nearest",
                      coordinate_transformation_mode="asymmetric", nearest_mode="floor")
        nothing = np.zeros(0, np.float32)
        path = cases.save(folder, f"to_{result}", [resize], {"x": [1, size]}, {"y": [1, result]},
                          {"roi": nothing, "scales": nothing, "sizes": np.array([1, result])})
        model = cases.load(path, "cuda", folder / str(result))
        x = cases.floats(1, size)
        y = model.run({"x": x}, fill=0xFF)["y"]
        model.close()
        expect(np.array_equal(y, x[:, np.arange(result) * size // result]), f"{size} to {result}")
        found = index_widths(folder / str(result) / "cuda" / "out")
        expect(found == {due}, f"{size} to {result}: {found}")


def row31_forms_of_one_idea_give_one_program(folder):
    """Gemm, MatMul with Add, and old opsets' forms: the same kernels."""
    w, b = cases.floats(16, 8), cases.floats(8)
    def kernels(name, nodes, weights, opset=17, inputs=None):
        inputs = inputs or {"x": [4, 16]}
        path = cases.save(folder, name, nodes, inputs, {"y": [4, 8]}, weights, opset)
        text = dump(path, "plan")
        bodies = re.findall(r"^    %.* = .*$", text, re.MULTILINE)
        numbers = {}

        def renamed(match):  # axes in order of their use within a stage
            return f"i{numbers.setdefault(match.group(0), len(numbers))}"
        lines = []
        for line in bodies:
            numbers.clear()
            lines.append(re.sub(r"\b[ir]\d+\b", renamed, re.sub(r"%\w+", "%", line)))
        return lines
    gemm = kernels("gemm", [node("Gemm", "x w b", "y")], {"w": w, "b": b})
    parts = kernels("parts", [node("MatMul", "x w", "m"), node("Add", "m b", "y")],
                    {"w": w, "b": b})
    expect(gemm == parts, f"{gemm}\n{parts}")
    old = kernels("old", [node("Clip", "x", "c", min=0.0, max=6.0),
                          node("MatMul", "c w", "y")], {"w": w}, opset=7)
    new = kernels("new", [node("Clip", "x lo hi", "c"), node("MatMul", "c w", "y")],
                  {"w": w, "lo": np.float32(0), "hi": np.float32(6)})
    expect(old == new, f"{old}\n{new}")
    minus = kernels("minus", [node("MatMul", "x w", "m"), node("Sub", "m b", "y")],
                    {"w": w, "b": -b})
    expect(minus == parts, f"Sub of a constant: {minus}\n{parts}")
