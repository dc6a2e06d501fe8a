"""What a T5 learns from: texts with gaps, and what is in the gaps."""

from typing import Iterator, List, NamedTuple, Sequence, Tuple

import numpy

# T5's last hundred sub-tokens stand for gaps: <extra_id_0> is this one.
FIRST_GAP = 32099
EOS = 1


class Example(NamedTuple):
    """Sub-tokens that are read, and those that are to be said."""

    source: List[int]
    target: List[int]


class Prompts(NamedTuple):
    """Sub-tokens around a text, and around what it is about."""

    before: List[int]
    after: List[int]
    saying: List[int]
    end: List[int]


def corrupt(
    ids: numpy.ndarray,
    random: numpy.random.Generator,
    share: float = 0.15,
    mean_length: float = 3.0,
) -> Example:
    """Span corruption (Raffel et al. 2020, section 3.1.4): gaps of random places and
    lengths.

    ids (ndarray): Sub-tokens of a text, int of shape (n,), n >= 2.
    random (Generator): Source of chance.
    share (float): Of the sub-tokens that are in gaps.
    mean_length (float): Sub-tokens of a gap, on average.
    """
    n = len(ids)
    n_noise = min(max(round(n * share), 1), n - 1)
    n_gaps = min(max(round(n_noise / mean_length), 1), n - n_noise, n_noise, 100)
    lost = _parts(n_noise, n_gaps, random)
    kept = _parts(n - n_noise, n_gaps, random)
    source: List[int] = []
    target: List[int] = []
    at = 0
    for gap, (n_kept, n_lost) in enumerate(zip(kept, lost)):
        source += [*ids[at : at + n_kept].tolist(), FIRST_GAP - gap]
        at += n_kept
        target += [FIRST_GAP - gap, *ids[at : at + n_lost].tolist()]
        at += n_lost
    return Example([*source, EOS], [*target, EOS])


def _parts(total: int, n: int, random: numpy.random.Generator) -> List[int]:
    """A number as a sum of n random ones, each at least 1."""
    cuts = numpy.sort(random.choice(total - 1, n - 1, replace=False) + 1)
    return numpy.diff(numpy.concatenate([[0], cuts, [total]])).astype(int).tolist()


def ask(title: Sequence[int], body: Sequence[int], prompts: Prompts) -> Example:
    """A text without its title, and a sentence that says the title."""
    return Example(
        [*prompts.before, *body, *prompts.after, EOS],
        [*prompts.saying, *title, *prompts.end, EOS],
    )


def make_windows(lengths: numpy.ndarray, longest: int) -> numpy.ndarray:
    """Texts in parts, but not the shortest.

    lengths (ndarray): Sub-tokens of the title and of all, int of shape (texts, 2).
    longest (int): Sub-tokens of a part, at most.
    RETURNS (ndarray): First sub-token of each part, length, and length of the title,
        which is 0 but in the first part; int of shape (parts, 3).
    """
    windows: List[Tuple[int, int, int]] = []
    start = 0
    for title, length in lengths.tolist():
        for first in range(0, length, longest):
            n = min(longest, length - first)
            if n >= 16:
                windows.append((start + first, n, title if first == 0 else 0))
        start += length
    return numpy.array(windows)


def examples(
    ids: numpy.ndarray,
    windows: numpy.ndarray,
    prompts: Prompts,
    asked: float,
    seed: int,
    first: int = 0,
) -> Iterator[Example]:
    """Examples without end, each of its own source of chance, so that they can begin
    anywhere.

    ids (ndarray): Sub-tokens of all texts.
    windows (ndarray): Of `make_windows`.
    prompts (Prompts): How is asked for titles.
    asked (float): Share of the texts with a title that are asked for it.
    seed (int): Seed of the order and of the gaps.
    first (int): Number of the first example.
    """
    number, order = first, numpy.zeros(0)
    while True:
        epoch, place = divmod(number, len(windows))
        if place == 0 or not len(order):
            order = numpy.random.default_rng((seed, epoch)).permutation(len(windows))
        start, n, title = windows[order[place]].tolist()
        own = ids[start : start + n].astype("i8")
        random = numpy.random.default_rng((seed, epoch, place))
        if 0 < title <= 40 and n - title >= 16 and random.random() < asked:
            yield ask(own[:title].tolist(), own[title:].tolist(), prompts)
        else:
            yield corrupt(own, random)
        number += 1
