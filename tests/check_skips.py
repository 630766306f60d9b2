#!/usr/bin/env python3
"""Names the tests that a run of ctest skipped; fails where skips.txt does not list one of them.

    ctest --test-dir build | tee log; tests/check_skips.py log

Without a GPU all tests that need one, of those that ran, have to be among the skipped ones: they
cannot pass.
"""
import fnmatch
import pathlib
import re
import sys

TABLE = pathlib.Path(__file__).with_name("skips.txt")
sys.path.insert(0, str(TABLE.parent / "models"))

from cuda_tools import has_gpu  # noqa: E402

SKIPPED = r"^\s+\d+ - (.+?)(?:\s+# GetParam.*)? \((?:Skipped|Disabled)\)$"
RUN = r"^ *\d+/\d+ Test +#\d+: (\S+)"


def read():
    """Pattern of a name -> what lacks."""
    lines = [line for line in TABLE.read_text().splitlines() if line and line[0] != "#"]
    return {test.strip(): lack.strip() for test, lack in (line.split("|") for line in lines)}


def main():
    log, table = pathlib.Path(sys.argv[1]).read_text(errors="replace"), read()
    skipped, wrong = set(re.findall(SKIPPED, log, re.MULTILINE)), 0
    for name in sorted(skipped):
        lack = next((table[p] for p in table if fnmatch.fnmatchcase(name, p)), None)
        wrong += lack is None
        print(f"{name}: " + (f"skipped, lacks {lack}" if lack else "skipped, not in skips.txt"))
    if not has_gpu():
        run = set(re.findall(RUN, log, re.MULTILINE))
        for name in sorted(run - skipped):
            if table.get(name) == "gpu":
                wrong += 1
                print(f"{name}: was not skipped, and there is no GPU")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
