"""Networks as single files: weights as safetensors in 16 bits, and with them what it
takes to build the network again."""

import json
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, Dict, Mapping, Optional, Tuple, Union

import numpy
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file
from spacy.util import registry
from thinc.api import Model

# Of each file; a reader knows by it whether it can read the rest.
_FORMAT = "spacy-keyphrase.network.v1"
_NETWORK = "network"


def save_network(
    path: Union[str, Path],
    model: Model[Any, Any],
    config: Mapping[str, Any],
    settings: Optional[Mapping[str, Any]] = None,
) -> None:
    """Write a network.

    path (Union[str, Path]): The file.
    model (Model): The network, initialized. Its weights are rounded to 16 bits.
    config (Mapping[str, Any]): The config section that builds it, interpolated.
    settings (Optional[Mapping[str, Any]]): What else its user needs to know; JSON.
    """
    nodes = list(model.walk())
    ops: Any = model.ops
    weights = {
        f"{i}.{name}": ops.to_numpy(node.get_param(name)).astype("f2")
        for i, node in enumerate(nodes)
        for name in node.param_names
    }
    description = {
        "config": config,
        "dims": [
            {name: node.get_dim(name) for name in node.dim_names if node.has_dim(name)}
            for node in nodes
        ],
        "settings": settings or {},
    }
    metadata = {"format": _FORMAT, "description": json.dumps(description)}
    save_file(weights, path, metadata=metadata)


def load_network(path: Union[str, Path]) -> Tuple[Model[Any, Any], Dict[str, Any]]:
    """Read a network.

    path (Union[str, Path]): What `save_network` wrote.
    RETURNS (Tuple[Model, Dict[str, Any]]): The network and its settings.
    RAISES: ValueError if it is no such file.
    """
    weights, description = _read(Path(path))
    return _build(path, weights, description), dict(description["settings"])


def load_bundled(name: str) -> Optional[Tuple[Model[Any, Any], Dict[str, Any]]]:
    """A network of this package, or None where there is none of that name.

    name (str): Such as "en.extractor".
    RETURNS (Optional[Tuple[Model, Dict[str, Any]]]): A new network and its settings.
    """
    bundled = files("spacy_keyphrase") / "resources" / f"{name}.safetensors"
    if not bundled.is_file():
        return None
    with as_file(bundled) as path:
        weights, description = _read_once(path)
    return _build(path, weights, description), dict(description["settings"])


@registry.architectures("spacy_keyphrase.Bundled.v1")  # type: ignore
def build_bundled(name: str = "en.extractor") -> Model[Any, Any]:
    """A network of this package as it was trained, to be trained further.

    name (str): Such as "en.extractor", for a `keyphrase_extractor`.
    RETURNS (Model): From docs and their mentions to scores. To initialize it does
        nothing: it keeps its weights.
    RAISES: ValueError where there is none of that name.
    """
    bundled = load_bundled(name)
    if bundled is None:
        raise ValueError(f"No network {name!r} is bundled.")
    model, _ = bundled
    model.init = _keep
    for node in model.walk():
        if "leave_one_out" in node.attrs:
            # Only the documents that the package was made from were counted.
            node.attrs["leave_one_out"] = False
    return model


def _keep(model: Model[Any, Any], X: Any = None, Y: Any = None) -> None:
    """Initialize nothing."""


def _read(path: Path) -> Tuple[Dict[str, numpy.ndarray], Dict[str, Any]]:
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (OSError, SafetensorError) as error:
        raise ValueError(f"{path} is not a network of this package: {error}") from error
    if metadata.get("format") != _FORMAT:
        raise ValueError(
            f"{path} is not a network of this package, or one of another version: its "
            f"format is {metadata.get('format')!r}, not {_FORMAT!r}."
        )
    description: Dict[str, Any] = json.loads(metadata["description"])
    return weights, description


# Several pipelines of a process share what was read.
_read_once = cache(_read)


def _build(
    path: Union[str, Path],
    weights: Mapping[str, numpy.ndarray],
    description: Mapping[str, Any],
) -> Model[Any, Any]:
    model: Model[Any, Any] = registry.resolve({_NETWORK: description["config"]})[
        _NETWORK
    ]
    nodes = list(model.walk())
    names = {f"{i}.{n}" for i, node in enumerate(nodes) for n in node.param_names}
    if names != set(weights) or len(nodes) != len(description["dims"]):
        raise ValueError(
            f"{path} does not fit its architecture: it was made by another version."
        )
    for node, dims in zip(nodes, description["dims"]):
        for name, size in dims.items():
            node.set_dim(name, size, force=True)
    for i, node in enumerate(nodes):
        ops: Any = node.ops
        for name in node.param_names:
            node.set_param(name, ops.asarray(weights[f"{i}.{name}"].astype("f4")))
    return model
