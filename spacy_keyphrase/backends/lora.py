"""Low-rank adapters (LoRA, Hu et al. 2021), by the package peft."""

from dataclasses import dataclass
from importlib import import_module
from typing import Any, Dict, List, Mapping, Optional

from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors

ADAPTER = "adapter.safetensors"
# In the names of its weights.
_MARK = ".lora_"


@dataclass(frozen=True)
class LoraSettings:
    """An adapter.

    r (int): Its rank.
    alpha (float): What it is scaled by, times r.
    dropout (float): Of what goes into it, in training.
    targets (Optional[List[str]]): Names of the layers that have one; by default all
        linear ones but the last.
    """

    r: int = 8
    alpha: float = 16.0
    dropout: float = 0.05
    targets: Optional[List[str]] = None

    def __post_init__(self) -> None:
        if self.r < 1 or not 0 <= self.dropout < 1:
            raise ValueError(
                f"The rank of the adapter is {self.r}, its dropout {self.dropout}; a "
                "rank is 1 or more, dropout below 1."
            )


def add_adapter(model: Any, settings: LoraSettings) -> None:
    """Give a model an adapter, which alone is trained from then on."""
    peft: Any = _import_peft()
    config = peft.LoraConfig(
        r=settings.r,
        lora_alpha=settings.alpha,
        lora_dropout=settings.dropout,
        target_modules=settings.targets or "all-linear",
        task_type="CAUSAL_LM",
    )
    peft.inject_adapter_in_model(config, model)
    for name, values in model.named_parameters():
        if _MARK in name:
            # In 16 bits, as the weights may be, it would be too coarse to be trained.
            values.data = values.data.float()


def has_adapter(model: Any) -> bool:
    """Whether a model has an adapter."""
    return any(_MARK in name for name, _ in model.named_parameters())


def adapter_to_bytes(model: Any) -> Dict[str, bytes]:
    """The weights of a model's adapter as a file; none, if it has none."""
    weights = {
        name: values.detach().contiguous()
        for name, values in model.state_dict().items()
        if _MARK in name
    }
    return {ADAPTER: save_tensors(weights)} if weights else {}


def adapter_from_bytes(model: Any, files: Mapping[str, bytes]) -> None:
    """The counterpart of `adapter_to_bytes`.

    RAISES: ValueError where the adapter is of another model.
    """
    saved = load_tensors(files[ADAPTER])
    own = {name: v for name, v in model.state_dict().items() if _MARK in name}
    if {n: v.shape for n, v in own.items()} != {n: v.shape for n, v in saved.items()}:
        raise ValueError("the saved adapter is of another model or rank")
    for name, values in saved.items():
        own[name].copy_(values)


def merge_adapter(model: Any) -> Any:
    """Make an adapter a part of the weights: a model without one, as fast as before."""
    peft: Any = _import_peft()
    for layer in model.modules():
        if isinstance(layer, peft.tuners.lora.LoraLayer):
            layer.merge()
    for name, layer in list(model.named_modules()):
        if isinstance(layer, peft.tuners.lora.LoraLayer):
            parent = model.get_submodule(name.rpartition(".")[0])
            setattr(parent, name.rpartition(".")[2], layer.get_base_layer())
    return model


def _import_peft() -> Any:
    try:
        return import_module("peft")
    except ImportError as error:
        raise ImportError(
            f'Adapters need peft: pip install "spacy-keyphrase[train]" ({error})'
        ) from error
