"""Prompt scores: how probable a candidate is as what a document talks about (the
PromptRank and MUDY papers; eq. 1 of the latter)."""

from typing import Any, Iterator, List, Optional, Sequence, Tuple

import numpy
import torch
from torch import Tensor

from .document import Document, Occurrence
from .encode import encode_whole, equal_parts, split_body
from .granular import Granular, Sums, attention_within
from .load import Loaded
from .neighbours import find_neighbours
from .pieces import Pieces, read_pieces
from .sentence_model import SentenceModel
from .sentences import Prompt, read_sentences
from .weighting import Occurrences, Priors, Weighting
from .windows import Window, make_windows


def normalise(sums: Any, lengths: Any, alpha: float) -> Any:
    """Sums of log-probabilities by length (eq. 1): the longer a candidate, the less its
    sum counts.

    sums (ndarray): Below 0, float of any shape.
    lengths (ndarray): Sub-tokens summed, of the same shape.
    alpha (float): Exponent of the length.
    """
    return sums / numpy.maximum(lengths, 1) ** alpha


# Sub-tokens of a text whose self-attention is looked at as a whole.
LONGEST = 4096


class PromptScorer:
    """Scores the occurrences of candidates by a prompt.

    model (SentenceModel): The model.
    tokenizer (Any): Its fast tokenizer.
    prompt (Prompt): What is asked.
    weighting (Optional[Weighting]): How attention is drawn to an occurrence; None for
        not at all (PromptRank).
    encoder (Optional[Loaded]): Where neighbours are found, if the model itself has no
        states of documents; without any there are no neighbours.
    truncate (bool): Whether documents are cut where a window ends.
    max_tokens (int): Sub-tokens that go through the encoder or decoder at once.
    """

    def __init__(
        self,
        model: SentenceModel,
        tokenizer: Any,
        prompt: Prompt,
        weighting: Optional[Weighting] = None,
        *,
        encoder: Optional[Loaded] = None,
        truncate: bool = False,
        max_tokens: int = 1024,
    ) -> None:
        self.model = model
        self.tokenizer = tokenizer
        self.prompt = prompt
        self.weighting = weighting
        self.encoder = encoder
        self.truncate = truncate
        self.max_tokens = max_tokens

    def __call__(self, documents: Sequence[Document]) -> List[numpy.ndarray]:
        """The score of each occurrence.

        documents (Sequence[Document]): The documents.
        RETURNS (List[ndarray]): Of each document, float of shape (occurrences,); below
            0, higher is better.
        """
        return self.score(documents)[0]

    def score(
        self,
        documents: Sequence[Document],
        granular: Optional[Granular] = None,
        layer: Optional[int] = None,
    ) -> Tuple[List[numpy.ndarray], List[numpy.ndarray]]:
        """The score of each occurrence, and the attention that it receives.

        documents (Sequence[Document]): The documents.
        granular (Optional[Granular]): How attention is looked at, in the pass over the
            document that the scores need anyway; None for not at all.
        layer (Optional[int]): Whose attention; see `received`.
        RETURNS (Tuple[List[ndarray], List[ndarray]]): Scores of each document, float
            of shape (occurrences,), and attention, of the same shape.
        """
        if granular is None:
            layer = None
        elif layer is None:
            layer = self.model.default_layer
        prompt = self.prompt
        texts = [f"{prompt.before}{d.text}{prompt.after}" for d in documents]
        wrapped = read_pieces(self.tokenizer, texts)
        windows = [
            window
            for window in make_windows(
                documents, wrapped, len(prompt.before), prompt.length, self.truncate
            )
            if len(window.occurrences)
        ]
        scores = [numpy.zeros(len(d.occurrences)) for d in documents]
        attention = [numpy.zeros(len(d.occurrences)) for d in documents]
        for read in self.model.read(
            [window.pieces for window in windows], self.max_tokens, layer
        ):
            window = windows[read.number]
            own = documents[window.doc]
            some = [own.occurrences[k] for k in window.occurrences]
            priors = None
            if self.weighting is not None:
                whole = wrapped[window.doc]
                priors = self.read_priors(
                    self.weighting, own, window, some, read.states, whole
                )
            found = self._score(read.document, [o.text for o in some], priors)
            scores[window.doc][window.occurrences] = found
            if read.attention is not None and granular is not None:
                attention[window.doc][window.occurrences] = attention_within(
                    read.attention.float().cpu().numpy(),
                    own,
                    window,
                    len(prompt.before),
                    granular,
                )
        return scores, attention

    def received(self, layer: Optional[int] = None) -> Sums:
        """The self-attention that the sub-tokens of texts receive.

        layer (Optional[int]): The layer, from 0; by default that of the paper, at the
            same height.
        """
        chosen = self.model.default_layer if layer is None else layer

        def sums(texts: Sequence[str], closing: bool) -> Any:
            special = closing or not self.model.special
            pieces = read_pieces(self.tokenizer, texts, special=special)
            parts = [part for p in pieces for part in equal_parts(p, LONGEST)]
            read = [part for part, _, _ in parts]
            found = iter(self.model.received(read, chosen, self.max_tokens))
            return [(whole, _join(whole, found)) for whole in pieces]

        return sums

    def _score(
        self, read: Any, texts: Sequence[str], priors: Optional[Priors]
    ) -> numpy.ndarray:
        # Without weights it does not matter where a candidate stands.
        asked = list(texts) if priors is not None else sorted(set(texts))
        sentences = read_sentences(
            self.tokenizer, asked, self.prompt, self.model.special
        )
        sums = self.model.score(read, sentences, priors, self.max_tokens)
        lengths = numpy.array([s.last - s.first for s in sentences])
        values: numpy.ndarray = normalise(sums, lengths, self.prompt.alpha)
        if priors is not None:
            return values
        of_text = dict(zip(asked, values.tolist()))
        return numpy.array([of_text[text] for text in texts])

    def read_priors(
        self,
        weighting: Weighting,
        document: Document,
        window: Window,
        some: Sequence[Occurrence],
        states: Tensor,
        whole: Pieces,
    ) -> Priors:
        """Where the occurrences of a window are, and those similar to them."""
        n = len(weighting.neighbours)
        starts, ends = window.starts, window.ends
        numbers = torch.zeros((len(some), n), dtype=torch.long)
        present = torch.zeros((len(some), n), dtype=torch.bool)
        if not self.model.has_states:
            if self.encoder is not None and n:
                numbers, present = _foreign_neighbours(self.encoder, document, some, n)
        elif n:
            if self.truncate and len(whole) > len(window.pieces):
                # Neighbours are looked for beyond the cut.
                states = next(iter(self.model.read([whole], self.max_tokens))).states
            numbers, present = find_neighbours(
                states, starts, ends, some, n, weighting.truncated_neighbours
            )
        centres = torch.from_numpy((starts + ends) // 2)[numbers]
        device = self.model.device
        where = Occurrences(
            torch.from_numpy(starts).to(device),
            torch.from_numpy(ends).to(device),
            torch.from_numpy(window.inside).to(device),
            centres.to(device),
            present.to(device),
        )
        blank = torch.from_numpy(window.pieces.blank).to(device)
        return Priors(where, blank, weighting)


def _join(whole: Pieces, found: Iterator[numpy.ndarray]) -> numpy.ndarray:
    """What the sub-tokens of a text receive, from what those of its parts do."""
    parts = equal_parts(whole, LONGEST)
    if len(parts) == 1:
        return next(found)
    before = split_body(whole)[0]
    sums = numpy.zeros(len(whole))
    for _, start, end in parts:
        sums[start:end] = next(found)[before : before + end - start]
    return sums


def _foreign_neighbours(
    encoder: Loaded, document: Document, some: Sequence[Occurrence], n: int
) -> Tuple[Tensor, Tensor]:
    """Neighbours by the states of another model."""
    low = min(occurrence.start for occurrence in some)
    high = max(occurrence.end for occurrence in some)
    pieces, states = encode_whole(encoder, document.text[low:high])
    spans = numpy.full((len(some), 2), len(states))
    for row, occurrence in enumerate(some):
        found = pieces.find(occurrence.start - low, occurrence.end - low)
        if found is not None:
            spans[row] = found
    return find_neighbours(states, spans[:, 0], spans[:, 1], some, n)
