"""Rows about sizes: what is reported against what a run touches."""
import ctypes

import numpy as np
import onnx

import cases
import transformer
from build_output import build_library, command, compile_model
from cases import expect
from driver_rows import small_net
from model_table import CompiledModel, Memory, Run

TARGETS = ("cpu", "cuda")
FILLS = (0x5A, 0xA5)  # a byte that keeps both was not written
BLOB_HEADER_BYTES = 64
MOST_WORKERS = 16     # each has scratch of its own


# Arenas of CUDA models are the instance's own; under emulation they are the host's memory.
PROBE = """#include "%(name)s.h"
extern "C" void *exchange_arena(void *instance, void *arena) {
  auto *self = static_cast<%(name)s_instance *>(instance);
  void *const before = self->device_arena;
  self->device_arena = arena;
  return before;
}
"""


def load(path, target, folder, dims):
    """The built model with its outdir; that of CUDA has exchange_arena()."""
    outdir = compile_model(path, target, folder, dims)
    if target == "cuda":
        (outdir / "probe.cpp").write_text(PROBE % {"name": path.stem})
    library = folder / f"{path.stem}.so"
    build_library(outdir, target, library, compiler=("g++", "-std=c++17", "-O1"))
    return CompiledModel(library, path.stem), outdir


def run_once(model, inputs, fill, arena):
    """Memory by name after a run over `fill`, with a look at the guard zones around each."""
    run = Run(model, inputs, fill=fill)
    if arena:  # of the device
        exchange = model.library.exchange_arena
        exchange.restype, exchange.argtypes = ctypes.c_void_p, [ctypes.c_void_p] * 2
        run.memory["arena"] = Memory(arena, fill, "the arena")
        before = exchange(model.instance.address, run.memory["arena"].address)
    run.call()
    if arena:
        exchange(model.instance.address, before)
    run.results()
    return {name: memory.bytes for name, memory in run.memory.items()
            if not name.startswith("input")}


def written_bytes(model, inputs, arena):
    """Name of each memory lent to the model -> which of its bytes it wrote."""
    low, high = (run_once(model, inputs, fill, arena) for fill in FILLS)
    return {name: (low[name] != FILLS[0]) | (high[name] != FILLS[1]) for name in low}


def expect_sizes(model, outdir, inputs):
    """Arena and outputs are written to their ends, and between blocks nowhere."""
    arena = cases.metadata(outdir)["arena"]
    on_device = 0 if model.table.arena_bytes else arena["bytes"]
    expect(on_device or model.table.arena_bytes == arena["bytes"], "the table has another size")
    written = written_bytes(model, inputs, on_device)
    planned = np.zeros(arena["bytes"], bool)
    for block in arena["buffers"]:
        begin, end = block["offset"], block["offset"] + block["bytes"]
        expect(end <= arena["bytes"], f"{block['name']} ends behind the arena")
        planned[begin:end] = True
        if "_scratch" in block["name"]:  # the shares of workers that this run does not have
            share = block["bytes"] // MOST_WORKERS
            written["arena"][begin + share:end] = True
        idle = (~written["arena"][begin:end]).sum()
        expect(idle == 0, f"{block['name']} has {idle} idle bytes of {block['bytes']}")
    expect(not (written["arena"] & ~planned).any(), "bytes were written that belong to no block")
    highest = int(np.flatnonzero(written["arena"])[-1]) + 1
    expect(-(-highest // arena["align"]) * arena["align"] == arena["bytes"],
           f"{arena['bytes']} bytes are asked for, {highest} are used")
    for info in model.outputs:
        bytes_of_output = written[f"output {info.name.decode()}"]
        expect(bytes_of_output.all(), f"{info.name.decode()} is smaller than max_bytes")


def expect_weight_bytes(outdir, name):
    """As many in the object that is linked as are reported, behind the header."""
    weights = cases.metadata(outdir)["weights"]["bytes"]
    command(["g++", "-c", "-I", outdir, outdir / f"{name}_weights.S", "-o", outdir / "weights.o"])
    sections = command(["size", "-A", outdir / "weights.o"]).splitlines()
    sizes = [int(line.split()[1]) for line in sections if line.startswith((".rodata", ".data"))]
    expect(sum(sizes) == weights + BLOB_HEADER_BYTES, f"{sizes} in the object, {weights} reported")


def row53_reported_sizes_are_those_used(folder):
    """Of arena, outputs and weights, at the largest dims, by filling memory and looking after."""
    encoder = folder / "encoder.onnx"
    onnx.save(transformer.build(2), encoder)
    nets = [(small_net(folder), {}, {}),
            (encoder, {"batch": "1..2", "length": "4..32"}, {"batch": 2, "length": 32})]
    for path, dims, sizes in nets:
        inputs = cases.reference.make_inputs(path, sizes, 1)
        for target in TARGETS:
            model, outdir = load(path, target, folder / path.stem / target, dims)
            expect_sizes(model, outdir, inputs)
            expect_weight_bytes(outdir, path.stem)
            model.close()
