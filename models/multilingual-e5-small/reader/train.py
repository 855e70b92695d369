"""Trains the reader of memories: `reader.onnx` and `judge.onnx` beside the sentence model.

    apt-get install python3-torch        # 1.13; any later one does
    pip install numpy onnx==1.23.2 onnxruntime==1.32.0 tokenizers
    python train.py encode SETS WORK     # what the lower layers make of all texts
    python train.py fit WORK MINUTES     # by torch
    python export.py WORK FOLDER

The upper three layers of the sentence model are trained to bring a question and the text that answers it together, on all
pairs of a batch. Two small networks judge a pair: one compares the vectors of both, the other each part of the question
with what it attends to in the text. Training goes on from the reader that is there; without one it begins with the sentence
model's own layers. The layers below stay as they are, in 8 bits, so that the server runs them once for both.

Trained on: `topics` beside this file (written for this purpose: what people say about themselves, in many languages and
three styles, with questions that it answers and near ones that it does not); the folder SETS with public sets of questions
in the format of SQuAD as they are in their repositories (`en` half of the development set of SQuAD 2.0, `es`, `pt`, `ja` and
`zh` the development sets of its translations, of JSQuAD and of CMRC 2018, and XQuAD). Not on `bench/calibration/texts`, by
which the scores are fitted.

A run depends on the speed of the machine, since it lasts a number of minutes and its rate falls to zero at their end.
"""

import glob
import json
import math
import os
import random
import re
import sys
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
MODEL = os.path.dirname(HERE)
STATES = "l8.oln"
FIRST, LAST, SIZE, HEADS = 9, 12, 384, 12
MOST_TOKENS = 64
# numbers of a token that is compared
PARTS = 64
# the place of what belongs to no question
NONE = 10**6
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
    """Questions with the sentence of the paragraph that contains the answer, if one does, and another one of it."""
    made = []
    for article in json.load(open(path, encoding="utf8"))["data"]:
        for paragraph in article["paragraphs"]:
            whole = sentences(paragraph["context"])
            for question in paragraph["qas"]:
                answers = question.get("answers") or []
                if question.get("is_impossible") and whole:
                    made.append((language, question["question"][:160], None, [chance.choice(whole)[1][:260]]))
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
        texts |= {("query", question): 1} | {("passage", text): 1 for text in [right, *others] if text is not None}
    rows, begins, vectors = [], [0], []
    for use, text in texts:
        tokens = tokenizer.encode(f"{use}: {text}").ids
        tokens = tokens if len(tokens) <= MOST_TOKENS else [*tokens[: MOST_TOKENS - 1], tokens[-1]]
        ids = np.array([tokens], np.int64)
        states, vector = session.run([STATES, "sentence_embedding"], {"input_ids": ids, "attention_mask": np.ones_like(ids)})
        rows.append(states[0].astype(np.float16))
        vectors.append(vector[0] / np.linalg.norm(vector[0]))
        begins.append(begins[-1] + len(tokens))
    os.makedirs(work, exist_ok=True)
    np.save(os.path.join(work, "states.npy"), np.concatenate(rows))
    np.save(os.path.join(work, "vectors.npy"), np.stack(vectors))
    with open(os.path.join(work, "texts.json"), "w", encoding="utf8") as file:
        json.dump({"texts": list(texts), "begins": begins, "public": public}, file)
    np.savez(os.path.join(work, "layers.npz"), **exact_layers(model))
    np.savez(os.path.join(work, "before.npz"), **released())


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


def released():
    """The weights of the reader that is there, its layers from 8 bits; none of a network that it does not have yet."""
    import onnx
    from onnx import numpy_helper

    made, parts = {}, {"w": "weight", "b": "bias"}
    for file in ("reader.onnx", "judge.onnx"):
        path = os.path.join(MODEL, file)
        values = {each.name: numpy_helper.to_array(each) for each in onnx.load(path).graph.initializer} if os.path.exists(path) else {}
        for name, value in values.items():
            layer, _, part = name.removesuffix("_quantized").rpartition(".")
            if name.endswith("_quantized"):
                value = (value.astype(np.float32) - values[f"{layer}.w_zero_point"]) * values[f"{layer}.w_scale"]
            if part in parts and layer.startswith(("layers.", "dense", "out", "proj", "weigh", "compare", "attended")):
                made[f"{layer}.{parts[part]}"] = value.T if value.ndim == 2 else value
            elif name in ("scale", "sharp"):
                made[name] = np.log(value)
            elif name == "bias":
                made[name] = value
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
            self.proj, self.weigh, self.sharp = nn.Linear(SIZE, PARTS), nn.Linear(SIZE, 1), nn.Parameter(torch.tensor(0.7))
            self.compare, self.attended = nn.Linear(4 * PARTS, PARTS), nn.Linear(PARTS, 1)
            for last in (self.out, self.attended):
                nn.init.zeros_(last.weight), nn.init.zeros_(last.bias)

        def encoded(self, use, texts):
            """Vectors of texts, their tokens, the weights of these and which there are; texts of similar length in one run."""
            rows = [states[known["begins"][at] : known["begins"][at + 1]][:56] for at in (place[(use, text)] for text in texts)]
            order, longest = sorted(range(len(rows)), key=lambda at: len(rows[at])), max(map(len, rows))
            made, count = [], math.ceil(len(order) / 4)
            for begin in range(0, len(order), count):
                some = [rows[at] for at in order[begin : begin + count]]
                x = np.zeros((len(some), len(some[-1]), SIZE), np.float32)
                present = np.zeros(x.shape[:2], np.float32)
                for at, each in enumerate(some):
                    x[at, : len(each)], present[at, : len(each)] = each, 1
                x, present = torch.from_numpy(x), torch.from_numpy(present)
                for layer in self.layers:
                    x = layer(x, ((1 - present) * -1e4)[:, None, None, :])
                shares, rest = present[..., None], longest - x.shape[1]
                parts = F.pad(F.normalize(self.proj(x), dim=-1), (0, 0, 0, rest))
                vectors = F.normalize((x * shares).sum(1) / shares.sum(1), dim=-1)
                made.append((vectors, parts, F.pad(self.weigh(x).squeeze(-1), (0, rest)), F.pad(present, (0, rest))))
            back = torch.tensor(np.argsort(order))
            return [torch.cat(each)[back] for each in zip(*made)]

        def odds(self, questions, texts):
            (question, words, weights, present), (text, parts, _, there) = questions, texts
            together, apart = question[:, None] * text[None], (question[:, None] - text[None]).abs()
            judged = self.out(F.dropout(F.gelu(self.dense(torch.cat([together, apart], -1) * 19)), 0.1, self.training))
            likeness = torch.einsum("nad,mbd->namb", words, parts) * self.sharp.exp() * 5 + (there - 1) * 1e4
            found = torch.einsum("namb,mbd->namd", likeness.softmax(-1), parts)
            words = words[:, :, None].expand_as(found)
            pair = torch.cat([words, found, words * found * 8, (words - found).abs()], -1) * 4
            compared = F.dropout(F.gelu(self.compare(pair)), 0.1, self.training)
            shares = (weights + (present - 1) * 1e4).softmax(-1)
            attended = self.attended(torch.einsum("na,namd->nmd", shares, compared))
            return self.scale.exp() * (question @ text.T - self.bias) + (judged + attended).squeeze(-1)

    reader = Reader()
    before = dict(np.load(os.path.join(work, "before.npz")))
    reader.load_state_dict({name: torch.tensor(value) for name, value in before.items()}, strict=False)
    named = dict(reader.named_parameters())
    rates = [
        {"params": [each for name, each in named.items() if name.startswith("layers")], "lr": 1e-4},
        {"params": [each for name, each in named.items() if not name.startswith(("layers", "scale", "bias", "sharp"))], "lr": 5e-4},
        {"params": [reader.scale, reader.bias, reader.sharp], "lr": 5e-3},
    ]
    optimizer = torch.optim.AdamW(rates, weight_decay=0.01)
    full = [each["lr"] for each in rates]
    vectors = np.load(os.path.join(work, "vectors.npy"))
    batch = batches(known["public"], lambda text: vectors[place[("passage", text)]])
    begin, step = time.time(), 0
    while (passed := (time.time() - begin) / (minutes * 60)) < 1:
        for each, rate in zip(optimizer.param_groups, full):
            each["lr"] = rate * min(1, (step + 1) / 30) * (1 - passed)
        questions, answers, texts, kinds = batch()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            odds = reader.odds(reader.encoded("query", questions), reader.encoded("passage", texts)).float()
        of, kinds = torch.tensor(answers)[:, None], torch.tensor(kinds)[None]
        # a near question of a topic counts as -1 minus its place
        right, near = (of == kinds).float(), ((-1 - of) == kinds).float()
        missed = F.binary_cross_entropy_with_logits(odds, right, reduction="none") * (1 + 2 * right + near)
        # one of the texts answers it, or, with odds of 1, none does
        none = (right.sum(1, keepdim=True) == 0).float()
        chosen = F.log_softmax(torch.cat([odds, torch.zeros(len(questions), 1)], 1), -1) * torch.cat([right, none], 1)
        loss = missed.sum() / len(questions) / 2 - chosen.sum(1).mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(reader.parameters(), 1.0)
        optimizer.step()
        step += 1
        if step % 50 == 0:
            print(step, round(loss.item(), 3), flush=True)
    np.savez(os.path.join(work, "reader.npz"), **{name: each.numpy() for name, each in reader.state_dict().items()})


def batches(public, vector):
    """Every question of a batch is judged with every text of it. Most texts of a batch are in one language, many alike."""
    all_topics, aside = topics(), unrelated()
    by_language, public_by_language = {}, {}
    for at, topic in enumerate(all_topics):
        by_language.setdefault(topic["language"], []).append(at)
    for each in public:
        public_by_language.setdefault(each[0], []).append(each)
    means = np.stack([np.mean([vector(text) for text in topic["said"]], 0) for topic in all_topics])
    means -= means.mean(0)
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    alike = [np.argsort(-(means @ each))[1:11].tolist() for each in means]

    def some_of(places, count):
        """A third at random, and two like each of them."""
        seeds = chance.sample(places, min(len(places), count // 3))
        return list(dict.fromkeys(seeds + [other for seed in seeds for other in chance.sample(alike[seed], 2)]))[:count]

    def of_topics():
        if chance.random() < 0.6:
            chosen = some_of(by_language["en"], 40)
        else:
            others = [each for each in by_language if each != "en"]
            chance.shuffle(others)
            chosen = []
            for language in others:
                chosen += some_of(by_language[language], 18)
                if len(chosen) >= 34:
                    break
            chosen = list(dict.fromkeys(chosen + chance.sample(by_language["en"], 6)))
        questions, answers, texts, kinds = [], [], [], []
        for at in chosen:
            topic = all_topics[at]
            questions.append(chance.choice(topic["questions"])), answers.append(at)
            if topic["near"] and chance.random() < 0.8:
                questions.append(chance.choice(topic["near"])), answers.append(-1 - at)
            texts.append(chance.choice(topic["said"])), kinds.append(at)
        for text in [text for some in aside for text in chance.sample(some, 3)]:
            texts.append(text), kinds.append(-NONE)
        return questions, answers, texts, kinds

    def of_public():
        some = chance.sample(public_by_language[chance.choice(list(public_by_language))], 18)
        others = [text for each in some for text in each[3][:1]]
        answered = [at for at, each in enumerate(some) if each[2] is not None]
        texts = [some[at][2] for at in answered] + others
        answers = [at if at in answered else -1 for at in range(18)]
        return [each[1] for each in some], answers, texts, [*answered, *[-NONE for _ in others]]

    return lambda: of_topics() if chance.random() < 0.92 else of_public()


if __name__ == "__main__":
    command, *rest = sys.argv[1:]
    if command == "fit":
        fit(rest[0], float(rest[1]))
    else:
        encode(*rest)
