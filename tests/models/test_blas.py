"""One thread for small networks."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy  # noqa: F401
import pytest
from threadpoolctl import threadpool_info

from spacy_keyphrase.models.blas import one_thread


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
