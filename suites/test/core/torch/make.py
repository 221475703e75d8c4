#!/usr/bin/env python3
"""Writes layers.txt: what PyTorch's own layers give, for suites/test/core/torch_cases.c.

usage: /usr/bin/python3 suites/test/core/torch/make.py > suites/test/core/torch/layers.txt
       (python3-torch of the distribution; written with 1.13)

Data are small integers or sixteenths, so that inputs are exact in float32. Where all of a layer is
exact, float32 and float64 runs of PyTorch must agree bit for bit and the values are the whole truth.
Elsewhere the values are those of PyTorch in float64, and beside each stands a bound on the distance
of a float32 computation, derived by near.py over the same formulas; the values of that derivation
must agree with PyTorch's within 1e-12.

Format: "layer NAME NUMBER..." then "tensor NAME exact|near DIM..." and its values on one line, in
near ones each followed by its bound; numbers are decimal integers or C's hexadecimal floats.
"""

import sys

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from near import Near, concatenate, near, negative, stack

torch.manual_seed(0)
random = np.random.default_rng(20261121)


def integers(shape, most=3):
    x = random.integers(1, most + 1, shape) * random.choice([-1, 1], shape)
    return x.astype(np.float64)


def sixteenths(shape, most=16):
    return random.integers(-most, most + 1, shape) / 16.0


def number(x):
    """Without the zeros that end a hexadecimal float."""
    if x == int(x) and abs(x) < 2**24:
        return str(int(x))
    mantissa, exponent = float(x).hex().split("p")
    return mantissa.rstrip("0").rstrip(".") + "p" + exponent


def up(bound):
    """Four bits of it, rounded up."""
    if bound == 0:
        return "0"
    mantissa, exponent = np.frexp(bound)
    return number(np.ldexp(np.ceil(mantissa * 16) / 16, exponent))


def layer(name, *numbers):
    print("layer", name, *numbers)


def exact(name, x):
    x = np.asarray(x, dtype=np.float64)
    assert (x == x.astype(np.float32)).all(), name
    print("tensor", name, "exact", *x.shape)
    print(*[number(v) for v in x.ravel()])


def bounded(name, truth, derived):
    truth = truth.detach().numpy()
    assert truth.shape == derived.v.shape, (name, truth.shape, derived.v.shape)
    assert (np.abs(truth - derived.v) <= 1e-12 * (1 + np.abs(truth))).all(), name
    print("tensor", name, "near", *truth.shape)
    print(*[number(v) + " " + up(e + 1e-11 * abs(v)) for v, e in zip(truth.ravel(), derived.e.ravel())])


def wide(x):
    return torch.tensor(np.asarray(x), dtype=torch.float64, requires_grad=True)


def both(run):
    """run(dtype) -> list of arrays, the same in both widths."""
    narrow, broad = run(torch.float32), run(torch.float64)
    for a, b in zip(narrow, broad):
        assert (a.astype(np.float64) == b).all()
    return broad


def exact_layer(module_of, inputs, upstream, names):
    def run(dtype):
        module = module_of().to(dtype)
        x = torch.tensor(inputs, dtype=dtype, requires_grad=True)
        y = module(x)
        y.backward(torch.tensor(upstream(tuple(y.shape)), dtype=dtype))
        grads = [p.grad.numpy() for p in module.parameters()]
        return [y.detach().numpy(), x.grad.numpy()] + grads

    results = both(run)
    for name, value in zip(names, results):
        exact(name, value)


CONVOLUTIONS = (
    (2, 3, 4, 5, 6, (3, 3), (1, 1), (1, 1), True),
    (3, 2, 3, 7, 5, (3, 2), (2, 1), (0, 1), True),
    (1, 1, 1, 1, 1, (1, 1), (1, 1), (0, 0), True),
    (2, 4, 5, 4, 4, (1, 1), (1, 1), (0, 0), False),
    (2, 2, 2, 6, 6, (5, 3), (3, 2), (2, 2), True),
    (9, 1, 2, 8, 8, (3, 3), (1, 1), (1, 1), True),
    (2, 1, 2, 2, 3, (3, 3), (2, 2), (2, 1), False),
)
# Planes have a few places, and windows reach beyond the next plane.
WINDOWS = tuple((n, 1, 1, h, w, (2 * p + 1, 2 * q + 1), (1, 1), (p, q), False)
                for n, h, w, p, q in ((1, 1, 1, 0, 0), (3, 1, 1, 1, 1), (2, 2, 3, 2, 2), (3, 3, 2, 4, 0),
                                      (2, 3, 3, 0, 4), (4, 3, 3, 4, 4), (3, 5, 7, 1, 1), (2, 9, 16, 1, 2)))


def conv2d(rows, most):
    for n, c, o, h, w, k, s, p, bias in rows:
        x, weight, b = integers((n, c, h, w), most), integers((o, c, *k), most), integers((o,), most)
        layer("conv2d", c, o, *k, *s, *p, int(bias))
        exact("x", x), exact("weight", weight)
        if bias:
            exact("bias", b)
        upstream = {}

        def module():
            m = nn.Conv2d(c, o, k, s, p, bias=bias)
            m.weight.data = torch.tensor(weight)
            if bias:
                m.bias.data = torch.tensor(b)
            return m

        def up_of(shape):
            if shape not in upstream:
                upstream[shape] = integers(shape, most)
                exact("dy", upstream[shape])
            return upstream[shape]

        exact_layer(module, x, up_of, ["y", "dx", "dweight", "dbias"])


def max_pool2d():
    for n, c, h, w, k, s, p in (
        (2, 3, 4, 4, (2, 2), (2, 2), (0, 0)),
        (2, 2, 5, 7, (3, 2), (2, 1), (1, 1)),
        (1, 1, 6, 6, (3, 3), (1, 1), (1, 1)),
        (1, 2, 9, 8, (2, 2), (2, 2), (0, 0)),
        (2, 1, 5, 5, (2, 3), (3, 2), (1, 0)),
    ):
        x = integers((n, c, h, w), 4)  # ties: the first of equals
        layer("max_pool2d", *k, *s, *p)
        exact("x", x)
        upstream = {}

        def up_of(shape):
            if shape not in upstream:
                upstream[shape] = integers(shape)
                exact("dy", upstream[shape])
            return upstream[shape]

        exact_layer(lambda: nn.MaxPool2d(k, s, p), x, up_of, ["y", "dx"])


def embedding():
    for rows, width, shape in ((7, 3, (5,)), (4, 2, (3, 6)), (1000, 1, (2, 3, 2))):
        table, index = integers((rows, width)), random.integers(0, rows, shape)
        if rows == 4:
            index[:, 0] = 2  # one row often, one (3) never
            index[index == 3] = 1
        layer("embedding", rows, width)
        module = nn.Embedding(rows, width)
        module.weight.data = torch.tensor(table)
        y = module(torch.tensor(index))
        dy = integers(tuple(y.shape))
        y.backward(torch.tensor(dy))
        exact("x", index), exact("weight", table), exact("dy", dy)
        exact("y", y.detach().numpy()), exact("dweight", module.weight.grad.numpy())


def near_lstm(x, w_ih, w_hh, b_ih, b_hh, dys):
    """dys: the gradient of h at each time. The formulas of core's kernels."""
    n, t, f = x.shape
    hidden = w_hh.shape[1]
    w_ih, w_hh, b_ih, b_hh = map(near, (w_ih, w_hh, b_ih, b_hh))
    gates, cs, hs = [], [], []
    h = c = None
    for s in range(t):
        sums = near(x[:, s]) @ w_ih.T
        if h is not None:
            sums = sums + h @ w_hh.T
        sums = sums + b_ih + b_hh
        i, o = sums[:, :hidden].sigmoid(), sums[:, 3 * hidden :].sigmoid()
        ff, g = sums[:, hidden : 2 * hidden].sigmoid(), sums[:, 2 * hidden : 3 * hidden].tanh()
        c = i * g if c is None else ff * c + i * g
        h = o * c.tanh()
        gates.append((i, ff, g, o)), cs.append(c), hs.append(h)
    da, dc, dh = [None] * t, None, None
    for s in reversed(range(t)):
        i, ff, g, o = gates[s]
        total = near(dys[s]) if dh is None else near(dys[s]) + dh
        tc = cs[s].tanh()
        d = total * o * (Near(1.0) - tc * tc)
        dc = d if dc is None else dc + d
        one = Near(1.0)
        parts = [dc * g * i * (one - i), None, dc * i * (one - g * g), total * tc * o * (one - o)]
        parts[1] = dc * cs[s - 1] * ff * (one - ff) if s > 0 else dc * Near(0.0)
        da[s] = concatenate(parts, 1)
        dc = dc * ff
        dh = da[s] @ w_hh
    every = concatenate(da, 0)
    inputs = np.concatenate([x[:, s] for s in range(t)], 0)
    result = {
        "dweight_ih": every.T @ near(inputs),
        "dweight_hh": concatenate(da[1:], 0).T @ concatenate(hs[:-1], 0) if t > 1 else near(0 * w_hh.v),
        "dbias_ih": every.sum(0),
        "dbias_hh": every.sum(0),
        "dx": stack([d @ w_ih for d in da], 1),
        "h": stack(hs, 1),
    }
    return result


def near_rnn(x, w_ih, w_hh, b_ih, b_hh, dys):
    n, t, f = x.shape
    w_ih, w_hh, b_ih, b_hh = map(near, (w_ih, w_hh, b_ih, b_hh))
    hs, h = [], None
    for s in range(t):
        sums = near(x[:, s]) @ w_ih.T
        if h is not None:
            sums = sums + h @ w_hh.T
        h = (sums + b_ih + b_hh).tanh()
        hs.append(h)
    da, dh = [None] * t, None
    for s in reversed(range(t)):
        total = near(dys[s]) if dh is None else near(dys[s]) + dh
        da[s] = total * (Near(1.0) - hs[s] * hs[s])
        dh = da[s] @ w_hh
    every = concatenate(da, 0)
    inputs = np.concatenate([x[:, s] for s in range(t)], 0)
    return {
        "dweight_ih": every.T @ near(inputs),
        "dweight_hh": concatenate(da[1:], 0).T @ concatenate(hs[:-1], 0) if t > 1 else near(0 * w_hh.v),
        "dbias_ih": every.sum(0),
        "dbias_hh": every.sum(0),
        "dx": stack([d @ w_ih for d in da], 1),
        "h": stack(hs, 1),
    }


def recurrent(name, kind, derive, gates):
    for n, t, f, hidden, last in ((3, 4, 5, 6, 0), (2, 5, 3, 4, 1), (4, 1, 2, 3, 0), (1, 3, 1, 1, 1)):
        x = sixteenths((n, t, f))
        w_ih, w_hh = sixteenths((gates * hidden, f)), sixteenths((gates * hidden, hidden))
        b_ih, b_hh = sixteenths((gates * hidden,)), sixteenths((gates * hidden,))
        module = kind(f, hidden, batch_first=True).double()
        weights = {"weight_ih": w_ih, "weight_hh": w_hh, "bias_ih": b_ih, "bias_hh": b_hh}
        for p, value in weights.items():
            getattr(module, p + "_l0").data = torch.tensor(value)
        tx = wide(x)
        y = module(tx)[0]
        y = y[:, -1] if last else y
        dy = sixteenths(tuple(y.shape))
        y.backward(torch.tensor(dy))
        zero = np.zeros((n, hidden))
        dys = [dy if s == t - 1 else zero for s in range(t)] if last else [dy[:, s] for s in range(t)]
        derived = derive(x, w_ih, w_hh, b_ih, b_hh, dys)
        layer(name, f, hidden, last)
        exact("x", x)
        for p, value in weights.items():
            exact(p, value)
        exact("dy", dy)
        bounded("y", y, derived["h"][:, -1] if last else derived["h"])
        bounded("dx", tx.grad, derived["dx"])
        for p in weights:
            bounded("d" + p, getattr(module, p + "_l0").grad, derived["d" + p])


def rounded_once(truth, slack=0.0):
    """The value of a computation in double that is rounded once."""
    v = truth.detach().numpy()
    return Near(v, np.abs(v) * 2.0**-24 * 1.001 + slack + 1e-30)


def batch_norm():
    for shape, momentum in (((4, 3), 0.1), ((5, 2, 3, 2), 0.5), ((2, 1), 0.1), ((3, 4, 1, 5), 0.25)):
        c = shape[1]
        x, weight, bias = sixteenths(shape, 64), sixteenths(c), sixteenths(c)
        mean, var = sixteenths(c), 1 + np.abs(sixteenths(c))
        for training in (1, 0):
            kind = nn.BatchNorm1d if len(shape) == 2 else nn.BatchNorm2d
            module = kind(c, eps=2.0**-10, momentum=momentum).double().train(bool(training))
            module.weight.data, module.bias.data = torch.tensor(weight), torch.tensor(bias)
            module.running_mean.data, module.running_var.data = torch.tensor(mean), torch.tensor(var)
            tx = wide(x)
            y = module(tx)
            dy = sixteenths(shape)
            y.backward(torch.tensor(dy))
            layer("batch_norm", c, training, number(momentum), number(2.0**-10))
            for name, value in (("x", x), ("weight", weight), ("bias", bias), ("dy", dy)):
                exact(name, value)
            exact("mean", mean), exact("var", var)
            # mean and invstd are saved as floats: relative errors u of both enter the gradient.
            axes = tuple(a for a in range(len(shape)) if a != 1)
            spread = (1, c) + (1,) * (len(shape) - 2)
            m = x.mean(axes) if training else mean
            v = x.var(axes) if training else var
            inv = 1 / np.sqrt(v + 2.0**-10)
            u = 2.0**-24
            d = np.abs(x - m.reshape(spread)) * inv.reshape(spread)
            e = u * np.abs(m).reshape(spread) * inv.reshape(spread) + 1.01 * u * d
            scale = np.abs(weight).reshape(spread) * inv.reshape(spread)
            count = x.size // c
            sums = lambda z: z.sum(axes).reshape(spread)
            slope, e_slope = sums(np.abs(dy) * d) / count, sums(np.abs(dy) * e) / count
            inner = np.abs(dy) + sums(np.abs(dy)) / count + d * slope if training else np.abs(dy)
            e_dx = scale * (1.01 * u * inner + (1.02 * (e * slope + d * e_slope) if training else 0))
            bounded("y", y, rounded_once(y))
            bounded("dx", tx.grad, Near(tx.grad.numpy(), e_dx + u * np.abs(tx.grad.numpy()) + 1e-30))
            e_weight = sums(np.abs(dy) * e).reshape(c)
            truth = module.weight.grad.numpy()
            bounded("dweight", module.weight.grad, Near(truth, 1.01 * e_weight + 1.01 * u * np.abs(truth)))
            bounded("dbias", module.bias.grad, rounded_once(module.bias.grad))
            bounded("running_mean", module.running_mean, rounded_once(module.running_mean))
            bounded("running_var", module.running_var, rounded_once(module.running_var))
            exact("count", module.num_batches_tracked.numpy().reshape(1))


def residual():
    """x + conv(x), on whole numbers: all of it is exact."""
    for n, c, h, w in ((2, 1, 3, 4), (3, 2, 4, 4)):
        x, weight, dy = integers((n, c, h, w)), integers((c, c, 3, 3)), integers((n, c, h, w))

        def run(dtype):
            tx = torch.tensor(x, dtype=dtype, requires_grad=True)
            tw = torch.tensor(weight, dtype=dtype, requires_grad=True)
            y = tx + F.conv2d(tx, tw, padding=1)
            y.backward(torch.tensor(dy, dtype=dtype))
            return [y.detach().numpy(), tx.grad.numpy(), tw.grad.numpy()]

        y, dx, dweight = both(run)
        layer("residual", c)
        for name, value in (("x", x), ("weight", weight), ("dy", dy), ("y", y), ("dx", dx),
                            ("dweight", dweight)):
            exact(name, value)


def squash(s):
    q = (s * s).sum(-1, keepdim=True)
    return s * q / (1 + q) / torch.sqrt(q + 1e-8)


def capsule():
    """PyTorch has no layer for it: its functions, and autograd with the shares as constants."""
    for n, i, j, d_in, d_out, rounds in ((2, 5, 3, 4, 2, 3), (3, 4, 2, 2, 3, 1), (1, 3, 4, 3, 3, 2)):
        x, weight = sixteenths((n, i, d_in)), sixteenths((i, j, d_out, d_in))
        tx, tw = wide(x), wide(weight)
        votes = torch.einsum("ijok,nik->nijo", tw, tx)
        b = torch.zeros(n, i, j, dtype=torch.float64)
        for r in range(rounds):
            c = F.softmax(b, dim=2).detach()
            v = squash((c.unsqueeze(-1) * votes).sum(1))
            b = b + (votes * v.unsqueeze(1)).sum(-1).detach()
        dv = sixteenths(tuple(v.shape))
        v.backward(torch.tensor(dv))
        derived = near_capsule(near(x), near(weight), near(dv), rounds)
        layer("capsule", i, j, d_in, d_out, rounds)
        exact("x", x), exact("weight", weight), exact("dy", dv)
        bounded("y", v, derived["v"])
        bounded("dx", tx.grad, derived["dx"])
        bounded("dweight", tw.grad, derived["dweight"])


def near_capsule(x, w, dv, rounds):
    n, i, d_in = x.v.shape
    j, d_out = w.v.shape[1:3]
    flat = [x[:, a] @ w[a].reshape(j * d_out, d_in).T for a in range(i)]
    votes = stack(flat, 1).reshape(n, i, j, d_out)
    tiny, one = Near(1e-8), Near(1.0)
    b = Near(np.zeros((n, i, j)))
    for r in range(rounds):
        most = Near(b.v.max(2, keepdims=True), b.e.max(2, keepdims=True))
        ex = (b + negative(most)).exp()
        c = ex / ex.sum(2, keepdims=True)
        s = (Near(c.v[..., None], c.e[..., None]) * votes).sum(1)
        q = (s * s).sum(2, keepdims=True)
        v = q / (one + q) / (q + tiny).sqrt() * s
        if r + 1 < rounds:
            b = b + (votes * Near(v.v[:, None], v.e[:, None])).sum(3)
    root = (q + tiny).sqrt()
    factor = q / (one + q) / root
    p = one + q
    slope = one / (p * p * root) - Near(0.5) * q / (p * (q + tiny) * root)
    along = Near(2.0) * slope * (s * dv).sum(2, keepdims=True)
    ds = factor * dv + along * s
    dvotes = Near(c.v[..., None], c.e[..., None]) * Near(ds.v[:, None], ds.e[:, None])
    rows = dvotes.reshape(n, i, j * d_out)
    dw = stack([rows[:, a].T @ x[:, a] for a in range(i)], 0).reshape(i, j, d_out, d_in)
    dx = stack([rows[:, a] @ w[a].reshape(j * d_out, d_in) for a in range(i)], 1)
    return {"v": v, "dx": dx, "dweight": dw}


def near_adamw(start, grads, has, lr, betas, eps, decay):
    """The formula of core's kernel: the value after each step."""
    w, m, s, t, after = near(start), Near(0 * start), Near(0 * start), 0, []
    scalar = lambda x: Near(x).rounded(0.0)
    for g, due in zip(grads, has):
        if due:
            t += 1
            keep, size = scalar(1 - lr * decay), scalar(lr / (1 - betas[0] ** t))
            root = scalar(np.sqrt(1 - betas[1] ** t))
            m = scalar(betas[0]) * m + scalar(1 - betas[0]) * near(g)
            s = scalar(betas[1]) * s + scalar(1 - betas[1]) * near(g) * near(g)
            w = w * keep - size * m / (s.sqrt() / root + scalar(eps))
        after.append(w)
    return stack(after)


def adamw():
    """Of two parameters the second has no gradient at times: a count of its own, and no decay."""
    draw = np.random.default_rng(21)
    steps = 6
    apart, together = np.array([0, 1, 0, 0, 1, 1.0]), np.array([1, 0, 1, 0, 0, 1.0])
    for lr, betas, eps, decay, second in (
        (1e-3, (0.9, 0.999), 1e-8, 1e-2, apart),
        (0.05, (0.9, 0.95), 1e-8, 0.1, together),
        (0.01, (0.5, 0.75), 0.5, 0.25, together),
        (0.25, (0.0, 0.5), 2.0**-6, 0.0, apart),
    ):
        names, shapes = ("weight", "bias"), ((5, 3), (5,))
        has = [np.ones(steps), second]
        start = [draw.integers(-32, 33, s) / 16.0 for s in shapes]
        grads = [draw.integers(1, 33, (steps, *s)) * draw.choice([-1, 1], (steps, *s)) / 16.0 for s in shapes]
        params = [torch.tensor(p, requires_grad=True) for p in start]
        optimizer = torch.optim.AdamW(params, lr=lr, betas=betas, eps=eps, weight_decay=decay)
        after = [[], []]
        for t in range(steps):
            for i, p in enumerate(params):
                p.grad = torch.tensor(grads[i][t]) if has[i][t] else None
            optimizer.step()
            for i, p in enumerate(params):
                after[i].append(p.detach().clone())
        layer("adamw", *[number(v) for v in (lr, *betas, eps, decay, steps)])
        for i, name in enumerate(names):
            exact(name, start[i]), exact("d" + name, grads[i]), exact("has_" + name, has[i])
            derived = near_adamw(start[i], grads[i], has[i], lr, betas, eps, decay)
            bounded(name + "_after", torch.stack(after[i]), derived)


def clip():
    """The norm is made in double, the factor is rounded once."""
    draw = np.random.default_rng(22)
    for most, size in ((1.0, 1.0), (1.0, 2.0**-8), (0.5, 64.0), (0.0, 1.0)):
        grads = [draw.integers(-32, 33, s) * size / 16.0 for s in ((5, 3), (5,))]
        params = [torch.zeros(g.shape, dtype=torch.float64, requires_grad=True) for g in grads]
        for p, g in zip(params, grads):
            p.grad = torch.tensor(g)
        norm = torch.nn.utils.clip_grad_norm_(params, most).reshape(1)
        factor = min(1.0, most / (float(norm) + 1e-6))
        layer("clip", number(most))
        for name, p, g in zip(("weight", "bias"), params, grads):
            exact("d" + name, g)
            product = near(g) * Near(factor).rounded(0.0) if factor < 1 else near(g)
            bounded(name + "_after", p.grad, product)
        bounded("norm", norm, Near(norm.numpy(), 1e-14 * norm.numpy()))
def cosine():
    """A warm-up that begins with lr / (warmup + 1), then a cosine, up to the step after the last one. With
    u = 2^-53: the angle is 3 u of it wrong, so its cosine 3 pi u, and u for itself; the sum with 1 has
    2 u more. Half of that, then three roundings of the rest: less than 16 u lr."""
    for lr, least, warmup, total in ((1e-3, 1e-4, 7, 40), (0.5, 0.125, 1, 24), (6e-4, 6e-5, 16, 48)):
        optimizer = torch.optim.SGD([torch.zeros(1, dtype=torch.float64, requires_grad=True)], lr=lr)
        rise = torch.optim.lr_scheduler.LinearLR(optimizer, 1 / (warmup + 1), 1.0, warmup)
        fall = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, total - warmup, least)
        both_of = torch.optim.lr_scheduler.SequentialLR(optimizer, [rise, fall], [warmup])
        rates, steps = [], np.arange(total + 1)
        for _ in steps:
            rates.append(optimizer.param_groups[0]["lr"])
            optimizer.step()
            both_of.step()
        wave = least + (lr - least) * (1 + np.cos(np.pi * (steps - warmup) / (total - warmup))) / 2
        rule = np.where(steps < warmup, lr * (steps + 1) / (warmup + 1), wave)
        layer("cosine", *[number(v) for v in (lr, least, warmup, total)])
        bounded("rate", torch.tensor(rates, dtype=torch.float64), Near(rule, 0 * rule + 16 * 2.0**-53 * lr))


def gelu():
    """The tanh form by (1 + tanh(u)) / 2 = sigmoid(2 u); both forms may also be made in double.
    (1 + erf(x / sqrt(2))) / 2 within 8 units in the last place, 8 (1 + x^2) below 0; in double, as
    PyTorch has it, the sum with 1 leaves an error of 2^-52."""
    root, cubic = np.sqrt(8 / np.pi), 0.044715
    for tanh_form, shape, most in ((1, (2, 20), 160), (0, (2, 20), 160), (1, (2, 3, 5), 48), (0, (28,), 24)):
        x, dy = sixteenths(shape, most), sixteenths(shape)
        tx = wide(x)
        y = nn.GELU(approximate="tanh" if tanh_form else "none")(tx)
        y.backward(torch.tensor(dy))
        layer("gelu", tanh_form)
        exact("x", x), exact("dy", dy)
        n = near(x)
        if not tanh_form:
            phi = 0.5 * torch.special.erfc(torch.tensor(-x / np.sqrt(2))).numpy()
            phi = Near(phi, 16 * 2.0**-24 * np.where(x < 0, 1 + x * x, 1) * phi + 2.0**-52)
            density = constant(1 / np.sqrt(2 * np.pi)) * (Near(-0.5) * n * n).exp()
            bounded("y", y, n * phi)
            bounded("dx", tx.grad, near(dy) * (phi + n * density))
            continue
        s = (constant(root) * (n + constant(cubic) * n * n * n)).sigmoid()
        slope = constant(root) * (Near(1.0) + Near(3.0) * constant(cubic) * n * n)
        bounded("y", y, n * s)
        bounded("dx", tx.grad, near(dy) * (s + n * s * (Near(1.0) - s) * slope))


def constant(value):
    """As a float has it."""
    return Near(value, abs(value) * 2.0**-24)


def layer_norm():
    for shape in ((4, 3), (5, 2, 7), (2, 1), (2, 19), (2, 1, 2, 9)):
        w = shape[-1]
        x, weight, bias, dy = sixteenths(shape, 64), sixteenths(w), sixteenths(w), sixteenths(shape)
        module = nn.LayerNorm(w, eps=2.0**-10).double()
        module.weight.data, module.bias.data = torch.tensor(weight), torch.tensor(bias)
        tx = wide(x)
        y = module(tx)
        y.backward(torch.tensor(dy))
        layer("layer_norm", w, number(2.0**-10))
        for name, value in (("x", x), ("weight", weight), ("bias", bias), ("dy", dy)):
            exact(name, value)
        # mean and invstd are saved as floats: relative errors u of both enter the gradient.
        u = 2.0**-24
        mean = lambda z: z.mean(-1, keepdims=True)
        inv = 1 / np.sqrt(x.var(-1, keepdims=True) + 2.0**-10)
        far = np.abs(x - mean(x)) * inv
        e = u * np.abs(mean(x)) * inv + 1.01 * u * far
        d = np.abs(dy * weight)
        slope, e_slope = mean(d * far), mean(d * e)
        inner = d + mean(d) + far * slope
        e_dx = inv * (1.01 * u * inner + 1.02 * (e * slope + far * e_slope))
        dx, dweight = tx.grad.numpy(), module.weight.grad.numpy()
        e_weight = 1.01 * (np.abs(dy) * e).reshape(-1, w).sum(0) + 1.01 * u * np.abs(dweight)
        bounded("y", y, rounded_once(y))
        bounded("dx", tx.grad, Near(dx, e_dx + u * np.abs(dx) + 1e-30))
        bounded("dweight", module.weight.grad, Near(dweight, e_weight))
        bounded("dbias", module.bias.grad, rounded_once(module.bias.grad))


def positions():
    for n, t, context, w in ((2, 3, 5, 4), (3, 4, 4, 2), (1, 1, 3, 1)):
        x, table, dy = integers((n, t, w)), integers((context, w)), integers((n, t, w))
        module = nn.Embedding(context, w)
        module.weight.data = torch.tensor(table)
        tx = wide(x)
        y = tx + module(torch.arange(t))
        y.backward(torch.tensor(dy))
        layer("positions", context, w)
        for name, value in (("x", x), ("weight", table), ("dy", dy), ("y", y.detach().numpy()),
                            ("dx", tx.grad.numpy()), ("dweight", module.weight.grad.numpy())):
            exact(name, value)


def swapped(x):
    return Near(x.v.T, x.e.T)


def near_attention(q, k, v, dy):
    """One row and head: softmax((q k' - most) / root) v, looking back only."""
    t, size = q.shape
    looks, scale = np.tril(np.ones((t, t))), constant(1 / np.sqrt(size))
    q, k, v, dy = map(near, (q, k, v, dy))
    scores = q @ swapped(k)
    most = np.where(looks > 0, scores.v, -np.inf).max(1, keepdims=True)
    far = (scores + Near(-most, np.broadcast_to(scores.e.max(1, keepdims=True), most.shape))) * scale
    ex = Near(np.where(looks > 0, far.v, 0), far.e * looks).exp()
    ex = Near(ex.v * looks, ex.e * looks)
    p = ex * (Near(1.0) / ex.sum(1, keepdims=True))
    dp = dy @ swapped(v)
    inner = (p * dp).sum(1, keepdims=True)
    d = scale * p * (dp - inner)
    return p @ v, d @ k, swapped(d) @ q, swapped(p) @ dy


def attention():
    """In this PyTorch the function still has an underscore before its name."""
    for n, t, heads, size in ((2, 5, 2, 3), (1, 1, 1, 4), (3, 4, 4, 1), (1, 17, 2, 2), (1, 35, 1, 2)):
        w = heads * size
        x, dy = sixteenths((n, t, 3 * w), 32), sixteenths((n, t, w))
        tx = wide(x)
        parts = tx.reshape(n, t, 3, heads, size).permute(2, 0, 3, 1, 4)
        y = F._scaled_dot_product_attention(*parts, is_causal=True)[0]
        y = y.transpose(1, 2).reshape(n, t, w)
        y.backward(torch.tensor(dy))
        split = x.reshape(n, t, 3, heads, size)
        v, dx = Near(np.zeros((n, t, heads, size))), Near(np.zeros(split.shape))
        v.e, dx.e = v.e.copy(), dx.e.copy()
        for r in range(n):
            for h in range(heads):
                one = near_attention(*(split[r, :, i, h] for i in range(3)), dy.reshape(v.v.shape)[r, :, h])
                v.v[r, :, h], v.e[r, :, h] = one[0].v, one[0].e
                for i in range(3):
                    dx.v[r, :, i, h], dx.e[r, :, i, h] = one[i + 1].v, one[i + 1].e
        layer("attention", heads)
        exact("x", x), exact("dy", dy)
        bounded("y", y, v.reshape(n, t, w))
        bounded("dx", tx.grad, dx.reshape(n, t, 3 * w))


def tied():
    """An embedding whose table is the weight of the output, too: one gradient."""
    for rows, w, shape in ((5, 3, (2, 4)), (7, 2, (3,)), (2, 1, (1, 1, 5))):
        table, index = integers((rows, w)), random.integers(0, rows, shape)
        dy = integers((*shape, rows))
        embedding, linear = nn.Embedding(rows, w), nn.Linear(w, rows, bias=False)
        embedding.weight.data = torch.tensor(table)
        linear.weight = embedding.weight
        y = linear(embedding(torch.tensor(index)))
        y.backward(torch.tensor(dy))
        layer("tied", rows, w)
        for name, value in (("x", index), ("weight", table), ("dy", dy), ("y", y.detach().numpy()),
                            ("dweight", embedding.weight.grad.numpy())):
            exact(name, value)


def cross_entropy():
    """Sums in double, rounded once."""
    for mean, shape in ((1, (2, 3, 5)), (0, (2, 3, 5)), (1, (2, 2, 3, 4)), (1, (3, 6))):
        x, index = sixteenths(shape, 64), random.integers(0, shape[-1], shape[:-1])
        tx = wide(x)
        loss = F.cross_entropy(tx.reshape(-1, shape[-1]), torch.tensor(index.ravel()),
                               reduction="mean" if mean else "sum")
        loss.backward()
        layer("cross_entropy", mean)
        exact("x", x), exact("target", index)
        bounded("y", loss, rounded_once(loss)), bounded("dx", tx.grad, rounded_once(tx.grad, 2.0**-50))


print("# Written by make.py with PyTorch", torch.__version__)
conv2d(CONVOLUTIONS, 3)
max_pool2d()
embedding()
recurrent("lstm", nn.LSTM, near_lstm, 4)
recurrent("rnn", nn.RNN, near_rnn, 1)
batch_norm()
capsule()
residual()
adamw()
clip()
cosine()
gelu()
layer_norm()
positions()
attention()
tied()
cross_entropy()
conv2d(WINDOWS, 8)
print("end")
print("make.py: done", file=sys.stderr)
