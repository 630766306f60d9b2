#!/usr/bin/env python3
"""Plants what scripts/check_style forbids in a tree of its own, one file at a time: each must be
found on its line, and what stands beside it must not.

    tests/style/check_rules.py
"""
import importlib.machinery
import importlib.util
import os
import pathlib
import re
import shutil
import sys
import tempfile

ROOT = pathlib.Path(__file__).parents[2]


def load_checker():
    """The script as a module; it has no ending."""
    scripts = ROOT / "scripts"
    sys.path.insert(0, str(scripts))
    loader = importlib.machinery.SourceFileLoader("check_style", str(scripts / "check_style"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_style", loader))
    loader.exec_module(module)
    return module


def naming(operator):
    return f"names an operator: ask its OpDef|\"{re.escape(operator)}\""


REFUSAL = 'return absl::InvalidArgumentError("no");\n'
FAULT = 'diagnostics.Fault({}, "no");\n'
# File, text, and what is found on its last line; None: nothing is.
CASES = [
    # Operators by name: where what must be known of one is to be a fact of its definition.
    ("compiler/layout/a.cc", 'if (node.op == "Conv") return;\n', naming("Conv")),
    ("compiler/fuse/a.cc", 'int a;\nconst auto kNames = {"x", "Relu"};\n', naming("Relu")),
    ("compiler/eval/a.cc", 'Node node{.op = "Transpose"};\n', naming("Transpose")),
    ("compiler/driver/a.h", '// A.\nconstexpr const char* kOp = "com.microsoft.Gelu";\n',
     naming("com.microsoft.Gelu")),
    ("compiler/targets/cpu/a.cc", 'Count("Relayout");\n', naming("Relayout")),
    ("compiler/ir/graph.cc", 'Count("Identity");\n', naming("Identity")),
    ("compiler/fuse/a.cc", 'Count("Reluu", "A Conv", "conv", R"(Conv)");  // of "Conv"\n', None),
    ("compiler/ops/conv.cc", '{.name = "Conv"}\n', None),
    ("compiler/import/a.cc", 'if (op == "Conv") return;\n', None),
    ("compiler/canonicalize/a.cc", 'if (op == "Conv") return;\n', None),
    ("compiler/optimize/a.cc", 'if (op == "Conv") return;\n', None),
    ("compiler/ir/control_flow.h", '// A.\nconst char* kOp = "DefineSizes";\n', None),
    ("tests/unit/a.cc", 'if (op == "Conv") return;\n', None),
    # Refusals that no list has.
    ("compiler/layout/a.cc", REFUSAL, "for AOTC_REFUSAL"),
    ("compiler/targets/cuda/a.cc", REFUSAL, "for AOTC_REFUSAL"),
    ("compiler/driver/a.cc", REFUSAL.replace("InvalidArgument", "NotFound"), "for AOTC_REFUSAL"),
    ("compiler/import/a.cc", FAULT, "for Error\\(\\) of an AOTC_REFUSAL"),
    ("compiler/import/a.cc", REFUSAL.replace("InvalidArgument", "FailedPrecondition"), None),
    ("compiler/lower/a.cc", REFUSAL.replace("InvalidArgument", "Internal"), None),
    ("compiler/ir/graph_parse.cc", REFUSAL, None),
    ("compiler/verify/a.cc", FAULT, None),
    ("tests/unit/a.cc", REFUSAL + FAULT, None),
    # Includes against the order of the phases, and foreign ones.
    ("compiler/ops/a.cc", '#include "compiler/fuse/fuse.h"\n', "fuse/ does not stand left of ops/"),
    ("compiler/fuse/a.cc", '#include "compiler/ops/op.h"\n', None),
    ("compiler/ops/a.cc", '#include "onnx/onnx_pb.h"\n', "belongs to compiler/import/"),
    # Form.
    ("compiler/ops/a.cc", "// " + "x" * 98 + "\n", "101 columns, at most 100"),
    ("compiler/ops/a.h", "#ifndef A\n", "no comment at the top"),
    ("docs/a.md", "Written in /" + "work/main/docs.\n", "path of one machine"),
]
LONG = "void F() {\n" + "  G();\n" * 59 + "}\n"


def findings(checker, name, text):
    path = pathlib.Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    found = list(checker.check_file(name))
    path.unlink()
    return found


def check_planted(checker):
    for name, text, expected in CASES:
        found = findings(checker, name, text)
        if expected is None:
            assert not found, f"{name}: {text!r} gives {found}"
            continue
        assert len(found) == 1, f"{name}: {text!r} gives {found}"
        line, message = found[0]
        assert re.search(expected, message), f"{message!r} and not {expected!r}"
        assert line in (1, text.count("\n")), f"{message!r} on line {line} of {text!r}"


def check_lengths(checker):
    name = "compiler/ops/a.cc"
    assert findings(checker, name, LONG) == [(1, "function of 61 lines, at most 60")]
    assert not findings(checker, name, LONG.replace("  G();\n", "", 1))
    assert findings(checker, name, "int a;\n" * 401) == [(1, "401 lines, at most 400")]


def check_names(checker):
    """The list is all there is: operators of models, of other domains, and the compiler's own."""
    names = checker.operator_names()
    assert {"Relu", "Loop", "If", "SequenceAt", "com.microsoft.Gelu", "ai.onnx.ml.Scaler",
            "IndexCheck", "DefineSizes"} <= names, sorted(names)
    assert not {"operator", "op", "---"} & names


def main():
    checker = load_checker()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        pathlib.Path("docs").mkdir()
        shutil.copy(ROOT / checker.OPERATORS, checker.OPERATORS)
        check_names(checker)
        check_planted(checker)
        check_lengths(checker)
        os.chdir(ROOT)
    print(f"{len(CASES) + 3} plantings and 8 names, as they should be")


if __name__ == "__main__":
    main()
