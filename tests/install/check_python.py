#!/usr/bin/env python3
"""What --python writes: models called from Python, against numpy and onnxruntime.

    check_python.py build/aotc

The module imports numpy and the standard library alone. Models have symbolic dims, several types,
memory that an input and an output share, weights in a file, threads; what they refuse is an
exception that says why. Exit status 0: all holds.
"""
import ast
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import threading

import numpy as np
import onnx
import onnx.parser
import onnxruntime

SHARED = pathlib.Path(__file__).resolve().parents[3] / "shared/models/tiny_kws_dscnn.onnx"
MODULES = {"ctypes", "pathlib", "threading", "typing", "numpy"}
HEADER = '<ir_version: 10, opset_import: ["" : 21]>\n'
MIXED = """mixed (float[n, 3] x, int32[n, 3] k) =>
    (float[n, 3] y, float[3] total, bool[n, 3] is_more) {
  f = Cast <to = 1> (k)
  y = Mul (x, f)
  axes = Constant <value_ints = [0]> ()
  total = ReduceSum <keepdims = 0> (y, axes)
  is_more = Greater (x, f)
}"""
CACHE = """cache (float[1, p, 2] past, float[1, 1, 2] step) => (float[1, q, 2] present) {
  present = Concat <axis = 1> (past, step)
}"""


class Failure(Exception):
    """What does not hold."""


def require(holds, text):
    if not holds:
        raise Failure(text)


def call(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True,
                          timeout=600, check=False)
    require(done.returncode == 0, f"{words}: {done.stdout}{done.stderr}")


def raises(kind, part, function):
    try:
        function()
    except kind as error:
        require(part in str(error), f"{error!r} does not say {part!r}")
        return
    raise Failure(f"no {kind.__name__} that says {part!r}")


def module_of(aotc, path, folder, *flags):
    """The module of a model whose library was built."""
    name = path.stem
    outdir = folder / f"{name}_out"
    call(aotc, path, "-o", outdir, "--name", name, "--python", "--cpu", "portable", *flags)
    source = outdir / f"{name}.py"
    tree = ast.parse(source.read_text())
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import)
                for alias in node.names}
    imported |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    require(imported <= MODULES, f"{imported}")
    require(max(map(len, source.read_text().splitlines())) <= 100, "a line of over 100 columns")
    call("cmake", "-G", "Ninja", "-S", outdir, "-B", outdir / "build", "-DBUILD_SHARED_LIBS=ON")
    call("cmake", "--build", outdir / "build")
    spec = importlib.util.spec_from_file_location(name, source)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def written(folder, text):
    path = folder / f"{text.split()[0]}.onnx"
    onnx.save(onnx.parser.parse_model(HEADER + text), path)
    return path


def check_mixed(aotc, folder):
    module = module_of(aotc, written(folder, MIXED), folder, "--dim", "n=1..5")
    rng = np.random.default_rng(1)
    with module.Model() as model:
        require([port.name for port in model.outputs] == ["y", "total", "is_more"], "outputs")
        require(model.inputs[0] == ("x", np.float32, ((1, 5), (3, 3))), f"{model.inputs[0]}")
        for n in (1, 5, 2):
            x, k = rng.standard_normal((n, 3)), rng.integers(-2, 3, (n, 3))
            results = model(x, k=k)
            wanted = x.astype("f4") * k, (x.astype("f4") * k).sum(0), x.astype("f4") > k
            for result, array in zip(results, wanted):
                require(result.shape == array.shape and np.allclose(result, array), f"{n}")
            require(results[2].dtype == bool and results[1].dtype == np.float32, "types")
        ones = np.ones((6, 3), "f4")
        raises(RuntimeError, "dim", lambda: model(ones, ones.astype("i4")))
        raises(TypeError, "cast", lambda: model(ones, ones))
        raises(TypeError, "takes", lambda: model(ones))
        raises(TypeError, "once", lambda: model(ones, ones, k=ones))
        check_threads(model)
    raises(RuntimeError, "closed", lambda: model(ones, ones.astype("i4")))


def check_threads(model):
    """Runs of several threads take turns."""
    wrong = []

    def work(number):
        x, k = np.full((2, 3), number, "f4"), np.full((2, 3), 2, "i4")
        wrong.extend(i for i in range(50) if not (model(x, k)[0] == 2 * number).all())
    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    require(not wrong, f"{len(wrong)} runs of threads are wrong")


def check_cache(aotc, folder):
    """The cache lies in the memory of the result, with room for what is not there yet."""
    module = module_of(aotc, written(folder, CACHE), folder, "--dim", "p=0..7", "--alias",
                       "present=past:1=8")
    model, cache = module.Model(), np.zeros((1, 0, 2), "f4")
    for number in range(8):
        step = np.full((1, 1, 2), number, "f4")
        present, = model(cache, step)
        require(np.array_equal(present, np.concatenate([cache, step], axis=1)), f"{number}")
        cache = present


def check_shared(aotc, folder):
    """A trained network, its weights in a file, by two threads."""
    module = module_of(aotc, SHARED, folder, "--weights", "file")
    model = module.Model(workers=2)
    session = onnxruntime.InferenceSession(str(SHARED), providers=["CPUExecutionProvider"])
    port, = model.inputs
    x = np.random.default_rng(2).standard_normal([most for _, most in port.dims]).astype("f4")
    result, = model(x)
    wanted, = session.run(None, {port.name: x})
    require(np.allclose(result, wanted, rtol=1e-4, atol=1e-5), f"{result}, not {wanted}")


def main():
    aotc, checks = sys.argv[1], [check_mixed, check_cache]
    if SHARED.exists():
        checks.append(check_shared)
    else:
        print("../shared/models is not there: no trained network")
    with tempfile.TemporaryDirectory() as name:
        try:
            for check in checks:
                check(aotc, pathlib.Path(name))
        except Failure as failure:
            print(f"{check.__name__}: {failure}")
            return 1
    print(f"{len(checks)} models give from Python what they should, and refuse the rest")
    return 0


if __name__ == "__main__":
    sys.exit(main())
