"""What this machine has of CUDA: nvcc, a GPU, and compute-sanitizer.

    nvcc = cuda_tools.find("nvcc")
    print(cuda_tools.missing() or "kernels can run here, watched")
"""
import pathlib
import shutil

from model_list import ROOT


def find(program):
    """The path of a program of the CUDA toolkit, or None: scripts/setup's own comes first."""
    candidates = [ROOT / ".venv/bin" / program, shutil.which(program),
                  f"/usr/local/cuda/bin/{program}"]
    return next((str(path) for path in candidates if path and pathlib.Path(path).exists()), None)


def has_gpu():
    return any(pathlib.Path("/dev").glob("nvidia[0-9]*"))


def missing():
    """What a watched run of a kernel lacks here, or ""."""
    if not has_gpu():
        return "this machine has no NVIDIA GPU"
    absent = [program for program in ("nvcc", "compute-sanitizer") if not find(program)]
    return f"this machine has no {' and no '.join(absent)}" if absent else ""
