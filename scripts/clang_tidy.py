"""clang-tidy on files of a build, which remembers the files that had no findings.

A file is looked at again when its command, one of the files that it includes, .clang-tidy or the
program is another than it was: what ninja noted while it compiled, so that nothing has to be
preprocessed for the question. Only clean files are remembered, by name of their hash alone.
"""
import concurrent.futures
import functools
import hashlib
import json
import os
import re
import subprocess
import sys

CLEAN = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"),
                     "aotc", "clang-tidy")


@functools.cache
def content_hash(path):
    """The hash of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def included(build):
    """Per object file what it was made of, as of the last build."""
    listed = subprocess.run(["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True)
    return {match[1]: match[2].split() for match in
            re.finditer(r"(?m)^(\S+): #deps .*\(VALID\)\n((?: +\S+\n)*)", listed.stdout)}


def hashes(files, build, program):
    """Per file the hash of all that clang-tidy reads; None where ninja does not know it."""
    version = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
    parts = included(build)
    root = os.getcwd()
    found = dict.fromkeys(files)
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        commands = json.load(file)
    for entry in commands:
        name = os.path.relpath(entry["file"], root)
        output = re.search(r" -o (\S+)", entry["command"])[1]
        if name not in found or output not in parts:
            continue
        read = [content_hash(os.path.join(build, part)) for part in parts[output]]
        command = entry["command"].replace(root, ".")
        text = "\n".join([version, content_hash(".clang-tidy"), name, command, *read])
        found[name] = hashlib.sha256(text.encode()).hexdigest()
    return found


def findings_of(file, build, program, mark):
    """The findings in one file, and whether clang-tidy called it clean; a clean one is marked."""
    if mark and os.path.exists(mark):
        return [], True
    run = subprocess.run([program, "-p", build, "--quiet", file], capture_output=True, text=True)
    if mark and run.returncode == 0:
        os.makedirs(os.path.dirname(mark), exist_ok=True)
        with open(mark, "w", encoding="utf-8"):
            pass
    return re.findall(r"(?m)^\S+:\d+:\d+: (?:error|warning): .*", run.stdout), run.returncode == 0


def check(files, build, program):
    """Prints clang-tidy's findings in `files`; the number of files that have some."""
    if not files:
        return 0
    if not os.path.exists(os.path.join(build, "compile_commands.json")):
        sys.exit(f"check_style: no compile_commands.json in {build}; run scripts/build")
    keys = hashes(files, build, program)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = list(pool.map(
            lambda file: findings_of(file, build, program,
                                     keys[file] and os.path.join(CLEAN, keys[file])), files))
    findings = sorted({line for lines, _ in runs for line in lines})
    for line in findings:
        print(os.path.relpath(line.split(":")[0]) + ":" + line.split(":", 1)[1])
    return len({line.split(":")[0] for line in findings}) or sum(not clean for _, clean in runs)
