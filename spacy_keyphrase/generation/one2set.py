"""One2Set: SetTrans with the words that it knows (Ye et al. 2021)."""

import json
from dataclasses import asdict, dataclass
from typing import Dict, Iterator, List, Mapping, Sequence, Tuple
from zlib import crc32

import torch
from torch import Tensor

from ..batches import make_groups, pad_rows
from ..devices import mixed
from ..precision import MixedPrecision
from .base import Generator, Proposal, Request
from .files import WEIGHTS, weights_from_bytes, weights_to_bytes
from .set_model import Memory
from .settrans import SetTrans
from .settrans_layers import SetTransSettings
from .slot_decoding import Decoding, Written, write
from .slots import SlotSettings, slot_loss
from .vocabulary import (
    PAD,
    SPECIAL,
    Numbered,
    Vocabulary,
    read_document,
    read_phrase,
)

SETTINGS, WORDS = "settings.json", "words.txt"
# What a saved model need not have in common with the config.
_FREE = ("dropout", "attention_dropout")


@dataclass(frozen=True)
class Windows:
    """How documents go through the network.

    size (int): Words that are read at once; longer documents are cut.
    max_words (int): Words of one pass, padding included.
    mixed_precision (MixedPrecision): Whether to compute in 16 bits what bears it;
        see `precision`.
    """

    size: int = 400
    max_words: int = 16_000
    mixed_precision: MixedPrecision = False

    def __post_init__(self) -> None:
        if self.size < 1 or self.max_words < 1:
            raise ValueError(
                f"window is {self.size}, max_batch_words {self.max_words}; both "
                "must be 1 or more."
            )


class One2Set(Generator):
    """A set of keyphrases, present and absent ones from slots of their own.

    network (SetTrans): The network.
    vocabulary (Vocabulary): Its words.
    slots (SlotSettings): How slots are taught.
    decoding (Decoding): How they write.
    windows (Windows): How documents go through it.
    """

    def __init__(
        self,
        network: SetTrans,
        vocabulary: Vocabulary,
        slots: SlotSettings,
        decoding: Decoding,
        windows: Windows,
    ) -> None:
        super().__init__()
        self.network = network
        self.vocabulary = vocabulary
        self.slots = slots
        self.decoding = decoding
        self.windows = windows

    def loss(self, request: Request) -> Tensor:
        """The loss of One2Set over the first window of each document."""
        if request.gold is None:
            raise ValueError("Without gold keyphrases there is no loss.")
        docs, present, absent = [], [], []
        for text, gold in zip(request.texts, request.gold):
            words = read_document(text)
            cut = len(words) > self.windows.size
            doc = self.vocabulary.number(words[: self.windows.size])
            if not doc.ids:
                continue
            docs.append(doc)
            halves: Tuple[List[List[int]], ...] = [], []
            for phrase in gold:
                tokens = read_phrase(phrase.text)
                ids = self.vocabulary.number_phrase(tokens, doc.extra)
                if phrase.is_present and cut and not _within(ids, doc.extended):
                    continue
                halves[0 if phrase.is_present else 1].append(ids)
            present.append(halves[0])
            absent.append(halves[1])
        if not docs:
            return self.network.embed.weight.sum() * 0
        with mixed(self.device, self.windows.mixed_precision):
            memory = self._encode(docs)
            return slot_loss(self.network, memory, present, absent, self.slots)

    @torch.inference_mode()
    def write(self, request: Request) -> List[List[Proposal]]:
        """What the slots write, the most confident first."""
        windows = [
            (i, self.vocabulary.number(words), crc32(" ".join(words).encode()))
            for i, text in enumerate(request.texts)
            for words in self._cut(read_document(text))
        ]
        lengths = [len(doc.ids) for _, doc, _ in windows]
        found: Dict[int, List[Written]] = {}
        for numbers in make_groups(lengths, self.windows.max_words):
            with mixed(self.device, self.windows.mixed_precision):
                memory = self._encode([windows[n][1] for n in numbers])
                seeds = [windows[n][2] for n in numbers]
                written = write(self.network, memory, self.decoding, seeds)
            found.update(zip(numbers, written))
        proposals: List[List[Proposal]] = [[] for _ in request.texts]
        for n, (i, doc, _) in enumerate(windows):
            for phrase in found[n]:
                # A word that is not known could not be shown.
                if min(phrase.words) >= len(SPECIAL):
                    text = " ".join(self.vocabulary.texts(phrase.words, doc.extra))
                    proposals[i].append(Proposal(text, phrase.confidence))
        return proposals

    def to_files(self) -> Dict[str, bytes]:
        """Sizes, words and weights."""
        return {
            SETTINGS: json.dumps(asdict(self.network.settings)).encode(),
            WORDS: "\n".join(self.vocabulary.words[len(SPECIAL) :]).encode(),
            WEIGHTS: weights_to_bytes(self.network, self.saved_as),
        }

    def _encode(self, docs: Sequence[Numbered]) -> Memory:
        ids, mask = pad_rows([doc.ids for doc in docs], PAD, self.device)
        extended, _ = pad_rows([doc.extended for doc in docs], PAD, self.device)
        return self.network.encode(ids, extended, mask)

    def _cut(self, words: List[str]) -> Iterator[List[str]]:
        """Windows of about the same size, as few as are needed."""
        n = -(-len(words) // self.windows.size)
        for i in range(n):
            yield words[i * len(words) // n : (i + 1) * len(words) // n]


def load_settrans(
    files: Mapping[str, bytes], settings: SetTransSettings
) -> Tuple[SetTrans, Vocabulary]:
    """A network and its words from what `to_files` returned.

    files (Mapping[str, bytes]): The contents of the files.
    settings (SetTransSettings): The sizes that the config asks for; the number of words
        is that of the files.
    RAISES: ValueError where they are not those of the files.
    """
    saved = json.loads(files[SETTINGS])
    asked = {**asdict(settings), "vocabulary": saved["vocabulary"]}
    for name, value in asked.items():
        if name not in _FREE and saved.get(name) != value:
            raise ValueError(
                f"the saved model has {name} {saved.get(name)}, the config {value}"
            )
    words = files[WORDS].decode()
    vocabulary = Vocabulary(words.split("\n") if words else [])
    if len(vocabulary) != saved["vocabulary"]:
        raise ValueError(
            f"the saved model has {saved['vocabulary']} words, its list of words "
            f"{len(vocabulary)}"
        )
    network = SetTrans(SetTransSettings(**asked))
    weights_from_bytes(network, files[WEIGHTS])
    return network, vocabulary


def _within(phrase: List[int], words: List[int]) -> bool:
    """Whether words are there in a row."""
    n = len(phrase)
    return any(words[i : i + n] == phrase for i in range(len(words) - n + 1))
