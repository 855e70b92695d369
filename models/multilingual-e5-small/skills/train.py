"""Trains the reader of skills: `skills.onnx` beside the sentence model.

    pip install torch numpy onnx==1.23.2 onnxruntime==1.32.0 tokenizers
    python train.py fit WORK PUBLISHED [writer]     # all of `texts` but a writer's, whose odds it prints
    python train.py export WORK FOLDER BOUND        # the odds are zero at BOUND

A passage of a skill passes the lower eight layers of the sentence model, which stay as they are. The upper four are trained on,
and a small network judges its first token, its mean and its maximum: whether it would have an agent act against the one it works
for.

`texts` beside this file were written for this purpose. A line begins with what it is: `H` a passage of a hostile skill that has what
is hostile in it, `o` another one of such a skill, `B` one of a harmless skill on the same subject; `h` hostile and `b` harmless lines
alone, each learnt a second time among lines of a published skill, so that it is found there.

PUBLISHED has a passage of a published skill on each line, as JSON, which counts as harmless: 4,000 of some 1,900 skills by 1,200
authors, from collections of public repositories under many licences (most MIT or Apache 2.0) of which nothing is kept here. Those that seem
hostile after a first round count more in the second one. Four more rounds in smaller batches have sentences of `guard/texts`
too, without which short orders ("you are now …") are not found. The released weights met the first writer and those sentences in the last two rounds only. `skillPassages` of src/skill-scan splits them:

    node -e "import('./src/skill-scan/index.ts').then(({ skillPassages }) => { for (const path of process.argv.slice(1)) {
      const text = require('fs').readFileSync(path, 'utf8'), file = { path: 'SKILL.md', bytes: 0, text, head: new Uint8Array() }
      for (const passage of skillPassages([file]).passages) console.log(JSON.stringify(passage.text)) } })" FILES
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
MOST_TOKENS, LONGEST = 96, 300
# passages of a batch, in the first two rounds and in those that follow
BATCH, LATER_BATCH, LATER_ROUNDS = 64, 32, 4
# what a passage weighs, by the letter of its line
WEIGHTS = {"H": 1.5, "o": 0.4, "B": 1, "h": 1, "b": 1}
# of the other passages of hostile skills, and of harmless lines among others
OTHERS, AMONG = 0.35, 0.4
# published passages of the first round, the hardest of the rest, and others of it
PUBLISHED, HARDEST, REST = 1500, 500, 1000
chance = random.Random(5)


def lines_of(path):
    lines = (line for line in open(path, encoding="utf8").read().split("\n") if line)
    return [(line[0], line[2:].replace("\\n", "\n")) for line in lines]


def among(text, published):
    """Lines among those of a published skill, under its heading."""
    other = chance.choice(published)
    heading, _, body = other.partition(": ") if ": " in other[:64] else ("", "", other)
    room, before, after = LONGEST - len(text), [], []
    for line in body.split("\n"):
        if len(line) + 1 <= room:
            (before if chance.random() < 0.5 else after).append(line)
            room -= len(line) + 1
    said = "\n".join([*before, text, *after])
    return f"{heading}: {said}" if heading else said


def orders():
    """Sentences of the guard, hostile ones and others."""
    paths = sorted(glob.glob(os.path.join(MODEL, "guard", "texts", "*.txt")))
    some = [(text, kind == "h") for path in paths for kind, text in lines_of(path) if kind in "hb"]
    chance.shuffle(some)
    hostile, others = [[each for each in some if each[1] == kind] for kind in (True, False)]
    return [(text, True, 0.8) for text, _ in hostile[:700]] + [(text, False, 0.6) for text, _ in others[:450]]


def passages(without, published):
    """Passages, whether each is hostile, and what it weighs."""
    made = []
    for path in sorted(glob.glob(os.path.join(HERE, "texts", "*.txt"))):
        if os.path.basename(path) == f"{without}.txt":
            continue
        for kind, text in lines_of(path):
            if kind == "o" and chance.random() >= OTHERS:
                continue
            made.append((text, kind in "Hh", WEIGHTS[kind]))
            if kind == "h" or (kind == "b" and chance.random() < AMONG):
                made.append((among(text, published), kind == "h", 1))
    return made


class Texts:
    """What the lower layers make of passages; each is run once."""

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

    def states(self, text):
        if text not in self.known:
            tokens = self.tokenizer.encode(f"passage: {text}").ids
            tokens = tokens if len(tokens) <= MOST_TOKENS else [*tokens[: MOST_TOKENS - 1], tokens[-1]]
            ids = np.array([tokens], np.int64)
            (states,) = self.session.run([STATES], {"input_ids": ids, "attention_mask": np.ones_like(ids)})
            self.known[text] = states[0].astype(np.float16)
        return self.known[text]


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


def network():
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
            rows, tokens, _ = x.shape
            heads = lambda values: values.view(rows, tokens, HEADS, SIZE // HEADS).transpose(1, 2)
            q, k, v = (heads(part) for part in self.qkv(x).split(SIZE, -1))
            seen = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
            seen = self.ao(seen.transpose(1, 2).reshape(rows, tokens, SIZE))
            x = self.aln(x + F.dropout(seen, 0.1, self.training))
            return self.oln(x + self.fo(F.gelu(self.fi(x))))

    class Reader(nn.Module):
        def __init__(self):
            super().__init__()
            self.upper = nn.ModuleList([Layer() for _ in range(FIRST, LAST)])
            self.dense, self.out = nn.Linear(3 * SIZE, HIDDEN), nn.Linear(HIDDEN, 1)
            nn.init.zeros_(self.out.weight)

        def forward(self, rows):
            longest = max(len(states) for states in rows)
            x, there = np.zeros((len(rows), longest, SIZE), np.float32), np.zeros((len(rows), longest, 1), np.float32)
            for at, states in enumerate(rows):
                x[at, : len(states)], there[at, : len(states)] = states, 1
            x, there = torch.from_numpy(x), torch.from_numpy(there)
            with torch.autocast("cpu", dtype=torch.bfloat16):
                mask = ((1 - there[:, :, 0]) * -1e4)[:, None, None, :].to(torch.bfloat16)
                for layer in self.upper:
                    x = layer(x, mask)
                x = x.float()
                mean, most = (x * there).sum(1) / there.sum(1), (x - (1 - there) * 1e4).amax(1)
                features = torch.cat([x[:, 0], mean, most], -1)
                bent = F.gelu(self.dense(F.dropout(features, 0.1, self.training)))
                return self.out(F.dropout(bent, 0.1, self.training)).float()[:, 0]

    return Reader()


def trained(reader, texts, rows, rates, size=BATCH):
    """One round over all passages."""
    import torch

    named = dict(reader.named_parameters())
    groups = [[each for name, each in named.items() if name.startswith("upper") == is_upper] for is_upper in (True, False)]
    optimizer = torch.optim.AdamW([{"params": params, "lr": rate} for params, rate in zip(groups, rates)], weight_decay=0.01)
    reader.train(), chance.shuffle(rows)
    # texts of a batch are about as long
    ordered = [sorted(rows[at : at + 8 * size], key=lambda row: len(texts.states(row[0]))) for at in range(0, len(rows), 8 * size)]
    batches = [some[at : at + size] for some in ordered for at in range(0, len(some), size)]
    chance.shuffle(batches)
    for step, batch in enumerate(batches):
        for each, rate in zip(optimizer.param_groups, rates):
            each["lr"] = rate * min(1, (step + 1) / 30) * max(0.02, 1 - step / len(batches))
        known, weights = (torch.tensor([float(row[at]) for row in batch]) for at in (1, 2))
        missed = torch.nn.functional.binary_cross_entropy_with_logits
        loss = (missed(reader([texts.states(row[0]) for row in batch]), known, reduction="none") * weights).sum() / weights.sum()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(reader.parameters(), 1.0)
        optimizer.step()
    reader.eval()


def odds(reader, texts, some):
    import torch

    with torch.no_grad():
        parts = [some[at : at + BATCH] for at in range(0, len(some), BATCH)]
        return [value for part in parts for value in reader([texts.states(text) for text in part]).tolist()]


def fit(work, published, without=""):
    import torch

    texts, reader = Texts(), network()
    reader.load_state_dict({name: torch.tensor(value.copy()) for name, value in exact_layers(texts.model).items()}, strict=False)
    others = [json.loads(line) for line in open(published, encoding="utf8")]
    rows, first, rest = passages(without, others), others[:PUBLISHED], others[PUBLISHED:]
    trained(reader, texts, rows + [(text, False, 1) for text in first], (1.5e-4, 8e-4))
    rest = [text for _, text in sorted(zip(odds(reader, texts, rest), rest), reverse=True)]
    hard = [(text, False, 1.5 if at < HARDEST else 1) for at, text in enumerate(rest[: HARDEST + REST])]
    trained(reader, texts, rows + hard, (1.2e-4, 6e-4))
    kept = []
    for _ in range(LATER_ROUNDS):
        trained(reader, texts, rows + orders() + hard, (1.6e-4, 7e-4), LATER_BATCH)
        kept.append({name: value.clone() for name, value in reader.state_dict().items()})
    # the mean of two rounds that are as good finds more than either
    before, last = kept[LATER_ROUNDS // 2 - 1], kept[-1]
    reader.load_state_dict({name: (before[name] + last[name]) / 2 for name in last})
    os.makedirs(work, exist_ok=True)
    np.savez(os.path.join(work, "skills.npz"), **{name: value.numpy() for name, value in reader.state_dict().items()})
    for kind, text in lines_of(os.path.join(HERE, "texts", f"{without}.txt")) if without else ():
        print(kind, round(odds(reader, texts, [text])[0], 2), text.replace("\n", "\\n"), sep="\t")


# release

def export(work, folder, bound):
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    from onnxruntime.quantization import QuantType, quantize_dynamic

    weights = dict(np.load(os.path.join(work, "skills.npz")))
    nodes, constants = [], []

    def constant(name, values):
        constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def node(operator, inputs, output, domain="", **settings):
        outputs = output if isinstance(output, list) else [output]
        nodes.append(helper.make_node(operator, inputs, outputs, name=outputs[0], domain=domain, **settings))
        return output

    def linear(values, name, added=0):
        product = node("MatMul", [values, constant(name + ".w", weights[name + ".weight"].T)], name + ".product")
        return node("Add", [product, constant(name + ".b", weights[name + ".bias"] + np.float32(added))], name)

    def normal(values, name):
        parts = [constant(f"{name}.{each}", weights[f"{name}.{of}"]) for each, of in (("w", "weight"), ("b", "bias"))]
        return node("LayerNormalization", [values, *parts], name, axis=-1, epsilon=1e-12)

    values = "states"
    for at in range(LAST - FIRST):
        name = f"upper.{at}"
        three = [f"{name}.{each}" for each in "qkv"]
        node("Split", [linear(values, name + ".qkv")], three, axis=-1, num_outputs=3)
        heads = node("MultiHeadAttention", three, name + ".heads", domain="com.microsoft", num_heads=HEADS)
        values = normal(node("Add", [values, linear(heads, name + ".ao")], name + ".seen"), name + ".aln")
        bent = node("Gelu", [linear(values, name + ".fi")], name + ".gelu", domain="com.microsoft")
        values = normal(node("Add", [values, linear(bent, name + ".fo")], name + ".sum"), name + ".oln")
    node("Gather", [values, constant("begin", np.array([0], np.int64))], "start", axis=1)
    tokens = constant("tokens", np.array([1], np.int64))
    node("ReduceMean", [values, tokens], "mean"), node("ReduceMax", [values, tokens], "most")
    node("Concat", ["start", "mean", "most"], "features", axis=-1)
    bent = node("Gelu", [linear("features", "dense")], "bent", domain="com.microsoft")
    node("Identity", [linear(bent, "out", -float(bound))], "odds")
    info = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    made = helper.make_graph(nodes, "skills", [info("states", [1, "tokens", SIZE])], [info("odds", [1, 1, 1])], constants)
    domains = [helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)]
    with tempfile.TemporaryDirectory() as exact:
        path = os.path.join(exact, "exact.onnx")
        onnx.save(helper.make_model(made, opset_imports=domains, ir_version=8), path)
        quantize_dynamic(
            path,
            os.path.join(folder, "skills.onnx"),
            op_types_to_quantize=["MatMul"],
            per_channel=True,
            reduce_range=True,
            weight_type=QuantType.QInt8,
            extra_options={"DefaultTensorType": TensorProto.FLOAT, "MatMulConstBOnly": True},
        )


if __name__ == "__main__":
    {"fit": fit, "export": export}[sys.argv[1]](*sys.argv[2:])
