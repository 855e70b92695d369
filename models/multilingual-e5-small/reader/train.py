"""Trains the reader of memories: `reader.onnx` and `judge.onnx` beside the sentence model.

    apt-get install python3-torch        # 1.13; any later one does
    pip install numpy onnx==1.23.2 onnxruntime==1.32.0 tokenizers
    python train.py encode SETS WORK     # what the lower layers make of all texts
    python train.py fit WORK MINUTES     # by torch
    python train.py export WORK FOLDER

The upper three layers of the sentence model begin as they are and are trained to bring a question and the text that
answers it together, on all pairs of a batch, with a small network that judges both vectors. The layers below stay as they
are, in 8 bits, so that the server runs them once for both.

Trained on: `topics` beside this file (written for this purpose: what people say about themselves, in thirteen languages and
three styles, with questions that it answers and near ones that it does not); the folder SETS with public sets of questions
as they are in their repositories: `locomo` (five of its conversations, by name the first five), and sets in the format of
SQuAD (`en` half of the development set of SQuAD 2.0, `es`, `pt`, `ja` and `zh` the development sets of its translations, of
JSQuAD and of CMRC 2018, and XQuAD). Not on `bench/calibration/texts`, by which the scores are fitted.

A run depends on the speed of the machine, since it lasts a number of minutes and its rate falls to zero at their end.
"""

import glob
import json
import math
import os
import random
import re
import sys
import tempfile
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
MODEL = os.path.dirname(HERE)
STATES = "l8.oln"
FIRST, LAST, SIZE, HEADS = 9, 12, 384, 12
MOST_TOKENS = 64
chance = random.Random(7)


# texts

def topics():
    """Topics of all languages: what was said (lines s, c, n), questions that it answers (q) and near ones (x)."""
    made = []
    for path in sorted(glob.glob(os.path.join(HERE, "topics", "*.txt"))):
        language = os.path.basename(path)[:2]
        for line in open(path, encoding="utf8").read().split("\n"):
            if line.startswith("#"):
                made.append({"language": language, "said": [], "questions": [], "near": []})
            elif line[:2] in ("s ", "c ", "n "):
                made[-1]["said"].append(line[2:])
            elif line[:2] == "q ":
                made[-1]["questions"].append(line[2:])
            elif line[:2] == "x ":
                made[-1]["near"].append(line[2:])
    return made


def unrelated():
    """Texts that answer none of the questions: those of our benchmark, and those that stand for unrelated ones."""
    lines = open(os.path.join(MODEL, "../../bench/calibration/texts/distractors.txt"), encoding="utf8").read().split("\n")
    source = open(os.path.join(MODEL, "../../src/retrieval/ranking/reference-texts.ts"), encoding="utf8").read()
    quoted = r"\[\s*('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"),"
    return [line for line in lines if line], [text[1:-1] for text in re.findall(quoted, source)]


def sentences(text):
    made, begin = [], 0
    for match in re.finditer(r"(?<=[.!?])\s+(?=[^a-z\s])|(?<=[。！？])", text):
        if match.end() - begin >= 25:
            made.append((begin, text[begin : match.start() if match.start() > begin else match.end()]))
            begin = match.end()
    return made + ([(begin, text[begin:])] if text[begin:].strip() else [])


def questions_of(path, language, most):
    """Questions with the sentence of the paragraph that contains the answer, and three others of the paragraph."""
    made = []
    for article in json.load(open(path, encoding="utf8"))["data"]:
        for paragraph in article["paragraphs"]:
            whole = sentences(paragraph["context"])
            for question in paragraph["qas"]:
                answers = question.get("answers") or []
                if not answers or question.get("is_impossible"):
                    continue
                at = [n for n, (begin, _) in enumerate(whole) if begin <= answers[0]["answer_start"]]
                right = whole[at[-1] if at else 0][1]
                others = [text for _, text in whole if text != right]
                if answers[0]["text"].strip()[:12] in right:
                    chance.shuffle(others)
                    cut = 90 if language in ("zh", "ja") else 260
                    made.append((language, question["question"][:160], right[:cut], [text[:cut] for text in others[:1]]))
    chance.shuffle(made)
    return made[:most]


def public_questions(folder):
    """Files `<language>.json` and `xquad.<language>.json` in the format of SQuAD."""
    made = []
    most = {"en": 6000, "es": 1500, "ja": 2000, "zh": 1500}
    for language in most:
        made += questions_of(os.path.join(folder, f"{language}.json"), language, most[language])
    for language in ("en", "de", "ru", "tr", "vi", "hi", "ro", "zh", "es"):
        count = {"en": 1190, "de": 900, "ru": 900}.get(language, 350)
        made += questions_of(os.path.join(folder, f"xquad.{language}.json"), language, count)
    return made


# what the lower layers make of them

def encode(sets, work):
    import onnx
    import onnxruntime
    from tokenizers import Tokenizer

    model = onnx.load(os.path.join(MODEL, "model.onnx"))
    model.graph.output.append(onnx.helper.make_tensor_value_info(STATES, onnx.TensorProto.FLOAT, ["texts", "tokens", SIZE]))
    session = onnxruntime.InferenceSession(model.SerializeToString())
    tokenizer = Tokenizer.from_file(os.path.join(MODEL, "tokenizer.json"))
    public = public_questions(sets)
    texts = {}
    for topic in topics():
        texts |= {("passage", text): 1 for text in topic["said"]}
        texts |= {("query", text): 1 for text in topic["questions"] + topic["near"]}
    texts |= {("passage", text): 1 for some in unrelated() for text in some}
    for _, question, right, others in public:
        texts |= {("query", question): 1} | {("passage", text): 1 for text in [right, *others]}
    rows, begins = [], [0]
    for use, text in texts:
        tokens = tokenizer.encode(f"{use}: {text}").ids
        tokens = tokens if len(tokens) <= MOST_TOKENS else [*tokens[: MOST_TOKENS - 1], tokens[-1]]
        ids = np.array([tokens], np.int64)
        (states,) = session.run([STATES], {"input_ids": ids, "attention_mask": np.ones_like(ids)})
        rows.append(states[0].astype(np.float16))
        begins.append(begins[-1] + len(tokens))
    os.makedirs(work, exist_ok=True)
    np.save(os.path.join(work, "states.npy"), np.concatenate(rows))
    with open(os.path.join(work, "texts.json"), "w", encoding="utf8") as file:
        json.dump({"texts": list(texts), "begins": begins, "public": public}, file)
    np.savez(os.path.join(work, "layers.npz"), **exact_layers(model))


def exact_layers(model):
    """The upper layers of the sentence model, from 8 bits."""
    from onnx import numpy_helper

    values = {each.name: each for each in model.graph.initializer}
    array = lambda name: numpy_helper.to_array(values[name]).astype(np.float32)
    made = {}
    for at in range(FIRST, LAST):
        for part in ("qkv", "ao", "fi", "fo"):
            name = f"l{at}.{part}"
            made[name + ".w"] = (array(name + ".w_quantized") - array(name + ".w_zero_point")) * array(name + ".w_scale")
            made[name + ".b"] = array(name + ".b")
        for part in ("aln", "oln"):
            made |= {f"l{at}.{part}.{each}": array(f"l{at}.{part}.{each}") for each in "wb"}
    return made


# training

def fit(work, minutes):
    import torch
    import torch.nn.functional as F
    from torch import nn

    torch.manual_seed(2)
    layers = np.load(os.path.join(work, "layers.npz"))
    known = json.load(open(os.path.join(work, "texts.json"), encoding="utf8"))
    states = np.load(os.path.join(work, "states.npy"))
    place = {tuple(text): at for at, text in enumerate(known["texts"])}

    class Layer(nn.Module):
        def __init__(self, at):
            super().__init__()
            for part in ("qkv", "ao", "fi", "fo"):
                weights = torch.tensor(layers[f"l{at}.{part}.w"].T.copy())
                linear = nn.Linear(weights.shape[1], weights.shape[0])
                linear.weight.data, linear.bias.data = weights, torch.tensor(layers[f"l{at}.{part}.b"])
                setattr(self, part, linear)
            for part in ("aln", "oln"):
                norm = nn.LayerNorm(SIZE, eps=1e-12)
                norm.weight.data = torch.tensor(layers[f"l{at}.{part}.w"])
                norm.bias.data = torch.tensor(layers[f"l{at}.{part}.b"])
                setattr(self, part, norm)

        def forward(self, x, mask):
            texts, tokens, _ = x.shape
            heads = lambda values: values.view(texts, tokens, HEADS, SIZE // HEADS).transpose(1, 2)
            q, k, v = (heads(part) for part in self.qkv(x).split(SIZE, -1))
            share = F.dropout((q @ k.transpose(-1, -2) / math.sqrt(SIZE // HEADS) + mask).softmax(-1), 0.1, self.training)
            seen = self.ao((share @ v).transpose(1, 2).reshape(texts, tokens, SIZE))
            x = self.aln(x + F.dropout(seen, 0.1, self.training))
            return self.oln(x + F.dropout(self.fo(F.gelu(self.fi(x))), 0.1, self.training))

    class Reader(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList([Layer(at) for at in range(FIRST, LAST)])
            self.scale, self.bias = nn.Parameter(torch.tensor(4.0)), nn.Parameter(torch.tensor(0.86))
            self.dense, self.out = nn.Linear(2 * SIZE, 96), nn.Linear(96, 1)
            nn.init.zeros_(self.out.weight), nn.init.zeros_(self.out.bias)

        def vectors(self, use, texts):
            rows = [states[known["begins"][at] : known["begins"][at + 1]][:56] for at in (place[(use, text)] for text in texts)]
            x = np.zeros((len(rows), max(map(len, rows)), SIZE), np.float32)
            missing = np.ones(x.shape[:2], bool)
            for at, each in enumerate(rows):
                x[at, : len(each)], missing[at, : len(each)] = each, False
            x, missing = torch.from_numpy(x), torch.from_numpy(missing)
            for layer in self.layers:
                x = layer(x, (missing.float() * -1e4)[:, None, None, :])
            present = (~missing).float()[..., None]
            return F.normalize((x * present).sum(1) / present.sum(1), dim=-1)

        def odds(self, questions, texts):
            together, apart = questions[:, None] * texts[None], (questions[:, None] - texts[None]).abs()
            judged = self.out(F.dropout(F.gelu(self.dense(torch.cat([together, apart], -1) * 19)), 0.1, self.training))
            return self.scale.exp() * (questions @ texts.T - self.bias) + judged.squeeze(-1)

    reader = Reader()
    named = dict(reader.named_parameters())
    rates = [
        {"params": [each for name, each in named.items() if name.startswith("layers")], "lr": 7e-5},
        {"params": [each for name, each in named.items() if name.startswith(("dense", "out"))], "lr": 5e-4},
        {"params": [reader.scale, reader.bias], "lr": 5e-3},
    ]
    optimizer = torch.optim.AdamW(rates, weight_decay=0.01)
    full = [each["lr"] for each in rates]
    batch = batches(known["public"])
    begin, step = time.time(), 0
    while (passed := (time.time() - begin) / (minutes * 60)) < 1:
        for each, rate in zip(optimizer.param_groups, full):
            each["lr"] = rate * min(1, (step + 1) / 30) * (1 - passed)
        questions, answers, texts, kinds = batch()
        odds = reader.odds(reader.vectors("query", questions), reader.vectors("passage", texts))
        right = (torch.tensor(answers)[:, None] == torch.tensor(kinds)[None]).float()
        missed = F.binary_cross_entropy_with_logits(odds, right, reduction="none") * (1 + 2 * right)
        answerable = right.sum(1) > 0
        chosen = -(F.log_softmax(odds[answerable], -1) * right[answerable]).sum(1).mean()
        loss = missed.sum() / len(questions) / 2 + chosen / 2
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(reader.parameters(), 1.0)
        optimizer.step()
        step += 1
        if step % 50 == 0:
            print(step, round(loss.item(), 3), flush=True)
    np.savez(os.path.join(work, "reader.npz"), **{name: each.numpy() for name, each in reader.state_dict().items()})


def batches(public):
    """Every question of a batch is judged with every text of it. Most texts of a batch are in one language."""
    all_topics, aside = topics(), unrelated()
    by_language, public_by_language = {}, {}
    for at, topic in enumerate(all_topics):
        by_language.setdefault(topic["language"], []).append(at)
    for each in public:
        public_by_language.setdefault(each[0], []).append(each)

    def of_topics():
        if chance.random() < 0.5:
            chosen = chance.sample(by_language["en"], 40)
        else:
            others = [each for each in by_language if each != "en"]
            chance.shuffle(others)
            chosen = []
            for language in others:
                chosen += chance.sample(by_language[language], min(15, len(by_language[language])))
                if len(chosen) >= 34:
                    break
            chosen += chance.sample(by_language["en"], 6)
        questions, answers, texts, kinds = [], [], [], []
        for at in chosen:
            topic = all_topics[at]
            questions.append(chance.choice(topic["questions"])), answers.append(at)
            if topic["near"] and chance.random() < 0.4:
                questions.append(chance.choice(topic["near"])), answers.append(-1)
            texts.append(chance.choice(topic["said"])), kinds.append(at)
        for text in [text for some in aside for text in chance.sample(some, 3)]:
            texts.append(text), kinds.append(-2)
        return questions, answers, texts, kinds

    def of_public():
        some = chance.sample(public_by_language[chance.choice(list(public_by_language))], 12)
        others = [text for each in some for text in each[3][:1]]
        texts = [each[2] for each in some] + others
        return [each[1] for each in some], list(range(12)), texts, [*range(12), *[-2 for _ in others]]

    return lambda: of_topics() if chance.random() < 0.82 else of_public()


# export

def export(work, folder):
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    from onnxruntime.quantization import QuantType, quantize_dynamic

    weights = dict(np.load(os.path.join(work, "reader.npz")))
    info = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)

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

        def linear(self, values, name):
            product = self.node("MatMul", [values, self.constant(name + ".w", weights[name + ".weight"].T)], name + ".product")
            return self.node("Add", [product, self.constant(name + ".b", weights[name + ".bias"])], name)

        def normal(self, values, name):
            scale = self.constant(name + ".w", weights[name + ".weight"])
            bias = self.constant(name + ".b", weights[name + ".bias"])
            return self.node("LayerNormalization", [values, scale, bias], name, axis=-1, epsilon=1e-12)

        def save(self, inputs, outputs, path):
            made = helper.make_graph(self.nodes, "reader", inputs, outputs, self.constants)
            domains = [helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)]
            onnx.save(helper.make_model(made, opset_imports=domains, ir_version=8), path)

    graph, values = Graph(), "states"
    for at in range(LAST - FIRST):
        name = f"layers.{at}"
        three = [f"{name}.{each}" for each in "qkv"]
        graph.node("Split", [graph.linear(values, name + ".qkv")], three, axis=-1, num_outputs=3)
        heads = graph.node("MultiHeadAttention", three, name + ".heads", domain="com.microsoft", num_heads=HEADS)
        values = graph.node("Add", [values, graph.linear(heads, name + ".ao")], name + ".seen")
        values = graph.normal(values, name + ".aln")
        bent = graph.node("Gelu", [graph.linear(values, name + ".fi")], name + ".gelu", domain="com.microsoft")
        values = graph.normal(graph.node("Add", [values, graph.linear(bent, name + ".fo")], name + ".sum"), name + ".oln")
    graph.constant("tokens", np.array([1], np.int64))
    graph.node("ReduceSum", [values, "tokens"], "sum", keepdims=0)
    graph.node("LpNormalization", ["sum"], "vector", axis=-1, p=2)
    with tempfile.TemporaryDirectory() as made:
        exact = os.path.join(made, "exact.onnx")
        graph.save([info("states", [1, "tokens", SIZE])], [info("vector", [1, SIZE])], exact)
        quantize_dynamic(
            exact,
            os.path.join(folder, "reader.onnx"),
            op_types_to_quantize=["MatMul"],
            per_channel=True,
            reduce_range=True,
            weight_type=QuantType.QInt8,
            extra_options={"DefaultTensorType": TensorProto.FLOAT, "MatMulConstBOnly": True},
        )
    graph = Graph()
    graph.node("Sub", ["texts", "question"], "difference"), graph.node("Abs", ["difference"], "apart")
    graph.node("Mul", ["texts", "question"], "together")
    graph.node("Concat", ["together", "apart"], "both", axis=-1)
    graph.node("Mul", ["both", graph.constant("wide", np.array(19, np.float32))], "features")
    bent = graph.node("Gelu", [graph.linear("features", "dense")], "bent", domain="com.microsoft")
    graph.node("ReduceSum", ["together", graph.constant("last", np.array([-1], np.int64))], "cosine", keepdims=1)
    graph.node("Sub", ["cosine", graph.constant("bias", weights["bias"])], "above")
    graph.node("Mul", ["above", graph.constant("scale", np.exp(weights["scale"]))], "scaled")
    graph.node("Add", ["scaled", graph.linear(bent, "out")], "odds")
    graph.save([info("question", [1, SIZE]), info("texts", ["texts", SIZE])], [info("odds", ["texts", 1])], os.path.join(folder, "judge.onnx"))


if __name__ == "__main__":
    command, *rest = sys.argv[1:]
    if command == "fit":
        fit(rest[0], float(rest[1]))
    else:
        {"encode": encode, "export": export}[command](*rest)
