"""near.py: numbers with a bound on how far a float32 computation of them may be away.

A Near is a float64 array and a bound of the same shape. Every operation adds what one rounding to
float32 can add (u = 2^-24 of the result, for a sum of n terms gamma_n of the sum of their
magnitudes, in any order, fused or not), and carries the bounds of its operands to first order and
exactly beyond it. sigmoid, tanh, exp and log are taken to be within 4 units in the last place.
"""

import numpy as np

U = 2.0**-24
FUNCTION = 8 * U  # 4 units in the last place


def gamma(n):
    return n * U / (1 - n * U)


class Near:
    def __init__(self, value, bound=None):
        self.v = np.asarray(value, dtype=np.float64)
        self.e = np.zeros_like(self.v) if bound is None else np.asarray(bound, dtype=np.float64)

    def rounded(self, error):
        return Near(self.v, error + U * (np.abs(self.v) + error))

    def __add__(self, other):
        other = near(other)
        return Near(self.v + other.v).rounded(self.e + other.e + 0 * self.v)

    def __sub__(self, other):
        return self + negative(near(other))

    def __mul__(self, other):
        o = near(other)
        error = np.abs(self.v) * o.e + np.abs(o.v) * self.e + self.e * o.e
        return Near(self.v * o.v).rounded(error)

    def __truediv__(self, other):
        o = near(other)
        least = np.abs(o.v) - o.e
        assert (least > 0).all()
        v = self.v / o.v
        return Near(v).rounded((self.e + np.abs(v) * o.e) / least)

    def __matmul__(self, other):
        o = near(other)
        terms = self.v.shape[-1]
        carried = np.abs(self.v) @ o.e + self.e @ np.abs(o.v) + self.e @ o.e
        total = np.abs(self.v) @ np.abs(o.v) + carried
        return Near(self.v @ o.v, carried + gamma(terms + 1) * total)

    def sum(self, axis, keepdims=False):
        terms = self.v.shape[axis]
        carried = self.e.sum(axis, keepdims=keepdims)
        total = np.abs(self.v).sum(axis, keepdims=keepdims) + carried
        return Near(self.v.sum(axis, keepdims=keepdims), carried + gamma(terms) * total)

    def function(self, v, slope, curve, relative=FUNCTION):
        """slope: |f'| here; curve: above |f''| anywhere between."""
        error = (slope + curve * self.e) * self.e
        return Near(v, error + relative * (np.abs(v) + error))

    def tanh(self):
        t = np.tanh(self.v)
        return self.function(t, 1 - t * t, 0.77)

    def sigmoid(self):
        s = 1 / (1 + np.exp(-self.v))
        return self.function(s, s * (1 - s), 0.1)

    def exp(self):
        x = np.exp(self.v)
        return self.function(x, x, x * np.exp(self.e))

    def sqrt(self):
        r = np.sqrt(self.v)
        least = self.v - self.e
        assert (least > 0).all()
        return Near(r).rounded(self.e / (2 * np.sqrt(least)))

    @property
    def T(self):
        return Near(self.v.T, self.e.T)

    def __getitem__(self, key):
        return Near(self.v[key], self.e[key])

    def reshape(self, *shape):
        return Near(self.v.reshape(*shape), self.e.reshape(*shape))


def near(x):
    return x if isinstance(x, Near) else Near(x)


def negative(x):
    return Near(-x.v, x.e)


def stack(list_of_near, axis=0):
    return Near(np.stack([x.v for x in list_of_near], axis), np.stack([x.e for x in list_of_near], axis))


def concatenate(list_of_near, axis):
    return Near(
        np.concatenate([x.v for x in list_of_near], axis), np.concatenate([x.e for x in list_of_near], axis)
    )
