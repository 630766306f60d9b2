"""Rows about fusion that take a run: the number of kernels, and the numbers they compute."""
import numpy as np

import cases
from cases import expect, node

TARGETS = ("cpu", "cuda")


def moments(x, axes):
    """Nodes for mean and E[x^2] - mean^2, as older exporters write the variance."""
    return [node("ReduceMean", x, "mean", axes=axes), node("Mul", f"{x} {x}", "square"),
            node("ReduceMean", "square", "above", axes=axes),
            node("Mul", "mean mean", "below"), node("Sub", "above below", "variance"),
            node("Add", "variance epsilon", "raised"), node("Sqrt", "raised", "deviation"),
            node("Sub", f"{x} mean", "centered"), node("Div", "centered deviation", "n")]


def expect_kernels(path, most, folder):
    """So many at most on each target, and the numbers of onnxruntime."""
    for target in TARGETS:
        cases.numbers_agree(path, target, folder)
        kernels = [kernel["name"] for kernel in
                   cases.metadata(folder / target / "out")["kernels"]]
        expect(len(kernels) <= most, f"{target}: {len(kernels)} kernels: {kernels}")


def row21_normalisation_by_moments_is_one_kernel(folder):
    """Layer normalisation with E[x^2] - mean^2 and its affine part; over two axes the mean and the
    deviation are a kernel of their own.
    """
    for axes, dims, most in ([-1], [96, 40], 1), ([2], [8, 20, 33], 1), ([1, 2], [3, 8, 24], 2):
        name = f"moments_{dims[0]}"
        nodes = [*moments("x", axes), node("Mul", "n scale", "m"), node("Add", "m bias", "y")]
        weights = {"epsilon": np.float32(1e-3), "scale": cases.floats(dims[-1]),
                   "bias": cases.floats(dims[-1])}
        path = cases.save(folder, name, nodes, {"x": dims}, {"y": dims}, weights)
        expect_kernels(path, most, folder / name)


def row21_normalisations_of_images(folder):
    """Instance and group normalisation with a following activation."""
    scale = {"s": cases.floats(8), "b": cases.floats(8)}
    for op, attributes in (("InstanceNormalization", {}), ("GroupNormalization",
                                                           {"num_groups": 4})):
        nodes = [node(op, "x s b", "n", **attributes), node("Relu", "n", "y")]
        path = cases.save(folder, op.lower(), nodes, {"x": [2, 8, 6, 5]}, {"y": [2, 8, 6, 5]},
                          scale, opset=21)
        expect_kernels(path, 1, folder / op)


def row28_transposed_convolution_with_its_normalisation(folder):
    """Folded into weights of every group, with pixels added at the end and a scale before."""
    weights = {"w": cases.floats(6, 2, 3, 3), "k": cases.floats(1, 6, 1, 1), "s": cases.floats(4),
               "b": cases.floats(4), "m": cases.floats(4), "v": np.abs(cases.floats(4)) + 1}
    nodes = [node("Mul", "x k", "scaled"),
             node("ConvTranspose", "scaled w", "c", group=2, strides=[2, 2], pads=[1, 1, 1, 1],
                  output_padding=[1, 1]),
             node("BatchNormalization", "c s b m v", "n"), node("Relu", "n", "y")]
    path = cases.save(folder, "up", nodes, {"x": [1, 6, 5, 5]}, {"y": [1, 4, 10, 10]}, weights)
    for target in TARGETS:
        cases.numbers_agree(path, target, folder)
    graph = cases.dump(path, "fold-scale")
    expect("= BatchNormalization(" not in graph and "= Mul(" not in graph, graph)
