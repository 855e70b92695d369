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

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
MODEL = os.path.dirname(HERE)
sys.path.insert(0, MODEL)
from upper import SIZE, Lower, Release, batches, exact_layers, optimizer_of, upper

FIRST, HIDDEN = 8, 96
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


class Texts(Lower):
    """What the lower layers make of passages; each is run once."""

    def __init__(self):
        super().__init__(FIRST)
        self.known = {}

    def passage(self, text):
        if text not in self.known:
            self.known[text] = self.of(self.tokens(text, MOST_TOKENS))
        return self.known[text]


# training

def network():
    import torch
    import torch.nn.functional as F
    from torch import nn

    torch.manual_seed(1), torch.set_num_threads(1)

    class Reader(nn.Module):
        def __init__(self):
            super().__init__()
            self.upper = upper(FIRST)
            self.dense, self.out = nn.Linear(3 * SIZE, HIDDEN), nn.Linear(HIDDEN, 1)
            nn.init.zeros_(self.out.weight)

        def forward(self, rows):
            longest = max(len(states) for states in rows)
            x, there = np.zeros((len(rows), longest, SIZE), np.float32), np.zeros((len(rows), longest, 1), np.float32)
            for at, states in enumerate(rows):
                x[at, : len(states)], there[at, : len(states)] = states, 1
            x, there = torch.from_numpy(x), torch.from_numpy(there)
            with torch.autocast("cpu", dtype=torch.bfloat16):
                mask = ((1 - there[:, :, 0]) * -1e4)[:, None, None, :]
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

    optimizer = optimizer_of(reader, rates)
    reader.train(), chance.shuffle(rows)
    rounds = batches(rows, size, lambda row: len(texts.passage(row[0])), chance)
    for step, batch in enumerate(rounds):
        for each, rate in zip(optimizer.param_groups, rates):
            each["lr"] = rate * min(1, (step + 1) / 30) * max(0.02, 1 - step / len(rounds))
        known, weights = (torch.tensor([float(row[at]) for row in batch]) for at in (1, 2))
        missed = torch.nn.functional.binary_cross_entropy_with_logits
        loss = (missed(reader([texts.passage(row[0]) for row in batch]), known, reduction="none") * weights).sum() / weights.sum()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(reader.parameters(), 1.0)
        optimizer.step()
    reader.eval()


def odds(reader, texts, some):
    import torch

    with torch.no_grad():
        parts = [some[at : at + BATCH] for at in range(0, len(some), BATCH)]
        return [value for part in parts for value in reader([texts.passage(text) for text in part]).tolist()]


def fit(work, published, without=""):
    import torch

    texts, reader = Texts(), network()
    reader.load_state_dict({name: torch.tensor(value.copy()) for name, value in exact_layers(texts.model, FIRST).items()}, strict=False)
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
    made = Release(os.path.join(work, "skills.npz"), FIRST)
    values = made.upper("states")
    made.node("Gather", [values, made.constant("begin", np.array([0], np.int64))], "start", axis=1)
    tokens = made.constant("tokens", np.array([1], np.int64))
    made.node("ReduceMean", [values, tokens], "mean"), made.node("ReduceMax", [values, tokens], "most")
    features = made.node("Concat", ["start", "mean", "most"], "features", axis=-1)
    made.save(os.path.join(folder, "skills.onnx"), features, ["states"], added=-float(bound))


if __name__ == "__main__":
    {"fit": fit, "export": export}[sys.argv[1]](*sys.argv[2:])
