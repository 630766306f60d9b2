"""The table models.txt, and where its models lie.

    for entry in model_list.read(): path = model_list.locate(entry)
"""
import dataclasses
import importlib.util
import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared"
TABLE = pathlib.Path(__file__).with_name("models.txt")


def build_folder():
    return pathlib.Path(os.environ.get("AOTC_BUILD_DIR") or ROOT / "build")


def work_folder():
    """Where a test writes: in ctest a folder of its own, as tests may run side by side."""
    return pathlib.Path(os.environ.get("AOTC_WORK_DIR") or build_folder())


def parse_dims(text):
    """"a=1 b=2..3" to {"a": "1", "b": "2..3"}; names may hold dots and colons."""
    return dict(word.rsplit("=", 1) for word in text.split())


def parse_sizes(text):
    return {name: int(value) for name, value in parse_dims(text).items()}


@dataclasses.dataclass(frozen=True)
class Entry:
    name: str
    source: str  # "shared" or "light"
    short: bool
    scale: dict    # of the random inputs, by name; "" is of the others
    plain: dict    # target -> number of contractions on plain loops; percent -> most of the FLOP
    dims: dict   # symbol -> bounds of the compile, such as "1..4"
    sizes: list  # one dict of symbol -> number per run; [{}] where the model is static


def read(path=TABLE):
    lines = [line for line in path.read_text().splitlines() if line.strip() and line[0] != "#"]
    long_names = dict(line.split(":") for line in lines if "|" not in line)
    entries = []
    for line in lines:
        if "|" in line:
            name = line.split("|")[0].strip()
            entries.append(parse_entry(line, parse_dims(long_names.get(name, ""))))
    return entries


def parse_entry(line, long_names):
    name, source, short, scale, plain, dims, sizes = map(str.strip, line.split("|"))

    def symbols(values):
        return {long_names.get(symbol, symbol): value for symbol, value in values.items()}

    runs = [symbols(parse_sizes(text)) for text in sizes.split("/")]
    bounds = symbols(parse_dims(dims))
    return Entry(name, source, short == "short", parse_scale(scale), parse_sizes(plain), bounds,
                 runs)


def parse_scale(text):
    """"10 ids=500" to {"": 10.0, "ids": 500.0}."""
    words = [word if "=" in word else f"={word}" for word in text.split()]
    return {name: float(value) for name, value in parse_dims(" ".join(words)).items()}


def find(name):
    """The table's entry for a model, or None."""
    return next((entry for entry in read() if entry.name == name), None)


def locate(entry):
    """The path of the model's file, written first where a script makes it; None where absent."""
    if entry.source == "shared":
        path = SHARED / "models" / f"{entry.name}.onnx"
        return path if path.exists() else None
    path = build_folder() / "light_models" / f"{entry.name}.onnx"
    return path if path.exists() else write_light_model(entry.name, path.parent)


def load_script(path):
    """A script that is in no folder of modules, as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def write_light_model(name, folder):
    return load_script(ROOT / "models/randomize_light_models.py").write(name, folder)


BENCH = SHARED / "bench" / "make_models.py"


def load_bench():
    """The module that makes the bench models: load_bench().unet().model()."""
    return load_script(BENCH)


def say_if_shared_is_missing():
    if not SHARED.is_dir():
        print(f"no ../{SHARED.name} beside the repository: its models and checks are left out")
