"""One thread for small networks."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy
import pytest
from threadpoolctl import threadpool_info

from spacy_keyphrase.models.blas import one_thread
from spacy_keyphrase.models.half import HalfOps


def threads():
    return [
        lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"
    ]


def test_one_thread_inside_as_many_as_before_after():
    before = threads()
    with one_thread():
        assert set(threads()) <= {1}
    assert threads() == before
    with pytest.raises(KeyError), one_thread():
        raise KeyError
    assert threads() == before


def test_products_in_16_bits():
    """As numpy's, to the eight bits of a number of bfloat16: products of small whole
    numbers are exact."""
    ops = HalfOps(use_blis=False)
    x, y = numpy.arange(6, dtype="f4").reshape(2, 3), numpy.eye(3, 4, dtype="f4")
    assert numpy.array_equal(ops.gemm(x, y), x @ y)
    assert numpy.array_equal(ops.gemm(x, x, trans2=True), x @ x.T)
    assert numpy.array_equal(ops.gemm(x, x, trans1=True), x.T @ x)
    assert numpy.array_equal(ops.gemm(x.T, x.T, trans2=True), x.T @ x)
    out = numpy.empty((2, 4), dtype="f4")
    assert ops.gemm(x, y, out=out) is out
    assert numpy.array_equal(out, x @ y)
    assert ops.gemm(x[:0], y).shape == (0, 4)
    random = numpy.random.RandomState(0).randn(50, 30).astype("f4")
    error = numpy.abs(ops.gemm(random, random, trans2=True) - random @ random.T)
    # Either factor is rounded, and the sum: each by one part in 2^9 at most.
    assert error.max() > 0
    assert (error <= 2**-7 * (numpy.abs(random) @ numpy.abs(random).T)).all()


def test_blocks_that_overlap():
    """One begins before another ends, in another thread."""
    before, barrier = threads(), Barrier(2, timeout=30)

    def first():
        with one_thread():
            barrier.wait()  # both are inside
        barrier.wait()

    def second():
        with one_thread():
            barrier.wait()
            barrier.wait()  # the first has left
        return threads()

    with ThreadPoolExecutor(2) as pool:
        one, other = pool.submit(first), pool.submit(second)
        one.result()
        assert other.result() == before
    assert threads() == before
