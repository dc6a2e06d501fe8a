"""MDERank: phrases without which a document is another."""

from typing import TYPE_CHECKING, List, Optional, Sequence

import numpy

from ..registry import registry
from .base import Ranker, Scores
from .embedding import EmbeddingRanker, Pooling, find_spans
from .lazy_model import LazyModel

if TYPE_CHECKING:
    from ..lm.document import Document
    from ..lm.pieces import Pieces


@registry.keyphrase_rankers("spacy_keyphrase.MDERank.v1")
def make_mderank(
    model: str,
    pooling: Pooling = "max",
    max_length: int = 0,
    device: Optional[str] = None,
    dtype: str = "float32",
    max_batch_tokens: int = 4096,
    trust_remote_code: bool = False,
) -> Ranker:
    """Rank by how much a document changes when a phrase is masked in it (Zhang et al.
    2022, "MDERank"). Reads a document as often as it has candidates.

    model (str): A local folder, or a name on the Hugging Face hub; a masked language
        model such as BERT.
    pooling (str): The "mean" or the "max" of the states of sub-tokens, or the "first"
        one.
    max_length (int): Sub-tokens that are read at once; 0 for as many as the model can.
        Of longer documents each part is compared with itself.
    device (Optional[str]): Such as "cuda:0"; by default a GPU if there is one.
    dtype (str): "float32", "bfloat16" or "float16".
    max_batch_tokens (int): Sub-tokens that go through the model at once.
    trust_remote_code (bool): Whether to run code that comes with the model.
    RETURNS (Ranker): Its scores are 1 minus the cosine.
    """
    lm = LazyModel(
        model,
        "encoder",
        device=device,
        dtype=dtype,
        trust_remote_code=trust_remote_code,
    )
    return _MDERank(lm, pooling, max_length, max_batch_tokens)


class _MDERank(EmbeddingRanker):
    def _score(
        self,
        documents: Sequence["Document"],
        read: Sequence["Pieces"],
        counts: Sequence[Sequence[int]],
        length: int,
    ) -> List[Scores]:
        from ..lm.encode import equal_parts, split_body
        from ..lm.similarity import cosines

        mask = self.lm.get().tokenizer.mask_token_id
        if mask is None:
            raise ValueError(
                "MDERank masks phrases, but the tokenizer has no mask; it needs a "
                "masked language model such as BERT."
            )
        scores = []
        for document, pieces, own in zip(documents, read, counts):
            lost = numpy.zeros(len(own))
            parts = equal_parts(pieces, length) if own else []
            head, after = split_body(pieces)
            spans_of = find_spans(document, pieces, own)
            for part, start, end in parts:
                # Only copies in which something is masked.
                copies, which = [part], []
                for c, spans in enumerate(spans_of):
                    ids, changed = list(part.ids), False
                    for first, last in spans:
                        for k in range(max(first, start), min(last + 1, end)):
                            ids[head + k - start] = mask
                            changed = True
                    if changed:
                        copies.append(part.with_ids(ids))
                        which.append(c)
                whole, *masked = self._embed(copies)
                share = (end - start) / max(after - head, 1)
                for c, vector in zip(which, masked):
                    lost[c] += share * (1 - float(cosines(vector, whole)))
            scores.append(Scores(lost.tolist()))
        return scores
