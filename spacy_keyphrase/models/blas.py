"""Which matrix multiplication networks use on a CPU."""

from typing import Any

from thinc.api import Model, NumpyOps, get_current_ops, set_current_ops


def use_fast_blas() -> None:
    """Let networks that are made from now on multiply matrices by numpy's BLAS.

    thinc brings a BLIS that has no kernels for AVX-512 and uses one thread; numpy's
    OpenBLAS is two to three times as fast on large batches. Ops of other kinds, as of
    GPUs or Apple's processors, are left as they are.
    """
    if type(get_current_ops()) is NumpyOps:
        set_current_ops(NumpyOps(use_blis=False))


def set_fast_blas(model: Model[Any, Any]) -> None:
    """The same for a network that is there already.

    model (Model): Changed.
    """
    for node in model.walk():
        if type(node.ops) is NumpyOps:
            node.ops = NumpyOps(use_blis=False)
