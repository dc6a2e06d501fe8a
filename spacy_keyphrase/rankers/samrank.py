"""Rankers that look at self-attention alone: SAMRank and Attention-Seeker."""

from typing import TYPE_CHECKING, List, Literal, Optional, Sequence

import numpy
from spacy.tokens import Doc

from ..candidates import Candidate
from ..registry import registry
from .base import Ranker, Scores
from .lazy_model import LazyModel, check_batch

if TYPE_CHECKING:
    from torch import Tensor

    from ..lm.document import Document
    from ..lm.pieces import Pieces

Part = Literal["both", "global", "proportional"]


@registry.keyphrase_rankers("spacy_keyphrase.SAMRank.v1")
def make_samrank(
    model: str,
    layer: Optional[int] = None,
    head: Optional[int] = None,
    part: Part = "both",
    lower: bool = False,
    max_length: int = 0,
    device: Optional[str] = None,
    dtype: str = "float32",
    max_batch_tokens: int = 1024,
    trust_remote_code: bool = False,
) -> Ranker:
    """Rank by the self-attention that phrases receive in one head (Kang and Shin 2023,
    "SAMRank").

    The published results are those of the best of all heads on the test set; where
    there is no gold, leave `layer` and `head` as they are.

    model (str): A local folder, or a name on the Hugging Face hub; an encoder, an
        encoder-decoder or a decoder-only model.
    layer (Optional[int]): The layer, from 0; by default the mean of all.
    head (Optional[int]): The head, from 0; by default the mean of all.
    part (str): The "global" score, the "proportional" one, or "both".
    lower (bool): Whether the text is read in lower case.
    max_length (int): Sub-tokens that are read at once; 0 for as many as the model can.
        Longer documents are cut into parts of the same length.
    device (Optional[str]): Such as "cuda:0"; by default a GPU if there is one.
    dtype (str): "float32", "bfloat16" or "float16".
    max_batch_tokens (int): Sub-tokens that go through the model at once.
    trust_remote_code (bool): Whether to run code that comes with the model.
    RETURNS (Ranker): Its scores are shares in the best score of the document.
    """
    if part not in ("both", "global", "proportional"):
        raise ValueError(
            f"part must be 'both', 'global' or 'proportional', not {part!r}."
        )
    lm = LazyModel(
        model,
        "attention",
        device=device,
        dtype=dtype,
        trust_remote_code=trust_remote_code,
    )
    return _SAMRank(lm, layer, head, part, lower, max_length, max_batch_tokens)


@registry.keyphrase_rankers("spacy_keyphrase.AttentionSeeker.v1")
def make_attention_seeker(
    model: str,
    lower: bool = False,
    max_length: int = 0,
    device: Optional[str] = None,
    dtype: str = "float32",
    max_batch_tokens: int = 1024,
    trust_remote_code: bool = False,
) -> Ranker:
    """Rank by the self-attention that phrases receive in all heads, of which those
    count more that attend to candidates (López Z. et al. 2025, "Attention-Seeker").

    model (str): A local folder, or a name on the Hugging Face hub; the paper has
        Llama 3 8B.
    lower (bool): Whether the text is read in lower case.
    max_length (int): Sub-tokens that are read at once; 0 for as many as the model can.
        Longer documents are cut into parts of the same length.
    device (Optional[str]): Such as "cuda:0"; by default a GPU if there is one.
    dtype (str): "float32", "bfloat16" or "float16".
    max_batch_tokens (int): Sub-tokens that go through the model at once.
    trust_remote_code (bool): Whether to run code that comes with the model.
    RETURNS (Ranker): Its scores are shares in the best score of the document.
    """
    lm = LazyModel(
        model,
        "attention",
        device=device,
        dtype=dtype,
        trust_remote_code=trust_remote_code,
    )
    return _AttentionSeeker(lm, lower, max_length, max_batch_tokens)


class _AttentionRanker:
    """Reads documents, in parts where they are long, and scores their sub-tokens by
    the attention in each part."""

    def __init__(
        self, lm: LazyModel, lower: bool, max_length: int, max_batch_tokens: int
    ) -> None:
        self.lm = lm
        self.lower = lower
        self.max_length = max_length
        self.max_batch_tokens = check_batch(max_batch_tokens)

    def __call__(
        self, docs: Sequence[Doc], candidates: Sequence[List[Candidate]]
    ) -> List[Scores]:
        from ..lm.document import read_document
        from ..lm.encode import (
            attention_maps,
            equal_parts,
            split_body,
            window_length,
        )
        from ..lm.pieces import read_pieces
        from ..lm.spans import score_spans

        encoder = self.lm.get()
        length = window_length(encoder, self.max_length)
        documents = [read_document(d, c, self.lower) for d, c in zip(docs, candidates)]
        read = read_pieces(encoder.tokenizer, [d.text for d in documents])
        tokens = [numpy.zeros(len(pieces)) for pieces in read]
        parts, places = [], []
        for i, pieces in enumerate(read):
            if not documents[i].occurrences:
                continue
            for part, start, end in equal_parts(pieces, length):
                parts.append(part)
                places.append((i, start, end))
        for n, maps in attention_maps(encoder, parts, self.max_batch_tokens):
            i, start, end = places[n]
            own = self._score(maps, parts[n], documents[i]).double().cpu().numpy()
            first = split_body(read[i])[0]
            tokens[i][start:end] = own[first : first + end - start]
        return [
            score_spans(document, pieces, scores, [len(c.mentions) for c in phrases])
            for document, pieces, scores, phrases in zip(
                documents, read, tokens, candidates
            )
        ]

    def _score(
        self, maps: "Tensor", pieces: "Pieces", document: "Document"
    ) -> "Tensor":
        raise NotImplementedError


class _SAMRank(_AttentionRanker):
    def __init__(
        self,
        lm: LazyModel,
        layer: Optional[int],
        head: Optional[int],
        part: Part,
        lower: bool,
        max_length: int,
        max_batch_tokens: int,
    ) -> None:
        super().__init__(lm, lower, max_length, max_batch_tokens)
        self.layer, self.head, self.part = layer, head, part

    def _score(
        self, maps: "Tensor", pieces: "Pieces", document: "Document"
    ) -> "Tensor":
        from ..lm.self_attention import samrank

        for name, wanted, n in (
            ("layer", self.layer, maps.shape[0]),
            ("head", self.head, maps.shape[1]),
        ):
            if wanted is not None and not 0 <= wanted < n:
                raise ValueError(
                    f"The model has {n} {name}s, from 0 to {n - 1}; there is no {name} "
                    f"{wanted}."
                )
        some = maps if self.layer is None else maps[self.layer : self.layer + 1]
        some = some if self.head is None else some[:, self.head : self.head + 1]
        # What closes the text, or begins it, draws attention that says nothing.
        last = len(pieces) - 1
        special = pieces.ends[last] == pieces.starts[last]
        return samrank(some.mean(dim=(0, 1)), self.part, [last if special else 0])


class _AttentionSeeker(_AttentionRanker):
    def _score(
        self, maps: "Tensor", pieces: "Pieces", document: "Document"
    ) -> "Tensor":
        import torch

        from ..lm.self_attention import attention_seeker

        asked = numpy.zeros(len(pieces), dtype=bool)
        for occurrence in document.occurrences:
            span = pieces.find(occurrence.start, occurrence.end)
            if span is not None:
                asked[span[0] : span[1] + 1] = True
        return attention_seeker(maps, torch.from_numpy(asked).to(maps.device))
