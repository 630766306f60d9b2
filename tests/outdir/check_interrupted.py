#!/usr/bin/env python3
"""Kills compiles at every change that they make to files, and lets them run into a full disk.

    check_interrupted.py build/aotc build/tests/outdir/libstop_at.so

After a kill each file is as one of the two compiles writes it, the next compile finds nothing in
its way, and its folder is what it would have been; nothing stays beside it. Where the disk is full
or the folder cannot be written, the compile says so and the folder is as it was. Exit status 0: all
holds.
"""
import os
import pathlib
import shutil
import signal
import sys
import tempfile

from folders import Failure, compile_model, contents, require, write_model

NOBODY = 65534


class Check:
    """A folder of the first model, into which compiles of the second are made."""

    def __init__(self, aotc, stop_at, root):
        self.aotc, self.stop_at, self.root = aotc, stop_at, root
        self.models = [root / "models/first.onnx", root / "models/second.onnx"]
        self.models[0].parent.mkdir()
        write_model(self.models[0], 8)
        write_model(self.models[1], 24, is_deep=True)
        self.flags = [("--example",), ("--weights", "array")]  # files that the other has not
        self.expected = []
        for number in range(2):
            place = root / f"models/expected_{number}"
            require(self.compile(number, place).returncode == 0, "a model does not compile")
            self.expected.append(contents(place))
        require(set(self.expected[0]) - set(self.expected[1]), "no file goes")
        require(set(self.expected[1]) - set(self.expected[0]), "no file is new")
        self.outdir = root / "place/out"

    def compile(self, number, outdir, **settings):
        return compile_model(self.aotc, self.models[number], outdir, *self.flags[number],
                             **settings)

    def stopped(self, **variables):
        """The second model's compile with the library loaded."""
        environment = {**os.environ, "LD_PRELOAD": self.stop_at, **variables}
        return self.compile(1, self.outdir, env=environment)

    def prepare(self, present):
        shutil.rmtree(self.outdir.parent, ignore_errors=True)
        self.outdir.parent.mkdir()
        if present:
            shutil.copytree(self.root / "models/expected_0", self.outdir)

    def require_old_or_new(self):
        """After a kill; `out` may not be there yet."""
        old, new = self.expected
        for name, found in contents(self.outdir).items():
            meant = "metadata.json" if name == "metadata.next.json" else name
            require(found in (old.get(meant), new.get(meant)), f"{name} is neither old nor new")

    def require_folder(self, number):
        require(contents(self.outdir) == self.expected[number], "not what a compile gives")
        require(os.listdir(self.outdir.parent) == ["out"], "something stays beside the folder")

    def kill_at(self, change, present):
        """Whether there was such a change."""
        self.prepare(present)
        done = self.stopped(AOTC_KILL_AT=str(change))
        if done.returncode == 0:
            self.require_folder(1)
            return False
        require(done.returncode == -signal.SIGKILL, f"ended with {done.returncode}: {done.stderr}")
        self.require_old_or_new()
        number = change % 2
        done = self.compile(number, self.outdir)
        require(done.returncode == 0, f"the next compile: {done.stderr}")
        self.require_folder(number)
        return True

    def kill(self, present):
        """The number of changes at which a compile was killed."""
        change = 1
        while self.kill_at(change, present):
            change += 1
        return change - 1

    def fill(self):
        """The number of writes that found the disk full."""
        for write in range(1, 1000):
            self.prepare(present=True)
            done = self.stopped(AOTC_FULL_AT=str(write))
            if done.returncode == 0:
                return write - 1
            require(done.returncode == 1 and "No space left" in done.stderr, done.stderr)
            self.require_folder(0)
        raise Failure("the disk is full without an end")

    def close(self):
        """A folder that may only be read; the superuser, who may all, asks as somebody else."""
        self.prepare(present=True)
        for path in (self.root, self.root / "models"):
            path.chmod(0o755)
        self.outdir.chmod(0o555)
        self.outdir.parent.chmod(0o555)
        settings = {"user": NOBODY, "group": NOBODY} if os.geteuid() == 0 else {}
        done = self.compile(1, self.outdir, **settings)
        self.outdir.parent.chmod(0o755)
        self.outdir.chmod(0o755)
        require(done.returncode == 1 and "Permission denied" in done.stderr,
                f"{done.returncode}: {done.stderr}")
        self.require_folder(0)


def main():
    aotc, stop_at = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        try:
            check = Check(aotc, stop_at, pathlib.Path(folder))
            killed = {present: check.kill(present) for present in (True, False)}
            full = check.fill()
            check.close()
        except Failure as failure:
            sys.exit(f"check_interrupted: {failure}")
    if min(*killed.values(), full) < 8:
        sys.exit(f"check_interrupted: {killed}, {full}: too few to be all")
    print(f"killed at {killed[True]} changes of a folder and {killed[False]} of a new one, "
          f"{full} writes to a full disk: every folder is whole")


if __name__ == "__main__":
    main()
