#!/usr/bin/env python3
"""Gives broken models to aotc: each must end with exit code 1, an error line that names the place
with a hint, and no output folder. Bits are flipped too, at many seeds: whatever comes of it,
nothing may crash.

    tests/import/check_broken.py build/aotc [--seeds 200] [--case NAME]
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

import broken_inputs
from broken_base import sound_model

LIMIT_SECONDS = 120


def run(aotc, model, outdir, flags=()):
    words = [aotc, model, "--target", "cpu", "--cpu", "x86-64", "-o", outdir, "--quiet", *flags]
    done = subprocess.run(words, capture_output=True, text=True, errors="replace",
                          timeout=LIMIT_SECONDS, check=False)
    return done.returncode, done.stderr


def leftovers(folder, before):
    """What a failed compile has left beside the model."""
    return sorted(p.name for p in folder.iterdir() if p not in before)


def check_case(aotc, root, name):
    case = broken_inputs.CASES[name]
    folder = root / name
    folder.mkdir()
    case.writer(folder)
    before = set(folder.iterdir())
    code, errors = run(aotc, folder / "model.onnx", folder / "out", case.flags)
    lines = errors.splitlines()
    if code != 1:
        return f"exit code {code}: {errors.strip()[:300]}"
    named = [line for line in lines if line.startswith("error: ") and case.place in line]
    if not named:
        return f"no error line names {case.place!r}: {errors.strip()[:300]}"
    if case.hint and not all("; hint: " in line for line in named):
        return f"no hint: {errors.strip()[:300]}"
    if not all(line.startswith(("error: ", "warning: ")) for line in lines):
        return f"stderr has more than findings: {errors.strip()[:300]}"
    left = leftovers(folder, before)
    return f"left behind: {left}" if left else ""


def check_flipped(aotc, root, seed):
    """A sound result or a sound error; a flipped bit in a weight hurts nobody."""
    folder = root / f"flip{seed}"
    folder.mkdir()
    data = broken_inputs.flip_bits(sound_model().SerializeToString(), seed)
    (folder / "model.onnx").write_bytes(data)
    code, errors = run(aotc, folder / "model.onnx", folder / "out")
    if "runtime error:" in errors:  # of a sanitizer
        return errors.strip()[:300]
    if code == 0:
        return "" if (folder / "out").is_dir() else "exit code 0 without output"
    if code != 1 or "error: " not in errors:
        return f"exit code {code}: {errors.strip()[:300]}"
    left = leftovers(folder, {folder / "model.onnx"})
    return f"left behind: {left}" if left else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("aotc")
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--case", action="append")
    options = parser.parse_args()
    findings = []
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        names = options.case or list(broken_inputs.CASES)
        for name in names:
            if problem := check_case(options.aotc, root, name):
                findings.append(f"{name}: {problem}")
        seeds = range(0 if options.case else options.seeds)
        for seed in seeds:
            if problem := check_flipped(options.aotc, root, seed):
                findings.append(f"bits flipped with seed {seed}: {problem}")
    print("\n".join(findings))
    print(f"{len(names)} broken models, {len(seeds)} with flipped bits, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
