"""The part of scripts/demo that follows the build: compile, run, compare, print."""
import os
import pathlib
import sys
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests" / "models"), str(ROOT / "models")]

import reference  # noqa: E402  (both folders are on the path only now)
from build_output import Failure, build_library, compile_model, model_name  # noqa: E402
from model_table import CompiledModel  # noqa: E402

KEYWORDS = ROOT.parent / "shared" / "models" / "tiny_kws_dscnn.onnx"
RECORDINGS = pathlib.Path("/usr/share/sounds/alsa")
LIMIT = 1e-4
REPETITIONS = 20


def spoken_words(folder):
    """The keyword model, and four recordings."""
    import spoken_words as words
    names = ["Front_Left", "Front_Right", "Side_Left", "Side_Right"]
    samples = {f"{n}.wav": words.features(words.last_word(words.load(RECORDINGS / f"{n}.wav")))
               for n in names}
    return KEYWORDS, samples, words.LABELS


def handwritten_digits(folder):
    """A network trained here, and four pictures that it has not seen."""
    import onnx
    import train_digits
    path = folder / "digits.onnx"
    onnx.save(train_digits.to_onnx(train_digits.train()), path)
    images, digits = (held_out[train_digits.TRAINED:] for held_out in train_digits.pictures())
    samples = {f"a picture of {digits[i]}": images[i:i + 1] for i in range(4)}
    return path, samples, [str(digit) for digit in range(10)]


def best(output, labels):
    """The label of the largest score, and that score."""
    return f"{labels[int(output.argmax())]} ({output.max():.5f})"


def compile_for(path, target, folder):
    """The model compiled by aotc and by g++; prints what came out."""
    start = time.monotonic()
    outdir = compile_model(path, target, folder, {})
    seconds = time.monotonic() - start
    library = folder / "model.so"
    build_seconds = build_library(outdir, target, library)
    model = CompiledModel(library, model_name(outdir))
    files = [p for p in outdir.rglob("*") if p.is_file()]
    print(f"\n{target}{' (emulated on this machine)' if target == 'cuda' else ''}: "
          f"{len(files)} files, aotc {seconds:.2f} s, g++ {build_seconds:.1f} s, "
          f"arena {model.table.arena_bytes} bytes")
    for file in sorted(files):
        print(f"    {file.relative_to(outdir)}  {file.stat().st_size} bytes")
    return model


def run_all(model, path, samples, labels, repetitions):
    """Runs every sample; prints both answers; the largest error."""
    session, worst, times = reference.session(path, optimised=True), 0.0, []
    input_name, output_name = session.get_inputs()[0].name, session.get_outputs()[0].name
    for sample, array in samples.items():
        for _ in range(repetitions):
            start = time.perf_counter()
            output = model.run({input_name: array})[output_name]
            times.append(time.perf_counter() - start)
        expected = session.run([output_name], {input_name: array})[0]
        error = reference.error_of(output, expected)
        worst = max(worst, error)
        print(f"  {sample:16} aotc says {best(output, labels):18} "
              f"onnxruntime {best(expected, labels):18} error {error:.1e}")
    print(f"  median of {len(times)} runs, memory set up included: "
          f"{1e6 * float(np.median(times)):.0f} us")
    return worst


def main():
    source = spoken_words if KEYWORDS.exists() and RECORDINGS.exists() else handwritten_digits
    with tempfile.TemporaryDirectory(prefix="aotc-demo-") as temporary:
        folder = pathlib.Path(temporary)
        path, samples, labels = source(folder)
        print(f"model: {path.name}, {os.path.getsize(path)} bytes")
        worst = 0.0
        for target, repetitions in (("cpu", REPETITIONS), ("cuda", 1)):
            model = compile_for(path, target, folder / target)
            worst = max(worst, run_all(model, path, samples, labels, repetitions))
    print(f"\nlargest error {worst:.1e} of {LIMIT:.0e} allowed: "
          + ("the numbers match" if worst <= LIMIT else "THE NUMBERS DIFFER"))
    return 0 if worst <= LIMIT else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        sys.exit(f"demo: {failure}")
