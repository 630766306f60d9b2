#!/usr/bin/env python3
"""Sizes that come with a run: shape operands that are inputs of the graph, bounded by --dim.

    tests/models/check_sizes.py                # 24 draws on the CPU and on CUDA under emulation
    tests/models/check_sizes.py --seed 7 --count 200 --target cpu

One model with a part for each op that takes sizes is compiled once per target, and run with sizes
drawn from the whole of their ranges. Every number and every dim is onnxruntime's. Each size just
beyond its range is a status, before anything is written. Exit status 0: all holds.
"""
import argparse
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

VALUE = 7  # AOTC_ERROR_VALUE
FILL = 0xA5


class SizedNet(Net):
    """The parts of the model, each with sizes of its own."""

    def __init__(self):
        super().__init__(opset=21)
        self.ranges = {}  # of elements: input -> [(least, most)], in order

    def sizes(self, name, ranges, dtype=np.int64, scalar=False):
        """An input of integers, each within its range."""
        self.ranges[name] = ranges
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

    def draw(self, rng):
        """Inputs: the ends of a range are as likely as all between them."""
        arrays = {}
        for value in self.inputs:
            shape = [d.dim_value for d in value.type.tensor_type.shape.dim]
            if value.name not in self.ranges:
                arrays[value.name] = rng.standard_normal(shape).astype(np.float32)
                continue
            drawn = [int(rng.choice([least, most, rng.integers(least, most + 1)]))
                     for least, most in self.ranges[value.name]]
            dtype = helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
            arrays[value.name] = np.asarray(drawn, dtype).reshape(shape)
        return arrays


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
    depth = net.sizes("depth", [(1, 7)], scalar=True)
    indices = net.const([0, 5, 2, 1])
    net.output(net.op("OneHot", indices, depth, net.const([0, 1], np.float32)))


def repetitions(net):
    net.output(net.op("Expand", net.data(1, 3), net.sizes("expanded", [(0, 5), (3, 3)])))
    net.output(net.op("Tile", net.data(2, 3), net.sizes("repeats", [(0, 3), (1, 2)])))
    filled = net.op("ConstantOfShape", net.sizes("filled", [(0, 4), (1, 5)]),
                    value=helper.make_tensor("v", TensorProto.FLOAT, [1], [2.5]))
    net.output(filled)
    start = net.sizes("start", [(-3, 3)], scalar=True)
    limit = net.sizes("limit", [(-2, 6)], scalar=True)
    net.output(net.op("Range", start, limit, net.const(2)), TensorProto.INT64)


def borders(net):
    net.output(net.op("Pad", net.data(3, 4), net.sizes("pads", [(0, 2), (-1, 2), (0, 3), (-2, 1)])))
    sizes = net.sizes("resized", [(1, 1), (2, 2), (1, 9), (3, 8)])
    net.output(net.op("Resize", net.data(1, 2, 3, 5), "", "", sizes, mode="nearest",
                      nearest_mode="floor", coordinate_transformation_mode="asymmetric"))


def computed(net):
    """Sizes that are computed of sizes, which are data too."""
    n = net.sizes("n", [(1, 6)])
    rows = net.op("Mul", n, net.const([2]))
    shape = net.op("Concat", rows, net.const([6]), axis=0)
    wide = net.op("Expand", net.data(1, 6), shape)
    narrow = net.op("Concat", n, net.const([12]), axis=0)
    moved = net.op("Reshape", wide, narrow)
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


def make_net():
    net = SizedNet()
    for part in (slices, selections, repetitions, borders, computed, rounds):
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


def refuse(path, flags, wanted):
    """A compile that fails with that text."""
    words = [str(build_folder() / "aotc"), str(path), "-o", str(path.parent / "none"), *flags]
    done = subprocess.run(words, capture_output=True, text=True)
    require(done.returncode == 1 and wanted in done.stderr, f"{flags}: {done.stderr}")
    require(not (path.parent / "none").exists(), f"{flags}: an output folder is left")


def check_flags(net, folder):
    path = net.save(folder / "sizes.onnx")
    refuse(path, [], "--dim 'starts[0]=1..8' the range that it has in a run")
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
    net = make_net()
    with tempfile.TemporaryDirectory(dir=build_folder()) as folder:
        try:
            check_flags(net, pathlib.Path(folder))
            for target in options.target or ["cpu", "cuda"]:
                check_target(net, target, pathlib.Path(folder), options.seed, options.count)
        except Failure as failure:
            print(failure)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
