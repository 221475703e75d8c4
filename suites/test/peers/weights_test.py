#!/usr/bin/env python3
"""weights_test.py: PyTorch reads weights that lockstep train has saved, makes the same logits, and
trains on from there with the same losses.

The module below has nanoGPT's names, so its load_state_dict must know every name and shape of the
file. It computes in float64. Logits of lockstep must be within a bound that is derived for each.
A text of two windows has one that trains: every row of every batch is that one.
77: no PyTorch here. usage: weights_test.py DUMP_LOGITS LOCKSTEP FOLDER"""
from __future__ import annotations

import json
import math
import os
import struct
import subprocess
import sys

LAYERS, WIDTH, HEADS, CONTEXT, VOCABULARY = 2, 32, 4, 24, 128
NAME = f"gpt:{LAYERS},{WIDTH},{HEADS},{CONTEXT},{VOCABULARY}"
ROWS, LOGITS = 5, 60
U = 2.0**-24


def read(path: str) -> dict:
    """results/weights.md."""
    import numpy

    raw = open(path, "rb").read()
    magic, version, n, size = struct.unpack_from("<8sIIQ", raw)
    assert magic == b"LOCKSTPW" and version == 1 and size == len(raw)
    at, tensors = 24, {}
    for _ in range(n):
        (length,) = struct.unpack_from("<H", raw, at)
        name = raw[at + 2 : at + 2 + length].decode()
        kind, dims = raw[at + 2 + length : at + 4 + length]
        at += 4 + length
        shape = struct.unpack_from(f"<{dims}Q", raw, at)
        values = numpy.frombuffer(raw, ["<f4", "<f8", "<i4", "<i8"][kind], int(numpy.prod(shape)), at + 8 * dims)
        tensors[name] = values.reshape(shape)
        at += 8 * dims + values.nbytes
    return tensors


def torch_of(path: str) -> dict:
    """As state_dict has them, in float64."""
    import torch

    tensors = {name.replace("module.", "", 1): torch.from_numpy(value.astype("float64"))
               for name, value in read(path).items()}
    return tensors | {"lm_head.weight": tensors["transformer.wte.weight"]}


def make_model():
    import torch
    from torch import nn

    class Attention(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.c_attn = nn.Linear(WIDTH, 3 * WIDTH)
            self.c_proj = nn.Linear(WIDTH, WIDTH)

        def forward(self, x):
            n, t, _ = x.shape
            q, k, v = (part.view(n, t, HEADS, WIDTH // HEADS).transpose(1, 2)
                       for part in self.c_attn(x).split(WIDTH, dim=2))
            scores = q @ k.transpose(2, 3) / (WIDTH // HEADS) ** 0.5
            later = torch.ones(t, t, dtype=torch.bool).triu(1)
            weights = scores.masked_fill(later, float("-inf")).softmax(-1)
            return self.c_proj((weights @ v).transpose(1, 2).reshape(n, t, WIDTH))

    class Mlp(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.c_fc = nn.Linear(WIDTH, 4 * WIDTH)
            self.c_proj = nn.Linear(4 * WIDTH, WIDTH)

        def forward(self, x):
            return self.c_proj(nn.functional.gelu(self.c_fc(x), approximate="tanh"))

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.ln_1, self.attn = nn.LayerNorm(WIDTH), Attention()
            self.ln_2, self.mlp = nn.LayerNorm(WIDTH), Mlp()

        def forward(self, x):
            x = x + self.attn(self.ln_1(x))
            return x + self.mlp(self.ln_2(x))

    class Gpt(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.transformer = nn.ModuleDict({
                "wte": nn.Embedding(VOCABULARY, WIDTH), "wpe": nn.Embedding(CONTEXT, WIDTH),
                "h": nn.ModuleList(Block() for _ in range(LAYERS)), "ln_f": nn.LayerNorm(WIDTH)})
            self.lm_head = nn.Linear(WIDTH, VOCABULARY, bias=False)
            self.lm_head.weight = self.transformer["wte"].weight

        def forward(self, tokens):
            t = self.transformer
            x = t["wte"](tokens) + t["wpe"].weight[: tokens.shape[1]]
            for block in t["h"]:
                x = block(x)
            return self.lm_head(t["ln_f"](x))

    return Gpt().double()


def gamma(n: int) -> float:
    return n * U / (1 - n * U)


class Bounds:
    """The same model with the rounding of each layer. What floats make of it is no further off than
    all layers' own errors, each times the slope of the output in it: to first order, so twice that
    is taken. A sum of n products is within gamma(n) of its |terms|."""

    def __init__(self, weights: dict) -> None:
        self.w, self.layers = weights, []

    def off(self, value, error):
        self.layers.append((value, error.detach()))
        return value

    def linear(self, x, name: str):
        w, b = self.w[name + ".weight"], self.w.get(name + ".bias", 0 * self.w[name + ".weight"][:, 0])
        return self.off(x @ w.T + b, gamma(w.shape[1] + 1) * (x.abs() @ w.abs().T + b.abs()))

    def norm(self, x, name: str):
        w, b = self.w[name + ".weight"], self.w[name + ".bias"]
        c = x - x.mean(-1, keepdim=True)
        y = c * ((c * c).mean(-1, keepdim=True) + 1e-5) ** -0.5 * w
        return self.off(y + b, 8 * U * (y.abs() + b.abs()))

    def attention(self, x, name: str):
        import torch
        d, t = WIDTH // HEADS, x.shape[1]
        q, k, v = (part.view(-1, t, HEADS, d).transpose(1, 2)
                   for part in self.linear(x, name + ".c_attn").split(WIDTH, dim=2))
        later = torch.ones(t, t, dtype=torch.bool).triu(1)
        s = self.off(q @ k.transpose(2, 3) / d**0.5,
                     gamma(d + 2) * (q.abs() @ k.abs().transpose(2, 3)) / d**0.5)
        p = s.masked_fill(later, float("-inf")).softmax(-1)
        # A difference that is rounded, its exp within 16 units, a sum of t, a quotient.
        far = s.abs().amax(-1, keepdim=True)
        p = self.off(p, p * (4 * U * far + gamma(t + 64)))
        y = self.off(p @ v, gamma(t) * (p @ v.abs()))
        return self.linear(y.transpose(1, 2).reshape(x.shape), name + ".c_proj")

    def mlp(self, x, name: str):
        import torch
        x = self.linear(x, name + ".c_fc")
        # tanh is within 8 units, its slope times its argument below 0.5.
        y = self.off(torch.nn.functional.gelu(x, approximate="tanh"), 16 * U * x.abs())
        return self.linear(y, name + ".c_proj")

    def plus(self, x, y):
        return self.off(x + y, U * (x + y).abs())

    def logits(self, tokens):
        x = self.plus(self.w["transformer.wte.weight"][tokens].requires_grad_(),
                      self.w["transformer.wpe.weight"][: tokens.shape[1]])
        for layer in range(LAYERS):
            at = f"transformer.h.{layer}."
            x = self.plus(x, self.attention(self.norm(x, at + "ln_1"), at + "attn"))
            x = self.plus(x, self.mlp(self.norm(x, at + "ln_2"), at + "mlp"))
        return self.linear(self.norm(x, "transformer.ln_f"), "lm_head")

    def of(self, logit) -> float:
        import torch
        slopes = torch.autograd.grad(logit, [value for value, _ in self.layers], retain_graph=True)
        return 2 * float(sum((slope.abs() * error).sum()
                             for slope, (_, error) in zip(slopes, self.layers)))


def compare(path: str, raw: bytes) -> str:
    """What is wrong, or nothing."""
    import numpy
    import torch

    tensors = torch_of(path)
    model = make_model()
    model.load_state_dict(tensors)
    n = ROWS * CONTEXT
    tokens = torch.from_numpy(numpy.frombuffer(raw, "<i4", n).astype(numpy.int64)).view(ROWS, CONTEXT)
    got = torch.from_numpy(numpy.frombuffer(raw, "<f4", n * VOCABULARY, 4 * n).astype(numpy.float64))
    got = got.view(ROWS, CONTEXT, VOCABULARY)
    bounds = Bounds(tensors)
    same = bounds.logits(tokens)
    some = [(i % ROWS, i * 7 % CONTEXT, i * 37 % VOCABULARY) for i in range(LOGITS)]
    e = torch.tensor([bounds.of(same[i]) for i in some])

    def off(logits) -> float:
        return float((torch.stack([(logits[i] - want[i]).abs() for i in some]) / e).max())

    other = dict(tensors)
    for name in [name for name in tensors if ".c_attn." in name]:
        q, k, v = tensors[name].split(WIDTH)
        other[name] = torch.cat((k, q, v))
    with torch.no_grad():
        want = model(tokens)
        model.load_state_dict(other)
        swapped = model(tokens)
    ratio = off(got)
    print(f"{LOGITS} logits up to {float(want.abs().max()):.3g}: a difference is at most {ratio:.3g} of "
          f"its bound, which is at most {float(e.max()):.3g}")
    if not (same - want).abs().max() < 1e-12:
        return "the bounds are of another model"
    if not ratio <= 1:
        return f"a logit is {ratio:.3g} times its bound away"
    if not off(swapped) > 100:
        return "queries and keys that change places are hardly beyond the bound"
    return ""


STEPS, RATE, WARMUP, DECAY, CLIP = 12, 0.01, 3, 1.0, 0.5
OPTIONS = ["--epochs", str(STEPS), "--batch", "8", "--lr", str(RATE), "--warmup", str(WARMUP),
           "--decay", str(DECAY), "--clip", str(CLIP)]
TOLERANCE = 1e-5  # of losses; what is wrong below moves them a hundred times as far


def losses(path: str, window: bytes, adamw: bool, *, warmup=WARMUP, decay=DECAY, clip=CLIP,
           beta=0.95) -> list[float]:
    """Of each step, in PyTorch."""
    import torch

    model = make_model()
    model.load_state_dict(torch_of(path))
    tokens = torch.tensor([list(window)])
    optimizer = (torch.optim.AdamW(model.parameters(), betas=(0.9, beta), weight_decay=decay) if adamw else
                 torch.optim.SGD(model.parameters(), lr=1, momentum=0.9, weight_decay=decay))
    found = []
    for step in range(STEPS):
        wave = (1 + math.cos(math.pi * (step - warmup) / (STEPS - warmup))) / 2
        rate = RATE * ((step + 1) / (warmup + 1) if step < warmup else 0.1 + 0.9 * wave)
        for group in optimizer.param_groups:
            group["lr"] = rate
        loss = torch.nn.functional.cross_entropy(model(tokens[:, :-1])[0], tokens[0, 1:])
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        found.append(float(loss))
    return found


def apart(one: list[float], other: list[float]) -> float:
    return max(abs(a - b) for a, b in zip(one, other, strict=True))


def train_on(lockstep: str, folder: str) -> str:
    """What is wrong, or nothing."""
    import numpy

    window = bytes(numpy.random.default_rng(1).integers(0, VOCABULARY, CONTEXT + 1, dtype="uint8"))
    text, begin, record = (os.path.join(folder, name) for name in ("window", "begin.weights", "record.jsonl"))
    with open(text, "wb") as file:
        file.write(window * 2)
    train = [lockstep, "train", "--model", NAME, "--data", "text:" + text, "--devices", "virt:2"]
    subprocess.run([*train, "--epochs", "0", "--save", begin], check=True)
    for kind in ("adamw", "sgd"):
        want = losses(begin, window, kind == "adamw")
        for more in (["--mode", "dp"], ["--mode", "ddp", "--accumulate", "2"]):
            if os.path.exists(record):
                os.remove(record)
            subprocess.run([*train, *OPTIONS, *more, "--optimizer", kind, "--load", begin, "--out", record],
                           check=True, stderr=subprocess.DEVNULL)
            with open(record, encoding="utf-8") as file:
                lines = [json.loads(line) for line in file]
            got = [line["train_loss"] for line in lines if "train_loss" in line]
            print(f"{kind} {' '.join(more)}: losses {got[0]:.4f} to {got[-1]:.4f}, "
                  f"{apart(got, want):.2g} from PyTorch's")
            if not apart(got, want) <= TOLERANCE:
                return f"losses are {got}, must be {want}"
        for wrong in ({"warmup": 2}, {"decay": 0.0}, {"clip": 1e9}, {"beta": 0.99}):
            if "beta" in wrong and kind == "sgd":
                continue
            if not apart(losses(begin, window, kind == "adamw", **wrong), want) > 100 * TOLERANCE:
                return f"{kind}: {wrong} does not show"
    return ""


def main(program: str, lockstep: str, folder: str) -> int:
    try:
        import torch  # noqa: F401
    except ImportError:
        print("weights_test.py: no torch")
        return 77
    os.makedirs(folder, exist_ok=True)
    text, path = os.path.join(folder, "text.txt"), os.path.join(folder, "gpt.weights")
    with open(text, "w", encoding="ascii") as file:
        file.write("".join(f"{i} and {i * i}; " for i in range(500)))
    subprocess.run([lockstep, "train", "--model", NAME, "--data", "text:" + text, "--devices", "virt:2",
                    "--epochs", "2", "--lr", "0.01", "--save", path], check=True)
    raw = subprocess.run([program, NAME, path, str(ROWS), "virt:2"], check=True,
                         stdout=subprocess.PIPE).stdout
    wrong = compare(path, raw) or train_on(lockstep, folder)
    if wrong:
        print("FAILED:", wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
