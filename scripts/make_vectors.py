"""Make the bundled table of word vectors from a sentence encoder.

python scripts/make_vectors.py DATA ENCODER OUTPUT

DATA is the folder of the training corpora, ENCODER a local folder of a
sentence-transformers model (for English all-MiniLM-L6-v2, Apache-2.0), OUTPUT the
``.npz`` file. Every word is encoded alone; the vectors are centred and projected on
their first principal components.
"""

import gzip
import json
import math
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Dict, Iterator, List, Tuple

import numpy
from spacy.strings import hash_string

CORPORA = (
    "acmdl/train",
    "stackexchange/valid",
    "kpcrowd500n/train",
    "inspec/train",
    "paperlists/train",
    "krapivin/abstract_rest",
    "taln/en",
)
TREEBANK = "pos/ewt/train"
MIN_COUNT = 4
MAX_LENGTH = 24
WIDTH = 64
# Everyday words below this inverse document frequency say nothing.
COMMON = 1.5
_WORD = re.compile(r"[a-z][a-z0-9'+#]*")


def read_lines(data: Path, name: str) -> Iterator[Dict[str, object]]:
    with gzip.open(data / f"{name}.jsonl.gz", "rt", encoding="utf8") as lines:
        yield from map(json.loads, lines)


def count_words(data: Path) -> Tuple[Counter[str], int]:
    """In how many documents each word is, and of how many."""
    counts: Counter[str] = Counter()
    n_docs = 0
    for name in CORPORA:
        for record in read_lines(data, name):
            counts.update(set(_WORD.findall(str(record["text"]).lower())))
            n_docs += 1
    general: Counter[str] = Counter()
    for record in read_lines(data, TREEBANK):
        general.update(_WORD.findall(str(record["text"]).lower()))
    for word, count in general.items():
        counts[word] = max(counts[word], count)
    return counts, n_docs


def main(data: Path, encoder: Path, output: Path) -> None:
    from sentence_transformers import SentenceTransformer

    counts, n_docs = count_words(data)
    model = SentenceTransformer(str(encoder))
    own = {w for w in model.tokenizer.get_vocab() if re.fullmatch("[a-z]{2,}", w)}
    words: List[str] = sorted(
        own | {w for w, n in counts.items() if n >= MIN_COUNT and len(w) <= MAX_LENGTH}
    )
    vectors = model.encode(words, batch_size=512, convert_to_numpy=True)
    vectors = vectors - vectors.mean(axis=0)
    _, _, components = numpy.linalg.svd(vectors, full_matrices=False)
    vectors = vectors @ components[:WIDTH].T
    vectors /= numpy.linalg.norm(vectors, axis=1, keepdims=True)
    weights = [max(0.0, -math.log((counts[w] + 1) / n_docs) - COMMON) for w in words]
    keys = numpy.array([hash_string(word) for word in words], dtype="u8")
    order = numpy.argsort(keys)
    numpy.savez_compressed(
        output,
        keys=keys[order],
        vectors=numpy.rint(127 * vectors).astype("i1")[order],
        weights=numpy.array(weights, dtype="f2")[order],
    )
    print(f"{len(words)} words, {output.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*map(Path, sys.argv[1:]))
