"""Cut the English training corpora into what is learned from and what is held out.

python scripts/split_english.py DATA OUTPUT

DATA is the folder of the corpora, OUTPUT becomes a folder of ``<name>-train.spacy`` and
``<name>-dev.spacy``, and of ``calibration.spacy``, a part of what is held out. No
document of a test set is in any of them.
"""

import sys
from itertools import chain, islice
from pathlib import Path
from typing import Dict, Iterable, List, NamedTuple

import spacy

from spacy_keyphrase.corpora import KeyphraseDocument, convert, read_corpus


class Source(NamedTuple):
    """Where a corpus comes from, and which of its documents are held out; those before
    are left out (the first 460 of Krapivin are its customary test set)."""

    file: str
    first_dev: int = 0
    n_dev: int = 0


SOURCES = {
    # Author keywords of scientific papers.
    "acmdl": Source("acmdl/train", 0, 1000),
    "krapivin": Source("krapivin/abstract_rest", 460, 300),
    "paperlists": Source("paperlists/train"),
    "taln": Source("taln/en"),
    # The same of whole papers.
    "krapivin_full": Source("krapivin/full_rest", 460, 300),
    "cstr": Source("cstr/train", 0, 40),
    # Index terms, tags, what readers marked.
    "inspec": Source("inspec/train"),
    "stackexchange": Source("stackexchange/valid", 0, 945),
    "kpcrowd": Source("kpcrowd500n/train", 0, 90),
    # Only to choose by.
    "inspec_valid": Source("inspec/valid", 0, 500),
    "semeval2010": Source("semeval2010/train_abstract", 0, 130),
}
# Whole papers, of documents that are there as abstracts as well.
WHOLE = ("krapivin_full", "cstr")
# Documents of each other set that scores are calibrated on.
N_CALIBRATION = 80


def write(path: Path, documents: Iterable[KeyphraseDocument]) -> int:
    nlp = spacy.blank("en")
    stream = iter(documents)
    first = list(islice(stream, 1))
    if not first:
        return 0
    documents = chain(first, stream)
    return convert(documents, nlp, path, overwrite=True).documents


def main(data: Path, output: Path) -> None:
    output.mkdir(parents=True, exist_ok=True)
    held_out: Dict[str, List[KeyphraseDocument]] = {}
    for name, source in SOURCES.items():
        documents = read_corpus(data / f"{source.file}.jsonl.gz")
        held_out[name] = list(
            islice(documents, source.first_dev, source.first_dev + source.n_dev)
        )
        n_train = write(output / f"{name}-train.spacy", documents)
        n_dev = write(output / f"{name}-dev.spacy", held_out[name])
        print(f"{name}: {n_train} to learn from, {n_dev} held out", flush=True)
    some = chain.from_iterable(
        documents[:N_CALIBRATION]
        for name, documents in held_out.items()
        if name not in WHOLE
    )
    write(output / "calibration.spacy", some)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
