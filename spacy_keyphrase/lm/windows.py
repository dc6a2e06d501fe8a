"""Documents in windows that a model can read, and where their occurrences are read."""

from dataclasses import dataclass
from typing import List, Sequence

import numpy

from .document import Document
from .pieces import Pieces


@dataclass(frozen=True)
class Window:
    """What a model reads at once.

    doc (int): The document.
    pieces (Pieces): A part of its sub-tokens, with what is around it; offsets are those
        of the wrapped text.
    occurrences (ndarray): Those of the document that are read here, int of shape (n,).
    starts (ndarray): Their first sub-tokens, int of shape (n,).
    ends (ndarray): Their last sub-tokens, int of shape (n,).
    inside (ndarray): Whether they are in the window at all, bool of shape (n,): behind
        a cut they are not.
    """

    doc: int
    pieces: Pieces
    occurrences: numpy.ndarray
    starts: numpy.ndarray
    ends: numpy.ndarray
    inside: numpy.ndarray


def make_windows(
    documents: Sequence[Document],
    wrapped: Sequence[Pieces],
    before: int,
    length: int,
    truncate: bool,
) -> List[Window]:
    """Cut documents into windows that overlap by half, or to the first one.

    documents (Sequence[Document]): The documents.
    wrapped (Sequence[Pieces]): Their sub-tokens, with what is put around the text.
    before (int): Characters put before the text.
    length (int): Sub-tokens of a window, at most.
    truncate (bool): Whether there is one window a document, as it begins.
    RETURNS (List[Window]): In the order of the documents.
    """
    windows: List[Window] = []
    for i, (document, pieces) in enumerate(zip(documents, wrapped)):
        spans = _find(document, pieces, before)
        if len(pieces) <= length or truncate:
            # Special sub-tokens at the end stay there.
            special = (pieces.ends == pieces.starts) & ~pieces.blank
            closing = int(numpy.argmin(special[::-1]))
            n = min(len(pieces), length) - closing
            kept = numpy.concatenate(
                [numpy.arange(n), numpy.arange(len(pieces) - closing, len(pieces))]
            )
            some = numpy.arange(len(spans))
            windows.append(_window(i, pieces, kept, some, spans))
            continue
        body = numpy.flatnonzero(
            (pieces.starts >= before)
            & (pieces.starts < before + len(document.text))
            & ((pieces.ends > pieces.starts) | pieces.blank)
        )
        first, last = int(body[0]), int(body[-1]) + 1
        around = first + len(pieces) - last
        size = max(length - around, 1)
        stride = max(size // 2, 1)
        offsets = list(range(0, max(len(body) - size, 0) + stride, stride))
        middles = numpy.array([min(o + size, len(body)) + o for o in offsets]) / 2
        own = numpy.abs((spans.mean(axis=1) - first)[:, None] - middles).argmin(axis=1)
        for w, offset in enumerate(offsets):
            some = numpy.flatnonzero(own == w)
            if not len(some):
                continue
            kept = numpy.concatenate(
                [
                    numpy.arange(first),
                    numpy.arange(first + offset, min(first + offset + size, last)),
                    numpy.arange(last, len(pieces)),
                ]
            )
            windows.append(_window(i, pieces, kept, some, spans))
    return windows


def _find(document: Document, pieces: Pieces, before: int) -> numpy.ndarray:
    """First and last sub-token of each occurrence; of those without any, one after the
    end."""
    spans = pieces.find_all(*document.offsets(before))
    spans[spans[:, 1] < 0] = len(pieces)
    return spans


def _window(
    doc: int,
    pieces: Pieces,
    kept: numpy.ndarray,
    some: numpy.ndarray,
    spans: numpy.ndarray,
) -> Window:
    places = numpy.searchsorted(kept, spans[some])
    inside = (places[:, 0] < len(kept)) & (
        kept[places[:, 0].clip(max=len(kept) - 1)] == spans[some, 0]
    )
    # What is not in the window keeps its place in the document.
    places = numpy.where(inside[:, None], places, spans[some])
    ends = numpy.where(inside, places[:, 1].clip(max=len(kept) - 1), places[:, 1])
    return Window(doc, pieces.take(kept), some, places[:, 0], ends, inside)
