"""The architectures on a pretrained encoder and decoder, such as T5 and BART."""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Callable, Mapping

from spacy.util import registry

from ..precision import MixedPrecision
from ..training.assignment import Assignment
from .generator import GeneratorModel, Lessons, build_generator
from .wrapped import need_libraries

if TYPE_CHECKING:
    from ..generation.seq2seq import Seq2SeqGenerator, Seq2SeqSettings

    Kind = Callable[[Any, Any, Seq2SeqSettings], Seq2SeqGenerator]

_PREFIX = "spacy_keyphrase"


@registry.architectures(f"{_PREFIX}.PUSL.v1")  # type: ignore[untyped-decorator]
def build_pusl(
    name: str,
    k: int = 10,
    distinct: bool = True,
    beams: int = 1,
    length: int = 256,
    window: int = 512,
    shuffle: bool = False,
    lowercase: bool = False,
    max_batch_tokens: int = 8_000,
    mixed_precision: MixedPrecision = False,
    trust_remote_code: bool = False,
) -> GeneratorModel:
    """Just as many keyphrases as are asked for, by a pretrained encoder and decoder:
    PUSL ("From Lazy to Prolific: Tackling Missing Labels in Open Vocabulary Extreme
    Classification by Positive-Unlabeled Sequence Learning"). It learns no end of the
    list, so that labels that are missing in the training data do not teach it to stop
    early.

    name (str): Name on the Hugging Face hub, or a local folder. It is not read where a
        trained pipeline is loaded.
    k (int): Keyphrases that are asked for where neither the pipe nor the caller says.
    distinct (bool): Whether no keyphrase is written again. False is as in the paper,
        where a model that repeats itself has fewer in the end.
    beams (int): Sequences that are pursued; 1 is greedy.
    length (int): Sub-tokens that are taught at most, and written; fewer, if k is
        small: 16 for each keyphrase that is asked for.
    window (int): Sub-tokens of a document that are read at once, special ones included.
        Longer documents are read window by window; in training the first one is read.
    shuffle (bool): Whether keyphrases are taught in another order each time.
    lowercase (bool): Whether all is read and taught in lower case.
    max_batch_tokens (int): Sub-tokens of documents in one pass in prediction, padding
        included.
    mixed_precision (MixedPrecision): Compute in 16 bits what bears it; "auto" where
        that is faster: on a GPU, and on CPUs that gain by it.
    trust_remote_code (bool): Whether a model may bring its own Python code.
    RAISES: ImportError without torch or transformers; ValueError at settings that are
        out of range; `initialize` raises ValueError if there is no such model.
    """
    need_libraries(f"{_PREFIX}.PUSL.v1", "transformers")
    from ..generation.pusl import PUSL

    return _build(
        f"{_PREFIX}.PUSL.v1",
        PUSL,
        name,
        trust_remote_code,
        k=k,
        distinct=distinct,
        beams=beams,
        length=length,
        window=window,
        shuffle=shuffle,
        lowercase=lowercase,
        max_batch_tokens=max_batch_tokens,
        mixed_precision=mixed_precision,
    )


@registry.architectures(f"{_PREFIX}.One2Seq.v1")  # type: ignore[untyped-decorator]
def build_one2seq(
    name: str,
    beams: int = 1,
    length: int = 256,
    window: int = 512,
    shuffle: bool = False,
    lowercase: bool = False,
    max_batch_tokens: int = 8_000,
    mixed_precision: MixedPrecision = False,
    trust_remote_code: bool = False,
) -> GeneratorModel:
    """All keyphrases in one sequence, with separators, that ends where the model ends
    it (Yuan et al. 2020), by a pretrained encoder and decoder.

    name (str): Name on the Hugging Face hub, or a local folder. It is not read where a
        trained pipeline is loaded.
    beams (int): Sequences that are pursued; 1 is greedy.
    length (int): Sub-tokens that are written at most, and taught.
    window (int): Sub-tokens of a document that are read at once, special ones included.
        Longer documents are read window by window; in training the first one is read.
    shuffle (bool): Whether keyphrases are taught in another order each time.
    lowercase (bool): Whether all is read and taught in lower case.
    max_batch_tokens (int): Sub-tokens of documents in one pass in prediction, padding
        included.
    mixed_precision (MixedPrecision): Compute in 16 bits what bears it; "auto" where
        that is faster: on a GPU, and on CPUs that gain by it.
    trust_remote_code (bool): Whether a model may bring its own Python code.
    RAISES: ImportError without torch or transformers; ValueError at settings that are
        out of range; `initialize` raises ValueError if there is no such model.
    """
    need_libraries(f"{_PREFIX}.One2Seq.v1", "transformers")
    from ..generation.one2seq import One2Seq

    return _build(
        f"{_PREFIX}.One2Seq.v1",
        One2Seq,
        name,
        trust_remote_code,
        beams=beams,
        length=length,
        window=window,
        shuffle=shuffle,
        lowercase=lowercase,
        max_batch_tokens=max_batch_tokens,
        mixed_precision=mixed_precision,
    )


@registry.architectures(f"{_PREFIX}.One2One.v1")  # type: ignore[untyped-decorator]
def build_one2one(
    name: str,
    k: int = 10,
    beams: int = 1,
    length: int = 16,
    window: int = 512,
    lowercase: bool = False,
    max_batch_tokens: int = 8_000,
    mixed_precision: MixedPrecision = False,
    trust_remote_code: bool = False,
) -> GeneratorModel:
    """The likeliest sequences of one keyphrase each (Meng et al. 2017), by a pretrained
    encoder and decoder.

    name (str): Name on the Hugging Face hub, or a local folder. It is not read where a
        trained pipeline is loaded.
    k (int): Keyphrases that are asked for where neither the pipe nor the caller says.
    beams (int): Sequences that are pursued, k at least.
    length (int): Sub-tokens of a keyphrase, the end included; longer ones are not
        taught.
    window (int): Sub-tokens of a document that are read at once, special ones included.
        Longer documents are read window by window; in training the first one is read.
    lowercase (bool): Whether all is read and taught in lower case.
    max_batch_tokens (int): Sub-tokens of documents in one pass in prediction, padding
        included.
    mixed_precision (MixedPrecision): Compute in 16 bits what bears it; "auto" where
        that is faster: on a GPU, and on CPUs that gain by it.
    trust_remote_code (bool): Whether a model may bring its own Python code.
    RAISES: ImportError without torch or transformers; ValueError at settings that are
        out of range; `initialize` raises ValueError if there is no such model.
    """
    need_libraries(f"{_PREFIX}.One2One.v1", "transformers")
    from ..generation.one2one import One2One

    return _build(
        f"{_PREFIX}.One2One.v1",
        One2One,
        name,
        trust_remote_code,
        k=k,
        beams=beams,
        length=length,
        window=window,
        lowercase=lowercase,
        max_batch_tokens=max_batch_tokens,
        mixed_precision=mixed_precision,
    )


@registry.architectures(f"{_PREFIX}.GROOV.v1")  # type: ignore[untyped-decorator]
def build_groov(
    name: str,
    beams: int = 15,
    length: int = 256,
    window: int = 512,
    shuffle: bool = True,
    lowercase: bool = True,
    max_batch_tokens: int = 8_000,
    mixed_precision: MixedPrecision = False,
    trust_remote_code: bool = False,
) -> GeneratorModel:
    """A set of keyphrases as a sequence in any order, taught by the multi-softmax loss
    (GROOV, Simig et al. 2022), by a pretrained encoder and decoder.

    name (str): Name on the Hugging Face hub, or a local folder. It is not read where a
        trained pipeline is loaded.
    beams (int): Sequences that are pursued; 1 is greedy.
    length (int): Sub-tokens that are written at most, and taught.
    window (int): Sub-tokens of a document that are read at once, special ones included.
        Longer documents are read window by window; in training the first one is read.
    shuffle (bool): Whether keyphrases are taught in another order each time.
    lowercase (bool): Whether all is read and taught in lower case.
    max_batch_tokens (int): Sub-tokens of documents in one pass in prediction, padding
        included.
    mixed_precision (MixedPrecision): Compute in 16 bits what bears it; "auto" where
        that is faster: on a GPU, and on CPUs that gain by it.
    trust_remote_code (bool): Whether a model may bring its own Python code.
    RAISES: ImportError without torch or transformers; ValueError at settings that are
        out of range; `initialize` raises ValueError if there is no such model.
    """
    need_libraries(f"{_PREFIX}.GROOV.v1", "transformers")
    from ..generation.groov import GROOV

    return _build(
        f"{_PREFIX}.GROOV.v1",
        GROOV,
        name,
        trust_remote_code,
        beams=beams,
        length=length,
        window=window,
        shuffle=shuffle,
        lowercase=lowercase,
        max_batch_tokens=max_batch_tokens,
        mixed_precision=mixed_precision,
    )


@registry.architectures(f"{_PREFIX}.SetSeq2Seq.v1")  # type: ignore[untyped-decorator]
def build_set_seq2seq(
    name: str,
    assignment: Assignment,
    slots: int = 20,
    length: int = 12,
    assign_by: int = 2,
    null_present: float = 0.2,
    null_absent: float = 0.1,
    beams: int = 1,
    samples: int = 0,
    temperature: float = 1.0,
    window: int = 512,
    lowercase: bool = False,
    max_batch_tokens: int = 8_000,
    mixed_precision: MixedPrecision = False,
    trust_remote_code: bool = False,
) -> GeneratorModel:
    """A set of keyphrases at once, each from a slot with its own control code: One2Set
    (Ye et al. 2021) on a pretrained encoder and decoder, T5 or BART. The first half of
    the slots writes present keyphrases, the other absent ones.

    name (str): Name on the Hugging Face hub, or a local folder. It is not read where a
        trained pipeline is loaded.
    assignment (Assignment): Which slot is taught which keyphrase:
        `spacy_keyphrase.Hungarian.v1` or `spacy_keyphrase.OptimalTransport.v1`.
    slots (int): Keyphrases that can be written; an even number.
    length (int): Sub-tokens of a slot, the end included; longer keyphrases are not
        taught.
    assign_by (int): By how many first sub-tokens of a slot it is assigned a keyphrase.
    null_present, null_absent (float): Weight of "no keyphrase" in the loss of either
        half.
    beams (int): Phrases that each slot writes, the likeliest ones.
    samples (int): Phrases that each slot draws besides, at a `temperature`.
    window (int): Sub-tokens of a document that are read at once, special ones included.
        Longer documents are read window by window; in training the first one is read.
    lowercase (bool): Whether all is read and taught in lower case.
    max_batch_tokens (int): Sub-tokens of documents in one pass in prediction, padding
        included.
    mixed_precision (MixedPrecision): Compute in 16 bits what bears it; "auto" where
        that is faster: on a GPU, and on CPUs that gain by it.
    trust_remote_code (bool): Whether a model may bring its own Python code.
    RAISES: ImportError without torch or transformers; ValueError at settings that are
        out of range; `initialize` raises ValueError if there is no such model.
    """
    need_libraries(f"{_PREFIX}.SetSeq2Seq.v1", "transformers")
    from ..generation.set_seq2seq import SetSeq2Seq
    from ..generation.slot_decoding import Decoding
    from ..generation.slots import SlotSettings

    if slots < 2 or slots % 2:
        raise ValueError(f"slots is {slots}; it must be an even number of 2 or more.")
    taught = SlotSettings(assignment, length, assign_by, null_present, null_absent)
    decoding = Decoding(length, beams, samples, temperature)

    kind = partial(SetSeq2Seq, slots=slots, taught=taught, decoding=decoding)
    return _build(
        f"{_PREFIX}.SetSeq2Seq.v1",
        kind,
        name,
        trust_remote_code,
        window=window,
        lowercase=lowercase,
        max_batch_tokens=max_batch_tokens,
        mixed_precision=mixed_precision,
    )


def _build(
    architecture: str,
    kind: "Kind",
    name: str,
    trust_remote_code: bool,
    **settings: Any,
) -> GeneratorModel:
    from ..generation.seq2seq import Seq2SeqSettings

    known = Seq2SeqSettings(**settings)
    recipe = Seq2SeqRecipe(kind, name, trust_remote_code, known)
    return build_generator(architecture, recipe, known.mixed_precision)


@dataclass(frozen=True)
class Seq2SeqRecipe:
    """What an architecture on a pretrained encoder and decoder was asked for."""

    kind: "Kind"
    name: str
    trust_remote_code: bool
    settings: "Seq2SeqSettings"

    def make(self, lessons: Lessons) -> "Seq2SeqGenerator":
        """One that begins with the pretrained model."""
        from ..generation.pretrained import load_seq2seq

        model, tokenizer = load_seq2seq(self.name, self.trust_remote_code)
        try:
            return self.kind(model, tokenizer, self.settings)
        except ValueError as error:
            raise ValueError(f"{self.name!r} cannot be used: {error}.") from error

    def load(self, files: Mapping[str, bytes]) -> "Seq2SeqGenerator":
        """One that was saved."""
        from ..generation.files import WEIGHTS, load_folder, weights_from_bytes
        from ..generation.pretrained import seq2seq_from_config

        own_code = self.trust_remote_code
        read = partial(seq2seq_from_config, trust_remote_code=own_code)
        model, tokenizer = load_folder(files, read)
        generator = self.kind(model, tokenizer, self.settings)
        weights_from_bytes(generator, files[WEIGHTS])
        return generator
