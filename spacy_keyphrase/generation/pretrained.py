"""Models of Hugging Face transformers that generators begin with."""

from importlib import import_module
from typing import Any, Tuple


def load_masked(name: str, trust_remote_code: bool = False) -> Tuple[Any, Any]:
    """A model for masked language modelling, and its tokenizer.

    name (str): A local folder, or a name on the Hugging Face hub. What an encoder
        without a head lacks is drawn at random.
    trust_remote_code (bool): Whether to run code that comes with the model.
    RAISES: ValueError where they cannot be had.
    """
    return _load(name, "AutoModelForMaskedLM", trust_remote_code)


def load_seq2seq(name: str, trust_remote_code: bool = False) -> Tuple[Any, Any]:
    """A model with an encoder and a decoder, and its tokenizer; see `load_masked`."""
    return _load(name, "AutoModelForSeq2SeqLM", trust_remote_code)


def masked_from_config(folder: str, trust_remote_code: bool = False) -> Tuple[Any, Any]:
    """A model of a saved config, not trained, and its tokenizer."""
    return _make(folder, "AutoModelForMaskedLM", trust_remote_code)


def seq2seq_from_config(
    folder: str, trust_remote_code: bool = False
) -> Tuple[Any, Any]:
    """The same with an encoder and a decoder."""
    return _make(folder, "AutoModelForSeq2SeqLM", trust_remote_code)


def _load(name: str, auto: str, trust_remote_code: bool) -> Tuple[Any, Any]:
    transformers: Any = import_module("transformers")
    if not name:
        raise ValueError("The model has no name: set `name` in the config.")
    options = {"trust_remote_code": trust_remote_code}
    logging = transformers.utils.logging
    level = logging.get_verbosity()
    # That a head is new is expected.
    logging.set_verbosity_error()
    try:
        model = getattr(transformers, auto).from_pretrained(name, **options)
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
    # Some checkpoints are in 16 bits, too coarse to be trained.
    return model.float(), tokenizer


def _make(folder: str, auto: str, trust_remote_code: bool) -> Tuple[Any, Any]:
    transformers: Any = import_module("transformers")
    own_code = {"trust_remote_code": trust_remote_code}
    options = {"local_files_only": True, **own_code}
    config = transformers.AutoConfig.from_pretrained(folder, **options)
    # The checkpoint that it began with may have been in 16 bits.
    model = getattr(transformers, auto).from_config(config, **own_code).float()
    return model, transformers.AutoTokenizer.from_pretrained(folder, **options)
