"""Families of fused operators of com.microsoft on floats."""
import dataclasses

import numpy as np

from operator_case import Node


def ms_node(op, operands, attributes=None, **more):
    return Node(op, operands, attributes or {}, domain="com.microsoft", **more)


ACTIVATIONS = (("Relu", []), ("Tanh", []), ("Sigmoid", []), ("LeakyRelu", [0.3]),
               ("Clip", [-0.5, 0.8]), ("HardSigmoid", [0.3, 0.4]))
OF_GEMM = (("Elu", [0.7]), ("Selu", [1.5, 1.1]), ("Softplus", []), ("Softsign", []),
           ("ThresholdedRelu", [0.2]))
SECOND = {"Selu": ("activation_alpha", "activation_gamma")}  # attributes of the parameters


def fused_conv(draw):
    rank, group = draw.dim(1, 2), draw.dim(1, 2)
    x = draw.floats([draw.dim(1, 2), group * draw.dim(1, 3), *[draw.dim(4, 7)] * rank])
    kernel = [draw.dim(1, 3) for _ in range(rank)]
    w = draw.floats([group * draw.dim(1, 3), x.shape[1] // group, *kernel])
    pads = [draw.dim(0, 1) for _ in range(2 * rank)]
    name, params = draw.pick(ACTIVATIONS)
    attributes = {"group": group, "pads": pads, "strides": [draw.dim(1, 2)] * rank,
                  "kernel_shape": kernel, "activation": name}
    if params:
        attributes["activation_params"] = params
    operands = [x, w] + ([draw.floats([w.shape[0]])] if draw.chance(0.7) else [])
    return ms_node("FusedConv", operands, attributes)


def fused_gemm(draw):
    m, k, n = draw.dim(), draw.dim(), draw.dim()
    turn_a, turn_b = draw.dim(0, 1), draw.dim(0, 1)
    name, params = draw.pick([*(a for a in ACTIVATIONS if a[0] != "Clip"), *OF_GEMM])
    attributes = {"transA": turn_a, "transB": turn_b, "alpha": draw.pick([1.0, 0.5]),
                  "beta": draw.pick([1.0, -2.0]), "activation": name,
                  **dict(zip(SECOND.get(name, ("activation_alpha", "activation_beta")), params))}
    return ms_node("FusedGemm", [draw.floats([k, m] if turn_a else [m, k]),
                                 draw.floats([n, k] if turn_b else [k, n]),
                                 draw.floats(draw.pick([[n], [m, n], [1, n]]))], attributes)


def fused_matmul(draw):
    m, k, n, batch = draw.dim(), draw.dim(), draw.dim(), draw.shape(0, 2, 1, 3)
    attributes, operands = {"alpha": draw.pick([1.0, 0.25])}, []
    for name, rows, columns in (("A", m, k), ("B", k, n)):
        turned, in_front = draw.dim(0, 1), int(bool(batch) and draw.chance(0.3))
        if turned:
            rows, columns = columns, rows
        operands.append(draw.floats([rows, *batch, columns] if in_front
                                    else [*batch, rows, columns]))
        attributes |= {f"trans{name}": turned, f"transBatch{name}": in_front}
    return ms_node("FusedMatMul", operands, attributes)


def gelu(draw):
    op = draw.pick(["Gelu", "BiasGelu", "FastGelu", "QuickGelu"])
    x = draw.floats(draw.shape(1, 3))
    bias = [draw.floats([x.shape[-1]])] if op == "BiasGelu" or (
        op == "FastGelu" and draw.chance(0.5)) else []
    return ms_node(op, [x, *bias], {"alpha": draw.pick([1.702, 1.0])} if op == "QuickGelu" else {})


def trilu(draw):
    x = draw.numbers(draw.shape(2, 4), ("f4", "i8"))
    return ms_node("Trilu", [x, *([np.array(draw.dim(-3, 3))] if draw.chance(0.6) else [])],
                   {"upper": draw.dim(0, 1)}, known=(1,))


def skip_norm(draw):
    op = draw.pick(["SkipLayerNormalization", "SkipSimplifiedLayerNormalization"])
    batch, steps, width = draw.dim(1, 3), draw.dim(1, 5), draw.dim(2, 9)
    skip = draw.pick([[batch, steps, width], [1, steps, width], [steps, width]])
    row = [width]
    operands = [draw.floats([batch, steps, width]), draw.floats(skip), draw.floats(row)]
    if op == "SkipLayerNormalization":
        operands.append(draw.floats(row) if draw.chance(0.6) else None)
    operands.append(draw.floats(row) if draw.chance(0.6) else None)
    node = ms_node(op, operands, {"epsilon": draw.pick([1e-5, 0.1])}, tolerance=1e-3,
                   **draw.pick([{}, {"outputs": 4, "unwanted": (1, 2)}]))
    with_statistics = op == "SkipLayerNormalization" and node.outputs == 1 and draw.chance(0.4)
    return statistics_of(node) if with_statistics else node


def statistics_of(node):
    """The node with the means and deviations that training reads and onnxruntime does not give:
    those of LayerNormalization.
    """
    x, skip, scale, bias, added = node.operands + [None] * (5 - len(node.operands))
    total = x + skip + (0 if added is None else added)
    norm = Node("LayerNormalization", [total.astype("f4"), scale, bias],
                {"axis": -1, **node.attributes}, outputs=3)
    return dataclasses.replace(node, outputs=3, stand_in=(norm, lambda array: array))


def simplified_norm(draw):
    x = draw.floats(draw.shape(2, 4, 2))
    axis = draw.pick([-1, len(x.shape) - 1])
    return Node("SimplifiedLayerNormalization", [x, draw.floats([x.shape[-1]])],
                {"axis": axis, "epsilon": draw.pick([1e-5, 0.1]), "stash_type": 1}, tolerance=1e-3)


def embed_norm(draw):
    batch, steps, width = draw.dim(1, 3), draw.dim(1, 5), draw.dim(2, 8)
    table = lambda rows: draw.floats([rows, width])  # noqa: E731
    ids = draw.ints(0, 6, [batch, steps], "i4")
    has_segments = draw.chance(0.6)
    operands = [ids, draw.ints(0, 1, [batch, steps], "i4") if has_segments else None, table(7),
                table(steps + draw.dim(0, 2)), table(2) if has_segments else None,
                draw.floats([width]), draw.floats([width]),
                draw.ints(0, 1, [batch, steps], "i4") if draw.chance(0.6) else None,
                draw.ints(0, steps - 1, [batch, steps], "i4") if draw.chance(0.3) else None]
    return ms_node("EmbedLayerNormalization", operands, {"epsilon": 1e-5}, outputs=2,
                   tolerance=1e-3)


def rotary(draw):
    batch, heads, steps, half = draw.dim(1, 3), draw.dim(1, 3), draw.dim(1, 5), draw.dim(1, 4)
    rotated, rows = 2 * half, steps + draw.dim(0, 3)
    size = rotated + draw.pick([0, 0, 2])
    attributes = {"interleaved": draw.dim(0, 1)}
    if size != rotated or draw.chance(0.5):
        attributes.update(num_heads=heads, rotary_embedding_dim=rotated)
    shape = draw.pick([[batch, steps, heads * size], [batch, heads, steps, size]])
    positions = draw.pick([np.array([draw.dim(0, rows - steps)]),
                           draw.ints(0, rows - 1, [batch, steps])])
    if positions.ndim == 2 and draw.chance(0.3):  # several sequences, longer than the caches
        rows = draw.dim(1, rows)
        attributes["is_packed_batching"] = 1
        positions = draw.ints(0, rows - 1, [batch, steps])
    return ms_node("RotaryEmbedding", [draw.floats(shape), positions, draw.floats([rows, half]),
                                       draw.floats([rows, half])], attributes)


def crop_and_resize(draw):
    images, boxes = draw.dim(1, 3), draw.dim(1, 4)
    x = draw.floats([images, draw.dim(1, 3), draw.dim(1, 6), draw.dim(1, 6)])
    attributes = {"mode": draw.pick(["bilinear", "nearest"])}
    if draw.chance(0.3):
        attributes["extrapolation_value"] = -1.5
    operands = [x, draw.positive([boxes, 4], -0.2, 1.2), draw.ints(0, images - 1, [boxes], "i4"),
                draw.ints(1, 5, [2], "i4")]
    return ms_node("CropAndResize", operands, attributes, known=(3,), tolerance=1e-3)


def inverse(draw):
    size = draw.dim(1, 9) if draw.chance(0.7) else draw.dim(17, 24)
    x = draw.floats([*draw.shape(0, 2), size, size])
    return ms_node("Inverse", [x + 2 * size * np.eye(size, dtype="f4")[draw.rng.permutation(size)]],
                   tolerance=1e-3,
                   symbols={(0, x.ndim - 2): "n", (0, x.ndim - 1): "n"} if draw.chance(0.5) else {})


FAMILIES = (fused_conv, fused_gemm, fused_matmul, gelu, trilu, skip_norm, simplified_norm,
            embed_norm, rotary, crop_and_resize, inverse)
