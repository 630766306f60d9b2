"""Which operators have to be tested, and which case is of which operator and way.

    plan = Plan(seed=1, families=FAMILIES)
    plan.operators                  # those of docs/operators.md, less without_cases.txt
    plan.draw(number, "sized")      # the Case, or Dropped
"""
import collections
import pathlib
import re

import numpy as np

import operator_types
import operator_values
from operator_case import MOODS, Draw, Dropped, NoSymbol, make_case

FOLDER = pathlib.Path(__file__).resolve().parent
PAGE = FOLDER.parents[1] / "docs" / "operators.md"
WITHOUT = FOLDER / "without_cases.txt"

Way = collections.namedtuple("Way", "target flags form")
WAYS = {"evaluator": Way("cpu", [], "folded"),
        "cpu": Way("cpu", [], ""),
        "cuda": Way("cuda", [], ""),
        "cpu-symbolic": Way("cpu", [], "symbolic"),
        "cuda-symbolic": Way("cuda", [], "symbolic"),
        "cpu-sized": Way("cpu", [], "sized"),
        "cuda-sized": Way("cuda", [], "sized"),
        "gpu": Way("gpu", [], ""),
        "gpu-sized": Way("gpu", [], "sized")}
# What the cases of one operator are in turn: more than a quarter on cuda, as some are dropped, and
# more than a quarter with sizes of the run.
TURNS = ("cpu", "cuda", "cpu-sized", "evaluator", "cuda-sized", "cpu-symbolic", "cuda", "cpu-sized")
TRIES = 600  # draws of families until one is of the operator that is wanted
IDLE = 20    # and 4 for each operator found: draws that find no other one of a family


def read_lines(path):
    """First words -> the rest of the lines, without comments."""
    lines = [line for line in path.read_text().splitlines() if line and line[0] != "#"]
    return {line.split()[0]: line.partition(" ")[2].strip() for line in lines}


def operators_of_page():
    """The operators of docs/operators.md that models can have."""
    table = PAGE.read_text().partition("## ")[0]
    return re.findall(r"(?m)^\| ((?:[a-z.]+\.)?[A-Z]\w+) \|", table)


def name_of(node):
    return f"{node.domain}.{node.op}" if node.domain else node.op


def sampled_operators(family):
    """Operators that the family gives, by draws of their own, until many find no other one."""
    found, number, last = set(), 0, 0
    while number - last < IDLE + 4 * len(found):
        number += 1
        node = draw_node(Draw(np.random.default_rng([0, number])), [family])
        if node is not None and name_of(node) not in found:
            found.add(name_of(node))
            last = number
    return found


class Plan:
    """The cases of a run by their numbers."""

    def __init__(self, seed, families):
        self.seed, self.families = seed, families
        self.without = read_lines(WITHOUT)
        self.operators = [name for name in operators_of_page() if name not in self.without]
        self.by_operator = collections.defaultdict(list)
        for family in dict.fromkeys(families):
            for name in sampled_operators(family):
                self.by_operator[name].append(family)

    def missing(self):
        """Operators without a family, and lines of without_cases.txt that say nothing."""
        lacking = [f"{name} has no family of cases" for name in self.operators
                   if name not in self.by_operator]
        named = set(operators_of_page())
        return lacking + [f"without_cases.txt: {name} is no operator, or has cases"
                          for name in self.without
                          if name not in named or name in self.by_operator]

    def operator(self, number):
        return self.operators[number % len(self.operators)]

    def way(self, number, turns=TURNS):
        turn = number // len(self.operators) + number % len(self.operators)
        return turns[turn % len(turns)]

    def node(self, draw, number):
        """A node of the operator that this number has."""
        wanted = self.operator(number)
        for _ in range(TRIES):
            node = draw_node(draw, self.by_operator[wanted])
            if node is not None and name_of(node) == wanted:
                return node
        raise Dropped("no node of the operator in many draws")

    def draw(self, number, form):
        """The case of a number, which follows from it and the seed alone; one without sizes of the
        run where the node has nothing for them.
        """
        draw = draw_of(self.seed, number)
        node = self.node(draw, number)
        try:
            return finish(draw, node, number, form)
        except NoSymbol:
            return finish(draw, node, number, "")


def draw_of(seed, number):
    rng = np.random.default_rng([seed, number])
    return Draw(rng, MOODS[int(rng.integers(len(MOODS)))])


def draw_node(draw, families):
    """A node, or None where the family has none of these shapes."""
    try:
        return draw.pick(families)(draw)
    except (ValueError, ZeroDivisionError, IndexError):
        return None


def finish(draw, node, number, form):
    node = operator_types.retyped(draw, operator_values.with_special(draw, node))
    node = operator_values.check_defined(operator_values.with_defined_casts(node))
    return make_case(draw, node, f"n{number}", form)


def draw_case(seed, number, family, form, families):
    """Case `number` of the families, or of one by its name."""
    draw = draw_of(seed, number)
    known = [f for f in families if f.__name__.strip("_") == family] or families
    node = draw_node(draw, known)
    if node is None:
        raise Dropped("no node of these shapes")
    return finish(draw, node, number, form)
