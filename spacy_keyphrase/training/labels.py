"""Labels of which some are missing (PUSL, "From Lazy to Prolific"): how unequal texts
are labelled, texts that go by their number of labels, and labels that a model adds."""

from typing import Dict, Iterable, List, Optional, Sequence, Tuple

import numpy

from ..corpora import KeyphraseDocument
from ..normalize import get_normalizer

# Texts of up to so many times the mean number of labels are narrow.
NARROW = 2.0


def variation(counts: Sequence[int]) -> float:
    """How unequal numbers of labels are: standard deviation over mean; 0 where there
    are none. In print the paper has it the other way round."""
    mean = float(numpy.mean(counts)) if len(counts) else 0.0
    return float(numpy.std(counts)) / mean if mean else 0.0


def join_labels(
    labels: Iterable[str], more: Iterable[str], lang: str = "en"
) -> List[str]:
    """Labels and further ones; of equal ones the first stays."""
    form = get_normalizer(lang).form
    kept: Dict[str, str] = {}
    for label in (*labels, *more):
        kept.setdefault(form(label), label)
    kept.pop("", None)
    return list(kept.values())


def extend_labels(
    labels: Sequence[str], generated: Sequence[str], mean: float, lang: str = "en"
) -> Optional[List[str]]:
    """The labels of a text with those that a model adds, for post-training.

    labels (Sequence[str]): Those that are known.
    generated (Sequence[str]): Those of the model.
    mean (float): How many texts have on average.
    lang (str): Language of the stems by which labels are equal.
    RETURNS (Optional[List[str]]): None where there are no more than the mean: the text
        is rejected.
    """
    joined = join_labels(labels, generated, lang)
    return joined if len(joined) > mean else None


def group_texts(documents: Iterable[KeyphraseDocument]) -> List[KeyphraseDocument]:
    """Documents of different texts; those of one text are joined with their labels."""
    grouped: Dict[str, KeyphraseDocument] = {}
    for document in documents:
        first = grouped.get(document.text, document)
        labels = join_labels(first.keyphrases, document.keyphrases, document.lang)
        grouped[document.text] = KeyphraseDocument(
            first.id, first.text, first.title, labels, first.lang, first.extra
        )
    return list(grouped.values())


def split_by_labels(
    documents: Sequence[KeyphraseDocument], mean: float
) -> Tuple[List[KeyphraseDocument], List[KeyphraseDocument]]:
    """The narrow and the diverse part of a test set.

    documents (Sequence[KeyphraseDocument]): The test set.
    mean (float): How many labels a text of the whole data set has on average.
    RETURNS (Tuple[List[KeyphraseDocument], List[KeyphraseDocument]]): Documents with up
        to twice as many, and those with more.
    """
    parts: Tuple[List[KeyphraseDocument], List[KeyphraseDocument]] = [], []
    for document in documents:
        parts[len(document.keyphrases) > NARROW * mean].append(document)
    return parts
