"""Compiles a model with aotc, and what it wrote with a host compiler into a shared library.

    outdir = build_output.compile_model(path, "cpu", folder, {"batch": "1..4"})
    library = build_output.build_library(outdir, "cpu", folder / "model.so")

CUDA is built for the host, with the emulation header: target "cuda" as it comes, "cuda-races" with
the emulation's checks of shared memory and barriers, which end a run that breaks their rules, and
with products and sums made one instruction, as nvcc does, where this machine can. Targets "gpu" and
"nvcc" are built by nvcc, whatever host compiler is asked for: for the GPU of this machine, and for
the oldest one, to see that it takes everything without a warning.
"""
import collections
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import time

import cuda_tools
from model_list import build_folder


def has_feature(name):
    """Whether this machine is known to have it, by the name of /proc/cpuinfo."""
    info = pathlib.Path("/proc/cpuinfo")
    return info.exists() and f" {name} " in info.read_text()


# What makes g++ contract a * b + c, which it does wherever an instruction is there for it.
FUSED_PRODUCTS = ["-mfma"] if has_feature("fma") else []
TARGET_OPTIONS = {"cpu": [], "cuda": ["-DAOTC_CUDA_EMULATE"],
                  "cuda-races": ["-DAOTC_CUDA_EMULATE", "-DAOTC_CUDA_CHECK_RACES",
                                 *FUSED_PRODUCTS],
                  "gpu": ["-arch=native"], "nvcc": []}
NVCC_TARGETS = "gpu", "nvcc"
NVCC_OPTIONS = ("-std=c++17", "-O2", "--Werror=all-warnings", "-Xcompiler=-fPIC")


class Failure(Exception):
    """A check that did not hold, or a command that failed; the message says all."""


def command(words, seconds=600, **settings):
    """Runs a program; its output. A Failure with the end of its output where it fails."""
    words = [str(w) for w in words]
    settings = {"stderr": subprocess.STDOUT, **settings}
    try:
        done = subprocess.run(words, stdout=subprocess.PIPE, text=True, errors="replace",
                              timeout=seconds, **settings)
    except subprocess.TimeoutExpired:
        raise Failure(f"no end after {seconds} s: {' '.join(words)}") from None
    except OSError as error:
        raise Failure(f"{words[0]}: {error.strerror}") from None
    if done.returncode:
        text = done.stdout.strip()
        text = text if len(text) < 4000 else f"{text[:2000]}\n...\n{text[-2000:]}"
        raise Failure(f"exit status {done.returncode}: {' '.join(words)}\n{text}")
    return done.stdout


def target_of_aotc(target):
    """What --target is given."""
    return "cuda" if target in NVCC_TARGETS else target.removesuffix("-races")


def compile_model(model, target, folder, dims, flags=(), seconds=600):
    """FOLDER/out, written anew by build/aotc."""
    outdir = folder / "out"
    shutil.rmtree(outdir, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    bounds = [f"--dim={name}={value}" for name, value in dims.items()]
    command([build_folder() / "aotc", model, "--target", target_of_aotc(target), "-o", outdir,
             "--quiet", *bounds, *flags], seconds)
    return outdir


def model_name(outdir):
    """The prefix of the generated files."""
    return next(outdir.glob("*.h")).stem


def join_kernels(outdir):
    """Makes one file of the files of kernels that are for the same instructions: the host compiler
    reads their headers once, and takes two thirds of the time.
    """
    groups = collections.defaultdict(list)
    for part in sorted(outdir.glob(f"{model_name(outdir)}_kernels_*")):
        text = part.read_text()
        groups[tuple(re.findall(r"(?m)^#define AOTC_.*", text))].append((part, text))
    for parts in groups.values():
        parts[0][0].write_text("".join(text for _, text in parts))
        for part, _ in parts[1:]:
            part.unlink()


def compiler_cache():
    return ["ccache"] if shutil.which("ccache") else []


def object_command(source, outdir, target, compiler=("g++", "-std=c++17", "-O2")):
    """Words that compile one generated file, without -o."""
    if source.suffix == ".S":
        assembler = ("g++",) if target in NVCC_TARGETS else compiler  # nvcc's own host compiler
        return [*assembler, "-fPIC", "-I", outdir, "-c", source]
    if target in NVCC_TARGETS:
        return [cuda_tools.find("nvcc"), *NVCC_OPTIONS, *TARGET_OPTIONS[target], "-I", outdir, "-c",
                source]
    return [*compiler, *TARGET_OPTIONS[target], "-fPIC", "-I", outdir, "-c", "-x", "c++", source]


def sources(outdir):
    return sorted(p for p in outdir.iterdir() if p.suffix in (".cpp", ".cu", ".S"))


def compile_objects(outdir, target, folder, jobs=2, compiler=("g++", "-std=c++17", "-O2")):
    """An object per generated source, in FOLDER."""
    folder.mkdir(parents=True, exist_ok=True)

    def one(source):
        result = folder / f"{source.name}.o"
        words = object_command(source, outdir, target, compiler)
        command([*compiler_cache(), *words, "-o", result])
        return result

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(one, sources(outdir)))


def image_decoder(outdir, target):
    """Words that link a decoder of images to a program that calls one."""
    if not (outdir / "aotc/decode_image.h").exists():
        return []
    source = pathlib.Path(__file__).resolve().parents[1] / "conformance/decode_image.cc"
    shared = "-Xcompiler=-fPIC" if target in NVCC_TARGETS else "-fPIC"
    return ["-std=c++20", shared, "-I", outdir, source, "-lfreeimage"]


def build_library(outdir, target, result, jobs=2, compiler=("g++", "-std=c++17", "-O2")):
    """The shared library of one outdir; the seconds that it took."""
    start = time.monotonic()
    objects = compile_objects(outdir, target, result.parent / "objects", jobs, compiler)
    linker = cuda_tools.find("nvcc") if target in NVCC_TARGETS else "g++"
    command([linker, "-shared", "-o", result, *objects, *image_decoder(outdir, target)])
    return time.monotonic() - start


def quiet_environment():
    """For child processes: onnxruntime and numpy on one thread each."""
    return {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
