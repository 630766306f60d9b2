"""Cases of check_refusals.py as text.

    == axis_outside: --target cuda
    (float[2,3] x) => (y) { y = Softmax<axis = 5>(x) }
    --
    error: node '' (Softmax) ...

Behind the name stand flags for aotc. A line with the word MODEL, the model's path, is given as a
whole, as is one with ALONE, which has no model; DIR is the folder of the case. `opt FILE PASSES
PASS` stands for aotc-opt with --passes and --print-before. The model is in ONNX's text syntax,
where `<ir_version ...>` and the name of the graph may be left out; what the user sees follows.
Lines `FILE name: text` before the model are files beside it, where \\n and \\x93 are bytes, and
`LINK name: path` are links.
Comments lead the first case.
"""
import json
import pathlib
import re
import subprocess
import sys
import typing

import onnx
import onnx.parser

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "import"))
import broken_inputs  # noqa: E402

HEAD = ('<ir_version: 10, opset_import: ["" : %d, "com.microsoft" : 1, "ai.onnx.ml" : 5, '
        '"ai.onnx.preview.training" : 1]>\n')
OPSET = 23
LONGEST = 800  # of a line that is compared
BROKEN = "broken_models.txt"


class Case(typing.NamedTuple):
    file: str
    name: str
    flags: str
    text: str  # of the model
    said: str


def read(path):
    comment, *parts = re.split(r"(?m)^== ", path.read_text())
    cases = []
    for part in parts:
        head, _, rest = part.partition("\n")
        name, _, flags = head.partition(":")
        text, _, said = ("\n" + rest).partition("\n--\n")
        cases.append(Case(path.name, name.strip(), flags.strip(), text[1:], said))
    return comment, cases


def all_cases(folder):
    cases = [case for path in sorted((folder / "cases").glob("*.txt")) for case in read(path)[1]]
    said = {case.name: case.said for case in read(folder / BROKEN)[1]}
    cases += [Case(BROKEN, name, "", "", said.get(name, "")) for name in broken_inputs.CASES]
    twice = {case.name for case in cases if [c.name for c in cases].count(case.name) > 1}
    assert not twice, f"several cases have the name {twice}"
    return cases


def model_of(text):
    """The model and the opset that the text of a case is."""
    opset = OPSET
    if match := re.match(r"opset (\d+)\n", text):
        opset, text = int(match.group(1)), text[match.end():]
    if not text.lstrip().startswith("<"):
        text = HEAD % opset + ("g " if text.lstrip().startswith("(") else "") + text
    return onnx.parser.parse_model(text)


def bytes_of(text):
    byte = re.compile(r"\\(n|x[0-9a-f]{2})")
    return byte.sub(lambda found: chr(int(found[1][1:] or "a", 16)), text).encode("latin-1")


def write_model(case, folder):
    if case.file == BROKEN:
        broken_inputs.CASES[case.name].writer(folder)
        return
    text = case.text
    while match := re.match(r"(FILE|LINK) (\S+): (.*)(?:\n|\Z)", text):
        path = folder / match.group(2)
        path.parent.mkdir(parents=True, exist_ok=True)
        if match.group(1) == "FILE":
            path.write_bytes(bytes_of(match.group(3)))
        else:
            path.symlink_to(match.group(3))
        text = text[match.end():]
    if text.strip():
        try:
            onnx.save(model_of(text), folder / "model.onnx")
        except onnx.parser.ParseError as error:
            raise SystemExit(f"{case.file}: {case.name}: {error}") from error


def words_of(case, folder):
    if case.file == BROKEN:
        flags = list(broken_inputs.CASES[case.name].flags)
    else:
        flags = [word.replace("DIR", str(folder)) for word in case.flags.split()]
    model = str(folder / "model.onnx")
    if "MODEL" in flags or "ALONE" in flags:
        return [model if word == "MODEL" else word for word in flags if word != "ALONE"]
    if "--target" not in flags:
        flags += ["--target", "cpu"]
    return [model, "-o", str(folder / "out"), *flags]


def json_lines(text):
    return [json.loads(line) for line in text.splitlines()]


def run(program, cases, root):
    """One result a case, as the program gives it, with DIR in place of the folder."""
    lines = []
    for case in cases:
        folder = root / case.name
        folder.mkdir()
        write_model(case, folder)
        lines.append(json.dumps(words_of(case, folder)))
    (root / "cases.json").write_text("\n".join(lines) + "\n")
    done = subprocess.run([program, root / "cases.json"], capture_output=True, text=True,
                          check=False)
    results = json_lines(done.stdout)
    if done.returncode or len(results) < len(cases):
        raise SystemExit(f"{cases[len(results)].name} ends the program with "
                         f"{done.returncode}: {done.stderr}")
    for case, result in zip(cases, results):
        said = result["said"].replace(str(root / case.name), "DIR").replace(str(root), "ABOVE")
        lines = [line if len(line) <= LONGEST else line[:LONGEST] + " [...]"
                 for line in said.rstrip("\n").split("\n")]
        result["said"] = "\n".join(lines) + "\n"
    return results


def rewrite(folder, cases, results):
    """Writes the files of the cases with what the results say."""
    for name in {case.file for case in cases}:
        path = folder / name if name == BROKEN else folder / "cases" / name
        text = read(path)[0]
        for case, result in zip(cases, results):
            if case.file == name:
                head = f"{case.name}: {case.flags}" if case.flags else case.name
                model = case.text + "\n" if case.text else ""
                text += f"== {head}\n{model}--\n{result['said']}"
        path.write_text(text)
