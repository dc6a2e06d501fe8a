"""The bag-of-words constraint of UniKeyphrase: what is extracted and what is written
should have the words of the gold keyphrases between them (Wu et al. 2021, section
3.4)."""

import math
from typing import Tuple

import torch
from torch import Tensor


def bag_weight(step: int, total: int, most: float = 1.0) -> float:
    """How much the constraint weighs after some updates (eq. 12): from 0 to `most`."""
    done = min(max(step / total, 0.0), 1.0)
    return math.log((math.exp(most) - 1) * done + 1)


def bag_loss(
    words: Tensor,
    p_tags: Tensor,
    inside: Tensor,
    p_words: Tensor,
    predicted: Tensor,
    gold: Tensor,
) -> Tensor:
    """The mean squared error of the bags of one document (eq. 9 to 11).

    words (Tensor): Of the positions that tags are predicted for, int of shape
        (positions,).
    p_tags (Tensor): The probability of the predicted tags, float of the same shape.
    inside (Tensor): Which of these tags are inside a keyphrase, bool.
    p_words (Tensor): Probabilities of the words that are written, float of shape
        (steps, vocabulary).
    predicted (Tensor): Which steps are predicted, bool of shape (steps,).
    gold (Tensor): How often the gold keyphrases have each word, float of shape
        (vocabulary,).
    RETURNS (Tensor): A number: the mean over the words that gold keyphrases have or
        that are predicted.
    """
    bag = (p_words * predicted[:, None]).sum(0)
    bag = bag.index_add(0, words, (p_tags * inside).to(bag.dtype))
    union = gold > 0
    union[words[inside]] = True
    union[p_words.argmax(-1)[predicted]] = True
    errors = (bag - gold)[union].square()
    loss: Tensor = errors.sum() / union.sum().clamp(min=1)
    return loss


def bag_loss_as_released(
    words: Tensor,
    tag_logits: Tensor,
    tags: Tensor,
    tagged: Tensor,
    word_logits: Tensor,
    targets: Tensor,
    real: Tensor,
) -> Tuple[Tensor, Tensor]:
    """The errors of a batch as the public code computes them, which is not what the
    paper says: bags are sums of softmaxes over the vocabulary, in which each position
    has a part; extracted and written words have errors of their own; only the former
    are restricted to words that are gold or predicted.

    words (Tensor): Of the source, int of shape (docs, length).
    tag_logits (Tensor): Float of shape (docs, length, tags).
    tags (Tensor): Gold, int of shape (docs, length).
    tagged (Tensor): Which words of the source can have one, bool of the same shape.
    word_logits (Tensor): Float of shape (docs, steps, vocabulary).
    targets (Tensor): Gold, int of shape (docs, steps).
    real (Tensor): Which steps are no padding, bool of shape (docs, steps).
    RETURNS (Tuple[Tensor, Tensor]): The errors of what is extracted and of what is
        written, both numbers; their mean is the loss.
    """
    vocabulary = word_logits.shape[-1]

    def count(ids: Tensor, which: Tensor) -> Tensor:
        bag = word_logits.new_zeros(len(ids), vocabulary)
        return bag.scatter_add(1, ids, which.to(bag.dtype))

    best, predicted = tag_logits.max(-1)
    inside = (predicted >= 1) & (predicted <= 3) & tagged
    scattered = word_logits.new_zeros(*words.shape, vocabulary).scatter(
        2, words[..., None], (best * inside)[..., None]
    )
    extracted = scattered.softmax(-1).sum(1)
    gold = count(words, (tags >= 1) & (tags <= 3))
    union = (gold > 0) | (count(words, inside) > 0)
    errors = (extracted - gold).square() * union
    of_extracted = errors.sum() / union.sum().clamp(min=1)

    written = word_logits.softmax(-1).sum(1)
    gold = count(targets, real)
    union = (gold > 0) | (count(word_logits.argmax(-1), torch.ones_like(real)) > 0)
    of_written = (written - gold).square().sum() / union.sum().clamp(min=1)
    return of_extracted, of_written
