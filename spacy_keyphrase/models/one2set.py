"""The architecture of One2Set."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Mapping

from spacy.util import registry

from ..precision import MixedPrecision
from ..training.assignment import Assignment
from .generator import GeneratorModel, Lessons, build_generator
from .wrapped import need_libraries

if TYPE_CHECKING:
    from ..generation.one2set import One2Set, Windows
    from ..generation.settrans import SetTrans
    from ..generation.slot_decoding import Decoding
    from ..generation.slots import SlotSettings
    from ..generation.vocabulary import Vocabulary

NAME = "spacy_keyphrase.SetTrans.v1"


@registry.architectures(NAME)  # type: ignore[untyped-decorator]
def build_settrans(
    assignment: Assignment,
    vocabulary_size: int = 50_000,
    width: int = 512,
    heads: int = 8,
    inner: int = 2048,
    encoder_layers: int = 6,
    decoder_layers: int = 6,
    slots: int = 20,
    dropout: float = 0.1,
    attention_dropout: float = 0.1,
    tied: bool = False,
    length: int = 6,
    assign_by: int = 2,
    null_present: float = 0.2,
    null_absent: float = 0.1,
    beams: int = 1,
    samples: int = 0,
    temperature: float = 1.0,
    repeats: bool = False,
    window: int = 400,
    max_batch_words: int = 16_000,
    mixed_precision: MixedPrecision = False,
) -> GeneratorModel:
    """A set of keyphrases at once, each from a slot with its own control code, trained
    from scratch: One2Set (Ye et al. 2021), with optimal transport that of "ONE2SET +
    Large Language Model" (2024). The first half of the slots writes present keyphrases,
    the other absent ones. Defaults are those of the papers.

    assignment (Assignment): Which slot is taught which keyphrase:
        `spacy_keyphrase.Hungarian.v1` or `spacy_keyphrase.OptimalTransport.v1`.
    vocabulary_size (int): Words that are known, seven special ones included: the most
        frequent ones of the training corpus, or fewer if the file given to
        `initialize` has fewer. Other words can be copied from a document.
    width, heads, inner, encoder_layers, decoder_layers (int): Sizes of the network.
    slots (int): Keyphrases that can be written; an even number.
    dropout (float): In training, everywhere in the network; that of `[training]` is not
        used.
    attention_dropout (float): Of the weights of attention. 0 makes training twice as
        fast on a CPU.
    tied (bool): Whether words have one vector where they are read and where they are
        written, which halves a small model.
    length (int): Words of a slot, the end included; longer keyphrases are not taught.
    assign_by (int): By how many first words of a slot it is assigned a keyphrase.
    null_present, null_absent (float): Weight of "no keyphrase" in the loss of either
        half.
    beams (int): Phrases that each slot writes, the likeliest ones. More of them raise
        recall for a pipe that selects.
    samples (int): Phrases that each slot draws besides, at a `temperature`.
    repeats (bool): Whether a word may follow itself in a phrase, as in the paper. A
        small model writes "data data" otherwise.
    window (int): Words that are read at once. Longer documents are read window by
        window; in training the first one is read.
    max_batch_words (int): Words of one pass in prediction, padding included.
    mixed_precision (MixedPrecision): Compute in 16 bits what bears it; "auto" where
        that is faster: on a GPU, and on CPUs that gain by it.
    RAISES: ImportError without torch or safetensors; ValueError at settings that are
        out of range.
    """
    need_libraries(NAME)
    from ..generation.one2set import Windows
    from ..generation.slot_decoding import Decoding
    from ..generation.slots import SlotSettings
    from ..generation.vocabulary import SPECIAL

    if slots < 2 or slots % 2:
        raise ValueError(f"slots is {slots}; it must be an even number of 2 or more.")
    for name, value in (
        ("vocabulary_size", vocabulary_size - len(SPECIAL)),
        ("encoder_layers", encoder_layers),
        ("decoder_layers", decoder_layers),
    ):
        if value < 1:
            raise ValueError(f"{name} is too small for a SetTrans.")
    sizes: Any = {
        "width": width,
        "heads": heads,
        "inner": inner,
        "encoder_layers": encoder_layers,
        "decoder_layers": decoder_layers,
        "slots": slots,
        "dropout": dropout,
        "attention_dropout": attention_dropout,
        "tied": tied,
    }
    taught = SlotSettings(assignment, length, assign_by, null_present, null_absent)
    decoding = Decoding(length, beams, samples, temperature, repeats)
    windows = Windows(window, max_batch_words, mixed_precision)

    recipe = SetTransRecipe(vocabulary_size, sizes, taught, decoding, windows)
    attrs = {"needs_words": True}
    return build_generator(NAME, recipe, mixed_precision, attrs)


@dataclass(frozen=True)
class SetTransRecipe:
    """What `build_settrans` was asked for."""

    vocabulary_size: int
    sizes: Mapping[str, Any]
    taught: "SlotSettings"
    decoding: "Decoding"
    windows: "Windows"

    def make(self, lessons: Lessons) -> "One2Set":
        """One that knows the words of the lessons."""
        from ..generation.embeddings import begin_with
        from ..generation.settrans import SetTrans
        from ..generation.settrans_layers import SetTransSettings

        vocabulary = self._choose_words(lessons)
        network = SetTrans(SetTransSettings(len(vocabulary), **self.sizes))
        if lessons.vectors is not None:
            begin_with(network.embed.weight, vocabulary.words, lessons.vectors)
        return self._finish(network, vocabulary)

    def load(self, files: Mapping[str, bytes]) -> "One2Set":
        """One that was saved."""
        from ..generation.one2set import load_settrans
        from ..generation.settrans_layers import SetTransSettings

        return self._finish(*load_settrans(files, SetTransSettings(0, **self.sizes)))

    def _choose_words(self, lessons: Lessons) -> "Vocabulary":
        from ..generation.vocabulary import (
            SPECIAL,
            Vocabulary,
            read_document,
            read_phrase,
        )

        if lessons.words is not None:
            return Vocabulary(lessons.words[: self.vocabulary_size - len(SPECIAL)])
        texts = (
            words
            for text, gold in lessons.documents()
            for words in [
                read_document(text),
                *(read_phrase(phrase.text) for phrase in gold),
            ]
        )
        return Vocabulary.of_texts(texts, self.vocabulary_size)

    def _finish(self, network: "SetTrans", vocabulary: "Vocabulary") -> "One2Set":
        from ..generation.one2set import One2Set

        return One2Set(network, vocabulary, self.taught, self.decoding, self.windows)
