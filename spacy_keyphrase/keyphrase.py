"""The ``Keyphrase`` record, and ``doc._.keyphrases``.

The state is plain data on the doc: the mentions of every phrase, phrase after
phrase, in the span group ``doc.spans["keyphrases"]``, and a list of
dictionaries, one a phrase, in that group's ``attrs["phrases"]``. The records
are built when they are read.
"""

import math
import warnings
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from typing import (
    Any,
    Dict,
    Iterable,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    Union,
    cast,
)

from spacy.attrs import ORTH
from spacy.tokens import Doc, Span, SpanGroup

from .normalize import get_normalizer

KEY = "keyphrases"
LABEL = "KEYPHRASE"

# Marks that may stand between the words of one mention: "graph-based", "n/a".
_JOINERS = frozenset("-\u00ad\u2010\u2011\u2012\u2013\u2212/'\u2019\u02bc&+_\u00b7*")

Offsets = List[Tuple[int, int]]


@dataclass(frozen=True)
class Keyphrase:
    """A keyphrase of a document.

    text (str): Surface form, as in the document where present.
    score (float): Higher is better; comparable within one document and source.
    spans (Tuple[Span, ...]): Every occurrence in the document, maybe none.
    normal_form (str): The stems that decide equality, joined by a space.
    source (str): Name of the pipe that proposed it.
    mention_scores (Optional[Tuple[float, ...]]): One score per span, from
        methods that rank occurrences.
    """

    text: str
    score: float = 0.0
    spans: Tuple[Span, ...] = ()
    normal_form: str = ""
    source: str = ""
    mention_scores: Optional[Tuple[float, ...]] = None

    @property
    def is_present(self) -> bool:
        """Whether the phrase occurs in the document."""
        return bool(self.spans)

    @property
    def offsets(self) -> Offsets:
        """Character offsets (start, end) of every occurrence."""
        return [(span.start_char, span.end_char) for span in self.spans]

    def to_dict(self) -> Dict[str, Any]:
        """The record as JSON-able data; spans become character offsets."""
        data: Dict[str, Any] = {
            "text": self.text,
            "score": self.score,
            "offsets": [list(offset) for offset in self.offsets],
            "is_present": self.is_present,
            "normal_form": self.normal_form,
            "source": self.source,
        }
        if self.mention_scores is not None:
            data["mention_scores"] = list(self.mention_scores)
        return data

    def __str__(self) -> str:
        return self.text


Phrase = Union[str, Tuple[str, float], Span, Keyphrase]


class Record(NamedTuple):
    """A keyphrase before it is on a doc: spans as token offsets (start, end)."""

    text: str
    form: str
    score: float
    mentions: Sequence[Tuple[int, int]]
    source: str = ""
    mention_scores: Optional[Sequence[float]] = None


class Alignment:
    """Finds phrases in a doc by their stems.

    A mention starts and ends at token boundaries, and between its words only a
    joining mark, such as a hyphen, may stand.

    doc (Doc): The document.
    stems (Optional[List[str]]): The stems of its words, where already known, or
        numbers that stand for them.
    tokens (Optional[List[int]]): For each stem the token that it is in.
    """

    def __init__(
        self,
        doc: Doc,
        stems: Optional[List[Any]] = None,
        tokens: Optional[List[int]] = None,
    ):
        self.doc = doc
        self.normalizer = get_normalizer(doc.lang_)
        self.stems: List[Any] = [] if stems is None else stems
        self.tokens: List[int] = [] if tokens is None else tokens
        if stems is None or tokens is None:
            self.stems, self.tokens = [], []
            orths, strings = doc.to_array(ORTH).tolist(), doc.vocab.strings
            known = {o: self.normalizer.stems(strings[o]) for o in set(orths)}
            for i, orth in enumerate(orths):
                for stem in known[orth]:
                    self.stems.append(stem)
                    self.tokens.append(i)

    @cached_property
    def positions(self) -> Dict[Any, List[int]]:
        """Where each stem occurs; worth making where many phrases are looked for."""
        positions: Dict[Any, List[int]] = {}
        for i, stem in enumerate(self.stems):
            positions.setdefault(stem, []).append(i)
        return positions

    def _places(self, stem: Any) -> List[int]:
        """Where a stem occurs."""
        if "positions" in self.__dict__:
            return self.positions.get(stem, [])
        places: List[int] = []
        with suppress(ValueError):
            while True:
                start = places[-1] + 1 if places else 0
                places.append(self.stems.index(stem, start))
        return places

    def find(self, phrase: str) -> Offsets:
        """Token offsets of every occurrence, in order, none overlapping."""
        stems = self.normalizer.stems(phrase)
        return self.find_stems(stems) if stems else self._find_symbols(phrase)

    def find_stems(self, stems: Sequence[Any]) -> Offsets:
        """Token offsets of every occurrence of a sequence of stems, of the same kind
        as those of the document."""
        wanted, found = list(stems), cast(Offsets, [])
        for i in self._places(wanted[0]):
            j = i + len(wanted) - 1
            if (
                self.stems[i : j + 1] == wanted
                and (i == 0 or self.tokens[i - 1] != self.tokens[i])
                and (j + 1 == len(self.stems) or self.tokens[j + 1] != self.tokens[j])
                and (not found or self.tokens[i] >= found[-1][1])
                and self._is_joined(i, j)
            ):
                found.append((self.tokens[i], self.tokens[j] + 1))
        return found

    def _is_joined(self, first: int, last: int) -> bool:
        """Whether only joining marks and white space stand between two stems."""
        tokens = self.tokens
        for k in range(first, last):
            for i in range(tokens[k] + 1, tokens[k + 1]):
                text = self.doc[i].text
                if text not in _JOINERS and not text.isspace():
                    return False
        return True

    def _find_symbols(self, phrase: str) -> Offsets:
        """A phrase without a word, such as an emoji, is matched as it stands."""
        wanted = phrase.strip().lower()
        if not wanted:
            return []
        return [(t.i, t.i + 1) for t in self.doc if t.text.lower() == wanted]


def get_keyphrases(doc: Doc, key: str = KEY) -> List[Keyphrase]:
    """The keyphrases of a doc, best first; the getter of ``doc._.keyphrases``.

    doc (Doc): The document.
    key (str): Key of the span group that holds them.
    RETURNS (List[Keyphrase]): Empty where no keyphrases were set. Where spaCy
        dropped or invalidated a part of the state (`Doc.from_docs`, retokenising)
        the rest is returned with a `UserWarning`.
    """
    if key not in doc.spans:
        return []
    group = doc.spans[key]
    phrases = group.attrs.get("phrases")
    if phrases is None:
        return _from_spans(doc, group)
    if group.attrs.get("n_tokens") != len(doc):
        warnings.warn(
            f"The tokens changed after doc.spans[{key!r}] was set: the keyphrases "
            "were aligned anew. Assign doc._.keyphrases to itself to keep this.",
            stacklevel=2,
        )
        alignment = Alignment(doc)
        mentions = [
            [Span(doc, *m, label=LABEL) for m in alignment.find(p["text"])]
            for p in phrases
        ]
    elif sum(p["mentions"] for p in phrases) != len(group):
        return _from_spans(doc, group)
    else:
        spans = iter(group)
        mentions = [[next(spans) for _ in range(p["mentions"])] for p in phrases]
    return [
        Keyphrase(
            text=p["text"],
            score=p["score"],
            spans=tuple(found),
            normal_form=p["form"],
            source=p["source"],
            mention_scores=(
                tuple(p["mention_scores"])
                if p.get("mention_scores") and len(p["mention_scores"]) == len(found)
                else None
            ),
        )
        for p, found in zip(phrases, mentions)
    ]


def _from_spans(doc: Doc, group: SpanGroup) -> List[Keyphrase]:
    """Keyphrases of a group without its attributes: the spans, in their order."""
    form = get_normalizer(doc.lang_).form
    by_form: Dict[str, List[Span]] = {}
    for span in group:
        by_form.setdefault(form(span.text), []).append(span)
    by_form.pop("", None)
    if by_form:
        warnings.warn(
            f"doc.spans[{group.name!r}] holds spans without their keyphrase data "
            "(Doc.from_docs drops it, other tools do not write it): scores, sources "
            "and absent keyphrases are unknown, the order is that of the spans.",
            stacklevel=3,
        )
    return [
        Keyphrase(spans[0].text, 0.0, tuple(spans), form)
        for form, spans in by_form.items()
    ]


def set_keyphrases(
    doc: Doc, phrases: Iterable[Phrase], key: str = KEY, source: str = ""
) -> None:
    """Set the keyphrases of a doc; the setter of ``doc._.keyphrases``.

    doc (Doc): The document.
    phrases (Iterable[Phrase]): Keyphrases, spans, strings, or pairs of a string
        and a score. What has no spans of this doc is aligned to every
        occurrence, by normal form. Where no phrase has a score their order is
        kept; otherwise the best comes first. Of equal phrases the better stays.
    key (str): Key of the span group.
    source (str): Source of those that do not name their own.
    """
    if isinstance(phrases, (str, bytes)):
        raise TypeError(
            "doc._.keyphrases takes a list of keyphrases, strings or "
            f"(string, score) pairs, not the single string {phrases!r}."
        )
    form = get_normalizer(doc.lang_).form
    alignment: Optional[Alignment] = None
    records: List[Record] = []
    for phrase in phrases:
        given = _to_keyphrase(phrase)
        if given.spans and all(span.doc is doc for span in given.spans):
            mentions = [(span.start, span.end) for span in given.spans]
        else:
            alignment = alignment or Alignment(doc)
            mentions = alignment.find(given.text)
        text = _surface(doc, given.text, mentions)
        score = float(given.score)
        if not math.isfinite(score):
            raise ValueError(f"The score of keyphrase {given.text!r} is {score}.")
        if form(text):
            scores = given.mention_scores
            records.append(
                Record(
                    text, form(text), score, mentions, given.source or source, scores
                )
            )
    records.sort(key=lambda record: -record.score)
    write_records(doc, records, key)


def _to_keyphrase(phrase: Phrase) -> Keyphrase:
    if isinstance(phrase, Keyphrase):
        return phrase
    if isinstance(phrase, str):
        return Keyphrase(phrase)
    if isinstance(phrase, Span):
        return Keyphrase(phrase.text, spans=(phrase,))
    if isinstance(phrase, (tuple, list)) and len(phrase) == 2:
        text, score = phrase
        if isinstance(text, str) and isinstance(score, (int, float)):
            return Keyphrase(text, float(score))
    raise TypeError(
        "A keyphrase is a Keyphrase, a string, a Span or a (string, score) pair, "
        f"not {phrase!r}."
    )


def _surface(doc: Doc, text: str, mentions: Sequence[Tuple[int, int]]) -> str:
    """The text as given if it occurs so, or else as it first occurs."""
    surfaces = [doc[start:end].text for start, end in mentions]
    return text if text in surfaces or not surfaces else surfaces[0]


def write_records(doc: Doc, records: Iterable[Record], key: str = KEY) -> None:
    """Write keyphrases, best first, to ``doc.spans[key]``.

    doc (Doc): The document.
    records (Iterable[Record]): What to write; a repeated form is dropped.
    key (str): Key of the span group.
    """
    phrases: Dict[str, Dict[str, Any]] = {}
    spans: List[Span] = []
    for record in records:
        if record.form in phrases:
            continue
        phrase: Dict[str, Any] = {
            "text": record.text,
            "form": record.form,
            "score": float(record.score),
            "source": record.source,
            "mentions": len(record.mentions),
        }
        if record.mention_scores is not None:
            phrase["mention_scores"] = [float(s) for s in record.mention_scores]
        phrases[record.form] = phrase
        spans.extend([Span(doc, s, e, label=LABEL) for s, e in record.mentions])
    attrs = {"phrases": list(phrases.values()), "n_tokens": len(doc)}
    doc.spans[key] = SpanGroup(doc, name=key, attrs=attrs, spans=spans)


def get_span_keyphrases(span: Span, key: str = KEY) -> List[Keyphrase]:
    """The keyphrases of a doc that occur inside a span, with those occurrences.

    The getter of ``span._.keyphrases``. Read it before `Span.as_doc`, which
    leaves span groups behind, and assign it to the new doc.
    """
    inside: List[Keyphrase] = []
    for phrase in get_keyphrases(span.doc, key):
        kept = [
            i
            for i, mention in enumerate(phrase.spans)
            if span.start <= mention.start and mention.end <= span.end
        ]
        if kept:
            scores = phrase.mention_scores
            inside.append(
                Keyphrase(
                    phrase.text,
                    phrase.score,
                    tuple(phrase.spans[i] for i in kept),
                    phrase.normal_form,
                    phrase.source,
                    tuple(scores[i] for i in kept) if scores else None,
                )
            )
    return inside


def keyphrases_to_json(doc: Doc, key: str = KEY) -> List[Dict[str, Any]]:
    """The keyphrases of a doc as JSON-able dictionaries, best first."""
    return [phrase.to_dict() for phrase in get_keyphrases(doc, key)]


def _setter(doc: Doc, phrases: Iterable[Phrase], key: str = KEY) -> None:
    set_keyphrases(doc, phrases, key)


def register_extensions(key: str = KEY) -> None:
    """Make ``doc._.<key>`` and ``span._.<key>`` known to spaCy, once.

    key (str): Key of the span group, and name of the attribute.
    """
    if not key.isidentifier():
        raise ValueError(
            f"The key {key!r} names an attribute of doc._ and must be a Python name."
        )
    if not Doc.has_extension(key):
        # Partials of module-level functions can be sent to other processes.
        getter, setter = partial(get_keyphrases, key=key), partial(_setter, key=key)
        Doc.set_extension(key, getter=getter, setter=setter)
    if not Span.has_extension(key):
        Span.set_extension(key, getter=partial(get_span_keyphrases, key=key))


register_extensions()
