#!/usr/bin/env python3
"""Makes each mistake of cases/*.txt, and compares what aotc says with the golden text.

    check_mistakes.py build/aotc [--update] [--case NAME]

A case is a file:

    A letter of a flag is missing.
    $ aotc net.onnx --taget cuda -o out
    meant: --target
    --
    error: unknown flag '--taget'; did you mean '--target'?; hint: aotc --help
    exit code 2

First what is wrong; then commands, the last of which has the mistake; then what the person wanted,
which the answer has to name in one of its findings. Commands run in a folder of their own with the
models of mistake_models.py, and of the last one stderr and the exit code are compared. Where that
is not 0, no folder may have come and none may have changed, and --json gives the same findings.
--update rewrites the answers, for review as a diff. Exit status 0: every answer is as it was.
"""
import argparse
import concurrent.futures
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile

import mistake_models

CASES = pathlib.Path(__file__).parent / "cases"
LEAST = 40
ENVIRONMENT = {"PATH": "/usr/bin:/bin"}


class Case:
    """One file of cases/."""

    def __init__(self, path):
        self.path, self.name = path, path.stem
        asked, _, self.answer = path.read_text().partition("\n--\n")
        lines = asked.splitlines()
        self.commands = [line[2:] for line in lines if line.startswith("$ ")]
        self.meant = [line[7:] for line in lines if line.startswith("meant: ")]
        self.asked = asked

    def write(self, answer):
        self.path.write_text(f"{self.asked}\n--\n{answer}")


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
            for path in sorted(folder.rglob("*"))}


def run(aotc, command, folder, *more):
    words = shlex.split(command)
    if words[0] == "aotc":
        words[0] = str(aotc)
    return subprocess.run([*words, *more], cwd=folder, capture_output=True, text=True, timeout=120,
                          env=ENVIRONMENT, check=False)


def said_in_json(text, code):
    """The findings of --json, as stderr has them."""
    given = json.loads(text)
    assert given["exit_code"] == code, given["exit_code"]
    lines = []
    for one in given["findings"]:
        place = f"{one['place']}: " if one["place"] else ""
        hint = f"; hint: {one['hint']}" if one["hint"] else ""
        lines.append(f"{one['severity']}: {place}{one['message']}{hint}\n")
    return "".join(lines)


def make(aotc, case):
    """(what is said and the exit code, what is wrong with that)"""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        mistake_models.write(folder)
        for command in case.commands[:-1]:
            done = run(aotc, command, folder)
            assert done.returncode == 0, f"{command}: {done.stderr}"
        before = contents(folder)
        done = run(aotc, case.commands[-1], folder)
        answer = f"{done.stderr}exit code {done.returncode}\n"
        wrong = [f"does not name '{meant}'" for meant in case.meant if meant not in done.stderr]
        if not case.meant:
            wrong.append("the case does not say what is meant")
        if done.returncode != 0 and contents(folder) != before:
            wrong.append("files changed")
        if done.returncode != 0 and " " in case.commands[-1]:
            again = run(aotc, case.commands[-1], folder, "--json")
            said = said_in_json(again.stdout, done.returncode)
            if said != again.stderr or said.replace(" --json", "") != done.stderr:
                wrong.append(f"--json says something else: {said}")
        return answer, wrong


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("aotc", type=pathlib.Path)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--case", help="one alone")
    return parser.parse_args()


def main():
    options = parse_arguments()
    cases = [Case(path) for path in sorted(CASES.glob("*.txt"))]
    cases = [case for case in cases if options.case in (None, case.name)]
    aotc = options.aotc.resolve()
    findings = []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for case, (answer, wrong) in zip(cases, pool.map(lambda case: make(aotc, case), cases)):
            if options.update:
                case.write(answer)
            elif answer != case.answer:
                wrong.append(f"says\n{answer}instead of\n{case.answer}")
            findings += [f"{case.name}: {text}" for text in wrong]
    print("\n".join(findings + [f"{len(cases)} mistakes, {len(findings)} findings"]))
    return 1 if findings or not options.case and len(cases) < LEAST else 0


if __name__ == "__main__":
    sys.exit(main())
