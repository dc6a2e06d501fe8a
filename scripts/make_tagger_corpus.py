"""Make the corpora of the bundled tagger.

python scripts/make_tagger_corpus.py DATA OUTPUT

DATA is the folder of the part-of-speech annotated corpora, OUTPUT becomes a folder of
.spacy files: train (UD EWT and, silver, abstracts of Inspec), dev and test (EWT).
"""

import gzip
import json
import sys
from itertools import groupby, islice
from pathlib import Path
from typing import Any, Dict, Iterator, List

import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin

# Sentences of a document; a network should see the ends of sentences.
SENTENCES = 8
CORPORA = {
    "train": ("ewt/train", "corenlp_inspec/train"),
    "dev": ("ewt/dev",),
    "test": ("ewt/test",),
}


def read(path: Path) -> Iterator[List[Dict[str, Any]]]:
    """The sentences of documents, some at a time."""
    with gzip.open(path, "rt", encoding="utf8") as lines:
        for _, sentences in groupby(map(json.loads, lines), lambda line: line["doc"]):
            while part := list(islice(sentences, SENTENCES)):
                yield part


def make_doc(nlp: Language, sentences: List[Dict[str, Any]], silver: bool) -> Doc:
    words, spaces, tags = [], [], []
    for sentence in sentences:
        words += sentence["tokens"]
        spaces += [*map(bool, sentence["space_after"][:-1]), True]
        # The tokenizer of the silver corpus leaves compounds in one token, which
        # ours does not: their parts are not learned from.
        tags += [
            "" if silver and "-" in word else tag
            for word, tag in zip(sentence["tokens"], sentence["xpos"])
        ]
    return Doc(nlp.vocab, words=words, spaces=spaces, tags=tags)


def main(data: Path, output: Path) -> None:
    nlp = spacy.blank("en")
    output.mkdir(parents=True, exist_ok=True)
    for split, names in CORPORA.items():
        docs = DocBin(attrs=["ORTH", "SPACY", "TAG"])
        for name in names:
            silver = name.startswith("corenlp")
            for sentences in read(data / f"{name}.jsonl.gz"):
                docs.add(make_doc(nlp, sentences, silver))
        docs.to_disk(output / f"{split}.spacy")
        print(f"{split}: {len(docs)} documents")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
