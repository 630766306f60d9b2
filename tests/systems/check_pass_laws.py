#!/usr/bin/env python3
"""Runs pass_laws on the models of models.txt, for both targets: no pass changes its input, each
result verifies and reads back from its text, and no pass changes its own result.

    tests/systems/check_pass_laws.py                # those marked short in models.txt
    tests/systems/check_pass_laws.py --all          # all
    tests/systems/check_pass_laws.py text_tinybert
"""
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "models"))

import model_list  # noqa: E402


def check(entry, path, target):
    """What the model breaks, or ""."""
    dims = [f"--dim={name}={value}" for name, value in entry.dims.items()]
    words = [model_list.build_folder() / "tests/pass_laws", path, "--target", target, *dims]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600, check=False)
    print(f"{entry.name:24} {target:5} {done.stdout.strip()}{done.stderr.strip()}", flush=True)
    return done.returncode


def main():
    chosen = [word for word in sys.argv[1:] if word != "--all"]
    model_list.say_if_shared_is_missing()
    failed = 0
    for entry in model_list.read():
        wanted = entry.name in chosen if chosen else entry.short or "--all" in sys.argv
        path = model_list.locate(entry) if wanted else None
        if path is not None:
            failed += sum(check(entry, path, target) != 0 for target in ("cpu", "cuda"))
    print(f"{failed} failures" if failed else "every law holds")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
