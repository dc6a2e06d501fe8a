"""Language models of Hugging Face transformers, loaded by name or path."""

from dataclasses import dataclass
from importlib import import_module
from typing import Any, Collection, Literal, MutableMapping, Optional
from weakref import WeakValueDictionary

import torch

# The decoder is run over the modules of these.
SEQ2SEQ = ("t5", "mt5", "umt5")

Kind = Literal["generator", "encoder", "attention"]


@dataclass(frozen=True)
class ModelSource:
    """Where a model comes from, and where it goes.

    name (str): A local folder, or a name on the Hugging Face hub.
    device (Optional[str]): Such as "cuda:0"; None for a GPU if there is one.
    dtype (str): "float32", "bfloat16" or "float16".
    trust_remote_code (bool): Whether to run code that comes with the model.
    """

    name: str
    device: Optional[str] = None
    dtype: str = "float32"
    trust_remote_code: bool = False


@dataclass
class Loaded:
    """A model and its tokenizer.

    model (PreTrainedModel): The model, on its device, not in training.
    tokenizer (PreTrainedTokenizerFast): Its tokenizer.
    """

    model: Any
    tokenizer: Any

    @property
    def device(self) -> torch.device:
        return self.model.device  # type: ignore[no-any-return]


_loaded: "MutableMapping[Any, Loaded]" = WeakValueDictionary()


def load(source: ModelSource, kind: Kind) -> Loaded:
    """Load a model. All who use the same one in a process share it.

    source (ModelSource): Where it comes from.
    kind (str): "generator" for one that gives probabilities of words, "encoder" for
        one whose states are looked at, "attention" where its attention is, too, which
        is slower.
    RETURNS (Loaded): The model and its tokenizer.
    RAISES: ValueError where they cannot be had.
    """
    found = _loaded.get((source, kind))
    if found is None:
        found = _loaded[source, kind] = _load(source, kind)
    return found


def _masked_types() -> Collection[str]:
    module: Any = import_module("transformers.models.auto.modeling_auto")
    names: Collection[str] = module.MODEL_FOR_MASKED_LM_MAPPING_NAMES
    return names


def _load(source: ModelSource, kind: Kind) -> Loaded:
    transformers: Any = import_module("transformers")
    name = source.name
    options: Any = {"trust_remote_code": source.trust_remote_code}
    try:
        config = transformers.AutoConfig.from_pretrained(name, **options)
        seq2seq = getattr(config, "is_encoder_decoder", False)
        if kind != "generator":
            auto = transformers.AutoModel
            if kind == "attention":
                options["attn_implementation"] = "eager"
        elif config.model_type in SEQ2SEQ:
            auto = transformers.AutoModelForSeq2SeqLM
        elif seq2seq:
            raise ValueError(
                f"It is a {config.model_type}; of encoder-decoder models only the T5 "
                f"family ({', '.join(SEQ2SEQ)}) is known."
            )
        elif config.model_type in _masked_types() and not config.is_decoder:
            raise ValueError(
                f"It is a {config.model_type}, an encoder: it gives no probabilities "
                "of what comes next. Take a model of the T5 family or a decoder-only "
                "one."
            )
        else:
            auto = transformers.AutoModelForCausalLM
        dtype = getattr(torch, source.dtype)
        model = auto.from_pretrained(name, config=config, torch_dtype=dtype, **options)
        options.pop("attn_implementation", None)
        tokenizer = transformers.AutoTokenizer.from_pretrained(name, **options)
    except (OSError, ValueError, ImportError) as error:
        raise ValueError(
            f"The language model {name!r} could not be loaded. It must be a local "
            "folder or a name on the Hugging Face hub; with HF_HUB_OFFLINE=1 only the "
            f"hub's local cache is looked at. {error}"
        ) from error
    if not tokenizer.is_fast:
        raise ValueError(
            f"The tokenizer of {name!r} does not say which characters a sub-token is "
            "made of; a fast tokenizer (tokenizer.json) is needed."
        )
    if kind != "generator" and seq2seq:
        model = model.get_encoder()
    device = source.device or ("cuda" if torch.cuda.is_available() else "cpu")
    return Loaded(model.eval().to(device), tokenizer)
