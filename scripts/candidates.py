"""A corpus with the candidates of a pipeline beside the gold, for selectors to learn
from.

python scripts/candidates.py PIPELINE CORPUS OUTPUT [--key candidates] [--limit 0]
    [--gpu-id -1]

PIPELINE writes keyphrases into CORPUS, a corpus with gold keyphrases in any format.
OUTPUT is a .spacy file, in which gold is `doc._.keyphrases` and candidates are under
the KEY, where the corpus reader finds them (`candidates`).
"""

import argparse
from pathlib import Path

import spacy
from spacy.tokens import DocBin
from tqdm import tqdm

from spacy_keyphrase.corpora.reader import create_corpus
from spacy_keyphrase.keyphrase import get_keyphrases, set_keyphrases


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pipeline")
    parser.add_argument("corpus", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--key", default="candidates")
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--gpu-id", type=int, default=-1)
    options = parser.parse_args()
    if options.gpu_id >= 0:
        spacy.require_gpu(options.gpu_id)
    nlp = spacy.load(options.pipeline)
    examples = create_corpus(options.corpus, limit=options.limit)(nlp)
    references = [example.reference for example in examples]
    docs = nlp.pipe((reference.text for reference in references), batch_size=64)
    kept, found, total = DocBin(), 0, 0
    for reference, doc in zip(
        references, tqdm(docs, total=len(references), disable=None)
    ):
        gold = {phrase.normal_form for phrase in get_keyphrases(reference)}
        candidates = get_keyphrases(doc)
        found += sum(phrase.normal_form in gold for phrase in candidates)
        total += len(candidates)
        pairs = [(phrase.text, phrase.score) for phrase in candidates]
        set_keyphrases(reference, pairs, options.key)
        kept.add(reference)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    kept.to_disk(options.output)
    n = max(len(references), 1)
    print(
        f"{len(references)} documents, {total / n:.1f} candidates each, "
        f"{found / n:.2f} of them gold."
    )


if __name__ == "__main__":
    main()
