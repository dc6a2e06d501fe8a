"""A document with the occurrences of its candidates, as language models see it."""

from dataclasses import dataclass
from typing import List, Optional, Sequence, Tuple

import numpy
from spacy.tokens import Doc

from ..candidates import Candidate
from ..word_reader import get_word_reader


@dataclass(frozen=True)
class Occurrence:
    """One place where a candidate stands.

    start (int): First character.
    end (int): Character after the last.
    text (str): The candidate as it is asked for.
    stems (frozenset): The stems of its words.
    place (int): Tokens before it.
    """

    start: int
    end: int
    text: str
    stems: "frozenset[str]"
    place: int = 0


@dataclass(frozen=True)
class Document:
    """A text, its sentences, and the occurrences of its candidates.

    text (str): The text.
    sentences (List[Tuple[int, int]]): First character and character after the last of
        each sentence, in order.
    occurrences (List[Occurrence]): In any order.
    """

    text: str
    sentences: List[Tuple[int, int]]
    occurrences: List[Occurrence]

    def offsets(
        self, shift: int = 0, some: Optional[Sequence[int]] = None
    ) -> Tuple[numpy.ndarray, numpy.ndarray]:
        """First characters and characters after the last of occurrences.

        shift (int): Added to all.
        some (Optional[Sequence[int]]): Which occurrences; all by default.
        RETURNS (Tuple[ndarray, ndarray]): Int of shape (occurrences,).
        """
        chosen = self.occurrences
        if some is not None:
            chosen = [self.occurrences[i] for i in some]
        starts = numpy.array([o.start for o in chosen], dtype="i8") + shift
        ends = numpy.array([o.end for o in chosen], dtype="i8") + shift
        return starts, ends


def lower(text: str) -> str:
    """In lower case, every character in its place."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def read_document(doc: Doc, candidates: Sequence[Candidate], lowered: bool) -> Document:
    """What language models see of a doc.

    doc (Doc): The doc; its sentences are those that it has, or those told by marks.
    candidates (Sequence[Candidate]): Its candidates. Their mentions become
        occurrences, one candidate after the other.
    lowered (bool): Whether all is in lower case.
    """
    text = lower(doc.text) if lowered else doc.text
    ends = [token.idx + len(token) for token in doc]
    words = get_word_reader(doc.lang_).read(doc)
    firsts = [0] + [u.start for u in words.units if u.sentence_start and u.start]
    firsts = sorted(set(firsts))
    sentences = [
        (doc[first].idx if first else 0, ends[after - 1])
        for first, after in zip(firsts, [*firsts[1:], len(doc)])
        if len(doc)
    ]
    occurrences = [
        Occurrence(
            doc[start].idx,
            ends[end - 1],
            " ".join(text[doc[start].idx : ends[end - 1]].split()),
            frozenset(candidate.stems),
            start,
        )
        for candidate in candidates
        for start, end in candidate.mentions
    ]
    return Document(text, sentences, occurrences)
