"""Other names for all values, nodes and dims of a model: strange ones, which exporters write.

    names = renaming.rename(model, seed=1)     # changes the model; old -> new names of values

Names of values are keywords, macros, words that generated code uses itself, texts that would end a
comment or a string, other alphabets, none in the order of the old ones. Nodes have such names too,
or none.
"""
import random

import onnx

from merge_models import rename_attributes

PLAIN = """
auto break case char const continue default do double else enum extern float for goto if inline int
long register restrict return short signed sizeof static struct switch typedef union unsigned void
volatile while _Bool _Complex _Alignas class namespace template typename this new delete operator
private public virtual friend bool true false nullptr and or not xor constexpr decltype try catch
throw concept requires co_await import module final override NULL EOF errno stdin main assert
signal INT_MAX linux unix i386 near far isnan signbit y0 j1 gamma index time in out self arena
context worker workers run steps inputs outputs data dims rank status model batch tile task scratch
params config aotc aotc_status aotc_value int64_t size_t uint8_t a b x y i j n m _ __ _A __LINE__
node_tests node_tests_run x1 x_2 x__3 X
""".split()
ODD = (
    "a.b", "a.b.c:0", "layer/1/conv/weight:0", "/", "//", "///x", ".", "..", "*/", "/*", "\\", "\"",
    "'", "%d%s", "$name$", "$$", "{}", "{0}", "a b", " ", "#define", "??/", "9lives", "größe",
    "gro\u0308ße", "张量", "テンソル", "тензор", "🙂", "naïve café", "\u200b", "a=b", "a:b=3", "a,b",
    "a;b", "[0]", "<T>", "x>", "@x", "x!", "é", "É", "R\"(", ")\"", "weights" * 40, "::", "->",
    "StatefulPartitionedCall/functional_1/dense/BiasAdd;x/y1")
NUMBERS = ("0", "-1", "1e5", "0x1p3", "(x)")  # of a dim these are no names


def strange_names(count, seed, more=()):
    """So many names, no two the same, in an order that the seed gives."""
    words, names = [*PLAIN, *ODD, *more], []
    ends = ["", "/", ".1", ":0", "_", " ", "é", "::x", "__0"]
    for end in ends:
        names += [word + end for word in words]
    names = list(dict.fromkeys(names))
    while len(names) < count:
        names += [f"{name}.{len(names)}" for name in names[:count - len(names)]]
    chosen = names[:max(count, len(words))]
    random.Random(seed).shuffle(chosen)
    return chosen[:count]


def graphs_of(graph):
    """The graph and those in attributes of its nodes, to any depth."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            inner = [attribute.g] if attribute.type == onnx.AttributeProto.GRAPH else []
            for one in (*inner, *attribute.graphs):
                yield from graphs_of(one)


def values_of(graph):
    return (*graph.input, *graph.output, *graph.value_info)


def value_names(graphs):
    """In order of their first appearance."""
    found = {}
    for graph in graphs:
        found.update(dict.fromkeys(value.name for value in values_of(graph)))
        found.update(dict.fromkeys(tensor.name for tensor in graph.initializer))
        found.update(dict.fromkeys(tensor.values.name for tensor in graph.sparse_initializer))
        for node in graph.node:
            found.update(dict.fromkeys((*node.input, *node.output)))
    found.pop("", None)
    return list(found)


def dims_of(type_proto):
    """Dims of the tensors of a type, those of sequences and optionals included."""
    kind = type_proto.WhichOneof("value")
    if kind in ("tensor_type", "sparse_tensor_type"):
        yield from getattr(type_proto, kind).shape.dim
    elif kind in ("sequence_type", "optional_type"):
        yield from dims_of(getattr(type_proto, kind).elem_type)


def rename_graph(graph, names):
    for node in graph.node:
        for words in (node.input, node.output):
            words[:] = [names.get(word, "") for word in words]
        rename_attributes(node, lambda name: names.get(name, ""))
    for value in values_of(graph):
        value.name = names[value.name]
    for tensor in graph.initializer:
        tensor.name = names[tensor.name]
    for tensor in graph.sparse_initializer:
        tensor.values.name = names[tensor.values.name]
    for note in graph.quantization_annotation:
        note.tensor_name = names.get(note.tensor_name, note.tensor_name)


def rename_nodes(graphs, seed):
    """One of four loses its name."""
    nodes = [node for graph in graphs for node in graph.node]
    for number, (node, name) in enumerate(zip(nodes, strange_names(len(nodes), seed))):
        node.name = name if number % 4 else ""


def rename_dims(graphs, seed):
    dims = [dim for graph in graphs for value in values_of(graph) for dim in dims_of(value.type)
            if dim.HasField("dim_param") and dim.dim_param]
    olds = list(dict.fromkeys(dim.dim_param for dim in dims))
    names = dict(zip(olds, strange_names(len(olds), seed)))
    for dim in dims:
        dim.dim_param = names[dim.dim_param]


def rename(model, seed):
    """Old -> new name of each value of the model, which is changed."""
    graphs = list(graphs_of(model.graph))
    olds = value_names(graphs)
    names = dict(zip(olds, strange_names(len(olds), seed, NUMBERS)))
    for graph in graphs:
        rename_graph(graph, names)
    rename_nodes(graphs, seed + 1)
    rename_dims(graphs, seed + 2)
    model.graph.name = strange_names(1, seed + 3)[0]
    return names
