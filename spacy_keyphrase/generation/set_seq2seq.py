"""One2Set on a pretrained encoder and decoder, T5 or BART: each slot has a control code
that is added to the words it reads."""

from typing import Any, List, Optional, Sequence

import torch
from torch import Tensor, nn

from ..devices import mixed
from .base import Proposal, Request
from .pretrained_slots import make_slot_decoder, scale_codes
from .seq2seq import Encoded, Seq2SeqGenerator, Seq2SeqSettings
from .set_model import Memory, Next, Seen, Specials
from .slot_decoding import Decoding, write
from .slots import SlotSettings, slot_loss


class SetSeq2Seq(Seq2SeqGenerator):
    """A pretrained model that writes in slots.

    model (PreTrainedModel): T5 or BART.
    tokenizer (PreTrainedTokenizerFast): Its tokenizer.
    settings (Seq2SeqSettings): How documents are read.
    slots (int): How many slots.
    taught (SlotSettings): How slots are taught.
    decoding (Decoding): How they write.
    """

    special = ("<null>",)

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        settings: Seq2SeqSettings,
        slots: int,
        taught: SlotSettings,
        decoding: Decoding,
    ) -> None:
        super().__init__(model, tokenizer, settings)
        self.decoder = make_slot_decoder(model)
        self.slots = slots
        self.taught = taught
        self.decoding = decoding
        embeddings = model.get_input_embeddings()
        self.control_code = nn.Embedding(slots, embeddings.embedding_dim)
        scale_codes(self.control_code, embeddings)

    @property
    def specials(self) -> Specials:
        """Special words."""
        (null,) = self.ids_of_special
        return Specials(self.pad, self.start, self.end, null, -1)

    def readable(self, words: Tensor) -> Tensor:
        """Words as they are: all are known."""
        return words

    def next(
        self, memory: Memory, words: Tensor, slots: Tensor, steps: Tensor, seen: Seen
    ) -> Next:
        """What comes after words; see `SetTrans.next`. No word is copied."""
        embedded = self.decoder.embed(words) + self.control_code(slots)
        logits = self.decoder.read(
            embedded, steps, memory.keys_values, memory.mask, seen
        ).float()
        docs, rows, _ = logits.shape
        nothing = Memory(memory.mask[:, :0], memory.extended, 0, [])
        generated, copied = logits.new_ones(docs, rows), logits.new_zeros(docs, rows, 0)
        return Next(logits, generated, copied, nothing)

    def loss(self, request: Request) -> Tensor:
        """The loss of One2Set over the first window of each document."""
        if request.gold is None:
            raise ValueError("Without gold keyphrases there is no loss.")
        windows, present, absent = [], [], []
        for text, gold in zip(request.texts, request.gold):
            window = next(self._cut(text), None)
            if window:
                gold = self.within_window(text, gold)
                windows.append(window)
                present.append([self._ids(p.text) for p in gold if p.is_present])
                absent.append([self._ids(p.text) for p in gold if not p.is_present])
        if not windows:
            return self.control_code.weight.sum() * 0
        with mixed(self.device, self.settings.mixed_precision):
            memory = self._remember(self._encode(windows))
            return slot_loss(self, memory, present, absent, self.taught)

    def propose(
        self, encoded: Encoded, k: Optional[int], seeds: Sequence[int]
    ) -> List[List[Proposal]]:
        """What the slots write, the most confident first."""
        written = write(self, self._remember(encoded), self.decoding, seeds)
        return [
            [Proposal(self.text(phrase.words), phrase.confidence) for phrase in doc]
            for doc in written
        ]

    def _remember(self, encoded: Encoded) -> Memory:
        mask = encoded.mask > 0
        empty = torch.zeros((len(mask), 0), dtype=torch.long, device=mask.device)
        return Memory(mask, empty, 0, self.decoder.look_at(encoded.states))
