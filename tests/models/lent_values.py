"""Values of the table of aotc/model.h that are no plain tensors, for model_table.py.

A sequence is a list of arrays, or of maps; an optional is None or what it holds; a map is a dict of
numbers and texts; elements of numpy's type object are strings.
"""
import collections
import ctypes as C

import numpy as np

TENSOR, SEQUENCE, OPTIONAL, MAP = range(4)
STRING = 8  # onnx.TensorProto.DataType
STRING_BYTES = 16  # of an aotc_string: address and size
COLUMNS = {1: "f4", 7: "i8", 11: "f8", STRING: object}  # of keys and values of maps

# The classes of aotc_tensor and aotc_value, and a list that keeps what they point to.
Types = collections.namedtuple("Types", "tensor value keep")


def string_table(array, hold):
    """The bytes of an aotc_string for each element; hold(size) gives memory for what they say.
    Strings without bytes are nowhere.
    """
    texts = [text if isinstance(text, bytes) else str(text).encode() for text in array.flat]
    held = hold(sum(map(len, texts)))
    held.bytes[:] = np.frombuffer(b"".join(texts), np.uint8)
    table, begin = np.zeros((len(texts), 2), np.uint64), held.address
    for row, text in zip(table, texts):
        if text:
            row[:] = begin, len(text)
            begin += len(text)
    return np.frombuffer(table.tobytes(), np.uint8)


def strings_of(data, shape):
    """The strings of the bytes of an aotc_string each."""
    table = np.frombuffer(data, np.uint64).reshape(-1, 2).tolist()
    texts = np.empty(len(table), object)
    texts[:] = [C.string_at(begin, size).decode() if size else "" for begin, size in table]
    return texts.reshape(shape)


def children_of(given, info):
    """What a value that is no tensor holds, and the info of each."""
    if info.kind == MAP:
        return [np.array(list(one), COLUMNS[child.dtype]) for one, child in zip(
            (given.keys(), given.values()), info.children[:2])], info.children[:2]
    items = given if info.kind == SEQUENCE else [] if given is None else [given]
    return items, [info.children[0]] * len(items)


def lend(value, info, given, hold, types, what):
    """Fills a ctypes Value with `given`. hold(what, size) gives memory, types the classes."""
    value.kind = info.kind
    if info.kind == TENSOR:
        if info.dtype == STRING:
            data = string_table(given, lambda size: hold(f"{what}: text", size))
        else:
            data = np.frombuffer(given.tobytes(), np.uint8)
        held = hold(what, data.nbytes)
        held.bytes[:] = data
        dims = (C.c_int64 * 8)(*given.shape)
        value.tensor = types.tensor(held.address, data.nbytes, dims, given.ndim, info.dtype)
        return
    items, infos = children_of(given, info)
    array = (types.value * max(len(items), 1))()
    for index, (item, child) in enumerate(zip(items, infos)):
        lend(array[index], child, item, hold, types, f"{what}[{index}]")
    value.item_count = value.item_capacity = len(items)
    value.items = array
    types.keep.append(array)


def make_room(value, info, hold, types, what):
    """Room for whatever a model may give."""
    if info.kind == TENSOR:
        held = hold(what, info.max_bytes)
        value.tensor = types.tensor(held.address, info.max_bytes)
        return
    count = {SEQUENCE: info.max_items, OPTIONAL: 1, MAP: 2}[info.kind]
    array = (types.value * max(count, 1))()
    for index in range(count):
        make_room(array[index], child_at(info, index), hold, types, f"{what}[{index}]")
    value.item_capacity, value.items = count, array
    types.keep.append(array)


def child_at(info, index):
    return info.children[index if info.kind == MAP else 0]


def taken(value, info, array_of, what):
    """What a model has given: an array, a list, a dict, or None."""
    if value.kind != info.kind:
        raise ValueError(f"{what}: kind {value.kind} after the run")
    if info.kind == TENSOR:
        return array_of(info, value.tensor, what)
    items = [taken(value.items[index], child_at(info, index), array_of, f"{what}[{index}]")
             for index in range(value.item_count)]
    if info.kind == SEQUENCE:
        return items
    if info.kind == MAP:
        return dict(zip(items[0].tolist(), items[1].tolist()))
    return items[0] if items else None

