"""Make the English lexicon: document frequencies and word classes.

Document frequencies are a mixture of scientific abstracts and general text, so
that neither kind's everyday words look rare. Word classes are the majority
tags of part-of-speech corpora; a word whose ending already says it is left out.

    python scripts/make_lexicon.py DATA OUTPUT
"""

import gzip
import json
import math
import sys
from collections import Counter, defaultdict
from itertools import islice
from pathlib import Path
from typing import Dict, Iterable, Iterator, List, Tuple

from spacy.lang.en.stop_words import STOP_WORDS

from spacy_keyphrase.lexicon import (
    ADJECTIVE,
    GERUND,
    NOUN,
    OTHER,
    PARTICIPLE,
    guess_class,
)
from spacy_keyphrase.normalize import get_normalizer

SCIENCE = {"acmdl/train": 30_000, "paperlists/train": None, "inspec/train": None}
NEWS = {"kpcrowd500n/train": None}
TAGGED = ("corenlp_inspec/train", "corenlp_inspec/dev", "ewt/train", "ewt/dev")
FLOOR = 1e-5  # the document frequency of a word that was never seen
LEAST = 3e-5  # rarer stems are not worth their bytes


def read(path: Path) -> Iterator[Dict[str, object]]:
    with gzip.open(path, "rt", encoding="utf8") as lines:
        yield from map(json.loads, lines)


def texts(data: Path, corpora: Dict[str, object]) -> Iterator[str]:
    for name, limit in corpora.items():
        rows = read(data / f"{name}.jsonl.gz")
        yield from (str(row["text"]) for row in islice(rows, limit))  # type: ignore[call-overload]


def web_documents(data: Path) -> Iterator[str]:
    """The documents of the English Web Treebank, its sentences joined."""
    documents: Dict[object, List[str]] = defaultdict(list)
    for split in ("train", "dev"):
        for row in read(data / "pos" / "ewt" / f"{split}.jsonl.gz"):
            documents[row["doc"]].append(str(row["text"]))
    return map(" ".join, documents.values())


def document_frequencies(
    groups: List[Tuple[float, Iterable[str]]],
) -> Dict[str, float]:
    """The share of documents that hold a stem, averaged over the groups by weight."""
    stems = get_normalizer("en").stems
    total: Dict[str, float] = defaultdict(float)
    for weight, group in groups:
        counts: Counter[str] = Counter()
        n = 0
        for text in group:
            n += 1
            counts.update(set(stems(text)))
        for stem, count in counts.items():
            total[stem] += weight * count / n
    return total


def word_classes(data: Path) -> Dict[str, str]:
    """The majority class of each word, where its ending does not tell it."""
    counts: Dict[str, Counter[str]] = defaultdict(Counter)
    for name in TAGGED:
        for row in read(data / "pos" / f"{name}.jsonl.gz"):
            for token, tag in zip(row["tokens"], row["xpos"]):  # type: ignore[call-overload]
                if token[:1].isalpha():
                    counts[token.lower()][to_class(tag)] += 1
    majority = {
        # A tie goes to the class that lets the word into a phrase.
        word: max("NAPGO", key=lambda c: (count[c], -"NAPGO".index(c)))
        for word, count in counts.items()
    }
    return {
        word: c
        for word, c in majority.items()
        if c != guess_class(word) and word not in STOP_WORDS and word.isalpha()
    }


def to_class(tag: str) -> str:
    if tag.startswith("NN"):
        return NOUN
    if tag.startswith("JJ"):
        return ADJECTIVE
    return {"VBG": GERUND, "VBN": PARTICIPLE}.get(tag, OTHER)


def main(data: Path, output: Path) -> None:
    frequencies = document_frequencies(
        [
            (0.5, texts(data, SCIENCE)),
            (0.25, web_documents(data)),
            (0.25, texts(data, NEWS)),
        ]
    )
    costs: Dict[int, List[str]] = defaultdict(list)
    for stem, frequency in frequencies.items():
        if frequency >= LEAST and len(stem) < 30:
            costs[round(-100 * math.log(min(1.0, frequency + FLOOR)))].append(stem)
    classes: Dict[str, List[str]] = defaultdict(list)
    for word, c in word_classes(data).items():
        classes[c].append(word)
    lexicon = {
        "lang": "en",
        "floor": FLOOR,
        "costs": {str(c): " ".join(sorted(costs[c])) for c in sorted(costs)},
        "classes": {c: " ".join(sorted(classes[c])) for c in sorted(classes)},
    }
    packed = gzip.compress(json.dumps(lexicon, ensure_ascii=False).encode(), 9, mtime=0)
    output.write_bytes(packed)
    n_stems, n_words = sum(map(len, costs.values())), sum(map(len, classes.values()))
    print(f"{output}: {n_stems} stems, {n_words} word classes, {len(packed)} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
