"""Runs a CUDA outdir, each input and output in device memory of its own, of exactly its size: what
reads or writes a byte too far leaves that memory, and what watches the program sees it.

    way = Way("cuda", ("g++", "-std=c++17", "-fsanitize=address"))
    for outputs in device_run.run(outdir, way, inputs, expected): ...
"""
import collections
import re

import numpy as np

from build_output import (TARGET_OPTIONS, Failure, command, compile_objects, model_name,
                          sources)

# The compiler, of the host for targets of build_output and nvcc for "gpu". The program runs once
# under each tool, words that come before it; what a tool prints must match its pattern.
Way = collections.namedtuple("Way", "target compiler tools", defaults=[[((), "")]])
CALLER = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "NAME.h"
#include "aotc/cuda_host.h"

#define CHECK(call) check(call, #call)

static const size_t input_bytes[] = {INPUTS}, output_bytes[] = {OUTPUTS};
static constexpr size_t inputs = sizeof input_bytes / sizeof input_bytes[0];
static constexpr size_t outputs = sizeof output_bytes / sizeof output_bytes[0];
static unsigned char buffer[LARGEST];

static void check(int status, const char *call) {
  if (status == 0) return;
  printf("%s: status %d\\n", call, status);
  exit(1);
}

int main(int, char **words) {
  void *given[inputs], *lent[outputs];
  FILE *from = fopen(words[1], "rb"), *to = fopen(words[2], "wb");
  CHECK(from == nullptr || to == nullptr);
  for (size_t i = 0; i < inputs; i++) {
    CHECK(fread(buffer, 1, input_bytes[i], from) != input_bytes[i]);
    CHECK(cudaMalloc(&given[i], input_bytes[i]));
    CHECK(cudaMemcpy(given[i], buffer, input_bytes[i], cudaMemcpyHostToDevice));
  }
  for (size_t i = 0; i < outputs; i++) {
    CHECK(cudaMalloc(&lent[i], output_bytes[i]));
    CHECK(cudaMemset(lent[i], 0xFF, output_bytes[i]));
  }
  NAME_instance instance;
  NAME_config config = {};
  config.own_arena = 1;
  NAME_inputs in;
  NAME_outputs out;
  static_assert(sizeof in == sizeof given && sizeof out == sizeof lent, "a pointer each");
  memcpy(&in, given, sizeof in);
  memcpy(&out, lent, sizeof out);
  CHECK(NAME_create(&instance, &config));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(NAME_enqueue(&instance, &in, &out, nullptr, stream));
  CHECK(NAME_finish(&instance));
  CHECK(cudaStreamDestroy(stream));
  for (size_t i = 0; i < outputs; i++) {
    CHECK(cudaMemcpy(buffer, lent[i], output_bytes[i], cudaMemcpyDeviceToHost));
    CHECK(fwrite(buffer, 1, output_bytes[i], to) != output_bytes[i]);
    CHECK(cudaFree(lent[i]));
  }
  for (void *memory : given) CHECK(cudaFree(memory));
  CHECK(NAME_destroy(&instance));
  CHECK(fclose(from));
  CHECK(fclose(to));
}
"""


def write_caller(outdir, inputs, outputs):
    """Beside the outdir: the program that calls the model."""
    bytes_in, bytes_out = ([array.nbytes for array in arrays] for arrays in (inputs, outputs))
    values = {"NAME": model_name(outdir), "INPUTS": ", ".join(map(str, bytes_in)),
              "OUTPUTS": ", ".join(map(str, bytes_out)), "LARGEST": str(max(bytes_in + bytes_out))}
    text = CALLER
    for key, value in values.items():
        text = text.replace(key, value)
    path = outdir.parent / "caller.cu"
    path.write_text(text)
    return path


def build(outdir, caller, way):
    program = outdir.parent / "caller"
    words = [*way.compiler, "-I", outdir, "-o", program]
    if way.target == "gpu":
        command([*words, *sources(outdir), caller])
    else:
        objects = compile_objects(outdir, way.target, outdir.parent / "objects",
                                  compiler=way.compiler)
        command([*words, *TARGET_OPTIONS[way.target], *objects, "-x", "c++", caller])
    return program


def read_outputs(path, expected):
    """By name, with the shapes and types that are expected."""
    data, outputs = path.read_bytes(), {}
    for name, array in expected.items():
        outputs[name] = np.frombuffer(data[:array.nbytes], array.dtype).reshape(array.shape)
        data = data[array.nbytes:]
    return outputs


def run(outdir, way, inputs, expected):
    """Outputs by name, under each tool in turn. Inputs and expected outputs are in the model's
    order.
    """
    caller = write_caller(outdir, inputs.values(), expected.values())
    program = build(outdir, caller, way)
    given, results = outdir.parent / "inputs.bin", outdir.parent / "outputs.bin"
    given.write_bytes(b"".join(array.tobytes() for array in inputs.values()))
    for words, pattern in way.tools:
        results.unlink(missing_ok=True)
        said = command([*words, program, given, results])
        if not re.search(pattern, said):
            raise Failure(f"{' '.join(map(str, words))} says: {said}")
        yield read_outputs(results, expected)
