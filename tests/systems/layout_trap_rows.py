"""Rows about layouts: graphs around convolutions that write channels in blocks."""
import numpy as np
from onnx import TensorProto, helper

from cases import floats, node, tensor
from traps import Cases, numbers


def row34_traps_of_layouts(folder):
    """Behind a convolution that writes blocks of channels, of which the last is not full."""
    weights = {"w": floats(17, 5, 3, 3), "u": floats(17, 17, 1, 1), "k": floats(17, 1, 1),
               "b": floats(17), "hw": floats(6, 6), "v3": floats(5, 17, 1, 1)}
    traps = Cases(folder, {"x": [2, 5, 6, 6]}, weights)
    traps.add("hw", [node("Conv", "x w", "c", pads=[1] * 4), node("Mul", "c hw", "y")],
              {"y": [2, 17, 6, 6]})
    traps.add("bc_up", [node("Conv", "x w", "c", pads=[1] * 4), node("Add", "c z", "y")],
              {"y": [2, 17, 6, 6]}, {"x": [2, 5, 6, 6], "z": [17, 1, 6]})
    traps.add("bc_batch", [node("Conv", "x w", "c", pads=[1] * 4), node("Add", "c z", "y")],
              {"y": [2, 17, 6, 6]}, {"x": [2, 5, 6, 6], "z": [2, 1, 1, 1]})
    traps.add("bc5", [node("Conv", "x w", "c", pads=[1] * 4), node("Add", "c z", "y")],
              {"y": [3, 2, 17, 6, 6]}, {"x": [2, 5, 6, 6], "z": [3, 1, 1, 1, 1]})
    traps.add("concat",
              [node("Conv", "x w", "c", pads=[1] * 4), node("Conv", "c u", "d"),
               node("Concat", "c d x", "y", axis=1)], {"y": [2, 39, 6, 6]})
    traps.add("split",
              [node("Conv", "x w", "c", pads=[1] * 4),
               helper.make_node("Split", ["c", "s"], ["p", "q"], axis=1), node("Relu", "p", "y"),
               node("Conv", "q v", "z")], {"y": [2, 12, 6, 6], "z": [2, 3, 6, 6]},
              s=numbers(12, 5), v=floats(3, 5, 1, 1))
    traps.add("softmax",
              [node("Conv", "x w", "c", pads=[1] * 4), node("Softmax", "c", "y", axis=1)],
              {"y": [2, 17, 6, 6]})
    traps.add("redc", [node("Conv", "x w", "c", pads=[1] * 4), node("ReduceMax", "c a", "y")],
              {"y": [2, 1, 6, 6]}, a=numbers(1))
    traps.add("mean",
              [node("Conv", "x w", "c", pads=[1] * 4), node("GlobalAveragePool", "c", "g"),
               node("Flatten", "g", "fl"), node("Gemm", "fl g2", "y")], {"y": [2, 4]},
              g2=floats(17, 4))
    traps.add("flat",
              [node("Conv", "x w", "c", pads=[1] * 4), node("Flatten", "c", "fl"),
               node("MatMul", "fl g2", "y")], {"y": [2, 3]}, g2=floats(612, 3))
    traps.add("tr",
              [node("Conv", "x w", "c", pads=[1] * 4),
               node("Transpose", "c", "y", perm=[0, 2, 3, 1])], {"y": [2, 6, 6, 17]})
    traps.add("padc",
              [node("Conv", "x w", "c", pads=[1] * 4), node("Pad", "c p", "q"),
               node("Conv", "q u2", "y")], {"y": [2, 3, 6, 6]}, p=numbers(0, 1, 0, 0, 0, 2, 0, 0),
              u2=floats(3, 20, 1, 1))
    traps.add("out2",
              [node("Conv", "x w", "c", pads=[1] * 4), node("Conv", "c u", "y"),
               node("Exp", "c", "z")],
              {"y": [2, 17, 6, 6], "z": [2, 17, 6, 6], "c": [2, 17, 6, 6]})
    traps.add("halos",
              [node("Conv", "x w", "c", pads=[1] * 4), node("Conv", "c v3", "p", pads=[0] * 4),
               node("Conv", "c v5", "q", pads=[2] * 4), node("Add", "p q", "y")],
              {"y": [2, 5, 6, 6]}, v5=floats(5, 17, 5, 5))
    traps.add("halo2",
              [node("Conv", "x w", "c", pads=[1] * 4), node("Relu", "c", "r"),
               node("Conv", "r u", "p"),
               node("MaxPool", "r", "q", kernel_shape=[3, 3], pads=[1] * 4),
               node("Add", "p q", "y")], {"y": [2, 17, 6, 6]})
    traps.add("resize",
              [node("Conv", "x w", "c", pads=[1] * 4),
               helper.make_node("Resize", ["c", "", "sc"], ["r"], mode="nearest"),
               node("Conv", "r v3", "y")], {"y": [2, 5, 12, 12]},
              sc=np.array([1, 1, 2, 2], np.float32))
    traps.add("ct",
              [node("Conv", "x w", "c", pads=[1] * 4),
               node("ConvTranspose", "c t", "d", strides=[2, 2]), node("Relu", "d", "y")],
              {"y": [2, 7, 12, 12]}, t=floats(17, 7, 2, 2))
    traps.add("ct3",
              [node("Conv", "x w", "c", pads=[1] * 4),
               node("ConvTranspose", "c t", "d", strides=[2, 2], pads=[1] * 4,
                    output_padding=[1, 1]),
               node("Conv", "d t2", "y")], {"y": [2, 3, 12, 12]}, t=floats(17, 7, 3, 3),
              t2=floats(3, 7, 1, 1))
    traps.add("prelu", [node("Conv", "x w", "c", pads=[1] * 4), node("PRelu", "c k", "y")],
              {"y": [2, 17, 6, 6]})
    traps.add("res",
              [node("Conv", "x w", "c", pads=[1] * 4), node("Conv", "c u", "d"),
               node("Add", "c d", "e"), node("Relu", "e", "r"), node("Conv", "r u", "g"),
               node("Add", "g r", "y")], {"y": [2, 17, 6, 6]})
    traps.add("se",
              [node("Conv", "x w", "c", pads=[1] * 4), node("GlobalAveragePool", "c", "g"),
               node("Conv", "g u", "h"), node("Sigmoid", "h", "s"), node("Mul", "c s", "y")],
              {"y": [2, 17, 6, 6]})
    traps.add("sl", [node("Conv", "x w", "c", pads=[1] * 4), node("Slice", "c s e a", "y")],
              {"y": [2, 9, 6, 6]}, s=numbers(3), e=numbers(12), a=numbers(1))
    traps.add("slh",
              [node("Conv", "x w", "c", pads=[1] * 4), node("Slice", "c s e a", "d"),
               node("Conv", "d u", "y")], {"y": [2, 17, 3, 6]}, s=numbers(1), e=numbers(4),
              a=numbers(2))
    traps.add("d2s",
              [node("Conv", "x w", "c", pads=[1] * 4), node("Conv", "c q", "d"),
               node("DepthToSpace", "d", "y", blocksize=2)], {"y": [2, 3, 12, 12]},
              q=floats(12, 17, 1, 1))
    traps.add("shuf",
              [node("Conv", "x w", "c", pads=[1] * 4), node("Conv", "c q", "d"),
               node("Reshape", "d s1", "e"), node("Transpose", "e", "g", perm=[0, 2, 1, 3, 4]),
               node("Reshape", "g s2", "h"), node("Conv", "h q2", "y")], {"y": [2, 4, 6, 6]},
              q=floats(12, 17, 1, 1), s1=numbers(2, 3, 4, 6, 6), s2=numbers(2, 12, 6, 6),
              q2=floats(4, 12, 1, 1))
    traps.add("argmax",
              [node("Conv", "x w", "c", pads=[1] * 4), node("ArgMax", "c", "y", axis=1)],
              [tensor("y", [2, 1, 6, 6], TensorProto.INT64)])
    traps.add("inst",
              [node("Conv", "x w", "c", pads=[1] * 4),
               node("InstanceNormalization", "c b b", "d"), node("Conv", "d u", "y")],
              {"y": [2, 17, 6, 6]})
    traps.add("lrn", [node("Conv", "x w", "c", pads=[1] * 4), node("LRN", "c", "y", size=3)],
              {"y": [2, 17, 6, 6]})
    traps.add("group",
              [node("Conv", "x w", "c", pads=[1] * 4), node("Conv", "c q", "d"),
               node("Conv", "d q2", "y", group=4, pads=[1] * 4)], {"y": [2, 8, 6, 6]},
              q=floats(12, 17, 1, 1), q2=floats(8, 3, 3, 3))
    traps.add("dw",
              [node("Conv", "x w", "c", pads=[1] * 4),
               node("Conv", "c dw", "d", group=17, pads=[1] * 4, strides=[2, 2]),
               node("Conv", "d u", "y")], {"y": [2, 17, 3, 3]}, dw=floats(17, 1, 3, 3))
    traps.add("one",
              [node("Conv", "x w", "c", pads=[1] * 4), node("Conv", "c all", "d"),
               node("Relu", "d", "y")], {"y": [2, 17, 1, 1]}, all=floats(17, 17, 6, 6))
    traps.add("oneflat",
              [node("Conv", "x w", "c", pads=[1] * 4), node("Conv", "c all", "d"),
               node("Flatten", "d", "y")], {"y": [2, 17]}, all=floats(17, 17, 6, 6))
    traps.add("onesq",
              [node("Conv", "x w", "c", pads=[1] * 4), node("Conv", "c all", "d"),
               node("Squeeze", "d ax", "e"), node("Exp", "e", "y")], {"y": [2, 17]},
              all=floats(17, 17, 6, 6), ax=numbers(2, 3))
    traps.add("reread",
              [node("Conv", "x w", "c", pads=[1] * 4), node("Conv", "c all", "d"),
               node("Flatten", "d", "e"), node("Exp", "e", "y"), node("Flatten", "d", "z")],
              {"y": [2, 17], "z": [2, 17]}, all=floats(17, 17, 6, 6))
    traps.compile()


def row34_traps_of_layouts_at_any_batch(folder):
    """A symbolic batch; convolutions over 1, 2 and 3 axes, transposed and grouped ones."""
    weights = {"w": floats(17, 5, 3, 3), "u": floats(17, 17, 1, 1), "w1": floats(19, 5, 3),
               "w3": floats(9, 3, 3, 3, 3), "d": floats(17, 1, 3, 3), "k": floats(17, 1, 1),
               "t": floats(17, 6, 3, 3), "tg": floats(16, 3, 2, 2), "u16": floats(16, 17, 1, 1),
               "b": floats(6)}
    traps = Cases(folder, {"x": ["n", 5, 6, 7]}, weights)
    behind = node("Conv", "x w", "c", pads=[1] * 4)
    traps.add("out", [behind, node("Conv", "c u", "y")],
              {"y": ["n", 17, 6, 7], "c": ["n", 17, 6, 7]})
    traps.add("dw", [behind, node("Conv", "c d", "y", group=17, pads=[1] * 4, strides=[2, 2])],
              {"y": ["n", 17, 3, 4], "c": ["n", 17, 6, 7]})
    traps.add("pool",
              [behind,
               node("MaxPool", "c", "p", kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4),
               node("GlobalAveragePool", "p", "g"), node("Flatten", "g", "y")], {"y": ["n", 17]})
    traps.add("ct",
              [behind,
               node("ConvTranspose", "c t b", "y", strides=[2, 2], pads=[1] * 4,
                    output_padding=[1, 0])],
              {"y": ["n", 6, 12, 13]})
    traps.add("ctg",
              [behind, node("Conv", "c u16", "e"),
               node("ConvTranspose", "e tg", "y", strides=[2, 2], group=4, dilations=[2, 1])],
              {"y": ["n", 12, 13, 14]})
    traps.add("c1",
              [node("Conv", "x w1", "c", pads=[1, 1]), node("Relu", "c", "r"),
               node("Transpose", "r", "y", perm=[0, 2, 1])], {"y": ["n", 8, 19]},
              {"x": ["n", 5, 8]})
    traps.add("c1out", [node("Conv", "x w1", "c", pads=[1, 1]), node("Relu", "c", "y")],
              {"y": ["n", 19, 8], "c": ["n", 19, 8]}, {"x": ["n", 5, 8]})
    traps.add("c3",
              [node("Conv", "x w3", "c", pads=[1] * 6, strides=[1, 2, 1]),
               node("Sigmoid", "c", "s"), node("Mul", "c s", "y")], {"y": ["n", 9, 3, 2, 5]},
              {"x": ["n", 3, 3, 4, 5]})
    traps.add("se",
              [behind, node("ReduceMean", "c ax", "g"), node("Conv", "g u", "h"),
               node("Sigmoid", "h", "s"), node("Mul", "c s", "y")], {"y": ["n", 17, 6, 7]},
              ax=numbers(2, 3))
    traps.add("skip",
              [behind, node("Relu", "c", "r"), node("Conv", "r u", "e"), node("Add", "e r", "f"),
               node("Conv", "f d2", "y", pads=[2] * 4)],
              {"y": ["n", 4, 8, 9], "f": ["n", 17, 6, 7]}, d2=floats(4, 17, 3, 3))
    traps.add("reshape",
              [behind, node("Reshape", "c sh", "r"), node("Transpose", "r", "tt", perm=[0, 2, 1]),
               node("MatMul", "tt m", "y")], {"y": ["n", 42, 3]}, sh=numbers(0, 17, -1),
              m=floats(17, 3))
    traps.add("concat",
              [behind, node("Conv", "c u", "e"), node("Concat", "c e", "f", axis=1),
               node("Conv", "f u34", "y")], {"y": ["n", 4, 6, 7]}, u34=floats(4, 34, 1, 1))
    traps.add("split",
              [behind, helper.make_node("Split", ["c", "sp"], ["p", "q"], axis=1),
               node("Conv", "p u8", "e"), node("Concat", "q e", "y", axis=1)],
              {"y": ["n", 12, 6, 7]}, sp=numbers(8, 9), u8=floats(3, 8, 1, 1))
    traps.add("resize",
              [behind, helper.make_node("Resize", ["c", "", "sc"], ["r"], mode="linear"),
               node("Add", "r z", "y")], {"y": ["n", 17, 12, 14]},
              {"x": ["n", 5, 6, 7], "z": ["n", 17, 12, 14]},
              sc=np.array([1, 1, 2, 2], np.float32))
    traps.add("bn",
              [behind, node("InstanceNormalization", "c s0 s1", "r"),
               node("LeakyRelu", "r", "y")], {"y": ["n", 17, 6, 7]}, s0=floats(17), s1=floats(17))
    traps.add("gn",
              [behind, node("GroupNormalization", "c s0 s1", "r", num_groups=17),
               node("Conv", "r u", "y")], {"y": ["n", 17, 6, 7]}, s0=floats(17), s1=floats(17))
    traps.add("amax", [behind, node("ArgMax", "c", "y", axis=1, keepdims=0)],
              [tensor("y", ["n", 6, 7], TensorProto.INT64)])
    traps.add("pad", [behind, node("Pad", "c p", "e", mode="reflect"), node("Conv", "e u", "y")],
              {"y": ["n", 17, 8, 9]}, p=numbers(0, 0, 1, 1, 0, 0, 1, 1))
    traps.add("out2", [behind, node("Relu", "c", "y"), node("Conv", "y d3", "z", pads=[1] * 4)],
              {"y": ["n", 17, 6, 7], "z": ["n", 4, 6, 7]}, d3=floats(4, 17, 3, 3))
    traps.compile({"n": "1..3"}, [{"n": 1}, {"n": 3}])
