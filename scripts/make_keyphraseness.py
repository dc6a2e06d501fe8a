"""Count how often phrases are keyphrases in corpora of author keywords.

python scripts/make_keyphraseness.py OUTPUT CORPUS...

OUTPUT is the ``.npz`` file, each CORPUS a file of documents with gold.
"""

import sys
from collections import Counter
from pathlib import Path
from typing import Iterator, List

import numpy
import spacy
from spacy.training import Example
from tqdm import tqdm

from spacy_keyphrase.candidates import make_ngrams, suggest_batch
from spacy_keyphrase.corpora.reader import create_corpus
from spacy_keyphrase.keyphraseness import LEAST
from spacy_keyphrase.models.mentions import read_mentions
from spacy_keyphrase.training.gold import read_gold
from spacy_keyphrase.word_reader import read_words

MAX_WORDS = 5


def read(corpora: List[Path]) -> Iterator[Example]:
    nlp = spacy.blank("en")
    for path in corpora:
        yield from create_corpus(path)(nlp)


def main(output: Path, *corpora: Path) -> None:
    suggest = make_ngrams(max_words=MAX_WORDS)
    gold_counts: Counter[int] = Counter()
    keys = []
    for example in tqdm(read([*corpora]), unit=" docs"):
        words = read_words([example.predicted])
        mentions = read_mentions(
            words, suggest_batch(suggest, [example.predicted], words)
        )
        gold = read_gold([example], mentions, "keyphrases")
        assert mentions.keys is not None
        gold_counts.update(mentions.keys[gold.phrases].tolist())
        keys.append(mentions.keys)
    kept = numpy.array(
        sorted(key for key, n in gold_counts.items() if n >= LEAST), dtype="u8"
    )
    docs = numpy.zeros(len(kept), dtype="u4")
    for some in keys:
        found = numpy.searchsorted(kept, some).clip(max=len(kept) - 1)
        numpy.add.at(docs, found[kept[found] == some], 1)
    gold = numpy.array([gold_counts[key] for key in kept.tolist()], dtype="u2")
    numpy.savez_compressed(output, keys=kept, gold=gold, docs=docs)
    print(f"{output}: {len(kept)} phrases, {output.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
