"""Which matrix multiplication networks use on a CPU."""

from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any, Iterator

from thinc.api import Model, NumpyOps, get_current_ops, set_current_ops
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]


def use_fast_blas() -> None:
    """Let networks that are made from now on multiply matrices by numpy's BLAS.

    thinc brings a BLIS that has no kernels for AVX-512 and uses one thread; numpy's
    OpenBLAS is two to three times as fast on large batches. Ops of other kinds, as of
    GPUs or Apple's processors, are left as they are.
    """
    if type(get_current_ops()) is NumpyOps:
        set_current_ops(NumpyOps(use_blis=False))


def set_fast_blas(model: Model[Any, Any], half: bool = False) -> None:
    """The same for a network that is there already.

    model (Model): Changed.
    half (bool): Whether to multiply in 16 bits, by torch (`HalfOps`).
    RAISES: ImportError at `half` without torch.
    """
    ops = _half_ops() if half else NumpyOps(use_blis=False)
    for node in model.walk():
        if type(node.ops) is NumpyOps:
            node.ops = ops


def _half_ops() -> NumpyOps:
    try:
        from .half import HalfOps
    except ImportError as error:
        raise ImportError(
            f'mixed_precision needs torch: pip install "spacy-keyphrase[lm]" ({error})'
        ) from error
    return HalfOps(use_blis=False)


_lock = Lock()
_inside = 0
_before: Any = None


@contextmanager
def one_thread() -> Iterator[None]:
    """Within this block the BLAS of the process uses one thread.

    The matrices of small networks gain little from more, and lose much where the
    threads wait for processors that are busy or not theirs: in the workers of
    `nlp.pipe`, in containers. To use several processors there is `n_process`.
    """
    global _inside, _before
    # The number is of the process or of the Python thread, as the library was built.
    # Where it is of the process and blocks of several threads overlap, what counts is
    # how it was before the first.
    with _lock:
        limit = _controller().limit(limits=1, user_api="blas")
        if not _inside:
            _before = limit
        _inside += 1
        before = _before
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            before.restore_original_limits()


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()
