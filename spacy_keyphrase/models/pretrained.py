"""Encoders of Hugging Face transformers: loaded by name, saved as bytes. Needs torch,
as `encoder` does."""

import json
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Iterator, Optional, Tuple

import srsly  # type: ignore[import-untyped]
import torch

from .encoder import Encoder
from .transformer import TransformerSettings

# Their encoder is loaded without the decoder.
_ENCODER_ALONE = ("t5", "mt5", "umt5")


def load_encoder(settings: TransformerSettings) -> Encoder:
    """Load a pretrained encoder and its tokenizer.

    settings (TransformerSettings): Name, and what to do with it.
    RETURNS (Encoder): The encoder, on the CPU.
    RAISES: ValueError where it cannot be had, or has no fast tokenizer.
    """
    try:
        model, tokenizer = _load(settings.name, settings)
    except (OSError, ValueError, ImportError) as error:
        raise ValueError(
            f"The transformer {settings.name!r} could not be loaded. It must be a "
            "local folder or a name on the Hugging Face hub; with HF_HUB_OFFLINE=1 "
            f"only the hub's local cache is looked at. {error}"
        ) from error
    return Encoder(model, tokenizer, settings)


def _load(
    path: str, settings: TransformerSettings, saved: bool = False
) -> Tuple[torch.nn.Module, Any]:
    """The encoder and the tokenizer of a name, or of files that we have saved."""
    transformers: Any = import_module("transformers")
    options: Any = {
        "trust_remote_code": settings.trust_remote_code,
        "local_files_only": saved,
    }
    config = transformers.AutoConfig.from_pretrained(path, **options)
    if config.model_type in _ENCODER_ALONE:
        auto = transformers.AutoModelForTextEncoding
    elif getattr(config, "is_encoder_decoder", False):
        raise ValueError("It has an encoder and a decoder; only T5's can be parted.")
    else:
        auto = transformers.AutoModel
    # Nothing that we load from a pipeline is a pickle.
    safe = True if saved else None
    model = auto.from_pretrained(path, config=config, use_safetensors=safe, **options)
    tokenizer = transformers.AutoTokenizer.from_pretrained(path, **options)
    if not tokenizer.is_fast:
        raise ValueError("It has no fast tokenizer.")
    if _lacks_spaces(tokenizer):
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            path, add_prefix_space=True, **options
        )
    # Some checkpoints are in 16 bits, too coarse to be trained.
    return model.float(), tokenizer


def _lacks_spaces(tokenizer: Any) -> bool:
    """Whether a byte-level tokenizer would take each word for the end of another."""
    splitter = tokenizer.backend_tokenizer.pre_tokenizer
    state = {} if splitter is None else json.loads(splitter.__getstate__())
    return state.get("type") == "ByteLevel" and not state["add_prefix_space"]


def encoder_to_bytes(encoder: Optional[Encoder]) -> bytes:
    """All files of an encoder and its tokenizer, weights as safetensors.

    encoder (Optional[Encoder]): The encoder, if it is loaded yet.
    """
    if encoder is None:
        return b""
    with TemporaryDirectory() as folder, _quiet():
        encoder.model.save_pretrained(folder)
        encoder.tokenizer.save_pretrained(folder)
        files = sorted(path for path in Path(folder).iterdir() if path.is_file())
        data: bytes = srsly.msgpack_dumps({p.name: p.read_bytes() for p in files})
    return data


def encoder_from_bytes(
    settings: TransformerSettings, encoder: Any, data: bytes, device: torch.device
) -> Optional[Encoder]:
    """The counterpart of `encoder_to_bytes`.

    settings (TransformerSettings): What to do with the encoder; its name is not used.
    encoder (Any): What there was before.
    data (bytes): What was saved.
    device (torch.device): Where the encoder is to be.
    """
    if not data:
        return None
    # Windows cannot remove a file while weights are mapped to it.
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder, _quiet():
        for name, content in srsly.msgpack_loads(data).items():
            # Only the name: a path might lead out of the folder.
            (Path(folder) / Path(name).name).write_bytes(content)
        model, tokenizer = _load(folder, settings, saved=True)
    return Encoder(model, tokenizer, settings).to(device)


@contextmanager
def _quiet() -> Iterator[None]:
    """No progress bars and no advice, where a pipeline is loaded or saved."""
    logging: Any = import_module("transformers").utils.logging
    level, bar = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bar:
            logging.enable_progress_bar()
