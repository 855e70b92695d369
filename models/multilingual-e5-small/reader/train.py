"""Trains the reader of memories: `reader.onnx` and `judge.onnx` beside the sentence model.

    apt-get install python3-torch libopenblas0-pthread        # 1.13; any later one does
    pip install numpy onnx==1.23.2 onnxruntime==1.32.0 tokenizers
    python train.py encode WORK          # what the lower layers make of all texts
    python train.py fit WORK MINUTES     # by torch
    python export.py WORK FOLDER

The upper three layers of the sentence model are trained to bring a question and the text that answers it together, on all
pairs of a batch. Two small networks judge a pair: one compares the vectors of both, the other each part of the question
with what it attends to in the text. The latter sees, for each question, the best texts of a batch and a few at random.
Training goes on from the reader that is there; without one it begins with the sentence model's own layers. The layers below
stay as they are, in 8 bits, so that the server runs them once for both.

Trained on `topics` beside this file (written for this purpose: what people say about themselves, in many languages and three
styles, with questions that it answers and near ones that it does not). Topics whose names begin alike (`flat/rent`,
`flat/floor`) are about the same thing: none answers the questions of another. The topics in
`held-out` take no part: by them a training is judged and the score fitted. Nor do `bench/calibration/texts`. The readers before this one were also trained on public sets of questions (see NOTICE).

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
# best and random texts of a batch whose tokens are compared with those of a question
BEST, RANDOM = 5, 3
# share of batches that begin with topics of which several are about the same thing, and with English ones
NEW, ENGLISH = 0.5, 0.6
chance = random.Random(7)


# texts

def topics(folder="topics"):
    """Topics of all languages: what was said (lines s, c, n), questions that it answers (q) and near ones (x)."""
    made = []
    for path in sorted(glob.glob(os.path.join(HERE, folder, "*.txt"))):
        file = os.path.basename(path)
        for line in open(path, encoding="utf8").read().split("\n"):
            if line.startswith("#"):
                thing = f"{file} {line[1:].split('/')[0]}" if "/" in line else None
                made.append({"language": file[:2], "thing": thing, "is_new": file[2:4] in ("-c", "-d"), "said": [], "questions": [], "near": []})
            elif line[:2] in ("s ", "c ", "n "):
                made[-1]["said"].append(line[2:])
            elif line[:2] == "q ":
                made[-1]["questions"].append(line[2:])
            elif line[:2] == "x ":
                made[-1]["near"].append(line[2:])
    return [{**each, "at": at} for at, each in enumerate(made)]


def unrelated():
    """Texts that answer none of the questions: those of our benchmark."""
    lines = open(os.path.join(MODEL, "../../bench/calibration/texts/distractors.txt"), encoding="utf8").read().split("\n")
    return [line for line in lines if line]


# what the lower layers make of them

def encode(work):
    import onnx
    import onnxruntime
    from onnx.utils import Extractor
    from tokenizers import Tokenizer

    model = onnx.load(os.path.join(MODEL, "model.onnx"))
    model.graph.output.append(onnx.helper.make_tensor_value_info(STATES, onnx.TensorProto.FLOAT, ["texts", "tokens", SIZE]))
    lower = Extractor(model).extract_model(["input_ids", "attention_mask"], [STATES])
    session = onnxruntime.InferenceSession(lower.SerializeToString())
    inputs = {each.name for each in session.get_inputs()}
    tokenizer = Tokenizer.from_file(os.path.join(MODEL, "tokenizer.json"))
    texts = {("passage", text): 1 for text in unrelated()}
    for topic in topics() + topics("held-out"):
        texts |= {("passage", text): 1 for text in topic["said"]}
        texts |= {("query", text): 1 for text in topic["questions"] + topic["near"]}
    rows, begins = [], [0]
    for use, text in texts:
        tokens = tokenizer.encode(f"{use}: {text}").ids
        tokens = tokens if len(tokens) <= MOST_TOKENS else [*tokens[: MOST_TOKENS - 1], tokens[-1]]
        ids = np.array([tokens], np.int64)
        given = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        (states,) = session.run([STATES], {name: given[name] for name in inputs})
        rows.append(states[0].astype(np.float16))
        begins.append(begins[-1] + len(tokens))
    os.makedirs(work, exist_ok=True)
    np.save(os.path.join(work, "states.npy"), np.concatenate(rows))
    with open(os.path.join(work, "texts.json"), "w", encoding="utf8") as file:
        json.dump({"texts": list(texts), "begins": begins}, file)
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


def released(names):
    """The weights of these names of the reader that is there, its layers from 8 bits; none of a network that it does not have yet."""
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
            if part in parts and f"{layer}.{parts[part]}" in names:
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
    from network import Reader

    torch.manual_seed(2)
    known = json.load(open(os.path.join(work, "texts.json"), encoding="utf8"))
    states = np.load(os.path.join(work, "states.npy"))
    place = {tuple(text): at for at, text in enumerate(known["texts"])}

    def rows(use, text):
        at = place[(use, text)]
        return states[known["begins"][at] : known["begins"][at + 1]][:56]

    reader = Reader(np.load(os.path.join(work, "layers.npz")))
    before = released(reader.state_dict().keys())
    reader.load_state_dict({name: torch.tensor(value) for name, value in before.items()}, strict=False)
    named = dict(reader.named_parameters())
    single = ("scale", "bias", "sharp")
    rates = [
        {"params": [each for name, each in named.items() if name.startswith("layers")], "lr": 9e-5},
        {"params": [each for name, each in named.items() if not name.startswith(("layers", *single))], "lr": 3e-4},
        {"params": [named[name] for name in single], "lr": 2e-3},
    ]
    optimizer = torch.optim.AdamW(rates, weight_decay=0.01)
    full = [each["lr"] for each in rates]

    def loss_of(odds, right, unknown, weights):
        missed = F.binary_cross_entropy_with_logits(odds, right, reduction="none") * weights
        # one of the texts answers it, or, with odds of 1, none does
        none = (right.sum(1, keepdim=True) == 0).float()
        shares = F.log_softmax(torch.cat([odds - unknown * 1e4, torch.zeros(len(odds), 1)], 1), -1)
        return missed.sum() / len(odds) / 2 - (shares * torch.cat([right, none], 1)).sum(1).mean()

    batch = batches(rows)
    begin, step = time.time(), 0
    while (passed := (time.time() - begin) / (minutes * 60)) < 1:
        for each, rate in zip(optimizer.param_groups, full):
            each["lr"] = rate * min(1, (step + 1) / 20) * (1 - passed)
        questions, texts, *known_of_pairs = batch()
        asked = reader.encoded([rows("query", text) for text in questions])
        said = reader.encoded([rows("passage", text) for text in texts])
        right, unknown, weights = (torch.tensor(each, dtype=torch.float32) for each in known_of_pairs)
        odds = reader.by_vectors(asked, said)
        # its own text, those about the same thing, the best of the others, and some at random that are not among these
        wanted = odds.detach() + right * 100 + (weights > 2.5) * 50 - unknown * 1e3
        best = wanted.topk(min(BEST, len(texts)), 1).indices
        some = torch.randint(0, len(texts), (len(questions), RANDOM))
        picked = torch.cat([best, some], 1)
        twice = torch.cat([torch.zeros_like(best), (some[..., None] == best[:, None]).any(-1)], 1)
        pairs = torch.arange(len(questions))[:, None].expand_as(picked).reshape(-1), picked.reshape(-1)
        compared = odds.gather(1, picked) + reader.by_parts(asked, said, *pairs).view_as(picked)
        of_picked = right.gather(1, picked) * (1 - twice), torch.maximum(unknown.gather(1, picked), twice), weights.gather(1, picked) * (1 - twice)
        loss = 0.4 * loss_of(odds, right, unknown, weights) + loss_of(compared, *of_picked)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(reader.parameters(), 1.0)
        optimizer.step()
        step += 1
        if step % 50 == 0:
            print(step, round(loss.item(), 3), flush=True)
    np.savez(os.path.join(work, "reader.npz"), **{name: each.numpy() for name, each in reader.state_dict().items()})


def batches(rows):
    """Every question of a batch is judged with every text of it. The texts are in one language, many about the same thing or alike."""
    all_topics, aside = topics(), unrelated()
    mean_of = lambda text: rows("passage", text).astype(np.float32)[3:].mean(0)
    means = np.stack([np.mean([mean_of(text) for text in topic["said"]], 0) for topic in all_topics])
    means -= means.mean(0)
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    of_language, things = {}, {}
    for topic in all_topics:
        of_language.setdefault(topic["language"], []).append(topic["at"])
        things.setdefault(topic["thing"] or topic["at"], []).append(topic)
    pools, nearest = {}, {}
    for some in things.values():
        pools.setdefault((some[0]["is_new"], some[0]["language"] == "en"), []).append(some)

    def alike(at):
        if at not in nearest:
            others = np.array([each for each in of_language[all_topics[at]["language"]] if each != at])
            nearest[at] = others[np.argsort(-(means[others] @ means[at]))][:10].tolist()
        return nearest[at]

    def some_topics():
        pool = pools[(chance.random() < NEW, is_english := chance.random() < ENGLISH)]
        if not is_english:
            language = chance.choice(pool)[0]["language"]
            pool = [some for some in pool if some[0]["language"] == language]
        chosen = {}
        for some in chance.sample(pool, min(len(pool), 14)):
            chosen |= {topic["at"]: topic for topic in some}
            near = alike(some[0]["at"])
            chosen |= {at: all_topics[at] for at in chance.sample(near, min(2, len(near)))}
            if len(chosen) >= 30:
                break
        return list(chosen.values())

    def batch():
        chosen = some_topics()
        asked = []
        for topic in chosen:
            answered = chance.sample(topic["questions"], min(len(topic["questions"]), 1 + (chance.random() < 0.5)))
            near = chance.sample(topic["near"], min(len(topic["near"]), (chance.random() < 0.9) + (chance.random() < 0.4)))
            asked += [(text, topic, False) for text in answered] + [(text, topic, True) for text in near]
        texts = [chance.choice(topic["said"]) for topic in chosen] + chance.sample(aside, 4)
        said = [*chosen, *[{"at": -1, "thing": None}] * 4]
        is_near = np.array([near for _, _, near in asked])[:, None]
        own = np.array([[topic["at"] == each["at"] for each in said] for _, topic, _ in asked])
        same = np.array([[topic["thing"] is not None and topic["thing"] == each["thing"] for each in said] for _, topic, _ in asked])
        # a near question about one thing may be answered by another topic about it
        unknown = same & ~own & is_near
        weights = (1 + 2 * own + (same & ~own & ~is_near)) * ~unknown
        return [text for text, _, _ in asked], texts, own & ~is_near, unknown, weights

    return batch


if __name__ == "__main__":
    command, *rest = sys.argv[1:]
    if command == "fit":
        fit(rest[0], float(rest[1]))
    else:
        encode(*rest)
