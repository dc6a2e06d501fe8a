"""Beam search for a network that writes by filling masks: each step appends a mask,
predicts it, and puts the word in its place."""

from typing import List, NamedTuple, Set, Tuple

import torch
from torch import Tensor

from .attention import KeysValues
from .relation import Shown
from .unikeyphrase_network import Source, UniKeyphraseNetwork


class Marks(NamedTuple):
    """Special sub-tokens.

    mask (int): What is predicted.
    end (int): What ends the sequence.
    pad (int): What follows the end.
    stop (int): The full stop, of which there may be many.
    """

    mask: int
    end: int
    pad: int
    stop: int


class Found(NamedTuple):
    """What was written.

    ids (List[int]): Sub-tokens, without the end.
    log_p (List[float]): The logarithms of their probabilities.
    ended (bool): Whether there was room for the end.
    """

    ids: List[int]
    log_p: List[float]
    ended: bool


@torch.inference_mode()
def search(
    network: UniKeyphraseNetwork,
    source: Source,
    marks: Marks,
    beams: int = 5,
    length: int = 32,
    none: int = -1,
    least_none: float = 0.0,
) -> List[Found]:
    """Write the likeliest sequences; without a length penalty, and with no three
    sub-tokens in a row twice.

    network (UniKeyphraseNetwork): The network, not in training.
    source (Source): The documents.
    marks (Marks): Special sub-tokens.
    beams (int): How many sequences are pursued of each document.
    length (int): Sub-tokens at most.
    none (int): The sub-token that says at the beginning that there is nothing to write.
    least_none (float): The probability below which it does not stand there, nor the
        end; 0: it is a word like others.
    RETURNS (List[Found]): Of each document the likeliest sequence.
    """
    return _Search(network, source, marks, beams).run(length, none, least_none)


class _Search:
    """The beams of all documents: positions in rows, the source not repeated."""

    def __init__(
        self, network: UniKeyphraseNetwork, source: Source, marks: Marks, beams: int
    ) -> None:
        self.network, self.source, self.marks = network, source, marks
        docs, device = len(source.mask), source.mask.device
        self.docs, self.beams = docs, beams
        # Of shape (docs, beams, steps).
        self.ids = torch.zeros((docs, beams, 0), dtype=torch.long, device=device)
        self.log_p = torch.zeros((docs, beams, 0), device=device)
        # All beams begin alike, so that only one counts.
        self.scores = torch.full((docs, beams), float("-inf"), device=device)
        self.scores[:, 0] = 0
        self.done = torch.zeros((docs, beams), dtype=torch.bool, device=device)
        # Of each layer, of shape (docs, ..., beams, steps, width).
        self.written: List[KeysValues] = []
        self.shown: List[Shown] = []

    def run(self, length: int, none: int, least_none: float) -> List[Found]:
        for step in range(length):
            log_p = self._next().log_softmax(-1)
            if least_none and not step:
                doubtful = log_p[..., none].exp() < least_none
                for at in (none, self.marks.end):
                    log_p[..., at].masked_fill_(doubtful, float("-inf"))
            self._step(log_p)
            if self.done[:, 0].all():
                break
        found = []
        best = zip(self.ids[:, 0].tolist(), self.log_p[:, 0].tolist())
        for ids, log_p in best:
            ended = self.marks.end in ids
            n = ids.index(self.marks.end) if ended else len(ids)
            found.append(Found(ids[:n], log_p[:n], ended))
        return found

    def _step(self, log_p: Tensor) -> None:
        """Go on with the likeliest of all next sub-tokens, whose logarithms of
        probabilities are of shape (docs, beams, vocabulary)."""
        log_p[..., self.marks.mask] = float("-inf")
        self._forbid_repeats(log_p)
        # What has ended goes on with padding, at no cost.
        log_p = log_p.masked_fill(self.done[..., None], float("-inf"))
        log_p[..., self.marks.pad] = torch.where(self.done, 0.0, float("-inf"))
        vocabulary = log_p.shape[-1]
        on = (self.scores[..., None] + log_p).flatten(1)
        self.scores, at = on.topk(self.beams)
        beam, ids = at // vocabulary, at % vocabulary
        own = log_p.flatten(1).gather(1, at)
        self._keep(beam)
        self.ids = torch.cat([self.ids, ids[..., None]], dim=2)
        self.log_p = torch.cat([self.log_p, own[..., None]], dim=2)
        self.done = self.done | (ids == self.marks.end)

    def _next(self) -> Tensor:
        """Logits of the next sub-token, float of shape (docs, beams, vocabulary)."""
        docs, beams, steps = self.ids.shape
        new = min(steps, 1) + 1
        ids = self.ids.new_full((docs, beams, new), self.marks.mask)
        if steps:
            ids[..., 0] = self.ids[..., -1]
        numbers = torch.arange(steps + 1 - new, steps + 1, device=ids.device)
        first = self.source.mask.sum(1)[:, None, None]
        positions = (first + numbers).expand(docs, beams, new)
        keys_values, shown = self._past()
        logits, found, showing = self.network.write(
            self.source,
            ids.flatten(1),
            positions.flatten(1),
            self._seen(new),
            keys_values,
            shown,
        )
        if steps:
            self._add(found, showing, new)
        return logits.view(docs, beams, new, -1)[:, :, -1].float()

    def _seen(self, new: int) -> Tensor:
        """What positions see, bool of shape (docs, beams * new, all): the source, their
        own beam, and of what is new what is not behind them."""
        docs, beams, _ = self.ids.shape
        kept = max(self.ids.shape[2] - 1, 0)
        device = self.ids.device
        source = self.source.mask[:, None].expand(-1, beams * new, -1)
        own = torch.eye(beams, dtype=torch.bool, device=device)
        past = own.repeat_interleave(new, 0).repeat_interleave(kept, 1)
        causal = torch.ones(new, new, dtype=torch.bool, device=device).tril()
        now = torch.kron(own.int(), causal.int()).bool()
        rest = torch.cat([past, now], dim=1)[None].expand(docs, -1, -1)
        return torch.cat([source, rest], dim=2)

    def _past(self) -> Tuple[List[KeysValues], List[Shown]]:
        """Of the source and of what was written, one after the other."""
        if not self.written:
            return self.source.keys_values, self.source.shown
        keys_values = [
            (
                torch.cat([source[0], own[0].flatten(2, 3)], dim=2),
                torch.cat([source[1], own[1].flatten(2, 3)], dim=2),
            )
            for source, own in zip(self.source.keys_values, self.written)
        ]
        shown = [
            (
                torch.cat([source[0], own[0].flatten(1, 2)], dim=1),
                torch.cat([source[1], own[1].flatten(1, 2)], dim=1),
            )
            for source, own in zip(self.source.shown, self.shown)
        ]
        return keys_values, shown

    def _add(self, found: List[KeysValues], showing: List[Shown], new: int) -> None:
        """Keep what belongs to words; that of masks is gone."""

        def words(X: Tensor, dim: int) -> Tensor:
            shape = (*X.shape[:dim], self.beams, new, *X.shape[dim + 1 :])
            return X.reshape(shape).narrow(dim + 1, 0, 1)

        keys_values = [(words(k, 2), words(v, 2)) for k, v in found]
        shown = [(words(p, 1), words(a, 1)) for p, a in showing]
        if self.written:
            keys_values = [
                _join(*pair, dim=3) for pair in zip(self.written, keys_values)
            ]
            shown = [_join(*pair, dim=2) for pair in zip(self.shown, shown)]
        self.written, self.shown = keys_values, shown

    def _keep(self, beam: Tensor) -> None:
        """Go on with some beams, int of shape (docs, beams)."""
        self.ids, self.log_p = _pick(self.ids, beam, 1), _pick(self.log_p, beam, 1)
        self.done = self.done.gather(1, beam)
        self.written = [(_pick(k, beam, 2), _pick(v, beam, 2)) for k, v in self.written]
        self.shown = [(_pick(p, beam, 1), _pick(a, beam, 1)) for p, a in self.shown]

    def _forbid_repeats(self, log_p: Tensor) -> None:
        """No three sub-tokens in a row twice, but for full stops."""
        if self.ids.shape[2] < 3:
            return
        for doc, beams in enumerate(self.ids.tolist()):
            for beam, ids in enumerate(beams):
                forbidden: Set[int] = {
                    c
                    for a, b, c in zip(ids, ids[1:], ids[2:])
                    if [a, b] == ids[-2:] and c != self.marks.stop
                }
                if forbidden:
                    log_p[doc, beam, list(forbidden)] = float("-inf")


def _join(
    old: Tuple[Tensor, Tensor], new: Tuple[Tensor, Tensor], dim: int
) -> Tuple[Tensor, Tensor]:
    return torch.cat([old[0], new[0]], dim=dim), torch.cat([old[1], new[1]], dim=dim)


def _pick(X: Tensor, beam: Tensor, dim: int) -> Tensor:
    """Some beams of X, whose first dimension are the docs."""
    shape = [1] * X.dim()
    shape[0], shape[dim] = beam.shape
    at = beam.view(shape)
    return X.gather(dim, at.expand(*X.shape[:dim], beam.shape[1], *X.shape[dim + 1 :]))
