"""A Hugging Face encoder as `tok2vec`, without spacy-transformers."""

from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, Callable, List, Literal, Optional, Sequence, Tuple

import numpy
from spacy.tokens import Doc
from spacy.util import registry
from thinc.api import ArgsKwargs, Model, PyTorchGradScaler, PyTorchShim
from thinc.layers.pytorchwrapper import forward
from thinc.types import Floats2d
from thinc.util import get_torch_default_device, torch2xp, xp2torch

from ..precision import MixedPrecision
from .ngram import Tok2Vec, unflatten

Pooling = Literal["first", "mean"]


@dataclass(frozen=True)
class TransformerSettings:
    """The arguments of the architecture. The model does not store them: those of the
    config hold for a loaded pipeline as well."""

    name: str
    window: int
    stride: int
    truncate: bool
    pooling: Pooling
    mixed_precision: MixedPrecision
    grad_checkpointing: bool
    max_batch_tokens: int
    trust_remote_code: bool

    def __post_init__(self) -> None:
        if not self.name:
            raise ValueError("The transformer has no name: set `name` in the config.")
        if self.pooling not in ("first", "mean"):
            raise ValueError(f"pooling is {self.pooling!r}; use 'first' or 'mean'.")
        if not 1 <= self.stride <= self.window:
            raise ValueError(
                f"stride is {self.stride}; it must be between 1 and the window of "
                f"{self.window} sub-tokens, or what lies between windows is not read."
            )
        if self.max_batch_tokens < 1:
            raise ValueError(
                f"max_batch_tokens is {self.max_batch_tokens}; it must be 1 or more."
            )


@registry.architectures("spacy_keyphrase.TransformerTok2Vec.v1")  # type: ignore
def build_transformer(
    name: str,
    window: int = 512,
    stride: int = 384,
    truncate: bool = False,
    pooling: Pooling = "first",
    mixed_precision: MixedPrecision = False,
    grad_checkpointing: bool = False,
    max_batch_tokens: int = 4096,
    trust_remote_code: bool = False,
) -> Tok2Vec:
    """Represent tokens by a pretrained encoder of Hugging Face transformers, such as
    BERT, RoBERTa, DeBERTa or MPNet, and fine-tune it.

    Output: a vector for each token, float of shape (tokens, width of the encoder) for
    each doc. A token that the encoder's tokenizer leaves nothing of, such as white
    space, has zeros. The encoder is loaded by `initialize`; a saved pipeline holds
    its weights and its tokenizer, so that it loads without the hub and without the
    folder. An encoder that is loaded already is kept by `initialize`.

    name (str): Name on the Hugging Face hub, or a local folder. With the environment
        variable HF_HUB_OFFLINE=1 only what is on this computer is found.
    window (int): Sub-tokens that the encoder sees at once, special ones included; at
        most as many as it was made for.
    stride (int): Sub-tokens from the start of a window to that of the next. What two
        windows have in common is read from the one in which it is further from the
        edge. For an encoder made for less than `window` it is reduced in proportion.
    truncate (bool): Read the first window only, as the code of the JointKPE paper
        does; later tokens have zeros. A token is read if its first sub-token is in
        the window.
    pooling (str): "first" represents a token by its first sub-token, as in the
        JointKPE paper, "mean" by the mean of its sub-tokens.
    mixed_precision (MixedPrecision): Compute in 16 bits what bears it: in bfloat16, but
        in float16 on NVIDIA GPUs older than Ampere. The weights stay in 32 bits. "auto"
        where that is faster: on a GPU, and on CPUs that gain by it.
    grad_checkpointing (bool): In training, keep the activations of one pass at a time
        and compute those of the others again: in less memory, about a third slower.
    max_batch_tokens (int): Sub-tokens of one pass through the encoder, padding
        included.
    trust_remote_code (bool): Whether an encoder may bring its own Python code.
    RETURNS (Model[List[Doc], List[Floats2d]]): The model. Its output does not depend
        on which docs are in a batch.
    RAISES: ImportError without torch or transformers, ValueError at settings that are
        out of range; `initialize` raises ValueError if there is no such encoder.
    """
    _import_libraries()
    settings = TransformerSettings(
        name=name,
        window=window,
        stride=stride,
        truncate=truncate,
        pooling=pooling,
        mixed_precision=mixed_precision,
        grad_checkpointing=grad_checkpointing,
        max_batch_tokens=max_batch_tokens,
        trust_remote_code=trust_remote_code,
    )
    from .encoder import needs_scaling
    from .pretrained import encoder_from_bytes, encoder_to_bytes

    # Without an encoder yet, so that a saved pipeline loads where there is none.
    shim = PyTorchShim(
        None,
        grad_scaler=PyTorchGradScaler(bool(mixed_precision) and needs_scaling()),
        serialize_model=encoder_to_bytes,
        deserialize_model=partial(encoder_from_bytes, settings),
    )
    return Model(
        "transformer_tok2vec",
        forward,
        init=_init,
        shims=[shim],
        dims={"nO": None},
        attrs={
            "settings": settings,
            "convert_inputs": _convert_inputs,
            "convert_outputs": _convert_outputs,
        },
    )


def _import_libraries() -> None:
    try:
        import_module("torch")
        import_module("transformers")
    except ImportError as error:
        raise ImportError(
            "spacy_keyphrase.TransformerTok2Vec.v1 needs torch and transformers: "
            f'pip install "spacy-keyphrase[lm]" ({error})'
        ) from error


def _init(
    model: Model[List[Doc], List[Floats2d]],
    X: Optional[List[Doc]] = None,
    Y: Optional[List[Floats2d]] = None,
) -> None:
    from .pretrained import load_encoder

    shim: Any = model.shims[0]
    if shim._model is None:
        encoder = load_encoder(model.attrs["settings"])
        shim._model = encoder.to(get_torch_default_device())
    model.set_dim("nO", shim._model.width)


def _convert_inputs(
    model: Model[Any, Any], docs: Sequence[Doc], is_train: bool
) -> Tuple[ArgsKwargs, Callable[[ArgsKwargs], Sequence[Doc]]]:
    shim: Any = model.shims[0]
    if shim._model is None:
        raise ValueError(
            f"The transformer {model.attrs['settings'].name!r} is not loaded: "
            "initialize the pipeline with nlp.initialize(), or load a trained one."
        )
    batch = shim._model.read([[token.text for token in doc] for doc in docs])
    return ArgsKwargs(args=(batch,), kwargs={}), lambda _: docs


def _convert_outputs(
    model: Model[Any, Any], inputs_outputs: Tuple[Sequence[Doc], Any], is_train: bool
) -> Tuple[List[Floats2d], Callable[[List[Floats2d]], ArgsKwargs]]:
    docs, output = inputs_outputs
    shim: Any = model.shims[0]
    rows: Any = torch2xp(output)

    def backprop(d_rows: List[Floats2d]) -> ArgsKwargs:
        flat: Any = model.ops.flatten(d_rows).reshape(rows.shape)
        gradient = xp2torch(flat, device=shim.device)
        return ArgsKwargs(args=((output,),), kwargs={"grad_tensors": (gradient,)})

    return unflatten(rows, numpy.array([len(doc) for doc in docs], dtype=int)), backprop
