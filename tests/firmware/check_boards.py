#!/usr/bin/env python3
"""Models on the boards of an emulator, built by the Makefile of docs/examples/firmware.

    check_boards.py build/aotc [--sample | --riscv]

Each of five small models runs on a Cortex-M0, M4, M7 and M55 (code for an M0 on the board of an M3)
with a main() that takes its inputs from files; the reference evaluator agrees with the outputs.
What the model's objects leave to the linker is functions for memory and mathematics of the C
library, and the compiler's own. The example itself says which word it heard. Compiled for size one
is as small as is promised. --sample: one model on each board. --riscv: the five models on a RISC-V
processor of 32 bits, with a floating point unit and without.
Exit status 0: all holds.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import onnxruntime

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared/models"
EXAMPLE = ROOT / "docs/examples/firmware"
MODELS = {"tiny_kws_dscnn": [], "tiny_kws_cnn": [], "tiny_ad_autoencoder": [],
          "tiny_kws_cnn_qdq": ["--dim=unk__68=1"], "tiny_ic_resnet8_f16": []}
# Flags of the compiler, the board, and the bytes of each memory where the example has others.
BOARDS = {"m0": ("-mcpu=cortex-m0", "mps2-an385", ""),
          "m4": ("-mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16", "mps2-an386", ""),
          "m7": ("-mcpu=cortex-m7 -mfloat-abi=hard -mfpu=fpv5-d16", "mps2-an500", ""),
          "m55": ("-mcpu=cortex-m55 -mfloat-abi=hard", "mps3-an547", "512K")}
RISCV = {"rv32imafc": ("-march=rv32imafc -mabi=ilp32f", "virt", ""),
         "rv32imac": ("-march=rv32imac -mabi=ilp32", "virt", "")}
MATHEMATICS = {f"{name}{end}" for end in ("", "f") for name in (
    "exp", "log", "sqrt", "pow", "tanh", "erf", "sin", "cos", "floor", "ceil", "nearbyint",
    "fmod", "rint", "fabs", "fmax", "fmin", "trunc", "round", "copysign")}
OURS = re.compile(r"net_\w+$")
# Arithmetic that the processor lacks: of Arm's ABI, and libgcc's by the types of C (__muldi3).
COMPILERS = re.compile(r"__aeabi_\w+$|__gnu_[fhd]2[fhd]_ieee$"
                       r"|__[a-z]+[sdthx][ifcs][sdhtx]?[if]?[23]?$")
MEMORY = {"memcpy", "memset", "memcmp", "memmove"}


class Failure(Exception):
    """What does not hold."""


def require(holds, text):
    if not holds:
        raise Failure(text)


def call(*words, folder, seconds=600):
    done = subprocess.run([str(word) for word in words], text=True, timeout=seconds, check=False,
                          cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    require(done.returncode == 0, f"{words}: {done.stdout}")
    return done.stdout


def check_left_to_linker(folder):
    objects = sorted(str(path) for path in (folder / "net").glob("*.o"))
    listed = call("nm", "-u", "-P", *objects, folder=folder)
    names = {line.split()[0] for line in listed.splitlines() if not line.endswith(":")}
    foreign = {name for name in names - MEMORY - MATHEMATICS
               if not OURS.match(name) and not COMPILERS.match(name)}
    require(not foreign, f"wanted of the linker: {sorted(foreign)}")


def draw_inputs(path, flags, folder):
    """Files of drawn inputs for the board and for `aotc verify`, and a run of onnxruntime."""
    session = onnxruntime.InferenceSession(path)
    draw = np.random.default_rng(7)
    pinned = dict(flag.removeprefix("--dim=").split("=") for flag in flags)
    inputs = {}
    for i, info in enumerate(session.get_inputs()):
        dims = [int(pinned.get(dim, dim)) for dim in info.shape]
        dtype = np.float16 if info.type == "tensor(float16)" else np.float32
        inputs[info.name] = draw.standard_normal(dims).astype(dtype)
        inputs[info.name].tofile(folder / f"input{i}.bin")
        np.save(folder / f"input_{i}.npy", inputs[info.name])
    return session.run(None, inputs)


def project(model, flags, board, folder):
    """A copy of the example for the board; the words of make."""
    shutil.copytree(EXAMPLE, folder)
    arch = "riscv" if board in RISCV else "cortex_m"
    cpu, machine, memory = {**BOARDS, **RISCV}[board]
    script = folder / arch / "board.ld"
    if memory:
        script.write_text(script.read_text().replace("LENGTH = 4M", f"LENGTH = {memory}"))
    return ["make", f"AOTC={AOTC}", f"MODEL={SHARED / model}.onnx",
            f"FLAGS={' '.join(flags)}", f"ARCH={arch}", f"CPU={cpu}", f"BOARD={machine}"]


def check_model(model, flags, board, folder):
    """The reference evaluator agrees with what the board gave."""
    make = project(model, flags, board, folder)
    shutil.copy(ROOT / "tests/firmware/main.c", folder)
    like = draw_inputs(SHARED / f"{model}.onnx", flags, folder)
    call(*make, "run", folder=folder)
    for i, tensor in enumerate(like):
        given = np.fromfile(folder / f"output{i}.bin", tensor.dtype).reshape(tensor.shape)
        np.save(folder / f"output_{i}.npy", given)
    text = call(AOTC, "verify", SHARED / f"{model}.onnx", "--inputs", folder, *flags,
                folder=folder)
    counts = re.search(r"(\d+) of (\d+) agree", text)
    require(counts and counts[1] == counts[2], f"{model} on {board}: {text}")
    check_left_to_linker(folder)


def check_example(folder):
    """As its owner runs it; the word is the one with the largest score."""
    make = project("tiny_kws_dscnn", [], "m7", folder)
    scores = draw_inputs(SHARED / "tiny_kws_dscnn.onnx", [], folder)[0]
    (folder / "input0.bin").rename(folder / "input.bin")
    said = call(*make, "run", folder=folder).splitlines()[-1]
    names = re.findall(r'"(\w+)"', (folder / "main.c").read_text().split("kNames")[1])
    require(said == names[int(scores.argmax())], f"{said!r}, not {names[int(scores.argmax())]!r}")


def text_bytes(*objects, folder):
    lines = call("arm-none-eabi-size", *objects, folder=folder).splitlines()[1:]
    return sum(int(line.split()[0]) for line in lines)


def check_size(folder):
    """What is for size is small, and the same on the board."""
    check_model("tiny_kws_dscnn", ["--optimize=size"], "m7", folder)
    objects = [path for path in (folder / "net").glob("*.o") if "weights" not in path.name]
    kernels = text_bytes(*(path for path in objects if "kernels" in path.name), folder=folder)
    code = text_bytes(*objects, folder=folder)
    header = (folder / "net/net.h").read_text()
    arena = int(re.search(r"NET_ARENA_BYTES (\d+)", header)[1])
    print(f"tiny_kws_dscnn for size: kernels {kernels} bytes, with its host file {code}, "
          f"arena {arena}")
    require(kernels <= 3000 and code <= 6000 and arena <= 32000, "that is too large")


def main():
    global AOTC
    AOTC = pathlib.Path(sys.argv[1]).resolve()
    if not SHARED.exists():
        print("../shared is not there: nothing to run")
        return 0
    boards = RISCV if "--riscv" in sys.argv else BOARDS
    runs = [(model, board) for model in MODELS for board in boards]
    if "--sample" in sys.argv:
        runs = list(zip(MODELS, boards))
    with tempfile.TemporaryDirectory() as name:
        for model, board in runs:
            check_model(model, MODELS[model], board, pathlib.Path(name) / f"{model}_{board}")
        if boards is BOARDS:
            check_example(pathlib.Path(name) / "example")
            check_size(pathlib.Path(name) / "size")
    print(f"{len(runs)} runs on {len(boards)} boards agree with the evaluator")
    return 0


if __name__ == "__main__":
    sys.exit(main())
