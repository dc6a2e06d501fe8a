"""A causal language model that labels candidates: it may say T or F, and nothing
else."""

import json
import warnings
from dataclasses import asdict, dataclass
from itertools import accumulate
from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple, Union

import torch
from torch import Tensor

from ..batches import make_groups, pad_rows
from ..devices import mixed
from ..generation.files import WEIGHTS, save_folder, weights_to_bytes
from ..precision import MixedPrecision
from ..selectors.questions import (
    Answer,
    Asked,
    Failed,
    Labelled,
    Labels,
    Listing,
    Malformed,
    Question,
)
from ..selectors.replies import read_reply
from .answerer import Answerer, label_loss
from .in_turn import label_in_turn
from .lora import adapter_to_bytes, has_adapter
from .prompting import Laid, NoRoom, Prompter
from .reader import Reader

SETTINGS = "settings.json"


@dataclass(frozen=True)
class CausalSettings:
    """How a model reads and learns.

    window (int): Sub-tokens of a question with its labels; documents are cut to fit.
    max_batch_tokens (int): Sub-tokens of one pass in prediction, padding included.
    max_new_tokens (int): Sub-tokens of an answer that is written freely.
    balanced (bool): Whether T and F weigh the same in the loss.
    mixed_precision (MixedPrecision): Whether to compute in 16 bits what bears it;
        see `precision`.
    bundle (bool): Whether all weights are saved, or what was learned only.
    """

    window: int = 2048
    max_batch_tokens: int = 6_000
    max_new_tokens: int = 256
    balanced: bool = True
    mixed_precision: MixedPrecision = False
    bundle: bool = False

    def __post_init__(self) -> None:
        for name in ("window", "max_batch_tokens", "max_new_tokens"):
            if getattr(self, name) < 1:
                raise ValueError(
                    f"{name} is {getattr(self, name)}; it must be 1 or more."
                )


class CausalSelector(Answerer):
    """Labels in sequence or each for itself, and answers that are written freely.

    model (PreTrainedModel): A causal language model of transformers.
    tokenizer (PreTrainedTokenizerFast): Its tokenizer.
    settings (CausalSettings): How it reads and learns.
    """

    def __init__(self, model: Any, tokenizer: Any, settings: CausalSettings) -> None:
        super().__init__()
        # There is no such mark in newer transformers, where all models can.
        if not getattr(model, "_supports_cache_class", True):
            raise ValueError(
                f"A {type(model).__name__} of this version of transformers cannot go "
                "on with what it has read; use a newer version."
            )
        self.model = model
        self.tokenizer = tokenizer
        self.settings = settings
        limit = getattr(model.config, "max_position_embeddings", None)
        window = min(settings.window, limit or settings.window)
        self.prompter = Prompter(tokenizer, window)
        self.reader = Reader(model, self.prompter.labels)
        pad = tokenizer.pad_token_id
        self.pad: int = tokenizer.eos_token_id or 0 if pad is None else pad

    def loss(self, request: Asked) -> Tensor:
        """The mean over documents of the loss of their labels; those without
        candidates, or without room for them, are left out."""
        if request.kept is None:
            raise ValueError("Without labels there is no loss.")
        if not self.settings.bundle and not has_adapter(self.model):
            raise ValueError(
                "What the language model learns would not be saved: give it an adapter "
                "(`lora`), or have all of it saved (`bundle`)."
            )
        losses = []
        parts: List[Tuple[List[Laid], List[Sequence[bool]]]] = [([], []), ([], [])]
        for question, kept in zip(request.questions, request.kept):
            form = question.form
            if not isinstance(form, Labels):
                raise ValueError("Only labels can be learned, not lists.")
            try:
                row = self._lay_out(question)
            except NoRoom:
                continue
            if row.leads:
                parts[form.independent][0].append(row)
                parts[form.independent][1].append(kept)
        with mixed(self.device, self.settings.mixed_precision):
            for independent, (rows, labels) in enumerate(parts):
                if rows:
                    known = None if independent else labels
                    odds = self._label_together(rows, known)
                    losses += [self._loss(*both) for both in zip(odds, labels)]
        if not losses:
            # An adapter's weights have gradients, those of the model have none.
            learned = next(p for p in self.parameters() if p.requires_grad)
            return learned.sum() * 0
        return torch.stack(losses).mean()

    @torch.inference_mode()
    def write(self, request: Asked) -> List[Answer]:
        """Labels with their probabilities; what is written freely as it is read."""
        answers: Dict[int, Answer] = {}
        ways: Dict[str, Dict[int, Laid]] = {"in turn": {}, "together": {}, "freely": {}}
        for i, question in enumerate(request.questions):
            form = question.form
            way = "freely"
            if isinstance(form, Labels):
                way = "together" if form.independent else "in turn"
            try:
                ways[way][i] = self._lay_out(question)
            except NoRoom as error:
                answers[i] = Failed(str(error))
        for way, laid in ways.items():
            numbers = list(laid)
            lengths = [laid[i].length for i in numbers]
            for group in make_groups(lengths, self.settings.max_batch_tokens):
                rows = [laid[numbers[n]] for n in group]
                with mixed(self.device, self.settings.mixed_precision):
                    if way == "freely":
                        forms = [request.questions[numbers[n]].form for n in group]
                        found = self._write_freely(rows, forms)
                    elif way == "in turn":
                        guess = _is_most_kept(answers.values())
                        odds = label_in_turn(
                            rows, self.reader, self.prompter, self.pad, guess
                        )
                        found = [_labelled(own) for own in odds]
                    else:
                        found = [_labelled(own) for own in self._label_together(rows)]
                answers.update(zip((numbers[n] for n in group), found))
        return [answers[i] for i in range(len(request.questions))]

    def label(self, question: Question, kept: Sequence[bool]) -> List[float]:
        """The probabilities of T where the labels before each are known, in one pass.

        question (Question): For labels in sequence.
        kept (Sequence[bool]): The labels.
        """
        (odds,) = self._label_together([self._lay_out(question)], [kept])
        return odds.sigmoid().tolist()

    def to_files(self) -> Dict[str, bytes]:
        """Settings, and what was learned; or the whole model with its tokenizer."""
        settings = json.dumps(asdict(self.settings)).encode()
        if not self.settings.bundle:
            return {SETTINGS: settings, **adapter_to_bytes(self.model)}
        return {
            **save_folder(self.model.config.save_pretrained),
            **save_folder(self.tokenizer.save_pretrained),
            SETTINGS: settings,
            WEIGHTS: weights_to_bytes(self.model, self.saved_as),
        }

    def _lay_out(self, question: Question) -> Laid:
        laid = self.prompter.lay_out(question)
        if laid.n_cut:
            warnings.warn(
                f"A document is longer than the window of {self.prompter.window} "
                f"sub-tokens: the model does not read its last {laid.n_cut}.",
                stacklevel=2,
            )
        return laid

    def _loss(self, odds: Tensor, kept: Sequence[bool]) -> Tensor:
        truth = torch.tensor(kept, device=odds.device)
        return label_loss(odds, truth, self.settings.balanced)

    def _label_together(
        self, rows: Sequence[Laid], known: Optional[Sequence[Sequence[bool]]] = None
    ) -> List[Tensor]:
        """The odds of labels in one pass.

        rows (Sequence[Laid]): The questions.
        known (Optional[Sequence[Sequence[bool]]]): The labels, of which each is seen by
            those after it; without them no label sees others, or what is before them
            but for the prompt.
        """
        flat, places, blocks, wanted = [], [], [], []
        for number, row in enumerate(rows):
            ids, own = list(row.prompt), list(range(len(row.prompt)))
            block = [0] * len(ids)
            for i, lead in enumerate(row.leads):
                more = list(lead)
                wanted.append((number, len(ids) + len(lead) - 1))
                if known is not None and i + 1 < len(row.leads):
                    more.append(self.prompter.labels[0 if known[number][i] else 1])
                first = len(ids) if known is not None else len(row.prompt)
                own += range(first, first + len(more))
                block += [0 if known is not None else i + 1] * len(more)
                ids += more
            flat.append(ids)
            places.append(own)
            blocks.append(block)
        padded, real = pad_rows(flat, self.pad, self.device)
        mask: Tensor = real.long()
        if known is None:
            mask = self._look_apart(pad_rows(blocks, 0, self.device)[0], real)
        at, _ = pad_rows(places, 0, self.device)
        odds = self.reader.odds(self.reader.read(padded, mask, at), wanted)
        ends = list(accumulate(len(row.leads) for row in rows))
        return [odds[a:b] for a, b in zip([0, *ends], ends)]

    def _look_apart(self, blocks: Tensor, real: Tensor) -> Tensor:
        """What each sub-token sees: those before it of the prompt, which is block 0,
        and of its own block."""
        n = blocks.shape[1]
        before = torch.ones((n, n), dtype=torch.bool, device=blocks.device).tril()
        same = blocks[:, None] == blocks[:, :, None]
        seen = before & (same | (blocks == 0)[:, None]) & real[:, None]
        # What is padding sees itself, or there would be no number.
        seen = (seen | torch.eye(n, dtype=torch.bool, device=seen.device))[:, None]
        if self.model.config._attn_implementation == "sdpa":
            return seen
        lowest = torch.finfo(torch.float32).min
        return torch.zeros(seen.shape, device=seen.device).masked_fill(~seen, lowest)

    def _write_freely(
        self, rows: Sequence[Laid], forms: Sequence[Union[Labels, Listing]]
    ) -> List[Answer]:
        """Answers that are written by greedy decoding."""
        longest = max(len(row.prompt) for row in rows)
        # Padding comes first: all go on at the same place.
        padded = [[self.pad] * (longest - len(row.prompt)) + row.prompt for row in rows]
        ids = torch.tensor(padded, device=self.device)
        first = [longest - len(row.prompt) for row in rows]
        mask = torch.arange(longest) >= torch.tensor(first)[:, None]
        written = self.model.generate(
            input_ids=ids,
            attention_mask=mask.long().to(self.device),
            max_new_tokens=self.settings.max_new_tokens,
            do_sample=False,
            pad_token_id=self.pad,
        )[:, longest:]
        answers: List[Answer] = []
        for row, form in zip(written.tolist(), forms):
            text = self.tokenizer.decode(row, skip_special_tokens=True)
            try:
                answers.append(read_reply(text, form))
            except Malformed as error:
                answers.append(Failed(str(error)))
        return answers


def _is_most_kept(answers: Iterable[Answer]) -> bool:
    """Whether most labels of some answers are T, so that others will be, too."""
    labels = [
        k for answer in answers if isinstance(answer, Labelled) for k in answer.kept
    ]
    return 2 * sum(labels) > len(labels)


def _labelled(odds: Tensor) -> Labelled:
    return Labelled((odds >= 0).tolist(), odds.sigmoid().tolist())
