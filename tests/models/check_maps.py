#!/usr/bin/env python3
"""Maps and sequences of maps through the table: ZipMap, DictVectorizer and CastMap.

    tests/models/check_maps.py                        # every probe, on cpu and emulated cuda
    tests/models/check_maps.py --sample 6 --seed 7
    tests/models/check_maps.py --probe words --target cpu

Each probe (map_net.py) is compiled and run through the table with data that are drawn; what it
gives is onnxruntime's, or, for types of maps that its Python does not take, what the standard says.
Maps that are none, with a key twice or more entries than there is room for, and outputs without
room are statuses, of which those that the model states name the input. What is generated is built
so that undefined behaviour ends the test. Exit status 0: all holds.
"""
import sys

import numpy as np

import probes
import reference
from map_net import PROBES, Probe
from probes import FILL, status_of
from small_net import require

MOST = 1e-6  # relative error


def require_equal(found, expected, what):
    """Arrays, dicts, or lists of dicts."""
    if isinstance(expected, list):
        require(isinstance(found, list) and len(found) == len(expected),
                f"{what}: not {len(expected)} maps")
        for index, (one, other) in enumerate(zip(found, expected)):
            require_equal(one, other, f"{what}[{index}]")
    elif isinstance(expected, dict):
        require(isinstance(found, dict) and found.keys() == expected.keys(),
                f"{what}: {found} has not the keys of {expected}")
        for key, value in expected.items():
            require(abs(found[key] - value) <= MOST * max(1, abs(value)),
                    f"{what}[{key}]: {found[key]}, not {value}")
    else:
        require(found.shape == expected.shape, f"{what}: {found.shape}, not {expected.shape}")
        same = found == expected
        if expected.dtype.kind == "f":
            require(found.dtype == expected.dtype, f"{what}: {found.dtype}")
            same = np.abs(found - expected) <= MOST * np.maximum(1, np.abs(expected))
        require(np.all(same), f"{what}: {found}, not {expected}")


def expected_of(probe, path):
    """A function of the inputs, and the names of the outputs."""
    names = [output.name for output in probe.outputs]
    if probe.expected is not None:
        return probe.expected, names
    session = reference.session(path, optimised=False)
    return lambda arrays: session.run(names, arrays), names


def check_probe(name, target, options, folder):
    probe, place = Probe(name, options.seed), folder / f"{name}_{target}"
    place.mkdir()
    path = probe.save(place / f"{name}.onnx")
    _, model = probes.compiled(path, target, probe.flags)
    expected, names = expected_of(probe, path)
    rng = np.random.default_rng(options.seed)
    for _ in range(options.draws):
        arrays = probe.draw(rng)
        wanted = dict(zip(names, expected(arrays)))
        for workers in (1, 2) if model.has_threads else (1,):
            found = model.run(arrays, workers, FILL)
            for output in names:
                require_equal(found[output], wanted[output], output)
    for what, code, change, says in probe.refused:
        status = status_of(model, probe.draw(rng), change=change)
        require(status & 0xFF == code, f"{what}: status {status}, not {code}")
        text = model.table.status_text(status).decode()
        require(says in text, f"{what}: '{text}' does not say '{says}'")
    model.close()
    return f"{options.draws} draws hold, {len(probe.refused)} are refused"


if __name__ == "__main__":
    sys.exit(probes.main(__doc__, PROBES, check_probe, draws=8))
