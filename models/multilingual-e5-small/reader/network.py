"""The networks of the reader, by torch: see `train.py`."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from train import FIRST, HEADS, LAST, PARTS, SIZE


def in_heads(values, heads):
    return values.view(*values.shape[:2], heads, -1).transpose(1, 2)


def joined(values):
    texts, _, tokens, _ = values.shape
    return values.transpose(1, 2).reshape(texts, tokens, -1)


class Layer(nn.Module):
    """A layer of the sentence model."""

    def __init__(self, values, at):
        super().__init__()
        for part in ("qkv", "ao", "fi", "fo"):
            weights = torch.tensor(values[f"l{at}.{part}.w"].T.copy())
            linear = nn.Linear(weights.shape[1], weights.shape[0])
            linear.weight.data, linear.bias.data = weights, torch.tensor(values[f"l{at}.{part}.b"])
            setattr(self, part, linear)
        for part in ("aln", "oln"):
            norm = nn.LayerNorm(SIZE, eps=1e-12)
            norm.weight.data = torch.tensor(values[f"l{at}.{part}.w"])
            norm.bias.data = torch.tensor(values[f"l{at}.{part}.b"])
            setattr(self, part, norm)

    def forward(self, x, mask):
        q, k, v = (in_heads(part, HEADS) for part in self.qkv(x).split(SIZE, -1))
        share = F.dropout((q @ k.transpose(-1, -2) / math.sqrt(SIZE // HEADS) + mask).softmax(-1), 0.1, self.training)
        x = self.aln(x + F.dropout(self.ao(joined(share @ v)), 0.1, self.training))
        return self.oln(x + F.dropout(self.fo(F.gelu(self.fi(x))), 0.1, self.training))


class Reader(nn.Module):
    def __init__(self, values):
        super().__init__()
        self.layers = nn.ModuleList([Layer(values, at) for at in range(FIRST, LAST)])
        self.scale, self.bias = nn.Parameter(torch.tensor(4.0)), nn.Parameter(torch.tensor(0.86))
        self.dense, self.out = nn.Linear(2 * SIZE, 96), nn.Linear(96, 1)
        self.proj, self.weigh, self.sharp = nn.Linear(SIZE, PARTS), nn.Linear(SIZE, 1), nn.Parameter(torch.tensor(0.7))
        self.compare, self.attended = nn.Linear(4 * PARTS, PARTS), nn.Linear(PARTS, 1)
        for last in (self.out, self.attended):
            nn.init.zeros_(last.weight), nn.init.zeros_(last.bias)

    def encoded(self, rows):
        """Vectors of texts, their tokens, the weights of these and which there are; texts of similar length in one run."""
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
            vectors = F.normalize((x * shares).sum(1) / shares.sum(1), dim=-1)
            parts = F.pad(F.normalize(self.proj(x), dim=-1), (0, 0, 0, rest))
            made.append((vectors, parts, F.pad(self.weigh(x).squeeze(-1), (0, rest)), F.pad(present, (0, rest))))
        back = torch.tensor(np.argsort(order))
        return [torch.cat(each)[back] for each in zip(*made)]

    def by_vectors(self, questions, texts):
        """The odds of all pairs."""
        question, text = questions[0], texts[0]
        together, apart = question[:, None] * text[None], (question[:, None] - text[None]).abs()
        judged = self.out(F.dropout(F.gelu(self.dense(torch.cat([together, apart], -1) * 19)), 0.1, self.training))
        return self.scale.exp() * (question @ text.T - self.bias) + judged.squeeze(-1)

    def by_parts(self, questions, texts, asked, said):
        """What each token of a question adds to the odds of pairs, by what it attends to in the text."""
        words, parts = questions[1][asked], texts[1][said]
        likeness = words @ parts.transpose(-1, -2) * self.sharp.exp() * 5 + ((texts[3] - 1) * 1e4)[said][:, None]
        found = likeness.softmax(-1) @ parts
        pair = torch.cat([words, found, words * found * 8, (words - found).abs()], -1) * 4
        compared = F.dropout(F.gelu(self.compare(pair)), 0.1, self.training)
        shares = (questions[2] + (questions[3] - 1) * 1e4).softmax(-1)[asked]
        return self.attended((shares[..., None] * compared).sum(1)).squeeze(-1)
