"""Make the corpus that the bundled kind of T5 is trained on.

python scripts/t5_corpus.py DATA TOKENIZER OUTPUT

DATA is the folder of the training corpora, of which only the texts are read, TOKENIZER
the folder of T5's tokenizer, OUTPUT the ``.npz`` file. Texts are in lower case, as they
are when they are ranked.
"""

import gzip
import json
import sys
from pathlib import Path
from typing import Iterator, List, Tuple

import numpy

# How often each is there: most of the text is of science.
CORPORA = {
    "acmdl/train": 1,
    "krapivin/full_rest": 1,
    "paperlists/train": 1,
    "taln/en": 1,
    "inspec/train": 1,
    "stackexchange/valid": 2,
    "kpcrowd500n/train": 4,
    "pos/ewt/train": 2,
}
# Sub-tokens of a text, at most: the beginnings of papers say what they are about.
LONGEST = 2048
BATCH = 500


def read_texts(data: Path, name: str) -> Iterator[Tuple[str, str]]:
    """The title of each text, if it begins with one, and what comes after it."""
    with gzip.open(data / f"{name}.jsonl.gz", "rt", encoding="utf8") as lines:
        for record in map(json.loads, lines):
            text, title = str(record["text"]), str(record.get("title") or "")
            if title and text.startswith(title):
                yield title, text[len(title) :].lstrip(" .\n")
            else:
                yield "", text


def main(data: Path, tokenizer: Path, output: Path) -> None:
    from tokenizers import Tokenizer

    read = Tokenizer.from_file(str(tokenizer / "tokenizer.json"))
    ids: List[numpy.ndarray] = []
    lengths: List[Tuple[int, int]] = []
    for name, times in CORPORA.items():
        pairs = list(read_texts(data, name)) * times
        for start in range(0, len(pairs), BATCH):
            flat = [
                part.lower() for pair in pairs[start : start + BATCH] for part in pair
            ]
            found = [e.ids for e in read.encode_batch(flat, add_special_tokens=False)]
            for title, body in zip(found[::2], found[1::2]):
                ids.append(numpy.array((title + body)[:LONGEST], dtype="u2"))
                lengths.append((len(title), len(ids[-1])))
        print(f"{name}: {sum(n for _, n in lengths):,} sub-tokens so far", flush=True)
    output.parent.mkdir(parents=True, exist_ok=True)
    numpy.savez(
        output, ids=numpy.concatenate(ids), lengths=numpy.array(lengths, dtype="i4")
    )


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*map(Path, sys.argv[1:]))
