"""Decoder-only models: a document is read once, and all its candidates go through the
model together, each seeing the document and what of its own sentence is before."""

import inspect
from dataclasses import dataclass
from importlib import import_module
from typing import Any, List, Optional, Sequence, Set, Tuple

import torch
from torch import Tensor

from .attention import After, Before, install, looking
from .packed import Packed, make_rows
from .sentences import Sentence


@dataclass(frozen=True)
class Past:
    """A document that was read.

    cache (Any): Keys and values, of transformers.
    length (int): Sub-tokens.
    """

    cache: Any
    length: int


# What a model is tried with.
_DOCUMENT, _FIRST, _SECOND = [5, 6, 7, 8, 9, 10], [11, 12, 13, 14], [15, 16, 17]


class _Found(Exception):
    """What was looked for; no need to go on."""

    def __init__(self, sums: Tensor) -> None:
        super().__init__()
        self.sums = sums


class Causal:
    """Scores sentences that go on with a document.

    model (Any): A causal language model of transformers.
    """

    def __init__(self, model: Any) -> None:
        self.model = model.eval()
        self._keeps = "logits_to_keep" in inspect.signature(model.forward).parameters
        expected = self._alone()
        self._has_attention = install(model)
        self._check_packing(expected)

    @torch.inference_mode()
    def _alone(self) -> Tensor:
        """Scores of the vocabulary after the last of a few sub-tokens."""
        ids = torch.tensor([[*_DOCUMENT, *_SECOND]], device=self.device)
        logits: Tensor = self.model(ids).logits[0, -1]
        return logits

    @torch.inference_mode()
    def _check_packing(self, expected: Tensor) -> None:
        """See whether sentences can be packed behind a document: some models cannot be
        told what a sub-token sees, and where it stands."""
        seen: Set[int] = set()

        def after(layer: int, _: Tensor, weights: Tensor) -> Tensor:
            seen.add(layer)
            return weights

        sentences = [
            Sentence(ids, 1, len(ids), len(ids) - 1, len(ids))
            for ids in (_FIRST, [*_SECOND, _SECOND[-1]])
        ]
        (packed,) = make_rows(sentences, 64, self.device)
        name = type(self.model).__name__
        try:
            past, _ = self.read(_DOCUMENT)
            found = self.score(past, packed, after=after)[-1]
        except Exception as error:
            raise ValueError(
                f"A {name} cannot read a document and then many sentences at once: "
                f"{error}"
            ) from error
        self._has_attention = self._has_attention and len(seen) == self.n_layers
        chance = expected.float().log_softmax(dim=-1)[_SECOND[-1]]
        close = 1e-3 if expected.dtype == torch.float32 else 0.3
        if abs(float(found) - float(chance)) > close:
            raise ValueError(
                f"A {name} cannot read a document and then many sentences at once: it "
                "does not take places or masks as they are given, as models with ALiBi."
            )

    @property
    def device(self) -> torch.device:
        return self.model.device  # type: ignore[no-any-return]

    def read(
        self, ids: Sequence[int], layer: Optional[int] = None
    ) -> Tuple[Past, Optional[Tensor]]:
        """Read a document.

        ids (Sequence[int]): Its sub-tokens, with what is before the sentences.
        layer (Optional[int]): Whose attention is wanted, from 0.
        RETURNS (Tuple[Past, Optional[Tensor]]): The document, and the attention of the
            layer, averaged over the heads, float of shape (length, length).
        """
        transformers: Any = import_module("transformers")
        if layer is not None:
            self._check(layer)
        places = torch.arange(len(ids), device=self.device)
        mask = self._mask(places[None] <= places[:, None])
        cache = transformers.DynamicCache()
        attention: List[Tensor] = []

        def after(at: int, _: Tensor, weights: Tensor) -> Tensor:
            if at == layer:
                attention.append(weights[0].float().mean(dim=0))
            return weights

        with looking(after=after):
            self.model.base_model(
                input_ids=torch.tensor([list(ids)], device=self.device),
                attention_mask=mask,
                position_ids=places[None],
                past_key_values=cache,
                use_cache=True,
            )
        return Past(cache, len(ids)), attention[0] if attention else None

    @property
    def n_layers(self) -> int:
        """How many layers the model has."""
        return int(self.model.config.num_hidden_layers)

    def column_sums(self, ids: Sequence[int], layer: int) -> Tensor:
        """What each sub-token of a text receives of self-attention: that of others to
        it, averaged over the heads and added up (eq. 9).

        ids (Sequence[int]): The sub-tokens.
        layer (int): The layer looked at, from 0.
        RETURNS (Tensor): Float of shape (length,).
        """
        self._check(layer)
        places = torch.arange(len(ids), device=self.device)

        def after(at: int, _: Tensor, weights: Tensor) -> Tensor:
            if at == layer:
                raise _Found(weights[0].float().mean(dim=0).sum(dim=0))
            return weights

        try:
            with looking(after=after):
                self.model.base_model(
                    input_ids=torch.tensor([list(ids)], device=self.device),
                    attention_mask=self._mask(places[None] <= places[:, None]),
                    position_ids=places[None],
                    use_cache=False,
                )
        except _Found as found:
            return found.sums
        raise ValueError(f"{type(self.model).__name__} has no attention at {layer}.")

    def _check(self, layer: int) -> None:
        self.check_attention()
        if not 0 <= layer < self.n_layers:
            raise ValueError(
                f"The model has {self.n_layers} layers; there is no layer {layer}."
            )

    def check_attention(self) -> None:
        """Raise a ValueError if the model's attention cannot be seen and changed."""
        if not self._has_attention:
            raise ValueError(
                f"The attention of a {type(self.model).__name__} can be neither seen "
                "nor changed. PromptRank does without, and so does MUDY with "
                "weighting='none' and attention='none'."
            )

    def score(
        self,
        past: Past,
        packed: Packed,
        before: Optional[Before] = None,
        after: Optional[After] = None,
    ) -> Tensor:
        """The log-probabilities of what is scored.

        past (Past): The document.
        packed (Packed): Sentences that go on with it.
        before, after (Optional[Callable]): Change attention; see `attention.looking`.
        RETURNS (Tensor): Float of shape (scored,).
        """
        document = packed.seen.new_ones((len(packed.ids), past.length))
        seen = torch.cat([document, packed.seen], dim=1)
        nodes, places = torch.unique(packed.at, return_inverse=True)
        with looking(before, after):
            logits = self._go_on(past, packed.ids, packed.places, seen, nodes)
        return logits[places, packed.targets] - logits.logsumexp(dim=1)[places]

    def _go_on(
        self, past: Past, ids: Tensor, places: Tensor, seen: Tensor, at: Tensor
    ) -> Tensor:
        """Scores of the vocabulary after some of the sub-tokens that follow a
        document, which is left as it was.

        places (Tensor): Of each sub-token, behind the document.
        seen (Tensor): What each sub-token sees, of the document and of the others.
        at (Tensor): After which ones.
        """
        try:
            return self._logits(
                at,
                input_ids=ids[None],
                attention_mask=self._mask(seen.to(self.device)),
                position_ids=(past.length + places)[None].to(self.device),
                past_key_values=past.cache,
                use_cache=True,
            )
        finally:
            past.cache.crop(past.length - past.cache.get_seq_length())

    def _logits(self, at: Tensor, **inputs: Any) -> Tensor:
        """Scores of the vocabulary, only where they are wanted."""
        if self._keeps:
            output = self.model(**inputs, logits_to_keep=at)
            logits: Tensor = output.logits[0]
        else:
            logits = self.model(**inputs).logits[0, at]
        return logits.float()

    def _mask(self, seen: Tensor) -> Tensor:
        """As it is added to the scores, float of shape (1, 1, places, places)."""
        dtype = next(self.model.parameters()).dtype
        mask = torch.zeros(seen.shape, dtype=dtype, device=seen.device)
        return mask.masked_fill(~seen, torch.finfo(dtype).min)[None, None]
