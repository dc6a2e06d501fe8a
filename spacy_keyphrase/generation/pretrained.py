"""Models of Hugging Face transformers that generators and selectors begin with."""

from functools import partial
from importlib import import_module
from typing import Any, Callable, Dict, Optional, Tuple

# How configs call the rates of dropout.
_DROPOUT = (
    "hidden_dropout_prob",
    "attention_probs_dropout_prob",
    "dropout",
    "attention_dropout",
)


def load_masked(
    name: str, trust_remote_code: bool = False, dropout: Optional[float] = None
) -> Tuple[Any, Any]:
    """A model for masked language modelling, and its tokenizer.

    name (str): A local folder, or a name on the Hugging Face hub. What an encoder
        without a head lacks is drawn at random.
    trust_remote_code (bool): Whether to run code that comes with the model.
    dropout (Optional[float]): Its rates in training, by default those of its config.
    RAISES: ValueError where they cannot be had.
    """
    change = None if dropout is None else partial(_set_dropout, dropout)
    model, tokenizer = _load(name, "AutoModelForMaskedLM", trust_remote_code, change)
    # Some checkpoints are in 16 bits, too coarse to be trained.
    return model.float(), tokenizer


def load_seq2seq(name: str, trust_remote_code: bool = False) -> Tuple[Any, Any]:
    """A model with an encoder and a decoder, and its tokenizer; see `load_masked`."""
    model, tokenizer = _load(name, "AutoModelForSeq2SeqLM", trust_remote_code)
    return model.float(), tokenizer


def load_causal(
    name: str,
    trust_remote_code: bool = False,
    dtype: str = "auto",
    quantize: Optional[str] = None,
) -> Tuple[Any, Any]:
    """A causal language model, and its tokenizer; see `load_masked`.

    dtype (str): Precision of the weights, "auto" as in the checkpoint.
    quantize (Optional[str]): "4bit" or "8bit", by bitsandbytes.
    """
    transformers: Any = import_module("transformers")
    newer = int(transformers.__version__.split(".")[0]) >= 5
    options: Dict[str, Any] = {"dtype" if newer else "torch_dtype": dtype}
    if quantize is not None:
        bits = {f"load_in_{quantize}": True}
        options["quantization_config"] = transformers.BitsAndBytesConfig(**bits)
    return _load(name, "AutoModelForCausalLM", trust_remote_code, **options)


def load_classifier(name: str, trust_remote_code: bool = False) -> Tuple[Any, Any]:
    """A model that gives a sequence one number, and its tokenizer; see
    `load_masked`."""
    auto = "AutoModelForSequenceClassification"
    model, tokenizer = _load(name, auto, trust_remote_code, num_labels=1)
    return model.float(), tokenizer


def masked_from_config(folder: str, trust_remote_code: bool = False) -> Tuple[Any, Any]:
    """A model of a saved config, not trained, and its tokenizer."""
    return _make(folder, "AutoModelForMaskedLM", trust_remote_code)


def seq2seq_from_config(
    folder: str, trust_remote_code: bool = False
) -> Tuple[Any, Any]:
    """The same with an encoder and a decoder."""
    return _make(folder, "AutoModelForSeq2SeqLM", trust_remote_code)


def causal_from_config(folder: str, trust_remote_code: bool = False) -> Tuple[Any, Any]:
    """A causal language model of a saved config, not trained, and its tokenizer."""
    return _make(folder, "AutoModelForCausalLM", trust_remote_code)


def classifier_from_config(
    folder: str, trust_remote_code: bool = False
) -> Tuple[Any, Any]:
    """The same of a model that gives a sequence one number."""
    return _make(folder, "AutoModelForSequenceClassification", trust_remote_code)


def _load(
    name: str,
    auto: str,
    trust_remote_code: bool,
    change: Optional[Callable[[Any], Any]] = None,
    **settings: Any,
) -> Tuple[Any, Any]:
    transformers: Any = import_module("transformers")
    if not name:
        raise ValueError("The model has no name: set `name` in the config.")
    options = {"trust_remote_code": trust_remote_code}
    logging = transformers.utils.logging
    level = logging.get_verbosity()
    # That a head is new is expected.
    logging.set_verbosity_error()
    try:
        if change is not None:
            config = transformers.AutoConfig.from_pretrained(name, **options)
            settings["config"] = change(config)
        model = getattr(transformers, auto).from_pretrained(name, **settings, **options)
        tokenizer = transformers.AutoTokenizer.from_pretrained(name, **options)
    except (OSError, ValueError, ImportError) as error:
        raise ValueError(
            f"The model {name!r} could not be loaded. It must be a local folder or a "
            "name on the Hugging Face hub; with HF_HUB_OFFLINE=1 only the hub's local "
            f"cache is looked at. {error}"
        ) from error
    finally:
        logging.set_verbosity(level)
    if not tokenizer.is_fast:
        raise ValueError(f"The model {name!r} has no fast tokenizer.")
    return model, tokenizer


def _set_dropout(dropout: float, config: Any) -> Any:
    for rate in _DROPOUT:
        if isinstance(getattr(config, rate, None), float):
            setattr(config, rate, dropout)
    return config


def _make(folder: str, auto: str, trust_remote_code: bool) -> Tuple[Any, Any]:
    transformers: Any = import_module("transformers")
    own_code = {"trust_remote_code": trust_remote_code}
    options = {"local_files_only": True, **own_code}
    config = transformers.AutoConfig.from_pretrained(folder, **options)
    # The checkpoint that it began with may have been in 16 bits.
    model = getattr(transformers, auto).from_config(config, **own_code).float()
    return model, transformers.AutoTokenizer.from_pretrained(folder, **options)
