"""What generators have in common that write sequences with a pretrained encoder and
decoder."""

from abc import abstractmethod
from importlib import import_module
from typing import Any, Iterator, List, NamedTuple, Sequence, Tuple

import torch
from torch import Tensor, nn

from ..batches import pad_rows
from ..devices import mixed
from .base import GoldPhrase, Request
from .seq2seq import Encoded, Seq2SeqGenerator


class Written(NamedTuple):
    """A sequence that was written.

    ids (List[int]): Sub-tokens, the start left out.
    log_p (List[float]): The logarithms of their probabilities.
    """

    ids: List[int]
    log_p: List[float]


class SequenceGenerator(Seq2SeqGenerator):
    """Is taught keyphrases in sequences."""

    @abstractmethod
    def teach(self, encoded: Encoded, labels: List[List[List[int]]]) -> Tensor:
        """The loss of documents, a number.

        encoded (Encoded): The documents.
        labels (List[List[List[int]]]): Of each the sub-tokens of each keyphrase.
        """

    def loss(self, request: Request) -> Tensor:
        """The loss over the first window of each document."""
        if request.gold is None:
            raise ValueError("Without gold keyphrases there is no loss.")
        windows, labels = [], []
        for text, gold in zip(request.texts, request.gold):
            window = next(self._cut(text), None)
            own = self._labels(self.within_window(text, gold))
            if window and own:
                windows.append(window)
                labels.append(own)
        if not windows:
            nothing: Tensor = self.model.get_input_embeddings().weight.sum() * 0
            return nothing
        with mixed(self.device, self.settings.mixed_precision):
            return self.teach(self._encode(windows), labels)

    def logits(self, encoded: Encoded, ids: Tensor) -> Tensor:
        """What may stand at each place of sequences that are known: float of shape
        (sequences, steps, vocabulary).

        encoded (Encoded): The documents, one for each sequence.
        ids (Tensor): The sequences, int of shape (sequences, steps).
        """
        inputs = ids.roll(1, dims=1)
        inputs[:, 0] = self.start
        outputs = self.model(
            encoder_outputs=(encoded.states,),
            attention_mask=encoded.mask,
            decoder_input_ids=inputs,
            use_cache=False,
        )
        logits: Tensor = outputs.logits
        return logits.float()

    def cross_entropy(self, encoded: Encoded, targets: List[List[int]]) -> Tensor:
        """The mean over the sub-tokens of sequences, one for each document."""
        ids, real = pad_rows(targets, self.pad, self.device)
        logits = self.logits(encoded, ids)
        return nn.functional.cross_entropy(logits[real], ids[real])

    def generate(
        self,
        encoded: Encoded,
        length: int,
        beams: int,
        processors: Sequence[Any] = (),
        sequences: int = 1,
        **options: Any,
    ) -> List[List[Written]]:
        """Write sequences.

        encoded (Encoded): The documents.
        length (int): Sub-tokens at most.
        beams (int): How many sequences are pursued.
        processors (Sequence[Any]): What changes the scores of sub-tokens.
        sequences (int): How many of each document are wanted.
        RETURNS (List[List[Written]]): Of each document its sequences, the likeliest
            first.
        """
        transformers: Any = import_module("transformers")
        config = transformers.GenerationConfig(
            max_new_tokens=length,
            num_beams=beams,
            num_return_sequences=sequences,
            do_sample=False,
            decoder_start_token_id=self.start,
            eos_token_id=self.end,
            pad_token_id=self.pad,
            **options,
        )
        outputs = transformers.modeling_outputs.BaseModelOutput
        ids = self.model.generate(
            encoder_outputs=outputs(last_hidden_state=encoded.states),
            attention_mask=encoded.mask,
            generation_config=config,
            logits_processor=transformers.LogitsProcessorList(processors),
        )[:, 1:]
        rows = [self._until_end(row) for row in ids.tolist()]
        scores = self._score(encoded.repeat([sequences] * len(encoded.mask)), rows)
        written = [Written(row, own) for row, own in zip(rows, scores)]
        return [written[i : i + sequences] for i in range(0, len(written), sequences)]

    def _until_end(self, row: List[int]) -> List[int]:
        """What is written, the end included."""
        return row[: row.index(self.end) + 1] if self.end in row else row

    def _score(self, encoded: Encoded, rows: List[List[int]]) -> List[List[float]]:
        """The logarithms of the probabilities of sequences."""
        scores: List[List[float]] = []
        # The logits of all would be large.
        for first in range(0, len(rows), 8):
            some = rows[first : first + 8]
            ids, _ = pad_rows(some, self.pad, self.device)
            part = Encoded(*(x[first : first + 8] for x in encoded))
            log_p = self.logits(part, ids).log_softmax(-1)
            picked = log_p.gather(-1, ids[..., None])[..., 0].tolist()
            scores.extend(own[: len(row)] for own, row in zip(picked, some))
        return scores

    def _labels(self, gold: Sequence[GoldPhrase]) -> List[List[int]]:
        """The sub-tokens of keyphrases."""
        labels = [self._ids(phrase.text) for phrase in gold]
        labels = [label for label in labels if label]
        if self.settings.shuffle:
            labels = [labels[i] for i in torch.randperm(len(labels)).tolist()]
        return self.fit(labels)

    def fit(self, labels: List[List[int]]) -> List[List[int]]:
        """Those of a document's labels that there is room for."""
        room, kept = self.length, []
        for label in labels:
            room -= len(label) + 2
            if room >= 0:
                kept.append(label)
        return kept


def phrase_score(log_p: Sequence[float]) -> float:
    """The geometric mean of the probabilities of a phrase's sub-tokens."""
    mean = sum(log_p) / max(len(log_p), 1)
    return float(torch.tensor(mean).exp())


Pairs = Iterator[Tuple[List[int], List[float]]]


def split_at(written: Written, separators: Sequence[int]) -> Pairs:
    """The parts of a sequence that some sub-tokens end; empty ones are left out, and
    what has no end, where there was no room for it."""
    ids: List[int] = []
    log_p: List[float] = []
    for token, value in zip(*written):
        if token in separators:
            if ids:
                yield ids, log_p
            ids, log_p = [], []
        else:
            ids.append(token)
            log_p.append(value)
