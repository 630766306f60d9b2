#!/usr/bin/env python3
"""Writes pages with `aotc inspect --html` and `aotc bench --html` and opens them in headless
Chromium: no error in the console, as many kernels, buffers and steps drawn as there are, names
shown as they are, and a picture that is not blank.

    tests/report/check_page.py build/aotc              # exit code 77 where there is no Chromium
"""
import html.parser
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

import numpy as np
from onnx import TensorProto, helper, numpy_helper

HOSTILE = "</script><img src=x onerror=alert(1)>&amp;\"'"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SKIPPED = 77


def tensor(name, dims):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, list(dims))


def small_net(odd="conv1", blocked=False):
    """Convolutions with a residual edge; `odd` is the name of a node and of a value."""
    weight = np.ones((4, 4, 3, 3), np.float32) / 36
    nodes = [helper.make_node("Conv", ["x", "w"], [odd], name=odd, pads=[1] * 4),
             helper.make_node("Relu", [odd], ["r"], name="relu1"),
             helper.make_node("Conv", ["r", "w"], ["c"], name="conv2", pads=[1] * 4),
             helper.make_node("Add", ["c", "r"], ["a"], name="add1"),
             helper.make_node("GlobalAveragePool", ["a"], ["g"], name="pool1"),
             helper.make_node("Softmax", ["g"], ["s"], name="softmax1", axis=1)]
    nodes.append(helper.make_node("Frobnicate" if blocked else "Neg", ["s"], ["y"], name="last"))
    graph = helper.make_graph(nodes, "net", [tensor("x", (1, 4, 16, 16))],
                              [tensor("y", (1, 4, 1, 1))], [numpy_helper.from_array(weight, "w")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def long_chain(count):
    nodes = [helper.make_node("Relu" if i % 2 else "Sigmoid", [f"v{i}"], [f"v{i + 1}"])
             for i in range(count)]
    graph = helper.make_graph(nodes, "chain", [tensor("v0", (4,))], [tensor(f"v{count}", (4,))])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


class Counter(html.parser.HTMLParser):
    """Elements of a page as the browser has built it."""

    def __init__(self):
        super().__init__()
        self.tags = []
        self.texts = []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.texts.append(data)

    def count(self, tag, kind=None):
        return sum(found == tag and (kind is None or kind in attrs.get("class", "").split())
                   for found, attrs in self.tags)


def browse(browser, page, *flags):
    profile = page.parent / "profile"
    words = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
             "--v=0", f"--user-data-dir={profile}", "--window-size=1400,1600", *flags,
             page.as_uri()]
    done = subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=240,
                          env=dict(os.environ, HOME=str(page.parent)), check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    said = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    assert not said, said
    return done.stdout


def dom_of(browser, page):
    counter = Counter()
    counter.feed(browse(browser, page, "--dump-dom"))
    return counter


def check_picture(path):
    """A PNG whose pixels are not nearly all alike."""
    data, at, packed = path.read_bytes(), 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        packed += data[at + 8:at + 8 + length] if kind == b"IDAT" else b""
        at += length + 12
    # A row of one colour differs from that above and to its left by nothing.
    changes = np.frombuffer(zlib.decompress(packed), np.uint8)
    assert (changes != 0).mean() > 0.002 and len(np.unique(changes)) > 50, "a blank picture"


class Pages:
    def __init__(self, aotc, browser, folder):
        self.aotc = aotc
        self.browser = browser
        self.folder = folder

    def write(self, model, *flags):
        """The page and metadata.json of a compile with the same flags, where it compiles."""
        if not isinstance(model, pathlib.Path):
            (self.folder / "model.onnx").write_bytes(model.SerializeToString())
            model = self.folder / "model.onnx"
        page, out = self.folder / "page.html", self.folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        flags = ["--cpu", "x86-64", "--quiet", *flags]
        looked = subprocess.run([self.aotc, "inspect", model, "--html", page, *flags],
                                stderr=subprocess.DEVNULL, check=False)
        done = subprocess.run([self.aotc, model, "-o", out, *flags], stderr=subprocess.DEVNULL,
                              check=False)
        assert looked.returncode == done.returncode, (looked.returncode, done.returncode)
        metadata = out / "metadata.json"
        return page, json.loads(metadata.read_text()) if done.returncode == 0 else None

    def check(self, model, *flags):
        page, metadata = self.write(model, *flags)
        dom = dom_of(self.browser, page)
        assert dom.count("rect", "kernel") == len(metadata["kernels"]), dom.count("rect", "kernel")
        assert dom.count("rect", "buffer") == len(metadata["arena"]["buffers"])
        picture = self.folder / "page.png"
        browse(self.browser, page, f"--screenshot={picture}")
        check_picture(picture)
        return dom


def check_net(pages):
    dom = pages.check(small_net())
    # Before: 7 nodes, an input, an output; after the passes fewer or more.
    assert dom.count("rect", "box") >= 12 and dom.count("path", "edge") >= 12
    assert dom.count("svg", "graph") == 2 and "Softmax" in dom.texts, dom.texts
    assert pages.check(small_net(), "--target", "cuda").count("svg", "graph") == 2


def check_pools(pages):
    """Each pool begins with a line and its name, and has a bound of its own."""
    dom = pages.check(small_net(), "--pool=fast=8192", "--pool=slow")
    assert dom.count("line", "pool") == 2 and dom.count("line", "bound") == 2
    assert {"pool fast", "pool slow"} <= set(dom.texts), dom.texts
    assert pages.check(small_net()).count("line", "pool") == 0


def check_hostile_names(pages):
    dom = pages.check(small_net(HOSTILE))
    assert dom.count("img") == 0 and dom.count("script") == 2, dom.tags
    assert any(HOSTILE in text for text in dom.texts), dom.texts


def check_blocked(pages):
    """What does not compile is shown with what blocks it."""
    page, metadata = pages.write(small_net(blocked=True))
    dom = dom_of(pages.browser, page)
    assert metadata is None and dom.count("svg", "graph") == 1 and dom.count("rect", "kernel") == 0
    assert any("Frobnicate is not supported" in text for text in dom.texts), dom.texts


def check_large(pages):
    """Large graphs are drawn when they are opened, not before."""
    page, metadata = pages.write(long_chain(400), "-O0")
    dom = dom_of(pages.browser, page)
    assert dom.count("svg", "graph") == 0 and dom.count("details") == 4
    assert dom.count("rect", "kernel") == len(metadata["kernels"])


def check_bench(pages):
    """The timeline has a bar for each worker's step, the table a row for each step."""
    model, page = pages.folder / "model.onnx", pages.folder / "bench.html"
    model.write_bytes(small_net(HOSTILE).SerializeToString())
    done = subprocess.run([pages.aotc, "bench", model, "--html", page, "--json", "--quiet",
                           "--cpu=x86-64", "--seconds=0.1", "--threads=1,2"], capture_output=True,
                          check=True)
    steps = len(json.loads(done.stdout)["runs"][0]["steps"])
    dom = dom_of(pages.browser, page)
    assert steps > 3 and dom.count("rect", "step") == 3 * steps, (steps, dom.count("rect", "step"))
    assert dom.count("tr") == 2 * (steps + 1) and dom.count("svg") == 2 and dom.count("img") == 0
    assert any(HOSTILE in text for text in dom.texts), dom.texts
    picture = pages.folder / "bench.png"
    browse(pages.browser, page, f"--screenshot={picture}")
    check_picture(picture)


def check_shared_models(pages):
    for name, flags in (("det_face_rfb", []), ("tiny_ic_mobilenet", ["--dim", "batch=1"])):
        model = pathlib.Path("../shared/models").resolve() / f"{name}.onnx"
        if model.exists():
            pages.check(model, *flags)
        else:
            print(f"{model} is not here: no page of it")


def main():
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        print(f"skipped: none of {', '.join(BROWSERS)} is installed (Debian: chromium)")
        return SKIPPED
    aotc = pathlib.Path(sys.argv[1]).resolve()
    checks = [value for name, value in globals().items()
              if name.startswith("check_") and name != "check_picture"]
    for check in checks:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            check(Pages(aotc, browser, pathlib.Path(folder)))
    print(f"{len(checks)} kinds of pages are drawn as they should")
    return 0


if __name__ == "__main__":
    sys.exit(main())
