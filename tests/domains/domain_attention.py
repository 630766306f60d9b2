"""Families of attention of com.microsoft."""
import numpy as np

from domain_fused import ms_node


def mask_for(draw, batch, steps, keys):
    return draw.pick([None, None, draw.ints(1, keys, [batch], "i4"),
                      draw.ints(0, 1, [batch, keys], "i4"),
                      draw.ints(0, 1, [batch, steps, keys], "i4")])


def multi_head(draw):
    batch, heads, steps, size = draw.dim(1, 2), draw.dim(1, 3), draw.dim(1, 5), draw.dim(1, 4)
    past = draw.dim(1, 3) if draw.chance(0.3) else 0
    wide = size if past else draw.dim(1, 4)
    keys = draw.pick([steps, draw.dim(1, 6)])
    operands = [draw.floats([batch, steps, heads * size]), draw.floats([batch, keys, heads * size]),
                draw.floats([batch, keys, heads * wide]),
                draw.floats([heads * (2 * size + wide)]) if draw.chance(0.4) else None,
                mask_for(draw, batch, steps, keys + past),
                draw.floats([draw.pick([1, batch]), draw.pick([1, heads]), steps, keys + past])
                if draw.chance(0.4) else None]
    if past:
        operands += [draw.floats([batch, heads, past, size]),
                     draw.floats([batch, heads, past, wide])]
    attributes = {"num_heads": heads}
    if keys == steps and draw.chance(0.5):  # else onnxruntime lets the last query see all keys
        attributes["unidirectional"] = 1
    if draw.chance(0.3):
        attributes["scale"] = 0.4
    return ms_node("MultiHeadAttention", operands, attributes, outputs=3 if past else 1,
                   tolerance=1e-3)


def attention(draw):
    batch, heads, steps, size = draw.dim(1, 2), draw.dim(1, 3), draw.dim(1, 5), draw.dim(1, 4)
    width, channels = heads * size, draw.dim(1, 6)
    past = draw.dim(1, 3) if draw.chance(0.3) else 0
    operands = [draw.floats([batch, steps, channels]), draw.floats([channels, 3 * width]),
                draw.floats([3 * width]), mask_for(draw, batch, steps, steps + past),
                draw.floats([2, batch, heads, past, size]) if past else None,
                draw.floats([1, heads, steps, steps + past]) if draw.chance(0.3) else None]
    attributes = {"num_heads": heads}
    if draw.chance(0.4):
        attributes["unidirectional"] = 1
    return ms_node("Attention", operands, attributes, outputs=2 if past else 1, tolerance=1e-3)


def grouped_query(draw):
    shared, groups, size = draw.dim(1, 2), draw.dim(1, 3), 16  # onnxruntime rotates 16, 32, ...
    heads = shared * groups
    past = draw.dim(1, 6) if draw.chance(0.6) else 0
    batch = draw.dim(1, 3)
    steps = 1 if past and batch > 1 else draw.dim(1, 5)  # onnxruntime allows no more
    # Of a cache some steps may not be in use. A prompt may be padded; with a window the rows of its
    # padding may see nothing at all, and onnxruntime's are zeros.
    window = draw.dim(1, 5) if draw.chance(0.3) else -1
    lengths = draw.ints(0, past, [batch], "i4") + steps - 1 if past else \
        draw.ints(0 if window < 0 else steps - 1, steps - 1, [batch], "i4")
    q, k, v = (draw.floats([batch, steps, n * size]) for n in (heads, shared, shared))
    operands = [np.concatenate([q, k, v], 2), None, None] if draw.chance(0.3) else [q, k, v]
    operands += [draw.floats([batch, shared, past, size]) for _ in range(2)]
    operands += [lengths, np.array(past + steps, "i4")]
    attributes = {"num_heads": heads, "kv_num_heads": shared, "local_window_size": window}
    if draw.chance(0.5):
        attributes.update(do_rotary=1, rotary_interleaved=draw.dim(0, 1))
        rows = past + steps + draw.dim(0, 3)
        operands += [draw.floats([rows, size // 2]) for _ in range(2)]
    if draw.chance(0.2):
        operands += [None] * (10 - len(operands))
        operands.append(draw.floats([draw.pick([1, batch]), draw.pick([1, heads]), steps,
                                     past + steps]))
    if draw.chance(0.3):
        attributes["scale"] = 0.4
    if draw.chance(0.3):
        attributes["softcap"] = 1.5
    return ms_node("GroupQueryAttention", operands, attributes, outputs=3, tolerance=1e-3)


def quantized_attention(draw):
    batch, heads, steps, size = draw.dim(1, 2), draw.dim(1, 3), draw.dim(1, 5), draw.dim(1, 4)
    width, channels = heads * size, draw.dim(1, 6)
    past = draw.dim(1, 3) if draw.chance(0.3) else 0
    signed = draw.chance(0.5)
    count = [3 * width] if signed and draw.chance(0.3) else []  # zero points with them are zero
    weights = draw.ints(-60, 60, [channels, 3 * width], "i1") if signed else \
        draw.ints(0, 255, [channels, 3 * width], "u1")
    zeros = np.zeros(count, "i1") if signed else draw.ints(0, 255, [], "u1")
    operands = [draw.ints(0, 255, [batch, steps, channels], "u1"), weights,
                draw.floats([3 * width]), draw.positive([], 0.001, 0.01),
                draw.positive(count, 0.001, 0.01), mask_for(draw, batch, steps, steps + past),
                draw.ints(0, 255, [], "u1"), zeros,
                draw.floats([2, batch, heads, past, size]) if past else None]
    attributes = {"num_heads": heads}
    if draw.chance(0.4):
        attributes["unidirectional"] = 1
    return ms_node("QAttention", operands, attributes, outputs=2 if past else 1, known=(1, 7),
                   tolerance=1e-3)


FAMILIES = (multi_head, attention, grouped_query, quantized_attention)
