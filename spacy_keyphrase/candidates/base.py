"""What a candidate is, and how mentions become candidates."""

from dataclasses import dataclass, field
from typing import Callable, Dict, List, Optional, Sequence, Set, Tuple

import numpy
from spacy.tokens import Doc

from ..normalize import get_normalizer
from ..word_reader import shared_words
from ..words import WordBatch, Words

Offsets = List[Tuple[int, int]]
# From a doc to the token offsets (start, end) of mentions, in any order.
Suggester = Callable[[Doc], Offsets]


def suggest_batch(
    suggester: Suggester, docs: Sequence[Doc], words: WordBatch
) -> numpy.ndarray:
    """The mentions that a suggester finds in several docs. Suggesters with a method
    `batch`, from a `WordBatch` to what is returned here, are called once.

    suggester (Suggester): From a doc to token offsets.
    docs (Sequence[Doc]): The docs.
    words (WordBatch): Their words.
    RETURNS (ndarray): Token offsets counted through the docs, int of shape
        (mentions, 2).
    """
    batch = getattr(suggester, "batch", None)
    if batch is not None:
        found: numpy.ndarray = batch(words)
        return found
    parts = [numpy.zeros((0, 2), dtype="i8")]
    with shared_words(docs, words):
        for doc, first in zip(docs, words.token_bounds.tolist()):
            offsets = suggester(doc)
            if offsets:
                parts.append(numpy.array(offsets) + first)
    return numpy.concatenate(parts)


@dataclass
class Candidate:
    """All mentions of one normal form in a document.

    form (str): The normal form.
    stems (Tuple[str, ...]): Its stems.
    mentions (Offsets): Token offsets in text order, each once.
    holders (Set[str]): Forms of the longer candidates that hold a mention.
    n_free (int): Number of mentions outside any longer candidate.
    """

    form: str
    stems: Tuple[str, ...]
    mentions: Offsets
    holders: Set[str] = field(default_factory=set)
    n_free: int = 0


def collect_candidates(
    doc: Doc, mentions: Offsets, words: Optional[Words] = None
) -> List[Candidate]:
    """Group mentions by normal form.

    doc (Doc): The document.
    mentions (Offsets): Token offsets from a suggester.
    words (Optional[Words]): The words of the doc, where already read.
    RETURNS (List[Candidate]): In order of first mention; the longer first where
        two start at the same token. Mentions without a word are left out.
    """
    if words is None:
        stems_of = get_normalizer(doc.lang_).stems
        stems = [stems_of(token.text) for token in doc]
        first = [0]
        for token_stems in stems:
            first.append(first[-1] + len(token_stems))
        flat = [stem for token_stems in stems for stem in token_stems]
    else:
        first, flat = words.first_stems, words.stems
    by_stems: Dict[Tuple[str, ...], Candidate] = {}
    # Of mentions in this order one is free when it reaches further than all before,
    # and the last free one holds every later one that does not.
    reach, holder = -1, ""
    for start, minus_end in sorted({(start, -end) for start, end in mentions}):
        end = -minus_end
        phrase = tuple(flat[first[start] : first[end]])
        if not phrase:
            continue
        candidate = by_stems.get(phrase)
        if candidate is None:
            candidate = by_stems[phrase] = Candidate(" ".join(phrase), phrase, [])
        candidate.mentions.append((start, end))
        if end > reach:
            candidate.n_free += 1
            reach, holder = end, candidate.form
        else:
            candidate.holders.add(holder)
    return list(by_stems.values())
