"""Winograd's way to convolve gives what the plain one gives."""

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from thinc.api import Maxout, NumpyOps, chain, expand_window

from spacy_keyphrase.models.convolution import maxout_of_windows
from spacy_keyphrase.models.predict import predict_by_layer


def plain(X, W, b):
    """The same, term by term."""
    padded = numpy.pad(X, [(1, 1), (0, 0)])
    windows = numpy.hstack([padded[:-2], padded[1:-1], padded[2:]])
    return (numpy.einsum("ri,opi->rop", windows, W) + b).max(axis=2)


@given(
    rows=st.integers(1, 12) | st.sampled_from([511, 512, 513, 1025]),
    width=st.integers(1, 5),
    units=st.integers(1, 4),
    pieces=st.integers(1, 4),
    seed=st.integers(0, 1000),
)
@settings(deadline=None, max_examples=60)
def test_it_is_the_plain_convolution(rows, width, units, pieces, seed):
    random = numpy.random.default_rng(seed)
    X = random.normal(size=(rows, width))
    W = random.normal(size=(units, pieces, 3 * width))
    b = random.normal(size=(units, pieces))
    # In 64 bits: whatever is not rounding would show.
    assert_allclose(maxout_of_windows(X, W, b), plain(X, W, b), atol=1e-12)


def test_rounding():
    """In 32 bits the error is a few times that of the plain way."""
    random = numpy.random.default_rng(0)
    X = random.normal(size=(2000, 128)).astype("f4")
    W = (random.normal(size=(128, 3, 384)) / 384**0.5).astype("f4")
    b = random.normal(size=(128, 3)).astype("f4")
    exact = plain(X.astype("f8"), W.astype("f8"), b.astype("f8"))
    found = maxout_of_windows(X, W, b)
    assert found.dtype == numpy.float32
    direct = numpy.abs(plain(X, W, b) - exact).mean()
    assert numpy.abs(found - exact).mean() < 5 * direct


@pytest.mark.parametrize("window", [1, 2])
@pytest.mark.parametrize("kind", [numpy.float32, numpy.float64])
def test_in_a_chain(window, kind):
    maxout = Maxout(4, 3 * (2 * window + 1), nP=2, normalize=True, dropout=0.1)
    network = chain(expand_window(window), maxout)
    for node in network.walk():
        node.ops = NumpyOps(use_blis=False)
    X = numpy.random.default_rng(0).normal(size=(7, 3)).astype(kind)
    network.initialize(X=X.astype("f4"))
    for some in (X, X[:1], X[:0]):
        expected = network.predict(some.astype("f4"))
        found = predict_by_layer(network, some)
        assert_allclose(found, expected, atol=1e-5)
