"""Stacked relation layers: what is extracted and what is written look at each other
(UniKeyphrase, Wu et al. 2021, section 3.2)."""

from typing import Any, List, Optional, Tuple

import torch
from torch import Tensor, nn

# What positions showed each other in each layer: present and absent states.
Shown = Tuple[Tensor, Tensor]


class RelationLayer(nn.Module):
    """One layer (eq. 3 to 6). Both directions read the states before the layer.

    width (int): Width of the states.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.present_mlp = nn.Linear(width, width)
        self.absent_mlp = nn.Linear(width, width)
        self.p_mlp_LayerNorm = nn.LayerNorm(width, eps=1e-12)
        self.a_mlp_LayerNorm = nn.LayerNorm(width, eps=1e-12)
        self.p_LayerNorm = nn.LayerNorm(width, eps=1e-12)
        self.a_LayerNorm = nn.LayerNorm(width, eps=1e-12)

    def show(self, P: Tensor, A: Tensor) -> Shown:
        """What positions show each other (eq. 3, 4); float of the shape of both."""
        P = self.p_mlp_LayerNorm(P + self.present_mlp(P).relu())
        A = self.a_mlp_LayerNorm(A + self.absent_mlp(A).relu())
        return P, A

    def forward(
        self, own: Shown, shown: Shown, mask: Optional[Tensor] = None
    ) -> Tuple[Tensor, Tensor]:
        """Look at what is shown (eq. 5, 6).

        own (Tuple[Tensor, Tensor]): What the positions that look show themselves, float
            of shape (docs, positions, width).
        shown (Tuple[Tensor, Tensor]): What all positions show, float of shape (docs,
            length, width).
        mask (Optional[Tensor]): Which of them are seen, bool of shape (docs, positions,
            length).
        RETURNS (Tuple[Tensor, Tensor]): Present and absent states, of the shape of
            `own`.
        """
        (P, A), (all_P, all_A) = own, shown
        return (
            self.p_LayerNorm(P + _look(P, all_A, mask)),
            self.a_LayerNorm(A + _look(A, all_P, mask)),
        )


def _look(X: Tensor, seen: Tensor, mask: Optional[Tensor]) -> Tensor:
    """Attention of one head, not scaled."""
    looked: Tensor = nn.functional.scaled_dot_product_attention(
        X, seen, seen, attn_mask=mask, scale=1.0
    )
    return looked


class Relation(nn.Module):
    """Layers one after the other.

    width (int): Width of the states.
    layers (int): How many; 0 for none.
    dropout (float): Of states, before the layers and after each, in training.
    """

    def __init__(self, width: int, layers: int = 2, dropout: float = 0.5) -> None:
        super().__init__()
        self.srl = nn.ModuleList(RelationLayer(width) for _ in range(layers))
        self.drop = nn.Dropout(dropout)

    def forward(
        self,
        H: Tensor,
        mask: Optional[Tensor] = None,
        past: Optional[List[Shown]] = None,
    ) -> Tuple[Tensor, Tensor, List[Shown]]:
        """From states to present and absent states.

        H (Tensor): States, float of shape (docs, positions, width).
        mask (Optional[Tensor]): What each position sees, bool of shape (docs,
            positions, length); all by default.
        past (Optional[List[Shown]]): What positions before these showed, of each layer.
        RETURNS (Tuple[Tensor, Tensor, List[Shown]]): Present and absent states, of the
            shape of H, and what these positions show.
        """
        P = A = self.drop(H)
        shown = []
        layers: Any = self.srl
        for i, layer in enumerate(layers):
            own = layer.show(P, A)
            shown.append(own)
            seen = own
            if past is not None:
                joined = [torch.cat(pair, dim=1) for pair in zip(past[i], own)]
                seen = joined[0], joined[1]
            P, A = layer(own, seen, mask)
            P, A = self.drop(P), self.drop(A)
        return P, A, shown
