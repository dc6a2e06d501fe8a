"""Vectors of words from a sentence encoder, as a spaCy pipeline that holds them.

python scripts/word_vectors.py ENCODER WORDS OUTPUT

ENCODER is the folder of an encoder of transformers (for English all-MiniLM-L6-v2,
Apache-2.0), WORDS a file of words, one a line, as `spacy keyphrase words` makes it,
OUTPUT the folder. Every word is encoded alone; vectors are centred.
"""

import sys
from pathlib import Path

import spacy
from spacy.vectors import Vectors
from t5_embeddings import embed


def main(encoder: Path, words: Path, output: Path) -> None:
    known = words.read_text("utf8").split()
    vectors = embed(known, encoder)
    vectors -= vectors.mean(axis=0)
    nlp = spacy.blank("xx")
    nlp.vocab.vectors = Vectors(strings=nlp.vocab.strings, data=vectors, keys=known)
    nlp.to_disk(output)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*map(Path, sys.argv[1:]))
