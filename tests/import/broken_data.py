"""Broken files and broken tensors: weights inside the model and beside it, shapes of inputs."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from broken_base import case, make_model, sound_model, tensor, write


def external_model(location, offset=None, length=None, dims=(2, 3)):
    """x + w with w in another file."""
    weight = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=dims)
    weight.data_location = TensorProto.EXTERNAL
    for key, value in (("location", location), ("offset", offset), ("length", length)):
        if value is not None:
            weight.external_data.add(key=key, value=str(value))
    return make_model([helper.make_node("Add", ["x", "w"], ["y"], name="add1")],
                      initializers=[weight])


@case("model.onnx")
def truncated(folder):
    data = sound_model().SerializeToString()
    (folder / "model.onnx").write_bytes(data[: len(data) // 2])


@case("model.onnx")
def empty(folder):
    (folder / "model.onnx").write_bytes(b"")


@case("model.onnx")
def no_protobuf(folder):
    (folder / "model.onnx").write_bytes(b"this is a text, and no model\n" * 20)


@case("model.onnx")
def no_graph(folder):
    write(folder, onnx.ModelProto(ir_version=8))


@case("initializer 'w'")
def external_missing(folder):
    write(folder, external_model("weights.bin"))


@case("initializer 'w'")
def external_climbs(folder):
    (folder.parent / "secret.bin").write_bytes(b"\0" * 24)
    write(folder, external_model("../secret.bin"))


@case("initializer 'w'")
def external_absolute(folder):
    outside = folder.parent / "secret.bin"
    outside.write_bytes(b"\0" * 24)
    write(folder, external_model(str(outside.resolve())))


@case("initializer 'w'")
def external_symlink(folder):
    outside = folder.parent / "secret.bin"
    outside.write_bytes(b"\0" * 24)
    (folder / "weights.bin").unlink(missing_ok=True)
    (folder / "weights.bin").symlink_to(outside.resolve())
    write(folder, external_model("weights.bin"))


@case("initializer 'w'")
def external_linked_folder(folder):
    outside = folder.parent / "elsewhere"
    outside.mkdir(exist_ok=True)
    (outside / "weights.bin").write_bytes(b"\0" * 24)
    (folder / "data").unlink(missing_ok=True)
    (folder / "data").symlink_to(outside.resolve())
    write(folder, external_model("data/weights.bin"))


@case("initializer 'w'")
def external_too_short(folder):
    (folder / "weights.bin").write_bytes(b"\0" * 23)
    write(folder, external_model("weights.bin"))


@case("initializer 'w'")
def external_offset_overflows(folder):
    (folder / "weights.bin").write_bytes(b"\0" * 64)
    write(folder, external_model("weights.bin", offset=2**63 - 8))


@case("initializer 'w'")
def external_negative_offset(folder):
    (folder / "weights.bin").write_bytes(b"\0" * 64)
    write(folder, external_model("weights.bin", offset=-8))


@case("initializer 'w'")
def external_wrong_length(folder):
    (folder / "weights.bin").write_bytes(b"\0" * 64)
    write(folder, external_model("weights.bin", length=48))


@case("initializer 'w'")
def external_is_a_folder(folder):
    (folder / "weights.bin").mkdir(exist_ok=True)
    write(folder, external_model("weights.bin"))


@case("input 'x'")
def input_dims_overflow(folder):
    write(folder, make_model([helper.make_node("Relu", ["x"], ["y"], name="relu1")],
                             [tensor("x", (2**62, 2**62))], [tensor("y", (2**62, 2**62))]))


@case("initializer 'w'")
def weight_dims_overflow(folder):
    weight = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[2**40, 2**40], raw_data=b"")
    write(folder, make_model([helper.make_node("Add", ["x", "w"], ["y"], name="add1")],
                             initializers=[weight]))


@case("initializer 'w'")
def weight_dims_negative(folder):
    weight = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[-2, -3], raw_data=b"\0" * 24)
    write(folder, make_model([helper.make_node("Add", ["x", "w"], ["y"], name="add1")],
                             initializers=[weight]))


@case("initializer 'w'")
def weight_too_short(folder):
    weight = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[2, 3], raw_data=b"\0" * 20)
    write(folder, make_model([helper.make_node("Add", ["x", "w"], ["y"], name="add1")],
                             initializers=[weight]))


@case("initializer 'w'")
def weight_unknown_type(folder):
    weight = TensorProto(name="w", data_type=99, dims=[2, 3], raw_data=b"\0" * 24)
    write(folder, make_model([helper.make_node("Add", ["x", "w"], ["y"], name="add1")],
                             initializers=[weight]))


def write_sparse(folder, indices, dims):
    """A weight of as many ones as there are indices."""
    values = helper.make_tensor("w", TensorProto.FLOAT, [len(indices)], [1.0] * len(indices))
    model = make_model([helper.make_node("Add", ["x", "w"], ["y"], name="add1")])
    model.graph.sparse_initializer.append(
        helper.make_sparse_tensor(values, numpy_helper.from_array(indices, "i"), dims))
    write(folder, model)


@case("initializer 'w'")
def weight_sparse_out_of_order(folder):
    write_sparse(folder, np.array([3, 1], "i8"), [2, 3])


@case("initializer 'w'")
def weight_sparse_outside(folder):
    write_sparse(folder, np.array([[0, 1], [0, 3]], "i8"), [2, 3])


@case("initializer 'w'")
def weight_sparse_with_places_of_i32(folder):
    write_sparse(folder, np.array([1, 3], "i4"), [2, 3])


@case("initializer 'w'")
def weight_sparse_and_huge(folder):
    write_sparse(folder, np.array([1, 3], "i8"), [1 << 20, 1 << 20])


