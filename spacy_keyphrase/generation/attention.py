"""Attention of several heads, with keys and values that may be kept."""

import math
from typing import Optional, Tuple

import torch
from torch import Tensor, nn

# Keys and values, float of shape (batch, heads, length, width of a head).
KeysValues = Tuple[Tensor, Tensor]


class Attention(nn.Module):
    """Scaled dot-product attention (Vaswani et al. 2017).

    width (int): Width of inputs and outputs.
    heads (int): How many heads; they divide the width.
    dropout (float): Share of the weights that are dropped in training.
    """

    def __init__(self, width: int, heads: int, dropout: float = 0.0) -> None:
        super().__init__()
        if width % heads:
            raise ValueError(f"{heads} heads do not divide a width of {width}.")
        self.heads = heads
        self.dropout = dropout
        self.q_proj = nn.Linear(width, width)
        self.k_proj = nn.Linear(width, width)
        self.v_proj = nn.Linear(width, width)
        self.out_proj = nn.Linear(width, width)
        # As in fairseq: q, k and v as if they were one matrix.
        for layer in (self.q_proj, self.k_proj, self.v_proj):
            nn.init.xavier_uniform_(layer.weight, gain=1 / math.sqrt(2))
        nn.init.xavier_uniform_(self.out_proj.weight)
        nn.init.zeros_(self.out_proj.bias)

    def keys_values(self, X: Tensor) -> KeysValues:
        """Keys and values of what is looked at, float of shape (batch, length,
        width)."""
        return (
            split_heads(self.k_proj(X), self.heads),
            split_heads(self.v_proj(X), self.heads),
        )

    def forward(
        self, X: Tensor, looked_at: KeysValues, mask: Optional[Tensor] = None
    ) -> Tensor:
        """Look from X.

        X (Tensor): Float of shape (batch, queries, width).
        looked_at (Tuple[Tensor, Tensor]): Keys and values.
        mask (Optional[Tensor]): What is seen, bool that broadcasts to (batch, heads,
            queries, length).
        RETURNS (Tensor): Float of the shape of X.
        """
        keys, values = looked_at
        rate = self.dropout if self.training else 0.0
        mixed = nn.functional.scaled_dot_product_attention(
            split_heads(self.q_proj(X), self.heads),
            keys,
            values,
            attn_mask=mask,
            dropout_p=rate,
        )
        return self.join(mixed)

    def project(self, X: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values of X, float of shape (batch, heads, length, width of
        a head)."""
        return (split_heads(self.q_proj(X), self.heads), *self.keys_values(X))

    def join(self, mixed: Tensor) -> Tensor:
        """From what heads have seen to an output of the shape of X."""
        joined: Tensor = self.out_proj(join_heads(mixed))
        return joined

    def weights_of_head(
        self, X: Tensor, keys: Tensor, mask: Tensor, head: int = 0
    ) -> Tensor:
        """How one head looks from X, float of shape (batch, queries, length).

        mask (Tensor): What is seen, bool of shape (batch, length).
        """
        queries = split_heads(self.q_proj(X), self.heads)[:, head]
        scores = queries @ keys[:, head].transpose(1, 2)
        scores = scores / math.sqrt(queries.shape[-1])
        scores = scores.masked_fill(~mask[:, None], float("-inf"))
        return scores.softmax(dim=-1)


def split_heads(X: Tensor, heads: int) -> Tensor:
    """From shape (batch, length, width) to (batch, heads, length, width of a head)."""
    return X.view(*X.shape[:2], heads, -1).transpose(1, 2)


def join_heads(X: Tensor) -> Tensor:
    """The counterpart of `split_heads`."""
    return X.transpose(1, 2).flatten(2)


def sinusoids(positions: int, width: int) -> Tensor:
    """Sines and cosines of positions in turn (Vaswani et al. 2017), float of shape
    (positions, width); the first position has zeros, as in the code of One2Set."""
    rates = 10000 ** (-2 * (torch.arange(width) // 2) / width)
    angles = torch.arange(positions)[:, None] * rates
    angles[:, 1::2] += math.pi / 2
    table = angles.sin()
    table[0] = 0
    return table
