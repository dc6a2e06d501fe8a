"""A torch module that reads and writes things that are no arrays, as a model of thinc.
The module is made by `initialize`, read from a saved pipeline, or made where it is
first needed."""

from functools import partial
from importlib import import_module
from typing import Any, Callable, Dict, Mapping, Optional, Protocol, Tuple

import srsly  # type: ignore[import-untyped]
from thinc.api import ArgsKwargs, Model, PyTorchGradScaler, PyTorchShim
from thinc.types import Floats1d
from thinc.util import get_torch_default_device

from ..precision import MixedPrecision

# In training the output is a loss, of shape (1,); else what the module writes.
WrappedModel = Model[Any, Any]


class Recipe(Protocol):
    """How modules of an architecture are made. Modules have `loss` (which `forward`
    calls), `write` and `to_files`. An object of a class of ours, so that a pipeline can
    be sent to another process."""

    def make(self, lessons: Any) -> Any:
        """One that begins with nothing, or with a checkpoint.

        lessons (Any): What `initialize` is given; None where the module is made
            without it.
        """

    def load(self, files: Mapping[str, bytes]) -> Any:
        """One from what `to_files` returned."""


def wrap(
    name: str,
    architecture: str,
    recipe: Recipe,
    mixed_precision: MixedPrecision = False,
    attrs: Optional[Dict[str, Any]] = None,
) -> WrappedModel:
    """Wrap a module.

    name (str): What the model is called.
    architecture (str): Its registered name.
    recipe (Recipe): How it is made.
    mixed_precision (MixedPrecision): Whether it computes in 16 bits.
    attrs (Optional[Dict[str, Any]]): What else is to be known of the model; "lazy" that
        it may be made where it is first needed.
    """
    need_libraries(architecture)
    from .encoder import needs_scaling

    shim = PyTorchShim(
        None,
        grad_scaler=PyTorchGradScaler(bool(mixed_precision) and needs_scaling()),
        serialize_model=partial(_to_bytes, architecture),
        deserialize_model=partial(_from_bytes, architecture, recipe),
    )
    return Model(
        name,
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


def is_loaded(model: WrappedModel) -> bool:
    """Whether a model has been initialized or loaded."""
    return get_module(model, check=False) is not None


def get_module(model: WrappedModel, check: bool = True) -> Any:
    """The torch module of a model.

    model (WrappedModel): The model.
    check (bool): Whether to raise a ValueError where there is none yet.
    """
    shim: Any = model.shims[0]
    if shim._model is None and check:
        if not model.attrs.get("lazy"):
            raise ValueError(
                f"The model {model.name!r} is not loaded: initialize the pipeline with "
                "nlp.initialize(), or load a trained one."
            )
        _make(model, None)
    return shim._model


def _forward(
    model: WrappedModel, request: Any, is_train: bool
) -> Tuple[Any, Callable[[Any], Any]]:
    from ..devices import leave_threads

    leave_threads()
    module, shim = get_module(model), model.shims[0]
    if not is_train:
        module.eval()
        return module.write(request), lambda _: request
    # The shim looks for tensors in what it is given.
    loss, backprop = shim.begin_update(ArgsKwargs((request,), {}))

    def finish(d_loss: Floats1d) -> Any:
        gradient = loss.new_tensor(float(d_loss[0]))
        backprop(ArgsKwargs(((loss,),), {"grad_tensors": (gradient,)}))
        return request

    return model.ops.asarray1f([loss.item()]), finish


def _init(
    model: WrappedModel, X: Optional[Any] = None, Y: Optional[Any] = None
) -> None:
    if is_loaded(model) or X is None:
        return
    _make(model, X)


def _make(model: WrappedModel, lessons: Any) -> None:
    shim: Any = model.shims[0]
    device: Any = get_torch_default_device()
    shim._model = model.attrs["recipe"].make(lessons).to(device)


def _to_bytes(architecture: str, module: Any) -> bytes:
    if module is None:
        return b""
    saved = {"architecture": architecture, "files": module.to_files()}
    data: bytes = srsly.msgpack_dumps(saved)
    return data


def _from_bytes(
    architecture: str, recipe: Recipe, module: Any, data: bytes, device: Any
) -> Any:
    if not data:
        return None
    saved = srsly.msgpack_loads(data)
    if saved["architecture"] != architecture:
        raise ValueError(f"it is one of {saved['architecture']}")
    return recipe.load(saved["files"]).to(device)
