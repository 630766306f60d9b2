"""Families of operators about shapes, of choices whose number depends on data, of logic, of
windows, and of attention over heads.
"""
import numpy as np
from onnx import numpy_helper

from operator_case import Node, vector

FLOATS = ("f4", "f4", "f2", "f8")


def logic(draw):
    shape, op = draw.shape(), draw.pick(["And", "Or", "Xor", "Not"])
    other = [1 if draw.chance(0.25) else d for d in shape[draw.dim(0, len(shape)):]]
    operands = [draw.ints(0, 1, shape, "?"), draw.ints(0, 1, other, "?")]
    return Node(op, operands[:1 if op == "Not" else 2])


def identity(draw):
    return Node("Identity", [draw.numbers(draw.shape(0, 4))])


def shape(draw):
    x, attributes = draw.numbers(draw.shape(0, 4)), {}
    if draw.chance(0.5):
        attributes["start"] = draw.dim(-5, 5)
    if draw.chance(0.5):
        attributes["end"] = draw.dim(-5, 5)
    return Node("Shape", [x], attributes)


def size(draw):
    return Node("Size", [draw.numbers(draw.shape(0, 4))])


def flatten(draw):
    x = draw.numbers(draw.shape(0, 4))
    return Node("Flatten", [x], {"axis": draw.dim(-x.ndim, x.ndim)})


def squeeze(draw):
    dims = draw.shape(1, 5, 1, 3)
    ones = [i for i, d in enumerate(dims) if d == 1]
    axes = [a - draw.pick([0, len(dims)]) for a in draw.subset(ones, 1)] if ones else []
    operands = [draw.numbers(dims)]
    if axes and draw.chance(0.7):
        operands.append(vector(*axes))
    return Node("Squeeze", operands, known=(1,))


def unsqueeze(draw):
    dims = draw.shape(0, 4)
    added = draw.dim(1, 3)
    rank = len(dims) + added
    axes = draw.subset(range(rank))[:added] or [0]
    while len(axes) < added:
        axes = draw.subset(range(rank), added)[:added]
    return Node("Unsqueeze", [draw.numbers(dims), vector(*(a - draw.pick([0, rank])
                                                           for a in axes))], known=(1,))


def constant(draw):
    array = draw.numbers(draw.shape(0, 3))
    attributes = draw.pick([{"value": numpy_helper.from_array(np.asarray(array))},
                            {"value_float": 0.75}, {"value_int": draw.dim(-9, 9)},
                            {"value_floats": [0.5, -1.5]}, {"value_ints": [3, -4, 5]}])
    return Node("Constant", [], attributes)


def constant_of_shape(draw):
    dims, attributes = draw.shape(0, 4), {}
    if draw.chance(0.8):
        attributes["value"] = numpy_helper.from_array(draw.numbers([1]))
    return Node("ConstantOfShape", [vector(*dims)], attributes, known=(0,))


def cast_like(draw):
    x = draw.numbers(draw.shape(), ("f4", "i4", "i8", "u1", "f2", "f8", "?"))
    x = np.abs(x) if x.dtype != bool else x
    return Node("CastLike", [x, draw.numbers(draw.shape(), ("f4", "i4", "i8", "u1", "i1", "f2",
                                                           "f8", "?"))])


def dropout(draw):
    operands = [draw.floats(draw.shape(), draw.pick(FLOATS))]
    if draw.chance(0.6):
        operands.append(np.array(draw.pick([0.0, 0.4]), "f4"))
    return Node("Dropout", operands, known=(1,), outputs=draw.dim(1, 2))


def compress(draw):
    x = draw.numbers(draw.shape())
    axis = draw.axis(x.ndim) if draw.chance(0.7) else None
    most = x.size if axis is None else x.shape[axis]
    condition = draw.rng.random(draw.dim(0, most)) < draw.pick([0.0, 0.3, 0.7, 1.0])
    return Node("Compress", [x, condition], {} if axis is None else {"axis": axis})


def non_zero(draw):
    # Of a scalar onnxruntime gives [1, n], as numpy did, where ONNX's text says [0, n].
    x = draw.numbers(draw.shape(1, 4), ("f4", "i4", "i8", "?", "u1"))
    kept = draw.rng.random(x.shape) < draw.pick([0.0, 0.3, 0.7, 1.0])
    return Node("NonZero", [np.asarray(np.where(kept, x, x.dtype.type(0)))])


def unique(draw):
    x = draw.numbers(draw.shape(1, 3), ("i8", "f4", "i1", "f8"))
    if x.dtype.kind == "f":
        x = np.round(x)
    attributes = {"sorted": draw.dim(0, 1)}
    if draw.chance(0.6):
        attributes["axis"] = draw.axis(x.ndim)
    outputs = draw.dim(1, 4)
    unwanted = tuple(i for i in range(1, outputs - 1) if draw.chance(0.3))
    return Node("Unique", [x], attributes, outputs=outputs, unwanted=unwanted)


def non_max_suppression(draw):
    batch, classes, boxes = draw.dim(1, 2), draw.dim(1, 3), draw.dim(1, 9)
    corner = draw.rng.uniform(0, 4, [batch, boxes, 2])
    size_of = draw.rng.uniform(0.5, 4, [batch, boxes, 2])
    is_center = draw.dim(0, 1)
    ends = size_of if is_center else corner + size_of
    places = np.concatenate([corner, ends], -1).astype("f4")
    if not is_center and draw.chance(0.3):
        places = places[..., [2, 3, 0, 1]]
    operands = [places, draw.positive([batch, classes, boxes], 0, 1)]
    if draw.chance(0.9):
        operands.append(vector(draw.dim(0, boxes)))
        if draw.chance(0.8):
            operands.append(np.array([draw.pick([0.0, 0.3, 0.5, 1.0])], "f4"))
            if draw.chance(0.6):
                operands.append(np.array([draw.pick([0.0, 0.3, 0.7])], "f4"))
    return Node("NonMaxSuppression", operands, {"center_point_box": is_center}, known=(2,))


def max_unpool(draw):
    """With the places that a MaxPool gives: each channel's own."""
    spatial = [draw.dim(1, 4) for _ in range(draw.dim(1, 2))]
    lead = [draw.dim(1, 2), draw.dim(1, 3)]
    kernel = [draw.dim(1, 3) for _ in spatial]
    strides = [draw.dim(1, k) for k in kernel]
    pads = [draw.dim(0, (k - 1) // 2) for k in kernel] * 2
    count = len(spatial)
    result = [(d - 1) * s + k - pads[i] - pads[i + count]
              for i, (d, s, k) in enumerate(zip(spatial, strides, kernel))]
    x, total = draw.floats([*lead, *spatial]), int(np.prod(result))
    channels = [draw.rng.permutation(total)[:int(np.prod(spatial))] + i * total
                for i in range(int(np.prod(lead)))]
    places = np.array(channels, "i8").reshape(x.shape)
    return Node("MaxUnpool", [x, places], {"kernel_shape": kernel, "strides": strides,
                                           "pads": pads}, opset=11)


def cumulative_product(draw):
    dims = draw.shape(1, 4)
    return Node("CumProd", [draw.numbers(dims, ("f4", "f8", "i4", "i8")),
                            np.array(draw.axis(len(dims)))],
                {"exclusive": draw.dim(0, 1), "reverse": draw.dim(0, 1)}, known=(1,), opset=26,
                reference="onnx")


def swish(draw):
    attributes = {"alpha": draw.pick([1.0, 0.5, 1.7])} if draw.chance(0.6) else {}
    return Node("Swish", [draw.floats(draw.shape(), draw.pick(FLOATS))], attributes, opset=24,
                reference="onnx")


def window(draw):
    op = draw.pick(["BlackmanWindow", "HammingWindow", "HannWindow"])
    return Node(op, [np.array(draw.dim(1, 40), draw.pick(["i8", "i4"]))],
                {"periodic": draw.dim(0, 1), "output_datatype": draw.pick([1, 1, 11])}, known=(0,))


def mel_weights(draw):
    rate = draw.pick([8000, 16000, 22050])
    low = draw.pick([0.0, 20.0, 300.0])
    return Node("MelWeightMatrix", [np.array(draw.dim(2, 9)), np.array(draw.pick([16, 32, 64])),
                                    np.array(rate), np.array(low, "f4"),
                                    np.array(rate / 2, "f4")], known=(0, 1, 2, 3, 4))


def rotary(draw):
    batch, heads, steps, half = draw.dim(1, 2), draw.dim(1, 3), draw.dim(1, 5), draw.dim(1, 4)
    rotated = 2 * half
    width = rotated + draw.pick([0, 0, 2, 4])
    attributes = {"interleaved": draw.dim(0, 1)}
    if width != rotated:
        attributes["rotary_embedding_dim"] = rotated
    dims = [batch, heads, steps, width]
    if draw.chance(0.5):
        dims, attributes["num_heads"] = [batch, steps, heads * width], heads
    if draw.chance(0.6):
        rows = steps + draw.dim(0, 3)
        tables = [draw.floats([rows, half]) for _ in range(2)]
        return Node("RotaryEmbedding", [draw.floats(dims), *tables,
                                        draw.ints(0, rows - 1, [batch, steps])], attributes,
                    opset=23)
    tables = [draw.floats([batch, steps, half]) for _ in range(2)]
    return Node("RotaryEmbedding", [draw.floats(dims), *tables], attributes, opset=23)


def attention(draw):
    batch, kv_heads, shared = draw.dim(1, 2), draw.dim(1, 2), draw.dim(1, 2)
    steps, keys, size_of = draw.dim(1, 5), draw.dim(1, 6), draw.pick([1, 2, 4, 8])
    wide, heads = draw.pick([size_of, draw.dim(1, 4)]), kv_heads * shared
    past = draw.dim(1, 3) if draw.chance(0.3) else 0
    mask = None
    if draw.chance(0.6):
        dims = draw.pick([[steps, keys + past], [batch, 1, steps, keys + past],
                          [batch, heads, steps, keys + past]])
        mask = draw.floats(dims) if draw.chance(0.5) else draw.rng.random(dims) < 0.8
        if mask.dtype == bool:
            mask[..., 0] = True  # a row without any key has no defined result
    attributes = {"is_causal": int(mask is None and draw.chance(0.4))}
    if draw.chance(0.3):
        attributes["scale"] = 0.4
    if draw.chance(0.2):
        attributes["softcap"] = 2.0
    q, k, v = (draw.floats([batch, h, s, d]) for h, s, d in (
        (heads, steps, size_of), (kv_heads, keys, size_of), (kv_heads, keys, wide)))
    if draw.chance(0.4):
        q, k, v = (a.transpose(0, 2, 1, 3).reshape(batch, a.shape[2], -1) for a in (q, k, v))
        attributes.update(q_num_heads=heads, kv_num_heads=kv_heads)
    operands = [q, k, v, mask]
    if past:
        operands += [draw.floats([batch, kv_heads, past, size_of]),
                     draw.floats([batch, kv_heads, past, wide])]
    # Behind a past onnxruntime leaves out the causal mask of a single row.
    by_onnx = {"reference": "onnx"} if past and steps == 1 and attributes["is_causal"] else {}
    return Node("Attention", operands, attributes, outputs=3 if past else 1, opset=23,
                tolerance=1e-3, **by_onnx)


FAMILIES = (logic, identity, shape, size, flatten, squeeze, unsqueeze, constant, constant_of_shape,
            cast_like, dropout, compress, non_zero, unique, non_max_suppression, max_unpool,
            cumulative_product, swish, window, mel_weights, rotary, attention)
