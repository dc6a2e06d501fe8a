"""The architectures on a pretrained encoder and decoder, such as T5 and BART."""

from typing import TYPE_CHECKING, Any, Callable, Mapping

from spacy.util import registry

from .generator import GeneratorModel, Lessons, build_generator, need_libraries

if TYPE_CHECKING:
    from ..generation.seq2seq import Seq2SeqGenerator

_PREFIX = "spacy_keyphrase"


@registry.architectures(f"{_PREFIX}.PUSL.v1")  # type: ignore[untyped-decorator]
def build_pusl(
    name: str,
    k: int = 10,
    beams: int = 1,
    length: int = 256,
    window: int = 512,
    shuffle: bool = False,
    lowercase: bool = False,
    max_batch_tokens: int = 8_000,
    mixed_precision: bool = False,
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
    beams (int): Sequences that are pursued; 1 is greedy.
    length (int): Sub-tokens that are written at most, and taught.
    window (int): Sub-tokens of a document that are read at once, special ones included.
        Longer documents are read window by window; in training the first one is read.
    shuffle (bool): Whether keyphrases are taught in another order each time.
    lowercase (bool): Whether all is read and taught in lower case.
    max_batch_tokens (int): Sub-tokens of documents in one pass in prediction, padding
        included.
    mixed_precision (bool): Compute in 16 bits what bears it.
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
    mixed_precision: bool = False,
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
    mixed_precision (bool): Compute in 16 bits what bears it.
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
    length: int = 256,
    window: int = 512,
    lowercase: bool = False,
    max_batch_tokens: int = 8_000,
    mixed_precision: bool = False,
    trust_remote_code: bool = False,
) -> GeneratorModel:
    """The likeliest sequences of one keyphrase each (Meng et al. 2017), by a pretrained
    encoder and decoder.

    name (str): Name on the Hugging Face hub, or a local folder. It is not read where a
        trained pipeline is loaded.
    k (int): Keyphrases that are asked for where neither the pipe nor the caller says.
    beams (int): Sequences that are pursued, k at least.
    length (int): Sub-tokens that are written at most, and taught.
    window (int): Sub-tokens of a document that are read at once, special ones included.
        Longer documents are read window by window; in training the first one is read.
    lowercase (bool): Whether all is read and taught in lower case.
    max_batch_tokens (int): Sub-tokens of documents in one pass in prediction, padding
        included.
    mixed_precision (bool): Compute in 16 bits what bears it.
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
    mixed_precision: bool = False,
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
    mixed_precision (bool): Compute in 16 bits what bears it.
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


def _build(
    architecture: str,
    kind: "Callable[[Any, Any, Any], Seq2SeqGenerator]",
    name: str,
    trust_remote_code: bool,
    **settings: Any,
) -> GeneratorModel:
    from ..generation.files import WEIGHTS, load_folder, weights_from_bytes
    from ..generation.pretrained import load_seq2seq, seq2seq_from_config
    from ..generation.seq2seq import Seq2SeqSettings

    known = Seq2SeqSettings(**settings)

    def make(lessons: Lessons) -> "Seq2SeqGenerator":
        model, tokenizer = load_seq2seq(name, trust_remote_code)
        try:
            return kind(model, tokenizer, known)
        except ValueError as error:
            raise ValueError(f"{name!r} cannot be used: {error}.") from error

    def load(files: Mapping[str, bytes]) -> "Seq2SeqGenerator":
        model, tokenizer = load_folder(files, seq2seq_from_config)
        generator = kind(model, tokenizer, known)
        weights_from_bytes(generator.model, files[WEIGHTS])
        return generator

    return build_generator(
        architecture,
        make,
        load,
        mixed_precision=known.mixed_precision,
    )
