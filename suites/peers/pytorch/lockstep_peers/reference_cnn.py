"""reference_cnn.py: a float64 step of the model cnn: integers, so every sum is exact."""
from __future__ import annotations

import numpy as np

from .data import Data

ROWS = 128  # at a time: of columns in float64 these are 19 MB
TAPS = [(kh, kw) for kh in range(3) for kw in range(3)]


def columns(x: np.ndarray) -> np.ndarray:
    """[N, C, 8, 8] to [N 64, C 9]: a row for each place, what its 3 x 3 window sees."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    seen = np.stack([padded[:, :, kh:kh + 8, kw:kw + 8] for kh, kw in TAPS], axis=2)
    return seen.transpose(0, 3, 4, 1, 2).reshape(len(x) * 64, -1)


def images(columned: np.ndarray, rows: int) -> np.ndarray:
    """The sums that columns() would take apart."""
    parts = columned.reshape(rows, 8, 8, -1, 9).transpose(0, 3, 4, 1, 2)
    padded = np.zeros((rows, parts.shape[1], 10, 10))
    for tap, (kh, kw) in enumerate(TAPS):
        padded[:, :, kh:kh + 8, kw:kw + 8] += parts[:, :, tap]
    return padded[:, :, 1:9, 1:9]


def convolve(col: np.ndarray, weight: np.ndarray, bias: np.ndarray, rows: int) -> np.ndarray:
    y = col @ weight.reshape(len(weight), -1).T + bias
    return y.reshape(rows, 8, 8, -1).transpose(0, 3, 1, 2)


def by_place(dy: np.ndarray) -> np.ndarray:
    return dy.transpose(0, 2, 3, 1).reshape(-1, dy.shape[1])


def some_rows(p: list[np.ndarray], x: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    rows = len(x)
    first = columns(x.reshape(rows, 1, 8, 8))
    a = np.maximum(convolve(first, p[0], p[1], rows), 0)
    second = columns(a)
    b = np.maximum(convolve(second, p[2], p[3], rows), 0)
    windows = b.reshape(rows, 64, 4, 2, 4, 2).transpose(0, 1, 2, 4, 3, 5).reshape(rows, 64, 4, 4, 4)
    best = windows.argmax(axis=-1)[..., None]  # the first of equals
    pooled = np.take_along_axis(windows, best, axis=-1).reshape(rows, 1024)
    outputs = pooled @ p[4].T + p[5]
    back = np.zeros_like(windows)
    np.put_along_axis(back, best, (c @ p[4]).reshape(rows, 64, 4, 4, 1), axis=-1)
    db = back.reshape(rows, 64, 4, 4, 2, 2).transpose(0, 1, 2, 4, 3, 5).reshape(rows, 64, 8, 8)
    db = by_place(db * (b > 0))
    da = by_place(images(db @ p[2].reshape(64, 288), rows) * (a > 0))
    grads = [da.T @ first, da.sum(axis=0), db.T @ second, db.sum(axis=0), c.T @ pooled, c.sum(axis=0)]
    return outputs, [grad.reshape(of.shape) for grad, of in zip(grads, p)]


def step(data: Data, x: np.ndarray, upstream: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    """Outputs, and gradients of sum(outputs * upstream), of some rows."""
    p = [values.astype(np.float64) for values in data.parameters()]
    outputs, total = [np.zeros((0, 10))], [np.zeros_like(values) for values in p]
    for first in range(0, len(x), ROWS):
        part = slice(first, first + ROWS)
        y, grads = some_rows(p, x[part].astype(np.float64), upstream[part].astype(np.float64))
        outputs.append(y)
        total = [a + b for a, b in zip(total, grads)]
    return np.concatenate(outputs), total
