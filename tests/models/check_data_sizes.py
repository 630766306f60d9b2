#!/usr/bin/env python3
"""Sizes that come of data: how many elements are not zero, which boxes are left, what is unique.

    tests/models/check_data_sizes.py                      # every probe, on cpu and emulated cuda
    tests/models/check_data_sizes.py --sample 6 --seed 7 --draws 20
    tests/models/check_data_sizes.py --probe joined --target cpu

Each probe (data_net.py, data_control_net.py, data_region_net.py) is compiled and run with data of
which no, few, many and all elements are chosen; numbers and dims are onnxruntime's. Where a bound
is given that data can pass, such data are a status whose sentence names the tensor, and room for
less than a run gives is a status too. All under the sanitizers (probes.py). Exit status 0: all
holds.
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
LEAST_PROBES, LEAST_BOUNDS = 47, 23


def expected_of(probe, session, arrays):
    """Outputs by name; None where one of them passes its bound."""
    names = [output.name for output in session.get_outputs()]
    expected = dict(zip(names, session.run(names, arrays)))
    for axis, (most, _) in probe.bounds.items():
        tensor, _, number = axis.rpartition(":")
        if tensor in expected and expected[tensor].shape[int(number)] > most:
            return None
    return expected


def require_bounds(probe, model, outdir, rng):
    """What passes one of the bounds is refused by a sentence of that bound, which names the
    tensor."""
    sentences, said = json.loads((outdir / "metadata.json").read_text()).get("checks", []), set()
    for axis, (_, inputs) in probe.bounds.items():
        status = status_of(model, probe.draw(rng, inputs))
        text = model.table.status_text(status).decode()
        require(status and text in sentences and f"'{axis}'" in text and text not in said,
                f"beyond the bound of {axis}: {status}, {text}")
        said.add(text)


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
    flags = [f"--bound={axis}={most}" for axis, (most, _) in probe.bounds.items()]
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
    require_bounds(probe, model, outdir, rng)
    require_room(probe, model, session, rng)
    model.close()
    return (f"{options.draws - refused} draws of {len(sizes)} sizes hold, {refused} are refused, "
            f"{len(probe.bounds)} bounds are passed")


def require_probes():
    bounds = sum(len(Probe(name).bounds) for name in PROBES)
    require(len(PROBES) >= LEAST_PROBES and bounds >= LEAST_BOUNDS,
            f"{len(PROBES)} probes with {bounds} bounds")


if __name__ == "__main__":
    require_probes()
    sys.exit(probes.main(__doc__, PROBES, check_probe, draws=12))
