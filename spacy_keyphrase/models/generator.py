"""A model that writes keyphrases, as a model of thinc. The torch module is made by
`initialize` or read from a saved pipeline."""

from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Dict,
    Iterable,
    Mapping,
    Optional,
    Protocol,
    Sequence,
    Tuple,
)

import numpy
import srsly  # type: ignore[import-untyped]
from thinc.api import ArgsKwargs, Model, PyTorchGradScaler, PyTorchShim
from thinc.types import Floats1d
from thinc.util import get_torch_default_device

if TYPE_CHECKING:
    from ..generation.base import Generator, GoldPhrase, Request

# In training the output is a loss, of shape (1,); else the keyphrases of each document.
GeneratorModel = Model["Request", Any]


@dataclass(frozen=True)
class Lessons:
    """What a model is made for.

    documents (Callable[[], Iterable[Tuple[str, Sequence[GoldPhrase]]]]): Returns texts
        with their gold keyphrases.
    words (Optional[Sequence[str]]): The words that it should know, where it does not
        bring its own.
    vectors (Optional[Callable[[str], Optional[ndarray]]]): Of a word its vector, for
        models that bring none.
    """

    documents: "Callable[[], Iterable[Tuple[str, Sequence[GoldPhrase]]]]"
    words: Optional[Sequence[str]] = None
    vectors: Optional[Callable[[str], Optional[numpy.ndarray]]] = None


class Recipe(Protocol):
    """How generators of an architecture are made: a class of the module's, so that a
    pipeline can be sent to another process."""

    def make(self, lessons: Lessons) -> "Generator":
        """An untrained one, or one that a checkpoint begins."""

    def load(self, files: Mapping[str, bytes]) -> "Generator":
        """One from what `Generator.to_files` returned."""


def build_generator(
    architecture: str,
    recipe: Recipe,
    mixed_precision: bool = False,
    attrs: Optional[Dict[str, Any]] = None,
) -> GeneratorModel:
    """Wrap a generator.

    architecture (str): Its registered name.
    recipe (Recipe): How it is made.
    mixed_precision (bool): Whether it computes in 16 bits.
    attrs (Optional[Dict[str, Any]]): What else is to be known of the model.
    """
    need_libraries(architecture)
    from .encoder import needs_scaling

    shim = PyTorchShim(
        None,
        grad_scaler=PyTorchGradScaler(mixed_precision and needs_scaling()),
        serialize_model=partial(_to_bytes, architecture),
        deserialize_model=partial(_from_bytes, architecture, recipe),
    )
    return Model(
        "keyphrase_generator",
        _forward,
        init=_init,
        shims=[shim],
        attrs={"recipe": recipe, "architecture": architecture, **(attrs or {})},
    )


def need_libraries(architecture: str, *more: str) -> None:
    """Raise an ImportError where torch, safetensors or other libraries are missing."""
    try:
        for name in ("torch", "safetensors", *more):
            import_module(name)
    except ImportError as error:
        raise ImportError(
            f"{architecture} needs {' and '.join(('torch', *more))}: "
            f'pip install "spacy-keyphrase[lm,train]" ({error})'
        ) from error


def is_loaded(model: GeneratorModel) -> bool:
    """Whether a model has been initialized or loaded."""
    return get_module(model, check=False) is not None


def get_module(model: GeneratorModel, check: bool = True) -> Any:
    """The torch module of a model.

    model (GeneratorModel): The model.
    check (bool): Whether to raise a ValueError where there is none yet.
    """
    shim: Any = model.shims[0]
    if shim._model is None and check:
        raise ValueError(
            "The generator is not loaded: initialize the pipeline with "
            "nlp.initialize(), or load a trained one."
        )
    return shim._model


def _forward(
    model: GeneratorModel, request: "Request", is_train: bool
) -> Tuple[Any, Callable[[Any], Any]]:
    from ..devices import leave_threads

    leave_threads()
    module, shim = get_module(model), model.shims[0]
    if not is_train:
        module.eval()
        return module.write(request), lambda _: request
    # The shim looks for tensors in what it is given.
    loss, backprop = shim.begin_update(ArgsKwargs((request,), {}))

    def finish(d_loss: Floats1d) -> "Request":
        gradient = loss.new_tensor(float(d_loss[0]))
        backprop(ArgsKwargs(((loss,),), {"grad_tensors": (gradient,)}))
        return request

    return model.ops.asarray1f([loss.item()]), finish


def _init(
    model: GeneratorModel, X: Optional[Lessons] = None, Y: Optional[Any] = None
) -> None:
    if is_loaded(model) or X is None:
        return
    shim: Any = model.shims[0]
    shim._model = model.attrs["recipe"].make(X).to(get_torch_default_device())


def _to_bytes(architecture: str, module: "Optional[Generator]") -> bytes:
    if module is None:
        return b""
    saved = {"architecture": architecture, "files": module.to_files()}
    data: bytes = srsly.msgpack_dumps(saved)
    return data


def _from_bytes(
    architecture: str, recipe: Recipe, module: Any, data: bytes, device: Any
) -> "Optional[Generator]":
    if not data:
        return None
    saved = srsly.msgpack_loads(data)
    if saved["architecture"] != architecture:
        raise ValueError(f"it is one of {saved['architecture']}")
    return recipe.load(saved["files"]).to(device)
