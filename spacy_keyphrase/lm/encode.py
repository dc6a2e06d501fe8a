"""States and attention of models that read: encoders, or decoder-only models taken as
such."""

from itertools import pairwise
from typing import Iterator, List, Sequence, Tuple

import numpy
import torch
from torch import Tensor

from ..batches import make_groups, pad_rows
from .load import Loaded
from .pieces import Pieces, read_pieces


@torch.inference_mode()
def encode(
    encoder: Loaded, texts: Sequence[Pieces], max_tokens: int
) -> Iterator[Tuple[int, Tensor]]:
    """The last hidden states of texts.

    encoder (Loaded): The model.
    texts (Sequence[Pieces]): Their sub-tokens, no more than the model can read.
    max_tokens (int): Sub-tokens that are read at once.
    YIELDS (Tuple[int, Tensor]): Number of a text, and float of shape (length, width);
        the longest text first.
    """
    for group in make_groups([len(text) for text in texts], max_tokens):
        some = [texts[i] for i in group]
        ids, mask = pad_rows([text.ids for text in some], 0, encoder.device)
        states = encoder.model(input_ids=ids, attention_mask=mask).last_hidden_state
        for i, text, row in zip(group, some, states):
            yield i, row[: len(text)]


def encode_whole(encoder: Loaded, text: str) -> Tuple[Pieces, Tensor]:
    """The last hidden states of a text, which is read in parts if it is long.

    encoder (Loaded): The model.
    text (str): The text.
    RETURNS (Tuple[Pieces, Tensor]): Its sub-tokens, and float of shape
        (length, width), 0 for special ones.
    """
    (pieces,) = read_pieces(encoder.tokenizer, [text])
    length = window_length(encoder, 0)
    parts = equal_parts(pieces, length)
    before = split_body(pieces)[0]
    whole = torch.zeros((len(pieces), encoder.model.config.hidden_size))
    for i, states in encode(encoder, [part for part, _, _ in parts], length):
        _, start, end = parts[i]
        whole[start:end] = states[before : before + end - start].float().cpu()
    return pieces, whole


@torch.inference_mode()
def attention_maps(
    encoder: Loaded, texts: Sequence[Pieces], max_tokens: int
) -> Iterator[Tuple[int, Tensor]]:
    """The self-attention of all layers and heads.

    encoder (Loaded): The model.
    texts (Sequence[Pieces]): Their sub-tokens, no more than the model can read.
    max_tokens (int): Sub-tokens that are read at once.
    YIELDS (Tuple[int, Tensor]): Number of a text, and float of shape (layers, heads,
        length, length), of which the rows attend to the columns; the longest text
        first.
    """
    for group in make_groups([len(text) for text in texts], max_tokens):
        some = [texts[i] for i in group]
        ids, mask = pad_rows([text.ids for text in some], 0, encoder.device)
        maps = encoder.model(
            input_ids=ids, attention_mask=mask, output_attentions=True
        ).attentions
        for row, (i, text) in enumerate(zip(group, some)):
            n = len(text)
            yield i, torch.stack([layer[row, :, :n, :n] for layer in maps]).float()


def window_length(encoder: Loaded, wanted: int) -> int:
    """How many sub-tokens the model reads at once.

    wanted (int): At most; 0 for as many as it can.
    """
    config = encoder.model.config
    can = getattr(config, "max_position_embeddings", None) or 512
    if getattr(config, "model_type", "") in ("roberta", "xlm-roberta", "camembert"):
        can -= 2  # places are counted from the padding's number on
    return min(wanted, can) if wanted else can


def split_body(pieces: Pieces) -> Tuple[int, int]:
    """Where special sub-tokens at the start end, and where those at the end begin."""
    inner = numpy.flatnonzero((pieces.ends > pieces.starts) | pieces.blank)
    return (int(inner[0]), int(inner[-1]) + 1) if len(inner) else (0, 0)


def equal_parts(pieces: Pieces, length: int) -> List[Tuple[Pieces, int, int]]:
    """A text in parts of the same length, each with the special sub-tokens around it.

    pieces (Pieces): Its sub-tokens.
    length (int): Sub-tokens of a part, at most.
    RETURNS (List[Tuple[Pieces, int, int]]): Of each part its sub-tokens, the first one
        of the text in it, and the one after the last.
    """
    first, last = split_body(pieces)
    around = len(pieces) - (last - first)
    size = max(length - around, 1)
    n_parts = max(1, -(-(last - first) // size))
    bounds = numpy.linspace(first, last, n_parts + 1).round().astype(int).tolist()
    before = numpy.arange(first)
    after = numpy.arange(last, len(pieces))
    parts = []
    for start, end in pairwise(bounds):
        kept = numpy.concatenate([before, numpy.arange(start, end), after])
        parts.append((pieces.take(kept), start, end))
    return parts
