"""Trains the judge of instructions: `instructions` in `guard.json` beside the sentence model.

    pip install numpy scikit-learn onnx==1.23.2 onnxruntime==1.32.0 tokenizers
    python train.py encode WORK     # what the lower layers make of all texts; what WORK knows is not run again
    python train.py fit WORK        # prints what it finds in languages and styles that it was not trained on
    python train.py export WORK     # and writes guard.json

A logistic regression over the mean of what the lower layers of the sentence model make of a text, and over its vector: the
odds that the text contains instructions aimed at an assistant, against the interest of the one it works for.

Trained on `texts` beside this file, written for this purpose in eighteen languages. A line `# name` begins a style; `h` is a
hostile text and `b` a benign one: memories, wishes of the user's own, texts about attacks, orders of everyday life, what
skills tell a model to do. The benign statements of `../reader/topics` join them. Half of all texts are also learnt behind or
before a benign one, as a sentence among others.

The odds are zero where one in 100 benign texts is above, each judged by weights that have not seen it: texts that are harder
than what people usually say.
"""

import glob
import json
import os
import random
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
MODEL = os.path.dirname(HERE)
STATES, VECTOR = "l8.oln", "sentence_embedding"
MOST_TOKENS = 128
# the share of benign texts above zero
MOST_BENIGN = 0.01
STRENGTH = 0.003
FOLDS = 8
chance = random.Random(11)


def texts():
    """All texts: language, style, whether hostile, and the text."""
    made = []
    for path in sorted(glob.glob(os.path.join(HERE, "texts", "*.txt"))):
        style = ""
        for line in open(path, encoding="utf8").read().split("\n"):
            if line.startswith("# "):
                style = line[2:]
            elif line[:2] in ("h ", "b "):
                made.append((os.path.basename(path)[:-4], style, line[0] == "h", line[2:].replace("\\n", "\n")))
    for path in sorted(glob.glob(os.path.join(MODEL, "reader", "topics", "*.txt"))):
        for line in open(path, encoding="utf8").read().split("\n"):
            if line[:2] in ("s ", "c ", "n "):
                made.append((os.path.basename(path)[:2], "topics", False, line[2:]))
    return made + joined(made)


def joined(made):
    by_language = {}
    for language, _, hostile, text in made:
        if not hostile:
            by_language.setdefault(language, []).append(text)
    more = []
    for language, style, hostile, text in made:
        if style == "skill" or style == "topics" or chance.random() < 0.5:
            continue
        pair = [text, chance.choice(by_language[language])]
        chance.shuffle(pair)
        more.append((language, style, hostile, " ".join(pair)))
    return more


def encode(work):
    import onnx
    import onnxruntime
    from tokenizers import Tokenizer

    model = onnx.load(os.path.join(MODEL, "model.onnx"))
    model.graph.output.append(onnx.helper.make_tensor_value_info(STATES, onnx.TensorProto.FLOAT, ["texts", "tokens", 384]))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    tokenizer = Tokenizer.from_file(os.path.join(MODEL, "tokenizer.json"))
    known = states(work)
    for _, _, _, text in texts():
        if text in known:
            continue
        tokens = tokenizer.encode(f"passage: {text}").ids
        tokens = tokens if len(tokens) <= MOST_TOKENS else [*tokens[: MOST_TOKENS - 1], tokens[-1]]
        ids = np.array([tokens], np.int64)
        rows, vectors = session.run([STATES, VECTOR], {"input_ids": ids, "attention_mask": np.ones_like(ids)})
        known[text] = np.concatenate([rows[0].mean(0), vectors[0] / np.linalg.norm(vectors[0])])
    os.makedirs(work, exist_ok=True)
    with open(os.path.join(work, "texts.json"), "w", encoding="utf8") as file:
        json.dump(list(known), file)
    np.save(os.path.join(work, "states.npy"), np.stack(list(known.values())))


def states(work):
    path = os.path.join(work, "texts.json")
    if not os.path.exists(path):
        return {}
    return dict(zip(json.load(open(path, encoding="utf8")), np.load(os.path.join(work, "states.npy"))))


def learnt(rows, known):
    """Weights and bias of the regression, for numbers that are not scaled."""
    from sklearn.linear_model import LogisticRegression

    x = np.stack([known[text] for *_, text in rows])
    y = np.array([hostile for _, _, hostile, _ in rows])
    mean, spread = x.mean(0), x.std(0) + 1e-6
    fitted = LogisticRegression(C=STRENGTH, max_iter=3000, class_weight="balanced").fit((x - mean) / spread, y)
    weights = fitted.coef_[0] / spread
    return weights, fitted.intercept_[0] - weights @ mean


def judged(rows, known, weights, bias):
    return np.stack([known[text] for *_, text in rows]) @ weights + bias


def apart(rows, known, group):
    """Odds of each text by weights that have not seen its group."""
    odds = np.zeros(len(rows))
    for held in sorted({group(row) for row in rows}):
        weights, bias = learnt([row for row in rows if group(row) != held], known)
        at = [n for n, row in enumerate(rows) if group(row) == held]
        odds[at] = judged([rows[n] for n in at], known, weights, bias)
    return odds


def fold(row):
    """A text and those that it is joined with are in the same fold, as far as they begin alike."""
    return sum(row[3][:12].encode()) % FOLDS


def limit(rows, odds):
    """Odds above which only the share MOST_BENIGN of the benign texts are."""
    benign = np.sort([each for each, row in zip(odds, rows) if not row[2]])
    return benign[int(len(benign) * (1 - MOST_BENIGN))]


def fit(work):
    rows, known = texts(), states(work)
    print(len(rows), "texts,", sum(row[2] for row in rows), "hostile")
    folds = apart(rows, known, fold)
    most = limit(rows, folds)
    shares(rows, folds - most, 0, "texts that were held out")
    shares(rows, apart(rows, known, lambda row: row[0]) - most, 0, "languages that were held out")
    shares(rows, apart(rows, known, lambda row: row[1]) - most, 1, "styles that were held out")
    for odds, text in sorted((odds, row[3]) for odds, row in zip(folds - most, rows) if not row[2])[-25:]:
        print("benign", round(odds, 1), text[:120].replace("\n", " "))
    return rows, known, most


def shares(rows, odds, at, title):
    print(title)
    for name in sorted({row[at] for row in rows}):
        parts = [[odds[n] > 0 for n, row in enumerate(rows) if row[at] == name and row[2] == hostile] for hostile in (True, False)]
        print(f"  {name:14}", *(f"{what} {np.mean(part):.3f} of {len(part)}" if part else "" for what, part in zip(("hostile", "benign"), parts)))
    for what, hostile in (("hostile", True), ("benign", False)):
        print("  all", what, round(np.mean([odds[n] > 0 for n, row in enumerate(rows) if row[2] == hostile]), 4))


def export(work):
    rows, known, most = fit(work)
    weights, bias = learnt(rows, known)
    path = os.path.join(MODEL, "guard.json")
    judges = json.load(open(path, encoding="utf8"))
    judges["instructions"] = {"bias": round(float(bias - most), 5), "weights": [round(float(each), 5) for each in weights]}
    with open(path, "w", encoding="utf8") as file:
        json.dump(judges, file)
        file.write("\n")


if __name__ == "__main__":
    {"encode": encode, "fit": fit, "export": export}[sys.argv[1]](sys.argv[2])
