"""Einsum by random equations: repeated, missing and permuted indices, ellipses whose axes
broadcast, scalars, one to four operands, with spaces and without an arrow; against numpy.
"""
import math
import string

import numpy as np

from operator_case import Node

MOST_STEPS = 3000  # of the loops of one equation, and elements of an operand
NAMES = string.ascii_uppercase + string.ascii_lowercase


def operand_text(draw, letters, sizes):
    """Indices of an operand, with an ellipsis or not, and its shape without the ellipsis' axes."""
    chosen = [draw.pick(letters) for _ in range(draw.dim(0, 3 if len(letters) > 2 else 2))]
    if not draw.chance(0.3):  # else an index may come twice, which takes a diagonal
        chosen = list(dict.fromkeys(chosen))
    at = draw.dim(0, len(chosen)) if draw.chance(0.35) else None
    return chosen, at, [sizes[letter] for letter in chosen]


def broadcast_dims(draw, lead):
    """The axes of one ellipsis: the last ones of `lead`, of which some have the size 1."""
    dims = lead[draw.dim(0, len(lead)):]
    return [1 if draw.chance(0.25) else dim for dim in dims]


def result_text(draw, chosen, has_ellipsis):
    """Behind the arrow: some indices in any order, each once, and the ellipsis; now and then
    nothing at all, where the text has no arrow.
    """
    if draw.chance(0.2):
        return None
    letters = draw.subset(sorted(set(chosen)))
    if has_ellipsis:
        letters.insert(draw.dim(0, len(letters)), "...")
    return "".join(letters)


def spaced(draw, text):
    """Spaces, which mean nothing, before some indices; never within an ellipsis or an arrow."""
    return "".join(" " * draw.chance(0.3) + c if c.isalpha() or c == "," else c for c in text)


def equation(draw):
    """The text, and the shapes of its operands."""
    letters = [NAMES[int(i)] for i in draw.rng.permutation(len(NAMES))[:draw.dim(1, 5)]]
    sizes = {letter: draw.pick([1, 2, 3, 4, 5, 7]) for letter in letters}
    if draw.chance(0.04):
        sizes[letters[0]] = 0
    lead = draw.shape(0, 3, 1, 4)
    texts, shapes, used = [], [], []
    for _ in range(draw.dim(1, 4)):
        chosen, at, shape = operand_text(draw, letters, sizes)
        text = list(chosen)
        if at is not None:
            text.insert(at, "...")
            shape[at:at] = broadcast_dims(draw, lead)
        texts.append("".join(text))
        shapes.append(shape)
        used += chosen
    result = result_text(draw, used, any("..." in text for text in texts))
    whole = ",".join(texts) + ("" if result is None else "->" + result)
    steps = math.prod(sizes[letter] for letter in set(used)) * math.prod(lead)
    if max(steps, *map(math.prod, shapes)) > MOST_STEPS:
        return equation(draw)
    return spaced(draw, whole) if draw.chance(0.2) else whole, shapes


def symbols_of(draw, text, shapes):
    """Symbols for some of the indices, in each operand that has them."""
    places = {}
    for operand, part in enumerate(text.replace(" ", "").split("->")[0].split(",")):
        before, _, behind = part.partition("...")
        for axis, letter in enumerate(before):
            places.setdefault(letter, []).append((operand, axis))
        for axis, letter in enumerate(behind, len(shapes[operand]) - len(behind)):
            places.setdefault(letter, []).append((operand, axis))
    known = [letter for letter, found in sorted(places.items())
             if shapes[found[0][0]][found[0][1]] > 0]
    chosen = draw.subset(known, 1)
    return {place: f"_{letter}" for letter in chosen for place in places[letter]}


def by_numpy(text):
    """What numpy makes of operands; sums are exact, or in f64."""
    def run(operands):
        wide = [a.astype("f8" if a.dtype.kind == "f" else "i8") for a in operands]
        return [np.asarray(np.einsum(text.replace(" ", ""), *wide)).astype(operands[0].dtype)]
    return run


def einsum(draw):
    text, shapes = equation(draw)
    dtype = draw.pick(["f4", "f4", "f4", "f8", "i4", "i8", "f2"])
    operands = [draw.numbers(shape, (dtype,)) for shape in shapes]
    return Node("Einsum", [np.asarray(a) for a in operands], {"equation": text},
                symbols=symbols_of(draw, text, shapes), reference=by_numpy(text))


FAMILIES = (einsum,)
