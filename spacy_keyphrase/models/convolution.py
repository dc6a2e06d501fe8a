"""Convolutions of three tokens with a third fewer products (Winograd's F(2, 3); Lavin
and Gray 2016, Fast Algorithms for Convolutional Neural Networks)."""

from typing import Any

import numpy
from thinc.types import Floats2d, Floats3d

# Pairs of rows at a time: what belongs to them stays in a processor's cache.
_PAIRS = 256


def maxout_of_windows(X: Floats2d, W: Floats3d, b: Floats2d) -> Floats2d:
    """Maxout of each row beside the one before it and the one behind it; zeros are
    before the first and behind the last.

    Two rows y_0 and y_1 of a convolution read four, x_0 to x_3, with three matrices,
    V_0 to V_2. It takes four products instead of six::

        m_0 = (x_0 - x_2) V_0          m_1 = (x_1 + x_2) (V_0 + V_1 + V_2) / 2
        m_3 = (x_1 - x_3) V_2          m_2 = (x_2 - x_1) (V_0 - V_1 + V_2) / 2

        y_0 = m_0 + m_1 + m_2          y_1 = m_1 - m_2 - m_3

    X (Floats2d): Float of shape (rows, nI), of numpy.
    W (Floats3d): Weights, float of shape (nO, pieces, 3 * nI).
    b (Floats2d): Biases, float of shape (nO, pieces).
    RETURNS (Floats2d): Float of shape (rows, nO).
    """
    n, width = X.shape
    n_out, pieces, _ = W.shape
    # All units' first pieces stand together, then all second ones: whole rows are
    # compared at once.
    V: Any = W.transpose((2, 1, 0)).reshape((3, width, pieces * n_out))
    both, middle = (V[0] + V[2]) / 2, V[1] / 2
    V = [numpy.ascontiguousarray(v) for v in (V[0], both + middle, both - middle, V[2])]
    bias = b.T.ravel()

    pairs = (n + 1) // 2
    padded = numpy.zeros((2 * pairs + 2, width), dtype=X.dtype)
    padded[1 : n + 1] = X
    rows = padded.reshape((pairs + 1, 2, width))
    x = rows[:-1, 0], rows[:-1, 1], rows[1:, 0], rows[1:, 1]
    output = numpy.empty((pairs, 2, n_out), dtype=X.dtype)
    products = numpy.empty((4, _PAIRS, pieces * n_out), dtype=X.dtype)
    summed = numpy.empty((_PAIRS, width), dtype=X.dtype)
    for start in range(0, pairs, _PAIRS):
        some = slice(start, min(start + _PAIRS, pairs))
        size = some.stop - start
        x0, x1, x2, x3 = (part[some] for part in x)
        m0, m1, m2, m3 = products[:, :size]
        t = summed[:size]
        numpy.matmul(numpy.subtract(x0, x2, out=t), V[0], out=m0)
        numpy.matmul(numpy.add(x1, x2, out=t), V[1], out=m1)
        numpy.matmul(numpy.subtract(x2, x1, out=t), V[2], out=m2)
        numpy.matmul(numpy.subtract(x1, x3, out=t), V[3], out=m3)
        m1 += bias
        m0 += m1
        m0 += m2
        m1 -= m2
        m1 -= m3
        _greatest(m0, n_out, output[some, 0])
        _greatest(m1, n_out, output[some, 1])
    return output.reshape((-1, n_out))[:n]  # type: ignore[return-value]


def _greatest(Y: Any, width: int, out: Any) -> Any:
    """The greatest of each unit's pieces, which stand `width` columns apart.

    Y (ndarray): Float of shape (rows, pieces * width).
    width (int): Units.
    out (ndarray): Where it goes, float of shape (rows, width).
    """
    last = Y.shape[1] - width
    numpy.maximum(Y[:, :width], Y[:, last:], out=out)
    for start in range(width, last, width):
        numpy.maximum(out, Y[:, start : start + width], out=out)
    return out
