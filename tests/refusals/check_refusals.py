#!/usr/bin/env python3
"""Meets each refusal of the compiler with a small model and compares what the user sees.

    tests/refusals/check_refusals.py build/tests/refusal_cases [--update] [--case NAME]

The cases are the files cases/*.txt (their form: refusal_case.py) and the broken models of
tests/import, whose sentences stand in broken_models.txt. Every site of AOTC_REFUSAL must be met by
a case: a site has its file and what it makes its sentence of; " #2" behind that is the second such
site of the file. --update rewrites the sentences, for review as a diff.
"""
import argparse
import collections
import pathlib
import re
import subprocess
import sys
import tempfile

import refusal_case

HERE = pathlib.Path(__file__).parent


def names_of(sites):
    """(file, line, text) -> the name that stays when lines are added."""
    counts, names = collections.Counter(), {}
    for site in sorted(sites, key=lambda site: (site["file"], site["line"])):
        key = site["file"], site["text"]
        counts[key] += 1
        number = f" #{counts[key]}" if counts[key] > 1 else ""
        names[site["file"], site["line"], site["text"]] = f"{site['file']} | {site['text']}{number}"
    return names


def listed_sites(program):
    lines = subprocess.run([program, "--list"], capture_output=True, text=True, check=True).stdout
    sites = refusal_case.json_lines(lines)
    names = names_of(sites)
    assert len(names) == len(sites), "two sites on one line have the same text"
    return names


def uses_in_source():
    """How often the macro stands in the compiler: a site that the list lacks would go unseen."""
    pattern = re.compile(r"\bAOTC_REFUSAL\(\s*(?:InvalidArgument|Unimplemented|ResourceExhausted"
                         r"|OutOfRange|NotFound|DataLoss)")
    return sum(len(pattern.findall(re.sub(r"(?m)^\s*//.*", "", path.read_text())))
               for path in pathlib.Path("compiler").rglob("*.cc"))


def check_sites(names, met):
    """Findings, and the number of sites that are not met."""
    every = set(names.values())
    findings = [f"not met by any case: {name}" for name in sorted(every - met)]
    if len(every) != uses_in_source():
        findings.append(f"{len(every)} sites are listed, the sources have {uses_in_source()}: "
                        "one stands in a template or in a file that is not linked")
    return findings, len(every - met)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--update", action="store_true", help="rewrite the sentences")
    parser.add_argument("--case", help="this one alone, and print the sites that it meets")
    options = parser.parse_args()
    names = listed_sites(options.program)
    every = refusal_case.all_cases(HERE)
    cases = [case for case in every if options.case in (None, case.name)]
    with tempfile.TemporaryDirectory() as folder:
        results = refusal_case.run(options.program, cases, pathlib.Path(folder))
    findings, met = [], set()
    for case, result in zip(cases, results):
        sites = {names[site["file"], site["line"], site["text"]] for site in result["sites"]}
        met |= sites
        if options.case:
            print("\n".join(sorted(sites)))
        if not options.update and result["said"] != case.said:
            findings.append(f"{case.name} says\n{result['said']}and not\n{case.said}")
    if options.update:
        said = {case.name: result for case, result in zip(cases, results)}
        refusal_case.rewrite(HERE, every, [said.get(case.name, {"said": case.said})
                                           for case in every])
    unmet = 0
    if not options.case:
        more, unmet = check_sites(names, met)
        findings += more
    print("\n".join(findings))
    print(f"{len(cases)} models, {len(names)} refusals, {len(met)} met, {unmet} not, "
          f"{len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
