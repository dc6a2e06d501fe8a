"""What rankers have in common that compare vectors of candidates and documents."""

from typing import TYPE_CHECKING, Dict, List, Literal, Sequence, Tuple

from spacy.tokens import Doc

from ..candidates import Candidate
from .base import Scores
from .lazy_model import LazyModel, check_batch

if TYPE_CHECKING:
    from torch import Tensor

    from ..lm.document import Document
    from ..lm.pieces import Pieces

Pooling = Literal["mean", "max", "first"]


class EmbeddingRanker:
    def __init__(
        self, lm: LazyModel, pooling: Pooling, max_length: int, max_batch_tokens: int
    ) -> None:
        if pooling not in ("mean", "max", "first"):
            raise ValueError(
                f"pooling must be 'mean', 'max' or 'first', not {pooling!r}."
            )
        self.lm = lm
        self.max_batch_tokens = check_batch(max_batch_tokens)
        self.pooling = pooling
        self.max_length = max_length

    def __call__(
        self, docs: Sequence[Doc], candidates: Sequence[List[Candidate]]
    ) -> List[Scores]:
        from ..lm.document import read_document
        from ..lm.encode import window_length
        from ..lm.pieces import read_pieces

        length = window_length(self.lm.get(), self.max_length)
        documents = [read_document(d, c, False) for d, c in zip(docs, candidates)]
        read = read_pieces(self.lm.get().tokenizer, [d.text for d in documents])
        counts = [[len(c.mentions) for c in phrases] for phrases in candidates]
        return self._score(documents, read, counts, length)

    def _score(
        self,
        documents: Sequence["Document"],
        read: Sequence["Pieces"],
        counts: Sequence[Sequence[int]],
        length: int,
    ) -> List[Scores]:
        raise NotImplementedError

    def _embed(self, texts: Sequence["Pieces"]) -> List["Tensor"]:
        """A vector of each text."""
        from ..lm.encode import encode

        found: Dict[int, Tensor] = {}
        for i, states in encode(self.lm.get(), texts, self.max_batch_tokens):
            found[i] = self._pool(states)
        return [found[i] for i in range(len(texts))]

    def _pool(self, states: "Tensor") -> "Tensor":
        states = states.float()
        if self.pooling == "first":
            pooled = states[0]
        elif self.pooling == "max":
            pooled = states.amax(dim=0)
        else:
            pooled = states.mean(dim=0)
        return pooled.cpu()


def find_spans(
    document: "Document", pieces: "Pieces", counts: Sequence[int]
) -> List[List[Tuple[int, int]]]:
    """First and last sub-token of each mention of each candidate."""
    found: List[List[Tuple[int, int]]] = []
    first = 0
    for n in counts:
        own = document.occurrences[first : first + n]
        first += n
        spans = [pieces.find(o.start, o.end) for o in own]
        found.append([span for span in spans if span is not None])
    return found
