#!/usr/bin/env python3
"""Small models at the default flags, interpreted: their tile functions do what the rows say.

    tests/interpreter/check_models.py                       # all of MODELS
    tests/interpreter/check_models.py tiny_kws_dscnn

The oracle is the reference evaluator on the imported graph. The interpreter also checks the bounds
of each access, and fills what is dead with NaN. Exit status 0: all hold; 77: no model is there.
"""
import argparse
import pathlib
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent / "models"))

import model_list  # noqa: E402

MODELS = ["tiny_ad_autoencoder", "tiny_ic_mobilenet", "tiny_ic_resnet8_f16", "tiny_kws_cnn",
          "tiny_kws_cnn_qdq", "tiny_kws_cnn_qoperator",
          "tiny_kws_dscnn", "tiny_kws_dscnn_f16", "tiny_vww_mobilenet",
          "policy_quadruped", "text_tinybert"]
# Where the graph rounds between its nodes to f16, fused kernels do not.
HALF_TOLERANCE = 1e-2


def check(entry, path):
    command = [model_list.build_folder() / "tests" / "interpret_model", "--ways=tiles",
               "--require-tiles"]
    command += [f"--dim={name}={bounds}" for name, bounds in entry.dims.items()]
    command += ["--below=2"]
    command += [f"--below={name}={int(most)}" for name, most in entry.scale.items() if name]
    smallest = min(entry.sizes, key=lambda size: sum(size.values()))
    if smallest:
        command.append("--size=" + ",".join(f"{n}={v}" for n, v in smallest.items()))
    if entry.name.endswith("_f16"):
        command.append(f"--tolerance={HALF_TOLERANCE}")
    return subprocess.run([*command, path], cwd=FOLDER.parents[1]).returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", default=MODELS)
    options = parser.parse_args()
    entries = [model_list.find(name) for name in options.models]
    located = [(entry, path) for entry in entries if (path := model_list.locate(entry))]
    if not located:
        model_list.say_if_shared_is_missing()
        return 77
    failed = [entry.name for entry, path in located if not check(entry, path)]
    print(f"{len(located)} models: {'FAILED ' + ' '.join(failed) if failed else 'all hold'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
