"""Rows 64 and 65: the kernels of edge_rows.py while something watches what they do.

Everywhere they run emulated, under AddressSanitizer and under the race checker of the emulation; on
a GPU, where this machine has one, under NVIDIA's compute-sanitizer. Numbers are compared as well.
"""
import cuda_tools
import edge_rows
from build_output import compile_model
from cases import skip
from device_run import Way, run

TABLES = (edge_rows.contractions, edge_rows.half_contractions, edge_rows.convolutions,
          edge_rows.reductions, edge_rows.elementwise)
EMULATED = ("g++", "-std=c++17", "-O1")
SANITIZED = (*EMULATED, "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
NVCC_OPTIONS = ("-std=c++17", "-O2", "-arch=native", "--Werror=all-warnings")


def watched(way, folder):
    for make in TABLES:
        table = make()
        path = table.save(folder, make.__name__)
        outdir = compile_model(path, "cuda", folder / path.stem, {})
        table.compare(run(outdir, way, table.inputs, table.results()), way.target)


def on_gpu(tool, *options):
    """A way to build for the GPU of this machine and to run under a tool of compute-sanitizer."""
    if cuda_tools.missing():
        skip(cuda_tools.missing())
    watcher = (cuda_tools.find("compute-sanitizer"), f"--tool={tool}", "--error-exitcode=1")
    return Way("gpu", (cuda_tools.find("nvcc"), *NVCC_OPTIONS), watcher + options)


def row64_edges_under_address_sanitizer(folder):
    watched(Way("cuda", SANITIZED), folder)


def row64_edges_under_memcheck_of_a_gpu(folder):
    watched(on_gpu("memcheck", "--padding=256"), folder)


def row65_barriers_under_the_race_checker(folder):
    watched(Way("cuda-races", EMULATED), folder)


def row65_barriers_under_racecheck_of_a_gpu(folder):
    watched(on_gpu("racecheck"), folder)
    watched(on_gpu("synccheck"), folder)
