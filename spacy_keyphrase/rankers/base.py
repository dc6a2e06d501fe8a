"""The contract between the ranking pipe and a scorer of candidates."""

from dataclasses import dataclass
from typing import List, Optional, Protocol, Sequence

from spacy.tokens import Doc

from ..candidates import Candidate


@dataclass
class Scores:
    """The scores of one document's candidates.

    phrases (Sequence[float]): One finite number per candidate, higher is better.
    mentions (Optional[Sequence[Sequence[float]]]): One number per mention of each
        candidate, from rankers that score occurrences.
    """

    phrases: Sequence[float]
    mentions: Optional[Sequence[Sequence[float]]] = None


class Ranker(Protocol):
    """Scores the candidates of a batch of documents.

    A document's scores must not depend on the rest of its batch.
    """

    def __call__(
        self, docs: Sequence[Doc], candidates: Sequence[List[Candidate]]
    ) -> List[Scores]:
        """docs (Sequence[Doc]): The batch.
        candidates (Sequence[List[Candidate]]): Each document's candidates.
        RETURNS (List[Scores]): Each document's scores.
        """
        ...
