"""Broken weights: external data in all its corners, encodings that do not fill their dims."""
import os

from onnx import AttributeProto, TensorProto, helper

from broken_base import case, make_model, write
from broken_data import external_model

WEIGHTS = "weights.bin"


def write_external(folder, size=64, **more):
    """A model whose weight lies in a sound file of `size` bytes, unless `more` says otherwise."""
    (folder / WEIGHTS).write_bytes(b"\0" * size)
    write(folder, external_model(more.pop("location", WEIGHTS), **more))


@case("initializer 'w'")
def external_offset_past_the_end(folder):
    write_external(folder, offset=65)


@case("initializer 'w'")
def external_end_past_the_end(folder):
    write_external(folder, offset=48)


@case("initializer 'w'")
def external_negative_length(folder):
    write_external(folder, length=-24)


@case("initializer 'w'")
def external_huge_length(folder):
    write_external(folder, length=2**63 - 1)


@case("initializer 'w'")
def external_length_overflows(folder):
    write_external(folder, length=2**64 + 24)


@case("initializer 'w'")
def external_offset_no_number(folder):
    write_external(folder, offset="8 bytes")


@case("initializer 'w'")
def external_without_location(folder):
    write_external(folder, location=None)


@case("initializer 'w'")
def external_empty_location(folder):
    write_external(folder, location="")


@case("initializer 'w'")
def external_location_with_zero_byte(folder):
    write_external(folder, location="weights.bin\0.txt")


@case("initializer 'w'")
def external_is_the_folder_itself(folder):
    write_external(folder, location=".")


@case("initializer 'w'")
def external_climbs_in_the_middle(folder):
    (folder / "data").mkdir(exist_ok=True)
    write_external(folder, location="data/../weights.bin")


@case("initializer 'w'")
def external_link_to_itself(folder):
    (folder / "loop.bin").unlink(missing_ok=True)
    (folder / "loop.bin").symlink_to("loop.bin")
    write(folder, external_model("loop.bin"))


@case("initializer 'w'")
def external_is_a_pipe(folder):
    """To open it would wait for a writer for ever."""
    if not (folder / "pipe.bin").exists():
        os.mkfifo(folder / "pipe.bin")
    write(folder, external_model("pipe.bin"))


@case("initializer 'w'")
def external_name_too_long(folder):
    write(folder, external_model("w" * 5000))


@case("initializer 'w'")
def external_dims_beyond_the_file(folder):
    """No memory is taken for what the file cannot hold."""
    write_external(folder, dims=(2**20, 2**20))


@case("initializer 'w'")
def external_strings(folder):
    model = external_model(WEIGHTS)
    model.graph.initializer[0].data_type = TensorProto.STRING
    (folder / WEIGHTS).write_bytes(b"\0" * 64)
    write(folder, model)


def write_weight(folder, kind, dims=(2, 3), **values):
    """A weight with the given fields set, lists and all."""
    weight = TensorProto(name="w", data_type=kind, dims=dims, **values)
    node = helper.make_node("Cast", ["w"], ["c"], to=TensorProto.FLOAT)
    add = helper.make_node("Add", ["x", "c"], ["y"], name="add1")
    write(folder, make_model([node, add], initializers=[weight], opset=21))


@case("initializer 'w'")
def raw_too_long(folder):
    write_weight(folder, TensorProto.FLOAT, raw_data=b"\0" * 28)


@case("initializer 'w'")
def raw_and_typed(folder):
    write_weight(folder, TensorProto.FLOAT, raw_data=b"\0" * 24, float_data=[0.0] * 6)


@case("initializer 'w'")
def no_values(folder):
    write_weight(folder, TensorProto.FLOAT)


@case("initializer 'w'")
def typed_too_short(folder):
    write_weight(folder, TensorProto.FLOAT, float_data=[1.0] * 5)


@case("initializer 'w'")
def typed_in_the_wrong_field(folder):
    write_weight(folder, TensorProto.FLOAT, int32_data=[1] * 6)


@case("initializer 'w'")
def doubles_in_floats(folder):
    write_weight(folder, TensorProto.DOUBLE, float_data=[1.0] * 6)


@case("initializer 'w'")
def int4_not_packed(folder):
    write_weight(folder, TensorProto.INT4, raw_data=b"\1" * 6)


@case("initializer 'w'")
def uint4_typed_not_packed(folder):
    write_weight(folder, TensorProto.UINT4, int32_data=[1] * 6)


@case("initializer 'w'")
def int4_last_half_missing(folder):
    write_weight(folder, TensorProto.INT4, dims=(5,), raw_data=b"\1" * 2)


@case("initializer 'w'")
def float8_as_floats(folder):
    write_weight(folder, TensorProto.FLOAT8E4M3FN, raw_data=b"\0" * 24)


@case("initializer 'w'")
def float8_typed_too_long(folder):
    write_weight(folder, TensorProto.FLOAT8E5M2, int32_data=[0] * 7)


@case("initializer 'w'")
def bfloat16_as_floats(folder):
    write_weight(folder, TensorProto.BFLOAT16, raw_data=b"\0" * 24)


@case("initializer 'w'")
def float16_in_floats(folder):
    write_weight(folder, TensorProto.FLOAT16, float_data=[1.0] * 6)


@case("initializer 'w'")
def strings_in_numbers(folder):
    write_weight(folder, TensorProto.FLOAT, string_data=[b"1.0"] * 6)


@case("initializer 'w'")
def raw_strings(folder):
    write_weight(folder, TensorProto.STRING, raw_data=b"abcdef")


@case("initializer 'w'")
def weight_without_type(folder):
    write_weight(folder, TensorProto.UNDEFINED, raw_data=b"\0" * 24)


@case("initializer 'w'")
def weight_in_segments(folder):
    segment = TensorProto.Segment(begin=0, end=6)
    write_weight(folder, TensorProto.FLOAT, float_data=[0.0] * 6, segment=segment)


@case("initializer ''")
def weight_without_name(folder):
    weight = TensorProto(data_type=TensorProto.FLOAT, dims=[1], float_data=[1.0])
    write(folder, make_model([helper.make_node("Relu", ["x"], ["y"], name="a")],
                             initializers=[weight]))


@case("node 'constant1'")
def sparse_constant(folder):
    values = helper.make_tensor("v", TensorProto.FLOAT, [1], [1.0])
    indices = helper.make_tensor("i", TensorProto.INT64, [1], [9])
    node = helper.make_node("Constant", [], ["w"], name="constant1")
    node.attribute.append(AttributeProto(
        name="sparse_value", type=AttributeProto.SPARSE_TENSOR,
        sparse_tensor=helper.make_sparse_tensor(values, indices, [2, 3])))
    write(folder, make_model([node, helper.make_node("Add", ["x", "w"], ["y"])]))


@case("node 'constant1'")
def constant_too_short(folder):
    value = TensorProto(data_type=TensorProto.FLOAT, dims=[2, 3], raw_data=b"\0" * 4)
    node = helper.make_node("Constant", [], ["w"], name="constant1", value=value)
    write(folder, make_model([node, helper.make_node("Add", ["x", "w"], ["y"])]))


@case("node 'constant1'")
def constant_of_two_values(folder):
    node = helper.make_node("Constant", [], ["w"], name="constant1", value_int=1, value_float=2.0)
    write(folder, make_model([node, helper.make_node("Add", ["x", "w"], ["y"])]))
