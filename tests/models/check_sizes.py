#!/usr/bin/env python3
"""Sizes that come with a run: shape operands that are inputs of the graph.

    tests/models/check_sizes.py                # 24 draws on the CPU and on CUDA under emulation
    tests/models/check_sizes.py --seed 7 --count 200 --target cpu

One model with a part for each op that takes sizes is compiled once per target, with --dim for each
size, and run with sizes drawn from the whole of their ranges. Every number and every dim is
onnxruntime's. Each size just beyond its range is a status, before anything is written.

Then each part alone, without --dim, with sizes drawn from beyond these ranges too: what onnxruntime
computes is computed, and what it refuses, or what passes a --bound, is a status with a sentence of
the model's own. Last a model whose dims have to be equal without that it is known. Exit status 0:
all holds.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from onnx import TensorProto, helper

import reference
from build_output import Failure, build_library, compile_model, model_name
from model_list import build_folder
from model_table import CompiledModel, Run
from small_net import Net, require

DIM, VALUE = 5, 7  # AOTC_ERROR_DIM, AOTC_ERROR_VALUE
FILL = 0xA5


class SizedNet(Net):
    """The parts of the model, each with sizes of its own."""

    def __init__(self):
        super().__init__(opset=21)
        self.ranges = {}  # of elements: input -> [(least, most)], in order
        self.valid, self.likely = {}, {}  # by input
        self.bounds = {}  # of axes, where --dim is not given: tensor -> {axis: most}

    def sizes(self, name, ranges, dtype=np.int64, scalar=False, valid=None, likely=None):
        """An input of integers, each within its range. Beyond the ranges they are drawn until they
        are `valid`, for what onnxruntime and the specification see differently, and half of the
        time from the lists `likely`.
        """
        self.ranges[name], self.valid[name], self.likely[name] = ranges, valid, likely
        onnx_type = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        return self.input(name, [] if scalar else [len(ranges)], onnx_type)

    def data(self, *shape):
        return self.input(f"x{len(self.inputs)}", shape)

    def output(self, name, dtype=TensorProto.FLOAT):
        super().output(name, None, dtype)

    def flags(self):
        """--dim of every element."""
        dims = {}
        for name, ranges in self.ranges.items():
            value = next(i for i in self.inputs if i.name == name)
            is_scalar = not value.type.tensor_type.shape.dim
            for i, (least, most) in enumerate(ranges):
                dims[name if is_scalar else f"{name}[{i}]"] = f"{least}..{most}"
        return dims

    def bound(self, tensor, limits):
        """The tensor; what --bound says of it."""
        self.bounds[tensor] = limits
        return tensor

    def bound_flags(self):
        return [f"--bound={tensor}:{axis}={most}" for tensor, limits in self.bounds.items()
                for axis, most in limits.items()]

    def draw_sizes(self, rng, name, beyond):
        likely = self.likely[name]
        if beyond and likely and rng.integers(2):
            return likely[rng.integers(len(likely))]
        while True:
            drawn = [int(rng.choice([least, most, rng.integers(least - beyond, most + beyond + 1)]))
                     for least, most in self.ranges[name]]
            if self.valid[name] is None or self.valid[name](drawn):
                return drawn

    def draw(self, rng, beyond=0):
        """Inputs: the ends of a range are as likely as all between them, and as a few beyond."""
        arrays = {}
        for value in self.inputs:
            shape = [d.dim_value for d in value.type.tensor_type.shape.dim]
            if value.name not in self.ranges:
                arrays[value.name] = rng.standard_normal(shape).astype(np.float32)
                continue
            drawn = self.draw_sizes(rng, value.name, beyond)
            dtype = helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
            arrays[value.name] = np.asarray(drawn, dtype).reshape(shape)
        return arrays


def all_positive(sizes):
    return min(sizes) > 0


def slices(net):
    starts, ends = net.sizes("starts", [(-9, 9), (-7, 7)]), net.sizes("ends", [(-9, 9), (-7, 7)])
    net.output(net.op("Relu", net.op("Slice", net.data(8, 6), starts, ends)))
    starts = net.sizes("starts32", [(-3, 12)], np.int32)
    ends = net.sizes("ends32", [(-12, 3)], np.int32)
    axes, steps = net.const([1], np.int32), net.const([-2], np.int32)
    net.output(net.op("Slice", net.data(2, 9), starts, ends, axes, steps))


def selections(net):
    values, indices = net.op("TopK", net.data(5, 9), net.sizes("k", [(1, 9)]), outputs=2)
    net.output(values)
    net.output(indices, TensorProto.INT64)
    net.output(net.op("Trilu", net.data(3, 4), net.sizes("diagonal", [(-4, 5)], scalar=True)))
    depth = net.sizes("depth", [(1, 7)], scalar=True, valid=all_positive)
    indices = net.const([0, 5, 2, 1])
    hot = net.op("OneHot", indices, depth, net.const([0, 1], np.float32))
    net.output(net.bound(hot, {1: 7}))


def repetitions(net):
    wide = net.op("Expand", net.data(1, 3), net.sizes("expanded", [(0, 5), (3, 3)]))
    net.output(net.bound(wide, {0: 5}))
    tiled = net.op("Tile", net.data(2, 3), net.sizes("repeats", [(0, 3), (1, 2)]))
    net.output(net.bound(tiled, {0: 6, 1: 9}))
    filled = net.op("ConstantOfShape", net.sizes("filled", [(0, 4), (1, 5)]),
                    value=helper.make_tensor("v", TensorProto.FLOAT, [1], [2.5]))
    net.output(net.bound(filled, {0: 4, 1: 6}))
    start = net.sizes("start", [(-3, 3)], scalar=True)
    limit = net.sizes("limit", [(-2, 6)], scalar=True)
    net.output(net.bound(net.op("Range", start, limit, net.const(2)), {0: 4}), TensorProto.INT64)
    delta = net.sizes("delta", [(1, 3)], scalar=True)
    net.output(net.bound(net.op("Range", limit, start, delta), {0: 6}), TensorProto.INT64)


def borders(net):
    padded = net.op("Pad", net.data(3, 4), net.sizes("pads", [(0, 2), (-1, 2), (0, 3), (-2, 1)]))
    net.output(net.bound(padded, {0: 9, 1: 8}))
    sizes = net.sizes("resized", [(1, 1), (2, 2), (1, 9), (3, 8)], valid=all_positive)
    resized = net.op("Resize", net.data(1, 2, 3, 5), "", "", sizes, mode="nearest",
                     nearest_mode="floor", coordinate_transformation_mode="asymmetric")
    net.output(net.bound(resized, {0: 1, 1: 3, 2: 9, 3: 8}))


def reshapes(net):
    """Where 0 and -1 may stand is known in a run only."""
    shape = net.sizes("shape", [(-1, 6), (0, 4), (-1, 3)],
                      likely=[[4, 6, 1], [2, 4, 3], [0, 0, 1], [0, -1, 2], [-1, 2, 3], [24, 1, 1],
                              [8, 3, -1], [2, 0, 2], [0, 2, 3]])
    net.output(net.op("Relu", net.op("Reshape", net.data(4, 6), shape)))
    sides = net.sizes("matrix", [(-1, 6), (-1, 4)],
                      likely=[[6, 4], [-1, 3], [0, 0], [0, -1], [24, -1], [4, 6]])
    matrix = net.op("Reshape", net.data(2, 12), sides)
    net.output(net.op("Transpose", matrix, perm=[1, 0]))
    net.output(net.op("ReduceSum", matrix, net.const([1]), keepdims=0))


def axes(net):
    """Which axes an operator is about, and from where to where, is known in a run only."""
    for keepdims in (0, 1):
        named = net.sizes(f"reduced{keepdims}", [(-3, 2), (-3, 2)],
                          valid=lambda drawn: (drawn[0] - drawn[1]) % 3)
        net.output(net.op("ReduceSum", net.data(2, 3, 4), named, keepdims=keepdims))
    mean = net.op("ReduceMean", net.data(3, 5), net.sizes("averaged", [(-2, 1)]), keepdims=0)
    net.output(mean)
    along = net.sizes("along", [(-3, 2)], scalar=True)
    net.output(net.op("CumSum", net.data(2, 20, 3), along, reverse=1))


def ranks(net):
    """Axes of dim 1, added and dropped where a run says."""
    net.output(net.op("Squeeze", net.data(1, 3, 1), net.sizes("dropped", [(-3, 2)])))
    net.output(net.op("Unsqueeze", net.data(2, 3), net.sizes("added", [(-4, 3), (-4, 3)],
                                                                   valid=lambda drawn: (
                                                                       drawn[0] - drawn[1]) % 4)))
    sizes = net.sizes("parts", [(0, 7), (0, 7)], likely=[[0, 7], [3, 4], [7, 0], [6, 1]])
    for part in net.op("Split", net.data(2, 7), sizes, axis=1, outputs=2):
        net.output(part)


def steps(net):
    """Slices of which nothing is known."""
    given = [net.sizes(name, ranges) for name, ranges in
             (("from", [(-7, 7), (-9, 9)]), ("to", [(-7, 7), (-9, 9)]), ("at", [(-2, 1), (-2, 1)]),
              ("by", [(-3, 3), (-3, 3)]))]
    net.output(net.op("Slice", net.data(6, 8), *given))


def computed(net):
    """Sizes that are computed of sizes, which are data too."""
    n = net.sizes("n", [(1, 6)])
    rows = net.op("Mul", n, net.const([2]))
    shape = net.op("Concat", rows, net.const([6]), axis=0)
    wide = net.bound(net.op("Expand", net.data(1, 6), shape), {0: 16})
    narrow = net.op("Concat", n, net.const([12]), axis=0)
    moved = net.bound(net.op("Reshape", wide, narrow), {0: 8})
    net.output(net.op("Add", moved, net.op("Cast", n, to=TensorProto.FLOAT)))
    turned = net.op("MatMul", net.op("Reshape", wide, net.const([-1, 6])), net.data(6, 5))
    net.output(net.op("Softmax", turned, axis=0))


def rounds(net):
    """As many as an input says, stacked."""
    x, first = net.data(3), net.data(3)
    count = net.sizes("rounds", [(0, 5)], scalar=True)
    info = helper.make_tensor_value_info
    body = helper.make_graph(
        [helper.make_node("Add", ["old", x], ["new"]),
         helper.make_node("Mul", ["new", "new"], ["s"]),
         helper.make_node("Identity", ["go"], ["go_on"])], "body",
        [info("i", TensorProto.INT64, []), info("go", TensorProto.BOOL, []),
         info("old", TensorProto.FLOAT, [3])],
        [info("go_on", TensorProto.BOOL, []), info("new", TensorProto.FLOAT, [3]),
         info("s", TensorProto.FLOAT, [3])])
    last, stacked = net.op("Loop", count, net.const(True, bool), first, outputs=2, body=body)
    net.output(last)
    net.output(stacked)


FREE_PARTS = (slices, selections, repetitions, borders, reshapes, axes, ranks, steps, computed)


def make_net(*parts):
    net = SizedNet()
    for part in parts:
        part(net)
    return net


def sizes_text(net, arrays):
    return ", ".join(f"{name}={arrays[name].tolist()}" for name in net.ranges)


def compare(net, session, model, arrays):
    names = [output.name for output in session.get_outputs()]
    expected = dict(zip(names, session.run(names, arrays)))
    for workers in (1, 2) if model.has_threads else (1,):
        found = model.run(arrays, workers, FILL)
        for name, values in expected.items():
            where = f"{name} with {workers} workers, {sizes_text(net, arrays)}"
            require(found[name].shape == values.shape,
                    f"{where}: dims {found[name].shape}, not {values.shape}")
            error = reference.error_of(found[name], values) if values.size else 0
            require(error <= 1e-6, f"{where}: {error:.3g} off")


def require_refusals(net, model, arrays):
    """Every element one below its range, and one above; the number of those."""
    count = 0
    for name, ranges in net.ranges.items():
        for i, (least, most) in enumerate(ranges):
            for beyond in (least - 1, most + 1):
                given = {**arrays, name: arrays[name].copy()}
                given[name].reshape(-1)[i] = beyond
                run = Run(model, given, fill=FILL)
                status = model.table.run(model.instance.address, run.given, run.lent,
                                         run.memory["arena"].address, None)
                require(status & 0xFF == VALUE, f"{name}[{i}] = {beyond}: status {status}")
                written = [held.what for what, held in run.memory.items()
                           if what.startswith("output") and (held.bytes != FILL).any()]
                require(not written, f"{name}[{i}] = {beyond}: wrote {written}")
                count += 1
    return count


def expected_of(net, session, arrays):
    """Outputs by name; None where onnxruntime refuses the sizes or an axis is beyond its bound."""
    names = [output.name for output in session.get_outputs()]
    try:
        found = dict(zip(names, session.run(names, arrays)))
    except Exception:  # onnxruntime has a class of its own for each kind of refusal
        return None
    beyond = [name for name, limits in net.bounds.items() if name in found
              for axis, most in limits.items() if found[name].shape[axis] > most]
    return None if beyond else found


def require_sentence(net, model, arrays, sentences):
    """A run that is refused by one of the model's checks."""
    run = Run(model, arrays, fill=FILL)
    status = model.table.run(model.instance.address, run.given, run.lent,
                             run.memory["arena"].address, None)
    text = model.table.status_text(status).decode()
    require(status & 0xFF in (DIM, VALUE) and text in sentences,
            f"{sizes_text(net, arrays)}: status {status}, {text}")


def check_free(part, target, folder, seed, count):
    """One part of the model without --dim; how many draws were computed and how many refused."""
    net = make_net(part)
    path = net.save(folder / f"{part.__name__}.onnx")
    flags = ["--cpu=x86-64-v3"] if target == "cpu" else []
    outdir = compile_model(path, target, folder, {}, flags + net.bound_flags())
    sentences = json.loads((outdir / "metadata.json").read_text()).get("checks", [])
    build_library(outdir, target, folder / f"{part.__name__}.so")
    model = CompiledModel(folder / f"{part.__name__}.so", model_name(outdir))
    session, rng = reference.session(path, optimised=False), np.random.default_rng(seed)
    computed = 0
    for _ in range(count):
        arrays = net.draw(rng, beyond=2)
        if expected_of(net, session, arrays) is None:
            require_sentence(net, model, arrays, sentences)
        else:
            compare(net, session, model, arrays)
            computed += 1
    model.close()
    require(computed >= count // 8, f"{part.__name__}: only {computed} draws are no refusals")
    print(f"{target}, {part.__name__}: {computed} draws hold, {count - computed} are refused",
          flush=True)


DIMS = ("height", "width", "n", "m")  # of the model with dims that have to be equal


def make_equal_net():
    """What is halved and doubled meets itself again; two inputs share a dim under two names."""
    net = SizedNet()
    x = net.input("x", [1, 2, "height", "width"])
    half = net.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1)
    scales = net.const([1, 1, 2, 2], np.float32)
    whole = net.op("Resize", half, "", scales, mode="nearest",
                   coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    net.output(net.op("Add", whole, x))
    net.output(net.op("Relu", net.op("Concat", x, whole, axis=1)))
    left, right = net.input("left", [3, "n"]), net.input("right", ["m", 4])
    net.output(net.op("MatMul", left, right))
    return net


def draw_dims(net, rng):
    """Inputs whose dims are small, and equal or even more often than not."""
    sizes = {name: int(rng.integers(1, 9)) for name in DIMS}
    if rng.integers(4):
        sizes |= {name: (sizes[name] + 1) // 2 * 2 for name in ("height", "width")}
        sizes["m"] = sizes["n"]
    shapes = {value.name: [sizes.get(d.dim_param, d.dim_value)
                           for d in value.type.tensor_type.shape.dim] for value in net.inputs}
    return {name: rng.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}


def check_equal(target, folder, seed, count):
    """Dims that are equal in the runs that are computed, and that end the others with a status."""
    net = make_equal_net()
    path = net.save(folder / "equal.onnx")
    flags = ["--cpu=x86-64-v3"] if target == "cpu" else []
    outdir = compile_model(path, target, folder, {name: "1..10" for name in DIMS}, flags)
    sentences = json.loads((outdir / "metadata.json").read_text())["checks"]
    build_library(outdir, target, folder / "equal.so")
    model = CompiledModel(folder / "equal.so", model_name(outdir))
    session, rng = reference.session(path, optimised=False), np.random.default_rng(seed)
    refused = 0
    for _ in range(count):
        arrays = draw_dims(net, rng)
        height, width = arrays["x"].shape[2:]
        fits = arrays["left"].shape[1] == arrays["right"].shape[0]
        if fits and height % 2 == 0 and width % 2 == 0:
            compare(net, session, model, arrays)
        else:
            require_sentence(net, model, arrays, sentences)
            refused += 1
    model.close()
    require(0 < refused < count, f"{refused} of {count} draws are refused")
    print(f"{target}, dims that have to be equal: {count - refused} draws hold, "
          f"{refused} are refused", flush=True)


def refuse(path, flags, wanted):
    """A compile that fails with that text."""
    words = [str(build_folder() / "aotc"), str(path), "-o", str(path.parent / "none"), *flags]
    done = subprocess.run(words, capture_output=True, text=True)
    require(done.returncode == 1 and wanted in done.stderr, f"{flags}: {done.stderr}")
    require(not (path.parent / "none").exists(), f"{flags}: an output folder is left")


def check_flags(net, folder):
    path = net.save(folder / "sizes.onnx")
    refuse(path, [], "--bound Expand")
    refuse(path, ["--dim=starts[0]=0..4"], "dim 'starts[1]' of the inputs has no maximum")
    refuse(path, ["--dim=starts[2]=0..4"], "--dim starts[2]: no such symbol")
    shaped = SizedNet()
    shaped.output(shaped.op("Relu", shaped.data("rows", 2)))
    refuse(shaped.save(folder / "rows.onnx"), ["--dim=rows=-1..4"], "a dim is not negative")


def check_target(net, target, folder, seed, count):
    path = net.save(folder / "sizes.onnx")
    flags = ["--cpu=x86-64-v3"] if target == "cpu" else []
    outdir = compile_model(path, target, folder, net.flags(), flags)
    build_library(outdir, target, folder / "model.so")
    model = CompiledModel(folder / "model.so", model_name(outdir))
    session, rng = reference.session(path, optimised=False), np.random.default_rng(seed)
    for _ in range(count):
        arrays = net.draw(rng)
        compare(net, session, model, arrays)
    refused = require_refusals(net, model, arrays)
    model.close()
    print(f"{target}: {count} draws of sizes hold, {refused} beyond their ranges are refused",
          flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=24, help="draws of sizes")
    parser.add_argument("--target", action="append", choices=["cpu", "cuda", "cuda-races"])
    options = parser.parse_args()
    net = make_net(slices, selections, repetitions, borders, computed, rounds)
    with tempfile.TemporaryDirectory(dir=build_folder()) as folder:
        try:
            check_flags(net, pathlib.Path(folder))
            for target in options.target or ["cpu", "cuda"]:
                check_target(net, target, pathlib.Path(folder), options.seed, options.count)
                for part in FREE_PARTS:
                    check_free(part, target, pathlib.Path(folder), options.seed, options.count * 4)
                check_equal(target, pathlib.Path(folder), options.seed, options.count)
        except Failure as failure:
            print(failure)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
