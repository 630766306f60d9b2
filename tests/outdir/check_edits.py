#!/usr/bin/env python3
"""Compiles into folders in which somebody changed a file: each is named, and stays as it is.

    check_edits.py build/aotc

For both targets every file of the folder in turn is edited, emptied, or made a link to a file of
somebody's. A compile then ends with exit code 1 and names it, and no byte of the folder changes;
--force writes over it, and not through the link. So it is with a folder of another model, while a
file that aotc never wrote, such as a list of files that is no list, stays whatever is asked. Exit
status 0: all holds.
"""
import pathlib
import shutil
import sys
import tempfile

from folders import Failure, compile_model, contents, require, write_model


def edit(path, _):
    path.write_bytes(path.read_bytes() + b"\n")


def empty(path, _):
    path.write_bytes(b"")


def link(path, somebody):
    somebody.write_bytes(path.read_bytes() + b"\n")
    path.unlink()
    path.symlink_to(somebody)


def require_refusal(done, words):
    require(done.returncode == 1, f"exit code {done.returncode}, not 1: {done.stderr}")
    require(all(word in done.stderr for word in words), f"not as meant: {done.stderr}")


def check_file(compile_into, original, name, change):
    """`name` changed by `change`: refused, then overwritten by force."""
    outdir = original.parent / "edited"
    somebody = original.parent / "somebody_s"
    shutil.rmtree(outdir, ignore_errors=True)
    shutil.copytree(original, outdir)
    change(outdir / name, somebody)
    before, links = contents(outdir), {path for path in outdir.rglob("*") if path.is_symlink()}
    is_ours = change is not empty or name != "metadata.json"
    words = ("changed since aotc wrote" if is_ours else "is in the way", str(outdir / name))
    require_refusal(compile_into(outdir), words)
    require(contents(outdir) == before, "bytes of the folder changed")
    require({path for path in outdir.rglob("*") if path.is_symlink()} == links, "a link is gone")
    done = compile_into(outdir, "--force")
    if not is_ours:
        require_refusal(done, words)
        return
    require(done.returncode == 0, f"--force: {done.stderr}")
    require(contents(outdir) == contents(original), "--force does not give the folder anew")
    if links:
        require(somebody.read_bytes() == before[name], "written through a link")


def check_target(aotc, target, root):
    """Each file and each way to change it; the number of both."""
    model, original = root / "net.onnx", root / target
    write_model(model, 8)

    def compile_into(outdir, *flags):
        return compile_model(aotc, model, outdir, "--target", target, "--example", *flags)

    require(compile_into(original).returncode == 0, "the model does not compile")
    names = sorted(contents(original))
    kinds = {pathlib.Path(name).suffix for name in names}
    require({".h", ".cpp", ".S", ".bin", ".txt", ".json"} <= kinds, f"kinds of files: {kinds}")
    for name in names:
        for change in (edit, empty, link):
            try:
                check_file(compile_into, original, name, change)
            except Failure as failure:
                raise Failure(f"{target}, {name}, {change.__name__}: {failure}") from failure
    return len(names)


def check_other_models(aotc, root):
    """A folder of another name, and a file that was never ours."""
    model, outdir = root / "net.onnx", root / "other"
    write_model(model, 8)
    require(compile_model(aotc, model, outdir, name="first").returncode == 0, "compiles")
    before = contents(outdir)
    require_refusal(compile_model(aotc, model, outdir, name="second"),
                    ('holds the model "first"', "--force"))
    require(contents(outdir) == before, "another model's folder changed")
    done = compile_model(aotc, model, outdir, "--force", name="second")
    require(done.returncode == 0, done.stderr)
    require(not any("first" in name for name in contents(outdir)), "the first model's files stay")

    (outdir / "example").mkdir()
    (outdir / "example/main.cpp").write_text("mine")
    done = compile_model(aotc, model, outdir, "--example", "--force", name="second")
    require_refusal(done, ("example/main.cpp", "is in the way"))
    require((outdir / "example/main.cpp").read_text() == "mine", "somebody's file changed")


def main():
    aotc = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        try:
            counts = {target: check_target(aotc, target, root) for target in ("cpu", "cuda")}
            check_other_models(aotc, root)
        except Failure as failure:
            sys.exit(f"check_edits: {failure}")
    print("; ".join(f"{target}: {count} files, each changed in 3 ways"
                    for target, count in counts.items()) + ": all refused, no byte touched")


if __name__ == "__main__":
    main()
