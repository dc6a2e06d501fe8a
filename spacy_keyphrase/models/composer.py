"""N-gram representations: one convolution for each length, run where it is wanted."""

from typing import Any, Callable, Dict, List, Optional, Tuple

from thinc.api import Model, glorot_uniform_init
from thinc.types import Floats2d

from .mentions import Mentions

InT = Tuple[Floats2d, Mentions]

# Mentions that are represented at once, in prediction.
BLOCK = 20_000


def NGramConv(
    max_length: int, nO: int, nI: Optional[int] = None
) -> Model[InT, Floats2d]:
    """Represent mentions of n tokens by a convolution of width n over their tokens,
    g = W_n [h_i; ...; h_{i+n-1}] + b_n (the JointKPE paper's n-gram composer).

    Only the given mentions are computed, not all n-grams of the document.

    max_length (int): Tokens of the longest mention; longer ones raise.
    nO (int): Width of the output.
    nI (Optional[int]): Width of the token representations.
    RETURNS (Model[Tuple[Floats2d, Mentions], Floats2d]): From token representations
        of shape (tokens, nI) to mention representations of shape (mentions, nO).
    """
    params: Dict[str, Any] = {}
    for n in range(1, max_length + 1):
        params[f"W{n}"] = None
        params[f"b{n}"] = None
    return Model(
        "ngram_conv",
        _forward,
        init=_init,
        dims={"nO": nO, "nI": nI},
        params=params,
        attrs={"max_length": max_length},
    )


def _init(
    model: Model[InT, Floats2d], X: Optional[InT] = None, Y: Optional[Floats2d] = None
) -> None:
    if X is not None and model.has_dim("nI") is None:
        model.set_dim("nI", X[0].shape[1])
    nO, nI = model.get_dim("nO"), model.get_dim("nI")
    for n in range(1, model.attrs["max_length"] + 1):
        model.set_param(f"W{n}", glorot_uniform_init(model.ops, (nO, n * nI)))
        model.set_param(f"b{n}", model.ops.alloc1f(nO))


def _forward(
    model: Model[InT, Floats2d], inputs: InT, is_train: bool
) -> Tuple[Floats2d, Callable[[Floats2d], Tuple[Floats2d, Mentions]]]:
    X, mentions = inputs
    ops: Any = model.ops
    xp = ops.xp
    starts, lengths = mentions.starts, mentions.ends - mentions.starts
    longest = model.attrs["max_length"]
    if len(lengths) and lengths.max() > longest:
        raise ValueError(
            f"A candidate has {lengths.max()} tokens, the model takes {longest} at "
            "most: set max_length of the architecture to match."
        )
    Y = ops.alloc2f(len(mentions), model.get_dim("nO"))
    used: List[Tuple[int, Any, Any, Any]] = []
    for n in range(1, longest + 1):
        rows = xp.asarray((lengths == n).nonzero()[0])
        if not len(rows):
            continue
        W, b = model.get_param(f"W{n}"), model.get_param(f"b{n}")
        # In training all is needed again.
        size = len(rows) if is_train else BLOCK
        for first in range(0, len(rows), size):
            some = rows[first : first + size]
            tokens = xp.asarray(starts)[some][:, None] + xp.arange(n)
            windows = X[tokens].reshape(len(some), -1)
            of_rows = ops.gemm(windows, W, trans2=True)
            of_rows += b
            Y[some] = of_rows
            if is_train:
                used.append((n, some, tokens, windows))

    def backprop(dY: Floats2d) -> Tuple[Floats2d, Mentions]:
        dX = ops.alloc2f(*X.shape)
        for n, rows, tokens, windows in used:
            d = xp.ascontiguousarray(dY[rows])
            model.inc_grad(f"W{n}", ops.gemm(d, windows, trans1=True))
            model.inc_grad(f"b{n}", d.sum(axis=0))
            d_windows = ops.gemm(d, model.get_param(f"W{n}"))
            d_windows = d_windows.reshape(len(rows), n, -1)
            for k in range(n):
                ops.scatter_add(dX, tokens[:, k], d_windows[:, k])
        return dX, mentions

    return Y, backprop
