#!/usr/bin/env python3
"""Models compiled with --profile, on the CPU and on emulated CUDA: who asks is told of every step
of the run, in order, once a round where it stands in a loop, and of each worker; the numbers are
those of a run that nobody watches. Without the flag, no byte of the output speaks of it.

Exit status 0: all holds.
"""
import ctypes as C
import json
import pathlib
import sys

import numpy as np
import onnx
import onnx.parser

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "models"))
import build_output  # noqa: E402
import model_list  # noqa: E402
from build_output import Failure  # noqa: E402
from model_table import CompiledModel, Run  # noqa: E402
from small_net import require  # noqa: E402

COMPILER = "g++", "-std=c++17", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror"
CONTROL = {"if", "else", "loop", "end"}
HOST_ONLY = {"sizes", "set_sizes"}  # nothing of them is queued on a stream
EVENTS = 256  # steps that a CUDA model marks before it tells of them
HEADER = '<ir_version: 10, opset_import: ["" : 21]>\n'
NETS = {
    "straight": """straight (float[n, 64] profile, float[64, 64] w) => (float[n, 64] y) {
      a = MatMul (profile, w)
      b = Softmax <axis = -1> (a)
      c = MatMul (b, w)
      y = Softmax <axis = 0> (c)
    }""",
    "rounds": """rounds (int64 trips, float[4, 4] x) => (float[4, 4] y) {
      yes = Constant <value = bool {1}> ()
      y = Loop (trips, yes, x) <body = body (int64 i, bool cond, float[4, 4] s)
          => (bool more, float[4, 4] t) {
        two = Constant <value = int64 {2}> ()
        zero = Constant <value = int64 {0}> ()
        rest = Mod (i, two)
        even = Equal (rest, zero)
        more = Identity (cond)
        t = If (even) <then_branch = one () => (float[4, 4] p) { p = MatMul (s, s) },
                       else_branch = other () => (float[4, 4] q) { q = Softmax (s) }>
      }>
    }""",
    "sizes": """sizes (float[12] x) => (float[k] y) {
      found = NonZero (x)
      rows = Transpose (found)
      y = GatherND (x, rows)
    }""",
    "named": """named (float[2] x) => (float[2] y) {
      run_profiled = Softmax (x)
      device_event_time = Softmax (run_profiled)
      y = Softmax (device_event_time)
    }""",
    "alone": """alone () => (float[3] y) {
      y = Constant <value = float[3] {1.0, 2.0, 3.0}> ()
    }""",
}
SIZES = {"straight": {"n": "1..9"}}


class Profile(C.Structure):
    """aotc_profile, which counts calls of its clock as time."""
    NOW = C.CFUNCTYPE(C.c_uint64, C.c_void_p)
    STEP = C.CFUNCTYPE(None, C.c_void_p, C.c_int32, C.c_int32, C.c_uint64, C.c_uint64)
    _fields_ = [("context", C.c_void_p), ("now", NOW), ("step", STEP)]

    def __init__(self):
        self.time, self.told = 0, []  # (step, worker, begin, end)
        super().__init__(4711, self.NOW(self.tick), self.STEP(self.tell))

    def tick(self, context):
        require(context == 4711, "the context of the clock")
        self.time += 1
        return self.time

    def tell(self, context, *told):
        require(context == 4711, "the context of a step")
        self.told.append(told)


def chain(count):
    """More steps than a CUDA model has events for."""
    lines = [f"  t{i + 1} = Softmax <axis = {i % 2}> (t{i})" for i in range(count)]
    return "\n".join(["chain (float[3, 5] t0) => (float[3, 5] t%d) {" % count, *lines, "}"])


def arrays_of(name):
    rng = np.random.default_rng(2)
    return {"straight": {"profile": rng.standard_normal((7, 64)).astype("f4"),
                         "w": rng.standard_normal((64, 64)).astype("f4")},
            "rounds": {"trips": np.array(5), "x": np.eye(4, dtype="f4")},
            "sizes": {"x": np.array([0, 1, 2, 0, 3, 0, 0, 4, 0, 0, 5, 6], "f4")},
            "chain": {"t0": rng.standard_normal((3, 5)).astype("f4")},
            "named": {"x": np.array([1, 2], "f4")},
            "alone": {}}[name]


def expected_steps(steps, on_device):
    """Those that are told of, in order: a block "rounds" goes five times round, of which three take
    the one branch.
    """
    def told(first, last, turn):
        found, i = [], first
        while i < last:
            kind = steps[i]["kernel"]
            if kind in ("loop", "if"):
                end, half = block(i)
                if kind == "loop":
                    for turn in range(5):
                        found += told(i + 1, end, turn)
                elif turn % 2 == 0:
                    found += told(i + 1, half, turn)
                else:
                    found += told(half + 1, end, turn)
                i = end
            elif kind not in CONTROL and not (on_device and kind in HOST_ONLY):
                found.append(i)
            i += 1
        return found

    def block(first):
        depth, half = 0, None
        for i in range(first, len(steps)):
            kind = steps[i]["kernel"]
            depth += (kind in ("loop", "if")) - (kind == "end")
            if kind == "else" and depth == 1:
                half = i
            if depth == 0:
                return i, half if half is not None else i
        raise Failure("a block without an end")

    return told(0, len(steps), 0)


def run_profiled(model, name, arrays, workers, profile):
    run = Run(model, arrays, workers)
    function = getattr(model.library, f"{name}_run_profiled")
    function.restype = C.c_int32
    status = function(C.c_void_p(model.instance.address), run.given, run.lent,
                      C.c_void_p(run.memory["arena"].address),
                      C.byref(run.pool) if workers > 1 else None,
                      C.byref(profile) if profile else None)
    model.check(status, "run_profiled")
    run.close()
    return run.results()


def check_order(told, is_clock):
    """Of one worker: a step ends before the next one begins."""
    last = 0
    for step, _, begin, end in told:
        require(last <= begin <= end, f"step {step} from {begin} to {end}, behind {last}")
        require(not is_clock or begin < end, f"step {step} takes no time")
        last = end


def check_runs(model, name, arrays, steps, target):
    plain = model.run(arrays)
    for workers in (1, 2) if model.has_threads else (1,):
        profile = Profile()
        found = run_profiled(model, name, arrays, workers, profile)
        for output, values in plain.items():
            require(np.array_equal(found[output], values), f"{output} differs where it is watched")
        for worker in range(workers):
            mine = [told for told in profile.told if told[1] == worker]
            wanted = expected_steps(steps, target != "cpu")
            require([told[0] for told in mine] == wanted,
                    f"worker {worker}: {[told[0] for told in mine]}, not {wanted}")
            check_order(mine, target == "cpu")
        require(len(profile.told) == workers * len(wanted), "told by a worker that is none")
    unwatched = run_profiled(model, name, arrays, 1, None)
    require(all(np.array_equal(unwatched[o], v) for o, v in plain.items()), "nobody watches")
    return len(wanted)


def check_flag(path, target, folder, outdir, sizes):
    """What the flag adds, and that nothing of it is there without."""
    plain = build_output.compile_model(path, target, folder / "plain", sizes)
    names = {p.relative_to(plain) for p in plain.rglob("*") if p.is_file()}
    watched = {p.relative_to(outdir) for p in outdir.rglob("*") if p.is_file()}
    added = {pathlib.Path("aotc") / f"{n}.h" for n in ("profile", "profile_events")}
    require(names == watched - added and names != watched, f"{names ^ watched}")
    prefix = build_output.model_name(outdir)
    may_differ = {f"{prefix}.h", f"{prefix}.cpp", f"{prefix}_device.cu", "metadata.json"}
    for name in sorted(names):
        found = (outdir / name).read_bytes()
        if name.name == "CMakeLists.txt":  # it installs what the header includes
            for header in sorted(map(str, watched & added)):
                require(f" {header}".encode() in found, f"{header} is not installed")
                found = found.replace(f" {header}".encode(), b"")
        same = (plain / name).read_bytes() == found
        require(same or name.name in may_differ, f"{name} differs by the flag")
        require(b"aotc_profile" not in (plain / name).read_bytes(), f"{name} tells of steps")


def check_net(name, text, target, folder):
    model = onnx.parser.parse_model(HEADER + text)
    path = folder / f"{name}.onnx"
    onnx.save(model, path)
    sizes = SIZES.get(name, {})
    outdir = build_output.compile_model(path, target, folder / "watched", sizes, ["--profile"])
    library = folder / f"{name}.so"
    build_output.build_library(outdir, target, library, compiler=COMPILER)
    steps = json.loads((outdir / "metadata.json").read_text())["steps"]
    compiled = CompiledModel(library, name)
    count = check_runs(compiled, name, arrays_of(name), steps, target)
    compiled.close()
    require(name != "chain" or count > EVENTS, f"only {count} steps")
    check_flag(path, target, folder, outdir, sizes)
    return count


def main():
    told = 0
    for target in ("cpu", "cuda"):
        for name, text in {**NETS, "chain": chain(300)}.items():
            folder = model_list.work_folder() / "profile" / f"{name}_{target}"
            folder.mkdir(parents=True, exist_ok=True)
            try:
                told += check_net(name, text, target, folder)
            except Failure as failure:
                print(f"{name} on {target}: {failure}")
                return 1
    print(f"{len(NETS) + 1} nets on both targets tell of {told} steps, each where it belongs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
