"""Models as the contents of files: weights are safetensors, nothing is a pickle."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Callable, Dict, Mapping

import torch
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors
from torch import nn

WEIGHTS = "weights.safetensors"
# Behind the name of a matrix: the step of each of its rows of whole numbers.
_STEPS = "::steps"


def weights_to_bytes(module: nn.Module, dtype: torch.dtype) -> bytes:
    """All weights of a module, those that several parts share only once.

    module (Module): The module.
    dtype (dtype): Precision of the numbers that are not whole. With int8 each row of a
        matrix is whole numbers from -127 to 127 times a step of its own; what is no
        matrix has 16 bits.
    """
    named: Dict[str, torch.Tensor] = {}
    seen = set()
    for name, values in module.state_dict().items():
        if values.data_ptr() in seen and values.numel():
            continue
        seen.add(values.data_ptr())
        if not values.is_floating_point():
            named[name] = values.contiguous()
        elif dtype == torch.int8 and values.dim() > 1:
            rows = values.float().flatten(1)
            steps = rows.abs().amax(1, keepdim=True) / 127
            whole = (rows / steps.clamp(min=1e-30)).round().to(torch.int8)
            named[name] = whole.view(values.shape)
            named[name + _STEPS] = steps
        else:
            kept = torch.float16 if dtype == torch.int8 else dtype
            named[name] = values.to(kept).contiguous()
    return save_tensors(named)


def weights_from_bytes(module: nn.Module, data: bytes) -> None:
    """The counterpart of `weights_to_bytes`.

    module (Module): Of the same architecture; its weights are overwritten.
    data (bytes): What was saved, in any precision.
    RAISES: ValueError where it is of another one.
    """
    saved = load_tensors(data)
    filled = set()
    own = module.state_dict()
    for name, values in saved.items():
        if name.endswith(_STEPS):
            continue
        target = own.get(name)
        if target is None:
            raise ValueError(f"the saved weights have {name!r}, the model has not")
        if target.shape != values.shape:
            raise ValueError(
                f"{name!r} is of the shape {tuple(values.shape)} where it was saved "
                f"and of the shape {tuple(target.shape)} in the model"
            )
        steps = saved.get(name + _STEPS)
        if steps is not None:
            values = (values.float().flatten(1) * steps).view(target.shape)
        target.copy_(values)
        filled.add(target.data_ptr())
    for name, target in own.items():
        if target.numel() and target.data_ptr() not in filled:
            raise ValueError(f"the saved weights lack {name!r}")


def save_folder(save: Callable[[str], Any]) -> Dict[str, bytes]:
    """What something writes to a folder, as the contents of files."""
    with TemporaryDirectory() as folder:
        save(folder)
        files = sorted(path for path in Path(folder).iterdir() if path.is_file())
        return {path.name: path.read_bytes() for path in files}


def load_folder(files: Mapping[str, bytes], load: Callable[[str], Any]) -> Any:
    """The counterpart of `save_folder`."""
    # Windows cannot remove a file while it is mapped.
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        for name, content in files.items():
            if name == WEIGHTS:
                continue
            # Only the name: a path might lead out of the folder.
            (Path(folder) / Path(name).name).write_bytes(content)
        return load(folder)
