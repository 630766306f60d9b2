#!/usr/bin/env python3
"""Outputs that take the memory of inputs (--alias), on the CPU and on CUDA under emulation.

    tests/models/check_aliases.py               # every check
    tests/models/check_aliases.py decoder       # those whose name begins so

A decoder with caches of keys and values runs steps at several lengths of its past, in memory that
is poisoned but for that past: its numbers are onnxruntime's, what it changes is just what is new,
and the past is intact after an error. States of one type are written over, or copied where they are
still read. What cannot share memory is refused. Exit status 0: all holds.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto

import reference
from build_output import Failure, build_library, compile_model, model_name
from model_list import build_folder
from model_table import CompiledModel, Run
from small_net import Net, require

F, I = TensorProto.FLOAT, TensorProto.INT64
LAYERS, HEADS, SIZE, WORDS, ROOM = 2, 4, 24, 61, 1024
WIDTH = HEADS * SIZE
NEW_BYTES = 2 * LAYERS * WIDTH * 4  # of one token: keys and values of each layer
OK, POINTER, CAPACITY, VALUE = 0, 1, 6, 7  # aotc_status
PAST = "past_key_0"


def heads(net, x, count):
    shape = net.const([1, count, HEADS, SIZE])
    return net.op("Transpose", net.op("Reshape", x, shape), perm=[0, 2, 1, 3])


def layer(net, x, number, count, past):
    """One layer on `count` tokens; its present keys and values are Concat of past and new ones."""
    qkv = net.op("MatMul", x, net.random(WIDTH, 3 * WIDTH))
    parts = net.op("Split", qkv, net.const([WIDTH] * 3), outputs=3, axis=2)
    q, *fresh = (heads(net, part, count) for part in parts)
    present = []
    for what, new in zip(("key", "value"), fresh):
        old = net.input(f"past_{what}_{number}", [1, HEADS, past, SIZE])
        name = f"present_{what}_{number}"
        present.append(net.op("Concat", old, new, name=name, axis=2))
        net.output(name, [1, HEADS, None, SIZE])
    scores = net.op("MatMul", q, net.op("Transpose", present[0], perm=[0, 1, 3, 2]))
    scores = net.op("Softmax", net.op("Mul", scores, net.const(SIZE ** -0.5, np.float32)), axis=-1)
    y = net.op("Transpose", net.op("MatMul", scores, present[1]), perm=[0, 2, 1, 3])
    y = net.op("Reshape", y, net.const([1, count, WIDTH]))
    return net.op("Add", x, net.op("MatMul", y, net.random(WIDTH, WIDTH)))


def decoder(path, count, past):
    """A step of a decoder on `count` tokens behind `past` ones."""
    net = Net()
    ids = net.input("ids", [1, count], I)
    x = net.op("Gather", net.random(WORDS, WIDTH), ids)
    for number in range(LAYERS):
        x = layer(net, x, number, count, past)
    net.op("MatMul", x, net.random(WIDTH, WORDS), name="logits")
    net.output("logits", [1, count, WORDS])
    return net.save(path)


def build(path, folder, flags, dims=None, target="cpu"):
    outdir = compile_model(path, target, folder, dims or {}, flags)
    build_library(outdir, target, folder / "model.so")
    return outdir, CompiledModel(folder / "model.so", model_name(outdir))


def workers_of(model):
    return (1, 2) if model.has_threads else (1,)


def build_decoder(folder, flags=(f"--alias=present_*=past_*:2={ROOM}",), count=1, past="past",
                  target="cpu"):
    folder.mkdir(exist_ok=True)
    path = decoder(folder / "decoder.onnx", count, past)
    dims = {"past": f"0..{ROOM - count}"} if past == "past" else {}
    return path, *build(path, folder, flags, dims, target)


def compare(found, expected, limit=1e-5):
    for name, values in expected.items():
        error = reference.error_of(found[name], values)
        require(error <= limit, f"{name} is {error:.3g} off")


def changed_bytes(model, inputs):
    """Of the memory of outputs, by a run: whatever differs from one poison or the other."""
    changed = {}
    for fill in (0xA5, 0x5A):
        run = Run(model, inputs, fill=fill)
        before = {name: held.bytes.copy() for name, held in run.memory.items()}
        run.call()
        for name in (n for n in before if n.startswith("output present")):
            differs = run.memory[name].bytes != before[name]
            changed[name] = changed.get(name, False) | differs
    return sum(int(np.count_nonzero(differs)) for differs in changed.values())


def decoder_steps(folder, target="cpu"):
    path, outdir, model = build_decoder(folder, target=target)
    counts = set()
    for past in (0, 1, 16, 1000, ROOM - 1):
        inputs = reference.make_inputs(path, {"past": past}, past)
        expected, _ = reference.expected_outputs(path, inputs)
        for workers in workers_of(model):
            compare(model.run(inputs, workers), expected)
        counts.add(changed_bytes(model, inputs))
    require(counts == {NEW_BYTES}, f"{counts} bytes change, of which {NEW_BYTES} are new")
    pairs = json.loads((outdir / "metadata.json").read_text())["aliases"]
    require(len(pairs) == 2 * LAYERS, f"{len(pairs)} pairs in metadata.json")
    strides = [HEADS * ROOM * SIZE, ROOM * SIZE, SIZE, 1]
    require(all(pair["strides"] == strides for pair in pairs), "other strides in metadata.json")
    header = (outdir / f"{model_name(outdir)}.h").read_text()
    require(re.search(rf"^ *float \*{PAST};", header, re.M), f"{PAST} is const in the header")
    require(", ".join(map(str, strides)) in header, "no strides in the header")
    model.close()


def decoder_steps_on_cuda(folder):
    decoder_steps(folder, "cuda-races")


def decoder_prompt_and_steps(folder):
    """A model that takes a prompt and one that makes steps work on the same caches."""
    whole = decoder(folder / "whole.onnx", 9, 0)
    _, _, prompt = build_decoder(folder / "prompt", count=7, past=0)
    _, _, step = build_decoder(folder / "step")
    ids = np.random.default_rng(1).integers(0, WORDS, (1, 9))
    empty = np.zeros((1, HEADS, 0, SIZE), np.float32)
    caches = {f"past_{what}_{n}": empty for what in ("key", "value") for n in range(LAYERS)}
    expected, _ = reference.expected_outputs(whole, {"ids": ids, **caches})
    first = Run(prompt, {"ids": ids[:, :7], **caches})
    first.call()
    for at in (7, 8):
        past = np.zeros((1, HEADS, at, SIZE), np.float32)  # what it is comes from the memory
        later = Run(step, {"ids": ids[:, at:at + 1], **dict.fromkeys(caches, past)})
        for name in caches:
            held = f"output {name.replace('past', 'present')}"
            later.memory[held].bytes[:] = first.memory[held].bytes
        later.call()
        first = later
    last = later.results()
    # Tokens see those behind them here, but for the keys and values of the first layer.
    for name in ("present_key_0", "present_value_0"):
        compare(last, {name: expected[name]})


def status_of(run):
    return run.model.table.run(run.model.instance.address, run.given, run.lent,
                               run.memory["arena"].address, None)


def decoder_statuses(folder, target="cpu"):
    path, _, model = build_decoder(folder, target=target)
    index = [info.name.decode() for info in model.inputs].index(PAST)
    for past in (0, 5):
        inputs = reference.make_inputs(path, {"past": past}, 1)
        other = Run(model, inputs)
        apart = other.hold("other", model.inputs[index].max_bytes, 0)
        other.given[index].tensor.data = apart.address
        require(status_of(other) == POINTER, f"another pointer, past {past}: {status_of(other)}")
        small = Run(model, inputs)
        small.given[index].tensor.capacity_bytes -= 1
        require(status_of(small) == CAPACITY, f"too little memory, past {past}: {status_of(small)}")
        wrong = Run(model, {**inputs, "ids": np.array([[WORDS]])})
        require(status_of(wrong) == VALUE, f"a wrong index, past {past}: {status_of(wrong)}")
        for alias in model.aliases:
            name = model.inputs[alias.input].name.decode()
            held = wrong.memory[f"output {model.outputs[alias.output].name.decode()}"]
            old = held.tensor(np.float32, inputs[name].shape, alias.strides[:4])
            require((old == inputs[name]).all(), f"{name} is not intact after an error")
    model.close()


def decoder_statuses_on_cuda(folder):
    decoder_statuses(folder, "cuda")


def decoder_default_capacity(folder):
    """Without a capacity the largest dim is it."""
    path, outdir, model = build_decoder(folder, ["--alias", "present_*=past_*"])
    require(model.aliases[0].strides[1] == ROOM * SIZE, "another capacity")
    inputs = reference.make_inputs(path, {"past": 3}, 2)
    compare(model.run(inputs), reference.expected_outputs(path, inputs)[0])
    model.close()


def decoder_verified(folder):
    """`aotc verify` runs the example, which knows of pairs."""
    path = decoder(folder / "decoder.onnx", 1, "past")
    words = [build_folder() / "aotc", "verify", path, "--dim=past=0..40",
             "--alias=present_*=past_*:2=50"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    require(done.returncode == 0, done.stdout + done.stderr)


def state_net(path, make, names=("h",), shape=(3, 40)):
    net = Net()
    inputs = [net.input(f"{name}_in", shape) for name in names]
    make(net, *inputs)
    for name in names:
        net.output(f"{name}_out", shape)
    return net.save(path)


def overwritten(net, h):
    """Who reads the state comes first, though it stands behind in the model."""
    net.op("Tanh", net.op("Add", h, net.input("x", (3, 40))), name="h_out")
    net.op("ReduceSum", net.op("Mul", h, h), net.const([1]), name="energy")
    net.output("energy", (3, 1))


def multiplied(net, h):
    net.op("Tanh", net.op("MatMul", h, net.random(40, 40)), name="h_out")


def read_later(net, h):
    """The state is read together with what replaces it."""
    net.op("Exp", net.op("MatMul", net.op("Tanh", h), net.random(40, 40)), name="h_out")
    net.op("MatMul", net.op("Mul", h, net.op("Softmax", "h_out")), net.random(40, 40), name="y")
    net.output("y", (3, 40))


def swapped(net, a, b):
    net.op("Identity", b, name="a_out")
    net.op("Identity", a, name="b_out")


def passed(net, h):
    net.op("Identity", h, name="h_out")
    net.op("Tanh", h, name="y")
    net.output("y", (3, 40))


def given_back(net, h):
    """The state as it was is a result, too."""
    net.op("Tanh", net.op("Add", h, net.input("x", (3, 40))), name="h_out")
    net.op("Reshape", h, net.const([-1]), name="before")
    net.output("before", (120,))


def given_twice(net, h):
    net.op("Tanh", net.op("Add", h, net.input("x", (3, 40))), name="h_out")
    net.op("Identity", "h_out", name="y")
    net.output("y", (3, 40))


# Name -> what makes the states, their names, how many of them are copied.
STATES = {"overwritten": (overwritten, ("h",), 0), "multiplied": (multiplied, ("h",), 1),
          "read_later": (read_later, ("h",), 1), "swapped": (swapped, ("a", "b"), 2),
          "passed": (passed, ("h",), 0), "given_back": (given_back, ("h",), 1),
          "given_twice": (given_twice, ("h",), 1)}


def states(folder, target="cpu"):
    for name, (make, names, copies) in STATES.items():
        path = state_net(folder / f"{name}.onnx", make, names)
        _, model = build(path, folder / name, ["--alias=*_out=*_in"], target=target)
        inputs = reference.make_inputs(path, {}, 4)
        expected, _ = reference.expected_outputs(path, inputs)
        for workers in workers_of(model):
            compare(model.run(inputs, workers), expected)
        words = [build_folder() / "aotc", path, "-o", folder / "again", "--alias=*_out=*_in"]
        notes = subprocess.run(words, capture_output=True, text=True, timeout=100).stderr
        require(notes.count("is copied") == copies, f"{name}: {copies} copies, but: {notes}")
        model.close()


def states_on_cuda(folder):
    states(folder, "cuda")


def window(net):
    joined = net.op("Concat", net.input("w_in", (2, 8)), net.input("x", (2, 1)), axis=1)
    net.op("Slice", joined, net.const([1]), net.const([9]), net.const([1]), name="w_out")
    net.output("w_out", (2, 8))


def in_front(net):
    net.op("Concat", net.input("x", (2, 1)), net.input("p", (2, "n")), name="q", axis=1)
    net.output("q", (2, None))


def varying(net):
    net.op("Concat", net.input("p", ("n", "m", 4)), net.input("x", (1, "m", 4)), name="q", axis=0)
    net.output("q", (None, "m", 4))


def joined(net):
    net.op("Concat", net.input("p", (2, "n")), net.input("x", (2, 1)), name="q", axis=1)
    net.output("q", (2, None))
    net.op("Tanh", net.input("h_in", (2, 1)), name="h_out")
    net.output("h_out", (2, 1))


def grown_by_several(folder, target="cpu"):
    """Several values lie behind the past, one of them twice."""
    net = Net()
    past, t = net.input("p", ("n", 8)), net.op("Tanh", net.input("x", (4, 8)))
    net.op("Concat", past, t, net.op("Relu", t), t, name="q", axis=0)
    net.output("q", (None, 8))
    path = net.save(folder / "several.onnx")
    _, model = build(path, folder / "several", ["--alias=q=p:0=64"], {"n": "0..32"}, target)
    for count in (0, 1, 32):
        inputs = reference.make_inputs(path, {"n": count}, count)
        expected, _ = reference.expected_outputs(path, inputs)
        for workers in workers_of(model):
            compare(model.run(inputs, workers), expected)
    model.close()


def grown_by_several_on_cuda(folder):
    grown_by_several(folder, "cuda")


# What makes the model, the flag, words of the refusal.
REFUSED = [(window, "w_out=w_in", "sliding window"), (in_front, "q=p", "is not 'p' and new"),
           (varying, "q=p", "strides in memory vary"), (joined, "q=p:1=32", "up to 33 elements"),
           (joined, "q=p:0=64", "axis 1 of 'q' grows"), (joined, "q=r", "no such input"),
           (joined, "r=p", "no such output"), (joined, "h_out=h_in:0=4", "no axis grows"),
           (joined, "q=h_in", "is not 'h_in' and new"), (joined, "q", "expected OUTPUT=INPUT"),
           (joined, "q=p:1=x", "expected OUTPUT=INPUT"), (joined, "q*=p", "expected OUTPUT=INPUT")]


def symbols(path):
    inputs = onnx.load(path).graph.input
    return {dim.dim_param for value in inputs for dim in value.type.tensor_type.shape.dim}


def refusals(folder):
    for make, flag, words in REFUSED:
        net = Net()
        make(net)
        path = net.save(folder / "refused.onnx")
        dims = [f"--dim={name}={bounds}" for name, bounds in (("n", "0..32"), ("m", "1..3"))
                if name in symbols(path)]
        command = [build_folder() / "aotc", path, "-o", folder / "out", *dims, f"--alias={flag}"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=100)
        text = f"{flag}: exit status {done.returncode}: {done.stderr}"
        require(done.returncode in (1, 2) and words in done.stderr and "hint:" in done.stderr, text)


CHECKS = [decoder_steps, decoder_steps_on_cuda, decoder_prompt_and_steps, decoder_statuses,
          decoder_statuses_on_cuda, decoder_default_capacity, decoder_verified, states,
          states_on_cuda, grown_by_several, grown_by_several_on_cuda, refusals]


def main():
    prefix = sys.argv[1] if len(sys.argv) > 1 else ""
    failed = 0
    for check in CHECKS:
        if not check.__name__.startswith(prefix):
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                check(pathlib.Path(folder))
                print(f"{check.__name__}: holds", flush=True)
            except Failure as failure:
                failed += 1
                print(f"{check.__name__}: FAILED: {failure}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
