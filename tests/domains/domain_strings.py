"""Families of operators on strings, of ONNX and of ai.onnx.ml."""
import numpy as np
import onnx

from operator_case import Node

OPSET = 20
ALPHABET = "aAbBzZ09 .-_\nàÉßıſKжЖ中😀ⱥȺ"
WORDS = ("", "a", "b", "ab", "Monday", "monday", "MONDAY", "été", "ÉTÉ", "中文", "x" * 30)
PATTERNS = (r"\w+", r"[a-b]*z?", r".*", r"a|b|ab", r"(?i)monday", r"[^a]+\d*", r"\bab?\b.*",
            r"(a|b)*(z|Z)", r"(?s).+é.+", r"x{5,30}", r"[[:alpha:]]{2,}", r"^$|^a.*", r"")


def text(draw, alphabet=ALPHABET, most=12):
    return "".join(draw.pick(alphabet) for _ in range(draw.dim(0, most)))


def words(draw, shape, make=None):
    """Strings of which some are equal."""
    make = make or (lambda: draw.pick(WORDS) if draw.chance(0.6) else text(draw))
    array = np.empty(int(np.prod(shape)), object)
    array[:] = [make() for _ in range(array.size)]
    return array.reshape(shape)


def strings(op, operands, attributes=None, **more):
    return Node(op, operands, attributes or {}, opset=OPSET, **more)


def broadcast_pair(draw):
    """Shapes that broadcast to one another."""
    shape = draw.shape(0, 3, 1, 4)
    other = [1 if draw.chance(0.3) else dim for dim in shape][draw.dim(0, 1):]
    return (shape, other) if draw.chance(0.5) else (other, shape)


def string_equal(draw):
    return strings("Equal", [words(draw, shape) for shape in broadcast_pair(draw)])


def string_concat(draw):
    pair = broadcast_pair(draw)
    if draw.chance(0.1):
        pair = ([2, 0, 3], [1, 3])
    return strings("StringConcat", [words(draw, shape) for shape in pair])


def regex_full_match(draw):
    return strings("RegexFullMatch", [words(draw, draw.shape(0, 3))],
                   {"pattern": draw.pick(PATTERNS)})


def string_split(draw):
    """Only spaces are whitespace to onnxruntime, and a string without bytes has no piece."""
    delimiter = draw.pick(["", " ", "-", "--", "aba", "é"])
    alphabet = delimiter + "ab " if delimiter else "ab  "
    x = words(draw, draw.shape(1, 2), lambda: text(draw, alphabet, 14) or "a")
    attributes = {"delimiter": delimiter} if delimiter or draw.chance(0.5) else {}
    if draw.chance(0.5):
        attributes["maxsplit"] = draw.dim(0, 4)
    return strings("StringSplit", [x], attributes, outputs=2)


def string_normalizer(draw):
    x = words(draw, [draw.dim(1, 6)])
    attributes = {"case_change_action": draw.pick(["NONE", "LOWER", "UPPER"]),
                  "is_case_sensitive": draw.dim(0, 1), "locale": "C.UTF-8"}
    if draw.chance(0.7):
        attributes["stopwords"] = [w for w in draw.subset(WORDS, 1) if w] or ["a"]
    return strings("StringNormalizer", [x[None] if draw.chance(0.3) else x], attributes)


def tf_idf_vectorizer(draw):
    longest, tokens = draw.dim(1, 3), draw.pick([WORDS[1:5], (3, 5, 6, 7)])
    pool, counts, seen = [], [], 0
    for length in range(1, longest + 1):
        counts.append(len(pool))
        grams = {tuple(draw.pick(tokens) for _ in range(length)) for _ in range(draw.dim(0, 4))}
        pool += [token for gram in sorted(grams) for token in gram]
        seen += len(grams)
    if not seen:
        return tf_idf_vectorizer(draw)
    shape = [draw.dim(1, 9)] if draw.chance(0.5) else [draw.dim(1, 3), draw.dim(1, 9)]
    named = isinstance(tokens[0], str)
    x = words(draw, shape, lambda: draw.pick(tokens + ("other",))) if named else \
        np.array(draw.rng.choice(tokens + (9,), shape), draw.pick(["i4", "i8"]))
    attributes = {"ngram_counts": counts, "ngram_indexes": draw.rng.permutation(seen).tolist(),
                  "min_gram_length": draw.dim(1, longest), "max_gram_length": longest,
                  "max_skip_count": draw.dim(0, 3), "mode": draw.pick(["TF", "IDF", "TFIDF"]),
                  "pool_strings" if named else "pool_int64s": pool}
    if draw.chance(0.5):
        attributes["weights"] = draw.floats([seen]).tolist()
    return strings("TfIdfVectorizer", [x], attributes)


def ml_node(op, operands, attributes, version):
    return strings(op, operands, attributes, domain="ai.onnx.ml", version=version)


def string_label_encoder(draw):
    keys = draw.subset(WORDS, 1)
    kind = draw.pick(["int64s", "floats", "strings"])
    values = {"int64s": draw.ints(-9, 9, [len(keys)]).tolist(),
              "floats": draw.floats([len(keys)]).tolist(),
              "strings": [draw.pick(WORDS) for _ in keys]}[kind]
    attributes = {"keys_strings": keys, f"values_{kind}": values}
    if draw.chance(0.5):
        default = {"int64s": ("default_int64", 7), "floats": ("default_float", 0.5),
                   "strings": ("default_string", "none")}[kind]
        attributes[default[0]] = default[1]
    return ml_node("LabelEncoder", [words(draw, draw.shape())], attributes, 2)


def number_label_encoder(draw):
    keys = draw.rng.permutation(12)[:draw.dim(1, 8)].tolist()
    return ml_node("LabelEncoder", [draw.ints(0, 11, draw.shape())],
                   {"keys_int64s": keys, "values_strings": [draw.pick(WORDS) for _ in keys]}, 2)


def category_mapper(draw):
    names = draw.subset(WORDS, 1)
    numbers = draw.rng.permutation(12)[:len(names)].tolist()
    to_strings = draw.chance(0.5)
    x = draw.ints(0, 11, draw.shape()) if to_strings else words(draw, draw.shape())
    default = {"default_string": "none"} if to_strings else {"default_int64": -3}
    return ml_node("CategoryMapper", [x],
                   {"cats_strings": names, "cats_int64s": numbers, **default}, 1)


def string_one_hot(draw):
    return ml_node("OneHotEncoder", [words(draw, draw.shape(1, 2))],
                   {"cats_strings": draw.subset(WORDS, 1), "zeros": 1}, 1)


def integers_and_strings(draw):
    """Cast, either way. Of texts at most 19 digits are taken."""
    dtype = draw.pick(["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"])
    info, shape = np.iinfo(dtype), draw.shape(0, 3)
    most = min(info.max, 10 ** 19 - 1)

    def number():
        near = draw.pick([0, info.min, most]) + draw.dim(-99, 99)
        return int(np.clip(draw.pick([near, draw.dim(-9, 9) * 10 ** draw.dim(0, 18)]),
                           info.min, most))

    x = np.array([number() for _ in range(int(np.prod(shape)))], dtype).reshape(shape)
    if draw.chance(0.5):
        return strings("Cast", [x], {"to": onnx.TensorProto.STRING})
    texts = np.empty(x.shape, object)
    texts.flat = [draw.pick(["", "+", "00"] if 0 <= n < 10 ** 17 else [""]) + str(n)
                  for n in x.flat]
    return strings("Cast", [texts], {"to": onnx.helper.np_dtype_to_tensor_dtype(x.dtype)})


FAMILIES = (integers_and_strings, integers_and_strings, string_equal, string_concat,
            regex_full_match, string_split, string_normalizer,
            tf_idf_vectorizer, string_label_encoder, number_label_encoder, category_mapper,
            string_one_hot)
