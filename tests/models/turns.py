"""What tests build programs with, in turn, as users do: compilers, levels and instruction sets.

    outdir = compile_model(path, target, folder, {}, turns.cpu_flags(target, folder))
    build_library(outdir, target, library, 1, turns.compiler(folder))

Optimizers have faults of their own, which one compiler at one level hides. The name of a program's
folder draws, so that each of the many programs of a test gets the same again, and each choice its
share. AOTC_COMPILER, such as "g++ -O3", and AOTC_CPU, such as x86-64-v4, are taken for all.
"""
import functools
import os
import zlib

from build_output import has_feature
from model_list import work_folder

COMPILERS = {"g++": "gcc", "clang++-14": "clang-14", "clang++-19": "clang-19"}  # and for C
LEVELS = "-O3", "-O2", "-O0"
FAST = LEVELS[:2]  # for models that take long
WARNINGS = "-Wall", "-Wextra", "-Wpedantic", "-Werror"
# Instruction set -> what /proc/cpuinfo calls the feature that only it needs.
CPUS = {"x86-64": "sse2", "x86-64-v3": "avx2", "x86-64-v4": "avx512vl"}


@functools.cache
def known_cpus():
    """Of this machine."""
    return [cpu for cpu, feature in CPUS.items() if has_feature(feature)]


def drawn(choices, folder, what):
    """One of `choices`."""
    name = f"{what} of {os.path.relpath(folder, work_folder())}"
    return choices[zlib.crc32(name.encode()) % len(choices)]


def compiler(folder, levels=LEVELS):
    """Words that compile a program, without its files."""
    pair = drawn(list(COMPILERS), folder, "compiler"), drawn(levels, folder, "level")
    name, level = os.environ.get("AOTC_COMPILER", "").split() or pair
    return name, "-std=c++17", level


def cpu_flags(target, folder):
    """The flag that names the one instruction set of a program, of those that this machine has."""
    if target != "cpu":
        return []
    return ["--cpu", os.environ.get("AOTC_CPU") or drawn(known_cpus(), folder, "instruction set")]
