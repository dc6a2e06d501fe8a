"""What MUDY and PromptRank have in common."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Optional, Sequence, Tuple

import numpy
from spacy.tokens import Doc

from ..candidates import Candidate
from .base import Scores
from .lazy_model import LazyModel, check_batch

if TYPE_CHECKING:
    from ..lm.document import Document
    from ..lm.granular import Granular
    from ..lm.prompt import PromptScorer
    from ..lm.weighting import Weighting

Variant = Literal["default", "paper", "reference"]
Drawn = Literal["full", "aligned", "mixture", "gaussian", "none"]
Attended = Literal["both", "global", "local", "none"]
Blocks = Literal["within", "alone"]
# Sub-tokens of the longest sentence, by and large.
ROOM = 64
# Gamma and lambda: for the T5 family, and for decoder-only models.
Preset = Tuple[Tuple[float, float], Tuple[float, float]]


class PromptRanker:
    """Scores candidates by a prompt and by the attention that they receive; see
    `make_mudy` for the settings."""

    def __init__(
        self,
        model: str,
        *,
        preset: Preset,
        gamma: Optional[float],
        attention_weight: Optional[float],
        weighting: Drawn,
        attention: Attended,
        attention_layer: Optional[int],
        blocks: Blocks,
        variant: Variant,
        after_softmax: bool,
        encoder: Optional[str],
        template: Optional[str],
        lower: bool,
        max_length: Optional[int],
        position_factor: Optional[float],
        max_batch_tokens: int,
        **options: Any,
    ) -> None:
        self.lm = LazyModel(model, "generator", **options)
        self.encoder = LazyModel(encoder, "encoder", **options) if encoder else None
        self.max_batch_tokens = check_batch(max_batch_tokens)
        self.preset = preset
        self.gamma, self.attention_weight = gamma, attention_weight
        self.weighting, self.attention = weighting, attention
        self.attention_layer, self.blocks = attention_layer, blocks
        self.variant, self.after_softmax = variant, after_softmax
        self.template, self.lower, self.max_length = template, lower, max_length
        self.position_factor = position_factor
        self._scorer: Optional[PromptScorer] = None

    def __getstate__(self) -> Dict[str, Any]:
        return {**self.__dict__, "_scorer": None}

    @property
    def scorer(self) -> "PromptScorer":
        if self._scorer is None:
            self._scorer = self._make_scorer()
        return self._scorer

    def __call__(
        self, docs: Sequence[Doc], candidates: Sequence[List[Candidate]]
    ) -> List[Scores]:
        scorer = self.scorer
        from ..lm.document import read_document
        from ..lm.granular import attention_scores, combine

        documents = [read_document(d, c, self.lower) for d, c in zip(docs, candidates)]
        granular = self._granular(scorer.model.has_states)
        one_pass = granular if self.blocks == "within" else None
        scores, attention = scorer.score(documents, one_pass, self.attention_layer)
        if self.position_factor is not None:
            scores = [
                score * position_factors(document, self.position_factor)
                for score, document in zip(scores, documents)
            ]
        if granular is not None:
            if one_pass is None:
                sums = scorer.received(self.attention_layer)
                attention = attention_scores(documents, sums, granular)
            scores = [
                combine(score, own, granular.weight)
                for score, own in zip(scores, attention)
            ]
        return [_collect(s, phrases) for s, phrases in zip(scores, candidates)]

    def _make_scorer(self) -> "PromptScorer":
        loaded = self.lm.get()
        from ..lm.make import make_sentence_model
        from ..lm.prompt import PromptScorer
        from ..lm.sentences import CAUSAL_PROMPT, SEQ2SEQ_PROMPT

        model = make_sentence_model(loaded)
        prompt = SEQ2SEQ_PROMPT if model.has_states else CAUSAL_PROMPT
        if self.template is not None:
            prompt = replace(prompt, template=self.template)
        if self.max_length is not None:
            prompt = replace(prompt, length=self.max_length)
        if not model.has_states:
            # T5 has no end of places; others need room for the sentence.
            places = getattr(loaded.model.config, "max_position_embeddings", None)
            room = (places or prompt.length + ROOM) - ROOM
            prompt = replace(prompt, length=min(prompt.length, max(room, 1)))
        if self.variant == "paper":
            prompt = replace(prompt, whole_window=False)
        return PromptScorer(
            model,
            loaded.tokenizer,
            prompt,
            self._weighting(model.has_states),
            encoder=self.encoder.get() if self.encoder is not None else None,
            truncate=self.variant == "reference",
            max_tokens=self.max_batch_tokens,
        )

    def _weighting(self, seq2seq: bool) -> Optional["Weighting"]:
        from ..lm.weighting import Weighting

        if self.weighting == "none":
            return None
        gamma = self.preset[not seq2seq][0] if self.gamma is None else self.gamma
        settings = Weighting(gamma=gamma, after_softmax=self.after_softmax)
        if not seq2seq:
            settings = replace(settings, max_sigma=8.0)
        if self.weighting in ("aligned", "gaussian"):
            settings = replace(settings, neighbours=())
        if self.weighting in ("mixture", "gaussian"):
            settings = replace(settings, top=0)
        if self.weighting in ("aligned", "gaussian") or self.variant == "paper":
            settings = replace(settings, threshold=0.0)
        if self.variant == "reference":
            last = 500 if seq2seq else 780
            settings = replace(
                settings, padded=30 if seq2seq else 0, truncated_neighbours=(1, last)
            )
        return settings

    def _granular(self, seq2seq: bool) -> Optional["Granular"]:
        from ..lm.granular import Granular

        if self.attention == "none":
            return None
        weight = self.attention_weight
        weight = self.preset[not seq2seq][1] if weight is None else weight
        settings = Granular(weight=weight, part=self.attention)
        if self.variant == "paper":
            settings = replace(settings, limit=float("inf"), mean=False)
        if self.variant == "reference":
            settings = replace(settings, short_last_block=True)
        return settings if weight else None


def position_factors(document: "Document", beta: float) -> numpy.ndarray:
    """PromptRank's factor of each occurrence, place / length + beta / length ** 3, in
    units of the factor at the beginning; the smaller the better."""
    length = len(document.text.split())
    places = numpy.array([occurrence.place for occurrence in document.occurrences])
    factors: numpy.ndarray = 1 + places * length**2 / beta
    return factors


def _collect(scores: numpy.ndarray, candidates: Sequence[Candidate]) -> Scores:
    """Scores below 0 as such between 0 and 1."""
    values = (1 / (1 - scores)).tolist()
    mentions, first = [], 0
    for candidate in candidates:
        n = len(candidate.mentions)
        mentions.append(values[first : first + n])
        first += n
    return Scores([max(own) for own in mentions], mentions)
