"""Time against length: one document, longer and longer."""

import re
from functools import partial
from itertools import islice
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence

from .data import read_corpus
from .speed import timed
from .systems import System

LENGTHS = (1000, 2000, 5000, 10000, 20000, 50000, 100000)
REPEATS = 3
SOURCE = "krapivin/full_rest"
SYSTEMS = (
    "yake",
    "multi-rake",
    "ptr-textrank",
    "tokenizer",
    "tagger",
    "ours",
    "ours-statistical",
    "ours-tagged",
    "ours-textrank",
    "ours-singlerank",
    "ours-positionrank",
    "ours-topicrank",
    "ours-multipartiterank",
)

Row = Dict[str, Any]


def synthetic_texts(
    lengths: Sequence[int] = LENGTHS, repeats: int = REPEATS
) -> List[List[str]]:
    """Documents of so many words: full papers, one after the other.

    lengths (Sequence[int]): Words of each document.
    repeats (int): Documents of each length. No two share a paper's words, or what
        a system has memoised would make the later ones cheaper.
    RETURNS (List[List[str]]): The documents of each length.
    """
    wanted = repeats * sum(lengths)
    words: List[str] = []
    for text in read_corpus(SOURCE, 1 + wanted // 4000).texts:
        words.extend(re.findall(r"\S+\s*", text + "\n\n"))
    if len(words) < wanted:
        raise ValueError(f"{SOURCE} gave {len(words)} words, not {wanted}.")
    rest = iter(words)
    return [
        ["".join(islice(rest, length)) for _ in range(repeats)] for length in lengths
    ]


def run_length(
    systems: Dict[str, System],
    texts: Sequence[Sequence[str]],
    say: Callable[[str], None],
    budget: float = 60.0,
) -> Iterator[Row]:
    """Time systems on documents of growing length.

    systems (Dict[str, System]): Loaded systems by name.
    texts (Sequence[Sequence[str]]): The documents of each length, shortest first;
        the fastest of each length counts.
    say (Callable[[str], None]): Called with each line of progress.
    budget (float): A system that needs more seconds gets no longer document.
    YIELDS (Row): Words, seconds and microseconds a word for one system.
    """
    for name, system in systems.items():
        system.extract(["A first, short document."])
        points: List[Row] = []
        seconds: Optional[float] = 0.0
        for of_length in texts:
            words = len(of_length[0].split())
            if seconds is not None and seconds <= budget:
                seconds = min(
                    timed(partial(system.extract, [text]))[0] for text in of_length
                )
            else:
                seconds = None
            per_word = None if seconds is None else 1e6 * seconds / words
            points.append({"words": words, "seconds": seconds, "us/word": per_word})
        shown = [p["us/word"] for p in points if p["us/word"] is not None]
        say(f"{name:22} us/word: " + "  ".join(f"{value:.0f}" for value in shown))
        yield {"system": name, "dataset": SOURCE, "points": points}
