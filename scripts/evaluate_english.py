"""Evaluate the English network on the documents held out from its training.

python scripts/evaluate_english.py PIPELINE CORPUS

PIPELINE is a folder that training wrote, or the word "bundled"; CORPUS the folder that
scripts/split_english.py wrote. F1@5 and F1@10 of all gold keyphrases, in per cent,
under the default of the pipeline, under no style and under each.
"""

import sys
from pathlib import Path
from typing import Dict, List

import spacy
from spacy.language import Language
from spacy.training import Example

from spacy_keyphrase.corpora.reader import create_corpus
from spacy_keyphrase.evaluation import score

SETS = (
    "acmdl",
    "krapivin",
    "inspec_valid",
    "semeval2010",
    "stackexchange",
    "kpcrowd",
    "krapivin_full",
    "cstr",
)
# Whole papers take a while.
LIMIT = 100


def load(pipeline: str) -> Language:
    if pipeline == "bundled":
        nlp = spacy.blank("en")
        nlp.add_pipe("keyphrase")
        return nlp
    return spacy.load(pipeline)


def evaluate(nlp: Language, examples: List[Example]) -> Dict[str, float]:
    docs = nlp.pipe(example.reference.text for example in examples)
    found = [[phrase.text for phrase in doc._.keyphrases] for doc in docs]
    gold = [
        [phrase.text for phrase in example.reference._.keyphrases]
        for example in examples
    ]
    return score(found, gold, k=[5, 10])


def main(pipeline: str, corpus: Path) -> None:
    nlp = load(pipeline)
    pipe = nlp.get_pipe(nlp.pipe_names[-1])
    # Its own default, no style, and each.
    styles = {"default": pipe.style, "none": None}
    styles.update((name, name) for name in pipe.styles)
    print("set", *styles, sep="\t")
    means = dict.fromkeys(styles, 0.0)
    for name in SETS:
        limit = LIMIT if name in ("krapivin_full", "cstr") else 0
        reader = create_corpus(corpus / f"{name}-dev.spacy", limit=limit)
        examples = list(reader(nlp))
        cells = []
        for column, style in styles.items():
            pipe.style = style
            scores = evaluate(nlp, examples)
            means[column] += 100 * scores["all_f1@10"] / len(SETS)
            cells.append(
                f"{100 * scores['all_f1@5']:.1f} / {100 * scores['all_f1@10']:.1f}"
            )
        print(name, *cells, sep="\t", flush=True)
    print("mean F1@10", *(f"{mean:.2f}" for mean in means.values()), sep="\t")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
