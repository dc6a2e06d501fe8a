"""The statistical ranker: what it takes to rank phrases without any model."""

from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import List, Optional, Sequence, Tuple

import numpy
from spacy.tokens import Doc

from ..candidates import Candidate
from ..lexicon import Lexicon, get_lexicon
from ..registry import registry
from ..vectors import get_vectors
from ..word_reader import get_word_reader
from ..words import Words
from .base import Ranker, Scores

# The product that becomes the score 0.5; about that of a typical phrase.
HALF = 0.4
# A phrase unlike its document is unlikely, not impossible.
LEAST_SIMILAR = 0.02


@registry.keyphrase_rankers("spacy_keyphrase.Statistical.v1")
def make_statistical(
    word_frequency: float = 0.25,
    rarity: float = 0.8,
    length: Sequence[float] = (0.38, 1.0, 1.4, 1.3, 0.55),
    frequency: float = 0.24,
    position: float = 0.3,
    position_offset: float = 10.0,
    casing: float = 0.4,
    repeated: float = 0.5,
    shared_part: float = 0.5,
    mere_part: float = 0.18,
    similarity: float = 0.0,
    lexicon: Optional[str] = None,
) -> Ranker:
    """Rank by casing, position, frequency, spread and rarity.

    The features are those of YAKE! (Campos et al. 2020), combined as a product of
    powers; background document frequencies stand in for its context feature::

        length[n] * mean over words of (tf ** word_frequency * idf ** rarity)
            * mentions ** frequency / (first + position_offset) ** position
            * (1 + casing * capitalised) * (1 + repeated) * part
            * cosine ** similarity

    The defaults were chosen on the development parts of the benchmark corpora.

    word_frequency (float): Exponent of a word's count in the document.
    rarity (float): Exponent of a word's inverse document frequency.
    length (Sequence[float]): Factor for phrases of 1, 2, ... words; the last is for
        all longer ones.
    frequency (float): Exponent of the phrase's number of mentions.
    position (float): Exponent of the position, in words, of the first mention.
    position_offset (float): Number of words that count as the very beginning.
    casing (float): Weight of the share of mentions that are capitalised inside a
        sentence.
    repeated (float): Bonus of a phrase that comes again.
    shared_part (float): Factor of a phrase that only occurs inside longer
        candidates, two or more different ones.
    mere_part (float): Factor of a phrase that only occurs inside one longer candidate.
    similarity (float): Exponent of the cosine of phrase and document, both sums of
        word vectors, in languages that have a bundled table of these.
    lexicon (Optional[str]): A lexicon file instead of the language's bundled one.
    RETURNS (Ranker): Its scores are between 0 and 1.
    """
    if not length or min(length) <= 0:
        raise ValueError(f"length must hold positive numbers, not {list(length)}.")
    weights = _Weights(
        word_frequency,
        rarity,
        tuple(length),
        frequency,
        position,
        position_offset,
        casing,
        repeated,
        shared_part,
        mere_part,
        similarity,
    )
    return partial(_rank_statistical, weights=weights, lexicon=lexicon)


@dataclass(frozen=True)
class _Weights:
    word_frequency: float
    rarity: float
    length: Tuple[float, ...]
    frequency: float
    position: float
    position_offset: float
    casing: float
    repeated: float
    shared_part: float
    mere_part: float
    similarity: float


def _rank_statistical(
    docs: Sequence[Doc],
    candidates: Sequence[List[Candidate]],
    *,
    weights: _Weights,
    lexicon: Optional[str],
) -> List[Scores]:
    scores = []
    for doc, phrases in zip(docs, candidates):
        words = get_word_reader(doc.lang_).read(doc)
        known = get_lexicon(doc.lang_, lexicon)
        found = _score_doc(words, phrases, known, weights)
        vectors = get_vectors(doc.lang_) if weights.similarity else None
        if vectors is not None and phrases:
            places = numpy.array([phrase.mentions[0] for phrase in phrases])
            cosines = vectors.similarities([doc], places[:, 0], places[:, 1])
            near = numpy.maximum(cosines, LEAST_SIMILAR) ** weights.similarity
            found = [score * factor for score, factor in zip(found, near.tolist())]
        scores.append(Scores([score / (score + HALF) for score in found]))
    return scores


def _score_doc(
    words: Words,
    candidates: List[Candidate],
    lexicon: Lexicon,
    weights: _Weights,
) -> List[float]:
    counts = Counter(words.stems)
    idf, rare = lexicon.idf, lexicon.rare
    # An everyday word is cheap, not worthless: a phrase may need it.
    value = {
        stem: count**weights.word_frequency
        * max(idf.get(stem, rare), 0.01) ** weights.rarity
        for stem, count in counts.items()
    }
    opening = {unit.start for unit in words.units if unit.sentence_start}
    first_stems, capital = words.first_stems, words.capitals
    longest = len(weights.length) - 1
    scores: List[float] = []
    for candidate in candidates:
        stems, mentions = candidate.stems, candidate.mentions
        n = len(stems)
        score = sum([value[stem] for stem in stems]) / n
        score *= weights.length[min(n - 1, longest)]
        score *= len(mentions) ** weights.frequency
        first = first_stems[mentions[0][0]]
        score /= (first + weights.position_offset) ** weights.position
        inside = [capital[s] for s, _ in mentions if s not in opening]
        score *= 1 + weights.casing * sum(inside) / len(mentions)
        if len(mentions) > 1:
            score *= 1 + weights.repeated
        if not candidate.n_free:
            shared = len(candidate.holders) > 1
            score *= weights.shared_part if shared else weights.mere_part
        scores.append(score)
    return scores
