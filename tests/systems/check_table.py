#!/usr/bin/env python3
"""Checks systems.txt: each row that is due is there, each test that it names exists.

    tests/systems/check_table.py             # checks
    tests/systems/check_table.py --print     # and prints row, tests, command and state as Markdown
"""
import pathlib
import re
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
TABLE = FOLDER / "systems.txt"
NUMBERS = [*range(1, 35), 36, *range(38, 43), 44, *range(46, 70), 80, 81, 83, 87, 88]
DUE = [str(number) for number in NUMBERS]
DUE += [f"D{n}" for n in range(1, 19)]
STATES = ("holds", "gpu", "none")  # as the head of systems.txt explains them


def programs():
    """GoogleTest program of each folder of tests."""
    return {"unit": "unit_tests", "systems": "systems_test", "golden": "golden_test"}


def google_tests():
    """Suite.Name -> program, from the sources."""
    found = {}
    for path in ROOT.glob("tests/**/*_test*.cc"):
        folder = path.relative_to(ROOT / "tests").parts[0]
        program = programs().get(folder, path.stem)
        for suite, name in re.findall(r"^(?:TYPED_)?TEST(?:_[FP])?\((\w+),\s*(\w+)\)",
                                      path.read_text(), re.MULTILINE):
            found[f"{suite}.{name}"] = program
    for suite, name in re.findall(r"TEST\((\w+), (\w+)\)",
                                  (ROOT / "tests/conformance/node_tests.cc").read_text()):
        found[f"{suite}.{name}"] = "node_tests"
    return found


def ctests():
    """Names of tests that CMake files add by function: aotc_import_test(dims ...): import/dims."""
    names = set()
    for path in ROOT.glob("tests/*/CMakeLists.txt"):
        for name in re.findall(r"^\s*aotc_\w+_test\((\w+)", path.read_text(), re.MULTILINE):
            names.add(f"{path.parent.name}/{name}")
        names.update(re.findall(r"add_test\(NAME (\w+/\w+)", path.read_text()))
    return names


def python_rows():
    text = "".join(path.read_text() for path in FOLDER.glob("*_rows.py"))
    return {f"systems/{name}" for name in re.findall(r"^def ((?:row|defect)\d+_\w+)", text,
                                                     re.MULTILINE)}


class Known:
    """All tests of the repository by the names that the table uses."""

    def __init__(self):
        self.google, self.ctests = google_tests(), ctests() | python_rows()

    def missing(self, test):
        """What is wrong with the name of a test, or "". A star stands for the rest of a name."""
        if test.endswith(".air"):
            return "" if list(ROOT.glob(f"tests/golden/{test}")) else "no such golden case"
        if test in self.google or test in self.ctests:
            return ""
        if test.endswith("*") and any(name.startswith(test[:-1]) for name in self.google):
            return ""
        return "no such test"

    def command(self, test):
        if test.endswith(".air"):
            return "build/tests/golden_test --gtest_filter='*" + pathlib.Path(test).stem + "'"
        if test in self.ctests:
            return f"ctest --test-dir build -R '^{test}$'"
        program = self.google.get(test) or next(
            p for name, p in self.google.items() if name.startswith(test[:-1]))
        return f"build/tests/{program} --gtest_filter='{test}'"


def read():
    """[(row, statement, state, tests, note)]"""
    rows = []
    for line in TABLE.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            row, statement, state, tests, note = (part.strip() for part in line.split("|"))
            rows.append((row, statement, state, tests.split(), note))
    return rows


def complaints(rows, known):
    lines = [f"row {row} is absent" for row in DUE if row not in {r[0] for r in rows}]
    for row, _, state, tests, note in rows:
        if state not in STATES:
            lines.append(f"row {row}: the state '{state}' is none of {', '.join(STATES)}")
        if state != "none" and not tests:
            lines.append(f"row {row}: no test")
        if state != "holds" and not note:
            lines.append(f"row {row}: no note says what is missing")
        lines += [f"row {row}: {known.missing(t)}: {t}" for t in tests if known.missing(t)]
    return lines


def main():
    rows, known = read(), Known()
    wrong = complaints(rows, known)
    if "--print" in sys.argv and not wrong:
        print("| row | statement | tests | first command | state | note |\n"
              "| --- | --- | --- | --- | --- | --- |")
        for row, statement, state, tests, note in rows:
            command = f"`{known.command(tests[0])}`" if tests else ""
            print(f"| {row} | {statement} | {' '.join(tests)} | {command} | {state} | {note} |")
    print("\n".join(wrong) or f"{len(rows)} rows, each with its tests")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
