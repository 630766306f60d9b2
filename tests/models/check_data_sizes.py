#!/usr/bin/env python3
"""Sizes that come of data: how many elements are not zero, which boxes are left, what is unique.

    tests/models/check_data_sizes.py                      # every probe, on cpu and emulated cuda
    tests/models/check_data_sizes.py --sample 6 --seed 7 --draws 20
    tests/models/check_data_sizes.py --probe joined --target cpu

Each probe (data_net.py, data_control_net.py, data_region_net.py) is compiled and run with data of
which no, few, many and all elements are chosen; numbers and dims are onnxruntime's. Where a bound
is given that data can pass, such data are a status whose sentence names the tensor, and room for
less than a run gives is a status too. What is generated is built so that undefined behaviour ends
the test. Exit status 0: all holds.
"""
import json
import sys

import numpy as np

import data_control_net  # noqa: F401  (more probes)
import data_region_net  # noqa: F401
import probes
import reference
from data_net import PROBES, Probe
from probes import FILL, status_of
from small_net import require, require_outputs

CAPACITY = 6  # AOTC_ERROR_CAPACITY


def expected_of(probe, session, arrays):
    """Outputs by name; None where one of them passes its bound."""
    names = [output.name for output in session.get_outputs()]
    expected = dict(zip(names, session.run(names, arrays)))
    for axis, most in probe.bounds.items():
        tensor, _, number = axis.rpartition(":")
        if tensor in expected and expected[tensor].shape[int(number)] > most:
            return None
    return expected


def require_bound(probe, model, outdir, rng):
    """What passes a bound is refused by a sentence that names the tensor."""
    tensor, _ = probe.beyond
    status = status_of(model, probe.draw(rng, beyond=True))
    text = model.table.status_text(status).decode()
    sentences = json.loads((outdir / "metadata.json").read_text())["checks"]
    require(status and text in sentences and tensor in text, f"beyond its bound: {status}, {text}")


def require_room(probe, model, session, rng):
    """With room for a byte less than the largest output takes."""
    for _ in range(100):
        arrays = probe.draw(rng)
        expected = expected_of(probe, session, arrays)
        if expected and max(value.nbytes for value in expected.values()) > 1:
            break
    room = max(value.nbytes for value in expected.values()) - 1
    status = status_of(model, arrays, room)
    require(status & 0xFF == CAPACITY, f"room for {room} bytes: status {status}")


def check_probe(name, target, options, folder):
    probe, place = Probe(name), folder / f"{name}_{target}"
    place.mkdir()
    path = probe.save(place / f"{name}.onnx")
    flags = [f"--bound={axis}={most}" for axis, most in probe.bounds.items()]
    outdir, model = probes.compiled(path, target, flags)
    session, rng = reference.session(path, optimised=False), np.random.default_rng(options.seed)
    sizes, refused = set(), 0
    for _ in range(options.draws):
        arrays = probe.draw(rng)
        expected = expected_of(probe, session, arrays)
        if expected is None:
            refused += 1
            require(status_of(model, arrays), "data that pass a bound are not refused")
            continue
        require_outputs(model, arrays, expected, FILL, 1e-5)
        sizes.add(tuple(value.shape for value in expected.values()))
    require(len(sizes) > 1, f"all draws have the shapes {sizes}")
    if probe.beyond:
        require_bound(probe, model, outdir, rng)
    require_room(probe, model, session, rng)
    model.close()
    return f"{options.draws - refused} draws of {len(sizes)} sizes hold, {refused} are refused"


if __name__ == "__main__":
    sys.exit(probes.main(__doc__, PROBES, check_probe, draws=12))
