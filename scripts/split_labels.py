"""Split documents for models that are asked for a number of keyphrases (PUSL, algorithm
2): documents of one text are joined, drawn at random for training, development and
test, and the test set is parted by the number of labels.

python scripts/split_labels.py CORPUS... OUTPUT [--dev 0.1] [--test 0.1] [--seed 0]

OUTPUT becomes a folder with train, dev, test, test-narrow and test-diverse.jsonl.
"""

import argparse
import json
from pathlib import Path
from random import Random
from typing import List

from spacy_keyphrase.corpora import KeyphraseDocument, read_corpus
from spacy_keyphrase.training.labels import group_texts, split_by_labels, variation


def write(path: Path, documents: List[KeyphraseDocument]) -> None:
    counts = [len(document.keyphrases) for document in documents]
    mean = sum(counts) / max(len(counts), 1)
    print(
        f"{path.name}: {len(documents)} documents, {mean:.2f} labels, coefficient of "
        f"variation {variation(counts):.2f}"
    )
    with path.open("w", encoding="utf8") as lines:
        for document in documents:
            record = {
                "id": document.id,
                "title": document.title,
                "text": document.text,
                "keyphrases": document.keyphrases,
                "lang": document.lang,
            }
            lines.write(json.dumps(record, ensure_ascii=False) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpora", nargs="+", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--dev", type=float, default=0.1, help="share")
    parser.add_argument("--test", type=float, default=0.1, help="share")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    documents = group_texts(
        document for corpus in options.corpora for document in read_corpus(corpus)
    )
    documents = [document for document in documents if document.keyphrases]
    Random(options.seed).shuffle(documents)
    n_dev = round(options.dev * len(documents))
    n_test = round(options.test * len(documents))
    test = documents[n_dev : n_dev + n_test]
    n_labels = sum(len(document.keyphrases) for document in documents)
    narrow, diverse = split_by_labels(test, n_labels / max(len(documents), 1))
    options.output.mkdir(parents=True, exist_ok=True)
    for name, part in (
        ("train", documents[n_dev + n_test :]),
        ("dev", documents[:n_dev]),
        ("test", test),
        ("test-narrow", narrow),
        ("test-diverse", diverse),
    ):
        write(options.output / f"{name}.jsonl", part)


if __name__ == "__main__":
    main()
