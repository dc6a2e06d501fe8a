"""An encoder that reads a document with each candidate, and labels it for itself."""

import json
from dataclasses import asdict, dataclass
from typing import Any, Dict, List, Tuple

import torch
from torch import Tensor

from ..batches import make_groups, pad_rows
from ..devices import mixed
from ..generation.files import WEIGHTS, save_folder, weights_to_bytes
from ..precision import MixedPrecision
from ..selectors.questions import Answer, Asked, Failed, Labelled, Labels, Question
from .answerer import Answerer, label_loss

SETTINGS = "settings.json"


@dataclass(frozen=True)
class CrossEncoderSettings:
    """How a cross-encoder reads and learns.

    window (int): Sub-tokens of a document with a candidate, special ones included;
        documents are cut to fit.
    max_batch_tokens (int): Sub-tokens of one pass in prediction, padding included.
    balanced (bool): Whether T and F weigh the same in the loss.
    mixed_precision (MixedPrecision): Whether to compute in 16 bits what bears it;
        see `precision`.
    """

    window: int = 512
    max_batch_tokens: int = 6_000
    balanced: bool = True
    mixed_precision: MixedPrecision = False

    def __post_init__(self) -> None:
        if self.window < 8 or self.max_batch_tokens < 1:
            raise ValueError(
                f"window is {self.window}, max_batch_tokens {self.max_batch_tokens}; "
                "a window is 8 or more, a batch 1."
            )


class CrossEncoder(Answerer):
    """Scores pairs of a candidate and its document.

    model (PreTrainedModel): A model of transformers for the classification of
        sequences, with one output.
    tokenizer (PreTrainedTokenizerFast): Its tokenizer.
    settings (CrossEncoderSettings): How it reads and learns.
    """

    def __init__(
        self, model: Any, tokenizer: Any, settings: CrossEncoderSettings
    ) -> None:
        super().__init__()
        self.model = model
        self.tokenizer = tokenizer
        self.settings = settings
        limit = tokenizer.model_max_length
        self.window = min(settings.window, limit or settings.window)
        self.pad: int = tokenizer.pad_token_id or 0

    def loss(self, request: Asked) -> Tensor:
        """The mean over documents of the loss of their labels."""
        if request.kept is None:
            raise ValueError("Without labels there is no loss.")
        pairs, ends = self._pairs(request)
        if not pairs:
            return next(self.parameters()).sum() * 0
        with mixed(self.device, self.settings.mixed_precision):
            odds = self._score(pairs)
        losses = [
            label_loss(
                odds[start:end],
                torch.tensor(kept, device=odds.device),
                self.settings.balanced,
            )
            for (start, end), kept in zip(ends, request.kept)
            if end > start
        ]
        return torch.stack(losses).mean()

    @torch.inference_mode()
    def write(self, request: Asked) -> List[Answer]:
        """Labels with their probabilities."""
        pairs, ends = self._pairs(request)
        odds = torch.zeros(len(pairs))
        lengths = [len(ids) for ids, _ in pairs]
        for group in make_groups(lengths, self.settings.max_batch_tokens):
            with mixed(self.device, self.settings.mixed_precision):
                found = self._score([pairs[i] for i in group])
            odds[group] = found.cpu()
        return [
            Labelled(
                (odds[start:end] >= 0).tolist(), odds[start:end].sigmoid().tolist()
            )
            if isinstance(question.form, Labels)
            else Failed("a cross-encoder gives labels only")
            for question, (start, end) in zip(request.questions, ends)
        ]

    def to_files(self) -> Dict[str, bytes]:
        """The model's config and tokenizer, settings, and all weights."""
        return {
            **save_folder(self.model.config.save_pretrained),
            **save_folder(self.tokenizer.save_pretrained),
            SETTINGS: json.dumps(asdict(self.settings)).encode(),
            WEIGHTS: weights_to_bytes(self.model, self.saved_as),
        }

    def _pairs(
        self, request: Asked
    ) -> Tuple[List[Tuple[List[int], List[int]]], List[Tuple[int, int]]]:
        """The pairs of all questions as sub-tokens with their segments, and from where
        to where those of each question are."""
        pairs: List[Tuple[List[int], List[int]]] = []
        ends = []
        for question in request.questions:
            start = len(pairs)
            if isinstance(question.form, Labels):
                pairs.extend(self._encode(question))
            ends.append((start, len(pairs)))
        return pairs, ends

    def _encode(self, question: Question) -> List[Tuple[List[int], List[int]]]:
        found = self.tokenizer(
            list(question.candidates),
            [question.text] * len(question.candidates),
            # A candidate as long as the window leaves nothing of the document.
            truncation="longest_first",
            max_length=self.window,
            return_token_type_ids=True,
            verbose=False,
        )
        return list(zip(found["input_ids"], found["token_type_ids"]))

    def _score(self, pairs: List[Tuple[List[int], List[int]]]) -> Tensor:
        ids, real = pad_rows([ids for ids, _ in pairs], self.pad, self.device)
        options: Dict[str, Tensor] = {}
        if "token_type_ids" in self.tokenizer.model_input_names:
            segments, _ = pad_rows([own for _, own in pairs], 0, self.device)
            options["token_type_ids"] = segments
        outputs = self.model(input_ids=ids, attention_mask=real.long(), **options)
        logits: Tensor = outputs.logits[:, 0]
        return logits.float()
