"""The files that the mistakes are made with.

    write(folder)   # net.onnx, free.onnx, cache.onnx, ...
"""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def tensor(name, shape, dtype=FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def model(nodes, inputs, outputs, weights=(), opsets=(("", 20),)):
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(weights))
    return helper.make_model(graph, ir_version=10,
                             opset_imports=[helper.make_opsetid(*pair) for pair in opsets])


def dense():
    """image f32[batch, 16] -> scores, with one weight."""
    weight = numpy_helper.from_array(np.ones((16, 4), np.float32), "weight")
    return model([helper.make_node("MatMul", ["image", "weight"], ["h"], "fc"),
                  helper.make_node("Relu", ["h"], ["scores"], "act")],
                 [tensor("image", [2, 16]), tensor("weight", [16, 4])],
                 [tensor("scores", [2, 4])], [weight])


def free():
    """Inputs of three symbols."""
    return model([helper.make_node("Add", ["image", "mask"], ["scores"], "sum")],
                 [tensor("image", ["batch", "time", 4]), tensor("mask", ["batch", 1, 4])],
                 [tensor("scores", None)])


def cache():
    """A state that a run replaces."""
    return model([helper.make_node("Add", ["state", "step"], ["state_out"], "update")],
                 [tensor("state", [4]), tensor("step", [4])], [tensor("state_out", [4])])


def chosen():
    """As many results as elements are not zero."""
    return model([helper.make_node("NonZero", ["image"], ["kept"], "choose")],
                 [tensor("image", [8])], [tensor("kept", [1, "found"], INT64)])


def written():
    """A sequence as an input."""
    items = helper.make_tensor_sequence_value_info("frames", FLOAT, [4])
    return model([helper.make_node("SequenceLength", ["frames"], ["count"], "measure")],
                 [items], [tensor("count", [], INT64)])


def foreign():
    """An operator of somebody's, and one whose name has a slip."""
    return model([helper.make_node("Frobnicate", ["image"], ["h"], "odd", domain="com.acme"),
                  helper.make_node("Sigmiod", ["h"], ["scores"], "gate")],
                 [tensor("image", [4])], [tensor("scores", [4])],
                 opsets=(("", 20), ("com.acme", 1)))


def late():
    """An opset that there will be one day."""
    return model([helper.make_node("Relu", ["image"], ["scores"], "act")],
                 [tensor("image", [4])], [tensor("scores", [4])], opsets=(("", 99),))


def stripped():
    """Weights in a file that was not copied along."""
    lost = TensorProto(name="weight", data_type=FLOAT, dims=[4],
                       data_location=TensorProto.EXTERNAL)
    lost.external_data.add(key="location", value="stripped.data")
    return model([helper.make_node("Add", ["image", "weight"], ["scores"], "shift")],
                 [tensor("image", [4])], [tensor("scores", [4])], [lost])


def mismatched():
    """A product whose operands do not fit."""
    return model([helper.make_node("MatMul", ["image", "mask"], ["scores"], "product")],
                 [tensor("image", [2, 3]), tensor("mask", [4, 5])], [tensor("scores", None)])


def unsized():
    """An input of any rank."""
    return model([helper.make_node("Relu", ["image"], ["scores"], "act")],
                 [tensor("image", None)], [tensor("scores", None)])


MODELS = {"net": dense, "free": free, "cache": cache, "chosen": chosen, "frames": written,
          "foreign": foreign, "late": late, "stripped": stripped, "mismatched": mismatched,
          "unsized": unsized}


def write(folder):
    for name, make in MODELS.items():
        onnx.save(make(), folder / f"{name}.onnx")
    whole = (folder / "net.onnx").read_bytes()
    (folder / "half.onnx").write_bytes(whole[:len(whole) // 2])
    (folder / "empty.onnx").write_bytes(b"")
    (folder / "notes.txt").write_text("to do\n")
    (folder / "mine").mkdir()
    (folder / "mine" / "diary.txt").write_text("dear diary\n")
    np.save(folder / "three.npy", np.ones(3, np.float32))
