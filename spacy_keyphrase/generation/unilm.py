"""An encoder of the BERT family that also writes: the source is read as always, what
is written sees the source and what was written before (UNILM, Dong et al. 2019)."""

from typing import Any, List, Optional, Tuple

import torch
from torch import Tensor, nn

from .attention import KeysValues, split_heads

# Types of models whose layers are those of BERT.
KINDS = ("bert", "camembert", "ernie", "roberta", "xlm-roberta")


class UniLM(nn.Module):
    """Runs over the modules of transformers, which are the same in all its versions.

    model (PreTrainedModel): A model for masked language modelling of one of `KINDS`.
    RAISES: ValueError at other models.
    """

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model
        kind = model.config.model_type
        if kind not in KINDS:
            raise ValueError(
                f"it is a {kind}; an encoder with the layers of BERT is needed: "
                f"{', '.join(KINDS)}"
            )
        layers = model.base_model.encoder.layer
        head = getattr(model, "cls", None) or model.lm_head
        # Not as parts of this module: they are parts of the model.
        self._parts = {"layers": layers, "head": head}
        self.heads = int(model.config.num_attention_heads)
        self.width = int(model.config.hidden_size)
        embeddings = model.base_model.embeddings
        positions = embeddings.position_embeddings
        padding = getattr(positions, "padding_idx", None)
        # RoBERTa and its kin count positions from behind the padding's number.
        self.first_position = 0 if padding is None else int(padding) + 1
        self.positions = int(positions.num_embeddings) - self.first_position
        types = int(getattr(model.config, "type_vocab_size", 0) or 0)
        # UNILM's own checkpoints have segments for this use.
        self.types = (4, 5) if types >= 6 else (0, 1) if types >= 2 else (0, 0)

    def forward(
        self,
        ids: Tensor,
        positions: Tensor,
        mask: Tensor,
        past: Optional[List[KeysValues]] = None,
        target: bool = False,
    ) -> Tuple[Tensor, List[KeysValues]]:
        """Read sub-tokens.

        ids (Tensor): Int of shape (docs, length).
        positions (Tensor): From 0, int of the same shape.
        mask (Tensor): What each sees of what was read before and of these, bool of
            shape (docs, length or 1, all).
        past (Optional[List[KeysValues]]): Keys and values of what was read before, of
            each layer.
        target (bool): Whether they are of what is written.
        RETURNS (Tuple[Tensor, List[KeysValues]]): States, float of shape (docs, length,
            width), and keys and values of these.
        """
        X = self.model.base_model.embeddings(
            input_ids=ids,
            token_type_ids=torch.full_like(ids, self.types[target]),
            position_ids=positions + self.first_position,
        )
        found = []
        rate = float(self.model.config.attention_probs_dropout_prob)
        for i, layer in enumerate(self._parts["layers"]):
            attention = layer.attention
            Q, K, V = (
                split_heads(project(X), self.heads)
                for project in (
                    attention.self.query,
                    attention.self.key,
                    attention.self.value,
                )
            )
            found.append((K, V))
            if past is not None:
                K, V = (torch.cat(pair, dim=2) for pair in zip(past[i], (K, V)))
            looked = nn.functional.scaled_dot_product_attention(
                Q,
                K,
                V,
                attn_mask=mask[:, None],
                dropout_p=rate if self.training else 0.0,
            )
            X = attention.output(looked.transpose(1, 2).flatten(2), X)
            X = layer.output(layer.intermediate(X), X)
        return X, found

    def words(self, states: Tensor) -> Tensor:
        """Logits of sub-tokens, float of shape (..., vocabulary)."""
        logits: Tensor = self._parts["head"](states)
        return logits


def unilm_mask(source: Tensor, target: Tensor) -> Tensor:
    """What each position of what is written sees: the source, and what was written
    before, itself included.

    source (Tensor): What of the source is no padding, bool of shape (docs, length).
    target (Tensor): The same of what is written, bool of shape (docs, steps).
    RETURNS (Tensor): Bool of shape (docs, steps, length + steps).
    """
    steps = target.shape[1]
    before = torch.ones(steps, steps, dtype=torch.bool, device=target.device).tril()
    own = before & (target[:, None] | torch.eye(steps, device=target.device).bool())
    return torch.cat([source[:, None].expand(-1, steps, -1), own], dim=-1)
