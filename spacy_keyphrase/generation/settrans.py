"""SetTrans: a set of keyphrases at once, each from a slot with its own control code
(One2Set, Ye et al. 2021, section 3)."""

from torch import Tensor, nn

from .set_model import Memory, Next, Seen, Specials
from .settrans_layers import Decoder, Encoder, SetTransSettings
from .vocabulary import BEGIN, END, NULL, PAD, UNKNOWN


class SetTrans(nn.Module):
    """Encoder and decoder, with words copied from the document.

    settings (SetTransSettings): Sizes.
    """

    def __init__(self, settings: SetTransSettings) -> None:
        super().__init__()
        self.settings = settings
        self.embed = nn.Embedding(settings.vocabulary, settings.width, padding_idx=0)
        self.encoder = Encoder(settings)
        self.decoder = Decoder(settings)
        nn.init.uniform_(self.embed.weight, -0.1, 0.1)
        if settings.tied:
            self.decoder.output_layer.weight = self.embed.weight

    @property
    def slots(self) -> int:
        """How many slots there are."""
        return self.settings.slots

    @property
    def specials(self) -> Specials:
        """Special words."""
        return Specials(PAD, BEGIN, END, NULL, UNKNOWN)

    def readable(self, words: Tensor) -> Tensor:
        """Words as they are read: those outside the vocabulary are unknown."""
        return words.masked_fill(words >= self.settings.vocabulary, UNKNOWN)

    def encode(self, ids: Tensor, extended: Tensor, mask: Tensor) -> Memory:
        """Read documents.

        ids (Tensor): Words, int of shape (docs, length).
        extended (Tensor): The same, those outside the vocabulary numbered behind it.
        mask (Tensor): What is no padding, bool.
        """
        states = self.encoder(self.embed(ids), mask)
        n_extra = max(int(extended.max()) + 1 - self.settings.vocabulary, 0)
        return Memory(mask, extended, n_extra, self.decoder.look_at(states))

    def next(
        self, memory: Memory, words: Tensor, slots: Tensor, steps: Tensor, seen: Seen
    ) -> "Next":
        """What comes after words.

        memory (Memory): The documents.
        words (Tensor): The words, int of shape (docs, words); those outside the
            vocabulary are unknown words.
        slots (Tensor): The slot of each, int of the same shape or of shape (words,).
        steps (Tensor): Its place there, int of such a shape.
        seen (Seen): What is before each.
        """
        states, copied = self.decoder(
            self.embed(words), slots, steps, memory.keys_values, memory.mask, seen
        )
        return Next(
            logits=self.decoder.output_layer(states).float(),
            generate=self.decoder.p_gen_linear(states).float().sigmoid()[..., 0],
            copied=copied.float(),
            memory=memory,
        )
