#!/usr/bin/env python3
"""Runs functions row... and defect... of the files *_rows.py, by name; all without one.

    tests/systems/run_row.py row06_unknown_names_are_refused
    tests/systems/run_row.py --list
"""
import importlib
import pathlib
import sys
import tempfile

SKIPPED = 77  # exit status that ctest knows
FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent / "models"))

from cases import Skipped  # noqa: E402


def rows():
    """Name -> function, of every file."""
    found = {}
    for path in sorted(FOLDER.glob("*_rows.py")):
        module = importlib.import_module(path.stem)
        found.update({name: function for name, function in vars(module).items()
                      if name.startswith(("row", "defect")) and callable(function)})
    return found


def main():
    known, chosen = rows(), sys.argv[1:]
    if chosen == ["--list"]:
        print("\n".join(sorted(known)))
        return 0
    chosen, skipped = chosen or sorted(known), 0
    for name in chosen:
        try:
            with tempfile.TemporaryDirectory() as folder:
                known[name](pathlib.Path(folder))
            print(f"{name}: holds", flush=True)
        except Skipped as reason:
            skipped += 1
            print(f"{name}: not run: {reason}", flush=True)
    return SKIPPED if skipped == len(chosen) else 0


if __name__ == "__main__":
    sys.exit(main())
