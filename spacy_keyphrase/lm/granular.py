"""Multi-granular attention (the MUDY paper, section "Multi-granular attention",
equations 9 to 12): how much of a document's and of its sentences' self-attention a
candidate receives."""

from dataclasses import dataclass
from typing import Callable, Dict, List, Literal, Sequence, Tuple

import numpy

from .document import Document
from .pieces import Pieces
from .windows import Window

Part = Literal["both", "global", "local"]
# From texts to their sub-tokens, and what each of these receives.
Sums = Callable[[Sequence[str], bool], List[Tuple[Pieces, numpy.ndarray]]]


@dataclass(frozen=True)
class Granular:
    """How attention is looked at.

    weight (float): Lambda of eq. 12.
    window (int): Sentences before and after the one looked at, in a block.
    limit (float): The greatest product of global and local score.
    mean (bool): Whether a candidate has the mean of its sub-tokens' sums, as in the
        code of the authors, or their sum (eq. 9).
    short_last_block (bool): Whether the last sentence is read in a block without what
        would come after it, as in the code of the authors, or in the last whole block,
        as in the paper.
    part (str): "both" scores, or the "global" or "local" one alone.
    """

    weight: float = 0.9
    window: int = 1
    limit: float = 2.5
    mean: bool = True
    short_last_block: bool = False
    part: Part = "both"


def attention_scores(
    documents: Sequence[Document], sums: Sums, settings: Granular
) -> List[numpy.ndarray]:
    """The product of the global and the local score of each occurrence (eq. 11).

    documents (Sequence[Document]): The documents.
    sums (Callable): The self-attention that the sub-tokens of texts receive; whether
        the texts have a closing special sub-token is its second argument.
    settings (Granular): How it is looked at.
    RETURNS (List[ndarray]): Of each document, float of shape (occurrences,), at most
        the limit.
    """
    few = [len(d.sentences) < 2 * settings.window + 1 for d in documents]
    scores: List[numpy.ndarray] = [numpy.zeros(0)] * len(documents)
    short = [i for i, is_short in enumerate(few) if is_short]
    for i, found in zip(short, sums([documents[i].text for i in short], True)):
        alone = _of_occurrences(
            documents[i], range(len(documents[i].occurrences)), found, 0, settings
        )
        alone = alone / max(float(alone.sum()), 1e-9)
        scores[i] = alone * alone if settings.part == "both" else alone
    long = [i for i, is_short in enumerate(few) if not is_short]
    blocks = [
        (i, *block)
        for i in long
        for block in _blocks(
            documents[i], settings, range(len(documents[i].occurrences))
        )
    ]
    blocks = blocks if settings.part != "global" else []
    texts = [documents[i].text[start:end] for i, start, end, _ in blocks]
    if settings.part != "local":
        texts += [documents[i].text for i in long]
    found_all = sums(texts, False)
    for i in long:
        scores[i] = numpy.ones(len(documents[i].occurrences))
    for i, found in zip(long, found_all[len(blocks) :]):
        everyone = range(len(documents[i].occurrences))
        scores[i] = _of_occurrences(documents[i], everyone, found, 0, settings)
    for (i, start, _, members), found in zip(blocks, found_all):
        local = _of_occurrences(documents[i], members, found, start, settings)
        scores[i][members] *= local / max(float(local.mean()), 1e-9)
    return [numpy.minimum(score, settings.limit) for score in scores]


def attention_within(
    attention: numpy.ndarray,
    document: Document,
    window: Window,
    before: int,
    settings: Granular,
) -> numpy.ndarray:
    """The same from one pass over the document: attention within a part of the text is
    that of its rows to its columns, with rows that add up to 1.

    attention (ndarray): Of a window, averaged over the heads, float of shape (length,
        length).
    document (Document): The document.
    window (Window): The window.
    before (int): Characters put before the document's text.
    settings (Granular): How it is looked at.
    RETURNS (ndarray): Of the window's occurrences, float of shape (occurrences,), at
        most the limit; 0 for those outside.
    """
    lengths = (window.ends + 1 - window.starts) * window.inside

    def received(first: int, last: int, some: numpy.ndarray) -> numpy.ndarray:
        part = attention[first : last + 1, first : last + 1]
        part = part / numpy.maximum(part.sum(axis=1, keepdims=True), 1e-9)
        along = numpy.concatenate([[0.0], numpy.cumsum(part.sum(axis=0), dtype="f8")])
        starts = (window.starts[some] - first).clip(0, len(along) - 1)
        ends = (window.ends[some] + 1 - first).clip(0, len(along) - 1)
        sums = (along[ends] - along[starts]) * window.inside[some]
        found: numpy.ndarray = sums
        return found / lengths[some].clip(min=1) if settings.mean else found

    everyone = numpy.arange(len(lengths))
    text = window.pieces.find(before, before + len(document.text))
    if text is None:
        return numpy.zeros(len(lengths))
    scores = received(*text, everyone)
    if len(document.sentences) < 2 * settings.window + 1:
        scores = scores / max(float(scores.sum()), 1e-9)
        scores = scores * scores if settings.part == "both" else scores
        return scores.clip(max=settings.limit)
    if settings.part == "global":
        return scores.clip(max=settings.limit)
    for start, end, members in _blocks(document, settings, window.occurrences.tolist()):
        span = window.pieces.find(before + start, before + end)
        some = numpy.array(members)
        local = received(*span, some) if span is not None else numpy.zeros(len(some))
        local = local / max(float(local.mean()), 1e-9)
        scores[some] = local * (scores[some] if settings.part == "both" else 1)
    return scores.clip(max=settings.limit)


def combine(
    prompt: numpy.ndarray, attention: numpy.ndarray, weight: float
) -> numpy.ndarray:
    """The score of each occurrence (eq. 12): prompt scores are negative, and nearer to
    0 the more attention there is.

    prompt (ndarray): Prompt scores, float of shape (occurrences,).
    attention (ndarray): Products of global and local scores, of the same shape.
    weight (float): Lambda.
    """
    combined: numpy.ndarray = prompt / (1 + weight * numpy.log1p(attention))
    return combined


def _blocks(
    document: Document, settings: Granular, some: Sequence[int]
) -> List[Tuple[int, int, List[int]]]:
    """First character and character after the last of each block of sentences, and
    which of some occurrences are scored in it: those of its middle sentence, in the
    first block also those before, in the last also those after."""
    w, n = settings.window, len(document.sentences)
    last = n - 1 if settings.short_last_block else n - 1 - w
    members: Dict[int, List[int]] = {}
    ends = [end for _, end in document.sentences]
    for i, number in enumerate(some):
        start = document.occurrences[number].start
        sentence = int(numpy.searchsorted(ends, start, side="right"))
        members.setdefault(min(max(sentence, w), last), []).append(i)
    return [
        (
            document.sentences[middle - w][0],
            document.sentences[min(middle + w, n - 1)][1],
            members[middle],
        )
        for middle in sorted(members)
    ]


def _of_occurrences(
    document: Document,
    members: Sequence[int],
    found: Tuple[Pieces, numpy.ndarray],
    shift: int,
    settings: Granular,
) -> numpy.ndarray:
    """What each of some occurrences receives."""
    pieces, sums = found
    spans = pieces.find_all(*document.offsets(-shift, members))
    along = numpy.concatenate([[0.0], numpy.cumsum(sums, dtype="f8")])
    lengths = spans[:, 1] + 1 - spans[:, 0]
    there = lengths > 0
    scores = numpy.zeros(len(members))
    scores[there] = along[spans[there, 1] + 1] - along[spans[there, 0]]
    return scores / lengths.clip(min=1) if settings.mean else scores
