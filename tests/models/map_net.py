"""The models of check_maps.py: maps, and sequences of maps, with the operators of ai.onnx.ml.

    probe = Probe("words", seed)  # net, flags, how to draw inputs, what is expected and refused
"""
import numpy as np
import onnx
from onnx import TensorProto, helper

from small_net import Net

PROBES = {}  # name -> function(probe, rng)
FLOAT, DOUBLE, INT64, STRING = (TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.INT64,
                                TensorProto.STRING)
POINTER, KIND, DTYPE, RANK, DIM, CAPACITY, VALUE = range(1, 8)  # AOTC_ERROR_...
WORDS = ["", "a", "ab", "b", "Zürich", "a longer word than most", "word", "0", "été", "b "]
ROOM = 9  # entries of a map that is an input
ML = "ai.onnx.ml"


def map_type(key, value):
    return helper.make_map_type_proto(key, helper.make_tensor_type_proto(value, None))


class Probe(Net):
    def __init__(self, name, seed=0):
        super().__init__()
        self.name, self.flags, self.draws = name, [], {}
        self.refused = []  # (what, function of a Run or its arrays, status, text that it says)
        self.expected = None  # function of the inputs, for what onnxruntime's Python cannot take
        PROBES[name](self, np.random.default_rng(seed))

    def ml(self, kind, *inputs, outputs=1, **attributes):
        return self.op(kind, *inputs, outputs=outputs, domain=ML, **attributes)

    def rows(self, columns, batch="n"):
        """f32 [n, columns], up to 7 rows, or as many as `batch` says; one vector where it is 0."""
        shape = [columns] if batch == 0 else [batch, columns]
        if batch == "n":
            self.flags.append("--dim=n=0..7")
        self.input("x", shape)
        self.draws["x"] = lambda rng: rng.random(
            [rng.integers(0, 8) if dim == "n" else dim for dim in shape]).astype(np.float32)
        return "x"

    def map(self, key, value, keys, values):
        """A map as an input: of keys(rng), as many values(rng, count)."""
        self.inputs.append(helper.make_value_info("m", map_type(key, value)))
        self.flags.append(f"--max-items=m={ROOM}")

        def draw(rng):
            drawn = list(dict.fromkeys(keys(rng)))[:ROOM]
            return dict(zip(drawn, values(rng, len(drawn))))
        self.draws["m"] = draw
        return "m"

    def gives_maps(self, name, key):
        self.outputs.append(helper.make_value_info(
            name, helper.make_sequence_type_proto(map_type(key, FLOAT))))

    def refuse(self, what, code, change, says=""):
        """`change` is of a Run, whose values it changes."""
        self.refused.append((what, code, change, says))

    def draw(self, rng):
        return {name: draw(rng) for name, draw in self.draws.items()}

    def save(self, path):
        graph = helper.make_graph(self.nodes, "net", self.inputs, self.outputs, self.weights)
        opsets = [helper.make_opsetid("", self.opset), helper.make_opsetid(ML, 1)]
        onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
        return path


def probe(function):
    PROBES[function.__name__] = function
    return function


def labels_of(rng, count, key):
    if key == STRING:
        return {"classlabels_strings": [WORDS[k] for k in rng.permutation(len(WORDS))[:count]]}
    return {"classlabels_int64s": [int(k) for k in rng.choice(1 << 40, count, replace=False)]}


# --- What is refused --------------------------------------------------------------------------


def refuse_lent_maps(net, output):
    """Outputs, a sequence of maps, without room for what there is."""
    def lent(run):
        return run.lent[output]

    def fewer_bytes(run, column):
        lent(run).items[0].items[column].tensor.capacity_bytes = 3

    net.refuse("no room for the maps", CAPACITY, lambda run: setattr(lent(run), "item_capacity", 0))
    net.refuse("no room for keys and values", CAPACITY,
               lambda run: setattr(lent(run).items[0], "item_capacity", 1))
    for column in (0, 1):
        net.refuse(f"no room in column {column}", CAPACITY,
                   lambda run, column=column: fewer_bytes(run, column))
    net.refuse("no maps at all", POINTER, lambda run: setattr(lent(run), "items", None))


def refuse_given_map(net):
    """An input m, a map of at least two entries, that is none."""
    def given(run):
        return run.given[0]

    def tensor(run, column):
        return given(run).items[column].tensor

    def keys_twice(run):
        width = 16 if tensor(run, 0).dtype == STRING else 8
        held = run.memory["input m[0]"].bytes
        held[width:2 * width] = held[:width]

    net.refuse("a sequence", KIND, lambda run: setattr(given(run), "kind", 1))
    net.refuse("values that are a sequence", KIND,
               lambda run: setattr(given(run).items[1], "kind", 1))
    net.refuse("keys alone", DIM, lambda run: setattr(given(run), "item_count", 1))
    net.refuse("no keys", POINTER, lambda run: setattr(given(run), "items", None))
    net.refuse("values of another type", DTYPE, lambda run: setattr(tensor(run, 1), "dtype", 6))
    net.refuse("keys of another type", DTYPE, lambda run: setattr(tensor(run, 0), "dtype", 6))
    net.refuse("keys of rank 2", RANK, lambda run: setattr(tensor(run, 0), "rank", 2))
    net.refuse("fewer values than keys", DIM, lambda run: tensor(run, 1).dims.__setitem__(
        0, tensor(run, 1).dims[0] - 1))
    net.refuse("keys that are nowhere", POINTER, lambda run: setattr(tensor(run, 0), "data", None))
    net.refuse("a key twice", VALUE, keys_twice, "'m' has a key twice")

    def more_entries(run):
        for column in (0, 1):
            tensor(run, column).dims[0] = ROOM + 1
    net.refuse("more entries than there is room for", DIM, more_entries,
               f"'m' has more than {ROOM} entries; hint: --max-items m=N")


# --- ZipMap -----------------------------------------------------------------------------------


def zip_map(net, rng, key, batch):
    count = int(rng.integers(1, 6))
    net.gives_maps(net.ml("ZipMap", net.rows(count, batch), **labels_of(rng, count, key)), key)
    return count


@probe
def labels_int(net, rng):
    zip_map(net, rng, INT64, "n")


@probe
def labels_text(net, rng):
    zip_map(net, rng, STRING, "n")


@probe
def one_row(net, rng):
    """A vector is one row."""
    zip_map(net, rng, STRING, 0)
    refuse_lent_maps(net, 0)


@probe
def five_rows(net, rng):
    """Two sequences of maps beside a tensor."""
    count = zip_map(net, rng, INT64, 5)
    net.output(net.op("Neg", "x"), [5, count])
    net.gives_maps(net.ml("ZipMap", net.outputs[-1].name, **labels_of(rng, count, STRING)), STRING)
    refuse_lent_maps(net, 0)
    refuse_lent_maps(net, 2)


@probe
def linear(net, rng):
    """As exporters write it: scores are normalised before they become maps."""
    x, labels = net.rows(4), [3, -1, 8]
    label, scores = net.ml("LinearClassifier", x, outputs=2, classlabels_ints=labels,
                           coefficients=rng.standard_normal(12).tolist(),
                           intercepts=rng.standard_normal(3).tolist(), post_transform="LOGISTIC")
    net.output(label, ["n"], INT64)
    norm = net.ml("Normalizer", scores, norm="L1")
    net.gives_maps(net.ml("ZipMap", norm, classlabels_int64s=labels), INT64)


@probe
def forest(net, rng):
    """Two trees of one test each."""
    x, labels = net.rows(2), [4, 2, 9]
    label, scores = net.ml(
        "TreeEnsembleClassifier", x, outputs=2, classlabels_int64s=labels, post_transform="NONE",
        nodes_treeids=[0] * 3 + [1] * 3, nodes_nodeids=[0, 1, 2] * 2,
        nodes_featureids=[0, 0, 0, 1, 0, 0], nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"] * 2,
        nodes_values=[0.5, 0.0, 0.0, 0.25, 0.0, 0.0],
        nodes_truenodeids=[1, 0, 0] * 2, nodes_falsenodeids=[2, 0, 0] * 2,
        nodes_hitrates=[1.0] * 6, nodes_missing_value_tracks_true=[0] * 6,
        class_treeids=[0] * 6 + [1] * 6, class_nodeids=[1, 1, 1, 2, 2, 2] * 2,
        class_ids=[0, 1, 2] * 4, class_weights=rng.dirichlet([1] * 3, 4).ravel().tolist())
    net.output(label, ["n"], INT64)
    net.gives_maps(net.ml("ZipMap", scores, classlabels_strings=["cat", "dog", "emu"]), STRING)


# --- DictVectorizer ---------------------------------------------------------------------------


def some_words(rng):
    return [WORDS[k] for k in rng.permutation(len(WORDS))[:rng.integers(2, ROOM + 1)]]


def some_numbers(rng):
    return [int(k) for k in rng.integers(-4, 12, rng.integers(2, ROOM + 1))] + [100, 101]


def floats(rng, count):
    return rng.standard_normal(count).astype(np.float32).tolist()


def large(rng, count):
    return (40 * rng.standard_normal(count)).tolist()


def integers(rng, count):
    return rng.integers(-1 << 60, 1 << 60, count).tolist()


def vectorize(net, vocabulary, value, missing):
    """Gives what the map has for each word; expected is what the standard says."""
    text = isinstance(vocabulary[0], str)
    attribute = "string_vocabulary" if text else "int64_vocabulary"
    net.output(net.ml("DictVectorizer", "m", **{attribute: vocabulary}),
               [1, len(vocabulary)], value)
    kind = helper.tensor_dtype_to_np_dtype(value)
    net.expected = lambda arrays: [np.array([[arrays["m"].get(word, missing)
                                              for word in vocabulary]], kind)]


@probe
def words(net, rng):
    """A word that is asked for twice, and what is made of the row."""
    net.map(STRING, FLOAT, some_words, floats)
    vocabulary = some_words(rng) + ["nowhere", "a", "a"]
    row = net.ml("DictVectorizer", "m", string_vocabulary=vocabulary)
    net.output(row, [1, len(vocabulary)])
    net.output(net.op("MatMul", row, net.random(len(vocabulary), 3)), [1, 3])
    refuse_given_map(net)
    net.flags.append("--max-string-bytes=80")
    net.refuse("too many bytes", CAPACITY, lambda run: setattr(
        run.given[0].items[0].tensor, "data", long_text(run)), "'m' have more than 80 bytes")


def long_text(run):
    """Addresses of a table of strings with 81 bytes each."""
    tensor = run.given[0].items[0].tensor
    held = run.hold("long", 128 + 16 * tensor.dims[0], ord("x"))
    table = held.bytes[128:].view(np.uint64).reshape(-1, 2)
    table[:] = held.address, 81
    return held.address + 128


@probe
def numbers(net, rng):
    net.map(INT64, FLOAT, some_numbers, floats)
    vocabulary = some_numbers(rng)
    net.output(net.ml("DictVectorizer", "m", int64_vocabulary=vocabulary), [1, len(vocabulary)])
    refuse_given_map(net)


@probe
def doubles(net, rng):
    net.map(INT64, DOUBLE, some_numbers, lambda rng, count: rng.standard_normal(count).tolist())
    vectorize(net, some_numbers(rng), DOUBLE, 0)


@probe
def counts(net, rng):
    """Maybe an empty map."""
    net.map(STRING, INT64, lambda rng: some_words(rng)[2:], integers)
    vectorize(net, some_words(rng), INT64, 0)


@probe
def texts(net, rng):
    net.map(INT64, STRING, some_numbers, lambda rng, count: rng.choice(WORDS, count).tolist())
    vectorize(net, some_numbers(rng), STRING, "")
    refuse_given_map(net)


@probe
def handed_on(net, rng):
    """A map that is an output as it is."""
    net.map(STRING, DOUBLE, some_words, lambda rng, count: rng.standard_normal(count).tolist())
    net.output(net.ml("DictVectorizer", "m", string_vocabulary=["a"]), [1, 1], DOUBLE)
    net.outputs.append(helper.make_value_info("m", map_type(STRING, DOUBLE)))
    net.expected = lambda arrays: [np.array([[arrays["m"].get("a", 0)]]), arrays["m"]]


# --- CastMap ----------------------------------------------------------------------------------


def cast(net, to, **form):
    kind = {"TO_FLOAT": FLOAT, "TO_INT64": INT64, "TO_STRING": STRING}[to]
    net.output(net.ml("CastMap", "m", cast_to=to, **form), [1, None], kind)


@probe
def dense(net, rng):
    """By ascending keys, whatever their order in the map."""
    net.map(INT64, FLOAT, some_numbers, large)
    cast(net, "TO_FLOAT")
    cast(net, "TO_INT64", map_form="DENSE")
    refuse_given_map(net)


@probe
def sparse(net, rng):
    """Keys beyond the row are left out; negative ones are refused."""
    net.map(INT64, FLOAT, lambda rng: [abs(key) for key in some_numbers(rng)], large)
    cast(net, "TO_FLOAT", map_form="SPARSE", max_map=int(rng.integers(1, 12)))
    cast(net, "TO_INT64", map_form="SPARSE", max_map=9)

    def negative(run):
        run.memory["input m[0]"].bytes[:8] = np.frombuffer(np.int64(-1).tobytes(), np.uint8)
    net.refuse("a negative key", VALUE, negative)


@probe
def texts_by_key(net, rng):
    """Where there is none, "0.f" as by onnxruntime, whose Python takes no such map."""
    net.map(INT64, STRING, lambda rng: [abs(key) for key in some_numbers(rng)],
            lambda rng, count: rng.choice(WORDS, count).tolist())
    cast(net, "TO_STRING")
    cast(net, "TO_STRING", map_form="SPARSE", max_map=8)
    net.expected = lambda arrays: [
        np.array([[arrays["m"][key] for key in sorted(arrays["m"])]], object).reshape(1, -1),
        np.array([[arrays["m"].get(key, "0.f") for key in range(8)]], object)]
