#!/usr/bin/env python3
"""Sequences and optionals: made, changed, read, joined, carried by loops, given by branches.

    tests/models/check_sequences.py                        # every probe, on cpu and emulated cuda
    tests/models/check_sequences.py --sample 6 --seed 7
    tests/models/check_sequences.py --probe grown --target cpu

Each probe (sequence_net.py; those called chain are random) is compiled and run through the table
with sequences that are drawn; what it gives is onnxruntime's. Positions that are none, more items
than there is room for and items that are too large are statuses. What is generated is built so that
undefined behaviour ends the test. Exit status 0: all holds.
"""
import sys

import numpy as np

import probes
import reference
from probes import FILL, status_of
from sequence_net import PROBES, Probe
from small_net import require

MOST = 1e-5  # relative error


def require_equal(found, expected, what):
    """Arrays, lists of arrays, or None."""
    if isinstance(expected, (list, tuple)):
        require(isinstance(found, list) and len(found) == len(expected),
                f"{what}: not {len(expected)} items")
        for index, (one, other) in enumerate(zip(found, expected)):
            require_equal(one, other, f"{what}[{index}]")
        return
    if expected is None or found is None:
        require(found is expected, f"{what}: one is absent")
        return
    expected = np.asarray(expected)
    require(found.shape == expected.shape and found.dtype == expected.dtype,
            f"{what}: {found.dtype}{found.shape}, not {expected.dtype}{expected.shape}")
    error = np.abs(found.astype(np.float64) - expected.astype(np.float64)).max(initial=0)
    require(error <= MOST * max(1, np.abs(expected.astype(np.float64)).max(initial=0)),
            f"{what}: error {error}")


def check_probe(name, target, options, folder):
    probe, place = Probe(name, options.seed), folder / f"{name}_{target}"
    place.mkdir()
    path = probe.save(place / f"{name}.onnx")
    _, model = probes.compiled(path, target, probe.flags)
    session, rng = reference.session(path, optimised=False), np.random.default_rng(options.seed)
    names = [output.name for output in session.get_outputs()]
    for _ in range(options.draws):
        arrays = probe.draw(rng)
        expected = dict(zip(names, session.run(names, arrays)))
        for workers in (1, 2) if model.has_threads else (1,):
            found = model.run(arrays, workers, FILL)
            for output in names:
                require_equal(found[output], expected[output], output)
    for change, code in probe.refused:
        arrays = probe.draw(rng)
        change(arrays)
        status = status_of(model, arrays)
        require(status & 0xFF == code, f"status {status}, not {code}")
    model.close()
    return f"{options.draws} draws hold, {len(probe.refused)} are refused"


if __name__ == "__main__":
    sys.exit(probes.main(__doc__, PROBES, check_probe, draws=8))
