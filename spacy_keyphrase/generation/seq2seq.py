"""What generators on a pretrained encoder and decoder, such as T5 and BART, have in
common."""

import json
from abc import abstractmethod
from dataclasses import asdict, dataclass
from importlib import import_module
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple
from zlib import crc32

import torch
from torch import Tensor, nn

from ..devices import mixed
from .base import Generator, GoldPhrase, Proposal, Request
from .files import WEIGHTS, save_folder, weights_to_bytes

SETTINGS = "settings.json"


@dataclass(frozen=True)
class Seq2SeqSettings:
    """How documents are read and keyphrases are written.

    k (int): Keyphrases that are asked for where the user does not say, where a model
        writes as many as it is asked for.
    beams (int): Sequences that are pursued; 1 is greedy.
    length (int): Sub-tokens that are written at most.
    window (int): Sub-tokens of a document that are read at once, special ones included.
    shuffle (bool): Whether keyphrases are taught in another order each time.
    lowercase (bool): Whether all is read and taught in lower case.
    max_batch_tokens (int): Sub-tokens of documents in one pass in prediction, padding
        included.
    mixed_precision (bool): Whether to compute in 16 bits what bears it.
    """

    k: int = 10
    beams: int = 1
    length: int = 256
    window: int = 512
    shuffle: bool = False
    lowercase: bool = False
    max_batch_tokens: int = 8_000
    mixed_precision: bool = False

    def __post_init__(self) -> None:
        for name in ("k", "beams", "length", "window", "max_batch_tokens"):
            if getattr(self, name) < 1:
                raise ValueError(
                    f"{name} is {getattr(self, name)}; it must be 1 or more."
                )


class Encoded(NamedTuple):
    """Documents that were read.

    states (Tensor): Float of shape (docs, length, width).
    mask (Tensor): What is no padding, int of shape (docs, length).
    """

    states: Tensor
    mask: Tensor

    def repeat(self, times: Sequence[int]) -> "Encoded":
        """Each document as often as wanted."""
        n = torch.tensor(times, device=self.mask.device)
        return Encoded(*(part.repeat_interleave(n, dim=0) for part in self))


class Written(NamedTuple):
    """A sequence that was written.

    ids (List[int]): Sub-tokens, the start left out.
    log_p (List[float]): The logarithms of their probabilities.
    """

    ids: List[int]
    log_p: List[float]


class Seq2SeqGenerator(Generator):
    """Reads documents in windows, writes sequences.

    model (PreTrainedModel): With an encoder and a decoder; it is given rows for the
        special sub-tokens.
    tokenizer (PreTrainedTokenizerFast): Its tokenizer; it is given those.
    settings (Seq2SeqSettings): How it reads and writes.
    """

    # Sub-tokens that the sequences need beside those of the model.
    special: Sequence[str] = ()

    def __init__(self, model: Any, tokenizer: Any, settings: Seq2SeqSettings) -> None:
        super().__init__()
        self.model = model
        self.tokenizer = tokenizer
        self.settings = settings
        tokenizer.add_tokens(list(self.special), special_tokens=True)
        rows = model.get_input_embeddings().num_embeddings
        if len(tokenizer) > rows:
            model.resize_token_embeddings(len(tokenizer), mean_resizing=False)
        self.ids_of_special = tokenizer.convert_tokens_to_ids(list(self.special))
        self.start = int(model.config.decoder_start_token_id)
        self.end = int(tokenizer.eos_token_id)
        self.pad = int(tokenizer.pad_token_id)
        # What a checkpoint brings for its own use would change what is written.
        transformers: Any = import_module("transformers")
        model.generation_config = transformers.GenerationConfig()
        for name in ("forced_bos_token_id", "forced_eos_token_id"):
            if hasattr(model.config, name):
                setattr(model.config, name, None)
        probe = tokenizer("a", return_special_tokens_mask=True)
        inside = [i for i, flag in enumerate(probe["special_tokens_mask"]) if not flag]
        self.prefix: List[int] = probe["input_ids"][: inside[0]]
        self.suffix: List[int] = probe["input_ids"][inside[-1] + 1 :]
        limit = getattr(model.config, "max_position_embeddings", None)
        size = min(settings.window, limit or settings.window)
        # The decoder has as many places; one is the start.
        self.length = min(settings.length, (limit or settings.length + 1) - 1)
        self.size = size - len(self.prefix) - len(self.suffix)
        if self.size < 1:
            raise ValueError(
                f"a window of {size} sub-tokens has no room for a document"
            )

    @abstractmethod
    def propose(
        self, encoded: Encoded, k: Optional[int], seeds: Sequence[int]
    ) -> List[List[Proposal]]:
        """The keyphrases of documents in the order in which they are written.

        encoded (Encoded): The documents.
        k (Optional[int]): How many are asked for.
        seeds (Sequence[int]): Of draws, one a document.
        """

    @torch.inference_mode()
    def write(self, request: Request) -> List[List[Proposal]]:
        """Keyphrases in the order in which they are written."""
        windows = [
            (i, window)
            for i, text in enumerate(request.texts)
            for window in self._cut(text)
        ]
        order = sorted(range(len(windows)), key=lambda n: -len(windows[n][1]))
        found: Dict[int, List[Proposal]] = {}
        start = 0
        while start < len(order):
            longest = len(windows[order[start]][1])
            n = max(1, self.settings.max_batch_tokens // longest)
            batch = order[start : start + n]
            start += n
            with mixed(self.device, self.settings.mixed_precision):
                encoded = self._encode([windows[w][1] for w in batch])
                seeds = [crc32(repr(windows[w][1]).encode()) for w in batch]
                found.update(zip(batch, self.propose(encoded, request.k, seeds)))
        proposals: List[List[Proposal]] = [[] for _ in request.texts]
        for w, (i, _) in enumerate(windows):
            proposals[i].extend(found[w])
        return proposals

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
        ids = self.pad_rows(targets)
        real = self.lengths(targets)
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
            ids = self.pad_rows(some)
            part = Encoded(*(x[first : first + 8] for x in encoded))
            log_p = self.logits(part, ids).log_softmax(-1)
            picked = log_p.gather(-1, ids[..., None])[..., 0].tolist()
            scores.extend(own[: len(row)] for own, row in zip(picked, some))
        return scores

    def text(self, ids: Sequence[int]) -> str:
        """The text of sub-tokens, on one line."""
        text: str = self.tokenizer.decode(ids, skip_special_tokens=True)
        return " ".join(text.split())

    def to_files(self) -> Dict[str, bytes]:
        """The model's config and tokenizer, settings, and all weights."""
        return {
            **save_folder(self.model.config.save_pretrained),
            **save_folder(self.tokenizer.save_pretrained),
            SETTINGS: json.dumps(asdict(self.settings)).encode(),
            WEIGHTS: weights_to_bytes(self, self.saved_as),
        }

    def pad_rows(self, rows: Sequence[List[int]]) -> Tensor:
        """Sequences padded to the longest, int of shape (sequences, steps)."""
        length = max(map(len, rows))
        filled = [row + [self.pad] * (length - len(row)) for row in rows]
        return torch.tensor(filled, device=self.device)

    def lengths(self, rows: Sequence[List[int]]) -> Tensor:
        """What of padded sequences is no padding, bool of shape (sequences, steps)."""
        n = torch.tensor([len(row) for row in rows], device=self.device)
        return torch.arange(int(n.max()), device=self.device) < n[:, None]

    def within_window(
        self, text: str, gold: Sequence[GoldPhrase]
    ) -> Sequence[GoldPhrase]:
        """The keyphrases of a text without those that stand behind its first window."""
        if self.settings.lowercase:
            text = text.lower()
        found = self.tokenizer(
            text, add_special_tokens=False, return_offsets_mapping=True, verbose=False
        )
        offsets = found["offset_mapping"]
        n = -(-len(offsets) // self.size)
        if n < 2:
            return gold
        end = offsets[len(offsets) // n - 1][1]
        return [p for p in gold if not p.is_present or p.offsets[0][1] <= end]

    def _labels(self, gold: Sequence[GoldPhrase]) -> List[List[int]]:
        """The sub-tokens of keyphrases, as many as there is room for."""
        labels = [self._ids(phrase.text) for phrase in gold]
        labels = [label for label in labels if label]
        if self.settings.shuffle:
            labels = [labels[i] for i in torch.randperm(len(labels)).tolist()]
        room, kept = self.length, []
        for label in labels:
            room -= len(label) + 2
            if room >= 0:
                kept.append(label)
        return kept

    def _ids(self, text: str) -> List[int]:
        if self.settings.lowercase:
            text = text.lower()
        ids: List[int] = self.tokenizer(text, add_special_tokens=False, verbose=False)[
            "input_ids"
        ]
        # What looks like a special sub-token in a text is none.
        special = {self.start, self.end, self.pad, *self.ids_of_special}
        return [token for token in ids if token not in special]

    def _cut(self, text: str) -> Iterator[List[int]]:
        """The windows of a document with their special sub-tokens."""
        ids = self._ids(text)
        n = -(-len(ids) // self.size)
        for i in range(n):
            part = ids[i * len(ids) // n : (i + 1) * len(ids) // n]
            yield [*self.prefix, *part, *self.suffix]

    def _encode(self, windows: Sequence[List[int]]) -> Encoded:
        ids, mask = self.pad_rows(windows), self.lengths(windows).long()
        states = self.model.get_encoder()(input_ids=ids, attention_mask=mask)
        return Encoded(states.last_hidden_state, mask)


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
