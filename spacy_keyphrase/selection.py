"""From scored candidates to the keyphrases of a document."""

from dataclasses import dataclass
from typing import Dict, List, Literal, Optional, Sequence, Set, Tuple, Union

import numpy

Subphrases = Literal["keep", "drop"]


@dataclass(frozen=True)
class Selection:
    """How many keyphrases are kept, and which of those that are alike.

    top_n (int): How many at most; 0 for all.
    min_score (Optional[float]): Lowest score to keep; no limit by default.
    max_similarity (float): A phrase is dropped when its similarity to a better one,
        the Dice coefficient of their character trigrams, is above this. 1 keeps all.
    diversity (float): 0 ranks by score alone. Above 0 phrases are picked by maximal
        marginal relevance (Carbonell and Goldstein 1998), and the score becomes
        ``(1 - diversity) * relevance + diversity * (1 - similarity)``, with the
        relevance scaled to 0..1 within the document and the similarity the highest
        Dice coefficient, over stems, to a phrase picked before.
    subphrases (Subphrases): Whether to "keep" or "drop" a phrase whose stems are
        contained in those of a better one, or contain them.
    """

    top_n: int = 10
    min_score: Optional[float] = None
    max_similarity: float = 1.0
    diversity: float = 0.0
    subphrases: Subphrases = "keep"

    def __post_init__(self) -> None:
        if self.top_n < 0:
            raise ValueError(f"top_n must be 0 (all) or more, not {self.top_n}.")
        for name in ("max_similarity", "diversity"):
            value = getattr(self, name)
            if not 0 <= value <= 1:
                raise ValueError(f"{name} must be between 0 and 1, not {value}.")
        if self.subphrases not in ("keep", "drop"):
            raise ValueError(
                f"subphrases must be 'keep' or 'drop', not {self.subphrases!r}."
            )


def select(
    forms: Sequence[str],
    scores: Union[Sequence[float], numpy.ndarray],
    selection: Selection,
) -> List[Tuple[int, float]]:
    """Select and order phrases.

    forms (Sequence[str]): Their normal forms.
    scores (Sequence[float]): Their scores; equal scores keep the given order.
    selection (Selection): What to keep.
    RETURNS (List[Tuple[int, float]]): Index and score of each phrase kept, best
        first.
    """
    order = numpy.argsort(-numpy.asarray(scores), kind="stable").tolist()
    values: Sequence[float]
    values = scores.tolist() if isinstance(scores, numpy.ndarray) else scores
    if selection.min_score is not None:
        order = [i for i in order if values[i] >= selection.min_score]
    limit = selection.top_n or len(order)
    if selection.diversity > 0:
        return _diverse(forms, values, order, limit, selection)
    if selection.subphrases == "keep" and selection.max_similarity == 1:
        return [(i, values[i]) for i in order[:limit]]
    kept: List[Tuple[int, float]] = []
    alike = _Alike(selection)
    for i in order:
        if len(kept) == limit:
            break
        if alike.add(forms[i]):
            kept.append((i, values[i]))
    return kept


class _Alike:
    """Remembers the phrases kept so far and turns away those too like them."""

    def __init__(self, selection: Selection):
        self.selection = selection
        self._forms: List[str] = []
        self._trigrams: List[Set[str]] = []

    def add(self, form: str) -> bool:
        """Whether the phrase is kept."""
        if self.selection.subphrases == "drop":
            padded = f" {form} "
            for other in self._forms:
                if padded in other or other in padded:
                    return False
            self._forms.append(padded)
        if self.selection.max_similarity < 1:
            trigrams = _trigrams(form)
            for others in self._trigrams:
                if _dice(trigrams, others) > self.selection.max_similarity:
                    return False
            self._trigrams.append(trigrams)
        return True


def _trigrams(form: str) -> Set[str]:
    padded = f"  {form} "
    return {padded[i : i + 3] for i in range(len(padded) - 2)}


def _dice(a: Set[str], b: Set[str]) -> float:
    return 2 * len(a & b) / (len(a) + len(b))


def _diverse(
    forms: Sequence[str],
    scores: Sequence[float],
    order: List[int],
    limit: int,
    selection: Selection,
) -> List[Tuple[int, float]]:
    """Maximal marginal relevance; its value never rises from pick to pick."""
    if not order:
        return []
    best, worst = scores[order[0]], scores[order[-1]]
    scale = best - worst
    weight = selection.diversity
    stems: Dict[int, Set[str]] = {i: set(forms[i].split()) for i in order}
    closest = dict.fromkeys(order, 0.0)
    kept: List[Tuple[int, float]] = []
    alike = _Alike(selection)
    while closest and len(kept) < limit:
        values = {
            i: (1 - weight) * ((scores[i] - worst) / scale if scale else 1.0)
            + weight * (1 - similarity)
            for i, similarity in closest.items()
        }
        # The first of equal values: the better phrase.
        pick = max(values, key=values.__getitem__)
        del closest[pick]
        if not alike.add(forms[pick]):
            continue
        kept.append((pick, values[pick]))
        for i in closest:
            similarity = _dice(stems[i], stems[pick])
            if similarity > closest[i]:
                closest[i] = similarity
    return kept
