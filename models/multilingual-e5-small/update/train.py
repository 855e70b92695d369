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

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from upper import Lower, Release, batches, exact_layers, optimizer_of, pair_reader

FIRST, MOST_TOKENS, BATCH = 8, 48, 48
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


class Texts(Lower):
    """What the lower layers make of pairs; each pair is run once."""

    def __init__(self):
        super().__init__(FIRST)
        self.known = {}

    def pair(self, older, newer):
        if (older, newer) not in self.known:
            one, other = (self.tokens(text, MOST_TOKENS) for text in (older, newer))
            self.known[older, newer] = self.together(one, other)
        return self.known[older, newer]


# training

def trained(reader, texts, pairs, epochs, missed):
    import torch

    optimizer = optimizer_of(reader, (1.8e-4, 9e-4))
    full, step, steps = [each["lr"] for each in optimizer.param_groups], 0, epochs * math.ceil(len(pairs) / BATCH)
    for _ in range(epochs):
        chance.shuffle(pairs)
        for batch in batches(pairs, BATCH, lambda pair: len(pair[0]) + len(pair[1]), chance):
            for each, rate in zip(optimizer.param_groups, full):
                each["lr"] = rate * min(1, (step + 1) / 20) * (1 - step / steps)
            loss = missed(reader([texts.pair(older, newer) for older, newer, _ in batch]), [kind for _, _, kind in batch])
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(reader.parameters(), 1.0)
            optimizer.step()
            step += 1
        print(loss.item(), flush=True)


def read(sets, work):
    import torch

    texts, reader = Texts(), pair_reader(FIRST, 3)
    reader.load_state_dict({name: torch.tensor(value.copy()) for name, value in exact_layers(texts.model, FIRST).items()}, strict=False)
    pairs = of_sets(sets)
    pairs.sort(key=lambda pair: sum(len(texts.tokens(text, MOST_TOKENS)) for text in pair[:2]))
    missed = lambda odds, kinds: torch.nn.functional.cross_entropy(odds, torch.tensor(kinds))
    trained(reader, texts, pairs[:9000], 1, missed)
    os.makedirs(work, exist_ok=True)
    kept = {name: value.numpy() for name, value in reader.state_dict().items() if not name.startswith("out.")}
    np.savez(os.path.join(work, "read.npz"), **kept)


def fit(work, without=""):
    import torch

    texts, reader = Texts(), pair_reader(FIRST, 1)
    before = np.load(os.path.join(work, "read.npz"))
    reader.load_state_dict({name: torch.tensor(value) for name, value in before.items()}, strict=False)
    missed = lambda odds, kinds: torch.nn.functional.binary_cross_entropy_with_logits(odds[:, 0], torch.tensor(kinds).float())
    trained(reader, texts, of_writers(without) + of_texts(), 3, missed)
    np.savez(os.path.join(work, "update.npz"), **{name: value.numpy() for name, value in reader.state_dict().items()})
    reader.eval()
    for line in open(os.path.join(HERE, "pairs", f"{without}.txt"), encoding="utf8") if without else ():
        with torch.no_grad():
            print(round(reader([texts.pair(*line[2:-1].split("\t"))]).item(), 2), line[:-1], sep="\t")


# release

# of the odds beside those of the regression, fitted on the writer who was left out
TIMES, ADDED = 1.6, 0.3


def export(work, folder):
    made = Release(os.path.join(work, "update.npz"), FIRST)
    values = made.upper(made.marked("states", "texts"))
    made.save(os.path.join(folder, "update.onnx"), made.means(values, "texts"), ["states", "texts"], TIMES, ADDED)


if __name__ == "__main__":
    {"read": read, "fit": fit, "export": export}[sys.argv[1]](*sys.argv[2:])
