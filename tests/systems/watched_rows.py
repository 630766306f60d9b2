"""Rows 64 and 65: the kernels of edge_rows.py while something watches what they do.

Everywhere they run emulated, under AddressSanitizer and under the race checker of the emulation; on
a GPU, where this machine has one, under NVIDIA's compute-sanitizer. Numbers are compared as well,
and each watcher has to find a fault that is planted.
"""
import cuda_tools
import edge_rows
from build_output import Failure, compile_model
from cases import Skipped, expect
from device_run import Way, run

TABLES = (edge_rows.contractions, edge_rows.half_contractions, edge_rows.convolutions,
          edge_rows.reductions, edge_rows.elementwise)
EMULATED = ("g++", "-std=c++17", "-O1")
SANITIZED = (*EMULATED, "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
NVCC_OPTIONS = ("-std=c++17", "-O2", "-arch=native", "-lineinfo", "--threads=0",
                "--Werror=all-warnings")
UNSUPPORTED = "Device not supported"


def on_gpu(*tools):
    """A way to build for the GPU of this machine and to run under each tool of compute-sanitizer,
    given as its name and options.
    """
    reason = cuda_tools.missing()
    if reason:
        raise Skipped(reason)
    words = (cuda_tools.find("compute-sanitizer"), "--error-exitcode=1", "--tool")
    return Way("gpu", (cuda_tools.find("nvcc"), *NVCC_OPTIONS),
               [((*words, *tool), "SUMMARY: 0 ") for tool in tools])


def compiled(table, name, folder):
    return compile_model(table.save(folder, name), "cuda", folder / name, {})


def run_table(way, table, name, folder):
    """Also with what are weights, which share one allocation, as inputs."""
    outdir = compiled(table, name, folder)
    for outputs in run(outdir, way, table.inputs, table.results()):
        table.compare(outputs, way.target)
    if table.weights:
        table.inputs, table.weights = table.inputs | table.weights, {}
        run_table(way, table, f"{name}_of_inputs", folder)


def watched(way, folder):
    try:
        for make in TABLES:
            run_table(way, make(), make.__name__, folder)
    except Failure as failure:
        if UNSUPPORTED in str(failure):
            raise Skipped(f"compute-sanitizer: {UNSUPPORTED}") from None
        raise


def expect_found(fault, outdir, way, inputs, expected):
    try:
        list(run(outdir, way, inputs, expected))
    except Failure as failure:
        expect(fault in str(failure), f"'{fault}' is not in: {failure}")
    else:
        expect(False, f"nobody found '{fault}' in {outdir}")


def shortened(arrays):
    """The last of them with an element less."""
    last = list(arrays)[-1]
    return arrays | {last: arrays[last].reshape(-1)[:-1]}


def expect_overruns_found(fault, way, folder):
    """An input, then an output, has an element less than the kernel takes it to."""
    table = edge_rows.elementwise()
    outdir, inputs, expected = compiled(table, "overrun", folder), table.inputs, table.results()
    expect_found(fault, outdir, way, shortened(inputs), expected)
    expect_found(fault, outdir, way, inputs, shortened(expected))


def expect_race_found(fault, way, folder):
    """A reduction that reads what other warps write, its barrier taken out."""
    table = edge_rows.reductions()
    outdir = compiled(table, "race", folder)
    header = outdir / "aotc/cuda/block_reduce.cuh"
    text, barrier = header.read_text(), "  aotc_syncthreads();\n"
    expect(barrier in text, f"{header} has no barrier")
    header.write_text(text.replace(barrier, "", 1))
    expect_found(fault, outdir, way, table.inputs, table.results())


def row64_edges_under_address_sanitizer(folder):
    way = Way("cuda", SANITIZED)
    watched(way, folder)
    expect_overruns_found("heap-buffer-overflow", way, folder)


def row64_edges_under_memcheck_of_a_gpu(folder):
    way = on_gpu(("memcheck", "--padding=256"))
    watched(way, folder)
    expect_overruns_found("Invalid __global__", way, folder)


def row65_barriers_under_the_race_checker(folder):
    way = Way("cuda-races", EMULATED)
    watched(way, folder)
    expect_race_found("reads 'partial'", way, folder)


def row65_barriers_under_racecheck_of_a_gpu(folder):
    way = on_gpu(("racecheck",), ("synccheck",))
    watched(way, folder)
    expect_race_found("Race reported", way, folder)
