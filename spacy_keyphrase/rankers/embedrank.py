"""EmbedRank: phrases near to their document."""

from typing import TYPE_CHECKING, Dict, List, Optional, Sequence

from ..registry import registry
from .base import Ranker, Scores
from .embedding import EmbeddingRanker, Pooling
from .lazy_model import LazyModel

if TYPE_CHECKING:
    from ..lm.document import Document
    from ..lm.pieces import Pieces


@registry.keyphrase_rankers("spacy_keyphrase.EmbedRank.v1")
def make_embedrank(
    model: str,
    diversity: float = 0.0,
    pooling: Pooling = "mean",
    max_length: int = 0,
    device: Optional[str] = None,
    dtype: str = "float32",
    max_batch_tokens: int = 1024,
    trust_remote_code: bool = False,
) -> Ranker:
    """Rank by the cosine of phrase and document, each embedded alone (Bennani-Smires et
    al. 2018, "EmbedRank"; KeyBERT does the same with all n-grams).

    model (str): A local folder, or a name on the Hugging Face hub; an encoder of
        sentences.
    diversity (float): Weight of diversity against similarity in maximal marginal
        relevance, 0..1; 0 is similarity alone.
    pooling (str): The "mean" or the "max" of the states of sub-tokens, or the "first"
        one.
    max_length (int): Sub-tokens of a document that are read at once; 0 for as many as
        the model can. Longer ones have the mean of their parts.
    device (Optional[str]): Such as "cuda:0"; by default a GPU if there is one.
    dtype (str): "float32", "bfloat16" or "float16".
    max_batch_tokens (int): Sub-tokens that go through the model at once.
    trust_remote_code (bool): Whether to run code that comes with the model.
    RETURNS (Ranker): Its scores are cosines, less what diversity takes away.
    """
    if not 0 <= diversity <= 1:
        raise ValueError(f"diversity must be between 0 and 1, not {diversity}.")
    lm = LazyModel(
        model,
        "encoder",
        device=device,
        dtype=dtype,
        trust_remote_code=trust_remote_code,
    )
    return _EmbedRank(lm, pooling, max_length, diversity, max_batch_tokens)


class _EmbedRank(EmbeddingRanker):
    def __init__(
        self,
        lm: LazyModel,
        pooling: Pooling,
        max_length: int,
        diversity: float,
        max_batch_tokens: int,
    ) -> None:
        super().__init__(lm, pooling, max_length, max_batch_tokens)
        self.diversity = diversity

    def _score(
        self,
        documents: Sequence["Document"],
        read: Sequence["Pieces"],
        counts: Sequence[Sequence[int]],
        length: int,
    ) -> List[Scores]:
        import torch

        from ..lm.encode import equal_parts
        from ..lm.pieces import read_pieces
        from ..lm.similarity import cosines, maximal_marginal_relevance

        phrases = [_first_texts(d, n) for d, n in zip(documents, counts)]
        unique = sorted({text for texts in phrases for text in texts})
        number = {text: i for i, text in enumerate(unique)}
        # A phrase may be one word of any length.
        short = [
            equal_parts(pieces, length)[0][0]
            for pieces in read_pieces(self.lm.get().tokenizer, unique)
        ]
        of_phrases = self._embed(short)
        parts, owner = [], []
        for i, pieces in enumerate(read):
            for part, _, _ in equal_parts(pieces, length) if phrases[i] else ():
                parts.append(part)
                owner.append(i)
        of_parts = self._embed(parts)
        scores = []
        of_document: Dict[int, List[torch.Tensor]] = {}
        for i, vector in zip(owner, of_parts):
            of_document.setdefault(i, []).append(vector)
        for i, texts in enumerate(phrases):
            if not texts:
                scores.append(Scores([]))
                continue
            document = torch.stack(of_document[i]).mean(dim=0)
            vectors = torch.stack([of_phrases[number[text]] for text in texts])
            found = cosines(vectors, document)
            if self.diversity:
                found = maximal_marginal_relevance(found, vectors, self.diversity)
            scores.append(Scores(found.tolist()))
        return scores


def _first_texts(document: "Document", counts: Sequence[int]) -> List[str]:
    """The text of each candidate, as it stands first."""
    texts, first = [], 0
    for n in counts:
        texts.append(document.occurrences[first].text)
        first += n
    return texts
