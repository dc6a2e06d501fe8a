"""The architectures of selectors that run here."""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Dict, Mapping, Optional

from spacy.util import registry

from ..precision import MixedPrecision
from .chat import SelectorModel
from .wrapped import need_libraries, wrap

if TYPE_CHECKING:
    from ..backends.causal import CausalSelector, CausalSettings
    from ..backends.cross_encoder import CrossEncoder, CrossEncoderSettings
    from ..backends.lora import LoraSettings

LOCAL = "spacy_keyphrase.LocalLM.v1"
CROSS = "spacy_keyphrase.CrossEncoder.v1"


@registry.architectures(LOCAL)  # type: ignore[untyped-decorator]
def build_local(
    name: str,
    lora: Optional[Dict[str, Any]] = None,
    bundle: bool = False,
    balanced: bool = True,
    window: int = 2048,
    max_batch_tokens: int = 6_000,
    max_new_tokens: int = 256,
    mixed_precision: MixedPrecision = False,
    dtype: str = "auto",
    quantize: Optional[str] = None,
    trust_remote_code: bool = False,
) -> SelectorModel:
    """A causal language model of transformers that runs here: Qwen, Llama, Gemma … It
    can say T or F and nothing else, where it is asked for labels, and tells their
    probabilities.

    name (str): Name on the Hugging Face hub, or a local folder.
    lora (Optional[Dict[str, Any]]): An adapter, which alone is trained: its rank "r"
        (8), "alpha" (16), "dropout" (0.05) and "targets", the names of layers (all
        linear ones but the last). Without one all weights are trained.
    bundle (bool): Whether the whole model is saved with the pipeline. Otherwise only
        the adapter is, and the model must be there under its name.
    balanced (bool): Whether labels T and F weigh the same in the loss.
    window (int): Sub-tokens of a question with its labels; at most as many as the model
        was made for. A longer document is cut, with a warning.
    max_batch_tokens (int): Sub-tokens of one pass in prediction, padding included.
    max_new_tokens (int): Sub-tokens of an answer that is written freely: numbers,
        phrases.
    mixed_precision (MixedPrecision): Compute in 16 bits what bears it; "auto" where
        that is faster: on a GPU, and on CPUs that gain by it.
    dtype (str): Precision of the weights: "float32", "bfloat16", or "auto", as the
        checkpoint has them. All weights are trained in 32 bits.
    quantize (Optional[str]): "4bit" or "8bit", with the package bitsandbytes.
    trust_remote_code (bool): Whether a model may bring its own Python code.
    RAISES: ImportError without torch or transformers; ValueError at settings that are
        out of range, and where there is no such model when it is first used.
    """
    need_libraries(LOCAL, "transformers")
    from ..backends.causal import CausalSettings
    from ..backends.lora import LoraSettings

    settings = CausalSettings(
        window, max_batch_tokens, max_new_tokens, balanced, mixed_precision, bundle
    )
    if quantize not in (None, "4bit", "8bit"):
        raise ValueError(f"quantize is {quantize!r}; use '4bit', '8bit' or None.")
    adapter = None if lora is None else LoraSettings(**lora)
    recipe = LocalRecipe(name, adapter, settings, dtype, quantize, trust_remote_code)
    attrs = {"asks": True, "lazy": True}
    return wrap("keyphrase_selector", LOCAL, recipe, mixed_precision, attrs)


@dataclass(frozen=True)
class LocalRecipe:
    """What `build_local` was asked for."""

    name: str
    adapter: "Optional[LoraSettings]"
    settings: "CausalSettings"
    dtype: str
    quantize: Optional[str]
    trust_remote_code: bool

    def make(self, lessons: Any) -> "CausalSelector":
        """One that begins with the language model."""
        from ..backends.lora import add_adapter
        from ..generation.pretrained import load_causal

        model, tokenizer = load_causal(
            self.name, self.trust_remote_code, self.dtype, self.quantize
        )
        if self.adapter is not None:
            add_adapter(model, self.adapter)
        elif lessons is not None:
            # Too coarse to be trained otherwise.
            model = model.float()
        return self._finish(model, tokenizer)

    def load(self, files: Mapping[str, bytes]) -> "CausalSelector":
        """One that was saved."""
        from ..backends.lora import ADAPTER, adapter_from_bytes, add_adapter
        from ..generation.files import WEIGHTS, load_folder, weights_from_bytes
        from ..generation.pretrained import causal_from_config

        if WEIGHTS not in files:
            selector = self.make(None)
            if (ADAPTER in files) != (self.adapter is not None):
                has = "an" if ADAPTER in files else "no"
                raise ValueError(f"the saved model has {has} adapter")
            if self.adapter is not None:
                adapter_from_bytes(selector.model, files)
            return selector
        read = partial(causal_from_config, trust_remote_code=self.trust_remote_code)
        model, tokenizer = load_folder(files, read)
        if self.adapter is not None:
            add_adapter(model, self.adapter)
        weights_from_bytes(model, files[WEIGHTS])
        return self._finish(model, tokenizer)

    def _finish(self, model: Any, tokenizer: Any) -> "CausalSelector":
        from ..backends.causal import CausalSelector

        return CausalSelector(model, tokenizer, self.settings)


@registry.architectures(CROSS)  # type: ignore[untyped-decorator]
def build_cross_encoder(
    name: str,
    balanced: bool = True,
    window: int = 512,
    max_batch_tokens: int = 6_000,
    mixed_precision: MixedPrecision = False,
    trust_remote_code: bool = False,
) -> SelectorModel:
    """An encoder of the BERT family that reads the document anew with each candidate,
    and labels it for itself: the small scorer that the paper compares its selector
    with. It must be trained.

    name (str): Name on the Hugging Face hub, or a local folder. It is not read where a
        trained pipeline is loaded.
    balanced (bool): Whether labels T and F weigh the same in the loss.
    window (int): Sub-tokens of a document with a candidate, special ones included; at
        most as many as the model was made for. Longer documents are cut.
    max_batch_tokens (int): Sub-tokens of one pass in prediction, padding included.
    mixed_precision (MixedPrecision): Compute in 16 bits what bears it; "auto" where
        that is faster: on a GPU, and on CPUs that gain by it.
    trust_remote_code (bool): Whether a model may bring its own Python code.
    RAISES: ImportError without torch or transformers; ValueError at settings that are
        out of range; `initialize` raises ValueError if there is no such model.
    """
    need_libraries(CROSS, "transformers")
    from ..backends.cross_encoder import CrossEncoderSettings

    settings = CrossEncoderSettings(window, max_batch_tokens, balanced, mixed_precision)
    recipe = CrossEncoderRecipe(name, settings, trust_remote_code)
    attrs = {"asks": True}
    return wrap("keyphrase_selector", CROSS, recipe, mixed_precision, attrs)


@dataclass(frozen=True)
class CrossEncoderRecipe:
    """What `build_cross_encoder` was asked for."""

    name: str
    settings: "CrossEncoderSettings"
    trust_remote_code: bool

    def make(self, lessons: Any) -> "CrossEncoder":
        """One that begins with the encoder."""
        from ..backends.cross_encoder import CrossEncoder
        from ..generation.pretrained import load_classifier

        return CrossEncoder(
            *load_classifier(self.name, self.trust_remote_code), self.settings
        )

    def load(self, files: Mapping[str, bytes]) -> "CrossEncoder":
        """One that was saved."""
        from ..backends.cross_encoder import CrossEncoder
        from ..generation.files import WEIGHTS, load_folder, weights_from_bytes
        from ..generation.pretrained import classifier_from_config

        own_code = self.trust_remote_code
        read = partial(classifier_from_config, trust_remote_code=own_code)
        model, tokenizer = load_folder(files, read)
        weights_from_bytes(model, files[WEIGHTS])
        return CrossEncoder(model, tokenizer, self.settings)
