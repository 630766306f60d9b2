#!/usr/bin/env python3
"""Checks the files that aotc writes for one model, for both targets.

    tests/models/check_output.py tiny_kws_dscnn                 # of models.txt, or a file
    tests/models/check_output.py tiny_kws_dscnn --quick         # one compiler
    tests/models/check_output.py --all                          # each model of models.txt

Every file compiles without a warning by each compiler at -O0, -O2 and -O3 (with --all each compiler
takes one of the levels, in turn), the header as C99, the .cu files by nvcc. Objects define nothing
unprefixed or weak; what run reaches calls no allocator, I/O or exit. The table keeps its contract.
The same bytes come out twice, and from another folder. Two models in one program give the bytes
that each gives alone. Exit status 0: all holds.
"""
import argparse
import filecmp
import itertools
import pathlib
import re
import shutil
import sys
import tempfile

import check_model
import cuda_tools
import model_list
import reference
import symbols
import turns
from build_output import (Failure, build_library, command, compile_model,
                          compile_objects, model_name)
from model_table import CompiledModel

SECOND = ["policy_quadruped", "tiny_kws_dscnn"]  # the other of two models, and its own other
STATUS_OF_DIMS = re.compile(r"WRONG: create or run: status \d+, (node '.+ differ: .+)")
NVCC_STUB_PREFIXES = ("__device_stub_", "__fatbinwrap", "fatbinData")


def pairs_of(turn, quick):
    """Compilers and levels: all, or of turn number `turn` each compiler and each level once."""
    compilers = ["g++"] if quick else list(turns.COMPILERS)
    if turn is None:
        return list(itertools.product(compilers, turns.LEVELS))
    return [(compiler, turns.LEVELS[(turn + i) % len(turns.LEVELS)])
            for i, compiler in enumerate(compilers)]


def check_matrix(outdir, target, folder, pairs):
    """Host compilers and levels; their objects lie in folders of their own."""
    for compiler, level in pairs:
        words = [compiler, "-std=c++17", level, *turns.WARNINGS]
        objects = compile_objects(outdir, target, folder / f"{compiler}{level}", compiler=words)
        symbols.verify_names(symbols.read(objects), model_name(outdir))
    print(f"  {target} no warning, weak or unprefixed symbol: " + ", ".join(map(" ".join, pairs)))


def check_header(outdir, folder, quick):
    """The public header, alone, as C99."""
    name = model_name(outdir)
    probe = folder / "header.c"
    probe.write_text(f'#include "{name}.h"\n#include "aotc/model.h"\n'
                     f"const aotc_model *probe(void);\n"
                     f"const aotc_model *probe(void) {{ return {name}_model(); }}\n")
    for compiler in ["gcc"] if quick else turns.COMPILERS.values():
        command([compiler, "-std=c99", *turns.WARNINGS, "-fsyntax-only", "-I", outdir, probe])


def check_nvcc(outdir, folder):
    """Each generated file by the real compiler, then the symbols of the host part."""
    if cuda_tools.find("nvcc") is None:
        print("  cuda nvcc is not installed: not compiled with it")
        return
    table = symbols.read(compile_objects(outdir, "nvcc", folder))
    symbols.verify_names(table, model_name(outdir), NVCC_STUB_PREFIXES)
    symbols.verify_run(table, f"{model_name(outdir)}_enqueue", cuda=True)
    print("  cuda nvcc takes every file without a warning; enqueue reaches CUDA's calls only")


def check_run_symbols(outdir, folder, levels):
    """What run and run_mt reach on the CPU, at each level."""
    name, counts = model_name(outdir), []
    for level in levels:
        table = symbols.read(sorted((folder / f"g++{level}").glob("*.o")))
        for entry in (f"{name}_run", f"{name}_run_mt"):
            counts.append(len(symbols.verify_run(table, entry)))
    print(f"  cpu run and run_mt reach {counts[0]} objects: no allocator, I/O or exit")


def check_table(library, name, entry):
    """The table as conformance/table_check.py of ../shared sees it, whose inputs hold any numbers:
    where the largest sizes go with some of them alone, dims that differ may be what comes of it.
    """
    script = model_list.SHARED / "conformance/table_check.py"
    if not script.exists():
        print("  no ../shared/conformance beside the repository: table_check.py not run")
        return
    by_values = any(symbol.endswith("=") for sizes in entry.sizes for symbol in sizes)
    for dims in ("min", "max"):
        try:
            command([sys.executable, script, library, name, "--dims", dims])
        except Failure as failure:
            status = STATUS_OF_DIMS.search(str(failure))
            if not (by_values and dims == "max" and status):
                raise
            print(f"  table_check.py at the largest sizes: {status[1]}")
    print(f"  table_check.py holds for {library.parent.parent.name}")


def differing(first, second):
    """Relative paths of files that are not the same in two folders."""
    names = {p.relative_to(folder) for folder in (first, second)
             for p in folder.rglob("*") if p.is_file()}
    same, apart, missing = filecmp.cmpfiles(first, second, sorted(map(str, names)), shallow=False)
    return sorted(apart + missing)


def check_determinism(path, target, outdir, entry, folder):
    """Once more, from a copy of the model in another folder, with another working directory."""
    with tempfile.TemporaryDirectory() as elsewhere:
        copy = pathlib.Path(elsewhere) / "deeper" / path.name
        copy.parent.mkdir()
        copy.symlink_to(path)
        for i, place in enumerate((folder / "again", pathlib.Path(elsewhere))):
            model = copy if i else path
            other = compile_model(model.resolve() if not i else model, target, place, entry.dims)
            apart = differing(outdir, other)
            if apart:
                raise Failure(f"{target}: not the same bytes the second time: {', '.join(apart)}")
    print(f"  {target} the same bytes twice and in another folder")


def run_once(library, name, inputs):
    model = CompiledModel(library, name)
    result = model.run(inputs)
    model.close()
    return result


def check_two_models(outdirs, target, entries, folder):
    """Both models' objects in one library: each gives what it gives alone."""
    objects, both = [], folder / "two.so"
    for outdir in outdirs:
        objects.append(compile_objects(outdir, target, folder / model_name(outdir)))
    command(["g++", "-shared", "-o", both, *objects[0], *objects[1]])
    for outdir, own, (entry, path) in zip(outdirs, objects, entries):
        name = model_name(outdir)
        alone = folder / f"{name}.so"
        command(["g++", "-shared", "-o", alone, *own])
        inputs = reference.make_inputs(path, entry.sizes[0], 3, entry.scale)
        check_model.require_same(run_once(alone, name, inputs), run_once(both, name, inputs),
                                 "between the model alone and beside another")
    print(f"  {target} {' and '.join(map(model_name, outdirs))} run in one program")


def check(entry, path, second, turn, options):
    pairs = pairs_of(turn, options.quick)
    for target in options.target or ["cpu", "cuda"]:
        folder = model_list.work_folder() / "output_tests" / target / path.stem
        outdir = compile_model(path, target, folder, entry.dims)
        check_matrix(outdir, target, folder, pairs)
        check_header(outdir, folder, options.quick)
        if target == "cpu":
            levels = [level for compiler, level in pairs if compiler == "g++"]
            check_run_symbols(outdir, folder, levels)
        else:
            check_nvcc(outdir, folder / "nvcc")
        build_library(outdir, target, folder / "model.so")
        check_table(folder / "model.so", model_name(outdir), entry)
        check_determinism(path, target, outdir, entry, folder)
        other = compile_model(second[1], target, folder / "second", second[0].dims)
        check_two_models([outdir, other], target, [(entry, path), second], folder / "two")
        shutil.rmtree(folder)  # the objects of a model with large weights are many gigabytes


def entry_of(text):
    """(entry, path) of a name of the table, or of a file without symbols."""
    entry = model_list.find(text)
    if entry:
        return entry, model_list.locate(entry)
    path = pathlib.Path(text)
    return model_list.Entry(path.stem, "file", False, {}, {}, {}, [{}]), path


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", help="files, or names of models.txt")
    parser.add_argument("--all", action="store_true", help="each model of models.txt")
    parser.add_argument("--second", help="the other of two models")
    parser.add_argument("--target", choices=["cpu", "cuda"], action="append")
    parser.add_argument("--quick", action="store_true", help="g++ alone")
    options = parser.parse_args()
    if options.all == bool(options.models):
        parser.error("name models, or give --all")
    model_list.say_if_shared_is_missing()
    failed, held = 0, 0
    names = [entry.name for entry in model_list.read()] if options.all else options.models
    for turn, name in enumerate(names):
        entry, path = entry_of(name)
        second = entry_of(options.second or SECOND[name == SECOND[0]])
        if path is None or second[1] is None:
            print(f"{name}: left out, not on this machine")
            continue
        print(name, flush=True)
        try:
            check(entry, path, second, turn if options.all else None, options)
            held += 1
        except Failure as failure:
            print(f"  FAILED: {failure}")
            failed += 1
    print(f"{held} of {held + failed} models hold")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
