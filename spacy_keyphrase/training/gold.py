"""Gold keyphrases of examples as the arrays that the heads compare with."""

from typing import List, Optional, Sequence, Tuple

import numpy
from spacy.attrs import ORTH
from spacy.training import Example

from ..keyphrase import get_keyphrases
from ..models.heads import Gold
from ..models.mentions import Mentions, split_mentions


def read_gold(examples: Sequence[Example], mentions: Mentions, key: str) -> Gold:
    """What the network should have found in a batch.

    examples (Sequence[Example]): The batch; the gold is on the references.
    mentions (Mentions): The candidate mentions of the predicted docs.
    key (str): Key of the span group.
    RETURNS (Gold): A phrase is gold if its normal form is, a mention if it is
        annotated.
    """
    phrases = numpy.zeros(mentions.n_phrases, dtype=bool)
    annotated = numpy.zeros(len(mentions), dtype=bool)
    spans: List[Optional[List[Tuple[int, int]]]] = []
    for i, (example, own) in enumerate(zip(examples, split_mentions(mentions))):
        reference = example.reference
        if key not in reference.spans:
            spans.append(None)
            continue
        gold = get_keyphrases(reference, key)
        present = [span for phrase in gold for span in phrase.spans]
        if not _same_tokens(example):
            present = example.get_aligned_spans_y2x(present, allow_overlap=True)
        found = {(span.start, span.end) for span in present}
        spans.append(sorted(found))
        words = mentions.words_of(i)
        forms = {phrase.normal_form for phrase in gold}
        places = own.places.tolist()
        for k, first in enumerate(own.bounds[:-1]):
            start, end = places[first]
            stems = words.stems[words.first_stems[start] : words.first_stems[end]]
            phrases[own.phrases.start + k] = " ".join(stems) in forms
        annotated[own.mentions] = [(start, end) in found for start, end in places]
    return Gold(phrases, annotated, spans)


def _same_tokens(example: Example) -> bool:
    predicted, reference = example.predicted, example.reference
    same: bool = numpy.array_equal(predicted.to_array(ORTH), reference.to_array(ORTH))
    return same
