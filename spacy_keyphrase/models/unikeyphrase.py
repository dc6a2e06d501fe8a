"""The architecture of UniKeyphrase."""

import json
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Mapping, Optional

from spacy.util import registry

from ..precision import MixedPrecision
from .generator import GeneratorModel, Lessons, build_generator
from .wrapped import need_libraries

if TYPE_CHECKING:
    from ..generation.unikeyphrase import UniKeyphrase
    from ..generation.unikeyphrase_settings import UniKeyphraseSettings

NAME = "spacy_keyphrase.UniKeyphrase.v1"


@registry.architectures(NAME)  # type: ignore[untyped-decorator]
def build_unikeyphrase(
    name: str,
    relation_layers: int = 2,
    relation_dropout: float = 0.5,
    encoder_dropout: Optional[float] = None,
    leak_free: bool = True,
    bag: Literal["paper", "released", "off"] = "paper",
    bag_weight: float = 1.0,
    total_steps: int = 20_000,
    masked: float = 0.7,
    tag_weight: float = 5.0,
    smoothing: float = 0.1,
    beams: int = 5,
    least_none: float = 0.0,
    length: int = 32,
    window: int = 384,
    max_batch_tokens: int = 8_000,
    mixed_precision: MixedPrecision = False,
    trust_remote_code: bool = False,
) -> GeneratorModel:
    """Present keyphrases by tags and absent ones written, by one encoder of the BERT
    family that is fine-tuned: UniKeyphrase (Wu et al. 2021). Defaults are those of the
    paper.

    name (str): Name on the Hugging Face hub, or a local folder: BERT, RoBERTa or their
        kin. It is not read where a trained pipeline is loaded.
    relation_layers (int): Stacked relation layers (SRL), in which what is extracted and
        what is written look at each other; 0 for none.
    relation_dropout (float): Of their states, in training. That of `[training]` is not
        used.
    encoder_dropout (Optional[float]): Rate in the encoder, in training; by default
        those of its config. On a CPU a third of the time is spent on it.
    leak_free (bool): Whether relation layers see no more than the encoder does. As
        printed they see in training what is still to be written.
    bag (str): The bag-of-words constraint (BWC): "paper" as printed, "released" as the
        public code has it, or "off".
    bag_weight (float): Its weight at the end of the training; it grows from 0.
    total_steps (int): Updates until then: `${training.max_steps}`.
    masked (float): Share of what is written that is masked in training.
    tag_weight (float): Weight of tags in a keyphrase against those outside.
    smoothing (float): Of the targets of what is written.
    beams (int): Sequences that are pursued in the search for the likeliest.
    least_none (float): The probability of there being no absent keyphrase below which
        some are written. By default none are where that is the likeliest single thing
        to say, as in the paper: to a network that has learned little it is, for every
        document.
    length (int): Sub-tokens that are written at most.
    window (int): Sub-tokens read and written at once, special ones included; at most as
        many as the encoder was made for. Longer documents are read window by window; in
        training the first one is read.
    max_batch_tokens (int): Sub-tokens of one pass in prediction, padding included.
    mixed_precision (MixedPrecision): Compute in 16 bits what bears it; "auto" where
        that is faster: on a GPU, and on CPUs that gain by it.
    trust_remote_code (bool): Whether an encoder may bring its own Python code.
    RAISES: ImportError without torch or transformers; ValueError at settings that are
        out of range; `initialize` raises ValueError if there is no such encoder.
    """
    need_libraries(NAME, "transformers")
    from ..generation.unikeyphrase_settings import UniKeyphraseSettings

    settings = UniKeyphraseSettings(
        length=length,
        window=window,
        masked=masked,
        tag_weight=tag_weight,
        smoothing=smoothing,
        bag=bag,
        bag_weight=bag_weight,
        total_steps=total_steps,
        beams=beams,
        least_none=least_none,
        max_batch_tokens=max_batch_tokens,
        mixed_precision=mixed_precision,
    )

    if encoder_dropout is not None and not 0 <= encoder_dropout < 1:
        raise ValueError(
            f"encoder_dropout is {encoder_dropout}; it must be 0 or more, and below 1."
        )
    recipe = UniKeyphraseRecipe(
        name,
        trust_remote_code,
        relation_layers,
        relation_dropout,
        encoder_dropout,
        leak_free,
        settings,
    )
    return build_generator(NAME, recipe, mixed_precision)


@dataclass(frozen=True)
class UniKeyphraseRecipe:
    """What `build_unikeyphrase` was asked for."""

    name: str
    trust_remote_code: bool
    relation_layers: int
    relation_dropout: float
    encoder_dropout: Optional[float]
    leak_free: bool
    settings: "UniKeyphraseSettings"

    def make(self, lessons: Lessons) -> "UniKeyphrase":
        """One that begins with the encoder."""
        from ..generation.pretrained import load_masked

        model, tokenizer = load_masked(
            self.name, self.trust_remote_code, self.encoder_dropout
        )
        try:
            return self._finish(model, tokenizer)
        except ValueError as error:
            raise ValueError(f"{self.name!r} cannot be used: {error}.") from error

    def load(self, files: Mapping[str, bytes]) -> "UniKeyphrase":
        """One that was saved."""
        from ..generation.files import WEIGHTS, load_folder, weights_from_bytes
        from ..generation.pretrained import masked_from_config
        from ..generation.unikeyphrase import SETTINGS

        saved = json.loads(files[SETTINGS])
        for key in ("relation_layers", "leak_free"):
            if saved[key] != getattr(self, key):
                raise ValueError(
                    f"the saved model has {key} {saved[key]}, the config "
                    f"{getattr(self, key)}"
                )
        own_code = self.trust_remote_code
        read = partial(masked_from_config, trust_remote_code=own_code)
        generator = self._finish(*load_folder(files, read))
        weights_from_bytes(generator.network, files[WEIGHTS])
        return generator

    def _finish(self, model: Any, tokenizer: Any) -> "UniKeyphrase":
        from ..generation.unikeyphrase import UniKeyphrase
        from ..generation.unikeyphrase_network import UniKeyphraseNetwork

        network = UniKeyphraseNetwork(
            model, self.relation_layers, self.relation_dropout, self.leak_free
        )
        return UniKeyphrase(network, tokenizer, self.settings)
