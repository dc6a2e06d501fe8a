"""JointGL: phrases near to their document, and in the middle of the others."""

import re
from typing import TYPE_CHECKING, Dict, List, Optional, Sequence, Tuple

from ..registry import registry
from .base import Ranker, Scores
from .embedding import EmbeddingRanker
from .lazy_model import LazyModel

if TYPE_CHECKING:
    from torch import Tensor

    from ..lm.document import Document
    from ..lm.pieces import Pieces


@registry.keyphrase_rankers("spacy_keyphrase.JointGL.v1")
def make_jointgl(
    model: str,
    max_length: int = 0,
    device: Optional[str] = None,
    dtype: str = "float32",
    max_batch_tokens: int = 1024,
    trust_remote_code: bool = False,
) -> Ranker:
    """Rank by similarity to the document and by centrality among the phrases (Liang et
    al. 2021, "Unsupervised Keyphrase Extraction by Jointly Modeling Local and Global
    Context").

    model (str): A local folder, or a name on the Hugging Face hub; the paper has BERT.
    max_length (int): Sub-tokens that are read at once; 0 for as many as the model can.
        Longer documents are read in parts.
    device (Optional[str]): Such as "cuda:0"; by default a GPU if there is one.
    dtype (str): "float32", "bfloat16" or "float16".
    max_batch_tokens (int): Sub-tokens that go through the model at once.
    trust_remote_code (bool): Whether to run code that comes with the model.
    RETURNS (Ranker): Its scores are shares in the best score of the document.
    """
    lm = LazyModel(
        model,
        "encoder",
        device=device,
        dtype=dtype,
        trust_remote_code=trust_remote_code,
    )
    return _JointGL(lm, "first", max_length, max_batch_tokens)


class _JointGL(EmbeddingRanker):
    def _score(
        self,
        documents: Sequence["Document"],
        read: Sequence["Pieces"],
        counts: Sequence[Sequence[int]],
        length: int,
    ) -> List[Scores]:
        import torch

        from ..lm.encode import encode, equal_parts, split_body
        from ..lm.similarity import joint_global_local

        parts, places = [], []
        for i, pieces in enumerate(read):
            for part, start, end in equal_parts(pieces, length) if counts[i] else ():
                parts.append(part)
                places.append((i, start, end))
        states: List[Dict[int, Tensor]] = [{} for _ in read]
        firsts: List[Dict[int, Tensor]] = [{} for _ in read]
        for n, found in encode(self.lm.get(), parts, self.max_batch_tokens):
            i, start, end = places[n]
            head = split_body(read[i])[0]
            states[i][start] = found[head : head + end - start].float().cpu()
            firsts[i][start] = found[0].float().cpu()
        scores = []
        for i, (document, pieces, own) in enumerate(zip(documents, read, counts)):
            if not own:
                scores.append(Scores([]))
                continue
            head = split_body(pieces)[0]
            body = torch.cat([states[i][start] for start in sorted(states[i])])
            whole = torch.stack(list(firsts[i].values())).mean(dim=0)
            # The paper's words are means, its phrases maxima.
            vectors = []
            for spans in _first_mentions(document, pieces, own):
                words = [body[a - head : b + 1 - head].mean(dim=0) for a, b in spans]
                # What the tokenizer drops, such as control characters, is nothing.
                vectors.append(
                    torch.stack(words).amax(dim=0) if words else torch.zeros_like(whole)
                )
            at = _first_places(document, own)
            found = joint_global_local(torch.stack(vectors), whole, at)
            best = float(found.max()) or 1.0
            scores.append(Scores((found / best).tolist()))
        return scores


def _first_mentions(
    document: "Document", pieces: "Pieces", counts: Sequence[int]
) -> List[List[Tuple[int, int]]]:
    """First and last sub-token of the words of each candidate, as it stands first."""
    found, first = [], 0
    for n in counts:
        occurrence = document.occurrences[first]
        first += n
        text = document.text[occurrence.start : occurrence.end]
        words = [
            pieces.find(occurrence.start + w.start(), occurrence.start + w.end())
            for w in re.finditer(r"\S+", text)
        ]
        found.append([span for span in words if span is not None])
    return found


def _first_places(document: "Document", counts: Sequence[int]) -> List[int]:
    """Where each candidate stands first, counted in tokens from 1."""
    places, first = [], 0
    for n in counts:
        places.append(document.occurrences[first].place + 1)
        first += n
    return places
