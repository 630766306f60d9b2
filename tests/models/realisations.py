"""Which realisation each kernel of an outdir has, and what share of the FLOP each realisation runs.

    report = realisations.read(outdir)      # of metadata.json
    report.shares()                         # {"contract_tile": 0.97, "vector_loops": 0.03}
    report.plain_contractions()             # names of kernels with a contraction on plain loops
"""
import collections
import dataclasses
import functools
import json
import re
import subprocess

from model_list import build_folder

# Of aotc's schedules those that are written as loops.
LOOPS = {"row_groups", "packed_elementwise"}


@functools.cache
def tiles():
    """The schedules that aotc lists, but for loops: by tile functions, one or several."""
    text = subprocess.run([build_folder() / "aotc", "--print-pipeline"], capture_output=True,
                          text=True, check=True).stdout
    return set(re.findall(r"^--disable-schedule (\w+):", text, re.M)) - LOOPS


def is_tile(realisation):
    return realisation in tiles()


@dataclasses.dataclass(frozen=True)
class Kernel:
    name: str
    realisation: str
    contraction: bool
    flops: float  # of all its launches


@dataclasses.dataclass(frozen=True)
class Report:
    kernels: list

    def shares(self):
        """Realisation -> share of the model's FLOP, largest first."""
        total = sum(k.flops for k in self.kernels) or 1
        found = collections.Counter()
        for kernel in self.kernels:
            found[kernel.realisation] += kernel.flops / total
        return dict(found.most_common())

    def plain_contractions(self):
        return [k.name for k in self.kernels if k.contraction and not is_tile(k.realisation)]

    def plain_share(self):
        """Of the FLOP, how much runs outside of tiles."""
        return sum(share for name, share in self.shares().items() if not is_tile(name))

    def line(self):
        return ", ".join(f"{name} {share:.1%}" for name, share in self.shares().items())


def read(outdir):
    metadata = json.loads((outdir / "metadata.json").read_text())
    return Report([Kernel(k["name"], k["realisation"], k["contraction"], k["flops"] * k["launches"])
                   for k in metadata["kernels"]])
