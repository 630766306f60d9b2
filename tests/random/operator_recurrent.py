"""LSTM, GRU and RNN with all their attributes, for check_operators.py.

onnxruntime runs them with layout 0 and 32-bit floats only, and ONNX's reference evaluator knows few
attributes and takes the wrong axis for Y_h with layout 1: cases with layout 1 or other types are
held against onnxruntime's results with layout 0 in 32-bit floats.
"""
import dataclasses

import numpy as np

from operator_case import Node

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
ACTIVATIONS = {"LSTM": 3, "GRU": 2, "RNN": 1}
STATES = {"LSTM": 2, "GRU": 1, "RNN": 1}
FIRST_STATE = 5
# Name -> whether it takes alpha, and beta.
PARAMETERS = {"Relu": (0, 0), "Tanh": (0, 0), "Sigmoid": (0, 0), "Affine": (1, 1),
              "LeakyRelu": (1, 0), "ThresholdedRelu": (1, 0), "ScaledTanh": (1, 1),
              "HardSigmoid": (1, 1), "Elu": (1, 0), "Softsign": (0, 0), "Softplus": (0, 0)}


BOUNDED = {"Tanh", "Sigmoid", "ScaledTanh", "HardSigmoid", "Softsign"}
# Of these onnxruntime takes 0 for what is not given, not ONNX's defaults.
WITHOUT_DEFAULTS = {"Affine", "ScaledTanh", "ThresholdedRelu"}


def activations(draw, count):
    """Attributes that name functions, with parameters for all that take some, or for none."""
    names = [draw.pick(list(PARAMETERS)) for _ in range(count)]
    attributes = {"activations": names}
    if WITHOUT_DEFAULTS.intersection(names) or draw.chance(0.6):
        for which, name in enumerate(("activation_alpha", "activation_beta")):
            values = [round(float(draw.rng.uniform(0.2, 0.9)), 3)
                      for n in names if PARAMETERS[n][which]]
            if values:
                attributes[name] = values
    return attributes


def attributes_of(draw, op, hidden):
    """Attributes, and the number of directions."""
    direction = draw.pick(["forward", "reverse", "bidirectional"])
    directions = 2 if direction == "bidirectional" else 1
    attributes = {"hidden_size": hidden}
    if direction != "forward" or draw.chance(0.5):
        attributes["direction"] = direction
    if draw.chance(0.5):
        attributes.update(activations(draw, ACTIVATIONS[op] * directions))
    if draw.chance(0.3):
        attributes["clip"] = draw.pick([0.15, 0.5, 2.0])
    if op == "LSTM" and draw.chance(0.3):
        attributes["input_forget"] = 1
    if op == "GRU" and draw.chance(0.6):
        attributes["linear_before_reset"] = draw.dim(0, 1)
    return attributes, directions


def without_end(operands):
    """Operands up to the last one that is there."""
    while operands[-1] is None:
        operands = operands[:-1]
    return operands


def swapped(array):
    """From layout 0 to layout 1, or back: X, Y, or a state."""
    return np.ascontiguousarray(array.transpose((2, 0, 1, 3) if array.ndim == 4 else (1, 0, 2)))


def batch_first(node):
    """The node with layout 1, which the given one stands in for."""
    operands = [swapped(a) if a is not None and i in (0, FIRST_STATE, FIRST_STATE + 1) else a
                for i, a in enumerate(node.operands)]
    return dataclasses.replace(node, operands=operands, attributes={**node.attributes, "layout": 1},
                               stand_in=(node, swapped))


def of_type(node, dtype):
    """The node with floats of another type, which one with 32-bit floats stands in for."""
    operands = [a.astype(dtype) if a is not None and a.dtype.kind == "f" else a
                for a in node.operands]
    base, convert = node.stand_in or (node, lambda array: array)
    rounded = [a.astype(dtype).astype("f4") if a is not None and a.dtype.kind == "f" else a
               for a in base.operands]
    return dataclasses.replace(node, operands=operands,
                               stand_in=(dataclasses.replace(base, operands=rounded),
                                         lambda array: convert(array).astype(dtype)))


def of_opset_6(node):
    """In the form before opset 7, which named the outputs that are wanted in an attribute too."""
    attributes = {**node.attributes, "output_sequence": int(0 not in node.unwanted)}
    return dataclasses.replace(node, attributes=attributes, opset=6,
                               stand_in=(node, lambda array: array))


def with_symbols(draw, node):
    """The node with symbols for the length, the number of rows, or both."""
    layout = node.attributes.get("layout", 0)
    symbols = {}
    which = draw.pick(["length", "rows", "both"])
    if which != "rows":
        symbols[0, layout] = "_length"
    if which != "length":
        symbols[0, 1 - layout] = "_rows"
        if len(node.operands) > 4 and node.operands[4] is not None:
            symbols[4, 0] = "_rows"
        for operand in range(FIRST_STATE, min(FIRST_STATE + 2, len(node.operands))):
            if node.operands[operand] is not None:
                symbols[operand, 1 - layout] = "_rows"
    return dataclasses.replace(node, symbols=symbols)


def recurrent(draw):
    op = draw.pick(list(GATES))
    length, rows, features = draw.dim(1, 6), draw.pick([1, 1, 2, 3, 5]), draw.dim(1, 7)
    hidden = draw.pick([1, 2, 3, 5, 7, 8, 11, 16])
    attributes, directions = attributes_of(draw, op, hidden)

    # Without bounds states would grow beyond what floats hold.
    most = 0.7 if BOUNDED.issuperset(attributes.get("activations", ())) else 0.2

    def optional(*shape):
        return weights(*shape) if draw.chance(0.6) else None

    def weights(*shape):
        return draw.rng.uniform(-most, most, shape).astype("f4")

    outer = directions, GATES[op] * hidden
    operands = [draw.floats([length, rows, features]), weights(*outer, features),
                weights(*outer, hidden), optional(directions, 2 * outer[1]),
                draw.ints(0, length, [rows], "i4") if draw.chance(0.4) else None]
    operands += [optional(directions, rows, hidden) for _ in range(STATES[op])]
    if op == "LSTM":
        operands.append(optional(directions, 3 * hidden))
    # Weights are inputs now and then.
    known = tuple(i for i in (1, 2, 3, 7) if draw.chance(0.8))
    outputs = draw.dim(1, 1 + STATES[op])
    unwanted = tuple(i for i in range(outputs - 1) if draw.chance(0.25))
    node = Node(op, without_end(operands), attributes, known=known, outputs=outputs,
                unwanted=unwanted, opset=draw.pick([8, 21, 21, 21]))
    if node.opset == 8 and draw.chance(0.5):
        node = of_opset_6(node)
    if node.opset > 14 and draw.chance(0.4):
        node = batch_first(node)
    if draw.chance(0.3):
        node = of_type(node, draw.pick(["f8", "f2"]))
    return with_symbols(draw, node)


FAMILIES = (recurrent, recurrent, recurrent)
