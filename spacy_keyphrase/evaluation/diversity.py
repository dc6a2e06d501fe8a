"""How much the predictions of a document repeat each other.

Bahuleyan and El Asri (2020), "Diverse Keyphrase Generation with Neural
Unlikelihood Training", as computed by KPEval.
"""

from typing import Callable, Optional, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ..normalize import get_normalizer
from .metrics import Floats

Embed = Callable[[Sequence[str]], ArrayLike]


def dup_phrase_ratio(phrases: Sequence[str], lang: Optional[str] = "en") -> float:
    """The share of phrases that repeat an earlier one: 1 - unique / all.

    phrases (Sequence[str]): The predictions of one document.
    lang (Optional[str]): Language of the stems; None where the phrases are
        normal forms already.
    RETURNS (float): 1 where there are no phrases.
    """
    forms = _forms(phrases, lang)
    return 1 - len(set(forms)) / len(forms) if forms else 1.0


def dup_token_ratio(phrases: Sequence[str], lang: Optional[str] = "en") -> float:
    """The share of words that repeat an earlier one: 1 - unique / all stems.

    phrases (Sequence[str]): The predictions of one document.
    lang (Optional[str]): Language of the stems; None where the phrases are
        normal forms already.
    RETURNS (float): 1 where there are no words.
    """
    tokens = [token for form in _forms(phrases, lang) for token in form.split(" ")]
    return 1 - len(set(tokens)) / len(tokens) if tokens else 1.0


def _forms(phrases: Sequence[str], lang: Optional[str]) -> Sequence[str]:
    if lang is None:
        return phrases
    return [form for form in map(get_normalizer(lang).form, phrases) if form]


def emb_sim(vectors: ArrayLike) -> float:
    """The mean cosine of all pairs of phrases.

    vectors (ArrayLike): One vector a phrase.
    RETURNS (float): 1 for a single phrase, 0 for none, as in the reference tool.
    """
    cosines = _cosines(vectors)
    n = len(cosines)
    if n < 2:
        return float(n)
    return float(cosines[np.triu_indices(n, k=1)].mean())


def sem_diverse_index(vectors: ArrayLike) -> float:
    """KPEval's index: the Frobenius norm of the cosines of different phrases.

    vectors (ArrayLike): One vector a phrase.
    RETURNS (float): 0 for less than two phrases.
    """
    cosines = _cosines(vectors)
    return float(np.linalg.norm(cosines - np.diag(np.diag(cosines))))


def mean_emb_sim(predictions: Sequence[Sequence[str]], embed: Embed) -> Optional[float]:
    """The mean of `emb_sim` over documents.

    predictions (Sequence[Sequence[str]]): The phrases of each document.
    embed (Embed): From a list of phrases to one vector each. Any encoder will
        do; name it where the number is printed.
    RETURNS (Optional[float]): None where there are no documents.
    """
    if not predictions:
        return None
    values = [emb_sim(embed(phrases) if phrases else []) for phrases in predictions]
    return float(np.mean(values))


def _cosines(vectors: ArrayLike) -> Floats:
    array = np.asarray(vectors, dtype=float)
    if not array.size:
        return np.zeros((0, 0))
    if array.ndim != 2:
        raise ValueError(
            "Expected one vector a phrase: an array of two dimensions, not of "
            f"shape {array.shape}."
        )
    norms = np.linalg.norm(array, axis=1, keepdims=True)
    unit = array / np.where(norms == 0, 1.0, norms)
    return np.asarray(unit @ unit.T)
