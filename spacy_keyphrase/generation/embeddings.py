"""Word vectors that a model trained from scratch begins with."""

from typing import Callable, Optional, Sequence

import numpy
import torch
from torch import Tensor

# From a word to its vector, None if it is not known.
Vectors = Callable[[str], Optional[numpy.ndarray]]


@torch.no_grad()
def begin_with(weights: Tensor, words: Sequence[str], vectors: Vectors) -> int:
    """Overwrite the embeddings of words whose vectors are known.

    The vectors are projected on their principal components, turned at random so that
    all dimensions are alike, and scaled as the embeddings were.

    weights (Tensor): Float of shape (words, width); changed.
    words (Sequence[str]): The words.
    vectors (Callable[[str], Optional[ndarray]]): Of a word its vector.
    RETURNS (int): How many words have a vector.
    """
    found = {i: vectors(word) for i, word in enumerate(words)}
    rows = [i for i, vector in found.items() if vector is not None]
    if not rows:
        return 0
    known = torch.from_numpy(numpy.stack([found[i] for i in rows]).astype("f4"))  # type: ignore[misc]
    known = known - known.mean(dim=0)
    _, _, components = torch.linalg.svd(known, full_matrices=False)
    width = weights.shape[1]
    turned = torch.randn(width, min(width, len(components)))
    turn, _ = torch.linalg.qr(turned)
    projected = known @ components[:width].T @ turn.T
    scale = weights.std() / projected.std().clamp(min=1e-12)
    weights[torch.tensor(rows)] = (projected * scale).to(weights)
    return len(rows)
