"""What the readers beside the sentence model have in common: what its lower layers make of texts, its upper layers, from which training
goes on, and their release. `update` and `skills` import it."""

import math
import os
import sys
import tempfile

import numpy as np

MODEL = os.path.dirname(os.path.abspath(__file__))
LAST, SIZE, HEADS = 12, 384, 12


class Lower:
    """The layers of the sentence model below `first`, in 8 bits, as the server runs them."""

    def __init__(self, first):
        import onnx
        import onnxruntime
        from tokenizers import Tokenizer

        self.states = f"l{first - 1}.oln"
        model = onnx.load(os.path.join(MODEL, "model.onnx"))
        model.graph.output.append(onnx.helper.make_tensor_value_info(self.states, onnx.TensorProto.FLOAT, ["texts", "tokens", SIZE]))
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.model, self.session = model, onnxruntime.InferenceSession(model.SerializeToString(), options)
        self.tokenizer = Tokenizer.from_file(os.path.join(MODEL, "tokenizer.json"))

    def tokens(self, text, most, use="passage"):
        """Numbers of the first tokens of a text, and its end."""
        ids = self.tokenizer.encode(f"{use}: {text}").ids
        return ids if len(ids) <= most else [*ids[: most - 1], ids[-1]]

    def of(self, tokens):
        """What the layers make of tokens, a row for each."""
        ids = np.array([tokens], np.int64)
        (states,) = self.session.run([self.states], {"input_ids": ids, "attention_mask": np.ones_like(ids)})
        return states[0].astype(np.float16)

    def together(self, first, second):
        """What they make of the tokens of two texts as one, and the number of the first ones."""
        return self.of([*first, first[-1], *second[1:]]), len(first)


def exact_layers(model, first):
    """The upper layers of the sentence model, from 8 bits."""
    from onnx import numpy_helper

    values = {each.name: each for each in model.graph.initializer}
    array = lambda name: numpy_helper.to_array(values[name]).astype(np.float32)
    made = {}
    for at in range(first, LAST):
        name = f"upper.{at - first}"
        for part in ("qkv", "ao", "fi", "fo"):
            of = f"l{at}.{part}"
            made[f"{name}.{part}.weight"] = ((array(of + ".w_quantized") - array(of + ".w_zero_point")) * array(of + ".w_scale")).T
            made[f"{name}.{part}.bias"] = array(of + ".b")
        for part in ("aln", "oln"):
            made[f"{name}.{part}.weight"], made[f"{name}.{part}.bias"] = (array(f"l{at}.{part}.{each}") for each in "wb")
    return made


def upper(first):
    """The layers from `first` on, to be trained on."""
    import torch
    import torch.nn.functional as F
    from torch import nn

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.qkv, self.ao = nn.Linear(SIZE, 3 * SIZE), nn.Linear(SIZE, SIZE)
            self.fi, self.fo = nn.Linear(SIZE, 4 * SIZE), nn.Linear(4 * SIZE, SIZE)
            self.aln, self.oln = nn.LayerNorm(SIZE, eps=1e-12), nn.LayerNorm(SIZE, eps=1e-12)

        def without_some(self, x):
            # whole numbers of a text at once, which takes less time than each of each token
            if not self.training:
                return x
            return x * ((torch.rand(x.shape[0], 1, SIZE) > 0.1).to(x.dtype) / 0.9)

        def forward(self, x, mask):
            rows, tokens, _ = x.shape
            # attention in 32 bits: the processor's way for 16 is some ten times slower backwards
            with torch.autocast("cpu", enabled=False):
                heads = lambda values: values.float().view(rows, tokens, HEADS, SIZE // HEADS).transpose(1, 2)
                q, k, v = (heads(part) for part in self.qkv_of(x).split(SIZE, -1))
                seen = (q @ k.transpose(-1, -2) / math.sqrt(SIZE // HEADS) + mask).softmax(-1) @ v
            seen = self.ao(seen.transpose(1, 2).reshape(rows, tokens, SIZE))
            x = self.aln(x + self.without_some(seen))
            return self.oln(x + self.without_some(self.fo(F.gelu(self.fi(x)))))

        def qkv_of(self, x):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                return self.qkv(x)

    return nn.ModuleList([Layer() for _ in range(first, LAST)])


def optimizer_of(reader, rates):
    """One rate for the upper layers, another for what is new."""
    import torch

    named = dict(reader.named_parameters())
    groups = [[each for name, each in named.items() if name.startswith("upper") == is_upper] for is_upper in (True, False)]
    return torch.optim.AdamW([{"params": params, "lr": rate} for params, rate in zip(groups, rates)], weight_decay=0.01)


def batches(rows, size, length, chance):
    """Batches of texts that are about as long."""
    ordered = [sorted(rows[at : at + 8 * size], key=length) for at in range(0, len(rows), 8 * size)]
    made = [some[at : at + size] for some in ordered for at in range(0, len(some), size)]
    chance.shuffle(made)
    return made


class Release:
    """A reader as ONNX, in 8 bits."""

    def __init__(self, path, first):
        self.weights, self.first = dict(np.load(path)), first
        self.nodes, self.constants = [], []

    def constant(self, name, values):
        from onnx import numpy_helper

        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def node(self, operator, inputs, output, domain="", **settings):
        from onnx import helper

        outputs = output if isinstance(output, list) else [output]
        self.nodes.append(helper.make_node(operator, inputs, outputs, name=outputs[0], domain=domain, **settings))
        return output

    def linear(self, values, name, times=1, added=0):
        weights, bias = (self.weights[f"{name}.{each}"] * np.float32(times) for each in ("weight", "bias"))
        product = self.node("MatMul", [values, self.constant(name + ".w", weights.T)], name + ".product")
        return self.node("Add", [product, self.constant(name + ".b", bias + np.float32(added))], name)

    def normal(self, values, name):
        parts = [self.constant(f"{name}.{each}", self.weights[f"{name}.{of}"]) for each, of in (("w", "weight"), ("b", "bias"))]
        return self.node("LayerNormalization", [values, *parts], name, axis=-1, epsilon=1e-12)

    def marked(self, states, texts):
        """The states, with what marks each token as one of its text, which is not in 8 bits."""
        self.node("Squeeze", [texts, self.constant("first", np.array([0], np.int64))], "rows")
        self.node("Gemm", ["rows", self.constant("of", self.weights["of"])], "marks", transA=1)
        return self.node("Add", [states, "marks"], "marked")

    def upper(self, values):
        for at in range(LAST - self.first):
            name = f"upper.{at}"
            three = [f"{name}.{each}" for each in "qkv"]
            self.node("Split", [self.linear(values, name + ".qkv")], three, axis=-1, num_outputs=3)
            heads = self.node("MultiHeadAttention", three, name + ".heads", domain="com.microsoft", num_heads=HEADS)
            values = self.normal(self.node("Add", [values, self.linear(heads, name + ".ao")], name + ".seen"), name + ".aln")
            bent = self.node("Gelu", [self.linear(values, name + ".fi")], name + ".gelu", domain="com.microsoft")
            values = self.normal(self.node("Add", [values, self.linear(bent, name + ".fo")], name + ".sum"), name + ".oln")
        return values

    def means(self, values, texts):
        """The first token, the means of both texts, how far they are apart, and their product."""
        self.node("ReduceSum", [texts, self.constant("last", np.array([-1], np.int64))], "tokens", keepdims=1)
        self.node("Div", [self.node("MatMul", [texts, values], "sums"), "tokens"], "means")
        self.node("Split", ["means"], ["older", "newer"], axis=1, num_outputs=2)
        self.node("Gather", [values, self.constant("begin", np.array([0], np.int64))], "start", axis=1)
        self.node("Sub", ["older", "newer"], "difference"), self.node("Abs", ["difference"], "apart")
        self.node("Mul", ["older", "newer"], "together")
        return self.node("Concat", ["start", "older", "newer", "apart", "together"], "features", axis=-1)

    def save(self, path, features, inputs, times=1, added=0):
        import onnx
        from onnx import TensorProto, helper
        from onnxruntime.quantization import QuantType, quantize_dynamic

        bent = self.node("Gelu", [self.linear(features, "dense")], "bent", domain="com.microsoft")
        self.node("Identity", [self.linear(bent, "out", times, added)], "odds")
        info = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        name = os.path.basename(path).removesuffix(".onnx")
        shapes = {"states": [1, "tokens", SIZE], "texts": [1, 2, "tokens"]}
        made = helper.make_graph(self.nodes, name, [info(each, shapes[each]) for each in inputs], [info("odds", [1, 1, 1])], self.constants)
        domains = [helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)]
        with tempfile.TemporaryDirectory() as folder:
            exact = os.path.join(folder, "exact.onnx")
            onnx.save(helper.make_model(made, opset_imports=domains, ir_version=8), exact)
            quantize_dynamic(
                exact,
                path,
                op_types_to_quantize=["MatMul"],
                per_channel=True,
                reduce_range=True,
                weight_type=QuantType.QInt8,
                extra_options={"DefaultTensorType": TensorProto.FLOAT, "MatMulConstBOnly": True},
            )


def pair_reader(first, outputs):
    """Judges two texts that passed the lower layers as one: rows of states, and the number of tokens of the first text."""
    import torch
    import torch.nn.functional as F
    from torch import nn

    hidden = 96
    torch.manual_seed(1), torch.set_num_threads(1)

    class Reader(nn.Module):
        def __init__(self):
            super().__init__()
            self.upper = upper(first)
            self.of = nn.Parameter(torch.zeros(2, SIZE))
            self.dense, self.out = nn.Linear(5 * SIZE, hidden), nn.Linear(hidden, outputs)
            nn.init.zeros_(self.out.weight)

        def forward(self, rows):
            longest = max(len(states) for states, _ in rows)
            x, texts = np.zeros((len(rows), longest, SIZE), np.float32), np.zeros((len(rows), 2, longest), np.float32)
            for at, (states, end) in enumerate(rows):
                x[at, : len(states)], texts[at, 0, :end], texts[at, 1, end : len(states)] = states, 1, 1
            x, texts = torch.from_numpy(x), torch.from_numpy(texts)
            with torch.autocast("cpu", dtype=torch.bfloat16):
                x = x + texts.transpose(1, 2) @ self.of
                mask = ((1 - texts.sum(1)) * -1e4)[:, None, None, :]
                for layer in self.upper:
                    x = layer(x, mask)
                one, other = (texts @ x.float() / texts.sum(2, keepdim=True)).unbind(1)
                features = torch.cat([x[:, 0], one, other, (one - other).abs(), one * other], -1)
                bent = F.gelu(self.dense(F.dropout(features, 0.1, self.training)))
                return self.out(F.dropout(bent, 0.1, self.training)).float()

    return Reader()
