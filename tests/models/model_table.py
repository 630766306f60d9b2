"""Runs a compiled model through the table of aotc/model.h.

    model = model_table.CompiledModel("model.so", "mobilenet")
    outputs = model.run({"image": image}, workers=2, fill=0xFF)

Memory lent to the model is filled before, and lies between guard zones which are looked at after,
and where AddressSanitizer is there, not even read.
"""
import ctypes as C
import functools
import math
import pathlib

import ml_dtypes
import numpy as np

import lent_values
from build_output import Failure

I32, I64, SIZE, PTR = C.c_int32, C.c_int64, C.c_size_t, C.c_void_p
NUMPY = {1: "f4", 2: "u1", 3: "i1", 4: "u2", 5: "i2", 6: "i4", 7: "i8", 9: "?", 10: "f2", 11: "f8",
         12: "u4", 13: "u8", 16: ml_dtypes.bfloat16, 17: ml_dtypes.float8_e4m3fn,
         18: ml_dtypes.float8_e4m3fnuz, 19: ml_dtypes.float8_e5m2, 20: ml_dtypes.float8_e5m2fnuz,
         21: ml_dtypes.uint4, 22: ml_dtypes.int4, 23: ml_dtypes.float4_e2m1fn,
         24: ml_dtypes.float8_e8m0fnu, 25: ml_dtypes.uint2,
         26: ml_dtypes.int2}  # onnx.TensorProto.DataType
# Bits of those of which several lie in one byte, the first in its lowest bits.
PACKED_BITS = {21: 4, 22: 4, 23: 4, 25: 2, 26: 2}
ALIGNMENT, GUARD_BYTES, GUARD = 64, 4096, 0xA5


class Tensor(C.Structure):
    _fields_ = [("data", PTR), ("capacity_bytes", SIZE), ("dims", I64 * 8), ("rank", I32),
                ("dtype", I32)]


class Value(C.Structure):
    pass


Value._fields_ = [("kind", I32), ("item_count", I32), ("item_capacity", I32),
                  ("items", C.POINTER(Value)), ("tensor", Tensor)]


class ValueInfo(C.Structure):
    pass


ValueInfo._fields_ = [("name", C.c_char_p), ("kind", I32), ("child_count", I32),
                      ("children", C.POINTER(ValueInfo)), ("max_items", I32), ("dtype", I32),
                      ("rank", I32), ("min_dims", I64 * 8), ("max_dims", I64 * 8),
                      ("dim_names", C.c_char_p * 8), ("max_bytes", SIZE)]


class Alias(C.Structure):
    _fields_ = [("input", I32), ("output", I32), ("strides", I64 * 8)]


class Parallel(C.Structure):
    _fields_ = [("context", PTR), ("workers", I32), ("run", PTR)]


class Table(C.Structure):
    _fields_ = [("abi_version", C.c_uint32), ("name", C.c_char_p), ("producer", C.c_char_p),
                ("input_count", I32), ("output_count", I32), ("inputs", C.POINTER(ValueInfo)),
                ("outputs", C.POINTER(ValueInfo)), ("arena_bytes", SIZE), ("arena_align", SIZE),
                ("instance_bytes", SIZE), ("create", C.CFUNCTYPE(I32, PTR)),
                ("run", C.CFUNCTYPE(I32, PTR, C.POINTER(Value), C.POINTER(Value), PTR,
                                    C.POINTER(Parallel))),
                ("destroy", C.CFUNCTYPE(I32, PTR)),
                ("pool_create", C.CFUNCTYPE(I32, I32, C.POINTER(Parallel))),
                ("pool_destroy", C.CFUNCTYPE(None, C.POINTER(Parallel))),
                ("status_text", C.CFUNCTYPE(C.c_char_p, I32)),
                ("set_weights", C.CFUNCTYPE(I32, PTR, PTR, SIZE)),
                ("alias_count", I32), ("aliases", C.POINTER(Alias))]


def shifts(bits):
    """Where the elements of a byte begin."""
    return np.arange(0, 8, bits, dtype=np.uint8)


def pack(elements, bits):
    """Bytes of several elements each, of one element a byte."""
    whole = np.append(elements, np.zeros(-elements.size % (8 // bits), np.uint8)) % (1 << bits)
    return np.bitwise_or.reduce(whole.reshape(-1, 8 // bits) << shifts(bits), axis=1)


def unpack(data, bits, count):
    """One element a byte. What lies behind the last one is 0."""
    elements = (data[:, None] >> shifts(bits)).reshape(-1) % (1 << bits)
    if elements[count:].any():
        raise Failure(f"{elements[count:]} lies behind the last element of {bits} bits")
    return elements[:count]


@functools.cache
def sanitizer(way):
    """AddressSanitizer's function that says of memory that nobody may use it ("poison"), or that
    one may again ("unpoison"); None where this process does without it.
    """
    return getattr(C.CDLL(None), f"__asan_{way}_memory_region", None)


class Memory:
    """Aligned bytes between two guard zones."""

    def __init__(self, size, fill, what):
        self.what, self.size = what, size
        self.raw = np.full(size + 2 * GUARD_BYTES + ALIGNMENT, GUARD, np.uint8)
        self.start = GUARD_BYTES + -(self.raw.ctypes.data + GUARD_BYTES) % ALIGNMENT
        self.bytes = self.raw[self.start:self.start + size]
        self.bytes[:] = fill
        self.mark_guards("poison")

    def __del__(self):
        self.mark_guards("unpoison")

    def mark_guards(self, way):
        mark = sanitizer(way)
        for zone in self.guards() if mark else ():
            mark(PTR(zone.ctypes.data), SIZE(zone.nbytes))

    def guards(self):
        return self.raw[:self.start], self.raw[self.start + self.size:]

    @property
    def address(self):
        return self.raw.ctypes.data + self.start if self.size else None

    def tensor(self, dtype, shape, strides):
        """Elements of the memory as a tensor, `strides` of elements apart."""
        steps = [np.dtype(dtype).itemsize * stride for stride in strides[:len(shape)]]
        return np.lib.stride_tricks.as_strided(self.bytes.view(dtype), shape, steps)

    def verify(self):
        if any((zone != GUARD).any() for zone in self.guards()):
            raise Failure(f"the model wrote outside of {self.what}")


class CompiledModel:
    """One model of a shared library, with an instance of it."""

    def __init__(self, library, name):
        self.library = C.CDLL(str(pathlib.Path(library).resolve()))
        entry = getattr(self.library, f"{name}_model")
        entry.restype = C.POINTER(Table)
        self.table = entry().contents
        if self.table.abi_version != 2:
            raise Failure(f"ABI version {self.table.abi_version}")
        self.inputs = self.table.inputs[:self.table.input_count]
        self.outputs = self.table.outputs[:self.table.output_count]
        self.aliases = self.table.aliases[:self.table.alias_count]
        self.instance = Memory(self.table.instance_bytes, 0xFF, "the instance")
        self.check(self.table.create(self.instance.address), "create")

    def close(self):
        self.check(self.table.destroy(self.instance.address), "destroy")

    def check(self, status, call):
        if status:
            text = self.table.status_text(status).decode()
            raise Failure(f"{call}: status {status}, {text}")

    @property
    def has_threads(self):
        return bool(self.table.pool_create)

    def run(self, arrays, workers=1, fill=0xFF):
        """Outputs by name. `fill` is what arena and outputs hold before."""
        prepared = Run(self, arrays, workers, fill)
        prepared.call()
        prepared.close()
        return prepared.results()


class Run:
    """Everything that one run needs, ready to be called as often as one likes."""

    def __init__(self, model, arrays, workers=1, fill=0xFF):
        self.model, self.workers = model, workers
        self.given = (Value * (len(model.inputs) + 1))()
        self.lent = (Value * (len(model.outputs) + 1))()
        self.memory = {"arena": Memory(model.table.arena_bytes, fill, "the arena")}
        self.keep = []  # arrays of items, as long as the model may look at them
        types = lent_values.Types(Tensor, Value, self.keep)
        for value, info in zip(self.given, model.inputs):
            name = info.name.decode()
            if info.kind == lent_values.TENSOR:
                self.lend_input(value, info, arrays[name])
            else:
                lent_values.lend(value, info, arrays[name],
                                  lambda what, size: self.hold(what, size, 0), types,
                                  f"input {name}")
        for value, info in zip(self.lent, model.outputs):
            lent_values.make_room(value, info, lambda what, size: self.hold(what, size, fill),
                                   types, f"output {info.name.decode()}")
        self.inputs = {n: m.bytes.copy() for n, m in self.memory.items() if n.startswith("input")}
        for alias in model.aliases:
            self.share(alias, arrays[model.inputs[alias.input].name.decode()])
        self.pool = Parallel()
        if workers > 1:
            model.check(model.table.pool_create(workers, C.byref(self.pool)), "pool_create")

    def hold(self, what, size, fill):
        self.memory[what] = Memory(size, fill, what)
        return self.memory[what]

    def lend_input(self, value, info, array):
        name = f"input {info.name.decode()}"
        if info.dtype == lent_values.STRING:
            data = lent_values.string_table(array, lambda size: self.hold(f"{name}: text", size, 0))
        else:
            data = np.frombuffer(array.tobytes(), np.uint8)
        if info.dtype in PACKED_BITS:
            data = pack(data, PACKED_BITS[info.dtype])
        held = self.hold(name, data.nbytes, 0)
        held.bytes[:] = data
        dims = (I64 * 8)(*array.shape)
        value.tensor = Tensor(held.address, data.nbytes, dims, array.ndim, info.dtype)

    def share(self, alias, array):
        """Puts an input, with the strides of the pair, into the memory of the output."""
        name = self.model.inputs[alias.input].name.decode()
        held = self.memory[f"output {self.model.outputs[alias.output].name.decode()}"]
        held.tensor(array.dtype, array.shape, alias.strides)[...] = array
        tensor = self.given[alias.input].tensor
        tensor.data, tensor.capacity_bytes = held.address, held.size
        del self.inputs[f"input {name}"]

    def call(self):
        parallel = C.byref(self.pool) if self.workers > 1 else None
        status = self.model.table.run(self.model.instance.address, self.given, self.lent,
                                      self.memory["arena"].address, parallel)
        self.model.check(status, f"run with {self.workers} workers")

    def close(self):
        if self.workers > 1:
            self.model.table.pool_destroy(C.byref(self.pool))

    def results(self):
        """Outputs by name, after a look at the guards and the inputs."""
        for held in (*self.memory.values(), self.model.instance):
            held.verify()
        for name, before in self.inputs.items():
            if (self.memory[name].bytes != before).any():
                raise Failure(f"the model changed {name}")
        strides = {alias.output: alias.strides for alias in self.model.aliases}
        pairs = enumerate(zip(self.model.outputs, self.lent))
        return {info.name.decode(): lent_values.taken(
            value, info, lambda info, tensor, what, i=i: self.result(info, tensor, what,
                                                                     strides.get(i)),
            f"output {info.name.decode()}") for i, (info, value) in pairs}

    def result(self, info, tensor, what, strides):
        if tensor.dtype != info.dtype or not 0 <= tensor.rank <= 8:
            raise Failure(f"{what}: rank {tensor.rank}, dtype {tensor.dtype} after the run")
        shape = tuple(tensor.dims[:tensor.rank])
        is_strings, bits = info.dtype == lent_values.STRING, PACKED_BITS.get(info.dtype)
        count, dtype = math.prod(shape), np.dtype(object if is_strings else NUMPY[info.dtype])
        width = lent_values.STRING_BYTES if is_strings else dtype.itemsize
        size = -(-count * bits // 8) if bits else count * width
        if min(shape, default=0) < 0 or size > info.max_bytes:
            raise Failure(f"{what}: dims {shape} after the run")
        if strides is not None:
            return self.memory[what].tensor(dtype, shape, strides).copy()
        data = self.memory[what].bytes[:size]
        if is_strings:
            return lent_values.strings_of(data, shape)
        data = unpack(data, bits, count) if bits else data
        if dtype == bool and data.size and data.max() > 1:
            raise Failure(f"{what}: a bool is {data.max()}")
        return np.frombuffer(data.tobytes(), dtype).reshape(shape)
