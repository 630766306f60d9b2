"""Node tests whose models onnx.version_converter has moved to another opset.

    cases = converted.cases_of(suite.read_all(), seed=1, least=300)

Conversions that the converter refuses, or after which onnxruntime or ONNX's evaluator do not give
the numbers of the test either, are counted apart.
"""
import collections
import dataclasses
import random
import sys

import onnx
from onnx import version_converter

import suite
from build_output import Failure
from compare_outputs import difference
from other_data import results_of

OPSETS = (7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25)
FAR = 8  # opsets that a conversion crosses at most: most adapters are of near ones


def own_opset(opsets):
    return dict(opsets).get("", 0)


def convert(model, opset):
    """None where the converter refuses it, or what it makes is not sound."""
    try:
        made = version_converter.convert_version(model, opset)
        onnx.checker.check_model(made)
    except Exception:  # pylint: disable=broad-except; each of its failures has a class of its own
        return None
    return made


@dataclasses.dataclass(frozen=True)
class Converted(suite.Case):
    opset: int = 0

    def __str__(self):
        return f"{super().__str__()}^{self.opset}"

    def load(self):
        loaded = super().load()
        model = convert(loaded.model, self.opset)
        return suite.Loaded(model, loaded.inputs, loaded.expected)

    def fate(self):
        """"tested", or why it is counted apart."""
        loaded = self.load()
        if loaded.model is None:
            return "refused by the converter"
        if [value.name for value in loaded.model.graph.output] != list(loaded.expected):
            return "other outputs after the conversion"
        results = results_of(loaded.model, loaded.inputs)
        if results is None:
            return "no reference runs what the converter made"
        if any(difference(results[name], array) for name, array in loaded.expected.items()):
            return "other numbers after the conversion"
        return "tested"


def parse(text):
    """"test_tile^13" is test_tile at opset 13."""
    text, _, opset = text.partition("^")
    case = suite.parse(text)
    return made_of(case, int(opset))


def made_of(case, opset):
    opsets = tuple((domain, opset if domain == "" else version) for domain, version in case.opsets)
    return Converted(case.name, case.folder, opsets, opset)


def drawn(cases, seed):
    """A conversion of each case, up or down."""
    generator = random.Random(seed)
    for case in cases:
        own = own_opset(case.opsets)
        near = [opset for opset in OPSETS if own and 0 < abs(opset - own) <= FAR]
        if near:
            yield made_of(case, generator.choice(near))


def cases_of(cases, seed, least):
    """The conversions that can be tested; says how many are counted apart for which reason. A
    failure where fewer than `least` are tested.
    """
    fates = collections.Counter()
    kept = []
    for case in drawn(cases, seed):
        fate = case.fate()
        fates[fate] += 1
        kept += [case] if fate == "tested" else []
    print(f"conversions: {dict(fates.most_common())}", file=sys.stderr, flush=True)
    if len(kept) < least:
        raise Failure(f"{len(kept)} conversions, and not {least}")
    return kept
