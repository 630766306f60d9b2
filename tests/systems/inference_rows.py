"""Rows about types: each inferred one against those of onnx's own inference."""
import pathlib
import re

import onnx

import cases
import model_list
from cases import expect

ELEMENT = {1: "f32", 2: "u8", 3: "i8", 4: "u16", 5: "i16", 6: "i32", 7: "i64", 9: "bool", 10: "f16",
           11: "f64", 12: "u32", 13: "u64", 16: "bf16"}
TYPE = re.compile(r'%("[^"]*"|[^\s",()\[\]]+?): (\w+)\[([^\]]*)\]')


def our_types(path, dims):
    """Value name -> (element type, dims as texts), after inference."""
    words = [f"--dim={name}={value}" for name, value in dims.items()]
    text = cases.dump(path, "infer-and-fold", *words, "--dump-constants=0")
    return {name.strip('"'): (dtype, [d.strip() for d in shape.split(", ")] if shape else [])
            for name, dtype, shape in TYPE.findall(text)}


def their_types(path, pins):
    """The same of onnx.shape_inference with the symbols pinned, numbers only."""
    model = onnx.load(path)
    for value in model.graph.input:
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_param in pins:
                dim.dim_value = pins[dim.dim_param]
    del model.graph.value_info[:]
    for output in model.graph.output:
        output.type.tensor_type.ClearField("shape")
    typed = onnx.shape_inference.infer_shapes(model, data_prop=True)
    found = {}
    for value in [*typed.graph.value_info, *typed.graph.output]:
        tensor = value.type.tensor_type
        if tensor.HasField("shape"):
            found[value.name] = ELEMENT.get(tensor.elem_type), [
                d.dim_value if d.HasField("dim_value") else None for d in tensor.shape.dim]
    return found


def disagreements(path, pins):
    """Lines for the values whose types differ; how many were compared, of how many of onnx's."""
    ours = our_types(path, pins)
    theirs, lines, compared = their_types(path, pins), [], 0
    for name, (dtype, dims) in theirs.items():
        if name not in ours:
            continue
        compared += 1
        mine = ours[name][1]
        fits = len(mine) == len(dims) and all(d is None or str(d) == m for d, m in zip(dims, mine))
        if ours[name][0] != dtype or not fits:
            lines.append(f"{name}: {ours[name]}, not {dtype} {dims}")
    return lines, compared, len(theirs)


def row33_types_are_those_of_onnx(_):
    """All intermediate values of the models of models.txt, symbols at the first sizes to be run."""
    model_list.say_if_shared_is_missing()
    wrong, total = [], 0
    for entry in model_list.read():
        path = model_list.locate(entry)
        if path is None:
            continue
        lines, compared, known = disagreements(pathlib.Path(path), entry.sizes[0])
        print(f"{entry.name:24} {compared:5} of {known} values, {len(lines)} differ", flush=True)
        expect(compared or not known, f"{entry.name}: no value has its name of ONNX")
        total += compared
        wrong += [f"{entry.name}: {line}" for line in lines]
    expect(not wrong, "\n".join(wrong[:20]))
    print(f"{total} values compared")
