"""Rows about rewrites: graphs on which a careless pass goes wrong, against an oracle."""
import numpy as np
from onnx import TensorProto, helper

from cases import floats, node, tensor
from traps import Cases, number, numbers


def row28_traps_of_scales(folder):
    weights = {"w": floats(6, 4, 3, 3), "k": floats(6, 1, 1), "s": floats(6), "b": floats(6),
               "m": floats(6), "v": np.abs(floats(6)) + 1}
    traps = Cases(folder, {"x": [2, 4, 5, 5]}, weights)
    traps.add("leaky",
              [node("Conv", "x w", "c"), node("LeakyRelu", "c", "l"), node("Mul", "l k", "y")],
              {"y": [2, 6, 3, 3]})
    traps.add("two", [node("Conv", "x w", "c"), node("Mul", "c k", "y"), node("Relu", "c", "z")],
              {"y": [2, 6, 3, 3], "z": [2, 6, 3, 3]})
    traps.add("sub_first", [node("Conv", "x w", "c"), node("Sub", "k c", "y")],
              {"y": [2, 6, 3, 3]})
    traps.add("div_first", [node("Conv", "x w", "c"), node("Div", "k c", "y")],
              {"y": [2, 6, 3, 3]})
    traps.add("depth",
              [node("Conv", "x w", "c", group=4, pads=[1] * 4),
               node("BatchNormalization", "c s b m v", "y")], {"y": [2, 4, 5, 5]},
              w=floats(4, 1, 3, 3), s=floats(4), b=floats(4), m=floats(4),
              v=np.abs(floats(4)) + 1)
    traps.add("1d",
              [node("Conv", "x w", "c", pads=[1, 1]),
               node("BatchNormalization", "c s b m v", "y")], {"y": [2, 6, 5]}, {"x": [2, 4, 5]},
              w=floats(6, 4, 3))
    traps.add("3d",
              [node("Mul", "x p", "q"), node("Conv", "q w", "c", pads=[1] * 6),
               node("BatchNormalization", "c s b m v", "y")], {"y": [1, 6, 3, 4, 5]},
              {"x": [1, 2, 3, 4, 5]}, w=floats(6, 2, 3, 3, 3), p=floats(2, 1, 1, 1))
    traps.add("wrongaxis", [node("Conv", "x w", "c", pads=[1] * 4), node("Mul", "c r", "y")],
              {"y": [2, 6, 6, 6]}, {"x": [2, 4, 6, 6]}, r=floats(6))
    traps.add("square", [node("Conv", "x w", "c", pads=[1] * 4), node("Mul", "c r", "y")],
              {"y": [2, 6, 6, 6]}, {"x": [2, 4, 6, 6]}, r=floats(6, 1))
    traps.add("gemm_ta",
              [node("Gemm", "x w c", "g", transA=1, transB=1, alpha=0.5, beta=2.0),
               node("Mul", "g k", "y")], {"y": [3, 6]}, {"x": [4, 3]}, w=floats(6, 4),
              c=floats(3, 6), k=floats(6))
    traps.add("gemm_scal",
              [node("Gemm", "x w c", "g", transB=1, alpha=0.5, beta=2.0),
               node("Mul", "g k", "y")], {"y": [3, 6]}, {"x": [3, 4]}, w=floats(6, 4),
              c=number(3), k=floats(6))
    traps.add("gemm_col", [node("Gemm", "x w c", "g", beta=2.0), node("Add", "g k", "y")],
              {"y": [3, 6]}, {"x": [3, 4]}, w=floats(4, 6), c=floats(3, 1), k=floats(6))
    traps.add("asym",
              [node("Add", "x a", "q"),
               node("Conv", "q w", "y", auto_pad="SAME_UPPER", strides=[2, 2])],
              {"y": [2, 6, 3, 3]}, a=floats(4, 1, 1))
    traps.add("mm_vec", [node("MatMul", "x w", "g"), node("Mul", "g k", "y")], {"y": [6]},
              {"x": [4]}, w=floats(4, 6), k=floats(6))
    traps.add("mm_left", [node("MatMul", "w x", "g"), node("Mul", "g k", "y")], {"y": [6, 3]},
              {"x": [4, 3]}, w=floats(6, 4), k=floats(6, 1))
    traps.add("mm_b", [node("MatMul", "x w", "g"), node("Mul", "g k", "y")], {"y": [2, 3, 6]},
              {"x": [2, 3, 4]}, w=floats(2, 4, 6), k=floats(6))
    traps.interpret()


def row29_traps_of_reshapes_and_slices(folder):
    traps = Cases(folder, {"x": [2, 3, 4]})
    traps.add("rs_zero", [node("Reshape", "x a", "r"), node("Reshape", "r b", "y")],
              {"y": [6, 4]}, a=numbers(0, 12), b=numbers(6, -1))
    traps.add("rs_allow", [node("Reshape", "x a", "y", allowzero=1)], {"y": [3, 0]},
              {"x": [0, 3]}, a=numbers(3, 0))
    traps.add("tr_default", [node("Transpose", "x", "a"), node("Transpose", "a", "y")],
              {"y": [2, 3, 4]})
    traps.add("tr_default3",
              [node("Transpose", "x", "a"), node("Transpose", "a", "y", perm=[1, 0, 2])],
              {"y": [3, 4, 2]})
    traps.add("sl_neg", [node("Slice", "x s e a t", "y")], {"y": [5, 3]}, {"x": [5, 6]},
              s=numbers(-1), e=numbers(-2 ** 62), a=numbers(-1), t=numbers(-2))
    traps.add("sl_sl", [node("Slice", "x s e a t", "p"), node("Slice", "p s2 e2 a", "y")],
              {"y": [5, 2]}, {"x": [5, 9]}, s=numbers(8), e=numbers(-10), a=numbers(1),
              t=numbers(-2), s2=numbers(1), e2=numbers(3))
    traps.add("sl_concat", [node("Concat", "x z", "c", axis=-1), node("Slice", "c s e a t", "y")],
              {"y": [2, 4]}, {"x": [2, 3], "z": [2, 4]}, s=numbers(6), e=numbers(-8),
              a=numbers(-1), t=numbers(-2))
    traps.add("cc_empty", [node("Concat", "x e z", "y", axis=1)], {"y": [2, 7]},
              {"x": [2, 3], "z": [2, 4], "e": [2, 0]})
    traps.add("split_un",
              [node("Split", "x", "a b c", axis=1, num_outputs=3),
               node("Concat", "a b c", "y", axis=1)], {"y": [2, 8]}, {"x": [2, 8]})
    traps.add("clip_nan",
              [node("Div", "x x", "n"), node("Clip", "n lo hi", "c"), node("Relu", "c", "y")],
              {"y": [3]}, {"x": [3]}, lo=number(-1), hi=number(6))
    traps.add("clip_max_only",
              [node("Relu", "x", "r"), helper.make_node("Clip", ["r", "", "hi"], ["y"])],
              {"y": [3]}, {"x": [3]}, hi=number(0.5))
    traps.add("where_bc", [node("Where", "c x z", "y")], {"y": [2, 3]}, {"x": [3], "z": [2, 3]},
              c=np.array([[True], [False]]))
    traps.add("where_true", [node("Where", "c x z", "y")], {"y": [2, 3]}, {"x": [3], "z": [2, 3]},
              c=np.bool_(True))
    traps.add("mul1_bc", [node("Mul", "x o", "y")], {"y": [2, 3]}, {"x": [1, 3]},
              o=np.ones((2, 1), np.float32))
    traps.add("expand_after", [node("Expand", "x s", "e"), node("ReduceSum", "e a", "y")],
              {"y": [3, 1]}, {"x": [3, 1]}, s=numbers(3, 5), a=numbers(1))
    traps.add("sq_neg", [node("Unsqueeze", "x a", "u"), node("Squeeze", "u b", "y")],
              {"y": [3, 1]}, {"x": [3, 1]}, a=numbers(-1), b=numbers(-2))
    traps.add("softmax_neg", [node("Softmax", "x", "y", axis=-2)], {"y": [2, 3, 4]})
    traps.add("red_none", [node("ReduceSum", "x a", "y", noop_with_empty_axes=1)], {"y": [2, 3]},
              {"x": [2, 3]}, a=numbers())
    traps.add("red_all", [node("ReduceSum", "x", "y", keepdims=0)], {"y": []}, {"x": [2, 3]})
    traps.add("st_red",
              [node("Transpose", "x", "a", perm=[0, 2, 3, 1]),
               node("ReduceMean", "a b", "y", keepdims=0)], {"y": [2, 3]}, {"x": [2, 3, 4, 5]},
              b=numbers(-3, -2))
    traps.add("st_softmax",
              [node("Transpose", "x", "a", perm=[0, 2, 1]), node("Softmax", "a", "s", axis=1),
               node("Transpose", "s", "y", perm=[0, 2, 1])], {"y": [2, 3, 4]})
    traps.add("st_split",
              [node("Transpose", "x", "a", perm=[0, 2, 1]),
               node("Split", "a", "p q", axis=-1, num_outputs=2), node("Add", "p q", "s"),
               node("Transpose", "s", "y", perm=[0, 2, 1])], {"y": [2, 2, 6]}, {"x": [2, 4, 6]})
    traps.add("st_bc",
              [node("Transpose", "x", "a", perm=[0, 2, 1]), node("Add", "a v", "s"),
               node("Transpose", "s", "y", perm=[0, 2, 1])], {"y": [2, 3, 4]}, v=floats(3))
    traps.add("st_argmax",
              [node("Transpose", "x", "a", perm=[1, 0]),
               node("ArgMax", "a", "y", axis=0, keepdims=0)],
              [tensor("y", [3], TensorProto.INT64)], {"x": [3, 4]})
    traps.interpret()


def row29_traps_of_pads(folder):
    traps = Cases(folder, {"x": [1, 2, 5, 5]}, {"w": floats(6, 4, 3, 3)})
    traps.add("axes",
              [helper.make_node("Pad", ["x", "p", "", "a"], ["q"]), node("Conv", "q w", "y")],
              {"y": [2, 6, 5, 3]}, {"x": [2, 4, 5, 5]}, p=numbers(1, 1), a=numbers(2))
    traps.add("maxpool",
              [node("Pad", "x p", "q"), node("MaxPool", "q", "y", kernel_shape=[3, 3])],
              {"y": [1, 2, 5, 5]}, p=numbers(0, 0, 1, 1, 0, 0, 1, 1))
    traps.add("avg",
              [node("Pad", "x p", "q"),
               node("AveragePool", "q", "y", kernel_shape=[3, 3], count_include_pad=1)],
              {"y": [1, 2, 5, 5]}, p=numbers(0, 0, 1, 1, 0, 0, 1, 1))
    traps.add("avg0",
              [node("Pad", "x p", "q"), node("AveragePool", "q", "y", kernel_shape=[3, 3])],
              {"y": [1, 2, 5, 5]}, p=numbers(0, 0, 1, 1, 0, 0, 1, 1))
    traps.add("neg", [node("Pad", "x p", "q"), node("Conv", "q w", "y", pads=[1] * 4)],
              {"y": [2, 6, 4, 5]}, {"x": [2, 4, 5, 5]}, p=numbers(0, 0, -1, 0, 0, 0, 0, 0))
    traps.add("then_auto",
              [node("Pad", "x p", "q"),
               node("Conv", "q w", "y", auto_pad="SAME_LOWER", strides=[2, 2])],
              {"y": [2, 6, 4, 4]}, {"x": [2, 4, 5, 5]}, p=numbers(0, 0, 1, 1, 0, 0, 1, 1))
    traps.interpret()


def row25_traps_of_siblings_and_patterns(folder):
    weights = {"w1": floats(8, 16), "w2": floats(8, 16), "w3": floats(8, 32), "b1": floats(16),
               "b3": floats(32), "col": floats(4, 1)}
    traps = Cases(folder, {"x": [3, 4, 5]}, weights)
    traps.add("bias",
              [node("MatMul", "x w1", "a"), node("MatMul", "x w2", "b"),
               node("MatMul", "x w3", "c"), node("Add", "a b1", "p"), node("Add", "c b3", "q"),
               node("Relu", "p", "y"), node("Relu", "b", "z"), node("Relu", "q", "v")],
              {"y": [4, 16], "z": [4, 16], "v": [4, 32]}, {"x": [4, 8]})
    traps.add("col",
              [node("MatMul", "x w1", "a"), node("MatMul", "x w2", "b"),
               node("Add", "a col", "y"), node("Add", "b col", "z")],
              {"y": [4, 16], "z": [4, 16]}, {"x": [4, 8]})
    traps.add("gate",
              [node("MatMul", "x w1", "a"), node("MatMul", "x w2", "b"),
               node("Sigmoid", "a", "s"), node("Mul", "a s", "g"), node("Mul", "g b", "y")],
              {"y": [1, 16]}, {"x": [1, 8]})
    traps.add("self",
              [node("MatMul", "x w1", "a"), node("MatMul", "x w1", "b"), node("Mul", "a b", "y")],
              {"y": [4, 16]}, {"x": [4, 8]})
    traps.add("conv",
              [node("Conv", "x a a1", "p"), node("Conv", "x b", "q"), node("Relu", "p", "y"),
               node("Relu", "q", "z")], {"y": [1, 16, 4, 4], "z": [1, 32, 4, 4]},
              {"x": [1, 5, 4, 4]}, a=floats(16, 5, 1, 1), b=floats(32, 5, 1, 1), a1=floats(16))
    traps.add("gelu_bc",
              [node("Div", "x r", "a"), node("Erf", "a", "e"), node("Add", "e one", "p"),
               node("Mul", "x p", "q"), node("Mul", "q h", "y")], {"y": [3, 4]}, {"x": [3, 4]},
              r=number(2 ** 0.5), one=number(1), h=number(0.5))
    traps.add("ln_axes",
              [node("ReduceMean", "x ax", "mm"), node("Sub", "x mm", "d"),
               node("Mul", "d d", "s"), node("ReduceMean", "s ax2", "v"),
               node("Add", "v e", "ve"), node("Sqrt", "ve", "sd"), node("Div", "d sd", "y")],
              {"y": [3, 4, 5]}, ax=numbers(1, 2), ax2=numbers(-1), e=number(0.001))
    traps.add("ln_mid",
              [node("ReduceMean", "x ax", "mm"), node("Sub", "x mm", "d"),
               node("Mul", "d d", "s"), node("ReduceMean", "s ax", "v"), node("Add", "v e", "ve"),
               node("Sqrt", "ve", "sd"), node("Div", "d sd", "n"), node("Mul", "n sc", "y")],
              {"y": [3, 4, 5]}, ax=numbers(1), e=number(0.001), sc=floats(4, 1))
    traps.add("ln_scalebc",
              [node("ReduceMean", "x ax", "mm"), node("Sub", "x mm", "d"),
               node("Mul", "d d", "s"), node("ReduceMean", "s ax", "v"), node("Add", "v e", "ve"),
               node("Sqrt", "ve", "sd"), node("Div", "d sd", "n"), node("Mul", "n sc", "y")],
              {"y": [3, 4, 5]}, ax=numbers(2), e=number(0.001), sc=floats(4, 5))
    traps.add("sm",
              [node("ReduceMax", "x ax", "mm", keepdims=0), node("Unsqueeze", "mm ax", "m2"),
               node("Sub", "x m2", "d"), node("Exp", "d", "e"), node("ReduceSum", "e ax", "s"),
               node("Div", "e s", "y")], {"y": [3, 4, 5]}, ax=numbers(1))
    traps.add("dil1",
              [node("SpaceToDepth", "x", "a", blocksize=2), node("Conv", "a w", "c"),
               node("DepthToSpace", "c", "y", blocksize=2)], {"y": [1, 2, 6, 6]},
              {"x": [1, 2, 6, 6]}, w=floats(8, 8, 1, 1))
    traps.interpret()
