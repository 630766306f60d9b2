#!/usr/bin/env python3
"""Installs aotc and builds another project with two models by aotc_add_model.

    check_project.py build

The program of the project runs both models and prints what they give. Then, each time followed by a
build that has nothing to do: a model is touched (nothing is compiled), changed, its external data
are, its flags are (it alone is compiled anew, and the program prints what is right); a model that
cannot be compiled ends the configuration with what aotc says.
An output folder, whose files --list-outputs had named, is built and installed by itself, static and
shared; a project that finds the package runs the model. Exit status 0: all holds.
"""
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

PROJECT = """
cmake_minimum_required(VERSION 3.18)
project(outside LANGUAGES C CXX ASM)
find_package(aotc 0.1 REQUIRED)
aotc_add_model(TARGET scale MODEL models/scale.onnx FLAGS --cpu portable)
aotc_add_model(TARGET shift_by MODEL "models/shift by.onnx" FLAGS --cpu portable @FLAGS@)
add_executable(outside main.c)
target_link_libraries(outside PRIVATE aotc::scale aotc::shift_by)
"""
MAIN = """
#include <stdio.h>
#include "scale.h"
#include "shift_by.h"

_Alignas(64) static unsigned char arena[SCALE_ARENA_BYTES + SHIFT_BY_ARENA_BYTES + 1];

int main(void) {
  const float x[3] = {1.0f, 2.0f, 3.0f};
  float scaled[3], shifted[3];
  const scale_inputs scale_in = {x};
  const shift_by_inputs shift_in = {x};
  scale_outputs scale_out = {scaled};
  shift_by_outputs shift_out = {shifted};
  if (scale_run(&scale_in, &scale_out, arena)) return 1;
  if (shift_by_run(&shift_in, &shift_out, arena)) return 2;
  printf("%g %g %g, %g %g %g\\n", scaled[0], scaled[1], scaled[2], shifted[0], shifted[1],
         shifted[2]);
  return 0;
}
"""

USER = """
cmake_minimum_required(VERSION 3.18)
project(user LANGUAGES C CXX)
find_package(scale REQUIRED)
add_executable(user main.c)
target_link_libraries(user PRIVATE aotc::scale)
"""
USER_MAIN = """
#include <stdio.h>
#include "scale.h"

_Alignas(64) static unsigned char arena[SCALE_ARENA_BYTES + 1];

int main(void) {
  const float x[3] = {1.0f, 2.0f, 3.0f};
  float y[3];
  const scale_inputs in = {x};
  scale_outputs out = {y};
  if (scale_run(&in, &out, arena)) return 1;
  printf("%g %g %g\\n", y[0], y[1], y[2]);
  return 0;
}
"""


class Failure(Exception):
    """What does not hold."""


def require(holds, text):
    if not holds:
        raise Failure(text)


def call(*words, code=0):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True,
                          timeout=300, check=False)
    text = done.stdout + done.stderr
    require(done.returncode == code, f"{words}: exit code {done.returncode}\n{text}")
    return text


def write_model(path, op, number, data=""):
    """x op number, the number in a file of its own where `data` names one."""
    weight = numpy_helper.from_array(np.full(3, number, np.float32), "w")
    graph = helper.make_graph(
        [helper.make_node(op, ["x", "w"], ["y"])], "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [3])], [weight])
    model = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 20)])
    onnx.save(model, path, save_as_external_data=bool(data), location=data or None,
              size_threshold=0)


class Project:
    """The outside project and its build folder."""

    def __init__(self, prefix, folder):
        self.folder, self.build, self.prefix = folder, folder / "build", prefix
        (folder / "models").mkdir(parents=True)
        (folder / "main.c").write_text(MAIN)
        self.flags("")
        write_model(folder / "models/scale.onnx", "Mul", 2)
        write_model(folder / "models/shift by.onnx", "Add", 10, "shift weights.bin")

    def flags(self, text):
        (self.folder / "CMakeLists.txt").write_text(PROJECT.replace("@FLAGS@", text))

    def configure(self, code=0):
        return call("cmake", "-G", "Ninja", "-S", self.folder, "-B", self.build,
                    f"-DCMAKE_PREFIX_PATH={self.prefix}", code=code)

    def make(self, compiled, numbers):
        """A build in which aotc compiles these models, then one that has nothing to do."""
        text = call("cmake", "--build", self.build)
        for name in ("scale", "shift_by"):
            require((f"aotc: compiling {name}" in text) == (name in compiled), text)
            objects = f"{name}.dir/" in text
            require(objects == (name in compiled), f"{name}, objects: {objects}\n{text}")
        again = call("cmake", "--build", self.build)
        require("no work to do" in again, again)
        printed = call(self.build / "outside").strip()
        require(printed == numbers, f"prints {printed}, not {numbers}")


def check(prefix, folder):
    project = Project(prefix, folder)
    text = project.configure()
    require("aotc: compiling scale" in text and "aotc: compiling shift_by" in text, text)
    call("cmake", "--build", project.build)
    project.make([], "2 4 6, 11 12 13")
    (folder / "models/scale.onnx").touch()
    project.make([], "2 4 6, 11 12 13")
    write_model(folder / "models/scale.onnx", "Mul", 3)
    project.make(["scale"], "3 6 9, 11 12 13")
    write_model(folder / "models/shift by.onnx", "Add", 20, "shift weights.bin")
    project.make(["shift_by"], "3 6 9, 21 22 23")
    project.flags("--weights array")
    project.make(["shift_by"], "3 6 9, 21 22 23")
    project.flags("--frobnicate")
    text = project.configure(code=1)
    require("unknown flag '--frobnicate'" in text and "shift_by was not compiled" in text, text)


def check_package(aotc, folder, is_shared, *flags):
    """A model that is built, installed and found without aotc."""
    folder.mkdir()
    write_model(folder / "scale.onnx", "Mul", 2)
    compile_it = aotc, folder / "scale.onnx", "-o", folder / "scale", "--cpu", "portable", *flags
    listed = call(*compile_it, "--list-outputs").splitlines()
    require(not (folder / "scale").exists(), "--list-outputs writes")
    call(*compile_it)
    written = [str(path) for path in (folder / "scale").rglob("*") if path.is_file()]
    require(sorted(listed) == sorted(written), f"{listed} are listed, {written} written")
    call("cmake", "-G", "Ninja", "-S", folder / "scale", "-B", folder / "made",
         f"-DBUILD_SHARED_LIBS={'ON' if is_shared else 'OFF'}")
    call("cmake", "--build", folder / "made")
    call("cmake", "--install", folder / "made", "--prefix", folder / "prefix")
    library = "libscale.so" if is_shared else "libscale.a"
    require(list((folder / "prefix").glob(f"lib*/**/{library}")), f"{library} is not installed")
    user = folder / "user"
    user.mkdir()
    (user / "CMakeLists.txt").write_text(USER)
    (user / "main.c").write_text(USER_MAIN)
    call("cmake", "-G", "Ninja", "-S", user, "-B", user / "build",
         f"-DCMAKE_PREFIX_PATH={folder / 'prefix'}")
    call("cmake", "--build", user / "build")
    printed = call(user / "build/user").strip()
    require(printed == "2 4 6", f"prints {printed}")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        call("cmake", "--install", sys.argv[1], "--prefix", folder / "prefix")
        try:
            check(folder / "prefix", folder / "outside project")
            aotc = folder / "prefix/bin/aotc"
            check_package(aotc, folder / "static", False)
            check_package(aotc, folder / "shared", True, "--profile")
        except Failure as failure:
            print(failure)
            return 1
    print("two models, touched, changed, with other weights and other flags: each is compiled anew "
          "where it has to be, and never else; a package, static and shared, is found")
    return 0


if __name__ == "__main__":
    sys.exit(main())
