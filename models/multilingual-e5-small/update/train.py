"""Trains the reader of updates: `update.onnx` beside the sentence model.

    pip install torch numpy onnx==1.23.2 onnxruntime==1.32.0 tokenizers
    python train.py read SETS WORK            # pairs of statements that follow from each other or contradict
    python train.py fit WORK [writer]         # pairs of `pairs` and `texts`, without those of a writer, whose odds it prints
    python train.py export WORK FOLDER

An older and a newer text pass the lower eight layers of the sentence model as one, which stay as they are. The upper four
are trained on, and a small network judges the means of both texts: whether the newer one updates the older one.

First it learns to compare two texts: SETS has `train`, `test_lay`, `test_expert` and `val` of IndoNLI and `klue-nli-v1.1_dev`, as
they are in their repositories (CC BY-SA 4.0). Then it learns from the pairs beside this file.
"""

import glob
import json
import math
import os
import random
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
MODEL = os.path.dirname(HERE)
FIRST, LAST, SIZE, HEADS, HIDDEN = 8, 12, 384, 12, 96
STATES = f"l{FIRST - 1}.oln"
MOST_TOKENS, BATCH = 48, 48
chance = random.Random(1)


# pairs: an older text, a newer one, and what they are to each other

def of_writers(without):
    """Pairs of each writer, and three quarters as many of other lines, which update nothing."""
    near, far = [], []
    for path in sorted(glob.glob(os.path.join(HERE, "pairs", "*.txt"))):
        if os.path.basename(path) == f"{without}.txt":
            continue
        lines = [line for line in open(path, encoding="utf8").read().split("\n") if line]
        some = [(*line[2:].split("\t"), line[0] == "u") for line in lines]
        near += some
        others = [(chance.choice(some), newer) for _, newer, _ in some]
        far += [(older, newer, False) for (older, of, _), newer in others if of != newer]
    return near + chance.sample(far, min(len(far), len(near) * 3 // 4))


def of_texts():
    """Pairs of the topics that were written for this; most update nothing."""
    made = []
    for path in sorted(glob.glob(os.path.join(HERE, "texts", "*.txt"))):
        blocks = open(path, encoding="utf8").read().split("\n#\n")
        kinds = [[[line[2:] for line in block.split("\n") if line.startswith(kind)] for kind in ("o ", "u ", "i ", "x ")] for block in blocks]
        for at, (old, updates, alike, beside) in enumerate(kinds):
            near = chance.sample([each for each in kinds[max(0, at - 25) : at + 25] if each[0] != old], 6)
            made += [(one, other, True) for one in old for other in updates]
            made += [(one, other, False) for one in old for other in alike + beside]
            made += [(one, other, False) for one in alike + beside for other in updates]
            made += [(old[0], other[1][0], False) for other in near if old and other[1]]
    updates = [pair for pair in made if pair[2]]
    others = [pair for pair in made if not pair[2]]
    return chance.sample(updates, min(1000, len(updates))) + chance.sample(others, min(1600, len(others)))


def of_sets(folder):
    made = []
    for name in ("train", "test_lay", "test_expert", "val"):
        for line in open(os.path.join(folder, f"{name}.jsonl"), encoding="utf8"):
            each = json.loads(line)
            made.append((each["premise"], each["hypothesis"], "enc".index(each["label"])))
    for each in json.load(open(os.path.join(folder, "klue-nli-v1.1_dev.json"), encoding="utf8")):
        made.append((each["premise"], each["hypothesis"], "enc".index(each["gold_label"][0])))
    return made


class Texts:
    """What the lower layers make of pairs; each pair is run once."""

    def __init__(self):
        import onnx
        import onnxruntime
        from tokenizers import Tokenizer

        model = onnx.load(os.path.join(MODEL, "model.onnx"))
        model.graph.output.append(onnx.helper.make_tensor_value_info(STATES, onnx.TensorProto.FLOAT, ["texts", "tokens", SIZE]))
        self.model, options = model, onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(model.SerializeToString(), options)
        self.tokenizer = Tokenizer.from_file(os.path.join(MODEL, "tokenizer.json"))
        self.known = {}

    def tokens(self, text):
        ids = self.tokenizer.encode(f"passage: {text}").ids
        return ids if len(ids) <= MOST_TOKENS else [*ids[: MOST_TOKENS - 1], ids[-1]]

    def states(self, older, newer):
        if (older, newer) not in self.known:
            one, other = self.tokens(older), self.tokens(newer)
            ids = np.array([[*one, one[-1], *other[1:]]], np.int64)
            (states,) = self.session.run([STATES], {"input_ids": ids, "attention_mask": np.ones_like(ids)})
            self.known[older, newer] = states[0].astype(np.float16), len(one)
        return self.known[older, newer]


# training

def exact_layers(model):
    """The upper layers of the sentence model, from 8 bits."""
    from onnx import numpy_helper

    values = {each.name: each for each in model.graph.initializer}
    array = lambda name: numpy_helper.to_array(values[name]).astype(np.float32)
    made = {}
    for at in range(FIRST, LAST):
        name = f"upper.{at - FIRST}"
        for part in ("qkv", "ao", "fi", "fo"):
            of = f"l{at}.{part}"
            made[f"{name}.{part}.weight"] = ((array(of + ".w_quantized") - array(of + ".w_zero_point")) * array(of + ".w_scale")).T
            made[f"{name}.{part}.bias"] = array(of + ".b")
        for part in ("aln", "oln"):
            made[f"{name}.{part}.weight"], made[f"{name}.{part}.bias"] = (array(f"l{at}.{part}.{each}") for each in "wb")
    return made


def network(outputs):
    import torch
    import torch.nn.functional as F
    from torch import nn

    torch.manual_seed(1), torch.set_num_threads(1)

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.qkv, self.ao = nn.Linear(SIZE, 3 * SIZE), nn.Linear(SIZE, SIZE)
            self.fi, self.fo = nn.Linear(SIZE, 4 * SIZE), nn.Linear(4 * SIZE, SIZE)
            self.aln, self.oln = nn.LayerNorm(SIZE, eps=1e-12), nn.LayerNorm(SIZE, eps=1e-12)

        def forward(self, x, mask):
            pairs, tokens, _ = x.shape
            heads = lambda values: values.view(pairs, tokens, HEADS, SIZE // HEADS).transpose(1, 2)
            q, k, v = (heads(part) for part in self.qkv(x).split(SIZE, -1))
            share = F.dropout((q @ k.transpose(-1, -2) / math.sqrt(SIZE // HEADS) + mask).softmax(-1), 0.1, self.training)
            seen = self.ao((share @ v).transpose(1, 2).reshape(pairs, tokens, SIZE))
            x = self.aln(x + F.dropout(seen, 0.1, self.training))
            return self.oln(x + F.dropout(self.fo(F.gelu(self.fi(x))), 0.1, self.training))

    class Reader(nn.Module):
        def __init__(self):
            super().__init__()
            self.upper = nn.ModuleList([Layer() for _ in range(FIRST, LAST)])
            self.of = nn.Parameter(torch.zeros(2, SIZE))
            self.dense, self.out = nn.Linear(5 * SIZE, HIDDEN), nn.Linear(HIDDEN, outputs)
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
                older, newer = (texts @ x.float() / texts.sum(2, keepdim=True)).unbind(1)
                features = torch.cat([x[:, 0], older, newer, (older - newer).abs(), older * newer], -1)
                bent = F.gelu(self.dense(F.dropout(features, 0.1, self.training)))
                return self.out(F.dropout(bent, 0.1, self.training)).float()

    return Reader()


def trained(reader, texts, pairs, epochs, missed):
    import torch

    named = dict(reader.named_parameters())
    groups = [[each for name, each in named.items() if name.startswith("upper") == is_upper] for is_upper in (True, False)]
    optimizer = torch.optim.AdamW([{"params": params, "lr": rate} for params, rate in zip(groups, (1.8e-4, 9e-4))], weight_decay=0.01)
    full, step, steps = [each["lr"] for each in optimizer.param_groups], 0, epochs * math.ceil(len(pairs) / BATCH)
    for _ in range(epochs):
        chance.shuffle(pairs)
        # texts of a batch are about as long
        ordered = [sorted(pairs[at : at + 8 * BATCH], key=lambda pair: len(pair[0]) + len(pair[1])) for at in range(0, len(pairs), 8 * BATCH)]
        batches = [some[at : at + BATCH] for some in ordered for at in range(0, len(some), BATCH)]
        chance.shuffle(batches)
        for batch in batches:
            for each, rate in zip(optimizer.param_groups, full):
                each["lr"] = rate * min(1, (step + 1) / 20) * (1 - step / steps)
            loss = missed(reader([texts.states(older, newer) for older, newer, _ in batch]), [kind for _, _, kind in batch])
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(reader.parameters(), 1.0)
            optimizer.step()
            step += 1
        print(loss.item(), flush=True)


def read(sets, work):
    import torch

    texts, reader = Texts(), network(3)
    reader.load_state_dict({name: torch.tensor(value.copy()) for name, value in exact_layers(texts.model).items()}, strict=False)
    pairs = of_sets(sets)
    pairs.sort(key=lambda pair: len(texts.tokens(pair[0])) + len(texts.tokens(pair[1])))
    missed = lambda odds, kinds: torch.nn.functional.cross_entropy(odds, torch.tensor(kinds))
    trained(reader, texts, pairs[:9000], 1, missed)
    os.makedirs(work, exist_ok=True)
    kept = {name: value.numpy() for name, value in reader.state_dict().items() if not name.startswith("out.")}
    np.savez(os.path.join(work, "read.npz"), **kept)


def fit(work, without=""):
    import torch

    texts, reader = Texts(), network(1)
    before = np.load(os.path.join(work, "read.npz"))
    reader.load_state_dict({name: torch.tensor(value) for name, value in before.items()}, strict=False)
    missed = lambda odds, kinds: torch.nn.functional.binary_cross_entropy_with_logits(odds[:, 0], torch.tensor(kinds).float())
    trained(reader, texts, of_writers(without) + of_texts(), 3, missed)
    np.savez(os.path.join(work, "update.npz"), **{name: value.numpy() for name, value in reader.state_dict().items()})
    reader.eval()
    for line in open(os.path.join(HERE, "pairs", f"{without}.txt"), encoding="utf8") if without else ():
        with torch.no_grad():
            print(round(reader([texts.states(*line[2:-1].split("\t"))]).item(), 2), line[:-1], sep="\t")


# release

# of the odds beside those of the regression, fitted on the writer who was left out
TIMES, ADDED = 1.6, 0.3


def export(work, folder):
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    from onnxruntime.quantization import QuantType, quantize_dynamic

    weights = dict(np.load(os.path.join(work, "update.npz")))
    nodes, constants = [], []

    def constant(name, values):
        constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def node(operator, inputs, output, domain="", **settings):
        outputs = output if isinstance(output, list) else [output]
        nodes.append(helper.make_node(operator, inputs, outputs, name=outputs[0], domain=domain, **settings))
        return output

    def linear(values, name, times=1, added=0):
        product = node("MatMul", [values, constant(name + ".w", weights[name + ".weight"].T * np.float32(times))], name + ".product")
        return node("Add", [product, constant(name + ".b", weights[name + ".bias"] * np.float32(times) + np.float32(added))], name)

    def normal(values, name):
        parts = [constant(f"{name}.{each}", weights[f"{name}.{of}"]) for each, of in (("w", "weight"), ("b", "bias"))]
        return node("LayerNormalization", [values, *parts], name, axis=-1, epsilon=1e-12)

    # what marks each token as one of its text; not in 8 bits
    node("Squeeze", ["texts", constant("first", np.array([0], np.int64))], "rows")
    node("Gemm", ["rows", constant("of", weights["of"])], "marks", transA=1)
    values = node("Add", ["states", "marks"], "marked")
    for at in range(LAST - FIRST):
        name = f"upper.{at}"
        three = [f"{name}.{each}" for each in "qkv"]
        node("Split", [linear(values, name + ".qkv")], three, axis=-1, num_outputs=3)
        heads = node("MultiHeadAttention", three, name + ".heads", domain="com.microsoft", num_heads=HEADS)
        values = normal(node("Add", [values, linear(heads, name + ".ao")], name + ".seen"), name + ".aln")
        bent = node("Gelu", [linear(values, name + ".fi")], name + ".gelu", domain="com.microsoft")
        values = normal(node("Add", [values, linear(bent, name + ".fo")], name + ".sum"), name + ".oln")
    # the means of both texts
    node("ReduceSum", ["texts", constant("last", np.array([-1], np.int64))], "tokens", keepdims=1)
    node("Div", [node("MatMul", ["texts", values], "sums"), "tokens"], "means")
    node("Split", ["means"], ["older", "newer"], axis=1, num_outputs=2)
    node("Gather", [values, constant("begin", np.array([0], np.int64))], "start", axis=1)
    node("Sub", ["older", "newer"], "difference"), node("Abs", ["difference"], "apart"), node("Mul", ["older", "newer"], "together")
    node("Concat", ["start", "older", "newer", "apart", "together"], "features", axis=-1)
    bent = node("Gelu", [linear("features", "dense")], "bent", domain="com.microsoft")
    node("Identity", [linear(bent, "out", TIMES, ADDED)], "odds")
    info = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    inputs = [info("states", [1, "tokens", SIZE]), info("texts", [1, 2, "tokens"])]
    made = helper.make_graph(nodes, "update", inputs, [info("odds", [1, 1, 1])], constants)
    domains = [helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)]
    with tempfile.TemporaryDirectory() as exact:
        path = os.path.join(exact, "exact.onnx")
        onnx.save(helper.make_model(made, opset_imports=domains, ir_version=8), path)
        quantize_dynamic(
            path,
            os.path.join(folder, "update.onnx"),
            op_types_to_quantize=["MatMul"],
            per_channel=True,
            reduce_range=True,
            weight_type=QuantType.QInt8,
            extra_options={"DefaultTensorType": TensorProto.FLOAT, "MatMulConstBOnly": True},
        )


if __name__ == "__main__":
    {"read": read, "fit": fit, "export": export}[sys.argv[1]](*sys.argv[2:])
