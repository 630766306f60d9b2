"""Values of every kind through the table of aotc/model.h: tensors, also of strings and of elements
of few bits, sequences (lists), optionals (None or what they hold) and maps (dicts).

    outputs = table_values.run(CompiledModel("model.so", "net"), [image, [first, second], None])
"""
import ctypes as C
import math

import ml_dtypes
import numpy as np

import lent_values
import model_table
from build_output import Failure
from lent_values import STRING, STRING_BYTES
from model_table import I64, Memory, Tensor, Value

TENSOR, SEQUENCE, OPTIONAL, MAP = range(4)
NUMPY = {**model_table.NUMPY, 24: ml_dtypes.float8_e8m0fnu, 25: ml_dtypes.uint2,
         26: ml_dtypes.int2}
BITS = {21: 4, 22: 4, 23: 4, 25: 2, 26: 2}  # of elements that share a byte, the first lowest


def pack(array, bits):
    """The bytes of elements, one of which numpy holds in a byte each."""
    per_byte = 8 // bits
    low = array.view(np.uint8).ravel() & (1 << bits) - 1
    rows = np.append(low, np.zeros(-low.size % per_byte, np.uint8)).reshape(-1, per_byte)
    return (rows << np.arange(per_byte, dtype=np.uint8) * bits).sum(1).astype(np.uint8)


def unpack(data, bits, count):
    shifts = np.arange(8 // bits, dtype=np.uint8) * bits
    return ((data[:, None] >> shifts) & (1 << bits) - 1).ravel()[:count].astype(np.uint8)


class Call:
    """One run of a model; holds the memory that the run is lent."""

    def __init__(self, model):
        self.model, self.held = model, []

    def hold(self, size, fill, what):
        self.held.append(Memory(size, fill, what))
        return self.held[-1]

    def give_tensor(self, value, info, array, what):
        if info.dtype == STRING:
            data = lent_values.string_table(array, lambda size: self.hold(size, 0, what))
        elif info.dtype in BITS:
            data = pack(np.ascontiguousarray(array), BITS[info.dtype])
        else:
            data = np.frombuffer(array.astype(NUMPY[info.dtype], copy=False).tobytes(), np.uint8)
        held = self.hold(data.nbytes, 0, what)
        held.bytes[:] = data
        dims = (I64 * 8)(*array.shape)
        value.tensor = Tensor(held.address, data.nbytes, dims, array.ndim, info.dtype)

    def give(self, value, info, data, what):
        """An input."""
        value.kind = info.kind
        if info.kind == TENSOR:
            self.give_tensor(value, info, np.asarray(data), what)
            return
        if info.kind == OPTIONAL:
            items, infos = ([] if data is None else [data]), [info.children[0]]
        elif info.kind == MAP:
            items = [np.array(list(data)), np.array(list(data.values()))]
            infos = [info.children[0], info.children[1]]
        else:
            items, infos = list(data), [info.children[0]] * len(data)
        value.item_count = value.item_capacity = len(items)
        value.items = (Value * max(len(items), 1))()
        for item, (child, one) in enumerate(zip(infos, items)):
            self.give(value.items[item], child, one, what)

    def lend(self, value, info, what):
        """Room for an output, full of ones; what the model writes is nonsense before."""
        value.kind = value.item_count = value.tensor.rank = value.tensor.dtype = -1
        if info.kind == TENSOR:
            held = self.hold(info.max_bytes, 0xFF, what)
            value.tensor.data, value.tensor.capacity_bytes = held.address, info.max_bytes
            return
        count = {SEQUENCE: info.max_items, OPTIONAL: 1, MAP: 2}[info.kind]
        value.item_capacity = count
        value.items = (Value * max(count, 1))()
        for item in range(count):
            self.lend(value.items[item], info.children[item if info.kind == MAP else 0], what)

    def read_tensor(self, value, info, what):
        tensor = value.tensor
        shape = tuple(tensor.dims[:max(tensor.rank, 0)])
        if tensor.dtype != info.dtype or not 0 <= tensor.rank <= 8 or min(shape, default=0) < 0:
            raise Failure(f"{what}: dtype {tensor.dtype}, rank {tensor.rank}, dims {shape}")
        count = math.prod(shape)
        if info.dtype == STRING:
            size = count * STRING_BYTES
        elif info.dtype in BITS:
            size = -(-count * BITS[info.dtype] // 8)
        else:
            size = count * np.dtype(NUMPY[info.dtype]).itemsize
        if size > tensor.capacity_bytes:
            raise Failure(f"{what}: dims {shape} do not fit")
        data = C.string_at(tensor.data, size) if size else b""
        if info.dtype == STRING:
            return lent_values.strings_of(data, shape)
        if info.dtype in BITS:
            elements = unpack(np.frombuffer(data, np.uint8), BITS[info.dtype], count)
            return sign_extended(elements, info.dtype).reshape(shape)
        return np.frombuffer(data, NUMPY[info.dtype]).reshape(shape)

    def read(self, value, info, what):
        """What an output holds after the run."""
        if value.kind != info.kind:
            raise Failure(f"{what}: kind {value.kind} after the run")
        if info.kind == TENSOR:
            return self.read_tensor(value, info, what)
        if not 0 <= value.item_count <= value.item_capacity:
            raise Failure(f"{what}: {value.item_count} items after the run")
        items = [self.read(value.items[i], info.children[i if info.kind == MAP else 0], what)
                 for i in range(value.item_count)]
        if info.kind == OPTIONAL:
            return items[0] if items else None
        if info.kind == MAP:
            return dict(zip(items[0].tolist(), items[1].tolist()))
        return items


def sign_extended(elements, dtype):
    """Bytes of which the lowest bits count, as elements of numpy's type."""
    kind = np.dtype(NUMPY[dtype])
    if dtype in (22, 26):  # signed
        top = 1 << BITS[dtype] - 1
        return ((elements.astype(np.int8) ^ top) - top).astype(kind)
    return elements.view(kind) if kind.itemsize == 1 else elements.astype(kind)


def run(model, data):
    """Outputs in order, of inputs in order. Failure with the status of a run that has one."""
    call = Call(model)
    given, lent = ((Value * (len(infos) + 1))() for infos in (model.inputs, model.outputs))
    for value, info, one in zip(given, model.inputs, data):
        call.give(value, info, one, f"input {info.name.decode()}")
    for value, info in zip(lent, model.outputs):
        call.lend(value, info, f"output {info.name.decode()}")
    arena = call.hold(model.table.arena_bytes, 0xFF, "the arena")
    status = model.table.run(model.instance.address, given, lent, arena.address, None)
    model.check(status, "run")
    for held in (*call.held, model.instance):
        held.verify()
    return [call.read(value, info, f"output {info.name.decode()}")
            for value, info in zip(lent, model.outputs)]
