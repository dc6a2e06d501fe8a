"""How torch computes where it is. Needs torch."""

import os

import torch

# The process whose threads torch uses.
_process = os.getpid()


def leave_threads() -> None:
    """Compute in one thread after a fork, as `nlp.pipe(n_process=2)` makes it: the
    threads of the parent are not there, and torch would wait for them without end."""
    global _process
    if os.getpid() != _process:
        torch.set_num_threads(1)
        _process = os.getpid()


def half_type(device: torch.device) -> torch.dtype:
    """The numbers of 16 bits to compute with on a device."""
    if device.type == "cuda" and torch.cuda.get_device_capability(device) < (8, 0):
        return torch.float16
    return torch.bfloat16


def mixed(device: torch.device, enabled: bool) -> torch.autocast:
    """Within it, what bears it is computed in 16 bits."""
    return torch.autocast(device.type, dtype=half_type(device), enabled=enabled)
