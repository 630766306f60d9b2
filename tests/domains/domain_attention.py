"""Families of attention of com.microsoft."""
import dataclasses

import numpy as np

from domain_fused import ms_node


def mask_for(draw, batch, steps, keys):
    return draw.pick([None, None, draw.ints(1, keys, [batch], "i4"),
                      draw.ints(0, 1, [batch, keys], "i4"),
                      draw.ints(0, 1, [batch, steps, keys], "i4")])


def starts_and_ends(draw, batch, keys):
    """Of the keys of each sample; the ends stand first."""
    return np.concatenate([draw.ints(1, keys, [batch], "i4"), draw.ints(0, keys, [batch], "i4")])


def by_heads(x, heads):
    return x.reshape(*x.shape[:2], heads, -1)


def repacked(draw, node, heads):
    """The node with its operands as GPUs of onnxruntime take them: queries, keys and values, or
    keys and values, in one; or with the keys and values of a cross attention, heads first.
    """
    query, key, value, bias = node.operands[:4]
    forms = ["heads first"] if bias is None else []
    if key.shape == value.shape:
        forms += ["packed"] if query.shape == key.shape else []
        forms.append("keys and values")
    form = draw.pick(forms or ["plain"])
    if form == "plain":
        return node
    parts = [by_heads(x, heads) for x in (query, key, value)]
    if form == "heads first":
        first = [query, *(x.transpose(0, 2, 1, 3) for x in parts[1:])]
    elif form == "packed":
        first = [np.stack(parts, 3), None, None]
    else:
        first = [query, np.stack(parts[1:], 3), None]
    return dataclasses.replace(node, operands=first + node.operands[3:],
                               stand_in=(node, lambda array: array))


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
    node = ms_node("MultiHeadAttention", operands, attributes,
                   outputs=draw.pick([3, 4]) if past else 1, tolerance=1e-3)
    return repacked(draw, node, heads) if not past and draw.chance(0.4) else node


def attention(draw):
    batch, heads, steps, size = draw.dim(1, 2), draw.dim(1, 3), draw.dim(1, 5), draw.dim(1, 4)
    width, channels = heads * size, draw.dim(1, 6)
    past = draw.dim(1, 3) if draw.chance(0.3) else 0
    mask = starts_and_ends(draw, batch, steps + past) if draw.chance(0.2) else \
        mask_for(draw, batch, steps, steps + past)
    operands = [draw.floats([batch, steps, channels]), draw.floats([channels, 3 * width]),
                draw.floats([3 * width]), mask,
                draw.floats([2, batch, heads, past, size]) if past else None,
                draw.floats([1, heads, steps, steps + past]) if draw.chance(0.3) else None]
    attributes = {"num_heads": heads}
    if draw.chance(0.4):
        attributes["unidirectional"] = 1
    return ms_node("Attention", operands, attributes, outputs=2 if past else 1, tolerance=1e-3)


def by_mean_of_squares(x, weight, epsilon):
    """The heads of [B, S, heads * D], each normalised."""
    heads = x.reshape(*x.shape[:2], -1, len(weight))
    scale = 1 / np.sqrt((heads.astype("f8") ** 2).mean(-1, keepdims=True) + epsilon)
    return (heads * scale * weight).reshape(x.shape).astype("f4")


def with_norms(draw, node, size):
    """The node with the operands of a normalisation of queries and keys, which onnxruntime has for
    GPUs alone.
    """
    weights, epsilon = [draw.positive([size]) for _ in range(2)], draw.pick([1e-6, 0.1])
    operands = node.operands + [None] * (14 - len(node.operands)) + weights
    normal = [by_mean_of_squares(x, weight, epsilon) for x, weight in zip(node.operands, weights)]
    plain = dataclasses.replace(node, operands=normal + node.operands[2:])
    return dataclasses.replace(node, operands=operands, stand_in=(plain, lambda array: array),
                               attributes={**node.attributes, "qk_norm_epsilon": epsilon})


def grouped_query(draw):
    shared, groups, size = draw.dim(1, 2), draw.dim(1, 3), 16  # onnxruntime rotates 16, 32, ...
    heads = shared * groups
    past = draw.dim(1, 6) if draw.chance(0.6) else 0
    batch = draw.dim(1, 3)
    steps = 1 if past and batch > 1 else draw.dim(1, 5)  # onnxruntime allows no more
    # Of a cache some steps may not be in use. A prompt may be padded; with a window the rows of its
    # padding may see nothing at all, and onnxruntime's are zeros.
    causal = int(draw.chance(0.8))
    window = draw.dim(1, 5) if causal and draw.chance(0.3) else -1
    lengths = draw.ints(0, past, [batch], "i4") + steps - 1 if past else \
        draw.ints(0 if window < 0 else steps - 1, steps - 1, [batch], "i4")
    scores = draw.chance(0.2)
    if scores:  # of keys that a sample does not have, onnxruntime's are anything
        lengths[:] = past + steps - 1
    q, k, v = (draw.floats([batch, steps, n * size]) for n in (heads, shared, shared))
    operands = [np.concatenate([q, k, v], 2), None, None] if draw.chance(0.3) else [q, k, v]
    operands += [draw.floats([batch, shared, past, size]) for _ in range(2)]
    operands += [lengths, np.array(past + steps, "i4")]
    attributes = {"num_heads": heads, "kv_num_heads": shared, "local_window_size": window,
                  "causal": causal}
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
    if draw.chance(0.2):
        attributes["smooth_softmax"] = 1
    if draw.chance(0.2):
        operands += [None] * (11 - len(operands)) + [draw.floats([heads])]
    if scores:
        attributes["qk_output"] = draw.dim(1, 2)
    node = ms_node("GroupQueryAttention", operands, attributes,
                   outputs=4 if scores else 3, tolerance=1e-3)
    return with_norms(draw, node, size) if operands[1] is not None and draw.chance(0.2) else node


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
