"""The words of docs: one pass over the tokens that everything else reads.

Tokens become units. A unit is a word or a compound of words joined by hyphens
("state-of-the-art"); it has a class: noun, adjective, participle, other, break.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import List, NamedTuple, Sequence, Union

import numpy

from .lexemes import BREAK, CLASSES, Stems

# Mixed into what is the same in every doc, that each has its own.
_PRIME = numpy.uint64(0x9E3779B97F4A7C15)


class Unit(NamedTuple):
    """A word, a hyphenated compound, or a break between words."""

    start: int  # first token
    end: int  # token after the last
    cls: str  # NOUN, ADJECTIVE, PARTICIPLE, OTHER or BREAK
    sentence_start: bool  # the first word of its sentence


@dataclass
class _Arrays:
    """What is known of the tokens, the units and the stems.

    unit_starts (ndarray): First token of each unit, without the breaks; int of shape
        (units,).
    unit_ends (ndarray): The token after its last, of the same shape.
    unit_classes (ndarray): Code of its class, of the same shape.
    unit_breaks (ndarray): Whether something stands between it and the unit before
        that parts them, bool of the same shape.
    unit_openings (ndarray): Whether it is the first of its sentence, by annotation or
        else by punctuation; bool of the same shape.
    stem_ids (ndarray): The stems of all words, in order, as rows of a table; int of
        shape (stems,).
    stem_tokens (ndarray): For each stem the token that it is in.
    stem_offsets (ndarray): For each token, and one past the last, how many stems
        stand before it; int of shape (tokens + 1,).
    capital_tokens (ndarray): For each token whether it is capitalised or upper-case.
    """

    unit_starts: numpy.ndarray
    unit_ends: numpy.ndarray
    unit_classes: numpy.ndarray
    unit_breaks: numpy.ndarray
    unit_openings: numpy.ndarray
    stem_ids: numpy.ndarray
    stem_tokens: numpy.ndarray
    stem_offsets: numpy.ndarray
    capital_tokens: numpy.ndarray


@dataclass
class Words(_Arrays):
    """The words of a doc, as arrays and, made when they are asked for, as lists.

    tagged (bool): Whether the classes come from part-of-speech tags.
    table (Stems): What is known of the stems.
    """

    tagged: bool
    table: Stems

    @cached_property
    def units(self) -> List[Unit]:
        """The units in text order. What parts two of them is one `BREAK`."""
        units: List[Unit] = []
        rows = zip(
            self.unit_starts.tolist(),
            self.unit_ends.tolist(),
            self.unit_classes.tolist(),
            self.unit_breaks.tolist(),
            self.unit_openings.tolist(),
        )
        for start, end, cls, broken, opening in rows:
            if broken:
                units.append(Unit(start, start, BREAK, False))
            units.append(Unit(start, end, CLASSES[cls], opening))
        return units

    @cached_property
    def stems(self) -> List[str]:
        """The stems of all words, in order."""
        names = self.table.names
        return [names[i] for i in self.stem_ids.tolist()]

    @cached_property
    def tokens(self) -> List[int]:
        """For each stem the token that it is in."""
        tokens: List[int] = self.stem_tokens.tolist()
        return tokens

    @cached_property
    def first_stems(self) -> List[int]:
        """For each token, and one past the last, how many stems stand before it."""
        offsets: List[int] = self.stem_offsets.tolist()
        return offsets

    @cached_property
    def capitals(self) -> List[bool]:
        """For each token whether it is capitalised or upper-case."""
        capitals: List[bool] = self.capital_tokens.tolist()
        return capitals


@dataclass
class WordBatch(_Arrays):
    """The words of several docs, one after the other: tokens, units and stems are
    counted through the batch.

    doc_tokens (ndarray): Tokens of each doc, int of shape (docs,).
    doc_units (ndarray): Units of each doc.
    tagged (ndarray): Of each doc whether its classes come from tags, bool.
    orths, spaces, stops (ndarray): For each token the hash of its text, uint64,
        whether white space follows it, and whether it is a stop word, bool.
    hashes, idf, known (ndarray): Of each stem a number that is the same in every
        process, its rarity, and whether the lexicon has it.
    first_sentences (ndarray): How many stems the first sentence of each doc has.
    tables (List[Stems]): Of each doc, what is known of its stems.
    """

    doc_tokens: numpy.ndarray
    doc_units: numpy.ndarray
    tagged: numpy.ndarray
    orths: numpy.ndarray
    spaces: numpy.ndarray
    stops: numpy.ndarray
    hashes: numpy.ndarray
    idf: numpy.ndarray
    known: numpy.ndarray
    first_sentences: numpy.ndarray
    tables: List[Stems]

    @cached_property
    def token_bounds(self) -> numpy.ndarray:
        """Where the tokens of each doc begin, and where those of the last end."""
        return bounds(self.doc_tokens)

    @cached_property
    def unit_bounds(self) -> numpy.ndarray:
        """Where the units of each doc begin, and where those of the last end."""
        return bounds(self.doc_units)

    @cached_property
    def stem_bounds(self) -> numpy.ndarray:
        """Where the stems of each doc begin, and where those of the last end."""
        found: numpy.ndarray = self.stem_offsets[self.token_bounds]
        return found

    @cached_property
    def frequency(self) -> numpy.ndarray:
        """How often each stem occurs in its doc, int of shape (stems,)."""
        n_docs = len(self.doc_tokens)
        salt = numpy.arange(n_docs, dtype="u8") * _PRIME
        keys = self.hashes + numpy.repeat(salt, numpy.diff(self.stem_bounds))
        _, inverse, counts = numpy.unique(keys, return_inverse=True, return_counts=True)
        frequency: numpy.ndarray = counts[inverse.reshape(-1)]
        return frequency

    def __len__(self) -> int:
        return len(self.doc_tokens)

    def __getitem__(self, i: int) -> Words:
        """The words of one doc."""
        first, last = self.token_bounds[i : i + 2].tolist()
        tokens = slice(first, last)
        units = slice(*self.unit_bounds[i : i + 2].tolist())
        stems = slice(*self.stem_bounds[i : i + 2].tolist())
        return Words(
            unit_starts=self.unit_starts[units] - first,
            unit_ends=self.unit_ends[units] - first,
            unit_classes=self.unit_classes[units],
            unit_breaks=self.unit_breaks[units],
            unit_openings=self.unit_openings[units],
            stem_ids=self.stem_ids[stems],
            stem_tokens=self.stem_tokens[stems] - first,
            stem_offsets=self.stem_offsets[first : last + 1] - stems.start,
            capital_tokens=self.capital_tokens[tokens],
            tagged=bool(self.tagged[i]),
            table=self.tables[i],
        )


def bounds(lengths: Union[numpy.ndarray, List[int]]) -> numpy.ndarray:
    """Where each of consecutive parts begins, and where the last ends."""
    ends = numpy.zeros(len(lengths) + 1, dtype="i8")
    numpy.cumsum(lengths, out=ends[1:])
    return ends


def join_batches(batches: Sequence[WordBatch]) -> WordBatch:
    """Several batches, docs in order, as one."""
    if len(batches) == 1:
        return batches[0]

    def joined(name: str, shifts: Sequence[int] = ()) -> numpy.ndarray:
        parts = [getattr(batch, name) for batch in batches]
        if shifts:
            parts = [part + shift for part, shift in zip(parts, shifts)]
        whole: numpy.ndarray = numpy.concatenate(parts)
        return whole

    tokens = bounds([int(batch.token_bounds[-1]) for batch in batches]).tolist()
    stems = bounds([len(batch.stem_ids) for batch in batches]).tolist()
    offsets = [batch.stem_offsets[:-1] + shift for batch, shift in zip(batches, stems)]
    return WordBatch(
        unit_starts=joined("unit_starts", tokens),
        unit_ends=joined("unit_ends", tokens),
        stem_tokens=joined("stem_tokens", tokens),
        stem_offsets=numpy.append(numpy.concatenate(offsets), stems[-1]),
        tables=[table for batch in batches for table in batch.tables],
        **{
            name: joined(name)
            for name in (
                "unit_classes",
                "unit_breaks",
                "unit_openings",
                "stem_ids",
                "capital_tokens",
                "doc_tokens",
                "doc_units",
                "tagged",
                "orths",
                "spaces",
                "stops",
                "hashes",
                "idf",
                "known",
                "first_sentences",
            )
        },
    )
