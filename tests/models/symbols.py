"""What generated objects define and need, read with nm.

    table = symbols.read(objects)
    symbols.verify_names(table, "mobilenet")       # only mobilenet_*, nothing weak
    symbols.verify_run(table, "mobilenet_run")     # neither heap nor I/O nor exit
"""
import dataclasses

from build_output import Failure, command

# What `run` may need from outside: memory functions that compilers call by themselves, the CPU
# model, yielding at a barrier, what the toolchain places; and the mathematics below.
ALLOWED = {
    "memcpy", "memset", "memmove", "memcmp", "__cpu_model", "__cpu_features2",
    "__cpu_indicator_init",
    "_GLOBAL_OFFSET_TABLE_", "sched_yield", "__tls_get_addr",
}
MATHEMATICS = set("""
    exp exp2 expm1 log log2 log10 log1p pow sqrt cbrt sin cos tan asin acos atan atan2 sinh cosh
    tanh asinh acosh atanh erf erfc floor ceil trunc round rint nearbyint lrint llrint lround
    llround fmod remainder fma fmin fmax fabs copysign ldexp frexp scalbn hypot
""".split())  # of double; with f and l behind for the other types
# What nvcc's own host stubs need: registration of kernels at load, and a guard in each launch stub.
NVCC_STUBS = {
    "_Unwind_Resume", "__cxa_guard_abort", "__cxa_guard_acquire", "__cxa_guard_release",
    "__gxx_personality_v0", "atexit",
}
# Their pointer to the C++ personality routine, one hidden copy per file; holds no code.
TOOLCHAIN_WEAK = {"DW.ref.__gxx_personality_v0"}
CUDA_PREFIXES = ("cuda", "__cuda", "cu")  # the toolkit's own calls and registration


@dataclasses.dataclass
class Object:
    path: object
    defined: dict  # global name -> nm's letter
    needed: set
    called: set   # of these, what code refers to: a table of functions only holds addresses


def named_by_code(path):
    """Symbols in the relocations of the sections that hold code."""
    names, in_code = set(), False
    for line in command(["readelf", "-rW", path]).splitlines():
        if line.startswith("Relocation section"):
            in_code = "'.rela.text" in line
        words = line.split()
        if in_code and len(words) >= 5 and words[2].startswith("R_"):
            names.add(words[4])
    return names


def read_object(path):
    found = Object(path, {}, set(), named_by_code(path))
    for line in command(["nm", "--extern-only", path]).splitlines():
        *_, kind, name = line.split()
        if kind in "Uw":
            found.needed.add(name)
            if kind == "w":
                found.defined[name] = kind
        else:
            found.defined[name] = kind
    return found


def read(objects):
    return [read_object(path) for path in objects]


def verify_names(table, name, extra_prefixes=()):
    """Only <name>_* is global, and nothing is weak or common."""
    for held in table:
        for symbol, kind in held.defined.items():
            if symbol in TOOLCHAIN_WEAK:
                continue
            if kind in "wWvVuC":
                raise Failure(f"{held.path.name}: symbol {symbol} is weak or common ({kind})")
            if not symbol.startswith((f"{name}_", *extra_prefixes)):
                raise Failure(f"{held.path.name}: global symbol {symbol} has no prefix {name}_")


def reached(table, entry):
    """The objects that `entry` reaches: its own, and those that define what their code names."""
    home = {symbol: held for held in table for symbol in held.defined}
    if entry not in home:
        raise Failure(f"no object defines {entry}")
    found, left = [], [home[entry]]
    while left:
        held = left.pop()
        if any(held is other for other in found):
            continue
        found.append(held)
        left.extend(home[symbol] for symbol in sorted(held.called) if symbol in home)
    return found


def is_allowed(symbol, cuda):
    base = symbol[:-1] if symbol[-1:] in "fl" and symbol[:-1] in MATHEMATICS else symbol
    return symbol in ALLOWED or base in MATHEMATICS or (
        cuda and (symbol in NVCC_STUBS or symbol.startswith(CUDA_PREFIXES)))


def verify_run(table, entry, cuda=False):
    """Nothing that `entry` reaches needs an allocator, I/O, exit or another stranger."""
    objects = reached(table, entry)
    inside = {symbol for held in table for symbol in held.defined}
    for held in objects:
        strangers = {s for s in held.needed - inside if not is_allowed(s, cuda)}
        if strangers:
            names = ", ".join(sorted(strangers))
            raise Failure(f"{entry} reaches {held.path.name}, which needs {names}")
    return objects
