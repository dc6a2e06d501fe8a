"""The network of UniKeyphrase (Wu et al. 2021): an encoder run as UNILM, relation
layers, tags of the source, and words of the absent keyphrases."""

from dataclasses import dataclass
from typing import Any, List, Tuple

import torch
from torch import Tensor, nn

from .attention import KeysValues
from .relation import Relation, Shown
from .tags import TAGS
from .unilm import UniLM, unilm_mask


@dataclass
class Source:
    """Documents that were read.

    mask (Tensor): What is no padding, bool of shape (docs, length).
    states (Tensor): Of the encoder, float of shape (docs, length, width).
    keys_values (List[KeysValues]): Of each layer of the encoder.
    present, absent (Tensor): States behind the relation layers, of the shape of
        `states`.
    shown (List[Shown]): What positions show each other in these.
    """

    mask: Tensor
    states: Tensor
    keys_values: List[KeysValues]
    present: Tensor
    absent: Tensor
    shown: List[Shown]


class UniKeyphraseNetwork(nn.Module):
    """Encoder, relation layers and heads.

    model (PreTrainedModel): A model for masked language modelling, such as BERT's.
    relation_layers (int): How many relation layers; 0 for none.
    relation_dropout (float): Of their states, in training.
    leak_free (bool): Whether relation layers see no more than the encoder does. As
        printed they see everything: in training also the words that are to be written.
    """

    def __init__(
        self,
        model: Any,
        relation_layers: int = 2,
        relation_dropout: float = 0.5,
        leak_free: bool = True,
    ) -> None:
        super().__init__()
        self.encoder = UniLM(model)
        self.relation = Relation(self.encoder.width, relation_layers, relation_dropout)
        self.tagger = nn.Linear(self.encoder.width, len(TAGS))
        self.leak_free = leak_free

    def read(self, ids: Tensor, mask: Tensor) -> Source:
        """Read documents.

        ids (Tensor): Sub-tokens with the special ones, int of shape (docs, length).
        mask (Tensor): What is no padding, bool.
        """
        positions = torch.arange(ids.shape[1], device=ids.device).expand_as(ids)
        states, keys_values = self.encoder(ids, positions, mask[:, None])
        P, A, shown = self.relation(states, mask[:, None])
        return Source(mask, states, keys_values, P, A, shown)

    def teach(self, source: Source, ids: Tensor, mask: Tensor) -> Tuple[Tensor, Tensor]:
        """Tags, and words of what is to be written, for a loss.

        source (Source): The documents.
        ids (Tensor): What is written, some of it masked, int of shape (docs, steps).
        mask (Tensor): What of it is no padding, bool.
        RETURNS (Tuple[Tensor, Tensor]): Logits of tags, float of shape (docs, length,
            tags), and of words, float of shape (docs, steps, vocabulary).
        """
        steps = torch.arange(ids.shape[1], device=ids.device)
        positions = source.mask.sum(1)[:, None] + steps
        seen = unilm_mask(source.mask, mask)
        states, _ = self.encoder(
            ids, positions, seen, past=source.keys_values, target=True
        )
        present = source.present
        if self.leak_free:
            _, absent, _ = self.relation(states, seen, past=source.shown)
        else:
            length = source.mask.shape[1]
            everything = torch.cat([source.mask, mask], dim=1)[:, None]
            joined = torch.cat([source.states, states], dim=1)
            P, A, _ = self.relation(joined, everything)
            present, absent = P[:, :length], A[:, length:]
        return self.tagger(present), self.encoder.words(absent)

    def write(
        self,
        source: Source,
        ids: Tensor,
        positions: Tensor,
        seen: Tensor,
        keys_values: List[KeysValues],
        shown: List[Shown],
    ) -> Tuple[Tensor, List[KeysValues], List[Shown]]:
        """Words of positions that are written, step by step.

        source (Source): The documents.
        ids, positions (Tensor): What is read now, int of shape (docs, new).
        seen (Tensor): What of the source, of what was written, and of this it sees,
            bool of shape (docs, new, all).
        keys_values, shown (List): Of the source and of what was written.
        RETURNS (Tuple): Logits of words, float of shape (docs, new, vocabulary), keys
            and values, and what these positions show.
        """
        states, found = self.encoder(
            ids, positions, seen, past=keys_values, target=True
        )
        new = ids.shape[1]
        if self.leak_free:
            _, absent, showing = self.relation(states, seen, past=shown)
        else:
            # As the public code: only what is read now.
            _, absent, showing = self.relation(states, seen[..., -new:])
        return self.encoder.words(absent), found, showing
