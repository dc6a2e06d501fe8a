"""How generators on a pretrained encoder and decoder, such as T5 and BART, read
documents."""

import json
from abc import abstractmethod
from dataclasses import asdict, dataclass
from importlib import import_module
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence
from zlib import crc32

import torch
from torch import Tensor

from ..batches import make_groups, pad_rows
from ..devices import mixed
from ..precision import MixedPrecision
from .base import Generator, GoldPhrase, Proposal, Request
from .files import WEIGHTS, save_folder, weights_to_bytes

SETTINGS = "settings.json"


@dataclass(frozen=True)
class Seq2SeqSettings:
    """How documents are read and keyphrases are written.

    k (int): Keyphrases that are asked for where the user does not say, where a model
        writes as many as it is asked for.
    beams (int): Sequences that are pursued; 1 is greedy.
    distinct (bool): Whether no keyphrase is written again, where just so many are
        asked for.
    length (int): Sub-tokens that are written at most.
    window (int): Sub-tokens of a document that are read at once, special ones included.
    shuffle (bool): Whether keyphrases are taught in another order each time.
    lowercase (bool): Whether all is read and taught in lower case.
    max_batch_tokens (int): Sub-tokens of documents in one pass in prediction, padding
        included.
    mixed_precision (MixedPrecision): Whether to compute in 16 bits what bears it;
        see `precision`.
    """

    k: int = 10
    distinct: bool = False
    beams: int = 1
    length: int = 256
    window: int = 512
    shuffle: bool = False
    lowercase: bool = False
    max_batch_tokens: int = 8_000
    mixed_precision: MixedPrecision = False

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


class Seq2SeqGenerator(Generator):
    """Reads documents in windows.

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
        lengths = [len(window) for _, window in windows]
        found: Dict[int, List[Proposal]] = {}
        for batch in make_groups(lengths, self.settings.max_batch_tokens):
            with mixed(self.device, self.settings.mixed_precision):
                encoded = self._encode([windows[w][1] for w in batch])
                seeds = [crc32(repr(windows[w][1]).encode()) for w in batch]
                found.update(zip(batch, self.propose(encoded, request.k, seeds)))
        proposals: List[List[Proposal]] = [[] for _ in request.texts]
        for w, (i, _) in enumerate(windows):
            proposals[i].extend(found[w])
        return proposals

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
        ids, real = pad_rows(windows, self.pad, self.device)
        mask = real.long()
        states = self.model.get_encoder()(input_ids=ids, attention_mask=mask)
        return Encoded(states.last_hidden_state, mask)
